"""Worlds whose pictures are painted boxes instead of traced light.

The painter composes as the studio does: what is attended to is large and in the middle, the others
are small and at the sides; otherwise all are alike. A finger ends below what it points at.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from simulator.world.language.questions.question_records import Conversation, Question
from simulator.world.pictures.scene import Rendered, Scene


class Painter:
    """A renderer of boxes; tells which scenes it was asked for."""

    version = "painted"

    def __init__(self) -> None:
        self.scenes: list[Scene] = []

    def check(self) -> None: ...

    def compose(self, scene: Scene) -> Rendered:
        self.scenes.append(scene)
        w, h = scene.width, scene.height
        count = 1 + len(scene.others)
        apart = w / (count + 1)
        masks: list[np.ndarray] = []
        for n in range(count):
            if scene.attended or count == 1:
                half = (w / 4, h / 5) if n == 0 else (w / 20, h / 20)
                x, y = (w / 2, h / 2) if n == 0 else (w * (0.12 if n % 2 else 0.88), h * 0.15 * n)
            else:
                x, y, half = apart * (n + 1), h / 2, (apart / 3, h / 5)
            mask = np.zeros((h, w), bool)
            mask[int(y - half[1]) : int(y + half[1]), int(x - half[0]) : int(x + half[0])] = True
            masks.append(mask)
        hand = np.zeros((h, w), bool)
        if scene.pointed_at:
            ys, xs = np.nonzero(masks[0])
            middle = int(xs.mean())
            hand[ys.max() + h // 40 :, middle - 2 : middle + 3] = True
            hand[-h // 8 :, middle - w // 10 : middle + w // 10] = True
        grey = np.zeros((h, w, 3), np.uint8)
        for n, mask in enumerate(masks):
            grey[mask] = 60 + 20 * n + sum(scene.key.encode()) % 40
        boxes = [_box(mask) for mask in masks]
        return Rendered(
            grey, boxes[0], tuple(boxes[1:]), (), (1.0,) * count, tuple(masks), hand,
            np.ones((h, w), np.float32),
        )  # fmt: skip


def _box(mask: np.ndarray) -> tuple[tuple[float, float], ...]:
    ys, xs = np.nonzero(mask)
    left, top, right, low = float(xs.min()), float(ys.min()), xs.max() + 1.0, ys.max() + 1.0
    return ((left, top), (right, top), (right, low), (left, low))


def meant(conversation: Conversation) -> Conversation:
    """The conversation with what each question means, where its language does not say it."""
    before: tuple[str, ...] = ()
    questions: list[Question] = []
    for question in conversation.questions:
        if any(q.means for q in conversation.questions):
            return conversation
        means = question.visible if len(question.visible) > 1 else ()
        if not means and question.entity_id == conversation.entity_id:
            means = (conversation.entity_id,)
        way = "words" if len(means) > 1 else "history" if means == before else "attention"
        kind = conversation.entity_id.rpartition("-")[0]
        could = (kind,) if means else ()
        way = way if means else ""
        questions.append(replace(question, means=means, could_mean=could, settled_by=way))
        before = means or before
    return replace(conversation, questions=tuple(questions))


def meaning(made: Iterator[Conversation]) -> Iterator[Conversation]:
    """All of them."""
    return map(meant, made)
