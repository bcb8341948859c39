"""Conversations: one turn, one session, many at once, when to stop, and judging again."""
