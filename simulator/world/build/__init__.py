"""Building a world folder: requests, tables, manifest; streamed, resumable, the same bytes each time."""
