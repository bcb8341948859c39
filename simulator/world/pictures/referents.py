"""Which thing in view a question means, decided from what a picture shows, the words and the turns
before.

It is what an assistant could decide: the owner mask stands for the picture, the kinds that the
words leave room for stand for the words. Nothing here knows which thing was to be asked about
beyond what it is given to prove.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.records import Gaze
from simulator.world.language.questions.question_records import NAMED
from simulator.world.pictures.pixel_truth import HAND

Owners = NDArray[np.uint8]

AMBIGUOUS = "ambiguous"
"""What a turn is settled by that nothing settles."""

LARGER = 2.0
"""How many times as large as any other what is attended to has to be."""

NEARER = 0.12
"""How much nearer to the middle it has to be, as a share of the picture's shorter side."""

IN_VIEW = 0.0005
"""Of the picture: a thing of which less is seen is not in view."""

_TOUCH = 0.008
"""Of the shorter side: what is nearer to a hand touches it."""
_GRIP = 0.03
"""Of the shorter side: the length of a touch from which on a thing is held."""
_BEYOND = 0.3
"""Of the longer side: a finger points at nothing farther away."""


class ViewQuestion(NamedTuple):
    """A question as far as it concerns what is in view."""

    means: tuple[int, ...]
    """Things that it means, by their numbers in the mask; none if it is about nothing in view."""
    could_mean: tuple[str, ...]
    """Kinds of things that its words could mean."""
    way: str = ""
    """How it is to be settled; `words` say where things stand to each other, `history` leans,
    `named` was named by an earlier answer."""


def referent_cues(
    owners: Owners, kinds: Sequence[str], asked: Sequence[ViewQuestion], *, gaze: bool = False
) -> list[str]:
    """Per turn of a conversation the way by which its thing is settled, or `AMBIGUOUS`.

    `kinds` are those of the things 1, 2, …; `gaze` counts as well where it is handed over. A turn
    that means nothing in view has none.
    """
    sight = sight_of(owners, len(kinds))
    ways: list[str] = []
    before: tuple[int, ...] = ()
    for one in asked:
        ways.append(_way(sight, kinds, one, before, gaze) if one.means else "")
        if one.means:
            before = () if ways[-1] == AMBIGUOUS else one.means
    return ways


def view_questions(
    questions: Iterable[tuple[Sequence[str], Sequence[str], str]], visible: Sequence[str]
) -> list[ViewQuestion]:
    """Questions (what they mean, which kinds they could mean, by what it is settled) of a picture
    of these things."""
    numbers = {name: n for n, name in enumerate(visible, 1)}
    return [
        ViewQuestion(tuple(numbers[name] for name in means), tuple(could_mean), way)
        for means, could_mean, way in questions
    ]


def gazes(owners: Owners, asked: Sequence[ViewQuestion]) -> list[Gaze | None]:
    """Per turn where the wearer looks: at the first thing that is meant, else at the main one."""
    points = {n: gaze_at(owners, n) for n in {(one.means or (1,))[0] for one in asked}}
    return [points[(one.means or (1,))[0]] for one in asked]


def gaze_at(owners: Owners, number: int) -> Gaze | None:
    """The point of a thing that is farthest from its edge; None where nothing of it is seen."""
    import cv2

    mask = np.pad((owners == number).astype(np.uint8), 1)
    if not mask.any():
        return None
    inside = cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1]
    y, x = np.unravel_index(int(inside.argmax()), inside.shape)
    height, width = owners.shape
    return (round((float(x) + 0.5) / width, 4), round((float(y) + 0.5) / height, 4))


def is_attended(owners: Owners, count: int) -> bool:
    """Whether the thing 1 is nearest the middle and largest of as many, by clear margins."""
    return sight_of(owners, count).attends(1, range(2, count + 1))


class MaskSight(NamedTuple):
    """What the mask says of each thing; the thing 1 comes first."""

    areas: tuple[float, ...]
    """Shares of the picture."""
    middles: tuple[tuple[float, float], ...]
    """From the picture's middle, in shares of its shorter side."""
    touched: int
    """The thing that the wearer's hand holds or points at; 0 for none."""

    def off(self, number: int) -> float:
        """How far from the middle a thing is."""
        return float(np.hypot(*self.middles[number - 1]))

    def apart(self, one: int, other: int) -> float:
        """How far two things are from each other."""
        (a, b), (c, d) = self.middles[one - 1], self.middles[other - 1]
        return float(np.hypot(a - c, b - d))

    def attends(self, number: int, others: Sequence[int]) -> bool:
        """Whether a thing is nearest the middle and largest, by clear margins."""
        return all(
            self.areas[number - 1] >= LARGER * self.areas[other - 1]
            and self.off(number) + NEARER <= self.off(other)
            for other in others
        )

    def stands_out(self, number: int, others: Sequence[int]) -> bool:
        """Whether a hand or attention tells a thing from others."""
        if self.touched in (number, *others):
            return self.touched == number
        return self.attends(number, others)


