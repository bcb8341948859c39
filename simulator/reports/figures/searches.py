"""What the searches brought and what was made of it."""

from __future__ import annotations

from typing import Any

from simulator.reports.read.session_sums import Mask
from simulator.reports.read.turn_frame import TurnFrame

HITS = ("both", "image KG only", "web only", "neither")


def retrieval(frame: TurnFrame, rows: Mask) -> dict[str, Any] | None:
    """Turns by what was found (the entity, a right passage), and how they ended; None: unknown.

    A search that was not made found nothing; turns of which the data set says neither the entity
    nor the right passages are left out and counted.
    """
    scored = rows & frame["scored"]
    entity, passage = frame["entity_found"], frame["passage_found"]
    known = scored & ((entity >= 0) | (passage >= 0))
    whole = int(known.sum())
    if not whole:
        return None
    kg, web = entity == 1, passage == 1
    groups = dict(zip(HITS, (kg & web, kg & ~web, web & ~kg, ~kg & ~web), strict=True))
    return {
        "known": whole,
        "unknown": int(scored.sum()) - whole,
        "groups": [_group(frame, name, known & hit, whole) for name, hit in groups.items()],
    }


def _group(frame: TurnFrame, name: str, rows: Mask, whole: int) -> dict[str, Any]:
    n = int(rows.sum())
    score = frame["score"][rows]
    used = rows & (frame["used"] >= 0)
    many = int(used.sum())
    return {
        "found": name,
        "n": n,
        "share": n / whole,
        "correct": float((score > 0).mean()) if n else None,
        "missing": float((score == 0).mean()) if n else None,
        "incorrect": float((score < 0).mean()) if n else None,
        "truthfulness": float(score.mean()) if n else None,
        "used": float(frame["used"][used].mean()) if many else None,
    }
