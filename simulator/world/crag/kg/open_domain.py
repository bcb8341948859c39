"""CRAG's open domain: every entity of the world, with what is known of it at a time."""

from __future__ import annotations

from typing import Any

from simulator.world.crag.crag_world import CragWorld
from simulator.world.facts.fact_wording import say_fact, say_value


def search(stage: CragWorld, _at: str, query: str) -> list[str]:
    """Names of entities, best match first."""
    return [entity.name for entity in stage.facts.search_by_name(query)]


def entity(stage: CragWorld, at: str, entity: str) -> dict[str, Any] | None:
    """A summary in words, a table, and the markup of an article."""
    found = next((e for e in stage.facts.find(entity) if e.name == entity), None)
    if found is None:
        return None
    facts = stage.facts
    known = facts.attributes(found.id)
    table = {a.noun: say_value(a, facts.value(found.id, a.key, at), facts) for a in known}
    said = " ".join(say_fact(facts.fact(found.id, a.key, at), facts) for a in known[:6])
    rows = "\n".join(f"| {noun} = {value}" for noun, value in table.items())
    return {
        "summary_text": f"{found.name} is a {found.kind.replace('_', ' ')}. {said}",
        "summary_structured": table,
        "raw_mediawiki": f"{{{{Infobox\n{rows}\n}}}}\n'''{found.name}''' {said}",
    }
