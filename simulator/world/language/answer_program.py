"""The little language in which answers are computed. A program is JSON: `[op, argument, …]`.

`["get", ["it", "book-00007"], "author"]` is the author of a book. A program reads facts and
nothing else; it has no loops, no names and no side effects, its size is bounded, and a result that
is not unique (a tie, an empty set, two values at one time) is an error, never a guess.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from typing import Any, Literal, cast

from mmrag.errors import DataError
from mmrag.records import Record
from simulator.world.facts.domain_schema import (
    Choice,
    Clock,
    Day,
    Number,
    Ref,
    Several,
    Year,
    attribute_of,
)
from simulator.world.facts.fact_wording import say_value
from simulator.world.facts.factbase import FactBase

MAX_NODES = 200
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

UNITS: dict[tuple[str, str], tuple[float, float, int]] = {
    ("g", "oz"): (0.0352739619, 0.0, 1),
    ("g", "lb"): (0.0022046226, 0.0, 1),
    ("kg", "lb"): (2.2046226218, 0.0, 1),
    ("cm", "in"): (0.3937007874, 0.0, 1),
    ("cm", "ft"): (0.0328083990, 0.0, 1),
    ("mm", "in"): (0.0393700787, 0.0, 1),
    ("m", "ft"): (3.280839895, 0.0, 1),
    ("km", "mi"): (0.6213711922, 0.0, 1),
    ("km/h", "mph"): (0.6213711922, 0.0, 1),
    ("kW", "hp"): (1.3410220896, 0.0, 0),
    ("litres", "gal"): (0.2641720524, 0.0, 1),
    ("ml", "fl oz"): (0.0338140227, 0.0, 1),
    ("°C", "°F"): (1.8, 32.0, 1),
    ("kcal", "kJ"): (4.184, 0.0, 0),
}
"""(from, to) → factor, offset, decimals of the result."""


class ProgramError(DataError):
    """A program that is malformed or whose answer is not unique."""


AnswerKind = Literal[
    "number", "year", "day", "clock", "word", "words", "entity", "entities", "bool", "text",
    "correction",
]  # fmt: skip


class Answer(Record, frozen=True, kw_only=True):
    """The result of a program."""

    kind: AnswerKind
    value: Any
    unit: str = ""
    digits: int = 0


class FactRead(Record, frozen=True, kw_only=True):
    """A fact that a program read."""

    entity_id: str
    attribute: str
    at: str


def evaluate(program: list[Any], facts: FactBase, at: str) -> tuple[Answer, tuple[FactRead, ...]]:
    """The answer as of `at`, and the facts it rests on in the order of reading."""
    run = _Run(facts, at)
    answer = run.eval(program)
    if answer.kind == "entities" and not answer.value:
        raise ProgramError(f"the answer of {program!r} is an empty set.")
    return answer, tuple(dict.fromkeys(run.accesses))


class _Run:
    def __init__(self, facts: FactBase, at: str) -> None:
        self.facts = facts
        self.at = at
        self.accesses: list[FactRead] = []
        self._nodes = 0

    def eval(self, node: object) -> Answer:
        if not isinstance(node, list) or not node or not isinstance(node[0], str):
            raise ProgramError(f"{str(node)[:80]!r} is not an expression; write [op, argument, …].")
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise ProgramError(f"the program has more than {MAX_NODES} nodes.")
        items = cast("list[Any]", node)
        operation = _OPERATIONS.get(items[0])
        if operation is None:
            raise ProgramError(f"no operation is called {items[0]!r}.")
        try:
            return operation(self, *items[1:])
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise ProgramError(f"{items[0]!r} cannot be applied: {error}.") from error

    def entity(self, node: object) -> str:
        return cast("str", self._of(node, "entity").value)

    def entities(self, node: object) -> list[str]:
        return list(cast("tuple[str, ...]", self._of(node, "entities").value))

    def number(self, node: object) -> Answer:
        if isinstance(node, int | float):
            return Answer(kind="number", value=node)
        answer = self.eval(node)
        if answer.kind not in ("number", "year"):
            raise ProgramError(f"{answer.kind} where a number is needed.")
        return answer

    def _of(self, node: object, kind: str) -> Answer:
        answer = self.eval(node)
        if answer.kind != kind:
            raise ProgramError(f"{answer.kind} where {kind} is needed.")
        return answer

    def read(self, entity_id: str, key: str, at: str | None = None) -> Answer:
        """One attribute at a time, noted as read."""
        when = at or self.at
        attribute = attribute_of(self.facts.entity(entity_id).kind, key)
        value = self.facts.value(entity_id, key, when)
        self.accesses.append(FactRead(entity_id=entity_id, attribute=key, at=when))
        spec = attribute.value
        if isinstance(spec, Number):
            return Answer(kind="number", value=value, unit=spec.unit, digits=spec.digits)
        return Answer(kind=_KINDS[type(spec)], value=value)


_KINDS: dict[type, AnswerKind] = {
    Ref: "entity", Year: "year", Day: "day", Clock: "clock", Choice: "word", Several: "words"
}  # fmt: skip
"""What an attribute that is no number comes to."""


def _bool(value: object) -> Answer:
    return Answer(kind="bool", value=value)


def _printed(run: _Run, thing: Any, part: str) -> Answer:
    look = run.facts.entity(run.entity(thing)).look
    text = None if look is None else {"label": look.label, "sublabel": look.sublabel}[part]
    if not text:
        raise ProgramError(f"nothing is printed as {part} on this.")
    return Answer(kind="text", value=text)


def _sources(run: _Run, thing: Any, relation: str, kind: str) -> Answer:
    owner = run.entity(thing)
    found = run.facts.sources(owner, relation, run.at, kind)
    for source in found:
        run.read(source.id, relation)
    return Answer(kind="entities", value=tuple(e.id for e in found))


def _without(run: _Run, things: Any, thing: Any) -> Answer:
    left_out = run.entity(thing)
    return Answer(kind="entities", value=tuple(i for i in run.entities(things) if i != left_out))


def _where(run: _Run, things: Any, key: str, sign: str, wanted: Any) -> Answer:
    """Those of some things whose value lies over or under a bound, is a word, or says it."""
    chosen: list[str] = []
    for i in run.entities(things):
        value = run.read(i, key).value
        if sign in "<>" and value == wanted:
            raise ProgramError(f"{i} lies on the bound {wanted}.")
        if _HOLDS[sign](value, wanted):
            chosen.append(i)
    return Answer(kind="entities", value=tuple(chosen))


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda value, wanted: value < wanted,
    "<=": lambda value, wanted: value <= wanted,
    ">=": lambda value, wanted: value >= wanted,
    ">": lambda value, wanted: value > wanted,
    "is": lambda value, wanted: value == wanted,
    "has": lambda value, wanted: _says(value, wanted),
    "lacks": lambda value, wanted: not _says(value, wanted),
}


def _says(value: Any, word: str) -> bool:
    """Whether a word, or one of several words, begins so and is not denied: "cats and dogs" says
    "cat"; "children but not cats" does not, nor does "no bare shoulders" say "shoulders"."""
    parts = cast("tuple[str, ...]", value) if isinstance(value, tuple) else (str(value),)
    return any(
        not _DENIED.search(said[: at.start()])
        for said in map(str.lower, parts)
        for at in re.finditer(rf"\b{re.escape(word.lower())}", said)
    )


_DENIED = re.compile(r"\b(?:not|no|never|without)(?: \w+){0,2} $")


def _extreme(sign: int) -> Callable[..., Answer]:
    def extreme(run: _Run, things: Any, key: str) -> Answer:
        ids = run.entities(things)
        ranked = sorted(((sign * run.read(i, key).value, i) for i in ids), reverse=True)
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            raise ProgramError(f"no single one of {len(ranked)} has the extreme {key}.")
        return Answer(kind="entity", value=ranked[0][1])

    return extreme


def _total(run: _Run, things: Any, key: str) -> Answer:
    parts = [run.read(i, key) for i in run.entities(things)]
    first = parts[0]
    total = round(sum(p.value for p in parts), first.digits)
    return Answer(kind="number", value=total, unit=first.unit, digits=first.digits)


def _minus(run: _Run, a: Any, b: Any) -> Answer:
    """How far two numbers lie apart."""
    x, y = run.number(a), run.number(b)
    digits = max(x.digits, y.digits)
    apart = round(abs(x.value - y.value), digits)
    unit = "years" if x.kind == "year" and y.kind == "year" else x.unit
    if not apart:
        raise ProgramError("the two are equal.")
    return Answer(kind="number", value=_whole(apart, digits), unit=unit, digits=digits)


def _plus(run: _Run, a: Any, b: Any) -> Answer:
    x, y = run.number(a), run.number(b)
    digits = max(x.digits, y.digits)
    value = _whole(round(x.value + y.value, digits), digits)
    return Answer(kind="number", value=value, unit=x.unit or y.unit, digits=digits)


def _over(run: _Run, a: Any, b: Any) -> Answer:
    """One number divided by another: a price per serving, hours at a speed."""
    x, y = run.number(a), run.number(b)
    if not y.value:
        raise ProgramError("nothing can be divided by zero.")
    digits = 2 if x.unit == "$" else 1
    unit = "" if x.unit == y.unit else x.unit
    return Answer(kind="number", value=round(x.value / y.value, digits), unit=unit, digits=digits)


def _whole(value: float, digits: int) -> float:
    return value if digits else int(value)


def _times(run: _Run, a: Any, b: Any) -> Answer:
    x, y = run.number(a), run.number(b)
    value = _whole(round(x.value * y.value, x.digits), x.digits)
    return Answer(kind="number", value=value, unit=x.unit or y.unit, digits=x.digits)


def _fits(run: _Run, amount: Any, a: Any) -> Answer:
    """How many whole times something goes into an amount."""
    whole, each = run.number(amount).value, run.number(a).value
    if each <= 0 or whole < each:
        raise ProgramError("it does not go into that once.")
    return Answer(kind="number", value=math.floor(round(whole / each, 9)))


def _deal(run: _Run, thing: Any, count: Any) -> Answer:
    """What several cost together, with today's offer."""
    owner, many = run.entity(thing), int(run.number(count).value)
    price, offer = run.read(owner, "price"), str(run.read(owner, "offer").value)
    each = _OFFERS.get(offer, lambda n: float(n))
    value = round(price.value * each(many), price.digits)
    return Answer(kind="number", value=value, unit=price.unit, digits=price.digits)


