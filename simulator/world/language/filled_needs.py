"""A need put to a thing: its slots drawn, its program run, its words said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from mmrag.errors import DataError
from simulator.world.build.randomness import Draw
from simulator.world.build.world_request import LIFE
from simulator.world.facts.domain_schema import Entity, Number, attribute_of, attributes_of
from simulator.world.facts.fact_wording import MONTHS, say_number, say_value
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.look import KINDS
from simulator.world.language.answer_program import Answer, FactRead, evaluate
from simulator.world.language.askable_things import askable
from simulator.world.language.english import noun_of, nouns_for, plural_of, spoken_day, spoken_time
from simulator.world.language.expression_parser import bind
from simulator.world.language.voices.need_reader import Need, Slot

MOST_NAMES = 4
"""In one answer: what fits an ear."""

_DRAWS = 8
"""Draws of the slots until a yes-or-no question comes out as it should."""

_NUMBERS = tuple("zero one two three four five six seven eight nine ten eleven twelve".split())  # noqa: SIM905


class WorldCache:
    """What is worth keeping from question to question of one world."""

    def __init__(self, facts: FactBase, legible: float = LIFE.legible) -> None:
        self._facts = facts
        self.legible = legible
        """Share of pictures of labelled things, but for those whose name is asked, in which the
        print is meant to be legible."""
        self._middles: dict[tuple[str, str], tuple[float, float]] = {}
        self.askable = {i for of in askable(facts).values() for i in of}
        """What may be the main thing of a picture."""
        self.pools: dict[tuple[str, str], list[Entity]] = {}
        """Candidates for the main thing of a picture; kept by whoever draws from them."""

    def middle(self, kind: str, key: str) -> tuple[float, float]:
        """Between which values the middle half of (at most 400) things of a kind lies.

        Bounds are drawn there, so that a bound tells little of the thing that it is asked about.
        """
        if (kind, key) not in self._middles:
            pool = self._facts.of_kind(kind)
            step = max(1, len(pool) // 400)
            at = self._facts.window[0]
            values = sorted(float(str(self._facts.value(e.id, key, at))) for e in pool[::step])
            quarter = len(values) // 4
            self._middles[kind, key] = values[quarter], values[-1 - quarter]
        return self._middles[kind, key]


@dataclass(frozen=True)
class NeedContext:
    """What is given when something is asked."""

    facts: FactBase
    statistics: WorldCache
    draw: Draw
    at: str
    main: Entity
    view: tuple[Entity, ...]
    """What an earlier turn has already put beside the main thing."""
    shop: Entity
    answer: Entity | None
    """What an answer named last."""
    came_up: Entity | None
    """What "it" would be taken for, where nothing points: what the turn before came to."""
    polarity: bool
    """Which way a yes-or-no question is to come out, unless the number that it names leans."""
    text_clue: bool
    is_first: bool
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])
    """Number → by how much questions that name it came out yes more often than no."""


@dataclass(frozen=True)
class FilledNeed:
    """A need with everything that is asked and answered."""

    want: Need
    program: list[Any]
    answer: Answer
    accesses: tuple[FactRead, ...]
    subject: Entity
    texts: tuple[str, ...]
    """Each of its wordings, filled alike."""
    beside: tuple[Entity, ...]
    """What must stand beside the main thing."""
    means: tuple[str, ...]
    false_premise: bool
    as_wanted: bool
    """Whether a yes-or-no question came out as it was to."""
    could_mean: tuple[str, ...] = field(default=())
    numbers: tuple[str, ...] = ()
    """Those that were picked for the words."""

    @property
    def choice(self) -> tuple[str, ...]:
        """The options that the question itself offers."""
        is_asked = self.answer.kind == "bool" and self.program[0] != "premise"
        return ("Yes", "No") if is_asked else ()


def fill_need(need: Need, moment: NeedContext) -> FilledNeed | None:
    """The need asked now, or None where it cannot be: no such thing in view, no single answer."""
    kind = moment.main.kind
    if kind not in need.meanings or _needs_unseen_print(need, moment):
        return None
    best: FilledNeed | None = None
    for _ in range(_DRAWS):
        try:
            best = _drawn(need, moment) or best
        except DataError:
            continue  # a tie, an empty set, a time that has passed
        if best is None or best.as_wanted:
            break
    return best


def _needs_unseen_print(need: Need, moment: NeedContext) -> bool:
    legible = moment.text_clue and moment.main.look and moment.main.look.label
    return _reads_print(need.answer) and not legible


def _reads_print(node: Any) -> bool:
    return isinstance(node, list) and (
        node[:1] == ["printed"] or any(_reads_print(part) for part in node)
    )


def _drawn(need: Need, moment: NeedContext) -> FilledNeed | None:
    things = need.things
    beside = _beside(things, moment)
    if beside is None or ("answer" in things and moment.answer is None):
        return None
    other = _other(moment, beside)
    values: dict[str, Any] = {"kind": moment.main.kind}
    words = {"noun": noun_of(moment.main.kind), "plural": plural_of(moment.main.kind),
             "other": other.name, "shop": moment.shop.name}  # fmt: skip
    false_premise = False
    for name, slot in need.slots.items():
        values[name], words[name], wrong = _SLOTS[slot.how](slot, moment, values)
        false_premise = false_premise or wrong
    main = moment.main
    named: dict[str, Entity | None] = {
        "it": main, "both": main, "these": main, "next": beside[0] if beside else None,
        "answer": moment.answer, "other": other, "shop": moment.shop,
    }  # fmt: skip
    nodes: dict[str, Any] = {n: ["it", e.id] for n, e in named.items() if e is not None}
    nodes["both"] = nodes["these"] = ["these", main.id, *(e.id for e in beside)]
    program = bind(need.answer, nodes, values)
    result, accesses = evaluate(program, moment.facts, moment.at)
    if result.kind in ("entities", "words") and len(result.value) > MOST_NAMES:
        return None
    means = _means(things, moment, beside)
    says = need.first if moment.is_first else need.say
    if it_is_ambiguous(need, main, moment.came_up):
        wordings = dict.fromkeys((*need.say, *need.first))
        pointing = tuple(text for text in wordings if points_at_view(text, main.kind))
        says = pointing or tuple(f"back to this {{noun}}. {text}" for text in says)
    texts = tuple(_filled(text, words) for text in says)
    subject = next((e for name, e in named.items() if name in things and e is not None), main)
    picked = tuple(str(values[n]) for n in need.slots if need.slots[n].how == "pick"
                   and isinstance(values[n], int))  # fmt: skip
    lean = sum(moment.numbers.get(number, 0) for number in picked)
    wanted = lean < 0 if lean else moment.polarity
    turns_out = result.value if result.kind == "bool" else wanted
    return FilledNeed(
        want=need,
        program=program,
        answer=result,
        accesses=accesses,
        subject=subject,
        texts=texts,
        beside=beside,
        means=means,
        false_premise=false_premise,
        as_wanted=turns_out is wanted,
        numbers=picked,
        could_mean=_could_mean(need, texts, moment.main.kind) if means else (),
    )


def points_at_view(text: str, kind: str) -> bool:
    """Whether words point at what is in view: "this one" and "the kettle" do, "it" and "how much is
    that", "this week" and "near here" do not."""
    nouns = "|".join(map(re.escape, nouns_for(kind)))
    found = rf"\b(?:this|these)\b(?! {_TIMES})|\{{(?:noun|plural)\}}|\b(?:{nouns})\b"
    return re.search(found, text, re.I) is not None


