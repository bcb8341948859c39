"""Experiments made of several runs: sweeps, load, the papers' tables."""
