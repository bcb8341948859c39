"""Judges of a box and of a name: where a thing is, and what it is called (docs/runs.md#stages).

They decide as CRAG-MM-Diagnostics does, so that its figures can be had: a box counts from an
intersection over union of one half on, and a reply without one stands for the whole picture.
"""

from __future__ import annotations

import re

import msgspec

from mmrag.protocols import Judge
from mmrag.records import Box, JudgeItem, Outcome, Verdict

OVERLAP = 0.5
"""Intersection over union from which on a box is right."""

_BOX = re.compile(r"\[(\d+),\s*(\d+),\s*(\d+),\s*(\d+)\]")
_POINT = re.compile(r"\[(\d+(?:\.\d+)?),\s*(\d+(?:\.\d+)?)\]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MOST = 10_000
"""Characters of a reply that are looked at."""


def box_overlap(one: Box, other: Box) -> float:
    """Intersection over union.

    >>> box_overlap((0, 0, 10, 10), (0, 5, 10, 15))
    0.3333333333333333
    """
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(width, 0) * max(height, 0)
    whole = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)) - shared
    return shared / whole if whole else 0.0


def is_inside(point: tuple[float, float], outline: list[tuple[float, float]]) -> bool:
    """Whether a point lies in a polygon, by the crossings of a line to the right.

    >>> is_inside((1, 1), [(0, 0), (3, 0), (0, 3)]), is_inside((2, 2), [(0, 0), (3, 0), (0, 3)])
    (True, False)
    """
    x, y = point
    inside = False
    for (ax, ay), (bx, by) in zip(outline, [*outline[1:], outline[0]], strict=True):
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside


class BoxJudge:
    """Right where a reply's box, or its point, is where the reference says.

    A reference is `[left, top, right, bottom] of WIDTH x HEIGHT`; another one, without brackets, is
    the outline by its corners, for points.
    """

    id = "boxes/1"

    async def judge(self, item: JudgeItem) -> Verdict:
        """By overlap, or by whether the point lies in the outline."""
        boxes = [_numbers(text) for text in item.references if text.startswith("[")]
        outlines = [_numbers(text) for text in item.references if not text.startswith("[")]
        true = next((n for n in boxes if len(n) in (4, 6)), None)
        if true is None:
            why = "the reference is not a box"
            return Verdict(outcome=Outcome.UNSCORED, judge=self.id, reason=why)
        left, top, right, bottom = true[:4]
        reply = item.prediction[:_MOST]
        found, point = _BOX.search(reply), _POINT.search(reply)
        if found is None and point is not None:
            at = (float(point[1]), float(point[2]))
            flat = next((n for n in outlines if len(n) >= 6), None)
            corners = list(zip(flat[::2], flat[1::2], strict=False)) if flat else [
                (left, top), (right, top), (right, bottom), (left, bottom)]  # fmt: skip
            return self._said(is_inside(at, corners), "the point lies", "in it", "elsewhere")
        given = tuple(float(n) for n in found.groups()) if found else (0.0, 0.0, *true[4:6])
        if len(given) != 4:
            return self._said(False, "no box", "", "in the reply")
        share = box_overlap((given[0], given[1], given[2], given[3]), (left, top, right, bottom))
        words = f"an overlap of {share:.3f}" if found else "no box, so the whole picture:"
        return self._said(share >= OVERLAP, words, "is enough", "is too little")

    def _said(self, right: bool, *words: str) -> Verdict:
        outcome = Outcome.PERFECT if right else Outcome.INCORRECT
        reason = f"{words[0]} {words[1] if right else words[2]}"
        return Verdict(
            outcome=outcome, judge=self.id, score=outcome.score, exact=right, reason=reason
        )


def _numbers(text: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(text)]


class NameJudge:
    """Right where a reply is the name, letter for letter but for case, or another judge says so."""

    def __init__(self, inner: Judge) -> None:
        self._inner = inner
        self.id = f"names/1+{inner.id}"

    async def judge(self, item: JudgeItem) -> Verdict:
        """By the name that the reply holds, without the form around it."""
        name = bare_name(item.prediction)
        if any(name.strip().lower() == text.strip().lower() for text in item.references):
            return Verdict(
                outcome=Outcome.PERFECT, judge=self.id, score=1.0, exact=True, reason="the name"
            )
        found = await self._inner.judge(msgspec.structs.replace(item, prediction=name))
        return msgspec.structs.replace(found, judge=self.id)


def bare_name(reply: str) -> str:
    """The name in a reply in the form that models are asked for.

    >>> bare_name("target_object: [Subaru WRX]"), bare_name("target_object: Kia K5")
    ('Subaru WRX', 'Kia K5')
    """
    text = reply
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if "[" in text and "]" in text:
        text = text[text.index("[") + 1 : text.index("]")]
    return text.partition(":")[2].strip() if "target_object:" in text else text


def make_name_judge(judge: str = "builtin") -> NameJudge:
    """`names:judge=SPEC`: who decides where a name is not the very name."""
    from mmrag.judges import make_judge

    return NameJudge(make_judge(judge))
