"""Adversarial pairs by angle, in two halves; of `held` only totals were seen while building."""
