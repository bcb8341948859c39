"""What a command or a caller of `mmrag.evaluate` does: run, score, measure, prove."""
