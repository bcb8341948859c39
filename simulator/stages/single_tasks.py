"""Single tasks with measures of their own: one question about one picture, and no conversation.

They are those of CRAG-MM-Diagnostics, for any data that has boxes or names.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mmrag.records import Reference, Session
from simulator.stages.truth import KnownTruth, TruthSource

_ALONE = "What is the name of the object?"


def as_tasks(sessions: Iterator[tuple[int, Session]], task: str, truth: TruthSource) -> Iterator[
    tuple[int, Session]
]:  # fmt: skip
    """A session for every turn whose truth is known; the others are left out."""
    place = 0
    for _, session in sessions:
        for turn, known in zip(session.turns, truth.of(session), strict=True):
            made = _task(session, turn.index, task, known)
            if made is not None:
                yield place, made
                place += 1


def _task(session: Session, index: int, task: str, known: KnownTruth) -> Session | None:
    turn, capture = session.turns[index], session.capture
    name = session.id if len(session.turns) == 1 else f"{session.id}-{index}"
    fresh = msgspec.structs.replace(turn, index=0)
    if task == "knowledge":
        if known.named is None:
            return None
        fresh = msgspec.structs.replace(fresh, query=known.named, gaze=None)
        return msgspec.structs.replace(session, id=name, capture=None, turns=(fresh,))
    if capture is None or (task != "grounding" and not known.names):
        return None
    if known.box is None and ("pointed" in task or task == "grounding"):
        return None
    if task == "grounding":
        width, height = capture.image.pil().size
        box = ", ".join(f"{x:g}" for x in known.box or ())
        outline = ()
        if capture.polygon and known.box == capture.focus:
            outline = (" ".join(f"{x:g},{y:g}" for x, y in capture.polygon),)
        asked = (
            "Where in the picture is what this question is about? Reply with its box in pixels, "
            f"[left, top, right, bottom], and nothing else. The picture is {width} pixels wide and "
            f"{height} pixels tall. Question: {turn.query}"
        )
        truth = Reference(text=f"[{box}] of {width} x {height}", accept=outline)
    else:
        asked = _ALONE
        if not task.endswith("alone"):
            asked = f"Which thing is this question about? Reply with its name alone. {turn.query}"
        truth = Reference(text=known.names[0], accept=known.names[1:])
    box = known.box if "pointed" in task else None
    fresh = msgspec.structs.replace(fresh, query=asked, reference=truth, box=box)
    return msgspec.structs.replace(session, id=name, turns=(fresh,))
