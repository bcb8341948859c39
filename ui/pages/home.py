"""Home: the runs of a folder as a board, and what went wrong in one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from mmrag.errors import MmragError
from simulator.reports.draw.page import report_opening
from ui.home.board import Board, BoardRow
from ui.home.launch import OFFERED, PICTURES, Launcher
from ui.home.notes import write_note
from ui.home.summary import Summaries
from ui.opened_runs import Runs, place_of
from ui.pages.script_calls import calls, whole
from ui.render import address, render, slice_address
from ui.replay.run_figures import RunFigures


class Home:
    """The page with what its script may ask."""

    def __init__(
        self, analysis: RunFigures, launcher: Launcher | None = None, cache: Path | None = None
    ) -> None:
        self.analysis = analysis
        self.runs = analysis.runs if isinstance(analysis.runs, Runs) else Runs()
        self.board = Board(self.runs, Summaries(cache), launcher)
        self.launcher = launcher

    def build(self) -> None:
        """Put the page into the surrounding Blocks."""
        gr.HTML(
            render("home.html.j2", launcher=self.launcher, pictures=list(PICTURES), words=OFFERED),
            js_on_load="mmrag.home(element, server)",
            server_functions=calls(
                self.show_board, self.show_wrong, self.save_note, self.start_run, self.stop_run
            ),
            elem_id="mm-home", elem_classes="mm-root", apply_default_css=False,
        )  # fmt: skip

    def show_board(self, asked: dict[str, str]) -> dict[str, Any]:
        """All runs, and the figure of the one that is open."""
        rows = self.board.rows()
        wanted = asked.get("run", "")
        named = next((row for row in rows if row.name == wanted), None)
        here = named or next((row for row in rows if _scored(row)), rows[0] if rows else None)
        busy = self.board.summaries.working or any(
            row.state in ("going on", "starting", "reading") for row in rows
        )
        lost = (
            f"There is no run called {wanted[:80]!r} here any more." if wanted and not named else ""
        )
        known = [row.summary for row in rows if row.summary]
        return {
            "board": render(
                "board.html.j2",
                rows=rows,
                here=here,
                launching=self.launcher is not None,
                scale=_scale(v for s in known for v in (s.truthfulness.low, s.truthfulness.high)),
                levels=_scale(v for s in known for v in s.by_condition.values()),
            ),
            "hero": render("hero.html.j2", row=here, lost=lost) if here else "",
            "run": here.name if here else "",
            "readable": bool(here and _scored(here)),
            "reading": bool(here and here.summary is None and here.state != "failed"),
            "kinds": _kinds(here),
            "edition": _edition(here),
            "busy": busy,
        }

    def show_wrong(self, asked: dict[str, str]) -> dict[str, Any]:
        """What went wrong in a run; it reads the whole run, so it is asked for by itself."""
        name = asked.get("run", "")
        place_of(self.runs, name)
        try:
            found = self.analysis.overview(name)
        except MmragError as error:
            return {"wrong": render("notice.html.j2", words=error)}
        first = report_opening(found["first"], _links(name))
        return {"wrong": render("wrong.html.j2", run=name, first=first, found=found)}

    def save_note(self, asked: dict[str, str]) -> dict[str, Any]:
        """Keep tags and a note of a run."""
        folder = place_of(self.runs, asked.get("run", ""))
        seen = whole(asked.get("edition", ""))
        note = write_note(folder, asked.get("tags", ""), asked.get("note", ""), seen)
        return {"edition": note.edition, "note": note.note, "merged": note.edition > seen + 1}

    def start_run(self, asked: dict[str, str]) -> dict[str, Any]:
        """Begin a run of what the operator offers."""
        if self.launcher is None:
            return {"error": "Runs cannot be started here."}
        name = self.launcher.start(
            asked.get("agent", ""),
            asked.get("data", ""),
            asked.get("pictures", ""),
            whole(asked.get("limit", "")),
            asked.get("name", ""),
        )
        return {"run": name}

    def stop_run(self, asked: dict[str, str]) -> dict[str, Any]:
        """Interrupt a run that was started here."""
        if self.launcher is None:
            return {"error": "Runs cannot be stopped here."}
        self.launcher.stop(asked.get("run", ""))
        return {}


def _links(run: str) -> Callable[..., Markup]:
    """How the sentences that a report begins with lead to what they are of."""

    def link(_: str, words: str, tab: str, **asked: str) -> Markup:
        if tab == "slices":
            to = slice_address(run, asked["dimension"], asked["part"])
        else:
            to = address("robustness" if tab == "diagnosis" else tab, run=run, **asked)
        return Markup('<a href="{}">{}</a>').format(to, words)

    return link


def _scored(row: BoardRow) -> bool:
    found = row.summary.truthfulness if row.summary else None
    return found is not None and (found.estimate is not None or found.bounds is not None)


def _scale(values: Iterable[float | None]) -> tuple[float, float]:
    """From the least to the most of what is drawn beside each other, 0 among it."""
    known = [0.0, 0.01, *(value for value in values if value is not None)]
    return min(known), max(known)


def _kinds(row: BoardRow | None) -> int:
    """Rows of the map of what conditions cost, for which room is kept until it comes."""
    known = row.summary.by_condition if row and row.summary else {}
    return len({name.partition("@")[0] for name in known} - {"clean"})


def _edition(row: BoardRow | None) -> str:
    """Another text when there is more to read; none while there is nothing yet."""
    return f"{row.name}/{row.when}" if row and _scored(row) else ""
