"""From a scene to a picture: where things and the eye stand, the light, the phone."""
