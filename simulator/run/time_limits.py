"""Time limits that commands name without loading what they limit."""

READY_SECONDS = 600.0
"""Time limit of making an agent and of its `warm()`, each. It only ends what hangs."""
