"""Which things questions may be about, so that nothing but looking tells them from the others.

An assistant that could see in the image KG or on the web which things are asked about would need
no eyes: the things asked about would be those with fewer pictures than their look-alikes, or with
more pages. Questions are therefore about half of the members of few families, and whatever is made
for one member is made for all.
"""

from __future__ import annotations

import hashlib

from simulator.world.facts.fact_records import Entity
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import FAMILY

PER_FAMILY = ("head", "head", "torso", "tail")
"""The popularity of those of a family that are asked about, as far as it has such members."""

ONE_IN = 20
"""One thing in so many is asked about: one relevant picture to twenty others."""

Family = tuple[str, int]
"""Kind and number."""


def family_of(entity: Entity) -> Family:
    """What an entity shares with its look-alikes."""
    return entity.kind, entity.family


def askable(facts: FactBase) -> dict[Family, tuple[str, ...]]:
    """The families that questions are about, and those of their members that may be pictured.

    At least one family of each kind, however small the world.
    """
    visible = [e for e in facts.entities.values() if e.look]
    families: dict[Family, list[Entity]] = {}
    for entity in visible:
        families.setdefault(family_of(entity), []).append(entity)
    chosen = {f: _members(of, facts.seed) for f, of in families.items()}

    def rank(family: Family) -> tuple[bool, bool, bytes]:
        of = families[family]
        mixed = sorted(e.popularity for e in of if e.id in chosen[family]) == sorted(PER_FAMILY)
        return len(of) < FAMILY, not mixed, _hash(f"{facts.seed}/family/{family}")

    ranked = sorted(families, key=rank)
    firsts = {kind: (kind, number) for kind, number in reversed(ranked)}.values()
    rest = [f for f in ranked if f not in firsts]
    wanted = round(len(visible) / ONE_IN / len(PER_FAMILY)) - len(firsts)
    return {f: chosen[f] for f in sorted([*firsts, *rest[: max(0, wanted)]])}


def _members(family: list[Entity], seed: int) -> tuple[str, ...]:
    """Those that may be asked about: of each popularity first, then any."""
    left = sorted(family, key=lambda e: _hash(f"{seed}/askable/{e.id}"))
    found: list[Entity] = []
    for popularity in PER_FAMILY:
        fitting = [e for e in left if e.popularity == popularity]
        if fitting:
            found.append(fitting[0])
            left.remove(fitting[0])
    found += left[: len(PER_FAMILY) - len(found)]
    return tuple(sorted(e.id for e in found))


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
