"""A question taken apart by trained heads: which program answers it, whose names it says."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from mmrag.agents.grounded.contextual_vectors import ContextualEncoder, WordVectorCache, mask_names
from mmrag.agents.grounded.passage_text import NAME
from mmrag.agents.grounded.question_plan import LOOKUP, QuestionPlan
from mmrag.agents.grounded.times_and_numbers import moment_in, numbers_in
from mmrag.agents.grounded.trained_heads import BEFORE, Weights, analyse_question, read_weights
from mmrag.agents.grounded.values import time_of_day
from mmrag.agents.reply_format import is_refusal
from mmrag.records import Exchange

POINTS = re.compile(r"\b(?:this|these|that|those|it|its|they|their|them|here)\b", re.I)
"""Words by which something is meant that the question does not name."""

_TRIED, _NEAR = 12, 0.8
"""Programs that are looked at, and from which share of the best one's probability another is as
good as it: of those the shortest is taken, since every step more can fail."""

_ANY_DAY = "2030-01-01"
"""As of which "last March" means some time: which one does not matter here."""

_COMPARES = re.compile(r"\b(?:than|more|less|as|[a-z]{3,}er)\b", re.I)
"""Words by which what is named is set beside something that is not."""


class Planner:
    """Plans questions, each with those before it."""

    def __init__(self, encoder: ContextualEncoder, weights: Weights | None = None) -> None:
        self._states = WordVectorCache(encoder)
        self._weights = weights

    def plan(self, text: str, history: Sequence[Exchange] = ()) -> QuestionPlan:
        """Take a question apart."""
        weights = self._weights or read_weights()
        plain = plan_as_lookup(text, history)
        judged = analyse_question(self._states, plain.masked, plain.before, weights)
        ranked = [(float(judged.programs[i]), i) for i in judged.programs.argsort()[::-1][:_TRIED]]
        found = [
            (sure, made)
            for sure, i in ranked
            if _can_be(made := _put(plain, weights.programs[i], sure))
        ]
        near = [made for sure, made in found if sure >= _NEAR * found[0][0]]
        return min(near, key=lambda made: len(made.program), default=plain)

    def talk(self, history: Sequence[Exchange]) -> list[QuestionPlan]:
        """What each of the wearer's earlier questions was taken for."""
        return [self.plan(one.query, history[:i]) for i, one in enumerate(history)]


def plan_as_lookup(text: str, history: Sequence[Exchange] = ()) -> QuestionPlan:
    """A plain look-up, whatever the question is."""
    masked, names = mask_names(text)
    before = tuple(mask_names(one.query).masked for one in reversed(history[-BEFORE:]))
    said = ((entity_in_reply(one.reply, one.query), one) for one in reversed(history))
    answer, one = next(((name, one) for name, one in said if name), ("", None))
    return QuestionPlan(
        question=text,
        program=LOOKUP,
        masked=masked,
        before=before,
        names=names,
        answer=answer,
        is_guess=one is not None and not mask_names(one.query).names,
    )


def entity_in_reply(reply: str, question: str) -> str:
    """The entity that a reply names: all of it, or its only name that is not in the question."""
    text = reply.strip().rstrip(".")
    if is_refusal(text):
        return ""
    if NAME.fullmatch(text):
        return text
    text = re.sub(r"^(?:It|That|This|The)\b", lambda m: m.group().lower(), text)
    names = [n for n in dict.fromkeys(m.group() for m in NAME.finditer(text)) if n not in question]
    return names[0] if len(names) == 1 else ""


def _put(plain: QuestionPlan, program: str, sure: float) -> QuestionPlan:
    """The plan with a program; what it names and does not point at is what it is about."""
    made = msgspec.structs.replace(plain, program=program, sure=round(sure, 4))
    if made.things == frozenset({"it"}) and plain.names and not POINTS.search(plain.masked):
        return msgspec.structs.replace(made, program=program.replace('"it"', '"named"'))
    return made


def _can_be(plan: QuestionPlan) -> bool:
    """Whether everything that a program is about, or takes from the question, is there."""
    said = plan.masked
    if '["number"]' in plan.program and not (numbers_in(said) or time_of_day(said)):
        return False
    if '["then"]' in plan.program and not moment_in(said, _ANY_DAY):
        return False
    if plan.things & {"other", "shop", "named"} and not plan.names:
        return False
    is_said = POINTS.search(plan.masked) or _COMPARES.search(plan.masked) or len(plan.names) > 1
    if plan.things >= {"it", "other"} and not is_said:
        return False
    if plan.things >= {"it", "named"} and not POINTS.search(plan.masked):
        return False
    return "answer" not in plan.things or bool(plan.answer)
