"""From a run's records to outcomes: turns, official replies, error texts."""
