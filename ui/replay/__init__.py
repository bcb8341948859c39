"""Behind the Replay page: a list of conversations, and what a turn shows."""
