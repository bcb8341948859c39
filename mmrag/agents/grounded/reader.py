"""What the built-in reader finds: attributes of things in view, resolved from statements.

A `Reading` is one question being answered; operations (`operations.py`) are made of its steps.
"""

from __future__ import annotations

import datetime as dt
import math
import re

from mmrag.agents.grounded.desk import Desk
from mmrag.agents.grounded.matching import Match, Matcher
from mmrag.agents.grounded.plan import BESIDE, GROUP, NAMED, UNKNOWN, QuestionPlan, Subject
from mmrag.agents.grounded.scene import Candidate, Finding, Scene
from mmrag.agents.grounded.statements import Statement, fold
from mmrag.agents.grounded.values import Value
from mmrag.records import Record
from mmrag.search.web.words import words

_WEAKEST = 0.3
_WEAKEST_NOUN = 0.6
"""A noun phrase below this match is not what was asked for; higher where the question names it."""

_APART, _APART_NOUN = (0.16, 0.05), (0.35, 0.15)
"""A weaker match will do where it stands out: least match, least margin over the next."""

MEASURES = {
    "compare", "choose", "choose-then", "difference", "days-apart", "extreme", "filter", "count",
    "total", "average", "percent", "against-past", "change", "peak", "trough", "swing", "convert",
    "fits",     "times", "enough", "total-sharing", "extreme-sharing",
}  # fmt: skip
"""Operations on quantities: what is a name or a list is not what they ask for."""

_SCALES = {"real-time": 0.26, "today": 1.0, "current": 420.0}
"""Days after which a value that is asked for as of now is no longer worth much."""


class Found(Record, frozen=True, kw_only=True):
    """One attribute of one entity, decided."""

    value: Value
    noun: str
    recognition: float = 1.0
    match: float = 1.0
    margin: float = 1.0
    agreement: float = 1.0
    support: int = 1
    freshness: float = 1.0
    date: str = ""
    """Of when it is, where its source says so."""
    citations: tuple[str, ...] = ()
    steps: int = 1


