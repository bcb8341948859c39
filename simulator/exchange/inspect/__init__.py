"""Inspect's logs: a run written as one, and one read as a run."""
