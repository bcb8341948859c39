"""A run on many machines: Ray carries what `simulator/run/` does, and SQLite keeps it."""
