"""The facts of a world: what exists, what is true of it, and when."""
