"""The board of runs: a row each, from what is kept of them, and what people noted."""

from __future__ import annotations

import datetime as dt
import time
from pathlib import Path

import msgspec

from mmrag.files.atomic import is_locked
from simulator.store.run_lock import LOCK
from ui.home.launch import Launcher, Started
from ui.home.notes import Note, read_note
from ui.home.summary import RunSummary, Summaries
from ui.opened_runs import Runs


class BoardRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run as the board shows it."""

    name: str
    summary: RunSummary | None
    """None while it is being computed for the first time."""
    note: Note
    state: str
    """finished, going on, starting, broken off, failed or unreadable."""
    words: str
    """More about the state."""
    when: float
    """Time of the last change, in seconds since 1970."""
    started_here: bool = False
    report: bool = False
    """Whether `mmrag report` has written its page beside it."""

    @property
    def age(self) -> str:
        """How long ago it was last written, as people say it."""
        return age(time.time() - self.when)

    @property
    def date(self) -> str:
        """The same as a date."""
        return dt.datetime.fromtimestamp(self.when, dt.UTC).strftime("%Y-%m-%d %H:%M UTC")

    @property
    def progress(self) -> float | None:
        """The share of conversations that are done; None where nobody knows."""
        known = self.summary
        if known is None or not known.planned:
            return None
        return min(known.done / known.planned, 1.0)


class Board:
    """All rows, newest first."""

    def __init__(self, runs: Runs, summaries: Summaries, launcher: Launcher | None) -> None:
        self.runs = runs
        self.summaries = summaries
        self.launcher = launcher

    def rows(self) -> list[BoardRow]:
        """A row per run, and one per run that was started here and has written nothing yet."""
        self.runs.refresh()
        started = {one.name: one for one in self.launcher.started()} if self.launcher else {}
        rows: list[BoardRow] = []
        for name in self.runs.names():
            try:
                folder = self.runs.folder(name)
                when = (folder / "run.sqlite").stat().st_mtime
            except (KeyError, OSError):  # gone since the names were read
                continue
            rows.append(self._row(name, folder, when, started.pop(name, None)))
        rows += [_waiting(one) for one in started.values()]
        return sorted(rows, key=lambda row: (-row.when, row.name))

    def _row(self, name: str, folder: Path, when: float, started: Started | None) -> BoardRow:
        summary = self.summaries.get(folder)
        going_on = is_locked(folder / LOCK)
        state, words = "finished", ""
        if summary is None:
            state = "going on" if going_on else "reading"
        elif summary.trouble:
            state, words = "unreadable", summary.trouble.removeprefix(f"{folder}/")
        elif going_on:
            state = "going on"
        elif not summary.finished:
            state, words = "broken off", f"mmrag resume {folder}"
            if summary.wearer == "person":
                words = "a person plays it: go on in Live"
        if started and started.running:
            state, words = "going on", started.words
        elif started and started.code:
            words = started.words
        return BoardRow(
            name=name,
            summary=summary,
            note=read_note(folder),
            state=state,
            words=words,
            when=when,
            started_here=bool(started and started.running),
            report=(folder / "report" / "report.html").is_file(),
        )


def _waiting(one: Started) -> BoardRow:
    return BoardRow(
        name=one.name,
        summary=None,
        note=Note(),
        state="starting" if one.running else "failed",
        words=one.words,
        when=time.time(),
        started_here=one.running,
    )


def age(seconds: float) -> str:
    """A span of time in its largest unit.

    >>> age(30), age(4000), age(400_000)
    ('now', '1 h', '4 d')
    """
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"
