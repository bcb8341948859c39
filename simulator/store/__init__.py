"""What is kept of a run: the store, its schema, exports, and outcomes that others bring."""
