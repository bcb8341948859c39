"""The failures from which most can be learnt, with their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import MmragError
from mmrag.files.images import LazyImage, data_uri, jpeg
from mmrag.records import Evidence, Session, Step, Turn, TurnResult
from simulator.reports.figures.slices import UNTESTED, Dimension
from simulator.reports.read.turn_frame import OWN, TurnFrame, kind_and_severity
from simulator.store.run_reader import RunReader

SIDE = 420
"""Longer side of a picture in the report, in pixels."""

CUT = 400
"""Characters of a question or a reference that a page shows."""

_CANDIDATES = 4000
_REPEATED = {"stage": 1.0, "degradation": 0.6, "quality": 0.4, "domain": 0.4, "query_type": 0.3}
"""What a failure loses for each one like it that was chosen already."""


def choose_failures(frame: TurnFrame, count: int) -> list[tuple[int, list[str]]]:
    """Rows of the most instructive failures with the reasons, no conversation twice.

    An answer that is wrong counts more than a miss; being sure of it, having had the right
    evidence, ending the conversation, and having been right on the clean picture each add. Then
    variety: a failure loses weight for every chosen one of the same stage, image quality, domain
    or type.
    """
    wrong = frame["score"] < 0
    failed = frame["scored"] & frame["kept"] & (frame["score"] <= 0)
    rows = np.flatnonzero(failed)
    if not len(rows):
        return []
    sure = np.nan_to_num(frame["confidence"])
    had = frame.is_a("stage", "not used") | frame.is_a("stage", "misread")
    ended, lost = _ended(frame), _right_when_clean(frame)
    severity = np.array([kind_and_severity(n)[1] or 3 for n in frame.names("degradation")] or [0])
    early = (6 - severity[frame["degradation"]]) / 5
    weight = (3.0 * wrong + 2.0 * sure * wrong + 1.5 * had + 1.0 * ended + (1.5 + early) * lost)[
        rows
    ]
    first = np.lexsort((rows, -weight))[:_CANDIDATES]
    order = rows[first]
    weights = dict(zip(order.tolist(), weight[first].tolist(), strict=True))
    chosen = _varied(frame, order, weights, count)
    reasons = (
        (wrong & (sure >= 0.7), "sure and wrong"),
        (lost, "right on the clean picture"),
        (had, "had the right evidence"),
        (ended, "ended the conversation"),
        (~wrong & had, "kept silent although it had the evidence"),
    )
    return [(row, [words for mask, words in reasons if mask[row]]) for row in chosen]


def describe(
    run: RunReader, frame: TurnFrame, row: int, reasons: list[str], kinds: Sequence[Dimension]
) -> dict[str, Any]:
    """One failure as the report shows it: question, replies, evidence and picture.

    Its labels are those of `kinds`, the dimensions of which the data says something: what the
    author of a file never wrote is not put into the author's mouth.
    """
    session_id = frame.sessions[int(frame["session"][row])]
    degradation = frame.names("degradation")[int(frame["degradation"][row])]
    session = run.session(session_id, degradation)
    results = run.turns(session_id, degradation)
    index = int(frame.turn_index[row])
    turn = session.turns[index]
    result = next(r for r in results if r.turn_index == index)
    clean = None
    if degradation != "clean" and "clean" in frame.conditions:
        clean = _same_when_clean(run, session_id, turn)
    stage = int(frame["stage"][row])
    return {
        "session": session_id,
        "turn": index + 1,
        "degradation": degradation,
        "outcome": outcome_of_row(frame, row),
        "stage": frame.names("stage")[stage] if stage >= 0 else "unknown",
        "reasons": reasons,
        "confidence": _known(frame["confidence"][row]),
        "labels": _labels(kinds, row),
        "question": cut(turn.query, CUT),
        "reference": cut(turn.reference.text, CUT),
        "reply": reply_of(result),
        "clean_reply": reply_of(clean) if clean is not None else None,
        "verdict": cut(result.verdict.reason, 300) if result.verdict else "",
        "history": [
            {"question": cut(t.query, 160), "reply": cut(reply_of(r), 160)}
            for t, r in zip(session.turns[:index], results, strict=False)
        ],
        "evidence": _evidence(result),
        "pictures": _pictures(run, session, clean is not None),
    }


def _same_when_clean(run: RunReader, session_id: str, turn: Turn) -> TurnResult | None:
    """What came of the same question, or of a live wearer's same goal, under clean."""
    if turn.wearer is None:
        return next((r for r in run.turns(session_id) if r.turn_index == turn.index), None)
    if "clean" not in run.degradations_of(session_id):
        return None
    asked = run.session(session_id).turns
    goals = {t.index: t.wearer.goal for t in asked if t.wearer is not None}
    return next(
        (r for r in run.turns(session_id)
         if not r.step and goals.get(r.turn_index) == turn.wearer.goal), None,
    )  # fmt: skip


