"""Places that a wearer is in: rooms, furniture, clutter, light."""
