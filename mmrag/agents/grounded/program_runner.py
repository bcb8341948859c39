"""Carries out what a question comes to: a few operations on things and what pages say of them.

A program is data out of the trained planner, `["at_least", ["number"], ["get", "it", 0]]`: numbers
stand for attributes, `["number"]` and `["word"]` for what the question says itself. What cannot be
found has no answer; nothing is made up.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from typing import Any

import msgspec

from mmrag.agents.grounded.attribute_finder import (
    ANY,
    DENIES,
    NAMES,
    SIZES,
    AttributeFinder,
    FoundValue,
    LineMatcher,
    combine_values,
    make_finding,
)
from mmrag.agents.grounded.contextual_vectors import ContextualEncoder
from mmrag.agents.grounded.passage_text import comparable_name
from mmrag.agents.grounded.question_plan import QuestionPlan
from mmrag.agents.grounded.scene_records import Candidate, Finding, Scene
from mmrag.agents.grounded.times_and_numbers import moment_in, numbers_in
from mmrag.agents.grounded.trained_heads import Weights
from mmrag.agents.grounded.turn_evidence import TurnEvidence
from mmrag.agents.grounded.values import (
    DATE,
    Value,
    read_date,
    say_list,
    say_number,
    time_of_day,
    turn_unit,
    written_unit,
)
from mmrag.search.web.words import words

_EVEN = 0.5
"""How often one of two answers is right by luck."""

_READABLE = 0.5
"""How often the largest print that no search knows is all of a name."""

_MOST_LISTED = 4
"""Names in one answer: what fits an ear."""

_DAYS = frozenset({"date"})
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_DEFAULT_UNITS = {
    "g": "oz", "kg": "lb", "cm": "in", "mm": "in", "m": "ft", "km": "mi", "km/h": "mph",
    "kW": "hp", "litres": "gal", "ml": "fl oz", "°C": "°F", "kcal": "kJ", "hours": "minutes",
    "days": "hours", "weeks": "days", "years": "months",
}  # fmt: skip
"""The unit to convert to when the question names none."""

_ASKS_WHETHER = re.compile(
    r"(?:(?:and|so|but|ok|okay|well),? )*"
    r"(?:is|are|was|were|does|do|did|can|could|will|would|has|have|may|am)\b"
    r"(?!.*\b(?:who|whom|whose|what|when|where|which|why|how|tell|or)\b)",
    re.I,
)
"""A question that wants a yes or a no, and not one of two things or what somebody knows."""


class Unanswerable(Exception):
    """A program needs what is not there, or what is no single thing."""


class BuiltinReader:
    """Reads what pages say and computes what is asked. The same evidence gives the same answer."""

    def __init__(self, encoder: ContextualEncoder, weights: Weights | None = None) -> None:
        self._fitting = LineMatcher(encoder, weights)

    def read(
        self, plan: QuestionPlan, scene: Scene, evidence: TurnEvidence, now: str | None
    ) -> Finding | None:
        """The answer, or None when the evidence has none."""
        return run_program(plan, AttributeFinder(self._fitting, plan, scene, evidence, now or ""))

    def holds(
        self, claim: QuestionPlan, scene: Scene, evidence: TurnEvidence, now: str | None
    ) -> bool | None:
        """Whether a premise is true of the thing in view; None where the evidence does not say."""
        return is_premise_true(
            claim, AttributeFinder(self._fitting, claim, scene, evidence, now or "")
        )


def run_program(plan: QuestionPlan, reading: AttributeFinder) -> Finding | None:
    """What the program comes to. It quotes or computes; it never invents."""
    try:
        found = _Run(plan, reading).of(plan.steps)
    except Unanswerable:
        return None
    if isinstance(found, list):
        return _named(found[0]) if found else None
    said = _said(found.value)
    if plan.operation == "get" and _ASKS_WHETHER.match(plan.masked):
        said = _yes_or_no(plan, found, said)
    return make_finding(said, plan, found)


def _yes_or_no(plan: QuestionPlan, found: FoundValue, said: str) -> str:
    """The words found, with a yes where the question has one of them and with a no where the page
    denies them; a figure speaks for itself."""
    if found.value.kind not in ("text", "name", "list"):
        return said
    if found.is_denied or DENIES.fullmatch(said):
        return "No"
    if DENIES.search(said):
        return f"No, {said}"
    return f"Yes, {said}" if _stems(plan.question) & _stems(said) else said


def is_premise_true(claim: QuestionPlan, reading: AttributeFinder) -> bool | None:
    """Whether what a premise takes for granted is so."""
    _, thing, slot, *_ = claim.steps
    run = _Run(claim, reading)
    try:
        return run.holds(run.get(thing, slot))
    except Unanswerable:
        return None


class _Run:
    """One program being run."""

    def __init__(self, plan: QuestionPlan, reading: AttributeFinder) -> None:
        self._plan, self._reading = plan, reading
        self._numbers = numbers_in(_nameless(plan))

    def of(self, node: Any) -> Any:
        """A value that was found, or things."""
        if isinstance(node, str):
            return self._reading.entities(node)
        if isinstance(node, int | float):
            return FoundValue(value=Value(kind="number", text=f"{node:g}", number=float(node)))
        operation = _OPERATIONS.get(node[0])
        if operation is None:
            raise Unanswerable
        return operation(self, *node[1:])

    # -- what the question says itself

    def number(self, like: Value | None, *, is_count: bool = False) -> FoundValue:
        """The number in the question that goes with a value, or that counts things."""
        unit = like.unit if like is not None else ""
        if like is not None and like.kind == "clock" and not is_count:
            clock = time_of_day(self._plan.question) or self._reading.now[11:16]
            return FoundValue(value=Value(kind="clock", text=clock, iso=clock), steps=0)
        if like is not None and like.kind == "date" and not is_count:
            when = moment_in(self._plan.question, self._reading.now)
            return FoundValue(value=Value(kind="date", text=when, iso=when), steps=0)
        fitting = [n for n in self._numbers if (_turned(n, unit) is None) == is_count]
        if not fitting and not self._numbers:
            raise Unanswerable
        chosen = (fitting or self._numbers)[0]
        if len(self._numbers) > 1:
            self._numbers = [n for n in self._numbers if n is not chosen]
        return FoundValue(value=(not is_count and _turned(chosen, unit)) or chosen, steps=0)

    def is_said(self, value: Value) -> bool:
        """Whether the question says a value."""
        question = self._plan.question
        if value.kind == "clock":
            return time_of_day(question) == value.iso
        if value.kind == "date":
            said = read_date(question) or moment_in(question, self._reading.now)
            return said == value.iso[:10]
        if value.kind in ("number", "year"):
            return any(n.number == value.number for n in self._numbers)
        return all(self.mentions(item) for item in value.items or (value.text,))

    def holds(self, found: FoundValue) -> bool:
        """Whether the question says what a page says, and does not deny."""
        return self.is_said(found.value) and not found.is_denied

    def mentions(self, text: str, *, is_whole: bool = True) -> bool:
        """Whether the question has the words of a text, all of them or one."""
        asked, said = _stems(self._plan.question), _stems(text)
        question = self._plan.question
        if DENIES.search(text) and not DENIES.search(question):
            return False
        first = re.escape(text.split()[0]) if text.split() else ""
        if is_whole and re.search(rf"\b(?:not|no|never) {first}\b", question, re.I):
            return False  # "not vegetarian" does not say "vegetarian"
        return bool(said) and (said <= asked if is_whole else bool(said & asked))

    # -- values

    def get(
        self, thing: Any, slot: int, then: Any = None, kinds: frozenset[str] = ANY
    ) -> FoundValue:
        is_relation = isinstance(thing, list) and thing[0] == "get"
        things = self.get(*thing[1:], kinds=NAMES) if is_relation else self.of(thing)
        if isinstance(things, FoundValue):
            name = Candidate(name=things.value.text, confidence=things.recognition, source="web")
            found = self._of_entity(name, slot, kinds)
            return combine_values(found.value, things, found)
        if not things or not things[0].name:
            raise Unanswerable
        return self._of_entity(things[0], slot, kinds, self._when(then))

    def _when(self, then: Any = None) -> str:
        """The day that the question names, or the past moment that its program asks for."""
        is_past = then or DATE.search(self._plan.question)
        return moment_in(self._plan.question, self._reading.now) if is_past else ""

    def _of_entity(
        self, entity: Candidate, slot: int, kinds: frozenset[str], when: str = ""
    ) -> FoundValue:
        found = self._reading.attribute(entity, slot, kinds, when)
        if found is None:
            raise Unanswerable
        return found

    def each(
        self, things: Any, slot: int, kinds: frozenset[str] = SIZES, *, is_whole: bool = True
    ) -> list[tuple[Candidate, FoundValue]]:
        """An attribute of each of several things, or of those of which it is known."""
        among = self.of(things)
        if not isinstance(among, list) or len(among) < 2:
            raise Unanswerable
        when = self._when()
        found = [(one, self._reading.attribute(one, slot, kinds, when)) for one in among]
        known = [(one, value) for one, value in found if value is not None]
        if not known or (is_whole and len(known) < len(among)):
            raise Unanswerable
        return known

    def extreme(self, things: Any, slot: int, sign: int) -> FoundValue:
        among = self.of(things)
        found = self.each(things, slot, is_whole=False)
        if len(found) < 2:
            raise Unanswerable
        best = max(found, key=lambda one: sign * _number(one[1]))
        chosen = Value(kind="name", text=best[0].name)
        of = combine_values(chosen, *(f for _, f in found), luck=1 / len(among))
        known = len(found) / len(among)  # one of which nothing is said may be the one
        return msgspec.structs.replace(of, agreement=of.agreement * known)

    def where(self, things: Any, slot: int, sign: str, wanted: Any) -> FoundValue:
        found = self.each(things, slot, SIZES if sign in "<>" else ANY, is_whole=False)
        if sign == "is" and found[0][1].value.number is not None and self._numbers:
            sign, wanted = "<", ["number"]  # "which would suit a twelve-year-old"
        if sign in "<>":
            bound = self._value(wanted, found[0][1].value)
            way = 1 if sign == ">" else -1
            chosen = [c for c, f in found if way * _number(f) >= way * _number(bound)]
        elif sign == "is":
            chosen = [c for c, f in found if self.holds(f)]
            chosen = chosen or [c for c, f in found if self.mentions(f.value.text, is_whole=False)]
        else:
            has = [c for c, f in found if self._has(f.value)]
            chosen = has if sign == "has" else [c for c, _ in found if c not in has]
        if not chosen:
            raise Unanswerable
        names = Value(kind="list", text="", items=tuple(c.name for c in chosen))
        return combine_values(names, *(f for _, f in found))

    def total(self, things: Any, slot: int) -> FoundValue:
        found = [f for _, f in self.each(things, slot)]
        return combine_values(_like(found[0].value, sum(map(_number, found))), *found)

    def sources(self, owner: Any, slot: int) -> FoundValue:
        of = self.sized(owner, NAMES)
        if isinstance(of, list):
            if not of:
                raise Unanswerable
            of = FoundValue(value=Value(kind="name", text=of[0].name), recognition=of[0].confidence)
        found = self._reading.sharing(of, slot)
        if not found:
            raise Unanswerable
        names = Value(kind="list", text="", items=tuple(name for name, _ in found))
        return combine_values(names, of, *(f for _, f in found))

    def without(self, things: Any, thing: Any) -> FoundValue:
        among, left = self.of(things), {comparable_name(c.name) for c in self.of(thing)}
        items = tuple(n for n in among.value.items if comparable_name(n) not in left)
        if not items:
            raise Unanswerable
        return msgspec.structs.replace(among, value=Value(kind="list", text="", items=items))

    def count(self, things: Any) -> FoundValue:
        among = self.of(things)
        many = len(among.value.items)
        return msgspec.structs.replace(among, value=_counted(many))

    # -- arithmetic

    def two(self, a: Any, b: Any) -> tuple[FoundValue, FoundValue]:
        """Two operands; what the question says is found by what the pages say."""
        if _is_open(a) and _is_open(b):
            return self._value(a, None, is_count=True), self._value(b, None, is_count=True)
        if _is_open(a):
            right = self._value(b, None)
            return self._value(a, right.value), right
        left = self._value(a, None)
        return left, self._value(b, left.value)

    def _value(self, node: Any, like: Value | None, *, is_count: bool = False) -> FoundValue:
        if _is_open(node):
            return self.number(like, is_count=is_count)
        found = self.sized(node)
        if not isinstance(found, FoundValue):
            raise Unanswerable
        return found

    def sized(self, node: Any, kinds: frozenset[str] = SIZES) -> Any:
        """What a node comes to, where only some kinds of value will do."""
        if isinstance(node, list) and node[0] == "get":
            return self.get(*node[1:3], *(node[3:] or [None]), kinds=kinds)
        return self.of(node)

    def sum(self, a: Any, b: Any, of: Callable[[float, float], float]) -> FoundValue:
        x, y = self.two(a, b)
        value = of(_number(x), _number(y))
        shaped = _like(x.value if x.value.unit else y.value, value)
        if x.value.kind == "year":
            shaped = _counted(value, "years")
        return combine_values(shaped, x, y)

    def times(self, a: Any, b: Any) -> FoundValue:
        x = self._value(a, None, is_count=True)
        y = self._value(b, x.value, is_count=True)
        shaped = _like(x.value if x.value.unit else y.value, _number(x) * _number(y))
        return combine_values(shaped, x, y)

    def over(self, a: Any, b: Any) -> FoundValue:
        if _is_open(a):
            x, y = self.two(a, b)
        else:
            x = self._value(a, None)
            y = self._value(b, x.value, is_count=True)
        if not _number(y):
            raise Unanswerable
        value = _number(x) / _number(y)
        unit = "" if x.value.unit == y.value.unit else x.value.unit
        digits = 2 if unit == "$" else 1
        return combine_values(_counted(round(value, digits), unit, digits), x, y)

    def fits(self, amount: Any, each: Any) -> FoundValue:
        x, y = self.two(amount, each)
        if _number(y) <= 0:
            raise Unanswerable
        many = int(_number(x) / _number(y) + 1e-9)
        return combine_values(_counted(many), x, y)

    def deal(self, thing: Any, price: int, offer: int, count: Any) -> FoundValue:
        each, said = self.get(thing, price, kinds=SIZES), self.get(thing, offer)
        many = self._value(count, each.value, is_count=True)
        paid = _offered(said.value.text, int(_number(many)))
        return combine_values(_like(each.value, _number(each) * paid), each, said)

    def at_least(self, a: Any, b: Any) -> FoundValue:
        x, y = self.two(a, b)
        if {x.value.kind, y.value.kind} & {"clock", "date"} and x.value.kind != y.value.kind:
            raise Unanswerable
        return _truth(_number(x) >= _number(y), x, y)

    # -- words

    def has(self, a: Any, _word: Any) -> FoundValue:
        found = self.get(*a[1:]) if isinstance(a, list) else self.of(a)
        if not isinstance(found, FoundValue):
            raise Unanswerable
        has = _truth(self._has(found.value) and not found.is_denied, found)
        return msgspec.structs.replace(has, is_denied=found.is_denied)

    def _has(self, value: Value) -> bool:
        items = value.items or tuple(re.split(r",| and | or ", value.text))
        return any(self.mentions(item, is_whole=False) for item in items)

    def says(self, a: Any, _wanted: Any) -> FoundValue:
        found = self.of(a)
        return _truth(self.holds(found), found)

    def negated(self, a: Any) -> FoundValue:
        found = self.of(a)
        if found.is_denied:  # "it isn't safe for cats": that cats are denied says not what is safe
            raise Unanswerable
        return msgspec.structs.replace(found, value=_yes(found.value.text == "No"))

    def premise(self, thing: Any, slot: int, then: Any = None) -> FoundValue:
        found = self.get(thing, slot)
        if self.holds(found):
            return _truth(True, found) if then is None else self.of(then)
        denied = _yes(False)
        if not found.is_denied:
            denied = Value(kind="text", text=f"No, it's {_said(found.value)}.")
        return msgspec.structs.replace(found, value=denied)

    def same(self, thing: Any, named: Any) -> FoundValue:
        one, other = self.of(thing), self.of(named)
        if not one or not other:
            raise Unanswerable
        is_so = comparable_name(one[0].name) == comparable_name(other[0].name)
        return FoundValue(value=_yes(is_so), recognition=one[0].confidence, luck=_EVEN)

    def printed(self, _thing: Any, part: str) -> FoundValue:
        scene = self._reading.scene
        main, lines = scene.main, scene.printed
        if part == "label" and main is not None and (main.source != "image-kg" or not lines):
            return FoundValue(value=Value(kind="name", text=main.name), recognition=main.confidence)
        run_on = "".join(comparable_name(c.name) for c in (main, *scene.beside) if c).replace(
            " ", ""
        )
        small = [t for t in lines if comparable_name(t).replace(" ", "") not in run_on]
        read = small if part == "sublabel" else lines
        if not read:
            raise Unanswerable
        return FoundValue(value=Value(kind="text", text=read[0]), recognition=_READABLE)

    # -- times

    def minutes_until(self, a: Any) -> FoundValue:
        found = self.sized(a, frozenset({"clock"}))
        minutes = _minutes(found.value.iso) - _minutes(self._reading.now[11:16])
        if minutes < 0:
            raise Unanswerable
        return combine_values(_counted(minutes, "minutes"), found)

    def days_until(self, a: Any) -> FoundValue:
        found = self.sized(a, _DAYS)
        days = _number(found) - _day(self._reading.now).toordinal()
        return combine_values(_counted(days, "days"), found)

    def weekday(self, a: Any) -> FoundValue:
        found = self.sized(a, _DAYS)
        day = _day(found.value.iso)
        return combine_values(Value(kind="text", text=_WEEKDAYS[day.weekday()]), found)

    def in_unit(self, a: Any) -> FoundValue:
        found = self.sized(a)
        value = found.value
        asked = re.findall(r"[^\W\d_]{2,}", self._plan.question.lower())  # no "s" of "what's"
        runs = (" ".join(asked[i : i + n]) for n in (3, 2, 1) for i in range(len(asked)))
        said = (written_unit(run) for run in runs if run != "in")
        fitting = (u for u in said if u != value.unit and turn_unit(1, value.unit, u) is not None)
        to = next(fitting, _DEFAULT_UNITS.get(value.unit, ""))
        number = turn_unit(_number(found), value.unit, to)
        if not to or number is None:
            raise Unanswerable
        digits = 1 if abs(number) >= 1 or round(number, 2) == round(number, 1) else 2
        return combine_values(_counted(round(number, digits), to, digits), found)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "get": _Run.get, "where": _Run.where, "total": _Run.total, "sources": _Run.sources,
    "without": _Run.without, "count": _Run.count, "times": _Run.times, "over": _Run.over,
    "fits": _Run.fits, "deal": _Run.deal, "at_least": _Run.at_least, "has": _Run.has,
    "is": _Run.says, "not": _Run.negated, "premise": _Run.premise, "same": _Run.same,
    "printed": _Run.printed, "minutes_until": _Run.minutes_until, "in_unit": _Run.in_unit,
    "days_until": _Run.days_until, "weekday": _Run.weekday,
    "most": lambda run, things, slot: run.extreme(things, slot, 1),
    "least": lambda run, things, slot: run.extreme(things, slot, -1),
    "plus": lambda run, a, b: run.sum(a, b, lambda x, y: x + y),
    "minus": lambda run, a, b: run.sum(a, b, lambda x, y: abs(x - y)),
}  # fmt: skip
"""Every operation that the built-in reader can carry out."""


def _named(thing: Candidate) -> Finding:
    return Finding(
        text=thing.name,
        operation="name",
        recognition=thing.confidence,
        support=0.5,
        citations=tuple(e.id for e in thing.evidence[:1]),
    )


def _nameless(plan: QuestionPlan) -> str:
    text = plan.question
    for name in plan.names:
        text = text.replace(name, " ")
    return text


def _is_open(node: Any) -> bool:
    return node == ["number"]


def _yes(is_so: bool) -> Value:
    return Value(kind="text", text="Yes" if is_so else "No")


def _truth(is_so: bool, *parts: FoundValue) -> FoundValue:
    return combine_values(_yes(is_so), *parts, luck=_EVEN)


def _said(value: Value) -> str:
    if value.kind == "list" and value.items:
        return say_list(value.items[:_MOST_LISTED])
    if value.text or value.number is None:
        return value.text
    return say_number(value.number, value.unit, value.digits)


def _counted(number: float, unit: str = "", digits: int = 0) -> Value:
    return Value(kind="number", text="", number=number, unit=unit, digits=digits)


def _like(value: Value, number: float) -> Value:
    """A number written as another is."""
    return _counted(round(number, value.digits or 2), value.unit, value.digits)


def _number(found: FoundValue) -> float:
    value = found.value
    if value.number is not None and math.isfinite(value.number):
        return value.number
    if value.kind == "date":
        return float(_day(value.iso + "-01-01").toordinal())
    if value.kind == "clock":
        return float(_minutes(value.iso))
    raise Unanswerable


def _day(iso: str) -> dt.date:
    try:
        return dt.date.fromisoformat(iso[:10])
    except ValueError:
        raise Unanswerable from None


def _minutes(clock: str) -> int:
    try:
        return int(clock[:2]) * 60 + int(clock[3:5])
    except ValueError:
        raise Unanswerable from None


def _turned(value: Value, unit: str) -> Value | None:
    """A quantity in another unit, where there is a way."""
    if value.unit == unit or value.number is None:
        return value if value.unit == unit else None
    turned = turn_unit(value.number, value.unit, unit)
    return None if turned is None else _counted(turned, unit)


def _offered(offer: str, many: int) -> float:
    """How many prices so many things cost with an offer: "20 % off", "3 for the price of 2"."""
    if percent := re.search(r"(\d+)\s?% off", offer):
        return many * (1 - int(percent[1]) / 100)
    if bundle := re.search(r"(\d+) for (?:the price of )?(\d+)", offer):
        return many - many // int(bundle[1]) * (int(bundle[1]) - int(bundle[2]))
    if re.search(r"second (?:one )?(?:at )?half", offer):
        return many - many // 2 / 2
    return float(many)


_IDLE = frozenset("a an and the of in on at for to is are it its this with or one".split())  # noqa: SIM905


def _stems(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if word not in _IDLE)
