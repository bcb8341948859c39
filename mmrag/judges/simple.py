"""The two simplest judges: exact match, and a fake that always says the same."""

from __future__ import annotations

from mmrag.errors import SpecError
from mmrag.records import JudgeItem, Outcome, Verdict
from mmrag.text.normalise import is_exact
from mmrag.text.refusals import missing_reason


class ExactJudge:
    """Correct only when equal to a reference after normalisation: the strictest lower bound."""

    id = "exact/1"

    async def judge(self, item: JudgeItem) -> Verdict:
        """Perfect, missing or incorrect; unscored without a reference."""
        if not any(reference.strip() for reference in item.references):
            return Verdict(
                outcome=Outcome.UNSCORED,
                judge=self.id,
                reason="there is no reference to judge against",
            )
        if is_exact(item.prediction, item.references):
            return Verdict(
                outcome=Outcome.PERFECT, judge=self.id, score=1.0, exact=True, reason="exact match"
            )
        missing = missing_reason(item.prediction)
        outcome = Outcome.INCORRECT if missing is None else Outcome.MISSING
        return Verdict(
            outcome=outcome,
            judge=self.id,
            score=outcome.score,
            reason=missing or "differs from every reference",
        )


class FixedJudge:
    """A fake for tests and dry runs: the same outcome for everything, `fixed:outcome=missing`."""

    def __init__(self, outcome: str = "perfect") -> None:
        try:
            self.outcome = Outcome(outcome)
        except ValueError:
            known = ", ".join(Outcome)
            raise SpecError(f"{outcome!r} is not an outcome; choose one of {known}.") from None
        self.id = f"fixed:{self.outcome}"

    async def judge(self, item: JudgeItem) -> Verdict:
        """The fixed outcome, whatever the item says."""
        del item
        return Verdict(
            outcome=self.outcome, judge=self.id, score=self.outcome.score, reason="fixed"
        )
