"""How sure a figure is: intervals, corrections by people's verdicts."""
