"""Robustness: what worse pictures cost, where, at which stage, and the photographs behind it."""

from __future__ import annotations

from typing import Any

import gradio as gr

from mmrag.errors import MmragError
from ui.pages.script_calls import calls
from ui.render import render
from ui.replay.run_figures import RunFigures
from ui.views.robustness_view import MIN_N, RobustnessFigures, sweep_command


class Robustness:
    """The page with what its script may ask."""

    def __init__(self, analysis: RunFigures) -> None:
        self.analysis = analysis
        self.breakage = RobustnessFigures(analysis)

    def build(self) -> None:
        """Put the page into the surrounding Blocks."""
        gr.HTML(
            '<div id="mm-breaking"></div>',
            js_on_load="mmrag.robustness(element, server)",
            server_functions=calls(self.open_robustness, self.show_examples),
            elem_id="mm-robustness", elem_classes="mm-root", apply_default_css=False,
        )  # fmt: skip

    def open_robustness(self, asked: dict[str, str]) -> dict[str, Any]:
        """A run's page: the one that is named, else the first."""
        runs = self.analysis.runs
        name = asked.get("run", "")
        if not name:
            name = next(iter(runs), "")
        if not name:
            return {"run": "", "view": render("empty.html.j2", what="runs")}
        if name not in runs:
            raise MmragError(f"No opened run is called {name[:80]!r}; choose another.")
        page = render(
            "robustness.html.j2",
            runs=list(runs), name=name, page=self.breakage.of(name), least=MIN_N,
            conditions=self.analysis.conditions(name),
            again=sweep_command(self.analysis.runs[name].run),
        )  # fmt: skip
        return {"run": name, "view": page}

    def show_examples(self, asked: dict[str, str]) -> dict[str, Any]:
        """The photographs behind a figure."""
        name = asked.get("run", "")
        if name not in self.analysis.runs:
            raise MmragError(f"the run {name[:80]!r} is not open any more; choose another.")
        found = self.breakage.examples(
            name, asked.get("condition", ""), dimension=asked.get("dimension", ""),
            part=asked.get("slice", ""), stage=asked.get("stage", ""),
        )  # fmt: skip
        return {"view": render("examples.html.j2", found=found)}