_OFFERS: dict[str, Callable[[int], float]] = {
    "20 % off": lambda n: 0.8 * n,
    "3 for the price of 2": lambda n: n - n // 3,
    "second one half price": lambda n: n - n // 2 / 2,
}
"""Offer → how many prices so many things cost."""


def _above(run: _Run, a: Any, b: Any) -> Answer:
    """Whether one is more than the other, or later."""
    x, y = _plain(run, a), _plain(run, b)
    if x == y:
        raise ProgramError("the two are equal.")
    return _bool(x > y)


def _plain(run: _Run, node: Any) -> Any:
    return run.eval(node).value if isinstance(node, list) else node


def _same(run: _Run, a: Any, b: Any) -> Answer:
    if not isinstance(b, list):
        return _is(run, a, b)
    return _bool(run.eval(a).value == run.eval(b).value)


def _is(run: _Run, a: Any, wanted: Any) -> Answer:
    value = run.eval(a).value
    if isinstance(value, str) and isinstance(wanted, str):
        return _bool(value.lower() == wanted.lower())
    return _bool(value == wanted)


def _all(run: _Run, *conditions: Any) -> Answer:
    found = [run.eval(condition).value is True for condition in conditions]
    return _bool(all(found))  # all are read, whatever the first comes to


def _minutes_until(run: _Run, a: Any) -> Answer:
    clock = dt.time.fromisoformat(run.eval(a).value)
    now = dt.time.fromisoformat(run.at[11:16])
    minutes = (clock.hour - now.hour) * 60 + clock.minute - now.minute
    if minutes <= 0:
        raise ProgramError("that time has passed.")
    return Answer(kind="number", value=minutes, unit="minutes")


