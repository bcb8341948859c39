"""What one run comes to, in one row: computed once per state of its file, and kept.

Reading a run takes a fraction of a second, and a folder may hold hundreds: what was computed of a
file that has not changed since is taken from the cache folder.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import MmragError
from mmrag.files.atomic import write_bytes
from mmrag.metrics.headline import HEADLINE, IntervalOptions
from mmrag.records import Status
from simulator.parts.own_agents import is_own
from simulator.reports.figures.headline import headline
from simulator.reports.figures.report import ReportOptions, load_report_runs, main_condition
from simulator.reports.read.turn_frame import TurnFrame
from simulator.run.results.run_scoring import failure_cure, resume_command, run_state
from simulator.run.run_config import RunConfig
from simulator.store.run_reader import RunReader

VERSION = 5
"""Of what is kept; older ones are computed again."""


class BoardFigure(msgspec.Struct, frozen=True):
    """A figure with its interval; None where nothing is scored."""

    estimate: float | None
    low: float | None
    high: float | None
    bounds: tuple[float, float] | None = None
    """What is known where too many verdicts are missing."""


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a board says of a run."""

    trouble: str = ""
    """Why it cannot be read; all else is then empty."""
    agent: str = ""
    data: str = ""
    judge: str = ""
    wearer: str = "scripted"
    main: str = "clean"
    """The condition of the figures."""
    conditions: int = 0
    sessions: int = 0
    """Conversations of the data, each under `conditions` of them."""
    truthfulness: BoardFigure = BoardFigure(None, None, None)
    """As a report's headline."""
    by_condition: dict[str, float] = {}
    """Truthfulness under each condition of which it is known, clean first."""
    right: float | None = None
    missing: float | None = None
    wrong: float | None = None
    """Shares of the turns."""
    turns: int = 0
    """Turns that the figures are of."""
    coverage: float | None = None
    statuses: dict[str, int] = {}
    all_failed: bool = False
    """Whether no turn that was asked has an answer."""
    cure: str = ""
    """What to do about that, where a command can."""
    cost: float = 0.0
    seconds: float = 0.0
    """What all turns took, one after the other."""
    finished: bool = False
    done: int = 0
    planned: int | None = None
    """Conversations, each condition counted."""


def summarise(folder: Path) -> RunSummary:
    """Read a run and compute its row. What cannot be read is a row that says so."""
    try:
        with RunReader(folder) as run:
            return _summary(run)
    except MmragError as error:
        return RunSummary(trouble=str(error)[:500])


def _summary(run: RunReader) -> RunSummary:
    stored: dict[str, Any] | None = run.meta("config")  # what differs from the defaults
    usual = RunConfig()
    config = {} if stored is None else {"agent": usual.agent, "data": usual.data, **stored}
    provenance: dict[str, Any] = run.meta("provenance") or {}
    state = run_state(run)
    conditions = run.conditions()
    statuses = run.turn_counts()
    asked = sum(statuses.values()) - statuses.get(Status.SKIPPED_AFTER_STOP, 0)
    all_failed = 0 < asked == sum(run.failure_counts().values())
    # no command asks a person's words again, or an agent that lives in somebody's program
    by_hand = config.get("wearer") == "person" or is_own(str(config.get("agent")))
    cure = ""
    if all_failed and not by_hand:
        cure = failure_cure(run, resume_command(run, run.folder, "--errors"))
    about: dict[str, Any] = {
        "agent": str(config.get("agent") or provenance.get("agent") or "")[:300],
        "data": str(config.get("data") or "")[:300],
        "judge": str(run.meta("judge") or "")[:100],
        "wearer": str(config.get("wearer") or "scripted")[:20],
        "conditions": len(conditions),
        "finished": state.finished,
        "done": state.conversations - state.broken_off,
        "planned": state.expected_conversations,
        "statuses": statuses,
        "all_failed": all_failed,
        "cure": cure,
        "sessions": len({session for session, _ in run.session_keys()}),
    }
    if not state.turns:
        return RunSummary(**about)
    options = ReportOptions()
    (loaded,), _, _ = load_report_runs([run], options)
    frame = loaded.frame
    main = main_condition(frame)
    whole = headline(frame, frame.condition(main), IntervalOptions(options.resamples, options.seed))
    found = whole["strict"][HEADLINE]
    score = found["truthfulness_score"]
    return RunSummary(
        **about,
        main=main,
        truthfulness=BoardFigure(
            score["estimate"], score["low"], score["high"], _pair(score.get("bounds"))
        ),
        right=found["accuracy"]["estimate"],
        missing=found["missing"]["estimate"],
        wrong=found["hallucination_rate"]["estimate"],
        turns=score["n"],
        coverage=whole["coverage"],
        by_condition=dict(_levels(frame)),
        cost=float(_sum(frame["cost"][frame["asked"]])),
        seconds=float(_sum(frame["seconds"][frame["asked"]])),
    )


