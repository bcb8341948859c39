"""The parts of a run, made from its settings: agent, judge, searches, wearers, resources."""