def _days_until(run: _Run, a: Any) -> Answer:
    days = (dt.date.fromisoformat(run.eval(a).value) - dt.date.fromisoformat(run.at[:10])).days
    if days <= 0:
        raise ProgramError("that day has passed.")
    return Answer(kind="number", value=days, unit="days")


def _in_unit(run: _Run, a: Any, unit: str) -> Answer:
    x = run.number(a)
    factor, offset, digits = UNITS[(x.unit, unit)]
    value = round(x.value * factor + offset, digits)
    return Answer(kind="number", value=value if digits else int(value), unit=unit, digits=digits)


def _weekday(run: _Run, a: Any) -> Answer:
    day = dt.date.fromisoformat(run.eval(a).value)
    return Answer(kind="word", value=WEEKDAYS[day.weekday()])


def _premise(run: _Run, thing: Any, key: str, claim: Any, then: Any) -> Answer:
    """The answer if the claim about an attribute holds, else a correction that says what does."""
    owner = run.entity(thing)
    actual = run.read(owner, key)
    if actual.value == claim:
        return run.eval(then)
    attribute = attribute_of(run.facts.entity(owner).kind, key)
    wrong = say_value(attribute, claim, run.facts)
    right = say_value(attribute, actual.value, run.facts)
    return Answer(kind="correction", value=(attribute.noun, wrong, right))


_OPERATIONS: dict[str, Callable[..., Answer]] = {
    "it": lambda run, own: Answer(kind="entity", value=run.facts.entity(own).id),
    "these": lambda run, *ids: Answer(kind="entities",
                                      value=tuple(run.facts.entity(i).id for i in ids)),
    "get": lambda run, thing, key, at=None: run.read(run.entity(thing), key, at),
    "count": lambda run, things: Answer(kind="number", value=len(run.entities(things))),
    "at_least": lambda run, a, b: _bool(_plain(run, a) >= _plain(run, b)),
    "has": lambda run, a, word: _bool(_says(run.eval(a).value, word)),
    "not": lambda run, a: _bool(run.eval(a).value is False),
    "all": _all,
    "either": lambda run, case, a, b: run.eval(a if run.eval(case).value is True else b),
    "printed": _printed, "sources": _sources, "without": _without, "where": _where,
    "most": _extreme(1), "least": _extreme(-1), "total": _total, "plus": _plus, "minus": _minus,
    "times": _times, "over": _over, "fits": _fits, "deal": _deal, "above": _above, "same": _same,
    "is": _is, "minutes_until": _minutes_until, "days_until": _days_until, "weekday": _weekday,
    "in_unit": _in_unit, "premise": _premise,
}  # fmt: skip
