"""The type of an expression: the kind of its result, worked out from the catalogue alone.

Of which kind its answer is, how fast it changes, which of CRAG-MM's types it can be, and whether
the print on the thing is enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from mmrag.errors import DataError
from mmrag.records import Record
from simulator.world.facts.domain_schema import (
    DYNAMISM,
    Attribute,
    Choice,
    Clock,
    Day,
    Number,
    Ref,
    Several,
    ValueSpec,
    Year,
    attribute_of,
    attributes_of,
    domain_of_kind,
)
from simulator.world.facts.look import LABELLED
from simulator.world.language.answer_program import UNITS
from simulator.world.language.expression_parser import THINGS


class ExpressionType(Record, frozen=True, kw_only=True):
    """What an expression comes to for one kind of thing."""

    result: str
    """thing, things, number, year, day, clock, word, words, bool or text."""
    kinds: tuple[str, ...] = ()
    """What a thing can be."""
    types: tuple[str, ...]
    """The query types that it can be."""
    reads: tuple[tuple[str, str, str], ...] = ()
    """Variable at the root, kind, attribute: all that is read, a past value left aside."""
    is_visual: bool = False
    """The print on the thing is all that it takes."""

    @property
    def dynamism(self) -> str:
        """That of the fastest attribute."""
        paces = [attribute_of(kind, key).dynamism for _, kind, key in self.reads]
        return min(paces, key=DYNAMISM.index, default="static")

    @property
    def roots(self) -> frozenset[str]:
        """The variables that something is read of."""
        return frozenset(root for root, _, _ in self.reads)


def expression_type(
    node: Any, kind: str, answers: tuple[str, ...] = (), slots: Mapping[str, str] | None = None
) -> ExpressionType:
    """What a program with open places comes to for a kind of thing. `answers`: the kinds of thing
    that was named last before it. `slots`: what each slot is."""
    return _Reading(kind, answers, slots or {}).of(node)


class _Reading:
    def __init__(self, kind: str, answers: tuple[str, ...], slots: Mapping[str, str]) -> None:
        self._kind, self._answers, self._slots = kind, answers, slots

    def of(self, node: Any) -> ExpressionType:
        if not isinstance(node, list):
            result = "number" if isinstance(node, int | float) else "word"
            return ExpressionType(result=result, types=("simple-knowledge",))
        items = cast("list[Any]", node)
        return getattr(self, f"_{items[0]}", self._reasoned)(*items)

    def _var(self, _op: str, name: str) -> ExpressionType:
        if name in THINGS:
            return ExpressionType(result="things", kinds=(self._kind,), types=("aggregation",))
        kinds = {"shop": ("shopfront",), "answer": self._answers}.get(name, (self._kind,))
        if not kinds:
            raise DataError("`answer` needs a need before it that is answered with a name.")
        types = () if name in ("answer", "other", "shop") else ("simple-recognition",)
        return ExpressionType(result="thing", kinds=kinds, types=types, is_visual=bool(types))

    def _slot(self, _op: str, name: str) -> ExpressionType:
        if name == "kind":
            return ExpressionType(result="word", types=())
        result = self._slots.get(name, "number")
        return ExpressionType(
            result=result, kinds=(self._kind,) if result == "thing" else (), types=()
        )

    def _get(self, _op: str, thing: Any, key: str, at: Any = None) -> ExpressionType:
        owner = self._thing(thing)
        attributes = [_attribute(kind, key) for kind in owner.kinds]
        spec = attributes[0].value
        result, kinds = _result(spec), spec.kinds if isinstance(spec, Ref) else ()
        root = _root(thing)
        depth = _depth(thing)
        printed = domain_of_kind(self._kind).sublabel.get(self._kind) == key and root == "it"
        if depth or thing[0] != "var":
            types = ("multi-hop",)
        elif root == "answer":
            types = ("simple-knowledge", "multi-hop")
        elif printed:
            types = ("simple-recognition", "simple-knowledge")
        else:
            types = ("simple-knowledge",)
        own = [] if at is not None else [(root, kind, key) for kind in owner.kinds]
        return ExpressionType(
            result=result,
            kinds=kinds,
            types=types,
            reads=(*owner.reads, *own),
            is_visual=printed and at is None and not depth,
        )

    def _printed(self, _op: str, thing: Any, _part: str) -> ExpressionType:
        self._thing(thing)
        if self._kind not in LABELLED:
            raise DataError(f"a {self._kind} carries no print.")
        return ExpressionType(result="text", types=("simple-recognition",), is_visual=True)

    def _most(self, _op: str, things: Any, key: str) -> ExpressionType:
        of = self._things(things)
        types = {"both": ("comparison",), "these": ("aggregation", "comparison")}.get(
            _root(things) if things[0] == "var" else "", ("multi-hop", "aggregation")
        )
        return self._ranked(of, things, key, "thing", types, ordered=True)

    _least = _most

    def _total(self, _op: str, things: Any, key: str) -> ExpressionType:
        return self._ranked(
            self._things(things), things, key, "number", ("aggregation",), ordered=True
        )

    def _where(self, _op: str, things: Any, key: str, sign: str, value: Any) -> ExpressionType:
        of = self._things(things)
        self.of(value)
        return self._ranked(of, things, key, "things", ("aggregation",), ordered=sign[0] in "<>")

    def _ranked(
        self, of: ExpressionType, things: Any, key: str, result: str, types: tuple[str, ...], *,
        ordered: bool,
    ) -> ExpressionType:  # fmt: skip
        attribute = _attribute(of.kinds[0], key)
        if ordered and not attribute.is_numeric:
            raise DataError(f"{key!r} is not a number that could be compared.")
        return ExpressionType(
            result=result,
            kinds=of.kinds,
            types=types,
            reads=(*of.reads, (_root(things), of.kinds[0], key)),
        )

    def _count(self, _op: str, things: Any) -> ExpressionType:
        of = self._things(things)
        return ExpressionType(result="number", types=("aggregation",), reads=of.reads)

    def _sources(self, _op: str, owner: Any, relation: str, _kind: Any) -> ExpressionType:
        of = self.of(owner)
        if of.result != "thing":
            raise DataError(
                f"{relation!r} is not a relation to a person, a firm, a town or a thing."
            )
        return ExpressionType(
            result="things", kinds=(self._kind,), types=("aggregation", "multi-hop"), reads=of.reads
        )

    def _without(self, _op: str, things: Any, _thing: Any) -> ExpressionType:
        return self.of(things)

    def _has(self, _op: str, a: Any, b: Any) -> ExpressionType:
        of = self.of(a)
        if of.result not in ("word", "words"):
            raise DataError(f"`in` and == with a word ask for words, and this is a {of.result}.")
        self._is_said(a, b)
        first = "multi-hop" if "multi-hop" in of.types else "simple-knowledge"
        return ExpressionType(result="bool", types=(first, "reasoning"), reads=of.reads)

    def _is(self, op: str, a: Any, b: Any) -> ExpressionType:
        if isinstance(b, int | float):
            return self._reasoned(op, a, b, result="bool")
        return self._has(op, a, b)

    def _is_said(self, a: Any, b: Any) -> None:
        """A word that no value has would make the answer the same for all."""
        if isinstance(b, str) and a[0] == "get" and _depth(a[1]) == 0:
            spec = _attribute(self._thing(a[1]).kinds[0], a[2]).value
            words = spec.words if isinstance(spec, Choice | Several) else ()
            if words and not any(b in word for word in words):
                raise DataError(f"{a[2]!r} never says {b!r}; it says {', '.join(words)}.")

    def _not(self, _op: str, a: Any) -> ExpressionType:
        of = self.of(a)
        if of.result != "bool":
            raise DataError("`not` asks for a yes or no.")
        return of

    def _above(self, op: str, a: Any, b: Any) -> ExpressionType:
        result = "number" if op in ("minus", "over") else "bool"
        left, right = self.of(a), self.of(b)
        if op != "same" and not {left.result, right.result} <= _ORDERED:
            raise DataError(f"a {left.result} cannot be compared with a {right.result}.")
        if op == "same" and left.result == right.result == "thing" and not left.reads:
            return ExpressionType(result="bool", types=("simple-recognition",), is_visual=True)
        if left.reads and right.reads:
            first = ("comparison",) if op != "over" else ("reasoning",)
            return ExpressionType(
                result=result, types=(*first, "reasoning"), reads=(*left.reads, *right.reads)
            )
        return self._reasoned(op, a, b, result=result)

    _minus = _over = _at_least = _above

    def _same(self, op: str, a: Any, b: Any) -> ExpressionType:
        is_word = isinstance(b, list) and self.of(b).result in ("word", "words")
        return self._has(op, a, b) if is_word else self._above(op, a, b)

    def _plus(self, op: str, a: Any, b: Any) -> ExpressionType:
        found = self._reasoned(op, a, b)
        types = ("aggregation", "reasoning") if len(found.roots) > 1 else ("reasoning",)
        return ExpressionType(result="number", types=types, reads=found.reads)

    def _premise(self, _op: str, thing: Any, key: str, _claim: Any, then: Any) -> ExpressionType:
        said, of = self._get("get", thing, key), self.of(then)
        types = ("simple-knowledge",) if then[0] == "is" else of.types
        return ExpressionType(result=of.result, types=types, reads=(*said.reads, *of.reads))

    def _deal(self, _op: str, thing: Any, count: Any) -> ExpressionType:
        price, offer = self._get("get", thing, "price"), self._get("get", thing, "offer")
        self.of(count)
        return ExpressionType(
            result="number", types=("reasoning",), reads=(*price.reads, *offer.reads)
        )

    def _in_unit(self, op: str, a: Any, unit: str) -> ExpressionType:
        found = self._reasoned(op, a, unit)
        if a[0] == "get":
            spec = _attribute(self._thing(a[1]).kinds[0], a[2]).value
            own = spec.unit if isinstance(spec, Number) else ""
            if (own, unit) not in UNITS:
                known = ", ".join(to for of, to in UNITS if of == own) or "nothing"
                raise DataError(
                    f"{a[2]!r} is in {own or 'no unit'}, which is not converted to {unit!r}; "
                    f"it can be to {known}."
                )
        return found

    def _either(self, op: str, condition: Any, a: Any, b: Any) -> ExpressionType:
        return self._reasoned(op, condition, a, b, result=self.of(a).result)

    def _reasoned(self, op: str, *parts: Any, result: str = "") -> ExpressionType:
        of = [self.of(part) for part in parts]
        result = result or {"all": "bool", "weekday": "word"}.get(op, "number")
        wanted = {"minutes_until": "clock", "days_until": "day", "weekday": "day"}.get(op)
        if wanted and of[0].result != wanted:
            raise DataError(f"{op} asks for a {wanted}, and this is a {of[0].result}.")
        if op in ("times", "over", "fits", "plus") and any(
            m.result not in ("number", "year") for m in of
        ):
            raise DataError(f"{op} asks for numbers.")
        reads = tuple(read for m in of for read in m.reads)
        visual = bool(reads) and all(m.is_visual or not m.reads for m in of)
        return ExpressionType(result=result, types=("reasoning",), reads=reads, is_visual=visual)

    def _thing(self, node: Any) -> ExpressionType:
        return self._wanted(node, "thing")

    def _things(self, node: Any) -> ExpressionType:
        return self._wanted(node, "things")

    def _wanted(self, node: Any, result: str) -> ExpressionType:
        of = self.of(node)
        if of.result != result:
            raise DataError(f"{'one thing' if result == 'thing' else 'several things'} expected, "
                            f"not a {of.result}.")  # fmt: skip
        return of


_ORDERED = {"number", "year", "day", "clock"}


def _attribute(kind: str, key: str) -> Attribute:
    try:
        return attribute_of(kind, key)
    except KeyError:
        known = ", ".join(a.key for a in attributes_of(kind))
        raise DataError(f"a {kind} has no attribute {key!r}; it has {known}.") from None


def _result(spec: ValueSpec) -> str:
    names = {Number: "number", Year: "year", Day: "day", Clock: "clock", Choice: "word",
             Several: "words", Ref: "thing"}  # fmt: skip
    return names[type(spec)]


def _root(node: Any) -> str:
    while isinstance(node, list):
        items = cast("list[Any]", node)
        if items[0] == "var":
            return str(items[1])
        node = items[1]
    return ""


def _depth(node: Any) -> int:
    return 1 + _depth(node[1]) if isinstance(node, list) and node[0] == "get" else 0
