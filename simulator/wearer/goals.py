"""What a goal is about, in plain words for a person who plays the wearer.

It says what is wanted, not how it was asked, so that people ask in their own words; and it holds
no answer. Where an earlier goal's answer is what a later goal is about ("where does that person
live?"), it is called what it was asked for, for the assistant may not have told its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from mmrag.errors import DataError
from mmrag.records import Session, Turn
from simulator.wearer.sayings import sayings
from simulator.wearer.talk import answers_of
from simulator.wearer.wearer_view import Sight, kind_of
from simulator.world.facts.domain_schema import Attribute, attribute_of
from simulator.world.facts.fact_wording import MONTHS, say_list, say_number, say_value
from simulator.world.facts.factbase import FactBase
from simulator.world.language.answer_program import evaluate
from simulator.world.language.english import noun_of, plural_of, spoken_day


def goal_in_words(agenda: Session, goal: int, sight: Sight) -> str:
    """What the wearer wants to know; the question itself where its data says no more of it."""
    turn, facts = agenda.turns[goal], sight.facts
    program: Any = turn.extra.get("program")
    if facts is None or not isinstance(program, list):
        return turn.query
    try:
        words = _Teller(facts, sight, agenda.turns[:goal]).say(cast("list[Any]", program))
        if program[0] == "it":
            words = f"the name of {words}"
    except (DataError, KeyError, TypeError, ValueError, IndexError):
        return turn.query  # a world of another version
    words = words[0].upper() + words[1:] + "."
    return turn.query if gives_away(words, agenda) else words


def gives_away(words: str, agenda: Session) -> bool:
    """Whether an answer of the agenda stands in some words."""
    told = words.casefold()
    return any(len(secret) > 2 and secret in told for secret in answers_of(agenda))


class _Teller:
    def __init__(self, facts: FactBase, sight: Sight, before: tuple[Turn, ...]) -> None:
        self.facts, self.sight, self.before = facts, sight, before

    def say(self, node: Any) -> str:
        """An expression in words."""
        return _WORDS[node[0]](self, *node[1:])

    def thing(self, entity_id: str) -> str:
        """What somebody points at, heard of, or has by name."""
        thing = self.sight.thing(entity_id)
        if thing is not None:
            count = len(self.sight.things)
            if count == 1 or not thing.place:
                return f"this {noun_of(thing.kind)}"
            return sayings().point(thing.kind, thing.place, count)
        for n, turn in reversed(list(enumerate(self.before))):
            if self._answer(turn) == entity_id:
                return _Teller(self.facts, self.sight, self.before[:n]).say(turn.extra["program"])
        return self.facts.entity(entity_id).name

    def name(self, entity_id: str) -> str:
        return self.facts.entity(entity_id).name

    def things(self, ids: tuple[str, ...]) -> str:
        kinds = {kind_of(i) for i in ids}
        if len(kinds) == 1 and all(self.sight.thing(i) for i in ids):
            return f"the {len(ids)} {plural_of(kinds.pop())} in view"
        return say_list([self.thing(i) for i in ids])

    def attribute(self, node: Any, key: str) -> Attribute:
        return attribute_of(self._kind(node), key)

    def noun(self, node: Any, key: str) -> str:
        return self.attribute(node, key).noun

    def _kind(self, node: Any) -> str:
        """Of what kind the things are that an expression comes to."""
        answer, _ = evaluate(node, self.facts, self.sight.at)
        first = answer.value if answer.kind == "entity" else answer.value[0]
        return self.facts.entity(str(first)).kind

    def _answer(self, turn: Turn) -> str:
        answer, _ = evaluate(turn.extra["program"], self.facts, self.sight.at)
        return str(answer.value) if answer.kind == "entity" else ""


def _of(noun: str, owner: str) -> str:
    if noun.startswith(("who ", "what ")):
        return f"{noun}, for {owner}"
    return f"the {noun} of {owner}"


def _get(t: _Teller, thing: Any, key: str, at: str = "") -> str:
    return _of(t.noun(thing, key), t.say(thing)) + (f", {_when(t, at)}" if at else "")


def _when(t: _Teller, at: str) -> str:
    """A day of this year; of earlier ones the month, which is all that is asked."""
    if at[:4] == t.sight.at[:4]:
        return f"on {spoken_day(at, t.sight.at)}"
    return f"in {MONTHS[int(at[5:7]) - 1]} {at[:4]}"


def _printed(t: _Teller, thing: Any, part: str) -> str:
    return f"what the {'large' if part == 'label' else 'small'} print on {t.say(thing)} says"


def _sources(t: _Teller, owner: Any, relation: str, kind: str) -> str:
    if owner[0] == "get":
        noun, thing = t.noun(owner[1], owner[2]), t.say(owner[1])
        return f"the {plural_of(kind)} that have the same {noun} as {thing}"
    noun = attribute_of(kind, relation).noun
    return f"the {plural_of(kind)} whose {noun} is {t.say(owner)}"


def _without(t: _Teller, things: Any, thing: Any) -> str:
    all_of_them = t.say(things)
    return "the other " + all_of_them.removeprefix("the ") if things[0] == "sources" else (
        f"{all_of_them}, but not {t.say(thing)}"
    )  # fmt: skip


def _where(t: _Teller, things: Any, key: str, sign: str, wanted: Any) -> str:
    attribute = t.attribute(things, key)
    side = {
        "<": "below ", ">": "above ", "<=": "of at most ", ">=": "of at least ", "is": "of ",
        "has": "that says ", "lacks": "without ",
    }  # fmt: skip
    value = _amount(t, attribute, wanted) if sign[0] in "<>" else str(wanted)
    return f"those of {t.say(things)} with {attribute.noun} {side[sign]}{value}"


def _amount(t: _Teller, attribute: Attribute, value: float) -> str:
    return say_value(attribute, value, t.facts)


def _extreme(one: str, several: str) -> Callable[..., str]:
    def extreme(t: _Teller, things: Any, key: str) -> str:
        attribute = t.attribute(things, key)
        counted = attribute.noun.split()[0] == attribute.unit  # "units sold"
        word = several if counted else f"the {one}"
        return f"the one of {t.say(things)} with {word} {attribute.noun}"

    return extreme


def _over(word: str) -> Callable[..., str]:
    def over(t: _Teller, things: Any, key: str) -> str:
        return f"the {word} {t.noun(things, key)} of {t.say(things)}"

    return over


def _above(t: _Teller, a: Any, b: Any) -> str:
    if isinstance(a, str) or isinstance(b, str):
        return f"whether {_said(t, a)} is later than {_said(t, b)}"
    if isinstance(b, list):
        if isinstance(a, list):
            return f"whether {t.say(a)} is more than {t.say(b)}"
        return f"whether {t.say(b)} is at most {_bound(t, b, a)}"
    return f"whether {t.say(a)} is at least {_bound(t, a, b)}"


def _said(t: _Teller, node: Any) -> str:
    return t.say(node) if isinstance(node, list) else str(node)


def _bound(t: _Teller, node: Any, bound: float) -> str:
    return _amount(t, t.attribute(node[1], node[2]), bound) if node[0] == "get" else f"{bound:g}"


def _same(t: _Teller, a: Any, b: Any) -> str:
    return f"whether {t.say(a)} is {t.name(b[1]) if b[0] == 'it' else t.say(b)}"


def _sum(word: str) -> Callable[..., str]:
    def of(t: _Teller, a: Any, b: Any) -> str:
        return f"{_term(t, a)} {word} {_term(t, b)}"

    return of


def _term(t: _Teller, node: Any) -> str:
    return t.say(node) if isinstance(node, list) else f"{node:g}"


def _fits(t: _Teller, amount: Any, each: Any) -> str:
    if isinstance(amount, list) or each[0] != "get":
        return f"how many times {_term(t, each)} goes into {_term(t, amount)}"
    money = say_number(amount, t.attribute(each[1], each[2]).unit or "", 0)
    return f"how many you get for {money}, going by {t.say(each)}"


def _premise(t: _Teller, thing: Any, key: str, claim: Any, then: Any) -> str:
    said = say_value(t.attribute(thing, key), claim, t.facts)
    heard = _of(t.noun(thing, key), t.say(thing))
    return f"you have heard that {heard} is {said}. You want to know {t.say(then)}"


_UNITS = {
    "in": "inches", "ft": "feet", "mi": "miles", "mph": "miles an hour", "lb": "pounds",
    "oz": "ounces", "fl oz": "fluid ounces", "gal": "gallons", "hp": "horsepower",
    "kJ": "kilojoules",
}  # fmt: skip

_WORDS: dict[str, Callable[..., str]] = {
    "it": lambda t, entity_id: t.thing(entity_id),
    "these": lambda t, *ids: t.things(ids),
    "get": _get,
    "printed": _printed,
    "sources": _sources,
    "without": _without,
    "where": _where,
    "most": _extreme("highest", "the most"),
    "least": _extreme("lowest", "the fewest"),
    "count": lambda t, things: f"how many they are: {t.say(things)}",
    "total": _over("total"),
    "plus": _sum("plus"),
    "minus": lambda t, a, b: f"the difference between {_term(t, a)} and {_term(t, b)}",
    "times": _sum("times"),
    "over": _sum("divided by"),
    "fits": _fits,
    "deal": lambda t, a, n: f"what {_term(t, n)} of {t.say(a)} cost with today's offer",
    "above": _above,
    "at_least": _above,
    "same": _same,
    "is": lambda t, a, wanted: f"whether {t.say(a)} is {wanted}",
    "has": lambda t, a, word: f"whether {t.say(a)} says {word}",
    "not": lambda t, a: f"{t.say(a)}, or not",
    "all": lambda t, *parts: " and ".join(t.say(part) for part in parts),
    "minutes_until": lambda t, a: f"the minutes left until {t.say(a)}",
    "days_until": lambda t, a: f"the days left until {t.say(a)}",
    "in_unit": lambda t, a, unit: f"{t.say(a)}, in {_UNITS.get(unit, unit)}",
    "weekday": lambda t, a: f"the day of the week of {t.say(a)}",
    "premise": _premise,
}  # fmt: skip
"""Operation of a program → its words."""
