"""Slices: every figure again for each value of each dimension, and which slices stand out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.metrics.headline import HEADLINE, RATES, Floats, IntervalOptions, figures_or_bounds
from simulator.reports.read.evidence import GROUNDING, UNLABELLED
from simulator.reports.read.session_sums import (
    ConversationSums,
    Mask,
    by_session,
    columns_of_ratios,
    view_values,
)
from simulator.reports.read.turn_frame import OWN, TurnFrame

NO_REPLY = "no reply"
"""Turns that retrieved nothing, as they were not asked or failed."""

UNTESTED = frozenset({UNLABELLED, NO_REPLY})
"""Slices of turns that a dimension says nothing of: shown, and compared with nothing."""

LEAST_SESSIONS = 10
"""A slice or a rest of fewer conversations is not tested: its error cannot be estimated."""

MOST_SLICES = 40
"""Of a dimension that the data set brings itself; one with more is left out of the report."""

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Dimension:
    """One way of slicing: for each row the number of its slice."""

    name: str
    title: str
    slices: tuple[str, ...]
    codes: Codes


_TITLES = {
    "quality": "Image quality",
    "text_clue": "Text clue in the picture",
    "popularity": "Popularity of the entity",
    "query_type": "Query type",
    "needs_history": "Needs the history",
    "needs_image": "Needs the picture",
    "turn": "Turn",
    "domain": "Domain",
    "dynamism": "Dynamism",
    "is_ego": "Egocentric or normal picture",
    "grounding": "Best retrieved passage",
}
MEANINGS = {
    "popularity": "how widely it is known: head most, torso less, tail least",
    "dynamism": "how soon the answer may change",
    f"{OWN}settled by": "what tells which of the things in view is meant: it is alone, it draws "
    "attention (larger and nearer the middle), the words, a hand, the turns before (history), only "
    "the wearer’s gaze, or nothing (ambiguous)",
    f"{OWN}voice": "in a world, the author of its questions and pages, each with their own way",
}
"""What dimensions mean whose slices do not say it."""

_FLAG_NAMES = {
    "text_clue": ("no text clue", "text clue"),
    "needs_history": ("stands alone", "needs history"),
    "needs_image": ("text suffices", "needs picture"),
    "is_ego": ("normal", "egocentric"),
}
_ORDER = {
    "quality": ("normal", "low-light", "blurred", "truncated", "occluded", "rotated"),
    "popularity": ("head", "torso", "tail"),
    "dynamism": ("static", "slow-changing", "fast-changing", "real-time"),
    "grounding": GROUNDING,
}
_LAST_TURN = 8
DEFAULTS = {
    "domain": "other",
    "query_type": "simple-knowledge",
    "dynamism": "static",
    "quality": "normal",
    "is_ego": "egocentric",
}
"""What holds of a turn or picture of which nothing is said."""


def dimensions(frame: TurnFrame) -> list[Dimension]:
    """All dimensions, each with every slice that occurs, in a fixed order.

    Those that the data set brings come first, as its author asked for them; one that tells nearly
    every turn apart is none. What the data set says nothing of is left out.
    """
    own = sorted(name for name in frame.categories if name.startswith(OWN))
    few = [name for name in own if len(frame.names(name)) <= MOST_SLICES]
    usual = [_dimension(frame, name) for name in _TITLES]
    return [*(_dimension(frame, name) for name in few), *filter(_is_given, usual)]


def slice_table(
    frame: TurnFrame,
    rows: Mask,
    how: IntervalOptions,
    *,
    min_n: int = 20,
    kinds: list[Dimension] | None = None,
) -> list[dict[str, Any]]:
    """The headline's figures of every slice; slices under `min_n` turns are marked small.

    As in the headline, a turn after a stop is missing: where every turn is in one slice of a
    dimension, its slices average to the whole.
    """
    units = ConversationSums(frame, rows)
    table: list[dict[str, Any]] = []
    found = dimensions(frame) if kinds is None else kinds
    counted, values = view_values(frame, HEADLINE)
    lacking = frame.unjudged & frame["kept"]

    def totals(where: Mask, of: Floats | None = None) -> list[float]:
        spread = _spread(units, found, where, of)
        return [float(spread[:, column].sum()) for column in range(spread.shape[1])]

    def sums(where: Mask, of: Floats | None = None) -> Floats:
        return by_session(frame, _spread(units, found, where, of), units)

    # one after the other: each has a row for every conversation
    tops = {rate: totals(counted, values[rate]) for rate in RATES[:3]}
    asked, scored = totals(frame["asked"]), totals(frame["scored"])
    whole, unjudged = totals(np.ones(len(frame), bool)), totals(lacking)
    truth = columns_of_ratios(sums(counted, values["truthfulness_score"]), sums(counted), how)
    column = 0
    for dimension in found:
        for name in dimension.slices:
            if whole[column]:
                n = truth[column]["n"]
                shares = {rate: top[column] / n if n else None for rate, top in tops.items()}
                figures = _of_slice(truth[column], shares, int(unjudged[column]))
                table.append(
                    {
                        "dimension": dimension.name,
                        "slice": name,
                        "turns": int(whole[column]),
                        "asked": int(asked[column]),
                        "coverage": scored[column] / asked[column] if asked[column] else None,
                        **figures,
                        "small": n < min_n,
                    }
                )
            column += 1
    return table


def _of_slice(
    truth: dict[str, Any], shares: dict[str, float | None], unjudged: int
) -> dict[str, Any]:
    """Truthfulness with its shares; bounds and no shares where the verdicts do not suffice."""
    half = None if truth["low"] is None else (truth["high"] - truth["low"]) / 2
    found = figures_or_bounds({"truthfulness_score": truth}, unjudged, half)["truthfulness_score"]
    known = dict.fromkeys(shares) if "bounds" in found else shares
    return {**known, "truthfulness": found}


def title_of(dimension: str) -> str:
    """A dimension in words."""
    return _TITLES.get(dimension) or dimension.removeprefix(OWN)


NONE_COMPARED = (
    "Whether one differs from the rest of its dimension could not be tested: all are alike, or one "
    f"of the two has fewer than {LEAST_SESSIONS} conversations."
)
"""Instead of "none stands out" where nothing was tested."""


def untested(table: Sequence[dict[str, Any]]) -> str:
    """Why differences of slices have no p after Holm; empty where all have one."""
    lacking = sum(entry["p_holm"] is None for entry in table)
    if not lacking:
        return ""
    if lacking == len(table):
        return f"p (Holm) is – as no slice has the {LEAST_SESSIONS} conversations of a test."
    return f"p (Holm) is – where a slice has no label or fewer than {LEAST_SESSIONS} conversations."


def standouts(
    frame: TurnFrame, rows: Mask, *, kinds: list[Dimension] | None = None
) -> dict[str, Any]:
    """Slices whose truthfulness differs from the rest of their dimension."""
    counted, values = view_values(frame, HEADLINE)
    chosen = np.flatnonzero(rows & counted)
    return standouts_of(
        dimensions(frame) if kinds is None else kinds,
        chosen,
        frame["session"][chosen],
        values["truthfulness_score"][chosen],
        len(frame.sessions),
        all_asked=bool(frame["asked"].all()),
    )


_ALPHA = 0.05


def standouts_of(
    kinds: list[Dimension],
    rows: NDArray[Any],
    session: NDArray[Any],
    value: Floats,
    many: int,
    *,
    all_asked: bool,
) -> dict[str, Any]:
    """Slices whose mean value differs from the rest of their dimension, one after the other.

    Each round tests every slice against the rest (t test, errors robust to clusters), takes the
    smallest p, and stops when Holm's bound does not allow it. A slice that was found leaves the
    pool before the next round; without that, every slice would look good beside a bad one, and
    whatever goes together with it would look bad. Turn numbers are tested only where every turn
    was asked: otherwise the later turns are those of the conversations that went well. What was
    retrieved is no property of a question but a step of the work, and is not tested.
    """
    found = [d for d in kinds if d.name != "grounding" and (d.name != "turn" or all_asked)]
    codes = {d.name: d.codes[rows] for d in found}
    pool = np.ones(len(rows), bool)
    results: list[dict[str, Any]] = []
    closed: set[tuple[str, str]] = set()
    tested = 0
    while True:
        tests = _against_rest(found, codes, pool, session, value, many, closed)
        tested = tested or _hypotheses(tests)
        if not tests:
            break
        best = min(tests, key=lambda test: test["p"])
        adjusted = min(1.0, best["p"] * _hypotheses(tests))
        if adjusted > _ALPHA:
            break
        results.append({**best, "p_holm": max([adjusted, *(r["p_holm"] for r in results)])})
        closed.add((best["dimension"], best["slice"]))
        dimension = next(d for d in found if d.name == best["dimension"])
        pool = pool & (codes[dimension.name] != dimension.slices.index(best["slice"]))
    return {"alpha": _ALPHA, "tested": tested, "found": results}


def _against_rest(
    found: list[Dimension],
    codes: dict[str, Codes],
    pool: Mask,
    session: NDArray[Any],
    value: Floats,
    many: int,
    closed: set[tuple[str, str]],
) -> list[dict[str, Any]]:
    tests: list[dict[str, Any]] = []
    at, worth = session[pool].astype(np.int64), value[pool]
    for dimension in found:
        width = len(dimension.slices)
        cell = at * width + codes[dimension.name][pool]
        size = np.bincount(cell, minlength=many * width).reshape(many, width).astype(float)
        top = np.bincount(cell, worth, many * width).reshape(many, width).astype(float)
        unknown = [name in UNTESTED for name in dimension.slices]
        size[:, unknown] = 0
        top[:, unknown] = 0
        rest_size, rest_top = size.sum(1, keepdims=True) - size, top.sum(1, keepdims=True) - top
        for column, name in enumerate(dimension.slices):
            if (dimension.name, name) in closed:
                continue
            test = _welch(
                top[:, column], size[:, column], rest_top[:, column], rest_size[:, column]
            )
            if test is not None:
                tests.append({"dimension": dimension.name, "slice": name, **test})
    return tests


def _welch(
    top: Floats, size: Floats, rest_top: Floats, rest_size: Floats
) -> dict[str, float] | None:
    """Difference of two ratios over sessions that may share sessions; None where it cannot be."""
    from scipy.special import stdtr

    fewest = min(int((size > 0).sum()), int((rest_size > 0).sum()))
    if fewest < LEAST_SESSIONS:
        return None
    n, m = size.sum(), rest_size.sum()
    here, there = top.sum() / n, rest_top.sum() / m
    influence = (top - here * size) / n - (rest_top - there * rest_size) / m
    many = int(((size > 0) | (rest_size > 0)).sum())
    error = float(np.sqrt(many / (many - 1) * np.square(influence).sum()))
    if error <= 0:
        return None
    difference = float(here - there)
    p = float(2 * stdtr(fewest - 1, -abs(difference) / error))
    return {
        "difference": difference,
        "here": float(here),
        "rest": float(there),
        "p": p,
        "n": int(n),
        "sessions": int((size > 0).sum()),
    }


def _hypotheses(tests: list[dict[str, Any]]) -> int:
    """Two slices of a dimension against each other are one hypothesis, not two."""
    per: dict[str, int] = {}
    for test in tests:
        per[test["dimension"]] = per.get(test["dimension"], 0) + 1
    return sum(1 if count == 2 else count for count in per.values())


def _spread(
    units: ConversationSums, kinds: list[Dimension], where: Mask, values: Floats | None = None
) -> Floats:
    """Sums per unit (row) and slice (column), all dimensions side by side."""
    chosen = np.flatnonzero(units.rows & where)
    place = np.full(units.many, -1, np.int64)
    place[units.present] = np.arange(len(units.present))
    at = place[units.number[chosen]]
    weights = None if values is None else values[chosen]
    many, first = len(units.present), 0
    out = np.empty((many, sum(len(dimension.slices) for dimension in kinds)))
    for dimension in kinds:
        width = len(dimension.slices)
        flat = np.bincount(at * width + dimension.codes[chosen], weights, many * width)
        out[:, first : first + width] = flat.reshape(-1, width)
        first += width
    return out


def _is_given(dimension: Dimension) -> bool:
    """Whether the data says anything: more than one value, or another than it has by default."""
    said = set(dimension.slices) - UNTESTED
    return bool(said) and dimension.slices != (DEFAULTS.get(dimension.name),)


def _dimension(frame: TurnFrame, name: str) -> Dimension:
    if name == "turn":
        return _turns(frame)
    if name in _FLAG_NAMES:
        names = [*_FLAG_NAMES[name], UNLABELLED]
        codes = np.where(frame[name] < 0, 2, frame[name]).astype(np.int32)
        return _used(name, names, codes)
    known = list(frame.names(name))
    order = _ORDER.get(name, ())
    key: Callable[[str], tuple[int, str]] = lambda n: (  # noqa: E731
        order.index(n) if n in order else len(order), n
    )  # fmt: skip
    names = [*sorted(known, key=key), NO_REPLY if name == "grounding" else UNLABELLED]
    place = np.array([*(names.index(n) for n in known), len(names) - 1], np.int32)
    codes = place[frame[name]]  # −1 is the last
    return _used(name, names, codes)


def _turns(frame: TurnFrame) -> Dimension:
    codes = np.minimum(frame["turn"], _LAST_TURN - 1).astype(np.int32)
    last = int(codes.max(initial=0))
    names = [f"turn {i + 1}" for i in range(last + 1)]
    if last == _LAST_TURN - 1:
        names[-1] += " and later"
    return Dimension("turn", _TITLES["turn"], tuple(names), codes)


def _used(name: str, names: list[str], codes: Codes) -> Dimension:
    """Leave out the slices that do not occur anywhere in the run."""
    present = np.unique(codes)
    place = np.zeros(len(names), np.int32)
    place[present] = np.arange(len(present))
    return Dimension(name, title_of(name), tuple(names[i] for i in present), place[codes])
