"""Adversarial pairs by angle, in two halves: `open` was looked at while building, `held` never."""
