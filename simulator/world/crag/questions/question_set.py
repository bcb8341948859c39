"""Questions about a world in CRAG's forms: eight question types, four dynamisms, five domains.

Each is drawn with its answer from the stage, and with the proof by which the KG gives the same
answer. A template that meets no single answer (a tie, nothing there yet) draws again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

from mmrag.errors import DataError, UsageError
from mmrag.records import Record
from simulator.world.build.randomness import Draw
from simulator.world.crag.crag_world import CragWorld
from simulator.world.crag.questions.finance import FINANCE
from simulator.world.crag.questions.kg_proof import Proof
from simulator.world.crag.questions.movie import MOVIE
from simulator.world.crag.questions.music import MUSIC
from simulator.world.crag.questions.open_domain import OPEN
from simulator.world.crag.questions.sports import SPORTS
from simulator.world.crag.questions.templates import Drawn, Occasion, PageNeed, QuestionTemplate

FORMS = (
    "simple", "simple_w_condition", "set", "comparison", "aggregation", "multi-hop",
    "post-processing", "false_premise",
)  # fmt: skip
DOMAINS = ("finance", "sports", "music", "movie", "open")
_TRIES, _EACH = 80, 8
"""Draws of a question in all, and of each template before another takes its place."""


class CragQuestion(Record, frozen=True, kw_only=True):
    """A question, its answer, and why that is the answer."""

    id: str
    query: str
    at: str
    """ISO time of asking."""
    domain: str
    form: str
    dynamism: str
    popularity: str
    """head, torso or tail of a KG question; empty of a web question."""
    answer: str
    others: tuple[str, ...] = ()
    value: Any
    """What the proof has to come to."""
    proof: Proof
    needs: tuple[PageNeed, ...]


def ask_questions(world: CragWorld, count: int, seed: int = 0) -> Iterator[CragQuestion]:
    """So many questions: templates in turn, so that every form and dynamism comes about."""
    if count < 1:
        raise UsageError(f"{count} questions: ask for one at least.")
    asked: set[str] = set()
    order = Draw(world.facts.seed, "crag", seed).shuffled(
        (*FINANCE, *SPORTS, *MUSIC, *MOVIE, *OPEN)
    )
    for number in range(count):
        for again in range(_TRIES):  # where all of a template are asked, the next has its turn
            template = order[(number + again // _EACH) % len(order)]
            draw = Draw(world.facts.seed, "crag", seed, number, again)
            scene = Occasion(world, draw, _time(world, draw))
            drawn = _made(template, scene)
            if drawn is not None and drawn.query not in asked:
                asked.add(drawn.query)
                yield _asked(f"q{seed}-{number:05d}", template, scene, drawn)
                break


def _made(template: QuestionTemplate, scene: Occasion) -> Drawn | None:
    try:
        return template.make(scene)
    except (DataError, IndexError):  # nothing of the kind, or no single answer
        return None


def _asked(id_: str, template: QuestionTemplate, scene: Occasion, drawn: Drawn) -> CragQuestion:
    from_kg = scene.draw.chance(0.45)  # the published share of KG questions: 1,984 of 4,409
    return CragQuestion(
        id=id_,
        query=drawn.query,
        at=scene.at,
        domain=template.domain,
        form=template.form,
        dynamism=template.dynamism,
        popularity=drawn.popularity if from_kg else "",
        answer=drawn.answer,
        others=tuple(text for text in dict.fromkeys(drawn.others) if text != drawn.answer),
        value=drawn.value,
        proof=drawn.proof,
        needs=drawn.needs,
    )


def _time(world: CragWorld, draw: Draw) -> str:
    """A moment of the three days on which people ask."""
    day = world.today + dt.timedelta(days=draw.below(3))
    return f"{day}T{draw.between(7, 22):02d}:{draw.below(60):02d}:{draw.below(60):02d}"
