"""Entities and facts from a seed. Every value has its own generator, keyed by entity and attribute,

so that adding an attribute to the catalogue changes no other value of a world.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from mmrag.errors import UsageError
from simulator.world.build.randomness import Draw
from simulator.world.build.world_request import LIFE
from simulator.world.checks.published_figures import SESSIONS
from simulator.world.facts.domain_schema import (
    DOMAINS,
    HUBS,
    Attribute,
    Choice,
    Clock,
    Day,
    Entity,
    FactValue,
    Number,
    Ref,
    Several,
    Year,
    attribute_of,
    attributes_of,
    domain_of_kind,
)
from simulator.world.facts.fact_wording import say_value
from simulator.world.facts.factbase import FactBase, Span
from simulator.world.facts.invented_names import Name, Names
from simulator.world.facts.look import KINDS, LABELLED, Look

LEAST = 8
"""Things of each kind, however small the world."""

WINDOW_DAYS = 3
"""Wearers ask on three consecutive days: the snapshot of the world."""

_POPULARITY = (("head", 0.34), ("torso", 0.33), ("tail", 0.33))
_TOGETHER = 0.7
"""How much of a value that leans on a trait is the trait: a heavier dog is longer, mostly."""
_WELL_KNOWN = 0.7
"""Share of relations that are drawn among head entities only: most links lead to the known."""


def generate_facts(
    seed: int,
    n_entities: int,
    look_alikes: Mapping[int, float] = LIFE.look_alikes,
    own_traits: float = LIFE.own_traits,
) -> FactBase:
    """The fact base of a seed with about `n_entities` things that can stand in a picture.

    Each kind gets at least `LEAST` of them; people, companies and towns come on top. Things come in
    families of look-alikes: so many beside each → share of the families.
    """
    if n_entities < 1:
        raise UsageError(f"{n_entities} entities make no world; ask for at least one.")
    names = Names(seed)
    entities = [
        e
        for kind, n in _counts(n_entities)
        for e in _entities(names, seed, kind, _families(seed, kind, n, look_alikes), own_traits)
    ]
    values = _Values(seed, entities)
    spans = {e.id: {a.key: values.spans(e, a) for a in attributes_of(e.kind)} for e in entities}
    facts = FactBase(seed=seed, window=values.window, entities=entities, spans=spans)
    looks = [_printed(e, facts) for e in entities]
    return FactBase(seed=seed, window=values.window, entities=looks, spans=spans)


def _counts(n_entities: int) -> list[tuple[str, int]]:
    """Entities per kind: domains in proportion to the questions asked of them, then hubs."""
    total = sum(SESSIONS.values())
    counts: list[tuple[str, int]] = []
    for domain, kinds in KINDS.items():
        share = n_entities * SESSIONS[domain] / total / len(kinds)
        counts += [(kind, max(LEAST, round(share))) for kind in kinds]
    visible = sum(n for _, n in counts)
    per_domain = len(DOMAINS)
    people = max(6 * per_domain, visible // 4)
    firms = max(4 * per_domain, visible // 8)
    return [*counts, ("person", people), ("company", firms), ("town", max(24, visible // 40))]


def _families(
    seed: int, kind: str, n: int, look_alikes: Mapping[int, float]
) -> list[tuple[int, int]]:
    """Family and number in it of each of `n` things; the last family may be a smaller one."""
    draw = Draw(seed, kind, "families")
    found: list[tuple[int, int]] = []
    family = 0
    while len(found) < n:
        u = draw.uniform()
        size = 1
        for others, share in sorted(look_alikes.items()):
            if share > 0:
                size = others + 1
            if u < share:
                break
            u -= share
        found += [(family, member) for member in range(size)]
        family += 1
    return found[:n]


def _entities(
    names: Names, seed: int, kind: str, families: Sequence[tuple[int, int]], own_traits: float
) -> list[Entity]:
    domain = domain_of_kind(kind)
    sectors = tuple(DOMAINS)
    patterns = Draw(seed, kind, "patterns").shuffled(domain.names[kind])
    made: list[Entity] = []
    # Looks are drawn from the family's number alone, so every seed has families of its own: an
    # encoder trained on one world has not seen the things of another. Numbers from 10⁹ on are kept
    # free for training.
    first_look = Draw(seed, kind, "looks").below(240_000) * 4_000
    for i, (family, member) in enumerate(families):
        entity_id = f"{kind}-{i:05d}"
        draw = Draw(seed, entity_id, "entity")
        name = names.new(patterns[family % len(patterns)], f"{kind}/{family}")
        sector = domain.name
        if kind in HUBS:
            sector = "local" if kind == "town" else sectors[i % len(sectors)]
        look = Look(
            domain=sector,
            kind=kind,
            family=first_look + family,
            variant=member,
            own_traits=own_traits,
        )
        made.append(
            Entity(
                id=entity_id,
                name=name.text,
                aliases=_aliases(kind, name),
                domain=sector,
                kind=kind,
                popularity=_popularity(draw),
                family=family,
                look=None if kind in HUBS else look,
            )
        )
    return made


def _aliases(kind: str, name: Name) -> tuple[str, ...]:
    """Other names people use, as unique in a world as the name."""
    if kind == "person":
        given, family = name.text.rsplit(" ", 1)
        return (f"{family}, {given}",)
    return (name.short,) if name.short != name.text else (f"the {name.short}",)


def _popularity(draw: Draw) -> str:
    u = draw.uniform()
    for name, share in _POPULARITY:
        if u < share:
            return name
        u -= share
    return "tail"


def _printed(entity: Entity, facts: FactBase) -> Entity:
    """Settle what is printed on a thing, once the facts are known: on kinds that carry print."""
    if entity.look is None or entity.kind not in LABELLED:
        return entity
    sublabel = None
    key = domain_of_kind(entity.kind).sublabel.get(entity.kind)
    if key is not None:
        attribute = attribute_of(entity.kind, key)
        sublabel = say_value(attribute, facts.value(entity.id, key, facts.window[0]), facts)
    return replace(entity, look=replace(entity.look, label=entity.name, sublabel=sublabel))


class _Values:
    """Draws the values of a world."""

    def __init__(self, seed: int, entities: list[Entity]) -> None:
        self._seed = seed
        today = dt.date(2031, 3, 1) + dt.timedelta(days=Draw(seed, "today").below(200))
        self._today = today
        last = today + dt.timedelta(days=WINDOW_DAYS - 1)
        self.window = (f"{today}T00:00", f"{last}T23:59")
        self._pools: dict[tuple[str, str, str], list[str]] = {}
        for e in entities:
            sector = e.domain if e.kind in ("person", "company") else ""
            self._pools.setdefault((e.kind, sector, ""), []).append(e.id)
            self._pools.setdefault((e.kind, sector, e.popularity), []).append(e.id)

    def spans(self, entity: Entity, attribute: Attribute) -> tuple[Span, ...]:
        """The value of an attribute through time."""
        draw = Draw(self._seed, entity.id, attribute.key)
        starts = self._starts(attribute.dynamism, draw)
        if isinstance(attribute.value, Number) and attribute.value.times_of:
            return self._derived(entity, attribute.value, starts, draw)
        value = self._value(entity, attribute, draw)
        if not starts:
            return ((None, None, value),)
        spans: list[Span] = []
        for i, start in enumerate(starts):
            if i:
                value = self._next(entity, attribute, draw, value)
            spans.append((start, starts[i + 1] if i + 1 < len(starts) else None, value))
        return tuple(spans)

    def _derived(
        self, entity: Entity, spec: Number, starts: list[str], draw: Draw
    ) -> tuple[Span, ...]:
        """The values of a number that follows another one."""
        base = self.spans(entity, attribute_of(entity.kind, spec.times_of))
        factor = draw.uniform(spec.low, spec.high)
        found: list[Span] = []
        for i, start in enumerate(starts or [""]):
            of = [value for since, _, value in base if not since or since <= start] or [base[0][2]]
            near = factor * draw.uniform(0.96, 1.04)
            value = _round(float(str(of[-1])) * near, spec)
            while found and value == found[-1][2]:
                near *= 1.03
                value = _round(float(str(of[-1])) * near + 10.0**-spec.digits, spec)
            end = starts[i + 1] if i + 1 < len(starts) else None
            found.append((start or None, end, value))
        return tuple(found)

    def _starts(self, dynamism: str, draw: Draw) -> list[str]:
        day = dt.timedelta(days=1)
        if dynamism == "real-time":
            hours = ("00", "06", "12", "18")
            days = [self._today + day * i for i in range(WINDOW_DAYS)]
            return [str(self._today - day), *(f"{d}T{h}:00" for d in days for h in hours)]
        if dynamism == "fast-changing":
            return [str(self._today + day * i) for i in range(-7, WINDOW_DAYS)]
        if dynamism == "slow-changing":
            return [f"{self._today.year - back}-{draw.between(1, 2):02d}-01" for back in (5, 3, 1)]
        return []

    def _value(self, entity: Entity, attribute: Attribute, draw: Draw) -> FactValue:
        spec = attribute.value
        if isinstance(spec, Number):
            return _round(_spread(spec, self._share(entity, attribute, draw)), spec)
        if isinstance(spec, Year):
            if spec.same_as:
                other = attribute_of(entity.kind, spec.same_as)
                return self._value(entity, other, Draw(self._seed, entity.id, spec.same_as))
            share = self._share(entity, attribute, draw)
            return spec.low + min(int(share * (spec.high - spec.low + 1)), spec.high - spec.low)
        if isinstance(spec, Day):
            low, high = self._years(entity, spec)
            first, last = dt.date(low, 1, 1).toordinal(), dt.date(high, 12, 31).toordinal()
            return str(dt.date.fromordinal(draw.between(first, last)))
        if isinstance(spec, Clock):
            steps = draw.between(_minutes(spec.low) // 5, _minutes(spec.high) // 5)
            return f"{steps // 12:02d}:{steps % 12 * 5:02d}"
        if isinstance(spec, Choice):
            if not attribute.leans:
                return draw.pick(spec.words)
            share = self._share(entity, attribute, draw)
            return spec.words[min(int(share * len(spec.words)), len(spec.words) - 1)]
        if isinstance(spec, Several):
            words = [w for w in spec.words if w not in self._unfit(entity, spec)]
            many = draw.between(spec.low, spec.high)
            if spec.in_a_row:
                first = draw.below(len(words) - many + 1)
                return tuple(words[first : first + many])
            return tuple(sorted(draw.sample(words, many)))
        return self._other(entity, spec, draw)

    def _unfit(self, entity: Entity, spec: Several) -> set[str]:
        """Words that other values of the entity rule out: milk where it is vegan."""
        found: set[str] = set()
        for key, by_value in spec.without.items():
            other = attribute_of(entity.kind, key)
            value = self._value(entity, other, Draw(self._seed, entity.id, key))
            found.update(by_value.get(str(value), ()))
        return found

    def _years(self, entity: Entity, spec: Day) -> tuple[int, int]:
        """The years a date may lie in, given the year that another attribute states."""
        if not spec.year_of:
            return spec.low, spec.high
        attribute = attribute_of(entity.kind, spec.year_of)
        year = self._value(entity, attribute, Draw(self._seed, entity.id, spec.year_of))
        assert isinstance(year, int)
        return year, year

    def _share(self, entity: Entity, attribute: Attribute, draw: Draw) -> float:
        """Where in its range a value lies, 0–1: partly its own, partly what the thing is like."""
        own = draw.uniform()
        trait = attribute.leans.removeprefix("-")
        if not trait:
            return own
        shared = Draw(self._seed, entity.id, "trait", trait).uniform()
        if trait == "fame":  # what is known to all is at the top of it
            shared = (shared + {"head": 2.0, "torso": 1.0, "tail": 0.0}[entity.popularity]) / 3
        lean = 1 - shared if attribute.leans.startswith("-") else shared
        return _TOGETHER * lean + (1 - _TOGETHER) * own

    def _other(self, entity: Entity, spec: Ref, draw: Draw) -> str:
        kind = draw.pick(spec.kinds)
        sector = entity.domain if kind in ("person", "company") else ""
        known = self._pools.get((kind, sector, "head"), [])
        pool = self._pools[(kind, sector, "")]
        if len(known) > 1 and draw.chance(_WELL_KNOWN):
            pool = known
        while (found := draw.pick(pool)) == entity.id:
            pass
        return found

    def _next(
        self, entity: Entity, attribute: Attribute, draw: Draw, value: FactValue
    ) -> FactValue:
        """The value after a change: never the same as before."""
        spec = attribute.value
        if isinstance(spec, Choice):
            return draw.pick([word for word in spec.words if word != value])
        if not isinstance(spec, Number) or not isinstance(value, int | float):
            while (new := self._value(entity, attribute, draw)) == value:
                pass
            return new
        reach = {"real-time": 0.06, "fast-changing": 0.12}.get(attribute.dynamism, 0.25)
        step = 10.0**-spec.digits
        while True:
            change = draw.uniform(0.0 if attribute.grows else -reach, reach)
            base = (spec.high - spec.low) / 2 if spec.low < 0 else max(abs(value), 2 * step / reach)
            moved = max(spec.low, value + change * base)
            moved = _round(moved if attribute.grows else min(moved, spec.high), spec)
            if moved != value:
                return moved


def _spread(spec: Number, share: float) -> float:
    if spec.low > 0 and spec.high / spec.low > 8:
        return spec.low * (spec.high / spec.low) ** share
    return spec.low + share * (spec.high - spec.low)


def _round(value: float, spec: Number) -> float | int:
    """To the spec's decimals and significant digits."""
    digits = spec.digits
    if value:
        digits = min(digits, spec.significant - 1 - math.floor(math.log10(abs(value))))
    rounded = round(value, digits)
    return int(rounded) if spec.digits == 0 else rounded


def _minutes(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])
