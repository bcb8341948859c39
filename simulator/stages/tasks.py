"""Single tasks with measures of their own: one question about one picture, and no conversation.

They are those of CRAG-MM-Diagnostics, for any data that has boxes or names.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mmrag.errors import SpecError
from mmrag.records import Reference, Session
from simulator.stages.truth import Known, Truth

NO_TASK = "none"

TASKS: dict[str, str] = {
    "grounding": "where the thing is that a question is about",
    "identify-pointed": "what a thing in a box is called, with the question",
    "identify-pointed-alone": "what a thing in a box is called, without it",
    "identify": "what the thing is called that a question is about",
    "identify-alone": "what the thing in a picture is called",
    "knowledge": "the answer, from the name in the question and no picture",
}
"""Task → what is asked."""

_MOVES = ("rotated", "truncated")
_ALONE = "What is the name of the object?"


def check_task(task: str, degrade: str) -> None:
    """Refuse a task that nobody knows, or whose truth a degradation would move."""
    if task not in (NO_TASK, *TASKS):
        raise SpecError(f"no task is called {task!r}; there is {', '.join(TASKS)}.")
    if task == "grounding" and any(kind in degrade for kind in (*_MOVES, "mix", "sweep")):
        raise SpecError("--task grounding takes pictures in which the thing stays where it is: "
                        "clean, low-light, blurred or occluded.")  # fmt: skip


def judge_of(task: str, judge: str) -> str:
    """The spec of the judge that a task is decided by."""
    if task == "grounding":
        return "boxes"
    return f"names:judge=({judge})" if task.startswith("identify") else judge


def as_tasks(sessions: Iterator[tuple[int, Session]], task: str, truth: Truth) -> Iterator[
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


def _task(session: Session, index: int, task: str, known: Known) -> Session | None:
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
