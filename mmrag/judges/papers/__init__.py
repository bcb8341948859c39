"""The papers' measures of a reply (CRUD-RAG, GaRAGe, Ragas) and the ways to decide them."""
