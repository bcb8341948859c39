"""CRAG's 38 functions over a stage: in process, over HTTP, and of a server of one's own."""
