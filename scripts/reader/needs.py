"""Questions made of the voices' needs, with the programs that answer them, attributes left open."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mmrag.agents.grounded.contextual_vectors import mask_names
from mmrag.agents.grounded.times_and_numbers import numbers_in
from mmrag.agents.grounded.trained_heads import RELATION, SLOTS
from reader.pages import KINDS
from simulator.world.build.randomness import Draw
from simulator.world.facts.domain_schema import Entity, Ref, attribute_of
from simulator.world.facts.factbase import FactBase
from simulator.world.language.filled_needs import FilledNeed, NeedContext, WorldCache, fill_need
from simulator.world.language.voices.need_reader import Need as Want
from simulator.world.language.voices.voice_reader import Voice

_TRIES = 6
"""Things that a need is put to until one has an answer to it."""

_OPENS = 0.5
"""How often a need that may open a conversation is asked after nothing."""


class Asked(NamedTuple):
    """One question as the planner gets it, and what it should make of it."""

    text: str
    before: tuple[str, ...]
    """Questions before, the last first."""
    program: str
    """JSON; attributes are the numbers of `keys`."""
    keys: tuple[tuple[str, str], ...]
    """Kind and key of each attribute it reads, by number; empty where it reads none."""
    voice: str


class Author:
    """Asks all that one voice asks."""

    def __init__(self, voice: Voice, facts: FactBase, seed: int) -> None:
        self._voice, self._facts, self._seed = voice, facts, seed
        self._statistics = WorldCache(facts)
        self._r = random.Random(f"{seed} {voice.name}")

    def questions(self) -> list[Asked]:
        """Each wording, with what may have been asked before."""
        found: list[Asked] = []
        for kind in KINDS:
            wants = self._voice.wants(kind)
            said = [t for w in wants if "answer" not in w.things for t in w.say if "{" not in t]
            for want in wants:
                found += self._asked(want, kind, said, (), None, None)
        return sorted(set(found))

    def _asked(
        self, want: Want, kind: str, said: Sequence[str], before: tuple[str, ...],
        parent: FilledNeed | None, named: FilledNeed | None,
    ) -> Iterator[Asked]:  # fmt: skip
        filled = self._filled(want, kind, parent, named)
        if filled is None:
            return
        opened = Opened(kind, filled, named)
        program = json.dumps(opened.program, separators=(",", ":"))
        for text in filled.texts:
            earlier = before or self._earlier(want, text, said)
            yield Asked(plain(text), earlier, program, opened.keys, self._voice.name)
        named = filled if filled.answer.kind == "entity" else named
        before = (plain(filled.texts[0]), *before)
        for then in want.then:
            yield from self._asked(then, kind, said, before, filled, named)

    def _earlier(self, want: Want, text: str, said: Sequence[str]) -> tuple[str, ...]:
        if not said or (text in want.first and self._r.random() < _OPENS):
            return ()
        return tuple(plain(t) for t in self._r.choices(said, k=self._r.choice((1, 2, 2))))

    def _filled(
        self, want: Want, kind: str, parent: FilledNeed | None, named: FilledNeed | None
    ) -> FilledNeed | None:
        """The need put to one thing after another until it has an answer."""
        things = self._facts.of_kind(kind)
        for n in range(_TRIES):
            main = self._r.choice(things) if parent is None else self._facts.entity(_main(parent))
            filled = fill_need(want, self._moment(want, main, parent, named, n))
            if filled is not None:
                return filled
        return None

    def _moment(
        self, want: Want, main: Entity, parent: FilledNeed | None, named: FilledNeed | None, n: int
    ) -> NeedContext:
        draw = Draw(self._seed, main.id, want.id, n)
        return NeedContext(
            facts=self._facts,
            statistics=self._statistics,
            draw=draw,
            at=draw.pick(self._facts.window)[:11] + f"{draw.between(7, 19):02d}:30",
            main=main,
            view=parent.beside if parent else (),
            shop=draw.pick(self._facts.of_kind("shopfront")),
            answer=self._facts.entity(named.answer.value) if named else None,
            came_up=None,
            polarity=draw.chance(0.5),
            text_clue=True,
            is_first=bool(want.first) and self._r.random() < 0.5,  # so that both ways come up
        )


def _main(filled: FilledNeed) -> str:
    return filled.means[0] if filled.means else filled.subject.id


def plain(text: str) -> str:
    """A question as the planner gets it, without names."""
    return mask_names(text).masked


class Opened:
    """A program in which attributes are numbers, and what the question says is left to be found."""

    def __init__(self, kind: str, filled: FilledNeed, named: FilledNeed | None) -> None:
        self._keys: dict[int, tuple[str, str]] = {}
        self._kind = kind
        self._answers = named.want.meanings[kind].kinds if named else ()
        self._said = named.want.answer if named else None
        self._numbers = {value.number for value in numbers_in(filled.texts[0])}
        self._slots = filled.want.slots
        self.program = self._of(filled.want.answer)
        self.keys = tuple(self._keys.get(slot, ("", "")) for slot in range(SLOTS))

    def _of(self, node: Any) -> Any:
        if isinstance(node, list):
            if node == self._said and node[0] != "var":
                return "answer"  # who was named last need not be worked out again
            return getattr(self, f"_{node[0]}", self._plain)(*node)
        if isinstance(node, str):
            return ["word"]
        return ["number"] if node in self._numbers else node

    def _plain(self, op: str, *parts: Any) -> Any:
        return [op, *(self._of(part) for part in parts)]

    def _var(self, _op: str, name: str) -> Any:
        return name

    def _slot(self, _op: str, name: str) -> Any:
        slot = self._slots[name]
        is_number = slot.how in ("near", "later", "past") or isinstance(slot.values[0], int)
        return ["number"] if is_number else ["word"]

    def _get(self, op: str, thing: Any, key: str, at: Any = None) -> Any:
        return [
            op,
            self._owner(thing),
            self._key(self._kinds(thing), key),
            *([["then"]] if at else []),
        ]

    def _owner(self, thing: Any) -> Any:
        """Whose attribute it is; of a relation's the relation has a number of its own."""
        if thing == self._said or thing[0] != "get":
            return self._of(thing)
        _, of, relation = thing
        return ["get", self._of(of), self._key(self._kinds(of), relation, is_relation=True)]

    def _most(self, op: str, things: Any, key: str) -> Any:
        return [op, self._of(things), self._key((self._kind,), key)]

    _least = _total = _most

    def _where(self, op: str, things: Any, key: str, sign: str, wanted: Any) -> Any:
        slot = self._key((self._kind,), key)
        told = self._of(wanted) if sign[0] in "<>" else ["word"]
        return [op, self._of(things), slot, sign.rstrip("="), told]

    def _sources(self, op: str, owner: Any, relation: str, _kind: Any) -> Any:
        return [op, self._of(owner), self._key((self._kind,), relation)]

    def _premise(self, op: str, thing: Any, key: str, _claim: Any, then: Any) -> Any:
        slot = self._key(self._kinds(thing), key)
        return [op, self._of(thing), slot, *([] if then[0] == "is" else [self._of(then)])]

    def _deal(self, op: str, thing: Any, count: Any) -> Any:
        price, offer = (self._key((self._kind,), key) for key in ("price", "offer"))
        return [op, self._of(thing), price, offer, self._of(count)]

    def _printed(self, op: str, thing: Any, part: str) -> Any:
        return [op, self._of(thing), part]

    def _in_unit(self, op: str, thing: Any, _unit: str) -> Any:
        return [op, self._of(thing)]

    def _same(self, op: str, a: Any, b: Any) -> Any:
        return ["is", self._of(a), ["word"]] if a[0] == "get" else [op, self._of(a), "named"]

    def _above(self, _op: str, a: Any, b: Any) -> Any:
        return self._plain("at_least", a, b)  # nobody is asked where the two are equal

    def _not(self, op: str, a: Any) -> Any:
        inner = self._of(a)
        return ["at_least", inner[2], inner[1]] if inner[0] == "at_least" else [op, inner]

    def _has(self, op: str, a: Any, _word: Any) -> Any:
        return [op, self._of(a), ["word"]]

    def _key(self, kinds: Sequence[str], key: str, *, is_relation: bool = False) -> int:
        pair = (kinds[0], key)
        slot = next((n for n, known in self._keys.items() if known == pair), None)
        if slot is None:
            slot = RELATION if is_relation else min({0, 1} - self._keys.keys())
            self._keys[slot] = pair
        return slot

    def _kinds(self, node: Any) -> tuple[str, ...]:
        if node[0] == "var":
            return {"shop": ("shopfront",), "answer": self._answers}.get(node[1], (self._kind,))
        if node[0] == "get":
            spec = attribute_of(self._kinds(node[1])[0], node[2]).value
            assert isinstance(spec, Ref)
            return spec.kinds
        return (self._kind,)
