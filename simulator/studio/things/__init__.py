"""The kinds of thing that can be pictured, as solids."""
