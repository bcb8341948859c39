"""The searches for other programs: HTTP, MCP, and the public package's call."""