def _levels(frame: TurnFrame) -> Iterator[tuple[str, float]]:
    for name in sorted(frame.conditions, key=lambda one: (one != "clean", one)):
        found = headline(frame, frame.condition(name), IntervalOptions(resamples=0))
        level = found["strict"][HEADLINE]["truthfulness_score"]["estimate"]
        if level is not None:
            yield name, level


def _pair(ends: list[float] | None) -> tuple[float, float] | None:
    return (ends[0], ends[1]) if ends else None


def _sum(values: Any) -> float:
    import numpy as np

    return float(np.nansum(values))


class Summaries:
    """Summaries of runs, the computing done by a thread of its own."""

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._known: dict[Path, tuple[str, RunSummary]] = {}
        self._at_work: set[Path] = set()
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="summaries")

    def get(self, folder: Path) -> RunSummary | None:
        """What is known of a run, perhaps of a moment ago; None while nothing is."""
        stamp = _stamp(folder)
        known = self._known.get(folder)
        if known is None:
            kept = self._kept(folder, stamp)
            known = self._known[folder] = (stamp, kept) if kept else ("", RunSummary())
        if known[0] != stamp:
            with self._lock:
                if folder not in self._at_work:
                    self._at_work.add(folder)
                    self._worker.submit(self._compute, folder, stamp)
        return known[1] if known[0] else None

    @property
    def working(self) -> bool:
        """Whether something is still being computed."""
        return bool(self._at_work)

    def _compute(self, folder: Path, stamp: str) -> None:
        try:
            found = summarise(folder)
            self._known[folder] = (stamp, found)
            if self._cache and not found.trouble:
                name = self._cache / f"{_key(folder)}.json"
                self._cache.mkdir(parents=True, exist_ok=True)
                kept = {"version": VERSION, "stamp": stamp, "summary": found}
                write_bytes(name, msgspec.json.encode(kept), lasting=False)
        except Exception as error:  # a board goes on with the other runs
            self._known[folder] = (
                stamp,
                RunSummary(trouble=f"{type(error).__name__}: {error}"[:500]),
            )
        finally:
            with self._lock:
                self._at_work.discard(folder)

    def _kept(self, folder: Path, stamp: str) -> RunSummary | None:
        if not self._cache:
            return None
        try:
            found = _KEPT.decode((self._cache / f"{_key(folder)}.json").read_bytes())
        except (OSError, msgspec.MsgspecError):
            return None
        return found.summary if found.version == VERSION and found.stamp == stamp else None


class _Kept(msgspec.Struct):
    version: int
    stamp: str
    summary: RunSummary


_KEPT = msgspec.json.Decoder(_Kept)


def _key(folder: Path) -> str:
    return hashlib.sha256(str(folder).encode()).hexdigest()[:24]


def _stamp(folder: Path) -> str:
    """Another text as soon as anything was written to a run."""
    parts: list[str] = []
    for name in ("run.sqlite", "run.sqlite-wal"):
        try:
            found = (folder / name).stat()
        except OSError:
            continue
        parts.append(f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}")
    return "/".join(parts) or "gone"
