"""Home: the runs of a folder as a board, and what went wrong in one of them."""

from __future__ import annotations

import gradio as gr

from ui.analysis import Analysis


class Home:
    """The page with what its script may ask."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def build(self) -> None:
        """Put the page into the surrounding Blocks."""
        gr.HTML("", elem_id="mm-home", elem_classes="mm-root", apply_default_css=False)