class Reading:
    """One question being answered: the steps that operations are made of."""

    def __init__(self, matcher: Matcher, scene: Scene, desk: Desk, now: str) -> None:
        self.matcher = matcher
        self.scene = scene
        self.desk = desk
        self.now = now

    def entities(self, subject: Subject) -> list[Candidate]:
        """Whom a subject stands for."""
        if subject.kind == NAMED:
            sure = self.scene.main.confidence if subject.is_guess and self.scene.main else 1.0
            return [Candidate(name=subject.name, confidence=sure, source="question")]
        if subject.kind == BESIDE:
            return list(self.scene.beside[:1])
        main = [self.scene.main] if self.scene.main else []
        return [*main, *self.scene.beside] if subject.kind == GROUP else main

    def resolve(self, plan: QuestionPlan, subject: Subject | None = None) -> Found | None:
        """The attribute that a plan asks of its (or another) subject."""
        thing = subject or plan.subject
        candidates = self.entities(thing) if thing.kind != UNKNOWN else self.unnamed(plan)
        return self.of_entity(plan, candidates[0], thing) if candidates else None

    def unnamed(self, plan: QuestionPlan) -> list[Candidate]:
        """ "That town" after a question that was not answered: the thing in view where it is one,
        or else what the answer would have been."""
        main = self.scene.main
        if main is not None and plan.noun:
            self.desk.about(main.name)
            if self.desk.is_a(main.name, plan.noun):
                return [main]
        if plan.whom is None or plan.whom.subject.kind == UNKNOWN:
            return []
        found = self.resolve(plan.whom)
        if found is None or found.value.kind != "name":
            return []
        return [Candidate(name=found.value.text, confidence=found.recognition, source="question")]

    def of_entity(self, plan: QuestionPlan, entity: Candidate, thing: Subject) -> Found | None:
        """Follow the relations from an entity, then look the attribute up."""
        name = entity.name
        start = Value(kind="name", text=name)
        trail = Found(value=start, noun="", recognition=entity.confidence, steps=0)
        path, tail, ask = list(thing.path), thing.tail, plan.ask
        if path and plan.asks_noun:
            whole = "'s ".join([*path, tail])
            known = self.desk.about(name, whole)
            if any(_same_noun(s.noun, whole) for s in known):
                path, tail = [], whole
        elif path:
            whole, rest = self._relation(name, "'s ".join([*path, tail]))
            if whole:
                path, tail = [whole], rest
        for relation in self._merged(name, path):
            step = self.attribute(name, relation, plan, is_noun=True, names=True)
            if step is None:
                return None
            trail, name = joined(trail, step), step.value.text
        if tail and not plan.asks_noun:
            relation, rest = self._relation(name, tail)
            if relation:
                step = self.attribute(name, relation, plan, is_noun=True, names=True)
                if step is None:
                    return None
                trail, name, tail = joined(trail, step), step.value.text, rest
            ask = f"{ask} {tail}".strip()
        elif tail:
            ask = tail
        found = self.attribute(name, ask, plan, is_noun=plan.asks_noun)
        return joined(trail, found) if found else None

    def attribute(
        self, name: str, asked: str, plan: QuestionPlan, *, is_noun: bool, names: bool = False
    ) -> Found | None:
        """One attribute of a named entity, as of the time that the plan asks about."""
        statements = [s for s in self.desk.about(name, asked) if fold(s.value.text) != fold(name)]
        nouns: dict[str, Value] = {}
        for s in statements:
            nouns.setdefault(_noun_key(s.noun), s.value)
        if names:
            nouns = {n: v for n, v in nouns.items() if v.kind in ("name", "text")}
        elif plan.operation in MEASURES:
            nouns = {
                n: v for n, v in nouns.items() if v.kind in ("number", "year", "date", "clock")
            }
        bonus = {} if names else self._time_bonus(statements, plan)
        match = self.matcher.best(asked, nouns, is_noun=is_noun, bonus=bonus)
        if match is None or not _is_enough(match, is_noun):
            return None
        chosen = [s for s in statements if _noun_key(s.noun) == match.noun]
        return self.decide_among(chosen, plan, match.score, match.margin)

    def holds_relation(self, name: str, relation: str, owner: Found, plan: QuestionPlan) -> bool:
        """Whether the evidence on the desk says that a thing's relation is the owner."""
        del relation  # the owner was found under a noun phrase, which says it better
        stated = [s for s in self.desk.about_known(name) if _noun_key(s.noun) == owner.noun]
        said = self.decide_among(stated, plan, 1.0, 1.0)
        return said is not None and said.value.key == owner.value.key

    def _time_bonus(self, statements: list[Statement], plan: QuestionPlan) -> dict[str, float]:
        """Values that carry a date are what "today" asks for."""
        dated = {_noun_key(s.noun) for s in statements if s.is_dated}
        wants = plan.now in ("today", "real-time") or bool(plan.when)
        size = 0.1 if wants else -0.04 if not plan.now else 0.05
        return dict.fromkeys(dated, size)

    def _merged(self, name: str, path: list[str]) -> list[str]:
        """A relation whose own name has a possessive in it: "recipe's creator" is one step."""
        if len(path) < 2:
            return path
        whole = f"{path[0]}'s {path[1]}"
        if any(_same_noun(s.noun, whole) for s in self.desk.about(name, whole)):
            return [whole, *path[2:]]
        return path

    def _relation(self, name: str, tail: str) -> tuple[str, str]:
        """Split "chief designer write a thesis on" into a relation that is known and the rest."""
        known = {_noun_key(s.noun) for s in self.desk.about(name, tail) if s.value.kind == "name"}
        parts = tail.split()
        for size in range(min(len(parts), 6), 0, -1):
            head = " ".join(parts[:size])
            if any(words(head) == words(noun) for noun in known):
                return head, " ".join(parts[size:])
        return "", tail

    def decide_among(
        self, statements: list[Statement], plan: QuestionPlan, match: float, margin: float
    ) -> Found | None:
        """What statements of one attribute come to, as of the time that the plan asks about."""
        target = _midst(plan.when) or self.now
        dated = [s for s in statements if s.is_dated and s.date]
        freshness = 1.0
        pool = statements
        if dated and target:
            gaps = [(_days(s.date or "", target), s) for s in dated]
            past = [(g, s) for g, s in gaps if g >= -0.01] or (
                [(abs(g), s) for g, s in gaps] if plan.when else []
            )
            if past:
                nearest = min(g for g, _ in past)
                scale = _SCALES.get(plan.now, 420.0) if not plan.when else _when_scale(plan.when)
                pool = [s for g, s in past if g <= nearest + min(scale, 1.0) * 0.5]
                freshness = math.exp(-max(nearest, 0.0) / scale)
            elif not plan.when:
                pool = [s for s in statements if not s.is_dated] or statements
                freshness = 0.3
        elif plan.now in ("today", "real-time") or plan.when:
            freshness = 0.4
        votes: dict[str, list[Statement]] = {}
        for s in pool:
            votes.setdefault(s.value.key, []).append(s)
        stood = [s.value.key for s in dated]
        ranked = sorted(votes.items(), key=lambda kv: (-_weight(kv[1]), -stood.count(kv[0]), kv[0]))
        if not ranked:
            return None
        total = sum(_weight(v) for v in votes.values())
        winner = ranked[0][1]
        return Found(
            value=winner[0].value,
            noun=_noun_key(winner[0].noun),
            match=match,
            margin=margin,
            agreement=_weight(winner) / total,
            support=len({s.evidence for s in winner}),
            freshness=freshness,
            date=(winner[0].date or "") if winner[0].is_dated else "",
            citations=tuple(dict.fromkeys(s.evidence for s in winner))[:3],
        )


