"""How often a way of measuring prefers what people prefer: Ragas' Table 1 with any model.

For each pair the better-measured case is the preferred one; a tie is broken at random by the seed,
as in the paper. What a judge failed on is left out and counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from mmrag.errors import Denied, JudgeError, ServiceError
from mmrag.judges.measure_registry import Measurer
from mmrag.judges.papers import preference
from mmrag.metrics.measure_records import Case
from mmrag.metrics.statistics import generator, wilson
from mmrag.protocols import Model
from mmrag.records import Record
from simulator.datasets.papers.wikieval import AnswerPair

Method = Callable[[AnswerPair, int], Awaitable[float]]
"""Pair and seed → above 0 for the preferred case, below for the other, 0 for a tie."""


class MethodAgreement(Record, frozen=True, kw_only=True):
    """One cell of the table."""

    method: str
    quality: str
    accuracy: float | None
    low: float | None
    high: float | None
    n: int
    ties: int
    failed: int


def by_measure(measurer: Measurer) -> Method:
    """Ragas itself: the case with the higher measure. One without a value is below any other."""

    async def compare(pair: AnswerPair, _seed: int) -> float:
        values: list[float] = []
        for case in (pair.preferred, pair.other):
            [found] = await measurer.measure(case, [pair.quality])
            if found.failed:
                raise JudgeError(found.reason)
            values.append(-1.0 if found.value is None else found.value)
        return values[0] - values[1]

    return compare


def by_score(model: Model) -> Method:
    """GPT Score: the case with the higher grade."""

    async def compare(pair: AnswerPair, _seed: int) -> float:
        grades = [
            await preference.grade(
                model,
                pair.quality,
                question=case.question,
                answer=case.answer,
                context=_context(case),
            )
            for case in (pair.preferred, pair.other)
        ]
        return grades[0] - grades[1]

    return compare


def by_ranking(model: Model) -> Method:
    """GPT Ranking: the case that the model chooses; which is shown first is drawn by the seed."""

    async def compare(pair: AnswerPair, seed: int) -> float:
        swapped = bool(generator(seed, f"order/{pair.id}").integers(2))
        shown = [_shown(case, pair.quality) for case in (pair.preferred, pair.other)]
        first, second = reversed(shown) if swapped else shown
        chosen = await preference.choose_better(
            model,
            pair.quality,
            question=pair.preferred.question,
            context=_context(pair.preferred),
            first=first,
            second=second,
        )
        return 1.0 if (chosen == 1) != swapped else -1.0

    return compare


async def agreement(
    pairs: Iterable[AnswerPair],
    methods: dict[str, Method],
    *,
    seed: int = 0,
    concurrency: int = 8,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[MethodAgreement]:
    """Every method on every pair, one result per method and quality."""
    every = list(pairs)
    work = iter([(name, pair) for name in methods for pair in every])
    found: dict[tuple[str, str], list[float | None]] = {}
    done = 0

    async def worker() -> None:
        nonlocal done
        for name, pair in work:
            try:
                difference = await methods[name](pair, seed)
            except Denied:
                raise
            except (JudgeError, ServiceError):
                difference = None
            found.setdefault((name, pair.quality), []).append(
                difference or (None if difference is None else _broken(pair, name, seed))
            )
            done += 1
            on_progress(done, len(every) * len(methods))

    await asyncio.gather(*(worker() for _ in range(max(1, concurrency))))
    qualities = dict.fromkeys(pair.quality for pair in every)
    return [_cell(name, quality, found[name, quality]) for name in methods for quality in qualities]


def table(results: Sequence[MethodAgreement]) -> list[str]:
    """The results as lines of text, one per method."""
    qualities = list(dict.fromkeys(one.quality for one in results))
    lines = [" " * 24 + "".join(f"{quality.replace('_', ' '):>28}" for quality in qualities)]
    for method in dict.fromkeys(one.method for one in results):
        cells = [one for one in results if one.method == method]
        lines.append(f"{method:<24}" + "".join(f"{_words(one):>28}" for one in cells))
    return lines


_TIE = 1e-9
"""What stands for a tie, with the sign that was drawn: no real difference is as small."""


def _broken(pair: AnswerPair, method: str, seed: int) -> float:
    return _TIE if generator(seed, f"tie/{method}/{pair.id}").integers(2) else -_TIE


def _cell(method: str, quality: str, differences: list[float | None]) -> MethodAgreement:
    known = [one for one in differences if one is not None]
    right = sum(one > 0 for one in known)
    interval = wilson(right, len(known)) if known else None
    return MethodAgreement(
        method=method,
        quality=quality,
        accuracy=right / len(known) if known else None,
        low=interval and interval.low,
        high=interval and interval.high,
        n=len(known),
        ties=sum(abs(one) <= _TIE for one in known),
        failed=len(differences) - len(known),
    )


def _words(one: MethodAgreement) -> str:
    if one.accuracy is None:
        return f"– ({one.failed} failed)"
    return f"{one.accuracy:.2f} [{one.low:.2f}, {one.high:.2f}] t{one.ties} f{one.failed}"


def _context(case: Case) -> str:
    return "\n".join(passage.text for passage in case.passages)


def _shown(case: Case, quality: str) -> str:
    return _context(case) if quality == "context_relevance" else case.answer


def as_json(results: Sequence[MethodAgreement]) -> list[dict[str, Any]]:
    """For programs."""
    import msgspec

    return [msgspec.structs.asdict(one) for one in results]
