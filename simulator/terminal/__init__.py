"""The terminal of a long command: progress, live tables, interruption, shutdown."""
