"""All templates, enumerated: the grammar's operations over the catalogue's attributes."""

from __future__ import annotations

from functools import cache

from simulator.world.facts.catalogue import DOMAINS, HUB
from simulator.world.facts.fact_records import HUBS, Attribute, Domain
from simulator.world.facts.look import LABELLED
from simulator.world.language.questions import comparison, direct, gather, reason
from simulator.world.language.questions.asking import (
    Draft,
    Operation,
    Template,
    fastest,
    hub_of,
    kinds_with,
)
from simulator.world.language.voices.reading import Voice

OPERATIONS: dict[str, Operation] = {
    o.name: o
    for o in (
        *direct.OPERATIONS,
        *comparison.OPERATIONS,
        *gather.OPERATIONS,
        *reason.OPERATIONS,
    )
}

_OF_A_FIGURE = {"enough", "times", "convert"}
"""Operations to which a figure printed on the thing can be enough. Of what stands beside it the
print cannot be counted on."""

_OF_PRINT = {"label", "sublabel", "printed", "initials"}
"""Operations about the print itself."""

_NOT_OF_HUBS = {"sibling", "total-sharing", "years-between", "hop-against", "times", "budget"}
"""Operations that mix attributes of the subject and of its relations, or count copies of it."""


@cache
def templates() -> tuple[Template, ...]:
    """Every template of the thirteen domains, in a fixed order."""
    return tuple(t for d in DOMAINS.values() for t in _of(d, tuple(d.nouns)))


@cache
def hub_templates() -> tuple[Template, ...]:
    """Templates for people, companies and towns that a conversation has come to."""
    return tuple(t for kind in HUBS for t in _of(HUB, (kind,)))


def wordings(template: Template, draft: Draft, voice: Voice) -> tuple[str, ...]:
    """What a voice can say for a template filled in."""
    return OPERATIONS[template.operation].say(template, draft, voice)


def _of(domain: Domain, kinds: tuple[str, ...]) -> list[Template]:
    found: dict[str, Template] = {}
    for operation in OPERATIONS.values():
        if domain.name == HUB.name and (operation.pictured or operation.name in _NOT_OF_HUBS):
            continue
        for attributes in operation.keys(domain):
            if (
                domain.name == HUB.name
                and attributes[-1].is_relation
                and not hub_of(attributes[-1])
            ):
                continue
            own = _own(operation, domain, attributes)
            printed = operation.name in _OF_PRINT or (
                operation.name in _OF_A_FIGURE and _is_printed(domain, attributes)
            )
            fitting = tuple(
                k for k in kinds_with(domain, own) if k in kinds and (k in LABELLED or not printed)
            )
            if not fitting:
                continue
            template = Template(
                domain=domain.name,
                operation=operation.name,
                keys=tuple(a.key for a in attributes),
                query_type=operation.query_type,
                form=operation.form,
                dynamism="static" if operation.static else fastest(attributes),
                kinds=fitting,
                pictured=operation.pictured,
                visual=operation.query_type == "simple-recognition" or printed,
                legible=printed,
            )
            key = "/".join((template.id, *(fitting if domain.name == HUB.name else ())))
            found.setdefault(key, template)
    return list(found.values())


def _own(
    operation: Operation, domain: Domain, attributes: tuple[Attribute, ...]
) -> tuple[Attribute, ...]:
    """Those of the attributes that the subject itself must have: the others are of its hubs."""
    if domain.name == HUB.name and operation.name in ("hop", "far-hop"):
        return attributes[:1]
    return tuple(a for a in attributes if a in domain.attributes)


def _is_printed(domain: Domain, attributes: tuple[Attribute, ...]) -> bool:
    """Whether the print on the things in view is all that the answer needs."""
    printed = direct.printed_keys(domain)
    return bool(attributes) and all(a.key in printed and not a.is_relation for a in attributes)