def _labels(kinds: Sequence[Dimension], row: int) -> list[str]:
    shown = [k for k in kinds if k.name.startswith(OWN) or k.name in ("domain", "query_type")]
    names = [kind.slices[kind.codes[row]] for kind in shown]
    return [name for name in names if name not in UNTESTED]


def outcome_of_row(frame: TurnFrame, row: int) -> str:
    """The outcome of a row in words."""
    from simulator.reports.read.turn_frame import OUTCOMES

    return OUTCOMES[int(frame["outcome"][row])]


def thumbnail(image: LazyImage) -> str | None:
    """A picture as a small JPEG data URI; None when it cannot be read."""
    from PIL import Image

    try:
        small = image.pil()
    except MmragError:
        return None
    small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return data_uri(jpeg(small, 72, optimize=True))


def _varied(
    frame: TurnFrame, order: NDArray[Any], weights: dict[int, float], count: int
) -> list[int]:
    chosen: list[int] = []
    sessions: set[int] = set()
    seen: dict[tuple[str, int], int] = {}
    left = order.tolist()
    while left and len(chosen) < count:
        best, most = -1, -np.inf
        for row in left:
            if weights[row] <= most:
                break  # in order of weight: nothing after it can win
            if int(frame["session"][row]) in sessions:
                continue
            value = weights[row] - sum(
                cost * seen.get((name, int(frame[name][row])), 0)
                for name, cost in _REPEATED.items()
            )
            if value > most:
                best, most = row, value
        if best < 0:
            break
        chosen.append(best)
        sessions.add(int(frame["session"][best]))
        left.remove(best)
        for name in _REPEATED:
            key = (name, int(frame[name][best]))
            seen[key] = seen.get(key, 0) + 1
    return chosen


def _ended(frame: TurnFrame) -> NDArray[np.bool_]:
    """The last turn that took place in a conversation that was cut."""
    kept = frame["kept"]
    following = np.r_[frame["unit"][1:] == frame["unit"][:-1], False]
    return kept & following & ~np.r_[kept[1:], False]


def _right_when_clean(frame: TurnFrame) -> NDArray[np.bool_]:
    if "clean" not in frame.conditions:
        return np.zeros(len(frame), bool)
    right = frame.condition("clean") & frame["scored"] & (frame["score"] > 0)
    key = frame["session"].astype(np.int64) * 4096 + frame["turn"]
    return np.isin(key, key[right]) & ~frame.condition("clean")


def _evidence(result: TurnResult, limit: int = 4) -> list[dict[str, Any]]:
    cited = set(result.reply.citations) if result.reply else set[str]()
    found: dict[tuple[str, str], Evidence] = {}
    for step in _steps(result.reply.trace if result.reply else ()):
        for item in step.evidence:
            found.setdefault((item.source, item.id), item)
    ranked = sorted(
        found.values(), key=lambda e: (e.id not in cited and e.url not in cited, -e.score)
    )
    return [
        {
            "source": item.source,
            "title": cut(item.title or item.url or item.id, 90),
            "text": cut(item.text, 220),
            "score": item.score,
            "cited": item.id in cited or item.url in cited,
        }
        for item in ranked[:limit]
    ]


def _steps(steps: tuple[Step, ...]) -> list[Step]:
    return [inner for step in steps for inner in (step, *_steps(step.steps))]


def _pictures(run: RunReader, session: Session, with_clean: bool) -> list[dict[str, Any]]:
    capture = session.capture
    if capture is None:
        return []
    label = capture.quality if capture.degradation == "clean" else capture.degradation
    shown = [(label, capture.image)]
    if with_clean:
        clean = run.session(session.id).capture
        shown += [("clean", clean.image)] if clean is not None else []
    found: list[dict[str, Any]] = []
    for name, image in shown:
        data = thumbnail(image)
        if data is not None:
            found.append({"label": name, "data": data})
    return found


def reply_of(result: TurnResult) -> str:
    """What was replied, or what became of the turn."""
    return cut(result.reply.text, 500) if result.reply else f"({status_in_words(result.status)})"


def status_in_words(status: str) -> str:
    """What happened to a turn, as people say it.

    >>> status_in_words("skipped_after_stop"), status_in_words("agent_error")
    ('not asked', 'agent error')
    """
    known = {
        "abstained": "said that it does not know",
        "skipped_after_stop": "not asked",
        "timeout": "no reply in time",
    }
    return known.get(status, status.replace("_", " "))


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def cut(text: str, size: int) -> str:
    """A text, short enough for a page."""
    return text if len(text) <= size else text[: size - 1] + "…"
