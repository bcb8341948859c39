"""What stands beside the things asked about: which sessions have rivals in view, and how many.

Shares are quotas, as those of questions are: a world has as many ambiguous pictures as it declares.
"""

from __future__ import annotations

from collections.abc import Sequence

from mmrag.records import Record
from simulator.world.build.randomness import Draw
from simulator.world.build.request import Request
from simulator.world.facts.factbase import FactBase
from simulator.world.language.questions.question_records import Conversation
from simulator.world.language.session_plans import quota
from simulator.world.pictures.referents import AMBIGUOUS

_LOOK_ALIKE = 0.5
"""How often a rival is of the same family; else it is any other of the kind."""


class Company(Record, frozen=True):
    """How the thing asked about is to be told from what else is in view."""

    way: str = "alone"
    """As `Question.settled_by`, or `AMBIGUOUS` on purpose."""
    rivals: tuple[str, ...] = ()
    """Things that nothing is asked about and that the words could mean."""


ALONE = Company()


def plan_company(
    sessions: Sequence[Conversation], facts: FactBase, request: Request
) -> dict[str, Company]:
    """Session → its company; those whose questions speak of neighbours bring their own.

    The sessions are those of one set whose pictures are egocentric.
    """
    free = [s.id for s in sessions if len(s.visible) == 1 and s.questions[0].means]
    order = Draw(facts.seed, "company").shuffled(sorted(free))
    shares = dict(request.difficulty.settled)
    shares["attention"] = shares.get("attention", 0.0) + shares.pop("words", 0.0)
    ways = [way for way, n in quota(shares, len(order)).items() for _ in range(n)]
    by_id = {session.id: session for session in sessions}
    return {
        name: Company(way, _rivals(by_id[name], facts, request.difficulty.rivals, way))
        for name, way in zip(order, ways, strict=True)
        if way != "alone" and request.difficulty.rivals
    }


def _rivals(session: Conversation, facts: FactBase, most: int, way: str) -> tuple[str, ...]:
    main = facts.entity(session.entity_id)
    draw = Draw(facts.seed, "rivals", session.id)
    family = [e.id for e in facts.family(main) if e.id != main.id]
    others = [e.id for e in facts.of_kind(main.kind) if e.id != main.id]
    count = 1 if way == AMBIGUOUS else draw.between(1, most)
    chosen: dict[str, None] = {}
    for _ in range(count):
        pool = family if family and draw.chance(_LOOK_ALIKE) else others
        if pool := [i for i in pool if i not in chosen]:
            chosen[draw.pick(pool)] = None
    return tuple(chosen)
