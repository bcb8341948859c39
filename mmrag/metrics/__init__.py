"""Measures, intervals and tests: pure functions from records to numbers (docs/measures.md)."""
