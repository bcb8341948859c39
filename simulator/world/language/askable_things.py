"""Which things questions may be about, so that nothing but looking tells them from the others.

An assistant that could see in the image KG or on the web which things are asked about would need
no eyes: the things asked about would be those with fewer pictures than their look-alikes, or with
more pages. Questions are therefore about half of the members of few families, and whatever is made
for one member is made for all.
"""

from __future__ import annotations

import hashlib
import itertools

from simulator.world.facts.domain_schema import Entity
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.look import KINDS

PER_FAMILY = ("head", "torso", "head", "tail")
"""The popularity of those of a family of eight that are asked about, as far as it has such members;
smaller families take turns, each from another place of the row."""

_KIND = {kind: i for i, kind in enumerate(kind for kinds in KINDS.values() for kind in kinds)}

ONE_IN = 19
"""One thing in so many may be asked about. Not all are, so that it comes out as one relevant
picture to twenty others."""

Family = tuple[str, int]
"""Kind and number."""


def family_of(entity: Entity) -> Family:
    """What an entity shares with its look-alikes."""
    return entity.kind, entity.family


def askable(facts: FactBase) -> dict[Family, tuple[str, ...]]:
    """The families that questions are about, and those of their members that may be pictured.

    At least one family of each kind, and in each domain things of every popularity, however small
    the world.
    """
    visible = [e for e in facts.entities.values() if e.look]
    families: dict[Family, list[Entity]] = {}
    for entity in visible:
        families.setdefault(family_of(entity), []).append(entity)
    chosen = {f: _members(of, facts.seed) for f, of in families.items()}

    mixture = {f: sorted(facts.entity(i).popularity for i in of) for f, of in chosen.items()}
    last = dict(sorted(families))

    def rank(family: Family) -> tuple[bool, bool, bytes]:
        is_mixed = mixture[family] == sorted(_wanted(families[family]))
        is_last = last[family[0]] == family[1]  # it may be a smaller one
        return is_last, not is_mixed, _hash(f"{facts.seed}/family/{family}")

    ranked = sorted(families, key=rank)
    found = set({kind: (kind, number) for kind, number in reversed(ranked)}.values())
    for kinds, popularity in itertools.product(KINDS.values(), sorted(set(PER_FAMILY))):
        having = [f for f in ranked if f[0] in kinds and popularity in mixture[f]]
        if having and not found & set(having):
            found.add(having[0])
    left = len(visible) / ONE_IN - sum(len(chosen[f]) for f in found)
    for family in ranked:
        if family not in found and left >= len(chosen[family]) / 2:
            found.add(family)
            left -= len(chosen[family])
    return {f: chosen[f] for f in sorted(found)}


def _members(family: list[Entity], seed: int) -> tuple[str, ...]:
    """Those that may be asked about, half of them: of each popularity first, then any."""
    left = sorted(family, key=lambda e: _hash(f"{seed}/askable/{e.id}"))
    found: list[Entity] = []
    wanted = _wanted(family)
    for popularity in wanted:
        fitting = [e for e in left if e.popularity == popularity]
        if fitting:
            found.append(fitting[0])
            left.remove(fitting[0])
    found += left[: len(wanted) - len(found)]
    return tuple(sorted(e.id for e in found))


def _wanted(family: list[Entity]) -> list[str]:
    """The popularity of half of a family, rounded up."""
    half = (len(family) + 1) // 2
    first = half * (_KIND[family[0].kind] + family[0].family)
    return [PER_FAMILY[(first + i) % len(PER_FAMILY)] for i in range(half)]


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
