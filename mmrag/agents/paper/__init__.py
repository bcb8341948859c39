"""The baselines of CRAG, CRAG-MM and GaRAGe, with their published prompts and settings."""
