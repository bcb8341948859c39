"""All pages in one Gradio app."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported

import gradio as gr

from simulator.application.person_run import PersonRuns
from ui.home.launch import Launcher
from ui.offered_pictures import OfferedPictures
from ui.page_frame import PAGES
from ui.pages.compare import Compare
from ui.pages.home import Home
from ui.pages.lab import Lab
from ui.pages.live import Live
from ui.pages.play_wearer import PlayPage
from ui.pages.replay import Replay
from ui.pages.robustness import Robustness
from ui.pages.verdicts import VerdictCalls
from ui.replay.conversation_list import ConversationList
from ui.replay.people_verdicts import VerdictEditor
from ui.replay.run_figures import RunFigures
from ui.views.live_view import AgentCache

VISITORS = 100
"""Whose conversations are kept at once, each with its picture; the one longest unused goes."""


class LiveSetup(NamedTuple):
    """What the Live page needs beside the runs."""

    shelf: AgentCache
    agents: list[str]
    folder: Path
    """Where saved conversations go."""
    launcher: Launcher | None = None
    """Starts runs; None where visitors may not."""
    cache: Path | None = None
    """Where what the board computed is kept."""
    data: str = ""
    """The world that the agents search; empty where they search none."""
    playing: PersonRuns | None = None
    """Runs that persons play; None where none can be."""


def build(runs: MutableMapping[str, ConversationList], live: LiveSetup) -> gr.Blocks:
    """The app over the opened runs."""
    analysis = RunFigures(runs)
    verdicts, samples = VerdictCalls(VerdictEditor(analysis)), OfferedPictures(runs)
    play = PlayPage(runs, live.playing, live.agents) if live.playing else None
    pages = (
        Home(analysis, live.launcher, live.cache), Replay(runs, *verdicts.all),
        Compare(analysis), Robustness(analysis), Lab(samples),
        Live(runs, live.shelf, live.agents, live.folder, live.data, samples, play),
    )  # fmt: skip
    with gr.Blocks(
        title="mmrag", analytics_enabled=False, fill_width=True, delete_cache=(600, 3600)
    ) as app:  # uploads and downloads are forgotten after an hour, and when the app ends
        app.state_session_capacity = VISITORS
        with gr.Tabs(elem_id="mm-tabs", overflow_behavior="wrap"):
            for page, shown in zip(PAGES, pages, strict=True):
                with gr.Tab(page.title, id=page.id, elem_id=f"mm-page-{page.id}"):
                    shown.build()
        app.load(None, js="() => mmrag.ready()")
    return app
