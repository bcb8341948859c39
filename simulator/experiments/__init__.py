"""Experiments made of several runs: sweeps, audits, load, the papers' tables."""
