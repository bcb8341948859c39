"""Light traced through things by Mitsuba."""
