"""How an answer follows from the KG: calls, what is taken of each result, and one operation.

A proof is JSON, and whoever has the 38 functions can derive the answer again from nothing else, as
the tests do for every question. A call is `[function, arguments, path]`; an argument `{"$": 0}`
stands for what the first call gave. A path goes into the result by keys and places: `*` is every
item, `@last` the latest day, `@day:2031-08-15` that day, `job=Director` the items with that job.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from mmrag.errors import DataError
from mmrag.records import Record

INVALID = "invalid question"

Ask = Callable[[str, dict[str, Any]], Any]
"""(function, arguments) → its result."""

Call = tuple[str, dict[str, Any], tuple[str | int, ...]]


class Proof(Record, frozen=True, kw_only=True):
    """The derivation of one answer."""

    calls: tuple[Call, ...]
    operation: str = "value"
    """value, names, count, total, larger, smaller, difference, days, years, fits, times or
    refuted."""
    names: tuple[str, ...] = ()
    """Of a choice: what is chosen among, in the order of the calls."""
    amount: float = 0.0
    """Of `fits` and `times`."""
    claim: Any = None
    """Of `refuted`: what the question takes for granted."""


def derive(proof: Proof, ask: Ask) -> Any:
    """The value that the KG proves."""
    values: list[Any] = []
    for function, arguments, path in proof.calls:
        given = {
            key: values[cast("dict[str, int]", value)["$"]] if isinstance(value, dict) else value
            for key, value in arguments.items()
        }
        values.append(_taken(ask(function, given), path))
    return _OPERATIONS[proof.operation](proof, values)


def _taken(found: Any, path: Sequence[str | int]) -> Any:
    for at, step in enumerate(path):
        if step == "*":
            rest = path[at + 1 :]
            items = found.values() if isinstance(found, dict) else found
            return [_taken(item, rest) for item in items]
        if isinstance(step, str) and step.startswith("@"):
            found = found[_day(found, step)]
        elif isinstance(step, str) and step.startswith("job="):
            found = [item for item in found if item.get("job") == step[4:]]
        else:
            found = found[step]
    return found


def _day(found: dict[str, Any], step: str) -> str:
    days = [key for key in found if step == "@last" or key.startswith(step.removeprefix("@day:"))]
    if not days:
        raise DataError(f"the KG has nothing at {step}.")
    return max(days)


def _number(value: Any) -> float:
    """A number, or the first one in a text: "1,240 pages"."""
    if isinstance(value, str):
        found = re.search(r"-?\d[\d,]*(?:\.\d+)?", value)
        if found is None:
            raise DataError(f"{value[:40]!r} holds no number.")
        return float(found[0].replace(",", ""))
    return float(value)


def _count(_: Proof, values: list[Any]) -> int:
    """Of a list, or of a list in words: "a, b and c"."""
    last = values[-1]
    return len(re.split(r", | and ", last)) if isinstance(last, str) else len(last)


def _chosen(sign: int) -> Callable[[Proof, list[Any]], Any]:
    def choose(proof: Proof, values: list[Any]) -> Any:
        numbers = [_number(value) for value in _flat(values)]
        ranked = sorted(zip(numbers, proof.names, strict=True), reverse=sign > 0)
        if ranked[0][0] == ranked[1][0]:
            raise DataError("the two are equal.")
        return ranked[0][1]

    return choose


def _refuted(proof: Proof, values: list[Any]) -> Any:
    if values[-1] == proof.claim:
        raise DataError("the premise holds.")
    return values[-1]


def _years(_: Proof, values: list[Any]) -> int:
    """Whole years from the first day to the second."""
    first, second = (dt.date.fromisoformat(str(value)) for value in values)
    return second.year - first.year - ((second.month, second.day) < (first.month, first.day))


def _days(_: Proof, values: list[Any]) -> int:
    first, second = (dt.date.fromisoformat(str(value)) for value in values)
    return abs((second - first).days)


def _flat(values: list[Any]) -> list[Any]:
    return [x for value in values for x in (value if isinstance(value, list) else [value])]


_OPERATIONS: dict[str, Callable[[Proof, list[Any]], Any]] = {
    "value": lambda _, values: values[-1],
    "names": lambda _, values: sorted(_flat(values[-1:])),
    "count": _count,
    "total": lambda _, values: round(sum(_flat(values)), 2),
    "larger": _chosen(1),
    "smaller": _chosen(-1),
    "difference": lambda _, values: round(abs(values[-1] - values[-2]), 2),
    "days": _days,
    "years": _years,
    "fits": lambda proof, values: math.floor(round(proof.amount / values[-1], 9)),
    "times": lambda proof, values: round(proof.amount * _number(values[-1]), 2),
    "refuted": _refuted,
}
