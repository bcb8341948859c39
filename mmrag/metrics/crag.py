"""CRAG's grades: perfect 1, acceptable 0.5, missing 0, incorrect −1, and their means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mmrag.errors import UsageError
from mmrag.metrics.grounding import share
from mmrag.records import Outcome, Record


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
    figures: Mapping[str, Mapping[str, float | None]],
    weights: Mapping[str, Mapping[str, float]],
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
