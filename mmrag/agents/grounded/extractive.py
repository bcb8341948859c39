"""The built-in reader: answers a plan from statements, with arithmetic where the plan asks for it.

It quotes or computes; it never invents. What it cannot find it does not answer.
"""

from __future__ import annotations

from collections.abc import Callable

from mmrag.agents.grounded.desk import Desk
from mmrag.agents.grounded.matching import Matcher
from mmrag.agents.grounded.operations import OPERATIONS, is_so
from mmrag.agents.grounded.plan import QuestionPlan
from mmrag.agents.grounded.reader import Reading
from mmrag.agents.grounded.scene import Finding, Scene


class ExtractiveReader:
    """Reads statements. Deterministic: the same desk gives the same answer."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def reading(self, scene: Scene, desk: Desk, now: str) -> Reading:
        """The steps that operations are made of: here by noun phrases."""
        return Reading(self._matcher, scene, desk, now)

    def read(self, plan: QuestionPlan, scene: Scene, desk: Desk, now: str | None) -> Finding | None:
        """The answer, or None when the evidence has none."""
        reading = self.reading(scene, desk, now or "")
        operation: Callable[[Reading, QuestionPlan], Finding | None] | None = OPERATIONS.get(
            plan.operation
        )
        return operation(reading, plan) if operation else None

    def holds(self, claim: QuestionPlan, scene: Scene, desk: Desk, now: str | None) -> bool | None:
        """Whether a premise is true of the thing in view; None where the evidence does not say."""
        actual = self.reading(scene, desk, now or "").resolve(claim)
        return None if actual is None else is_so(actual.value, claim.claim)
