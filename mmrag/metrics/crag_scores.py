"""CRAG's grades: perfect 1, acceptable 0.5, missing 0, incorrect −1, and their means.

People's grades count acceptable as half (truthfulness with the index h in the paper); automatic
evaluation merges perfect and acceptable (index a). Several judges are averaged, each by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from mmrag.errors import UsageError
from mmrag.metrics.grounding import share
from mmrag.records import Outcome, Record

Weights = Mapping[str, Mapping[str, float]]
"""Domain → question type → how often people ask it."""


class Graded(Protocol):
    """What counts of a turn: a `TurnScore`, which is defined with the protocols."""

    @property
    def session_id(self) -> str:
        """The question's name."""
        ...

    @property
    def cluster(self) -> str | None:
        """What intervals resample, where that is not the session."""
        ...

    @property
    def outcome(self) -> Outcome:
        """As judged."""
        ...

    @property
    def votes(self) -> tuple[Outcome, ...]:
        """Of each judge."""
        ...

    @property
    def printed(self) -> Outcome | None:
        """A false premise by the printed rule."""
        ...

    @property
    def domain(self) -> str:
        """CRAG's domain."""
        ...

    @property
    def query_type(self) -> str:
        """CRAG's question type."""
        ...


class Grades(Record, frozen=True, kw_only=True):
    """Shares of the outcomes among the scored replies. Unscored ones only lower the coverage."""

    perfect: float | None
    acceptable: float | None
    missing: float | None
    incorrect: float | None
    truthfulness: float | None
    """perfect + acceptable/2 − incorrect: the mean grade of human evaluation."""
    automatic: float | None
    """(perfect + acceptable) − incorrect: automatic evaluation merges the two."""
    n: float
    """Scored replies (a mean over judges need not be whole)."""
    coverage: float | None


def crag_figures(rows: Sequence[Graded], resamples: int = 0, seed: int = 0) -> dict[str, Any]:
    """Every figure of one system: the four shares and both truthfulnesses, judges averaged.

    `printed` is the automatic truthfulness with false premises by the paper's printed rule: only
    the words "invalid question" are right where that is the reference.
    """
    judged = outcomes_by_judge(rows)
    means = mean_of_judges([grades(outcomes) for outcomes in judged])
    by_print = [[_printed(row, one) for row, one in zip(rows, outcomes, strict=True)]
                for outcomes in judged]  # fmt: skip
    figures = {
        **{name: value for name, value in msgspec.structs.asdict(means).items() if name != "n"},
        "total": means.n,
        "judges": len(judged),
        "printed": mean_of_judges([grades(outcomes) for outcomes in by_print]).automatic,
        "false_premises": sum(row.printed is not None for row in rows),
        "truthfulness_score": means.automatic or 0.0,
        "mean_multi_turn_conversation_score": means.automatic or 0.0,  # a question each
        "accuracy": _sum(means.perfect, means.acceptable),
        "hallucination_rate": means.incorrect or 0.0,
    }
    if resamples and len(rows) > 1:
        figures["intervals"] = _intervals(rows, judged, resamples, seed)
    return figures


def outcomes_by_judge(rows: Sequence[Graded]) -> list[list[Outcome]]:
    """The outcomes of each judge of a panel; of one where none voted, or not always as many. Where
    nobody had to vote (an exact match), all judges are taken to agree."""
    votes = {len(row.votes) for row in rows} - {0}
    many = votes.pop() if len(votes) == 1 else 1
    return [
        [row.votes[judge] if len(row.votes) == many > 1 else row.outcome for row in rows]
        for judge in range(many)
    ]


def traffic_figures(rows: Sequence[Graded], weights: Weights) -> dict[str, float | None]:
    """The four shares and both truthfulnesses, question types weighted, domains alike."""
    cells: dict[str, dict[str, list[Graded]]] = {}
    for row in rows:
        cells.setdefault(row.domain, {}).setdefault(row.query_type, []).append(row)
    figures = {
        domain: {kind: crag_figures(held) for kind, held in kinds.items()}
        for domain, kinds in cells.items()
    }
    return {
        name: traffic_weighted(
            {d: {kind: held[name] for kind, held in kinds.items()} for d, kinds in figures.items()},
            weights,
        )
        for name in ("perfect", "acceptable", "incorrect", "missing", "truthfulness", "automatic")
    }


