"""Compare: two runs, or two conditions of one, side by side on the same sessions."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice, zip_longest
from typing import Any

import gradio as gr

from mmrag.errors import MmragError
from ui.pages.script_calls import calls, whole
from ui.render import render
from ui.replay.conversation_view import conversation
from ui.replay.run_figures import RunFigures

Side = tuple[str, str]
"""A run and one of its conditions."""

AT_ONCE = 12
"""Conversations that come at once; the next come as the page is scrolled."""

TRIED = 12
"""Runs that are opened to find one of the same conversations."""


class Compare:
    """The page with what its script may ask."""

    def __init__(self, analysis: RunFigures) -> None:
        self.analysis = analysis

    def build(self) -> None:
        """Put the page into the surrounding Blocks."""
        gr.HTML(
            render("compare.html.j2"),
            js_on_load="mmrag.compare(element, server)",
            server_functions=calls(self.open_compare, self.show_pairs),
            elem_id="mm-compare", elem_classes="mm-root", apply_default_css=False,
        )  # fmt: skip

    def open_compare(self, asked: dict[str, str]) -> dict[str, Any]:
        """Two sides as the address names them: else two runs, else two conditions of one."""
        runs = list(self.analysis.runs)
        if not runs:
            return {"figures": render("empty.html.j2", what="runs"), "runs": []}
        first = asked["run"] if asked.get("run") in runs else runs[0]
        second = asked.get("other", "")
        if second not in runs:
            second = self._another(first)
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
            return {**found, "figures": words, "pairs": ""}
        gone = sorted({asked.get("run", ""), asked.get("other", "")} - {"", *runs})
        return {
            **found,
            "figures": render("differences.html.j2", found=compared, gone=gone, sides=sides),
            "pairs": self._pairs(sides, 0, asked.get("session", "")),
        }

    def show_pairs(self, asked: dict[str, str]) -> dict[str, Any]:
        """The next conversations on both sides."""
        sides = self._sides(asked.get("run", ""), asked.get("other", ""), asked)
        after = whole(asked.get("after", ""))
        return {"pairs": self._pairs(sides, after, asked.get("session", ""))}

    def _sides(self, first: str, second: str, asked: dict[str, str]) -> tuple[Side, Side]:
        for run in (first, second):
            if run not in self.analysis.runs:
                raise MmragError(f"the run {run[:80]!r} is not open any more; choose another.")
        there, theirs = (self.analysis.conditions(run) or ["clean"] for run in (first, second))
        a = asked.get("a", "") if asked.get("a") in there else there[0]
        default = theirs[-1] if first == second else a if a in theirs else theirs[0]
        return (first, a), (second, asked["b"] if asked.get("b") in theirs else default)

    def _another(self, first: str) -> str:
        """A run that can be read and was of the same conversations; else the first itself."""
        runs = self.analysis.runs
        mine = runs[first].by_session.keys()
        for run in islice((run for run in runs if run != first), TRIED):
            with suppress(MmragError):
                if not mine.isdisjoint(runs[run].by_session):
                    return run
        return first

    def _pairs(self, sides: tuple[Side, Side], after: int, first: str) -> str:
        """Conversations with flipped turns before others, and the one that is asked for first."""
        flips = self.analysis.flips(*sides)
        flips.sort(key=lambda flip: flip.session_id != first)
        kept = [f.session_id for f in flips if not f.changed and f.session_id != first]
        shown = flips[after : after + AT_ONCE]
        pairs: list[Any] = []
        for flip in shown:
            a, b = (
                conversation(self.analysis.runs[run].run, run, flip.session_id, condition)
                for run, condition in sides
            )
            both = list(zip_longest(a.turns, b.turns[: len(a.turns)]))
            asked = [two for two in both if not all(turn is None or turn.skipped for turn in two)]
            pairs.append((flip, a, b, asked or both))
        return render(
            "pairs.html.j2", pairs=pairs, flips=flips, kept=kept, after=after, sides=sides
        )
