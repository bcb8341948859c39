"""The learned reader: an attribute is the value whose place on a page fits the question best."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from mmrag.agents.grounded.desk import Desk
from mmrag.agents.grounded.extractive import ExtractiveReader
from mmrag.agents.grounded.learned.cues import NAMES, NUMBERS, answering
from mmrag.agents.grounded.learned.fitting import Fitting, Place
from mmrag.agents.grounded.learned.heads import Weights
from mmrag.agents.grounded.learned.lines import Line
from mmrag.agents.grounded.learned.states import Contextual
from mmrag.agents.grounded.matching import Matcher
from mmrag.agents.grounded.plan import QuestionPlan, Subject
from mmrag.agents.grounded.reader import MEASURES, Found, Reading, joined
from mmrag.agents.grounded.scene import Candidate, Scene
from mmrag.agents.grounded.statements import Statement, fold
from mmrag.agents.grounded.values import Value, read_value
from mmrag.search.web.words import words

_READ = 32
"""Most lines that are read word by word: what is unlike the question is not."""

_NEAR = 2.0
"""How much worse than the best a place may fit and still be read as saying the same attribute."""

_LEAST, _APART = 0.0, 0.05
"""Fits below the first are no answer: 0 is where saying nothing is as probable. Nor is what stands
out from the next value by less than the second."""

_LEAST_ALONE, _ALONE = -0.5, 0.3
"""A weaker fit will do where nothing else comes near it: least fit, least margin."""


class LearnedReader(ExtractiveReader):
    """Answers plans from lines of pages by fit."""

    def __init__(self, encoder: Contextual, weights: Weights | None = None) -> None:
        super().__init__(Matcher())
        self._fitting = Fitting(encoder, weights)

    def reading(self, scene: Scene, desk: Desk, now: str) -> Reading:
        """The steps that operations are made of: here by fit."""
        return LearnedReading(self._fitting, scene, desk, now)


class LearnedReading(Reading):
    """The steps of operations, taken by fit in place of noun phrases."""

    def __init__(self, fitting: Fitting, scene: Scene, desk: Desk, now: str) -> None:
        super().__init__(Matcher(), scene, desk, now)
        self._fitting = fitting

    def of_entity(self, plan: QuestionPlan, entity: Candidate, thing: Subject) -> Found | None:
        """Follow the relations from an entity, then look the attribute up."""
        name = entity.name
        trail = Found(
            value=Value(kind="name", text=name), noun="", recognition=entity.confidence, steps=0
        )
        for relation in thing.path:
            step = self.attribute(name, relation, plan, is_noun=True, names=True)
            if step is None:
                return None
            trail, name = joined(trail, step), step.value.text
        asked = " ".join(x for x in (plan.ask, thing.tail) if x)
        found = self.attribute(name, asked, plan, is_noun=False)
        return joined(trail, found) if found else None

    def attribute(
        self, name: str, asked: str, plan: QuestionPlan, *, is_noun: bool, names: bool = False
    ) -> Found | None:
        """One attribute of a named entity, as of the time that the plan asks about."""
        del is_noun  # nouns and questions fit alike
        return self._best(name, asked, plan, self.desk.lines(name, asked), names=names)

    def holds_relation(self, name: str, relation: str, owner: Found, plan: QuestionPlan) -> bool:
        """Whether the evidence on the desk says that a thing's relation is the owner."""
        said = self._best(name, relation, plan, self.desk.known_lines(name), names=True)
        return said is not None and fold(said.value.text) == fold(owner.value.text)

    def _best(
        self, name: str, asked: str, plan: QuestionPlan, lines: Sequence[Line], *, names: bool
    ) -> Found | None:
        if not asked or not lines:
            return None
        kinds = (
            NAMES if names else NUMBERS if plan.operation in MEASURES else answering(plan.question)
        )
        question = "" if names or plan.subject.path or plan.operation != "lookup" else plan.question
        own = fold(name)
        places = [
            p
            for p in self._fitting.places(asked, self._likely(asked, lines), kinds, question)
            if fold(p.span.text) not in (own, "")
        ]
        if not places:
            return None
        near = [
            p
            for p in places
            if p.fit > places[0].fit - _NEAR and p.span.kind == places[0].span.kind
        ]
        match, margin = _sureness(places)
        if margin < _APART or places[0].fit <= (_LEAST_ALONE if margin >= _ALONE else _LEAST):
            return None
        agreement = 1.0
        if not places[0].line.is_dated:
            near, agreement = _strongest(near)
        statements = [_statement(name, p) for p in near]
        found = self.decide_among(statements, plan, min(match, plan.sure), margin)
        return found and msgspec.structs.replace(found, agreement=min(found.agreement, agreement))

    def _likely(self, asked: str, lines: Sequence[Line]) -> list[Line]:
        """The lines worth reading: they share words or hold the kind of value asked for."""
        unique = list({(x.text, x.evidence): x for x in lines}.values())
        texts = {x.text for x in unique}
        if len(texts) <= _READ:
            return unique
        kinds = self._fitting.kinds(asked)
        wanted = set(words(asked))

        def weight(text: str, line: Line) -> float:
            shared = wanted & set(words(text))
            kind = max((kinds[s.kind] for s in line.spans), default=0.0)
            return 2 * len(shared) / (1 + len(wanted)) + kind

        by_text = {x.text: x for x in unique}
        best = sorted(texts, key=lambda t: (-weight(t, by_text[t]), t))[:_READ]
        chosen = set(best)
        return [x for x in unique if x.text in chosen]


def _strongest(near: Sequence[Place]) -> tuple[list[Place], float]:
    """The places of the value that fits best in all, each source counted once, and its share."""
    votes: dict[str, dict[str, float]] = {}
    for place in near:
        votes.setdefault(fold(place.span.text), {}).setdefault(
            place.line.evidence, math.exp(place.fit - near[0].fit)
        )
    weights = {value: sum(of.values()) for value, of in votes.items()}
    best = max(weights, key=lambda v: (weights[v], v))
    return [p for p in near if fold(p.span.text) == best], weights[best] / sum(weights.values())


def _sureness(places: Sequence[Place]) -> tuple[float, float]:
    """How probable the best value is beside nothing, and how far it is from the next value."""
    best = places[0]
    same = fold(best.span.text)
    match = 1 / (1 + math.exp(-best.fit))
    rival = next((p for p in places if fold(p.span.text) != same), None)
    margin = 0.5 if rival is None else min(0.5, (best.fit - rival.fit) / 8)
    return match, margin


def _statement(name: str, place: Place) -> Statement:
    value = read_value(place.span.text)
    if place.span.kind == "name" and value.kind != "name":
        value = Value(kind="name", text=place.span.text)
    elif value.kind == "number":
        value = msgspec.structs.replace(value, text=place.span.text)
    return Statement(
        subject=name,
        noun="",
        value=value,
        date=place.line.date,
        is_dated=place.line.is_dated,
        evidence=place.line.evidence,
        source=place.line.source,
    )
