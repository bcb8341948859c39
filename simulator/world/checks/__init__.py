"""Proofs of a world: verify, published statistics, shortcuts, contact sheets."""
