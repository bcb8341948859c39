"""The studio: it takes the pictures of a world, and knows of the world only what a scene says."""
