"""The queryable facts of one world. Pages, pictures and questions are views of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mmrag.errors import DataError
from simulator.world.facts.domain_schema import (
    Attribute,
    Entity,
    Fact,
    FactValue,
    Ref,
    attribute_of,
    attributes_of,
)

Span = tuple[str | None, str | None, FactValue]
"""valid_from (inclusive), valid_to (exclusive), value."""


class FactBase:
    """Entities and their facts, with queries by name, by attribute at a time, and by relation.
    Built by `generate_facts`, or read back from tables by `FactBase.from_facts`."""

    def __init__(
        self,
        *,
        seed: int,
        window: tuple[str, str],
        entities: Iterable[Entity],
        spans: dict[str, dict[str, tuple[Span, ...]]],
    ) -> None:
        self.seed = seed
        self.window = window
        """First and last instant at which a wearer may ask; every fact holds throughout."""
        self.entities: dict[str, Entity] = {e.id: e for e in sorted(entities, key=lambda e: e.id)}
        self._spans = spans
        self._by_kind: dict[str, list[Entity]] = {}
        self._by_name: dict[str, list[str]] = {}
        for entity in self.entities.values():
            self._by_kind.setdefault(entity.kind, []).append(entity)
            for name in (entity.name, *entity.aliases):
                self._by_name.setdefault(name.casefold(), []).append(entity.id)
        self._sources: dict[tuple[str, str], list[str]] | None = None
        self._tokens: dict[str, list[str]] | None = None
        self._families: dict[tuple[str, int], list[Entity]] | None = None

    @classmethod
    def from_facts(
        cls,
        *,
        seed: int,
        window: tuple[str, str],
        entities: Iterable[Entity],
        facts: Iterable[Fact],
    ) -> FactBase:
        """Rebuild a fact base from its entities and facts, in any order."""
        entities = list(entities)
        kinds = {entity.id: entity.kind for entity in entities}
        grouped: dict[str, dict[str, list[Span]]] = {}
        for fact in facts:
            kind = kinds.get(fact.entity_id, "")
            if kind and all(fact.attribute != a.key for a in attributes_of(kind)):
                raise DataError(
                    f"{fact.entity_id} has a {fact.attribute!r}, which no {kind} has here: the "
                    "world is of an earlier version. Write it again with `mmrag world new`."
                )
            spans = grouped.setdefault(fact.entity_id, {}).setdefault(fact.attribute, [])
            spans.append((fact.valid_from, fact.valid_to, fact.value))
        return cls(
            seed=seed,
            window=window,
            entities=entities,
            spans={
                entity: {
                    key: tuple(sorted(spans, key=lambda s: s[0] or "")) for key, spans in of.items()
                }
                for entity, of in grouped.items()
            },
        )

    def __len__(self) -> int:
        return len(self.entities)

    def facts(self, entity_id: str | None = None) -> Iterator[Fact]:
        """All facts (of one entity, or of the world) in a fixed order."""
        for owner in [entity_id] if entity_id is not None else self.entities:
            known = self._spans.get(owner, {})
            for attribute in attributes_of(self.entity(owner).kind):
                for start, end, value in known.get(attribute.key, ()):
                    yield Fact(
                        entity_id=owner,
                        attribute=attribute.key,
                        value=value,
                        unit=attribute.unit,
                        valid_from=start,
                        valid_to=end,
                    )

    # -- entities

    def entity(self, entity_id: str) -> Entity:
        """The entity with this id."""
        found = self.entities.get(entity_id)
        if found is None:
            raise DataError(f"no entity {entity_id!r} in the world of seed {self.seed}.")
        return found

    def of_kind(self, kind: str) -> list[Entity]:
        """All entities of a kind, in order of id."""
        return self._by_kind.get(kind, [])

    def family(self, entity: Entity) -> list[Entity]:
        """The look-alikes of an entity, itself excluded: its hard negatives."""
        if self._families is None:
            self._families = {}
            for e in self.entities.values():
                self._families.setdefault((e.kind, e.family), []).append(e)
        return [e for e in self._families[entity.kind, entity.family] if e.id != entity.id]

    def find(self, name: str) -> list[Entity]:
        """Entities with exactly this name or alias, whatever its case."""
        return [self.entities[i] for i in self._by_name.get(name.casefold(), [])]

    def search_by_name(self, query: str, limit: int = 10) -> list[Entity]:
        """Entities whose names share the most (and rarest) words with the query."""
        if self._tokens is None:
            self._tokens = {}
            for name, ids in self._by_name.items():
                for token in set(_tokens(name)):
                    self._tokens.setdefault(token, []).extend(ids)
        scores: dict[str, float] = {}
        for token in set(_tokens(query[:500])):
            owners = self._tokens.get(token, [])
            for owner in set(owners):
                scores[owner] = scores.get(owner, 0.0) + 1.0 / len(owners)
        ranked = sorted(scores, key=lambda i: (-scores[i], i))
        return [self.entities[i] for i in ranked[: max(0, limit)]]

    # -- facts

    def attributes(self, entity_id: str) -> tuple[Attribute, ...]:
        """What is known of an entity."""
        known = self._spans.get(entity_id, {})
        return tuple(a for a in attributes_of(self.entity(entity_id).kind) if a.key in known)

    def value(self, entity_id: str, attribute: str, at: str) -> FactValue:
        """The value of an attribute at a time. Exactly one value holds, or it is an error."""
        return self._span(entity_id, attribute, at)[2]

    def fact(self, entity_id: str, attribute: str, at: str) -> Fact:
        """The fact that holds at a time."""
        start, end, value = self._span(entity_id, attribute, at)
        unit = attribute_of(self.entity(entity_id).kind, attribute).unit
        return Fact(
            entity_id=entity_id,
            attribute=attribute,
            value=value,
            unit=unit,
            valid_from=start,
            valid_to=end,
        )

    def history(self, entity_id: str, attribute: str, until: str | None = None) -> list[Fact]:
        """All values of an attribute, oldest first, that began no later than `until`."""
        return [
            f
            for f in self.facts(entity_id)
            if f.attribute == attribute and (until is None or (f.valid_from or "") <= until)
        ]

    # -- relations

    def target(self, entity_id: str, relation: str, at: str) -> Entity:
        """The entity that a relation points to at a time."""
        value = self.value(entity_id, relation, at)
        if not isinstance(value, str) or value not in self.entities:
            raise DataError(f"{relation!r} of {entity_id} is {value!r}, which is not an entity.")
        return self.entities[value]

    def sources(
        self, entity_id: str, relation: str, at: str, kind: str | None = None
    ) -> list[Entity]:
        """The entities whose relation points to this one at a time, in order of id."""
        if self._sources is None:
            self._sources = self._invert()
        found = self._sources.get((relation, entity_id), [])
        return [
            self.entities[i]
            for i in found
            if (kind is None or self.entities[i].kind == kind)
            and self.value(i, relation, at) == entity_id
        ]

    def _invert(self) -> dict[tuple[str, str], list[str]]:
        inverse: dict[tuple[str, str], list[str]] = {}
        for owner, entity in self.entities.items():
            for attribute in attributes_of(entity.kind):
                if not isinstance(attribute.value, Ref):
                    continue
                for _, _, value in self._spans.get(owner, {}).get(attribute.key, ()):
                    sources = inverse.setdefault((attribute.key, str(value)), [])
                    if not sources or sources[-1] != owner:
                        sources.append(owner)
        return {key: sorted(sources) for key, sources in inverse.items()}

    def _span(self, entity_id: str, attribute: str, at: str) -> Span:
        spans = self._spans.get(entity_id, {}).get(attribute)
        if not spans:
            raise DataError(f"{entity_id!r} has no attribute {attribute!r}.")
        if len(spans) == 1 and spans[0][0] is None and spans[0][1] is None:
            return spans[0]
        holding = [s for s in spans if (s[0] is None or s[0] <= at) and (s[1] is None or at < s[1])]
        if len(holding) != 1:
            raise DataError(
                f"{attribute!r} of {entity_id!r} has {len(holding)} values at {at}, not one."
            )
        return holding[0]


def _tokens(text: str) -> list[str]:
    return [t for t in "".join(c if c.isalnum() else " " for c in text.casefold()).split() if t]
