"""The things that every kind is asked about lie beside the rooms."""
