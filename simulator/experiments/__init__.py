"""Experiments made of several runs: sweeps, the papers' tables."""
