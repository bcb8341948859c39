"""The same question in other words: the wordings of its template, filled as it was filled."""

from __future__ import annotations

import calendar
import re
from functools import cache
from typing import Any

from mmrag.records import Turn
from simulator.wearer.sight import kind_of
from simulator.world.language.questions.asking import Draft, Template, possessive
from simulator.world.language.questions.operations_by_attribute import (
    hub_templates,
    templates,
    wordings,
)
from simulator.world.language.questions.phrases import noun_of, plural_of
from simulator.world.language.voices.reading import voice as voice_of

_SLOT = re.compile(r"\{(\w+)\}")
_MONTH = "|".join(calendar.month_name[1:])
_VALUES = {
    "when": rf"(?:in |on )?(?:\d{{1,2}} )?(?:{_MONTH})(?: \d{{4}})?(?: at [^ ?]+(?: [ap]m)?)?",
    "way": "higher|lower",
    "state": "still be open|already be closed",
}
"""What may stand in a slot, where that is known; else it would begin within the slot before it."""


def other_wordings(turn: Turn, voice: str, *, in_view: bool, name: str = "") -> tuple[str, ...]:
    """Every other way of a voice to ask what a turn asks, in a fixed order; empty where there is
    none, as for a world that is in nobody's words.

    `in_view`: the question is about what the wearer looks at, so that "this" says what is meant.
    `name` is what the question is about; it is said again only where the question says it.
    """
    template = _template(turn)
    if template is None or not voice:
        return ()
    kind = _kind(turn)
    known = {"noun": noun_of(kind), "plural": plural_of(kind)}
    ways, found, own = (), dict[str, str](), ""
    for larger in (True, False):  # the two ask for the opposite
        ways = wordings(template, Draft(program=[], larger=larger), voice_of(voice))
        fitting = ((way, _filled(way, turn.query)) for way in ways)
        own, found = next(
            ((w, s) for w, s in fitting if s is not None and _is_subject(s, known["noun"])),
            ("", {}),
        )
        if own:
            break
    if not own and template.operation != "attribute":
        return ()  # what stands in its slots, and which way it asks, cannot be known
    subject = f"this {known['noun']}" if in_view else found.get("x", "")
    if not subject and name and name in turn.query:
        subject = name
    if not subject and any("{x" in way for way in ways):
        return ()
    slots = {**found, **known, "x": subject, "xs": possessive(subject)}
    said = [_fill(way, slots) for way in ways if way != own]
    return tuple(text for text in dict.fromkeys(said) if text and text != turn.query)


def _is_subject(slots: dict[str, str], noun: str) -> bool:
    """Whether what stands for the subject is one: "it", "this lamp", a name."""
    said = slots.get("x", "it")
    return said in ("it", "this", "that", f"this {noun}", f"that {noun}") or said[0].isupper()


def _template(turn: Turn) -> Template | None:
    name, kind = str(turn.extra.get("template", "")), _kind(turn)
    return next((t for t in _by_id().get(name, ()) if kind in t.kinds), None)


def _kind(turn: Turn) -> str:
    return kind_of(str(turn.extra.get("entity_id", "")))


@cache
def _by_id() -> dict[str, tuple[Template, ...]]:
    found: dict[str, tuple[Template, ...]] = {}
    for template in (*templates(), *hub_templates()):
        found[template.id] = (*found.get(template.id, ()), template)
    return found


def _filled(way: str, text: str) -> dict[str, str] | None:
    """What stands in the slots of a wording, if the text is that wording filled in."""
    match = _regex(way).fullmatch(text)
    if match is None:
        return None
    found = {name: value for name, value in match.groupdict().items() if value}
    if "xs" in found:
        found["x"] = _owner(found.pop("xs"))
    if "x" in found and found["x"].split()[0] in ("This", "That", "It"):
        found["x"] = found["x"][0].lower() + found["x"][1:]
    return found


@cache
def _regex(way: str) -> re.Pattern[str]:
    seen = set[str]()

    def slot(match: re.Match[str]) -> str:
        name = match[1]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>{_VALUES.get(name, '.+?')})"

    parts = re.split(r"(\{\w+\})", way)
    body = "".join(_SLOT.sub(slot, p) if _SLOT.fullmatch(p) else re.escape(p) for p in parts)
    return re.compile(rf"(?:[^?]*?[,:] |so )?(?i:{body})\??", re.DOTALL)


def _owner(possessed: str) -> str:
    if possessed.lower() == "its":
        return "it"
    return possessed.removesuffix("s").removesuffix("'") if "'" in possessed[-2:] else possessed


def _fill(way: str, slots: dict[str, Any]) -> str:
    if set(_SLOT.findall(way)) - slots.keys():
        return ""
    text = _SLOT.sub(lambda match: slots[match[1]], way)
    return text[0].upper() + text[1:] + "?"
