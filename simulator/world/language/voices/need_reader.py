"""Errands: what somebody with a thing before them would say out loud, one need after the other,
and what answers it.

An errand stands in a voice's file as its author wrote it. Here it is read, and everything that is
wrong with it is said with the place where it stands and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar, cast

from mmrag.errors import DataError
from mmrag.records import Record
from simulator.world.checks.published_figures import TYPES
from simulator.world.facts.domain_schema import (
    Clock,
    Number,
    Ref,
    Year,
    attribute_of,
    attributes_of,
)
from simulator.world.facts.look import MET_AT
from simulator.world.language.expression_parser import THING, THINGS, Node, parse, variables
from simulator.world.language.expression_types import ExpressionType, expression_type

PLACES = ("shop", "home", "out")
"""Where one asks: choosing and paying, using and caring, or walking past and visiting."""

MOST_WORDS = 24
"""Of one utterance: what takes longer to say than to look up, nobody says."""

MOST_TURNS = 6
"""Of one conversation: of each kind an errand must be as long."""

T = TypeVar("T")

Fault = tuple[str, str]
"""Where in a file, as "errands.3.turns.0.say.0", and what is wrong there."""


class Slot(Record, frozen=True, kw_only=True):
    """What stands in the braces of a wording, and where the program needs it."""

    how: str
    """pick, near, past, later, claim or name."""
    key: str = ""
    """The attribute that a bound, a past or a claim is about."""
    values: tuple[str | int, ...] = ()
    """To pick from."""
    times: str = ""
    """A number, or another slot, that a bound is multiplied by."""


class Need(Record, frozen=True, kw_only=True):
    """One need of one voice."""

    id: str
    """voice/file/errand.turn, and of a follow-up its number too."""
    kinds: tuple[str, ...]
    query_type: str
    say: tuple[str, ...]
    first: tuple[str, ...]
    """How it is said when nothing was said before; empty where it cannot be."""
    answer: Node
    slots: Mapping[str, Slot]
    meanings: Mapping[str, ExpressionType]
    """Kind → what the answer comes to."""
    then: tuple[Need, ...] = ()
    """What may follow at once, leaning on this."""
    things: frozenset[str] = frozenset()
    """The variables that its program leaves open."""

    def depth(self, kind: str) -> int:
        """The longest chain of turns from this one, itself included, that a kind can be asked."""
        return 1 + max((n.depth(kind) for n in self.then if kind in n.kinds), default=0)


class Errand(Record, frozen=True, kw_only=True):
    """What one person would ask on one occasion, in order. Any turn but the first can be left out,
    with what leans on it."""

    places: tuple[str, ...]
    turns: tuple[Need, ...]

    def about(self, kind: str) -> tuple[Need, ...]:
        """The turns that can be asked of a kind; none where its first cannot."""
        turns = tuple(need for need in self.turns if kind in need.kinds)
        return turns if turns[:1] == self.turns[:1] else ()


def read_errands(name: str, given: Any, kinds: Sequence[str]) -> tuple[list[Errand], list[Fault]]:
    """The errands of one file, and what is wrong with them. `name`: voice/file."""
    if not isinstance(given, list):
        return [], [("errands", "errands: give a list of errands (see AUTHORS.md).")]
    reader = _Reader(kinds)
    entries = cast("list[Any]", given)
    read = [reader.errand(f"{name}/{i}", f"errands.{i}", entry) for i, entry in enumerate(entries)]
    errands = [errand for errand in read if errand is not None]
    return errands, [*reader.faults, *_said_twice(errands), *_too_few(errands, kinds)]


def folded(text: str) -> str:
    """An utterance without what does not tell two of them apart."""
    return " ".join(re.sub(r"[^\w{}\s]", "", text.casefold()).split())


def _said_twice(errands: list[Errand]) -> Iterator[Fault]:
    seen: dict[tuple[str, str], tuple[str, Node]] = {}
    for need in chain.from_iterable(errand.turns for errand in errands):
        where = "errands." + need.id.rpartition("/")[2].replace(".", ".turns.", 1)
        for kind in need.kinds:
            for text in dict.fromkeys(map(folded, need.first)):
                first, answer = seen.setdefault((kind, text), (where, need.answer))
                if answer != need.answer:
                    said = f"{first} says the same of a {kind} and asks something else."
                    yield where, f"{where}: {said}"
                    break


def _too_few(errands: list[Errand], kinds: Sequence[str]) -> Iterator[Fault]:
    for kind in kinds:
        for place in MET_AT[kind]:
            here = [errand.about(kind) for errand in errands if place in errand.places]
            longest = max((sum(n.depth(kind) for n in turns) for turns in here), default=0)
            if longest < MOST_TURNS:
                yield (
                    "errands",
                    (
                        f"errands: none about a {kind} ({place}) is of {MOST_TURNS} turns, as "
                        f"conversations can be; the longest has {longest}."
                    ),
                )


_OF_ERRAND = {"kinds", "at", "turns"}
_FIELDS = {"kinds", "type", "say", "first", "answer", "with", "then"}
_MUST = ("type", "say", "answer")
_FREE = ("noun", "plural", "other", "shop")
_TAKEN = {"kind", *_FREE, *THING, *THINGS}
_SLOT = re.compile(r"\{(\w*)\}")
_MIDDLE = re.compile(r"(and|but|or|then|also|plus|ok and|okay and|what about|how about)\b", re.I)


class _Reader:
    def __init__(self, kinds: Sequence[str]) -> None:
        self._all = tuple(kinds)
        self.faults: list[Fault] = []

    def errand(self, name: str, where: str, entry: Any) -> Errand | None:
        """One entry; None where it has no first turn that could be asked."""
        turns = entry.get("turns") if isinstance(entry, dict) else None
        if not isinstance(turns, list) or not turns:
            return self._wrong(where, "is no errand; write `kinds:`, `at:` and a list of `turns:`.")
        before, given = len(self.faults), cast("dict[str, Any]", entry)
        self._known(where, given, _OF_ERRAND)
        kinds = self._some(where, "kinds", given, self._all) or self._all
        places = self._some(where, "at", given, PLACES) or PLACES
        if len(self.faults) > before:
            return None
        needs = [
            self.need(f"{name}.{i}", f"{where}.turns.{i}", one, kinds, is_first=not i)
            for i, one in enumerate(cast("list[Any]", turns))
        ]
        asked = tuple(need for need in needs if need is not None)
        return Errand(places=places, turns=asked) if needs[0] is not None else None

    def need(
        self, name: str, where: str, entry: Any, allowed: tuple[str, ...], *,
        parent: Need | None = None, answers: Mapping[str, tuple[str, ...]] | None = None,
        is_first: bool = False,
    ) -> Need | None:  # fmt: skip
        """One turn; None where something is wrong that leaves nothing to be asked. `answers`: of
        which kind that is by kind of thing, which was named last before it."""
        before = len(self.faults)
        if not isinstance(entry, dict):
            return self._wrong(where, "is no need; write `say:`, `type:` and `answer:`.")
        given = cast("dict[str, Any]", entry)
        self._known(where, given, _FIELDS)
        for field in _MUST:
            if not given.get(field):
                self._wrong(where, f"{field}: is missing.")
        if len(self.faults) > before:
            return None
        kinds = self._some(where, "kinds", given, allowed) or allowed
        if is_first and kinds != allowed:
            self._wrong(f"{where}.kinds", "an errand opens alike for all its kinds.")
        if given.get("first") and (is_first or parent):
            self._wrong(f"{where}.first", "is for later turns that lean on nothing.")
        query_type = self._one(where, "type", given, TYPES, "")
        slots = self._slots(where, given.get("with", {}), kinds)
        answer = self._tried(f"{where}.answer", lambda: parse(str(given["answer"]), slots))
        if len(self.faults) > before or answer is None:
            return None
        meanings = self._meanings(where, kinds, answer, slots, query_type, answers or {})
        first = self._texts(where, "first", given, answer, slots, opens=True)
        say = self._texts(where, "say", given, answer, slots, opens=is_first)
        if (is_first or first) and not variables(answer) & {"it", "next", *THINGS}:
            self._wrong(where, "opens, and is about nothing in view.")
        if len(self.faults) > before:
            return None
        need = Need(
            id=name, kinds=kinds, query_type=query_type, say=say, first=say if is_first else first,
            answer=answer, slots=slots, meanings=meanings, things=variables(answer),
        )  # fmt: skip
        then = given.get("then", [])
        if not isinstance(then, list):
            return self._wrong(f"{where}.then", "give a list of follow-ups.")
        named = {k: m.kinds for k, m in meanings.items() if m.result == "thing"}
        named = {**(answers or {}), **named}
        follow = [
            self.need(f"{name}.{i}", f"{where}.then.{i}", one, kinds, parent=need, answers=named)
            for i, one in enumerate(cast("list[Any]", then))
        ]
        return _with(need, tuple(f for f in follow if f is not None))

    def _known(self, where: str, given: Mapping[str, Any], fields: set[str]) -> None:
        for field in sorted(map(str, given.keys() - fields)):
            self._wrong(f"{where}.{field}", f"is no field here; there are {_listed(fields)}.")

    def _meanings(
        self, where: str, kinds: tuple[str, ...], answer: Node, slots: Mapping[str, Slot],
        query_type: str, answers: Mapping[str, tuple[str, ...]],
    ) -> dict[str, ExpressionType]:  # fmt: skip
        found: dict[str, ExpressionType] = {}
        for kind in kinds:
            results = {name: result_of(slot, kind) for name, slot in slots.items()}
            said = self._tried(
                f"{where}.answer",
                lambda k=kind, a=answers.get(kind, ()), r=results: expression_type(answer, k, a, r),
            )
            if said is None:
                return {}
            if query_type not in said.types:
                fits = " or ".join(said.types) or "none by itself"
                self._wrong(f"{where}.type", f"the answer is {fits}, not {query_type}.")
                return {}
            found[kind] = said
        return found

    def _texts(
        self, where: str, field: str, given: Mapping[str, Any], answer: Node,
        slots: Mapping[str, Slot], *, opens: bool = False,
    ) -> tuple[str, ...]:  # fmt: skip
        texts = given.get(field, [])
        if not isinstance(texts, list) or len(cast("list[Any]", texts)) > 3:
            self._wrong(f"{where}.{field}", f"{field}: give a list of one to three wordings.")
            return ()
        must = {"other", "shop"} & variables(answer) | slots.keys()
        for i, text in enumerate(cast("list[Any]", texts)):
            here = f"{where}.{field}.{i}"
            if not isinstance(text, str) or not text.strip():
                self._wrong(here, "a text is missing (quote it if YAML reads it as another thing).")
                continue
            if not text.isprintable():
                self._wrong(here, "holds what cannot be said (a line break, a control character).")
            found = _SLOT.findall(text)
            if text.count("{") != len(found) or text.count("}") != len(found):
                self._wrong(here, "a brace is not closed.")
            for slot in sorted(set(found) - must - set(_FREE)):
                self._wrong(here, f"{{{slot}}} is no slot here; say under `with:` what it is.")
            for slot in sorted(must - set(found)):
                self._wrong(here, f"{{{slot}}} is asked about but not said; put it into the words.")
            if len(text.split()) > MOST_WORDS:
                self._wrong(here, f"is longer than {MOST_WORDS} words; say it as you would aloud.")
            if text.rstrip().endswith("?"):
                self._wrong(here, "leave the last question mark out; it is added.")
            if opens and _MIDDLE.match(text):
                self._wrong(here, "begins in the middle; nobody opens so.")
        return tuple(str(text) for text in cast("list[Any]", texts))

    def _slots(self, where: str, given: Any, kinds: tuple[str, ...]) -> dict[str, Slot]:
        found: dict[str, Slot] = {}
        if not isinstance(given, dict):
            self._wrong(f"{where}.with", "with: give slots, as {count: 2..6}.")
            return found
        for name, said in cast("dict[str, Any]", given).items():
            here = f"{where}.with.{name}"
            slot = self._tried(here, lambda s=said: read_slot(s, kinds))
            if name in _TAKEN:
                self._wrong(here, f"{name} means something already; call the slot otherwise.")
            elif slot is not None:
                found[str(name)] = slot
        for name, slot in found.items():
            if not _has_factor(slot, found):
                fault = f"{slot.times} is no slot of numbers here; write it as {{count: 2..6}}."
                self._wrong(f"{where}.with.{name}", fault)
        return dict(sorted(found.items(), key=lambda one: bool(one[1].times)))

    def _some(
        self, where: str, field: str, given: Mapping[str, Any], known: Sequence[str]
    ) -> tuple[str, ...]:
        said = given.get(field, [])
        listed = [said] if isinstance(said, str) else said
        if not isinstance(listed, list):
            self._wrong(f"{where}.{field}", f"{field}: give a list.")
            return ()
        words = [str(word) for word in cast("list[Any]", listed)]
        for word in words:
            if word not in known:
                self._wrong(f"{where}.{field}", f"{word!r} is none of {_listed(known)}.")
        return tuple(dict.fromkeys(words))

    def _one(
        self, where: str, field: str, given: Mapping[str, Any], known: Sequence[str], default: str
    ) -> str:
        said = str(given.get(field, default))
        if said not in known:
            self._wrong(f"{where}.{field}", f"{said!r} is none of {_listed(known)}.")
        return said

    def _tried(self, where: str, make: Callable[[], T]) -> T | None:
        try:
            return make()
        except DataError as error:
            return self._wrong(where, str(error))
        except (TypeError, IndexError, RecursionError):
            return self._wrong(where, "cannot be read; write it as AUTHORS.md shows.")

    def _wrong(self, where: str, words: str) -> None:
        self.faults.append((where, f"{where}: {words}"))


def _with(need: Need, then: tuple[Need, ...]) -> Need:
    from msgspec.structs import replace

    return replace(need, then=then)


def read_slot(said: Any, kinds: tuple[str, ...]) -> Slot:
    """What `with:` says of a slot; `DataError` where that is none."""
    if isinstance(said, list):
        values = cast("list[Any]", said)
        are_words = all(isinstance(v, str) and v.isprintable() for v in values)
        are_numbers = all(type(v) is int and 0 <= v < 10_000 for v in values)
        if not values or not (are_words or are_numbers):
            raise DataError(
                "give words, or whole numbers below 10,000, to pick from: [cat, dog] or [8, 12]."
            )
        return Slot(how="pick", values=tuple(cast("list[str | int]", values)))
    text = str(said)
    if found := re.fullmatch(r"(\d{1,4})\.\.(\d{1,4})", text):
        low, high = int(found[1]), int(found[2])
        if low > high:
            raise DataError(f"{text!r} runs backwards; the smaller number comes first.")
        return Slot(how="pick", values=tuple(range(low, high + 1)))
    if text in ("later", "name"):
        return Slot(how=text)
    if found := re.fullmatch(r"(near|past|claim) (\w+)(?: \* ([2-9]|\d\d|[a-z_]\w*))?", text):
        how, key, times = found[1], found[2], found[3] or ""
        if times and how != "near":
            raise DataError(f"{text!r} is no slot; only what is near can be multiplied.")
        for kind in kinds:
            if all(a.key != key for a in attributes_of(kind)):
                raise DataError(f"a {kind} has no attribute {key!r}.")
            spec = attribute_of(kind, key).value
            if how == "near" and not isinstance(spec, Number | Year):
                raise DataError(f"near is for numbers, and {key!r} is none.")
            if how == "past" and attribute_of(kind, key).dynamism in ("static", "real-time"):
                raise DataError("past is for what changes from day to day or year to year.")
            if how == "claim" and isinstance(spec, Number | Ref | Clock):
                raise DataError(f"claim is for words and years, and {key!r} is another thing.")
        return Slot(how=how, key=key, times=times)
    raise DataError(f"{text!r} is no slot; write a list, 2..6, near KEY, past KEY, claim KEY, "
                    "later or name.")  # fmt: skip


def result_of(slot: Slot, kind: str) -> str:
    """What a slot is where the program needs it."""
    if slot.how == "near":
        return "year" if isinstance(attribute_of(kind, slot.key).value, Year) else "number"
    if slot.how == "pick":
        return "number" if isinstance(slot.values[0], int) else "word"
    return {"later": "clock", "name": "thing"}.get(slot.how, "word")


def _has_factor(slot: Slot, slots: Mapping[str, Slot]) -> bool:
    """Whether what a bound is multiplied by is a number, or a slot of numbers."""
    factor = slots.get(slot.times)
    is_number = factor is not None and factor.how == "pick" and isinstance(factor.values[0], int)
    return not slot.times or slot.times.isdigit() or is_number


def _listed(words: Any) -> str:
    return ", ".join(sorted(chain(words)))