_TIMES = r"(?:\w*day|night|morning|afternoon|evening|weekend|week|month|year|season|time|spring|summer|autumn|winter)\b"  # noqa: E501


def it_is_ambiguous(need: Need, main: Entity, came_up: Entity | None) -> bool:
    """Whether "it" would be taken for what came up last, as that has what is asked for as well."""
    if came_up is None or came_up.id == main.id or "it" not in need.things:
        return False
    reads = need.meanings[main.kind].reads
    asked = {key for root, kind, key in reads if root == "it" and kind == main.kind}
    return asked <= {a.key for a in attributes_of(came_up.kind)}


def _beside(things: frozenset[str], moment: NeedContext) -> tuple[Entity, ...] | None:
    """What must stand beside the main thing; None where something else stands there already."""
    low, high = (2, 3) if "these" in things else (1, 1) if things & {"next", "both"} else (0, 0)
    if not high:
        return ()
    if moment.view:
        return moment.view if low <= len(moment.view) <= high else None
    pool = [e for e in moment.facts.of_kind(moment.main.kind) if e.id != moment.main.id]
    many = moment.draw.between(low, high)
    return tuple(moment.draw.sample(pool, many)) if len(pool) >= many else None


def _other(moment: NeedContext, beside: tuple[Entity, ...]) -> Entity:
    taken = {moment.main.id, *(e.id for e in (*moment.view, *beside))}
    pool = [e for e in moment.facts.of_kind(moment.main.kind) if e.id not in taken]
    return moment.draw.pick(pool)


