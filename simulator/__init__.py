"""The simulator: worlds, optics, sessions, runs and reports."""
