"""From a run's records to outcomes: turns, repeats, official replies, error texts."""
