"""Search of the image knowledge graph: regions, views, corners, and where they agree."""
