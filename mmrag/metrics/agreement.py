"""How far judges agree, with each other and with people. Base rates stand beside every coefficient.

κ and α fall when one outcome is rare even if judges almost always agree, so they are never shown
without the share of each outcome (docs/measures.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from mmrag.errors import UsageError
from mmrag.records import Record


class ClassFigures(Record, frozen=True, kw_only=True):
    """One outcome of a confusion matrix."""

    precision: float | None
    recall: float | None
    f1: float | None
    said: int
    """How often the judge said it."""
    true: int
    """How often people said it."""


class Agreement(Record, frozen=True, kw_only=True):
    """A judge against people."""

    n: int
    accuracy: float | None
    kappa: float | None
    classes: Mapping[str, ClassFigures]
    confusion: Mapping[str, Mapping[str, int]]
    """People's outcome → the judge's outcome → count."""


def compare(human: Sequence[str], judged: Sequence[str]) -> Agreement:
    """Accuracy, κ, precision and recall per outcome, and the confusion matrix.

    >>> compare(["correct", "incorrect"], ["correct", "correct"]).accuracy
    0.5
    """
    if len(human) != len(judged):
        raise UsageError(f"{len(human)} human outcomes and {len(judged)} judged ones do not pair.")
    pairs = Counter(zip(human, judged, strict=True))
    names = sorted({*human, *judged})
    confusion = {h: {j: pairs[h, j] for j in names} for h in names}
    classes: dict[str, ClassFigures] = {}
    for name in names:
        hit = pairs[name, name]
        said, true = sum(confusion[h][name] for h in names), sum(confusion[name].values())
        precision, recall = _ratio(hit, said), _ratio(hit, true)
        f1 = _ratio(2 * hit, said + true)
        classes[name] = ClassFigures(
            precision=precision, recall=recall, f1=f1, said=said, true=true
        )
    n = len(human)
    return Agreement(
        n=n,
        accuracy=_ratio(sum(pairs[name, name] for name in names), n),
        kappa=cohen_kappa(human, judged),
        classes=classes,
        confusion=confusion,
    )


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's κ: agreement beyond what the two judges' own base rates give by chance.

    None without items, or when both always say the same one thing (0/0).

    >>> cohen_kappa("aabb", "aabb"), cohen_kappa("aabb", "abab")
    (1.0, 0.0)
    """
    if len(first) != len(second):
        raise UsageError("κ needs two opinions on every item.")
    n = len(first)
    if not n:
        return None
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    one, two = Counter(first), Counter(second)
    chance = sum(one[name] * two[name] for name in one) / n**2
    return None if chance == 1 else (agreed - chance) / (1 - chance)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
