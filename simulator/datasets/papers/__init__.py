"""The papers' published files: CRAG, CRAG-MM, CRUD-RAG, GaRAGe, WikiEval."""