def sight_of(owners: Owners, count: int) -> MaskSight:
    """What a mask says of its things."""
    height, width = owners.shape
    side = min(height, width)
    areas: list[float] = []
    middles: list[tuple[float, float]] = []
    for number in range(1, count + 1):
        ys, xs = np.nonzero(owners == number)
        areas.append(len(xs) / owners.size)
        at = (float(xs.mean()), float(ys.mean())) if len(xs) else (0.0, 0.0)
        middles.append(((at[0] + 0.5 - width / 2) / side, (at[1] + 0.5 - height / 2) / side))
    return MaskSight(tuple(areas), tuple(middles), _touched(owners, count))


def _way(
    sight: MaskSight, kinds: Sequence[str], asked: ViewQuestion, before: tuple[int, ...], gaze: bool
) -> str:
    seen = [n for n, area in enumerate(sight.areas, 1) if area >= IN_VIEW]
    first = asked.means[0]
    if not set(asked.means) <= set(seen):
        return AMBIGUOUS
    rivals = [n for n in seen if n not in asked.means and kinds[n - 1] in asked.could_mean]
    if asked.way == NAMED:
        return "history"
    if asked.way == "words":
        if _says_which(sight, asked.means, rivals):
            return "words"
        return "gaze" if gaze and _says_which(sight, asked.means, rivals, gaze=True) else AMBIGUOUS
    if not rivals:
        return "words" if asked.means[1:] else "alone"
    if asked.way == "history" and before == asked.means:
        return "history"
    if len(asked.means) > 1:
        return AMBIGUOUS
    if sight.stands_out(first, rivals):
        return "hand" if sight.touched == first else "attention"
    return "gaze" if gaze else AMBIGUOUS


def _says_which(
    sight: MaskSight, means: tuple[int, ...], rivals: Sequence[int], *, gaze: bool = False
) -> bool:
    """Whether words such as "these", "both", "this and the one next to it" fit one choice only.

    They speak of three and more that are all there are; or of what is attended to (or looked at),
    the thing 1, and what is next to it: nothing else may be as near.
    """
    if 1 in means:
        return not rivals and (gaze or len(means) > 2 or sight.stands_out(1, means[1:]))
    (other,) = means
    rest = [n for n in rivals if n != 1]
    return (gaze or sight.stands_out(1, [other, *rest])) and all(
        sight.apart(1, other) + NEARER <= sight.apart(1, n) for n in rest
    )


def _touched(owners: Owners, count: int) -> int:
    """The thing that a hand holds: it touches it at length. Else the first that lies where its
    finger points: on from the hand's middle through its farthest point from where it comes in."""
    import cv2

    hand = owners == HAND
    side = min(owners.shape)
    if hand.mean() < IN_VIEW:
        return 0
    reach = 2 * max(round(_TOUCH * side), 1) + 1
    near = cv2.dilate(hand.astype(np.uint8), np.ones((reach, reach), np.uint8)) > 0
    touches = np.bincount(owners[near], minlength=256)[1 : count + 1] / reach * 2 / side
    best = int(touches.argmax())
    others = np.delete(touches, best)
    if touches[best] >= _GRIP and (not others.size or touches[best] >= 2 * others.max()):
        return best + 1
    return _pointed_at(owners, hand)


def _pointed_at(owners: Owners, hand: NDArray[np.bool_]) -> int:
    ys, xs = np.nonzero(hand)
    points = np.stack([xs, ys], 1).astype(float)
    height, width = owners.shape
    rim = (xs == 0) | (xs == width - 1) | (ys == height - 1)
    if not rim.any():
        return 0
    tip = points[np.hypot(*(points - points[rim].mean(0)).T).argmax()]
    ahead = tip - points.mean(0)
    ahead /= max(float(np.hypot(*ahead)), 1e-9)
    for step in range(1, round(_BEYOND * max(height, width))):
        x, y = np.rint(tip + ahead * step).astype(int)
        if not (0 <= x < width and 0 <= y < height):
            break
        if owners[y, x] not in (0, HAND):
            return int(owners[y, x])
    return 0
