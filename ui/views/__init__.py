"""What the pages Lab, Live, Play and Robustness show, without Gradio."""
