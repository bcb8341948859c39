"""The planner and reader that were trained on voices, over the sentence encoder."""
