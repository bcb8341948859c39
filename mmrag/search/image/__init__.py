"""Search of the image knowledge graph: regions and views."""
