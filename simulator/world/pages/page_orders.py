"""Which pages a world has: enough about what is asked, twice as much about what is not.

Pages about an entity that some question needs a fact of are relevant (fresh, outdated,
contradicting, copied, hostile); pages about its look-alikes and empty pages that only carry its
name are not. Published is one relevant page to two irrelevant ones.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from simulator.world.build.randomness import Draw
from simulator.world.facts.domain_schema import HUBS, Entity, Fact
from simulator.world.facts.factbase import FactBase
from simulator.world.language.askable_things import Family, askable
from simulator.world.language.questions.question_records import NeededFact
from simulator.world.pages.page_writer import PageOrder, can_be_wrong, fact_at

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

    def __init__(self, seed: int, voices: Sequence[str]) -> None:
        self._seed, self._voices = seed, voices
        self.orders: list[PageOrder] = []
        self._about: dict[str, list[PageOrder]] = {}
        self._beside: dict[str, list[PageOrder]] = {}

    def relevant_to(self, entity_id: str) -> list[PageOrder]:
        """Pages about an entity."""
        return self._about.get(entity_id, [])

    def irrelevant_to(self, entity_id: str) -> list[PageOrder]:
        """Pages that stand in the way of finding out about an entity."""
        return self._beside.get(entity_id, [])

    def add(self, orders: list[PageOrder], *, about: str = "", beside: Iterable[str] = ()) -> None:
        """Order pages about an entity that stand in the way of finding out about others."""
        orders = [replace(o, voice=self._voice(o)) for o in orders]
        self.orders += orders
        if about:
            self._about[about] = orders
        for entity_id in beside:
            self._beside.setdefault(entity_id, []).extend(orders)

    def _voice(self, order: PageOrder) -> str:
        """A copy repeats the text of its source, so it has its voice."""
        return Draw(self._seed, "page voice", order.copy_of or order.id).pick(self._voices)


def plan_pages(facts: FactBase, needs: Iterable[NeededFact], voices: Sequence[str]) -> PagePlan:
    """Order the pages for what is asked, each in one of the voices. The order of the needs does
    not matter."""
    wanted: dict[str, list[NeededFact]] = {}
    for need in needs:
        wanted.setdefault(need.entity_id, []).append(need)
    plan = PagePlan(facts.seed, voices)
    for family in askable(facts):
        _plan_family(plan, family, wanted, facts)
    apart = [e for e in sorted(wanted) if not plan.relevant_to(e)]
    taken = {*wanted, *(o.entity_id for o in plan.orders)}
    for entity in map(facts.entity, sorted(taken - set(apart))):
        about, beside = plan.relevant_to(entity.id), plan.irrelevant_to(entity.id)
        lacking = IRRELEVANT_PER_RELEVANT * len(about) - len(beside)
        if lacking > 0:  # its family is too small to stand in the way of itself
            others = _others(entity, about, taken, facts)
            strangers = [o for o in others if o.label == "distractor"]
            plan.add(strangers[:lacking], beside=[entity.id])
    for entity_id in apart:
        entity = facts.entity(entity_id)
        orders = _about(entity, _distinct(wanted[entity_id], facts), facts)
        plan.add(orders, about=entity_id)
        plan.add(_others(entity, orders, taken, facts), beside=[entity_id])
    return plan


def _plan_family(
    plan: PagePlan, family: Family, wanted: Mapping[str, list[NeededFact]], facts: FactBase
) -> None:
    """The pages of a family of which some are asked about: the same for all of its members.

    What is asked of one is told of each, so that neither the number of its pages nor what stands
    on them says which of them is asked about.
    """
    members = [e for e in facts.of_kind(family[0]) if e.family == family[1]]
    asked = {(n.attribute, n.at) for e in members for n in wanted.get(e.id, ())}
    if not asked:
        return
    for entity in members:
        of = [NeededFact(entity_id=entity.id, attribute=key, at=at) for key, at in asked]
        orders = _about(entity, _distinct(of, facts), facts)
        if entity.id not in wanted:
            orders = [_unasked(o) for o in orders]
        plan.add(orders, about=entity.id, beside=[e.id for e in members if e is not entity])
        plan.add(
            [
                _empty(entity, source, i, draw, facts, named=True)
                for source in orders
                for i in range(IRRELEVANT_PER_RELEVANT)
                if (draw := Draw(facts.seed, "beside", source.id, i)).chance(_NOISE)
            ],
            beside=[entity.id],
        )


def _unasked(order: PageOrder) -> PageOrder:
    """The same page, called what it is for those who ask about somebody else."""
    return replace(order, label="distractor") if order.label == "answers" else order


def is_withheld(facts: FactBase, entity_id: str, attribute: str) -> bool:
    """Whether no page of the world states this attribute of this entity."""
    return Draw(facts.seed, "web gap", entity_id, attribute).chance(WEB_GAP)


def _about(entity: Entity, needs: list[NeededFact], facts: FactBase) -> list[PageOrder]:
    """The relevant pages of one entity."""
    avoid = tuple(
        a.key for a in facts.attributes(entity.id) if is_withheld(facts, entity.id, a.key)
    )
    draw = Draw(facts.seed, "pages of", entity.id)
    changing = [d for d in needs if _fact(facts, d).valid_from is not None]
    anchors = changing + [d for d in needs if d not in changing]
    count = min(_MOST_FRESH, max(_FRESH[entity.popularity], len(changing) + 1))
    styles = draw.shuffled(styles_for(entity, facts))
    orders: list[PageOrder] = []
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
            PageOrder(
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
    asked = {d.attribute for d in needs}.difference(avoid)
    attributes = sorted(
        a.key
        for a in facts.attributes(entity.id)
        if a.key in asked and can_be_wrong(entity.id, a, facts)
    )
    if attributes and draw.chance(_CONTRADICTION):
        source, wrong = draw.pick(fresh), draw.pick(attributes)
        orders.append(_variant(source, "c", "contradiction", wrong=wrong, must=(wrong,)))
    if draw.chance(_DUPLICATE):
        source = draw.pick(fresh)
        orders.append(_variant(source, "n", "near-duplicate", copy_of=source.id, must=source.must))
    if draw.chance(_HOSTILE):
        source = draw.pick(fresh)
        orders.append(_variant(source, "h", "hostile", must=source.must))
    return orders


def _variant(source: PageOrder, mark: str, label: str, **changes: object) -> PageOrder:
    return replace(source, id=f"{source.id}{mark}", label=label, **changes)


def _distinct(needs: Iterable[NeededFact], facts: FactBase) -> list[NeededFact]:
    """One need for each value that held at some time: the earliest."""
    found: dict[tuple[str, str], NeededFact] = {}
    for need in needs:
        start = _fact(facts, need).valid_from or ""
        known = found.get((need.attribute, start))
        if known is None or need.at < known.at:
            found[need.attribute, start] = need
    return [found[key] for key in sorted(found)]


def _others(
    entity: Entity, orders: list[PageOrder], taken: Collection[str], facts: FactBase
) -> list[PageOrder]:
    """Pages that stand beside those of an entity: of look-alikes first, then of its kind."""
    found: list[PageOrder] = []
    for source in orders:
        for i in range(IRRELEVANT_PER_RELEVANT):
            draw = Draw(facts.seed, "beside", source.id, i)
            other = None if draw.chance(_NOISE) else _stranger(entity, taken, facts, draw)
            found.append(_empty(other or entity, source, i, draw, facts, named=other is None))
    return found


def _empty(
    about: Entity, source: PageOrder, i: int, draw: Draw, facts: FactBase, *, named: bool
) -> PageOrder:
    """A page that answers nothing: about somebody else, or with no more than the name in it."""
    return PageOrder(
        id=f"{about.id}/x{source.id}.{i}",
        entity_id=about.id,
        style=draw.pick(styles_for(about, facts)),
        label="noise" if named else "distractor",
        as_of=_shift(source.as_of, -draw.below(200 * 1440)),
    )


def _stranger(entity: Entity, taken: Collection[str], facts: FactBase, draw: Draw) -> Entity | None:
    """Somebody similar that nobody asks about and that has no pages yet."""
    family = [e for e in facts.family(entity) if e.id not in taken]
    if family and draw.chance(0.7):
        return draw.pick(family)
    kind = facts.of_kind(entity.kind)
    for _ in range(12):
        other = draw.pick(kind)
        if other.id not in taken:
            return other
    return draw.pick(family) if family else None


def styles_for(entity: Entity, facts: FactBase) -> tuple[str, ...]:
    """Styles that suit an entity: nobody sells a bridge."""
    if entity.kind in HUBS:
        return _STYLES["hubs"]
    sold = any(a.key == "price" for a in facts.attributes(entity.id))
    return _STYLES["goods" if sold and entity.domain != "local" else "things"]


def _fact(facts: FactBase, need: NeededFact) -> Fact:
    return facts.fact(need.entity_id, need.attribute, need.at)


def _earlier(facts: FactBase, need: NeededFact) -> list[Fact]:
    start = _fact(facts, need).valid_from or ""
    history = facts.history(need.entity_id, need.attribute)
    return [f for f in history if (f.valid_from or "") < start]


def _holds(facts: FactBase, need: NeededFact, as_of: str) -> bool:
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
