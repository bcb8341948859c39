"""What is read about each candidate for the thing in view, with evidence of its own.

So what is found hangs on nothing but the picture, the question and the candidate: it is remembered
for later turns, and worked out again, alike, where it is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable

from mmrag.agents.grounded.bounded_cache import BoundedCache
from mmrag.agents.grounded.program_runner import BuiltinReader
from mmrag.agents.grounded.question_plan import QuestionPlan
from mmrag.agents.grounded.scene_records import Finding, Scene
from mmrag.agents.grounded.turn_evidence import TurnEvidence

_SEARCHES_BESIDES = 3
"""Most web queries for a candidate that is not the likeliest."""

Known = BoundedCache[tuple[str, ...], tuple[bool | None]]
"""What was found out of candidates, by picture, time, candidate, way of asking and question."""


class CandidateReader:
    """The reader, for one picture at one time."""

    def __init__(
        self,
        reader: BuiltinReader,
        gather: Callable[[], TurnEvidence],
        known: Known,
        *,
        picture: str,
        now: str | None,
    ) -> None:
        self.gathered: list[TurnEvidence] = []
        """What the question at hand was read from, the likeliest candidate's first."""
        self._reader = reader
        self._gather = gather
        self._known = known
        self._picture = picture
        self._now = now

    def read(self, plan: QuestionPlan, seen: Scene) -> Finding | None:
        """The answer to the question at hand where the main thing of a scene is the one in view."""
        finding, evidence = self._find(plan, seen, not self.gathered)
        self.gathered.append(evidence)
        return finding

    def answers(self, plan: QuestionPlan, seen: Scene, is_likeliest: bool) -> bool:
        """Whether an earlier question has an answer there."""
        known = self._known.get(self._key(plan, seen, str(is_likeliest)))
        return bool(known[0]) if known else self._find(plan, seen, is_likeliest)[0] is not None

    def holds(self, claim: QuestionPlan, seen: Scene) -> bool | None:
        """Whether a premise is true there; None where nothing is known of it."""
        key = self._key(claim, seen, "claim")
        known = self._known.get(key)
        if known is None:
            known = (self._reader.holds(claim, seen, self._gather(), self._now),)
            self._known.put(key, known)
        return known[0]

    def _find(
        self, plan: QuestionPlan, seen: Scene, is_likeliest: bool
    ) -> tuple[Finding | None, TurnEvidence]:
        evidence = self._gather()
        if not is_likeliest:
            evidence.also(_SEARCHES_BESIDES)
        finding = self._reader.read(plan, seen, evidence, self._now)
        self._known.put(self._key(plan, seen, str(is_likeliest)), (finding is not None,))
        return finding, evidence

    def _key(self, plan: QuestionPlan, seen: Scene, how: str) -> tuple[str, ...]:
        name = seen.main.name if seen.main else ""
        return (self._picture, str(self._now), name, how, repr(plan))
