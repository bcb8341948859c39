"""The two ways to plan and to read: learned from voices, or by rules made for this world."""

from __future__ import annotations

from collections.abc import Callable

from mmrag.agents.grounded.extractive import ExtractiveReader
from mmrag.agents.grounded.forms import plan_question
from mmrag.agents.grounded.grammar import Talk
from mmrag.agents.grounded.learned.planner import LearnedPlanner
from mmrag.agents.grounded.learned.reading import LearnedReader
from mmrag.agents.grounded.learned.states import Contextual
from mmrag.agents.grounded.matching import Matcher
from mmrag.agents.grounded.plan import QuestionPlan

Plan = Callable[[str, Talk, str | None], QuestionPlan]
"""Takes a question apart, given what the conversation settles and the time."""


def planner_of(way: str, encoder: Contextual | None) -> Plan:
    """`rules`, or the learned planner where there is an encoder for it."""
    return plan_question if way == "rules" or encoder is None else LearnedPlanner(encoder).plan


def reader_of(way: str, encoder: Contextual | None) -> ExtractiveReader:
    """`rules`, or the learned reader where there is an encoder for it."""
    if way == "rules" or encoder is None:
        return ExtractiveReader(Matcher(encoder))
    return LearnedReader(encoder)
