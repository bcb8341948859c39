"""Lines of pages made of the voices' sentences, with what they state and where its value stands."""

from __future__ import annotations

import re
from typing import NamedTuple

from simulator.world.build.randomness import Draw
from simulator.world.facts.domain_schema import Attribute, attributes_of, domain_of_kind
from simulator.world.facts.fact_wording import say_value
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.look import KINDS as BY_DOMAIN
from simulator.world.language.voices.voice_reader import Voice
from simulator.world.pages.page_writer import say_time

HUBS = ("person", "company", "town")
KINDS = (*(kind for kinds in BY_DOMAIN.values() for kind in kinds), *HUBS)
_DATED = re.compile(r" \(\{d\}\)(?=: \{v\}$)")
"""A row's date, which is taken off a row before it is read."""


class Stated(NamedTuple):
    """One line about a thing, which is called "It" there."""

    text: str
    start: int
    end: int
    """Where the value stands; 0 and 0 where the line states nothing."""


Bank = dict[tuple[str, str], list[Stated]]
"""Kind and attribute → lines that state it."""


def bank(voice: Voice | None, facts: FactBase) -> Bank:
    """Every way in which an author (or nobody's plain words) states each attribute, once."""
    return {
        (kind, a.key): _lines(voice, kind, a, facts) for kind in KINDS for a in attributes_of(kind)
    }


def chatter(voice: Voice) -> list[Stated]:
    """What an author's pages, and any site's, say besides: it states nothing."""
    parts = ("chatter", "leads", "headings", "titles")
    said = {t for of in voice.pages.values() for part in parts for t in of.get(part, ())}
    plain = sorted(t.replace("{x}", "It").replace("{noun}", "thing") for t in said)
    return [Stated(text, 0, 0) for text in (*plain, *_FURNITURE)]


_FURNITURE = (
    "2026-12-30 · #10", "2031-02-14 · #1", "Quote Report Like (3)", "References", "Subscribe",
    "- Regional survey, volume 12, page 304.", "- Private collection, inventory card 252.",
    "This page was last edited on 4 May 2030.", "Delivery in two to four working days.",
    "Page as of 4 May 2030.", "Errors and changes reserved.", "Page 1 of 3 · 120 views",
    "You have 3 free articles left this month.", "Last activity 2 April 2031",
    "★★★☆☆ 41 ratings · Article number 3802", "oldbucket41", "quietfox7", "Tag: It",
    "Also known as Alder Brook.", "Also known as Mallory, Dora Finch.", "It near me, It best",
    "Mattresses at half price until Sunday.", "Holiday flats from nine a night.", "See also",
    "Compare electricity in your area and switch in five minutes.", "question about It",
)  # fmt: skip


def _lines(voice: Voice | None, kind: str, attribute: Attribute, facts: FactBase) -> list[Stated]:
    domain = domain_of_kind(kind).name
    frames = [f"The {attribute.noun} of {{x}} is {{v}}."]
    if voice is not None:
        said = voice.wording(domain, attribute)
        frames = [*said.page, f"{said.noun[0].upper()}{said.noun[1:]}: {{v}}"]
    return [_stated(frame, domain, kind, attribute, facts) for frame in dict.fromkeys(frames)]


def _stated(frame: str, domain: str, kind: str, attribute: Attribute, facts: FactBase) -> Stated:
    """A frame filled; the same frame of kinds that share it is filled alike."""
    draw = Draw("lines", domain, attribute.key, attribute.value, frame)
    at = facts.window[0]
    pool = [e for e in facts.of_kind(kind) if facts.value(e.id, attribute.key, at) is not None]
    value = say_value(attribute, facts.value(draw.pick(pool).id, attribute.key, at), facts)
    text = _DATED.sub("", frame).replace("{xs}", "It's").replace("{x}", "It")
    text = text.replace("{d}", say_time(at, with_hour=attribute.dynamism == "real-time"))
    start = text.index("{v}")
    return Stated(text.replace("{v}", value), start, start + len(value))
