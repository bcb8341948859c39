"""Behind the Replay page: a catalogue of conversations, and what a turn shows."""
