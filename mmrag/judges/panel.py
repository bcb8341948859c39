"""Several judges on one reply: every vote is kept, the score is their mean as in CRAG."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, pvariance

from mmrag.errors import SpecError
from mmrag.metrics.agreement import base_rates, cohen_kappa, krippendorff_alpha
from mmrag.protocols import Judge, Model
from mmrag.records import JudgeItem, Outcome, Record, Usage, Verdict, Vote

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
        return combined(self.id, verdicts)


def combined(judge: str, verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict of several: the most frequent outcome (the worse in a tie) and the mean score.

    Every vote is kept. Unscored ones do not count; their cost does.
    """
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


class PanelAgreement(Record, frozen=True, kw_only=True):
    """How far the judges of a panel agree over many replies."""

    n: int
    alpha: float | None
    """Krippendorff's α over all judges."""
    kappa: Mapping[str, float | None]
    """`judge & judge` → Cohen's κ on the replies both voted on."""
    rates: Mapping[str, Mapping[str, float]]
    """Judge → share of each outcome among its votes; κ and α mean little without them."""


def panel_agreement(verdicts: Sequence[Verdict]) -> PanelAgreement:
    """Agreement from the votes that verdicts keep; unscored votes count as no vote."""
    names = list(dict.fromkeys(vote.judge for verdict in verdicts for vote in verdict.votes))
    table: list[dict[str, Outcome]] = [
        {v.judge: v.outcome for v in verdict.votes if v.outcome is not Outcome.UNSCORED}
        for verdict in verdicts
    ]
    kappa: dict[str, float | None] = {}
    for first, second in combinations(names, 2):
        both = [row for row in table if first in row and second in row]
        kappa[f"{first} & {second}"] = cohen_kappa(
            [row[first] for row in both], [row[second] for row in both]
        )
    return PanelAgreement(
        n=len(table),
        alpha=krippendorff_alpha([[row.get(name) for name in names] for row in table]),
        kappa=kappa,
        rates={name: base_rates([row[name] for row in table if name in row]) for name in names},
    )
