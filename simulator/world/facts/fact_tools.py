"""The fact base as tools, in the manner of CRAG's mock APIs: typed functions per domain.

Each domain has `<domain>_search_by_name`, `_get_entity`, `_get_attribute`, `_get_history` and
`_list_by_relation`, and where it has prices `_get_price_history`. What names no date is answered as
of the time of asking. Nothing here knows the questions: tools answer about names, attributes and
dates, as structured search would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mmrag.errors import UsageError
from mmrag.tools import Tool, ToolCall
from simulator.world.facts.domain_schema import (
    DOMAINS,
    HUB,
    Attribute,
    Domain,
    Entity,
    Fact,
    Number,
    attributes_of,
)
from simulator.world.facts.fact_wording import say_value
from simulator.world.facts.factbase import FactBase

MAX_RESULTS = 50


def tools(facts: FactBase) -> dict[str, Tool]:
    """Every tool by name.

    >>> from simulator.world.facts.generate import generate_facts
    >>> box = tools(generate_facts(1, 1))
    >>> "book_get_attribute" in box and "vehicle_get_price_history" in box
    True
    """
    made = [t for d in (*DOMAINS.values(), HUB) for t in _domain_tools(facts, d)]
    return {t.name: t for t in made}


def _domain_tools(facts: FactBase, domain: Domain) -> list[Tool]:
    prefix = "hub" if domain.name == HUB.name else domain.name.replace(" ", "_")
    kinds = frozenset(domain.nouns)
    keys = list(dict.fromkeys(a.key for k in domain.nouns for a in attributes_of(k)))
    changing = [a.key for k in domain.nouns for a in attributes_of(k) if a.dynamism != "static"]
    relations = [a.key for k in domain.nouns for a in attributes_of(k) if a.is_relation]
    prices = [
        a.key
        for k in domain.nouns
        for a in attributes_of(k)
        if isinstance(a.value, Number) and a.value.unit == "$" and a.dynamism != "static"
    ]
    what = ", ".join(domain.nouns.values())
    reader = _Reader(facts, kinds)
    name = _string("exact name or alias")
    day = _string("ISO date or date-time; now when left out")
    limit = {"type": "integer", "minimum": 1, "maximum": MAX_RESULTS}

    def tool(
        suffix: str, says: str, answer: Callable[..., Any], properties: dict[str, Any],
        *left_out: str,
    ) -> Tool:  # fmt: skip
        schema = {
            "type": "object",
            "properties": properties,
            "required": [key for key in properties if key not in left_out],
            "additionalProperties": False,
        }
        return Tool(
            name=f"{prefix}_{suffix}", description=says, parameters=schema,
            call=reader.as_of(answer),
        )  # fmt: skip

    made = [
        tool("search_by_name",
             f"Search for things by name ({what}). Returns names, best match first.",
             reader.search_by_name, {"query": _string("part of a name"), "limit": limit}, "limit"),
        tool("get_entity", f"Everything known about one thing ({what}) at a date.",
             reader.get_entity, {"name": name, "date": day}, "date"),
        tool("get_attribute", f"One attribute of one thing ({what}) at a date.",
             reader.get_attribute, {"name": name, "attribute": _one_of(keys), "date": day}, "date"),
        tool("get_history",
             f"All values of a changing attribute of one thing ({what}), oldest first.",
             reader.get_history, {"name": name, "attribute": _one_of(changing)}),
        tool("list_by_relation",
             f"The things ({what}) whose relation leads to a given person, company, town or "
             "thing.",
             reader.list_by_relation,
             {"relation": _one_of(relations), "target": name, "date": day}, "date"),
    ]  # fmt: skip
    if prices:
        made.append(tool(
            "get_price_history",
            f"The prices of one thing ({what}) through time, oldest first.",
            reader.price_history(prices[0]), {"name": name, "attribute": _one_of(prices)},
            "attribute",
        ))  # fmt: skip
    return made


class _Reader:
    """The functions behind the tools of one domain."""

    def __init__(self, facts: FactBase, kinds: frozenset[str]) -> None:
        self._facts = facts
        self._kinds = kinds

    def as_of(self, function: Callable[..., Any]) -> ToolCall:
        """A function of a time and arguments, as a tool is called; no time: the snapshot's end."""

        def call(arguments: dict[str, Any], at: str | None) -> Any:
            return function(at or self._facts.window[1], **arguments)

        return call

    def search_by_name(self, _at: str, query: str, limit: int = 10) -> list[str]:
        wanted = max(1, min(limit, MAX_RESULTS))
        found = self._facts.search_by_name(query, limit=10 * MAX_RESULTS)
        return [e.name for e in found if e.kind in self._kinds][:wanted]

    def get_entity(self, at: str, name: str, date: str | None = None) -> dict[str, Any]:
        entity = self._named(name)
        known = {
            a.key: self._entry(a, self._facts.fact(entity.id, a.key, _moment(date, at)))
            for a in self._facts.attributes(entity.id)
        }
        return {
            "name": entity.name,
            "aliases": list(entity.aliases),
            "kind": entity.kind,
            "attributes": known,
        }

    def get_attribute(
        self, at: str, name: str, attribute: str, date: str | None = None
    ) -> dict[str, Any]:
        entity = self._named(name)
        schema = self._schema(entity, attribute)
        return self._entry(schema, self._facts.fact(entity.id, attribute, _moment(date, at)))

    def get_history(self, at: str, name: str, attribute: str) -> list[dict[str, Any]]:
        entity = self._named(name)
        schema = self._schema(entity, attribute)
        return [self._entry(schema, f) for f in self._facts.history(entity.id, attribute, at)]

    def price_history(self, default: str) -> Callable[..., list[dict[str, Any]]]:
        def get_price_history(at: str, name: str, attribute: str = default) -> list[dict[str, Any]]:
            return self.get_history(at, name, attribute)

        return get_price_history

    def list_by_relation(
        self, at: str, relation: str, target: str, date: str | None = None
    ) -> list[str]:
        owners = self._facts.find(target)
        if not owners:
            raise UsageError(f"nothing is called {target!r}; search by name first.")
        when = _moment(date, at)
        found = [
            e
            for owner in owners
            for kind in sorted(self._kinds)
            for e in self._facts.sources(owner.id, relation, when, kind)
        ]
        return [e.name for e in found][:MAX_RESULTS]

    def _named(self, name: str) -> Entity:
        found = [e for e in self._facts.find(name) if e.kind in self._kinds]
        if not found:
            near = ", ".join(self.search_by_name("", name, 3))
            hint = f" Did you mean {near}?" if near else ""
            raise UsageError(f"nothing here is called {name[:200]!r}.{hint}")
        return found[0]

    def _schema(self, entity: Entity, key: str) -> Attribute:
        for attribute in attributes_of(entity.kind):
            if attribute.key == key:
                return attribute
        known = ", ".join(a.key for a in attributes_of(entity.kind))
        raise UsageError(f"a {entity.kind} has no attribute {key[:80]!r}. It has: {known}.")

    def _entry(self, attribute: Attribute, fact: Fact) -> dict[str, Any]:
        text = say_value(attribute, fact.value, self._facts)
        value = list(fact.value) if isinstance(fact.value, tuple) else fact.value
        return {
            "attribute": attribute.key,
            "value": text if attribute.is_relation else value,
            "text": text,
            "unit": fact.unit,
            "valid_from": fact.valid_from,
            "valid_to": fact.valid_to,
        }


def _moment(date: str | None, at: str) -> str:
    """A day alone means its noon; nothing means the time of asking."""
    if date is None:
        return at
    return f"{date}T12:00" if len(date) == 10 else date


def _string(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _one_of(values: list[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(dict.fromkeys(values))}
