"""What the Robustness and Compare pages show: the report's own figures, computed when asked for.

The numbers come from `simulator.reports`, so that a page and a report can never disagree.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import MutableMapping
from typing import Any

import msgspec
import numpy as np

from mmrag.errors import UsageError
from mmrag.metrics.headline import HEADLINE
from simulator.reports.figures.costs import latency_by_condition
from simulator.reports.figures.diagnosis import diagnosis
from simulator.reports.figures.report import (
    HOW,
    LoadedRun,
    ReportOptions,
    load_report_runs,
    main_condition,
    opening_figures,
)
from simulator.reports.figures.survival import conversation_survival
from simulator.reports.read.paired_turns import (
    Pairs,
    match,
    multi_turn_difference,
    multi_turn_scores,
    rate_differences,
)
from simulator.reports.read.turn_frame import TurnFrame
from ui.replay.conversation_list import ConversationList, stop_policy

TITLES = {
    "truthfulness_score": "truthfulness",
    "accuracy": "accuracy",
    "missing": "missing",
    "hallucination_rate": "hallucination",
}


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One headline difference."""

    name: str
    first: float | None
    second: float | None
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    bounds: tuple[float, float] | None = None
    """What is known of the difference where too many verdicts are missing."""
    better: bool | None = None
    """Whether more of it is better; None where it is neither."""


class FlippedConversation(msgspec.Struct, frozen=True):
    """One conversation on both sides, and which of the turns scored on both flipped."""

    session_id: str
    lost: frozenset[int]
    won: frozenset[int]
    moved: dict[int, float]
    """What the score of others that the headline counts rose or fell by, wrong → missing, say."""

    @property
    def changed(self) -> int:
        """How many of its turns flipped."""
        return len(self.lost) + len(self.won)


class RunComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs, or two conditions, on the same sessions."""

    differences: tuple[Difference, ...]
    pairs: int
    sessions: int
    only_first: int
    only_second: int
    p95: tuple[float | None, float | None]
    """The seconds that 95 % of each side's turns took at most."""

    @property
    def main(self) -> Difference:
        """What the page is about: the difference of truthfulness."""
        wanted = TITLES["truthfulness_score"]
        return next((d for d in self.differences if d.name == wanted), self.differences[0])


MOST_LOADED = 4
"""Runs whose columns are kept in memory."""


