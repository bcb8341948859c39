"""What happens when a judge fails: rules decide what needs no judge, and one that is down ends all.

Missing verdicts are no sample of the others: a judge that fails at whatever is not right makes any
assistant look perfect. So what a rule can settle is settled, and what is left is told apart
(`mmrag.metrics.headline`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from mmrag.errors import Denied, error_text
from mmrag.judges.simple import FixedJudge
from mmrag.protocols import Judge
from mmrag.records import JudgeItem, Outcome, Verdict
from mmrag.text.normalise import is_exact, normalise
from mmrag.text.refusals import missing_reason

MOST_FAILURES = 16
"""Replies without a verdict, from the first on, after which a judge is down."""
PATIENCE = 30.0
"""Seconds from the first question after which `FEW_FAILURES` are enough, as retries take time."""
FEW_FAILURES = 3


def plain_verdict(item: JudgeItem, judge: str) -> Verdict | None:
    """The verdict on a reply that needs no judge: equal to a reference, or no answer."""
    if is_exact(item.prediction, item.references):
        return Verdict(
            outcome=Outcome.PERFECT, judge=judge, score=1.0, exact=True,
            reason="equal to a reference",
        )  # fmt: skip
    why, said = missing_reason(item.prediction), f" {normalise(item.prediction)} "
    if why is None or any(map(missing_reason, item.references)):
        return None
    if any(f" {name} " in said for name in map(normalise, item.references) if name):
        return None  # "I'm not sure, Sony?" may be an answer
    return Verdict(outcome=Outcome.MISSING, judge=judge, score=0.0, reason=f"rule: {why}")


class FallbackJudge:
    """Asks a judge, and settles by rule what needs none, whatever the judge says of it.

    Raises `Denied`, which ends a run, when the judge is down: it never gave a verdict, and no model
    of its ever answered.
    """

    def __init__(self, judge: Judge, clock: Callable[[], float] = time.monotonic) -> None:
        self._judge = judge
        self._clock = clock
        self._began: float | None = None
        self._failures = 0
        self._works = False
        self._why = ""

    @property
    def id(self) -> str:
        """The judge's."""
        return self._judge.id

    async def judge(self, item: JudgeItem) -> Verdict:
        """A rule's verdict, or the judge's, or an unscored one that says why."""
        if self._began is None:
            self._began = self._clock()
        try:
            verdict = await self._judge.judge(item)
        except Denied:
            raise
        except Exception as error:
            verdict = Verdict(outcome=Outcome.UNSCORED, judge=self.id, reason=error_text(error))
        if not isinstance(verdict, Verdict) or not any(r.strip() for r in item.references):  # pyright: ignore[reportUnnecessaryIsInstance]
            return verdict
        plain, scored = plain_verdict(item, self.id), verdict.outcome is not Outcome.UNSCORED
        # of what needs no judge nothing is learnt, unless a model answered
        self._works |= verdict.usage.calls > 0 or (scored and plain is None)
        if not scored:
            self._failures, self._why = self._failures + 1, verdict.reason
            late = self._clock() - self._began > PATIENCE and self._failures >= FEW_FAILURES
            if self._failures >= MOST_FAILURES or late:
                self.check()
        if plain is None or plain.outcome is verdict.outcome or isinstance(self._judge, FixedJudge):
            return verdict
        return msgspec.structs.replace(plain, usage=verdict.usage)

    def check(self) -> None:
        """Raise `Denied` if the judge is down."""
        if self._failures >= FEW_FAILURES and not self._works:
            raise Denied(
                f"the judge {self.id} is down: it gave no verdict on any of {self._failures} "
                f"replies ({self._why[:300]}); --judge chooses another."
            )