def _is_enough(match: Match, is_noun: bool) -> bool:
    score, margin = _APART_NOUN if is_noun else _APART
    apart = match.score >= score and match.margin >= margin
    return apart or match.score >= (_WEAKEST_NOUN if is_noun else _WEAKEST)


def _same_noun(a: str, b: str) -> bool:
    """ "gardeners' score" is "gardeners's score": a possessive was taken apart and put together."""
    return [w for w in fold(a).split() if w != "s"] == [w for w in fold(b).split() if w != "s"]


def finding(text: str, operation: str, *parts: Found, **more: float) -> Finding:
    """An answer that is as good as the weakest of its parts."""
    fields = {
        name: min((getattr(p, name) for p in parts), default=1.0)
        for name in ("recognition", "match", "margin", "agreement", "freshness")
    } | more
    return Finding(
        text=text,
        operation=operation,
        support=min((1 - 1 / (1 + p.support) for p in parts), default=0.5),
        steps=sum(p.steps for p in parts),
        citations=tuple(dict.fromkeys(c for p in parts for c in p.citations))[:5],
        **fields,
    )


def joined(trail: Found, step: Found) -> Found:
    """A step more: as good as the weakest."""
    return Found(
        value=step.value,
        noun=step.noun,
        recognition=min(trail.recognition, step.recognition),
        match=min(trail.match, step.match),
        margin=min(trail.margin, step.margin),
        agreement=min(trail.agreement, step.agreement),
        support=min(trail.support, step.support) if trail.steps else step.support,
        freshness=min(trail.freshness, step.freshness),
        date=step.date,
        citations=(*trail.citations, *step.citations),
        steps=trail.steps + step.steps,
    )


def _weight(statements: list[Statement]) -> float:
    """Votes: a source counts once. Copies of a page are told apart by their ids only, so votes
    grow with the root of their number."""
    return math.sqrt(len({s.evidence for s in statements}))


def _noun_key(noun: str) -> str:
    return re.sub(r"^(?:(?:live|current|today's|last known)\s+)+", "", noun.casefold())


def _midst(when: str) -> str:
    """The middle of the year, month or day that a question names; a minute is its own."""
    return when + {4: "-07-01T12:00", 7: "-15T12:00", 10: "T12:00"}.get(len(when), "")


def _when_scale(when: str) -> float:
    """Days after which a value says little of a year or month, of a day, of a minute."""
    return {4: 300.0, 7: 300.0, 10: 1.0}.get(len(when), 0.26)


def _days(earlier: str, later: str) -> float:
    """Days from one ISO time to another; a date without time means that day."""
    a, b = _time(earlier), _time(later)
    if a is None or b is None:
        return 10_000.0
    if len(earlier) <= 10 and earlier[:10] == later[:10]:
        return 0.0
    return (b - a).total_seconds() / 86_400


def _time(text: str) -> dt.datetime | None:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=None)