def _means(
    things: frozenset[str], moment: NeedContext, beside: tuple[Entity, ...]
) -> tuple[str, ...]:
    """The things in view that the words mean."""
    main, answer = moment.main, moment.answer
    if "answer" in things and "it" not in things and answer in (main, *moment.view):
        return (answer.id,) if answer else ()
    if things & {"both", "these"} or {"it", "next"} <= things:
        return (main.id, *(e.id for e in beside))
    if "next" in things:
        return (beside[0].id,)
    return (main.id,) if "it" in things else ()


def _filled(text: str, words: Mapping[str, str]) -> str:
    filled = re.sub(r"\{(\w+)\}", lambda found: words[found[1]], text)
    filled = re.sub(r"\b(?:[Tt]he|[Aa]|[Mm]y|[Oo]ur) (?=The [A-Z])", "", filled)
    return re.sub(rf"\b([Aa]) (?={_AS_A_VOWEL})", r"\1n ", filled)


_AS_A_VOWEL = (
    r"(?:eight|eleven)\b|8|1[18](?![\d.])(?!,\d{3},)|[AI]|E(?!u)|O(?!ne\b|nce\b)|U(?:[lmp]|n(?!i))"
)
"""What begins with a vowel when it is spoken: "an 80 cm shelf", "an Underground", and "a One"."""


# -- slots: the value for the program, the words, and whether it is a false claim

_Slotted = tuple[Any, str, bool]


def _pick(slot: Slot, moment: NeedContext, _values: Mapping[str, Any]) -> _Slotted:
    value = moment.draw.pick(slot.values)
    return value, _NUMBERS[value] if isinstance(value, int) and value < 13 else str(value), False


def _near(slot: Slot, moment: NeedContext, values: Mapping[str, Any]) -> _Slotted:
    spec = attribute_of(moment.main.kind, slot.key).value
    low, high = moment.statistics.middle(moment.main.kind, slot.key)
    factor = int(slot.times) if slot.times.isdigit() else values.get(slot.times, 1)
    bound = moment.draw.uniform(low, high) * factor
    if not isinstance(spec, Number):
        return round(bound), str(round(bound)), False
    size, unit, least = _AT_LENGTH.get(spec.unit, (1, spec.unit, 0))
    if size > 1 and bound >= least:
        amount = round(bound / size * 2) / 2
        return amount * size, say_number(amount, unit, int(amount % 1 > 0)), False
    value = _round_number(bound)
    return value, say_number(value, spec.unit, 0 if value == int(value) else spec.digits), False


_AT_LENGTH = {
    "g": (1000, "kg", 1000),
    "cm": (100, "m", 200),
    "minutes": (60, "hours", 120),
    "months": (12, "years", 24),
}
"""Unit → how many of it make a larger one, that one, and from where on people say so: nobody's
hedge is 450 cm, and no coat is 48 months old."""


def _round_number(value: float) -> float:
    """As people say bounds: 40, 250, 0.5, 15."""
    if not value:
        return 0
    size = 10.0 ** (len(str(int(abs(value)))) - 1) if abs(value) >= 1 else 0.1
    step = size / 2 if abs(value) / size < 4 else size
    rounded = round(value / step) * step or step
    return int(rounded) if rounded == int(rounded) else round(rounded, 1)


