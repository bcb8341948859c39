"""How sure a figure is: intervals, noise of repeats, corrections by people's verdicts."""
