"""Which pages a world has: enough about what is asked, twice as much about what is not.

Pages about an entity that some question needs a fact of are relevant (fresh, outdated,
contradicting, copied, hostile); pages about its look-alikes and empty pages that only carry its
name are not. Published is one relevant page to two irrelevant ones.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from simulator.world.draw import Draw
from simulator.world.factbase import FactBase
from simulator.world.facts.schema import HUBS, Entity, Fact
from simulator.world.pages.compose import Order, fact_at
from simulator.world.questions.schema import Need

IRRELEVANT_PER_RELEVANT = 2
WEB_GAP = 0.05
"""Share of the needed facts that no page states: who does not know must be able to say so."""

_FRESH = {"head": 3, "torso": 2, "tail": 2}
_MOST_FRESH = 8
_OUTDATED = 0.75
_CONTRADICTION = 0.16
_DUPLICATE = 0.28
_HOSTILE = 0.10
_NOISE = 0.15
"""Share of the irrelevant pages that name the entity and say nothing about it."""

_STYLES = {
    "goods": ("encyclopaedia", "shop", "review", "forum", "news", "shop", "review"),
    "things": ("encyclopaedia", "review", "forum", "news", "encyclopaedia"),
    "hubs": ("encyclopaedia", "news", "forum", "encyclopaedia", "news"),
}


class PagePlan:
    """All orders of a world, findable by the entity they stand for."""

    def __init__(self, orders: list[Order], anchor: list[str], relevant: int) -> None:
        self.orders = orders
        self.relevant = relevant
        """Orders about needed entities; they come first."""
        self._relevant_of: dict[str, list[Order]] = {}
        self._irrelevant_of: dict[str, list[Order]] = {}
        for i, (order, entity_id) in enumerate(zip(orders, anchor, strict=True)):
            shelf = self._relevant_of if i < relevant else self._irrelevant_of
            shelf.setdefault(entity_id, []).append(order)

    def relevant_to(self, entity_id: str) -> list[Order]:
        """Pages about an entity."""
        return self._relevant_of.get(entity_id, [])

    def irrelevant_to(self, entity_id: str) -> list[Order]:
        """Pages that stand in the way of finding out about an entity."""
        return self._irrelevant_of.get(entity_id, [])


def plan_pages(facts: FactBase, needs: Iterable[Need]) -> PagePlan:
    """Order the pages for what is asked. The order of the needs does not matter."""
    wanted: dict[str, dict[tuple[str, str], Need]] = {}
    for need in needs:
        of = wanted.setdefault(need.entity_id, {})
        start = facts.fact(need.entity_id, need.attribute, need.at).valid_from or ""
        known = of.get((need.attribute, start))
        if known is None or need.at < known.at:
            of[need.attribute, start] = need
    relevant: list[tuple[str, Order]] = []
    for entity_id in sorted(wanted):
        of = [wanted[entity_id][key] for key in sorted(wanted[entity_id])]
        relevant += [(entity_id, o) for o in _about(facts.entity(entity_id), of, facts)]
    irrelevant = list(_beside(relevant, set(wanted), facts))
    both = relevant + irrelevant
    return PagePlan([o for _, o in both], [e for e, _ in both], len(relevant))


def is_withheld(facts: FactBase, entity_id: str, attribute: str) -> bool:
    """Whether no page of the world states this attribute of this entity."""
    return Draw(facts.seed, "web gap", entity_id, attribute).chance(WEB_GAP)


def _about(entity: Entity, needs: list[Need], facts: FactBase) -> list[Order]:
    """The relevant pages of one entity."""
    avoid = tuple(
        a.key for a in facts.attributes(entity.id) if is_withheld(facts, entity.id, a.key)
    )
    draw = Draw(facts.seed, "pages of", entity.id)
    changing = [d for d in needs if _fact(facts, d).valid_from is not None]
    anchors = changing + [d for d in needs if d not in changing]
    count = min(_MOST_FRESH, max(_FRESH[entity.popularity], len(changing) + 1))
    styles = draw.shuffled(styles_for(entity, facts))
    orders: list[Order] = []
    left = list(needs)
    while len(orders) < count or left:
        i = len(orders)
        # Once there are pages enough, only what no page can state yet calls for another one.
        anchor = anchors[i % len(anchors)] if i < count else left[0]
        as_of = _fresh_date(_fact(facts, anchor), anchor.at, draw)
        must = [anchor.attribute]
        for other in needs:
            wanted = draw.chance(0.6) or (i >= count - 1 and other in left)
            if other != anchor and wanted and _holds(facts, other, as_of):
                must.append(other.attribute)
        left = [n for n in left if n.attribute not in must or not _holds(facts, n, as_of)]
        orders.append(
            Order(
                id=f"{entity.id}/{i}",
                entity_id=entity.id,
                style=styles[i % len(styles)],
                label="answers",
                as_of=as_of,
                must=tuple(sorted(set(must))),
                avoid=avoid,
            )
        )
    fresh = list(orders)
    stale = [d for d in changing if _earlier(facts, d)]
    if stale and draw.chance(_OUTDATED):
        need = draw.pick(stale)
        source = draw.pick(fresh)
        old = draw.pick(_earlier(facts, need)[-3:])
        orders.append(
            _variant(source, "o", "outdated", as_of=_inside(old, draw), must=(need.attribute,))
        )
    told = [a for a in sorted({d.attribute for d in needs}) if a not in avoid]
    if told and draw.chance(_CONTRADICTION):
        source, wrong = draw.pick(fresh), draw.pick(told)
        orders.append(_variant(source, "c", "contradiction", wrong=wrong, must=(wrong,)))
    if draw.chance(_DUPLICATE):
        source = draw.pick(fresh)
        orders.append(_variant(source, "n", "near-duplicate", copy_of=source.id, must=source.must))
    if draw.chance(_HOSTILE):
        source = draw.pick(fresh)
        orders.append(_variant(source, "h", "hostile", must=source.must))
    return orders


def _variant(source: Order, mark: str, label: str, **changes: object) -> Order:
    from msgspec.structs import replace

    return replace(source, id=f"{source.id}{mark}", label=label, **changes)


def _beside(
    relevant: list[tuple[str, Order]], needed: set[str], facts: FactBase
) -> Iterable[tuple[str, Order]]:
    """The irrelevant pages: about look-alikes first, then about others of the kind."""
    for n, (entity_id, source) in enumerate(relevant):
        entity = facts.entity(entity_id)
        for i in range(IRRELEVANT_PER_RELEVANT):
            draw = Draw(facts.seed, "beside", source.id, i)
            other = None if draw.chance(_NOISE) else _stranger(entity, needed, facts, draw)
            about = other or entity
            yield (
                entity_id,
                Order(
                    id=f"{about.id}/x{n}.{i}",
                    entity_id=about.id,
                    style=draw.pick(styles_for(about, facts)),
                    label="distractor" if other else "noise",
                    as_of=_shift(source.as_of, -draw.below(200 * 1440)),
                ),
            )


def _stranger(entity: Entity, needed: set[str], facts: FactBase, draw: Draw) -> Entity | None:
    """Somebody similar that nobody asks about."""
    family = [e for e in facts.family(entity) if e.id not in needed]
    if family and draw.chance(0.7):
        return draw.pick(family)
    kind = facts.of_kind(entity.kind)
    for _ in range(12):
        other = draw.pick(kind)
        if other.id not in needed:
            return other
    return draw.pick(family) if family else None


def styles_for(entity: Entity, facts: FactBase) -> tuple[str, ...]:
    """Styles that suit an entity: nobody sells a bridge."""
    if entity.kind in HUBS:
        return _STYLES["hubs"]
    sold = any(a.key == "price" for a in facts.attributes(entity.id))
    return _STYLES["goods" if sold and entity.domain != "local" else "things"]


def _fact(facts: FactBase, need: Need) -> Fact:
    return facts.fact(need.entity_id, need.attribute, need.at)


def _earlier(facts: FactBase, need: Need) -> list[Fact]:
    start = _fact(facts, need).valid_from or ""
    history = facts.history(need.entity_id, need.attribute)
    return [f for f in history if (f.valid_from or "") < start]


def _holds(facts: FactBase, need: Need, as_of: str) -> bool:
    """Whether a page of that time, written before the question, states the needed value."""
    fact = fact_at(facts, need.entity_id, need.attribute, as_of)
    return (
        as_of <= need.at
        and fact is not None
        and fact.value == facts.value(need.entity_id, need.attribute, need.at)
    )


def _fresh_date(fact: Fact, at: str, draw: Draw) -> str:
    """A time at which the fact held already, and no later than the question."""
    oldest = _shift(at, -420 * 1440)
    start = max(_full(fact.valid_from), oldest) if fact.valid_from else oldest
    return _between(start, at, draw)


def _inside(fact: Fact, draw: Draw) -> str:
    return _between(_full(fact.valid_from or ""), _shift(_full(fact.valid_to or ""), -1), draw)


def _between(start: str, end: str, draw: Draw) -> str:
    span = (_time(end) - _time(start)) // dt.timedelta(minutes=1)
    return _shift(_full(start), draw.below(max(1, span + 1)))


def _shift(at: str, minutes: int) -> str:
    return (_time(at) + dt.timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M")


def _full(iso: str) -> str:
    return iso if len(iso) > 10 else f"{iso}T00:00"


def _time(iso: str) -> dt.datetime:
    return dt.datetime.fromisoformat(iso)  # naive on purpose: a world has one clock
