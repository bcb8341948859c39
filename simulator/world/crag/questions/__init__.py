"""Questions about a stage in CRAG's forms, each with the proof of its answer."""
