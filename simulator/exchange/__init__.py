"""Doors to other tools: runs written as they read them, and their files read as runs."""
