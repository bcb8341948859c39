"""Files: written whole or not at all, locked, read within bounds, shared out by shard."""