class RunFigures:
    """The figures of the opened runs, each computed once and kept until the run grows."""

    def __init__(self, runs: MutableMapping[str, ConversationList]) -> None:
        self.runs = runs
        self._loaded: OrderedDict[str, tuple[int, LoadedRun]] = OrderedDict()
        self._lock = threading.Lock()

    def conditions(self, name: str) -> list[str]:
        """The conditions of a run, clean first."""
        found = {row.degradation for row in self.runs[name].find_all()}
        return sorted(found, key=lambda c: (c != "clean", c))

    def overview(self, name: str) -> dict[str, Any]:
        """What a report of the run begins with, who stayed how long, and how long turns took."""
        loaded = self._read(name)
        frame, main = loaded.frame, main_condition(loaded.frame)
        rows = frame.condition(main)
        stop = stop_policy(self.runs[name].run)
        return {
            "first": opening_figures(loaded, HOW),
            "survival": conversation_survival(frame, rows, stop=stop, other_rules=False)[
                "survival"
            ],
            "p95": _p95(frame, main),
        }

    def compare(self, first: tuple[str, str], second: tuple[str, str]) -> RunComparison:
        """Two (run, condition) pairs on the sessions that both have."""
        pairs = self._paired(first, second)
        tested = rate_differences(pairs, HOW)
        talk = multi_turn_difference(pairs, HOW)
        differences = [
            _difference(TITLES[rate], tested[rate], *_levels(pairs, rate)) for rate in TITLES
        ]
        both, *means = multi_turn_scores(pairs)
        levels = [float(mean[both].mean()) if both.any() else None for mean in means]
        differences.append(_difference("multi-turn score", talk, *levels))
        known = len(np.unique(pairs.cluster))
        sides = (pairs.first, first[1]), (pairs.second, second[1])
        alone = [len(np.unique(f["session"][f.condition(name)])) - known for f, name in sides]
        a, b = (_p95(frame, name) for frame, name in sides)
        return RunComparison(
            differences=tuple(differences),
            pairs=int(pairs.difference(HEADLINE, "accuracy")[0].sum()),
            sessions=known,
            only_first=alone[0],
            only_second=alone[1],
            p95=(a, b),
        )

    def flips(self, first: tuple[str, str], second: tuple[str, str]) -> list[FlippedConversation]:
        """The conversations that both sides have, most flipped turns first, then most moved."""
        pairs = self._paired(first, second)
        scored = pairs.first["scored"][pairs.rows] & pairs.second["scored"][pairs.others]
        was = pairs.first["score"][pairs.rows] > 0
        now = pairs.second["score"][pairs.others] > 0
        turns = pairs.first["turn"][pairs.rows]
        counted, change = pairs.difference(HEADLINE, "truthfulness_score")
        moved = counted & (change != 0) & ~(scored & (was != now))
        found: list[FlippedConversation] = []
        for number in np.unique(pairs.cluster):
            mine = pairs.cluster == number
            here = mine & scored
            lost, won = (frozenset(turns[here & one].tolist()) for one in (was & ~now, ~was & now))
            others = dict(
                zip(turns[mine & moved].tolist(), change[mine & moved].tolist(), strict=True)
            )
            found.append(FlippedConversation(pairs.first.sessions[number], lost, won, others))
        return sorted(found, key=lambda f: (-f.changed, -len(f.moved), f.session_id))

    def _paired(self, first: tuple[str, str], second: tuple[str, str]) -> Pairs:
        if first == second:
            raise UsageError("both sides are the same; choose another run or condition.")
        a, b = self.frame(first[0]), self.frame(second[0])
        pairs = match(a, a.condition(first[1]), b, b.condition(second[1]))
        if not len(pairs.rows):
            raise UsageError("the two sides have no session in common, so nothing can be paired.")
        return pairs

    def frame(self, name: str) -> TurnFrame:
        """The turns of a run as a report reads them, read again when the run has grown."""
        return self._read(name).frame

    def diagnosis(self, name: str) -> dict[str, Any] | None:
        """At which stage a run loses its points, where it handed stages of the truth over."""
        loaded = self._read(name)
        return None if loaded.staged is None else diagnosis(loaded.staged, loaded.run, HOW)

    def _read(self, name: str) -> LoadedRun:
        catalogue = self.runs[name]
        catalogue.reread()
        with self._lock:
            known = self._loaded.get(name)
            if known is None or known[0] != catalogue.version:
                loaded, _, _ = load_report_runs([catalogue.run], ReportOptions())
                known = (catalogue.version, loaded[0])
                self._loaded[name] = known
            self._loaded.move_to_end(name)
            while len(self._loaded) > MOST_LOADED:
                self._loaded.popitem(last=False)
            return known[1]


def _p95(frame: TurnFrame, condition: str) -> float | None:
    return {one["condition"]: one["p95"] for one in latency_by_condition(frame)}[condition]


def _levels(pairs: Pairs, rate: str) -> tuple[float | None, float | None]:
    from simulator.reports.read.session_sums import view_values

    counted, values = view_values(pairs.first, HEADLINE)
    counted_too, values_too = view_values(pairs.second, HEADLINE)
    both = counted[pairs.rows] & counted_too[pairs.others]
    if not both.any():
        return None, None
    return (
        float(values[rate][pairs.rows][both].mean()),
        float(values_too[rate][pairs.others][both].mean()),
    )


def _difference(
    name: str, tested: dict[str, Any], first: float | None, second: float | None
) -> Difference:
    return Difference(
        name=name,
        first=first,
        second=second,
        estimate=tested["estimate"],
        low=tested["low"],
        high=tested["high"],
        p=tested.get("p"),
        bounds=tuple(tested["bounds"]) if "bounds" in tested else None,
        better={TITLES["missing"]: None, TITLES["hallucination_rate"]: False}.get(name, True),
    )
