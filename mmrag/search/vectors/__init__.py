"""Nearest vectors, and the batching of calls that ask for them."""
