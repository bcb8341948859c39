"""From a run to columns, sums per conversation and pairs: what every figure is computed from."""
