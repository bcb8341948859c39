"""Adversarial pairs by angle, in two halves: of `held` only totals were looked at while building."""
