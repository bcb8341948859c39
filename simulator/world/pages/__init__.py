"""Web pages of the world: what they say, in which style, on which sites."""
