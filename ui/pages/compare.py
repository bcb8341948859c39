"""Compare: two runs, or two conditions of one, side by side on the same sessions."""

from __future__ import annotations

from typing import Any

import gradio as gr

from mmrag.errors import MmragError
from ui.pages.calls import calls
from ui.render import render
from ui.replay.analysis import Analysis
from ui.replay.viewmodel import conversation

LISTED = 200
"""Pairs that are listed; all are counted."""


class Compare:
    """The page with what its script may ask."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def build(self) -> None:
        """Put the page into the surrounding Blocks."""
        gr.HTML(
            render("compare.html.j2"),
            js_on_load="mmrag.compare(element, server)",
            server_functions=calls(self.open_compare, self.show_pair),
            elem_id="mm-compare", elem_classes="mm-root", apply_default_css=False,
        )  # fmt: skip

    def open_compare(self, asked: dict[str, str]) -> dict[str, Any]:
        """Two sides as the address names them: else two runs, else clean and degraded of one."""
        runs = list(self.analysis.runs)
        if not runs:
            return {"figures": render("empty.html.j2", what="runs"), "runs": []}
        first = asked["run"] if asked.get("run") in runs else runs[0]
        second = asked.get("other", "")
        if second not in runs:
            second = first if len(self.analysis.conditions(first)) > 1 else _another(runs, first)
        sides = self._sides(first, second, asked)
        found = {
            "runs": runs,
            "sides": [
                {"run": run, "condition": condition, "conditions": self.analysis.conditions(run)}
                for run, condition in sides
            ],
        }
        try:
            compared = self.analysis.compare(*sides)
        except MmragError as error:
            words = render("message.html.j2", title="Nothing to compare", words=error)
            return {**found, "figures": words, "list": "", "pair": "", "session": ""}
        flips = compared.flips
        wanted = asked.get("session", "")
        known = any(flip.session_id == wanted for flip in flips)
        here = wanted if known else (flips[0].session_id if flips else "")
        return {
            **found,
            "figures": render("differences.html.j2", found=compared),
            "list": render(
                "pairs.html.j2",
                flips=flips[:LISTED],
                total=len(flips),
                texts=self._texts(sides[0][0]),
            ),
            "pair": self._pair(sides, here),
            "session": here,
        }

    def show_pair(self, asked: dict[str, str]) -> dict[str, Any]:
        """One conversation on both sides."""
        sides = self._sides(asked.get("run", ""), asked.get("other", ""), asked)
        return {"pair": self._pair(sides, asked.get("session", ""))}

    def _texts(self, run: str) -> dict[str, str]:
        rows = self.analysis.runs[run].find_all()
        return {row.session_id: row.text.partition("\n")[0] for row in rows}

    def _sides(
        self, first: str, second: str, asked: dict[str, str]
    ) -> tuple[tuple[str, str], tuple[str, str]]:
        for run in (first, second):
            if run not in self.analysis.runs:
                raise MmragError(f"the run {run[:80]!r} is not open any more; choose another.")
        there, theirs = (self.analysis.conditions(run) or ["clean"] for run in (first, second))
        a = asked.get("a", "") if asked.get("a") in there else there[0]
        b = asked.get("b", "") if asked.get("b") in theirs else ""
        return (first, a), (second, b or (theirs[-1] if first == second else theirs[0]))

    def _pair(self, sides: tuple[tuple[str, str], tuple[str, str]], session: str) -> str:
        if not session:
            return ""
        try:
            a, b = (
                conversation(self.analysis.runs[run].run, run, session, condition)
                for run, condition in sides
            )
        except MmragError as error:
            return render("message.html.j2", title="This pair cannot be shown", words=error)
        return render("side_by_side.html.j2", a=a, b=b)


def _another(runs: list[str], first: str) -> str:
    return next((run for run in runs if run != first), first)
