"""The image knowledge graph: which entities have pictures in it, and what it says of them.

Published: 68K pictures of 26K entities, one relevant picture to twenty others, up to thirty hard
negatives (similar look, other entity) per query picture, query pictures left out, and 93.4 % of
the entities asked about covered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from mmrag.records import Record
from simulator.world.build.randomness import Draw
from simulator.world.build.world_request import WorldRequest
from simulator.world.checks.published_figures import KG_COVERAGE
from simulator.world.facts.domain_schema import Attribute, Entity, Number, Ref, Several
from simulator.world.facts.fact_wording import say_value
from simulator.world.facts.factbase import FactBase
from simulator.world.language.askable_things import Family, askable, family_of
from simulator.world.pictures.scene import Scene

OTHERS_PER_RELEVANT = 20
HARD_NEGATIVES = 30
"""Most pictures of look-alikes per query picture, as published; families of eight give fewer."""

_EMPTY = 0.06
"""Share of entities whose attributes are missing, as in the published KG."""
_RAW = 0.04
"""Share whose attributes are one string instead of an object."""
_TOLD = 0.55
"""Chance that an unchanging fact stands in the infobox."""


class KgPicture(Record, frozen=True, kw_only=True):
    """One KG picture to be rendered."""

    entity_id: str
    number: int


def plan_kg_pictures(
    facts: FactBase, asked: Iterable[str], request: WorldRequest
) -> list[KgPicture]:
    """The pictures of the KG: as many of each thing, whether it is asked about or not.

    What is asked about decides one thing only: which of the things are left out, so that the share
    published is left out of those asked about and of the others.
    """
    held = _held(facts, request.kg_pictures)
    subjects = set(asked)
    covered: set[str] = set()
    for group in (held & subjects, held - subjects):
        ranked = _ranked(group, facts.seed, "kg cover")
        covered.update(ranked[: round(KG_COVERAGE * len(ranked))])
    shots = _spread(_ranked(covered, facts.seed, "kg pictures"), request.kg_pictures)
    return sorted(shots, key=lambda s: hashlib.sha256(msgspec.json.encode(s)).digest())


def _held(facts: FactBase, pictures: int) -> set[str]:
    """Things of which there may be pictures: of whole families, those asked about first. So many
    things that there are two pictures of each, as far as the families asked about allow."""
    families: dict[Family, set[str]] = {}
    for entity in facts.entities.values():
        if entity.look:
            families.setdefault(family_of(entity), set()).add(entity.id)
    chosen = askable(facts)
    order = {f"{kind} {number}": (kind, number) for kind, number in families}
    ranked = [order[name] for name in _ranked(set(order), facts.seed, "kg families")]
    held: set[str] = set()
    for family in sorted(ranked, key=lambda f: f not in chosen):
        if family in chosen or 2 * KG_COVERAGE * len(held | families[family]) <= pictures:
            held |= families[family]
    return held


def kg_scene(shot: KgPicture, facts: FactBase, request: WorldRequest) -> Scene:
    """The scene of a KG picture; its key differs from that of any query picture.

    The first shows the thing from its front, as catalogues do: from the backs of two signs nobody
    could tell which is which.
    """
    look = facts.entity(shot.entity_id).look
    assert look is not None
    legible = Draw(facts.seed, "kg legible", shot.entity_id, shot.number).chance(0.5)
    return Scene(
        main=look,
        is_ego=False,
        legible=legible or shot.number == 0,
        key=f"{facts.seed}/kg/{shot.entity_id}/{shot.number}",
        width=request.kg_side,
        height=request.kg_side,
    )


def kg_row(index: int, shot: KgPicture, facts: FactBase, jpeg: bytes | None) -> dict[str, Any]:
    """One row of `kg.parquet`."""
    entity = facts.entity(shot.entity_id)
    url = f"https://images.worldkg.example/{shot.entity_id}/{shot.number}.jpg"
    return {
        "index": index,
        "image": {"bytes": jpeg, "path": f"{shot.entity_id}-{shot.number}.jpg"} if jpeg else None,
        "image_url": url,
        "entities": msgspec.json.encode(
            [{"entity_name": entity.name, "entity_attributes": infobox(entity, facts)}]
        ).decode(),
        "entity_id": entity.id,
        "image_sha256": hashlib.sha256(jpeg).hexdigest() if jpeg else None,
    }


def infobox(entity: Entity, facts: FactBase) -> dict[str, str] | str:
    """Attributes as raw infobox markup: sometimes empty, sometimes one string, never everything.
    Only what does not change stands in it, and slow-changing values as of the world's first day."""
    draw = Draw(facts.seed, "infobox", entity.id)
    shape = draw.uniform()
    if shape < _EMPTY:
        return {}
    at = facts.window[0]
    box = {"name": entity.name, "type": entity.kind.replace("_", " ")}
    for attribute in facts.attributes(entity.id):
        chance = {"static": _TOLD, "slow-changing": _TOLD / 2}.get(attribute.dynamism, 0.0)
        if draw.chance(chance):
            words = say_value(attribute, facts.value(entity.id, attribute.key, at), facts)
            box[attribute.noun.replace(" ", "_")] = _markup(attribute, words, at, draw)
    if shape < _EMPTY + _RAW:
        rows = "\n".join(f"| {k} = {v}" for k, v in box.items())
        return "{{Infobox " + box["type"] + "\n" + rows + "\n}}"
    return box


def _markup(attribute: Attribute, words: str, at: str, draw: Draw) -> str:
    spec = attribute.value
    text = words
    if isinstance(spec, Ref):
        text = f"[[{words}]]"
    elif isinstance(spec, Several):
        text = "{{hlist|" + words.replace(", ", "|").replace(" and ", "|") + "}}"
    elif isinstance(spec, Number) and spec.unit and draw.chance(0.3):
        text = f"{{{{nowrap|{words}}}}}"
    if attribute.dynamism != "static":
        text += f" (as of {at[:10]})"
    if draw.chance(0.2):
        text += f"<ref name=survey{draw.between(1, 9)} />"
    return text


def _ranked(ids: set[str], seed: int, purpose: str) -> list[str]:
    """Ids in an order that has nothing to do with their names."""
    return sorted(ids, key=lambda i: (hashlib.sha256(f"{seed}/{purpose}/{i}".encode()).digest(), i))


def _spread(ids: list[str], count: int) -> list[KgPicture]:
    """`count` pictures dealt out evenly."""
    return [
        KgPicture(entity_id=ids[i % len(ids)], number=i // len(ids))
        for i in range(count if ids else 0)
    ]
