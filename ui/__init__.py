"""The Gradio app that replays what happened."""
