"""Proofs of a world: verify, published statistics, contact sheets."""
