"""What every template is made of: an occasion to draw from, and what it gives."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, NamedTuple

from mmrag.records import Record
from simulator.world.build.randomness import Draw
from simulator.world.crag.crag_world import CragWorld
from simulator.world.crag.questions.kg_proof import Proof


class PageNeed(NamedTuple):
    """A page answers what it needs when it says this of that."""

    name: str
    noun: str
    day: str = ""
    """The day for which it is said, where the question names one."""


class Drawn(Record, frozen=True, kw_only=True):
    """What a template makes of a draw."""

    query: str
    answer: str
    value: Any
    proof: Proof
    needs: tuple[PageNeed, ...]
    popularity: str
    others: tuple[str, ...] = ()


Make = Callable[["Occasion"], "Drawn | None"]


class QuestionTemplate(NamedTuple):
    """One way to ask, and what it is in CRAG's terms."""

    domain: str
    form: str
    dynamism: str
    make: Make


def templates(domain: str, *rows: tuple[str, str, Make]) -> tuple[QuestionTemplate, ...]:
    """The templates of a domain, from (form, dynamism, function)."""
    return tuple(QuestionTemplate(domain, form, dynamism, make) for form, dynamism, make in rows)


def days_of(iso: str) -> tuple[str, ...]:
    """A day in the other ways that people write it."""
    day = dt.date.fromisoformat(iso)
    return (iso, f"{day:%B} {day.day}, {day.year}")


class Occasion:
    """The stage as of a question, with that question's own randomness."""

    def __init__(self, world: CragWorld, draw: Draw, at: str) -> None:
        self.world = world
        self.facts = world.facts
        self.draw = draw
        self.at = at
        self.today = dt.date.fromisoformat(at[:10])
