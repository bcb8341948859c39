"""The searches for other programs: HTTP, and the public package's call."""
