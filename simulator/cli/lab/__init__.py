"""`mmrag lab`: experiments around runs."""
