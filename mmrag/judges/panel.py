"""Several judges on one reply: every vote is kept, the score is their mean as in CRAG."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean, pvariance

from mmrag.errors import SpecError
from mmrag.protocols import Judge, Model
from mmrag.records import JudgeItem, Outcome, Usage, Verdict, Vote

_WORST_FIRST = (Outcome.INCORRECT, Outcome.MISSING, Outcome.ACCEPTABLE, Outcome.PERFECT)


class Panel:
    """`panel:judges=builtin+exact`, or any judges. Unscored votes are kept but do not count."""

    def __init__(
        self,
        judges: Sequence[Judge] | str,
        *,
        models: Callable[[str], Model] | None = None,
        agent_model: str | None = None,
    ) -> None:
        if isinstance(judges, str):
            from mmrag.judges import make_judge

            names = [name.strip() for name in judges.split("+") if name.strip()]
            judges = [make_judge(n, models=models, agent_model=agent_model) for n in names]
        if len(judges) < 2:
            raise SpecError("a panel needs two judges or more: panel:judges=builtin+exact.")
        self._judges = tuple(judges)

    @property
    def id(self) -> str:
        """The ids of the judges."""
        names = (str(getattr(judge, "id", type(judge).__name__)) for judge in self._judges)
        return f"panel({' '.join(names)})"

    async def judge(self, item: JudgeItem) -> Verdict:
        """The outcome with most votes (the worse one in a tie) and the mean score."""
        verdicts = await asyncio.gather(*(judge.judge(item) for judge in self._judges))
        return combine_verdicts(self.id, verdicts)


def combine_verdicts(judge: str, verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict of several: the most frequent outcome (the worse in a tie) and the mean score.
    Every vote is kept. Unscored ones do not count; their cost does."""
    votes = tuple(
        Vote(judge=v.judge, outcome=v.outcome, score=v.score, reason=v.reason) for v in verdicts
    )
    exact = any(verdict.exact for verdict in verdicts)
    usage = sum((verdict.usage for verdict in verdicts), Usage())
    counted = [vote for vote in votes if vote.outcome is not Outcome.UNSCORED]
    if not counted:
        return Verdict(
            outcome=Outcome.UNSCORED,
            judge=judge,
            reason="; ".join(f"{vote.judge}: {vote.reason}" for vote in votes),
            votes=votes,
            exact=exact,
            usage=usage,
        )
    scores = [vote.outcome.score if vote.score is None else vote.score for vote in counted]
    known = [score for score in scores if score is not None]
    tally = Counter(vote.outcome for vote in counted)
    most = max(tally.values())
    counts = ", ".join(f"{name} {count}" for name, count in sorted(tally.items()))
    return Verdict(
        outcome=next(o for o in _WORST_FIRST if tally[o] == most),
        judge=judge,
        score=fmean(known),
        exact=exact,
        reason=f"{counts}; variance {pvariance(known):.2f}",
        votes=votes,
        usage=usage,
    )