def _printed(row: Graded, outcome: Outcome) -> Outcome:
    return outcome if row.printed is None or outcome is Outcome.UNSCORED else row.printed


def _sum(*shares: float | None) -> float:
    return sum(value or 0.0 for value in shares)


def _intervals(
    rows: Sequence[Graded], judged: Sequence[Sequence[Outcome]], resamples: int, seed: int
) -> dict[str, list[float | None]]:
    """95 % intervals over resampled sessions."""
    from mmrag.metrics.statistics import cluster_bootstrap

    scored = [i for i, row in enumerate(rows) if row.outcome is not Outcome.UNSCORED]
    clusters = [rows[i].cluster or rows[i].session_id for i in scored]

    def interval(value: Mapping[Outcome, float]) -> list[float | None]:
        held = [[value.get(outcomes[i], 0.0) for outcomes in judged] for i in scored]
        means = [sum(one) / len(one) for one in held]
        found = cluster_bootstrap(means, clusters, resamples=resamples, seed=seed)
        return [found.low, found.high]

    perfect, acceptable, incorrect = Outcome.PERFECT, Outcome.ACCEPTABLE, Outcome.INCORRECT
    return {
        "perfect": interval({perfect: 1.0}),
        "acceptable": interval({acceptable: 1.0}),
        "missing": interval({Outcome.MISSING: 1.0}),
        "incorrect": interval({incorrect: 1.0}),
        "truthfulness": interval({perfect: 1.0, acceptable: 0.5, incorrect: -1.0}),
        "automatic": interval({perfect: 1.0, acceptable: 1.0, incorrect: -1.0}),
    }


def grades(outcomes: Sequence[Outcome]) -> Grades:
    """The shares of one judge's outcomes.

    >>> grades([Outcome.PERFECT, Outcome.ACCEPTABLE, Outcome.MISSING]).truthfulness
    0.5
    """
    counts = Counter(outcomes)
    n = len(outcomes) - counts[Outcome.UNSCORED]
    perfect, acceptable = counts[Outcome.PERFECT], counts[Outcome.ACCEPTABLE]
    incorrect = counts[Outcome.INCORRECT]
    return Grades(
        perfect=share(perfect, n),
        acceptable=share(acceptable, n),
        missing=share(counts[Outcome.MISSING], n),
        incorrect=share(incorrect, n),
        truthfulness=share(perfect + 0.5 * acceptable - incorrect, n),
        automatic=share(perfect + acceptable - incorrect, n),
        n=n,
        coverage=share(n, len(outcomes)),
    )


def mean_of_judges(judged: Sequence[Grades]) -> Grades:
    """CRAG's automatic evaluation: each figure averaged over two (or more) judges."""
    if not judged:
        raise UsageError("a mean of judges needs a judge.")

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        # A judge without a figure leaves the mean undefined: nobody's opinion is filled in.
        return sum(known) / len(known) if len(known) == len(values) else None

    return Grades(
        perfect=mean([g.perfect for g in judged]),
        acceptable=mean([g.acceptable for g in judged]),
        missing=mean([g.missing for g in judged]),
        incorrect=mean([g.incorrect for g in judged]),
        truthfulness=mean([g.truthfulness for g in judged]),
        automatic=mean([g.automatic for g in judged]),
        n=sum(g.n for g in judged) / len(judged),
        coverage=mean([g.coverage for g in judged]),
    )


def traffic_weighted(
    figures: Mapping[str, Mapping[str, float | None]], weights: Mapping[str, Mapping[str, float]]
) -> float | None:
    """Mean over domains of the weighted mean over question types within each.

    `figures` and `weights` are domain → type → number. A type without a figure is left out and the
    other weights of its domain rescaled; a domain without any is left out of the mean.
    """
    means: list[float] = []
    for domain, types in figures.items():
        known = {name: value for name, value in types.items() if value is not None}
        missing = [name for name in known if name not in weights.get(domain, {})]
        if missing:
            raise UsageError(f"no traffic weight for {', '.join(sorted(missing))} in {domain}.")
        total = sum(weights[domain][name] for name in known) if known else 0.0
        if any(weights[domain][name] < 0 for name in known):
            raise UsageError(f"a traffic weight of {domain} is negative.")
        if total:
            means.append(sum(weights[domain][name] * v for name, v in known.items()) / total)
    return sum(means) / len(means) if means else None
