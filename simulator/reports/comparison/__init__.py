"""Two runs beside each other: paired differences, what was won back, gates."""