def _past(slot: Slot, moment: NeedContext, _values: Mapping[str, Any]) -> _Slotted:
    history = moment.facts.history(moment.main.id, slot.key, moment.at)
    start = str(moment.draw.pick([f for f in history[:-1] if f.valid_from]).valid_from)
    if attribute_of(moment.main.kind, slot.key).dynamism == "slow-changing":
        return f"{start[:4]}-06-15T12:00", f"in {MONTHS[5]} {start[:4]}", False
    return f"{start[:10]}T12:00", f"on {spoken_day(start, moment.at[:10])}", False


def _later(_slot: Slot, moment: NeedContext, _values: Mapping[str, Any]) -> _Slotted:
    minutes = int(moment.at[11:13]) * 60 + int(moment.at[14:16])
    minutes = min(23 * 60 + 45, (minutes // 15 + moment.draw.between(2, 30)) * 15)
    clock = f"{minutes // 60:02d}:{minutes % 60:02d}"
    return clock, spoken_time(f"{moment.at[:11]}{clock}"), False


def _claim(slot: Slot, moment: NeedContext, _values: Mapping[str, Any]) -> _Slotted:
    """True or false, in equal numbers: only facts tell."""
    attribute = attribute_of(moment.main.kind, slot.key)
    claim = moment.facts.value(moment.main.id, slot.key, moment.at)
    if not moment.polarity:
        pool = moment.facts.of_kind(moment.main.kind)
        foils = (moment.facts.value(moment.draw.pick(pool).id, slot.key, moment.at)
                 for _ in range(40))  # fmt: skip
        claim = next((value for value in foils if value != claim), None)
        if claim is None:
            raise DataError(f"every {moment.main.kind} has the same {slot.key}.")
    return claim, say_value(attribute, claim, moment.facts), not moment.polarity


def _name(_slot: Slot, moment: NeedContext, _values: Mapping[str, Any]) -> _Slotted:
    """Its own name, or that of another as long: a look-alike where one is."""
    named = moment.main if moment.polarity else _foil(moment)
    return ["it", named.id], named.name, False


def _foil(moment: NeedContext) -> Entity:
    family = moment.facts.family(moment.main)
    kin = {e.id for e in family}
    some = moment.draw.sample(moment.facts.of_kind(moment.main.kind), 40)
    pool = {e.id: e for e in (*family, *some) if e.id != moment.main.id}

    def oddness(entity: Entity) -> tuple[bool, bool, int, str]:
        apart = abs(len(entity.name) - len(moment.main.name))
        return apart > 1, entity.id not in kin, apart, entity.id

    return min(pool.values(), key=oddness)


_SLOTS = {"pick": _pick, "near": _near, "past": _past, "later": _later, "claim": _claim,
          "name": _name}  # fmt: skip


# -- what the words leave room for


def _could_mean(need: Need, texts: tuple[str, ...], kind: str) -> tuple[str, ...]:
    """The kinds that a noun in the words fits; without one, all that have what is asked for."""
    said = " ".join(texts).casefold()
    named = {k for noun, kinds in _nouns().items() if kind in kinds
             and re.search(rf"\b{re.escape(noun)}\b", said) for k in kinds}  # fmt: skip
    if named:
        return tuple(sorted(named))
    reads = need.meanings[kind].reads
    keys = {key for root, of, key in reads if root in _IN_VIEW and of == kind}
    return tuple(k for k in _kinds() if keys <= {a.key for a in attributes_of(k)})


_IN_VIEW = ("it", "next", "both", "these")


@cache
def _kinds() -> tuple[str, ...]:
    return tuple(kind for kinds in KINDS.values() for kind in kinds)


@cache
def _nouns() -> dict[str, frozenset[str]]:
    """Noun, singular or plural → the kinds that it fits."""
    found: dict[str, set[str]] = {}
    for kind in _kinds():
        for noun in nouns_for(kind):
            found.setdefault(noun, set()).add(kind)
    return {noun: frozenset(kinds) for noun, kinds in found.items()}
