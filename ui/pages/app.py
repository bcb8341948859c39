"""All pages in one Gradio app."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported

import gradio as gr

from ui.analysis import Analysis
from ui.catalogue import Catalogue
from ui.livework import AgentShelf
from ui.pages.compare import Compare
from ui.pages.lab import Lab
from ui.pages.live import Live
from ui.pages.replay import Replay
from ui.pages.robustness import Robustness

VISITORS = 100
"""Whose conversations are kept at once, each with its picture; the one longest unused goes."""


class LiveSetup(NamedTuple):
    """What the Live page needs beside the runs."""

    shelf: AgentShelf
    agents: list[str]
    folder: Path
    """Where saved conversations go."""


def build(runs: dict[str, Catalogue], live: LiveSetup) -> gr.Blocks:
    """The app over the opened runs."""
    analysis = Analysis(runs)
    replay, compare = Replay(runs), Compare(analysis)
    robustness, lab = Robustness(analysis), Lab(runs)
    talk = Live(runs, live.shelf, live.agents, live.folder)
    with gr.Blocks(
        title="mmrag", analytics_enabled=False, fill_width=True, delete_cache=(600, 3600)
    ) as app:  # uploads and downloads are forgotten after an hour, and when the app ends
        app.state_session_capacity = VISITORS
        gr.Markdown(
            "# mmrag\nWatch what an assistant for smart glasses saw, did and said.",
            elem_id="mm-title",
        )
        with gr.Tabs(elem_id="mm-tabs"):
            with gr.Tab("Replay", id="replay"):
                replay.build()
            with gr.Tab("Compare", id="compare") as compare_tab:
                compare.build()
            with gr.Tab("Robustness", id="robustness") as robustness_tab:
                robustness.build()
            with gr.Tab("Lab", id="lab") as lab_tab:
                lab.build()
            with gr.Tab("Live", id="live"):
                talk.build()
        app.load(replay.load, None, replay.loaded, show_progress="hidden")
        # the other pages compute something, so they wait until they are looked at
        compare_tab.select(compare.load, compare.needs, compare.loaded, show_progress="minimal")
        robustness_tab.select(
            robustness.load, robustness.needs, robustness.loaded, show_progress="minimal"
        )
        lab_tab.select(lab.load, None, lab.loaded, show_progress="minimal")
    return app


def theme() -> gr.themes.Base:
    """System fonts, so that no request leaves the machine."""
    return gr.themes.Default(
        primary_hue="blue",
        neutral_hue="slate",
        font=["system-ui", "Segoe UI", "Roboto", "sans-serif"],
        font_mono=["ui-monospace", "Consolas", "monospace"],
    )


def head(script: str) -> str:
    """What goes into the page's head."""
    return f"<script>{script}</script>"
