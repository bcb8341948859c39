"""Reading text: one normal form, numbers and units, scripts, words; for agents and judges alike."""
