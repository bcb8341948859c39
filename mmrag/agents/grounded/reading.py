"""What the built-in reader finds: an attribute is the value whose line fits the question best."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence

import msgspec

from mmrag.agents.grounded.desk import Desk
from mmrag.agents.grounded.heads import Weights, fits, judge, read_weights, value_in
from mmrag.agents.grounded.lines import Line
from mmrag.agents.grounded.plan import QuestionPlan
from mmrag.agents.grounded.recent_results import RecentResults
from mmrag.agents.grounded.scene import Candidate, Finding, Scene
from mmrag.agents.grounded.statements import fold
from mmrag.agents.grounded.states import Contextual, States
from mmrag.agents.grounded.values import DATE, Value, read_value
from mmrag.records import Record
from mmrag.search.web.words import words

_READ = 64
"""Most lines that are looked at closely: those that share words with the question first."""

_NEAR = 2.0
"""How much worse than the best a line may fit and still be read as saying the same."""

_LEAST = -2.0
"""A worse fit is no answer: at 0 saying nothing is as probable; how sure to be is weighed later."""

_STALE = 420.0
"""Days after which a value that is asked for as of now is no longer worth much."""

_KEPT = 8192


class Found(Record, frozen=True, kw_only=True):
    """One attribute of one entity, or what was made of several, decided."""

    value: Value
    recognition: float = 1.0
    match: float = 1.0
    margin: float = 1.0
    agreement: float = 1.0
    support: int = 1
    freshness: float = 1.0
    luck: float = 0.0
    citations: tuple[str, ...] = ()
    steps: int = 1


class Place(Record, frozen=True, kw_only=True):
    """A value in its line, and how well the line states what is asked."""

    line: Line
    value: Value
    fit: float


class Fitting:
    """Fits lines to questions, and finds the values in them."""

    def __init__(self, encoder: Contextual, weights: Weights | None = None) -> None:
        self._states = States(encoder)
        self._weights = weights
        self._values: RecentResults[str, Value] = RecentResults(_KEPT)

    def places(self, plan: QuestionPlan, slot: int, lines: Sequence[Line]) -> list[Place]:
        """The lines with their values, the best first."""
        weights = self._weights or read_weights()
        asked = judge(self._states, plan.masked, plan.before, weights).slots[slot]
        seen = self._states.of([line.text for line in lines])
        fit = fits(asked, seen, weights)
        ranked = sorted(zip(fit, lines, seen, strict=True), key=lambda f: (-f[0], f[1].text))
        found: list[Place] = []
        for score, line, state in ranked:
            if score < ranked[0][0] - 2 * _NEAR and len(found) > 1:
                break
            value = self._values.get(line.text)
            if value is None:
                start, end = line.value or value_in(line.text, state, weights)
                for date in DATE.finditer(line.text):
                    if date.start() < end and start < date.end():
                        start, end = min(start, date.start()), max(end, date.end())
                value = stated(line.text[start:end])
                self._values.put(line.text, value)
            if value.kind == "date" and len(DATE.findall(line.text)) == 1:
                line = msgspec.structs.replace(line, is_dated=False)  # the value is the date itself
            found.append(Place(line=line, value=value, fit=score))
        return found


class Reading:
    """One question being answered: the steps that programs are made of."""

    def __init__(
        self, fitting: Fitting, plan: QuestionPlan, scene: Scene, desk: Desk, now: str
    ) -> None:
        self.plan = plan
        self.scene = scene
        self.desk = desk
        self.now = now
        self._fitting = fitting

    def entities(self, thing: str) -> list[Candidate]:
        """Whom a word of a program stands for."""
        plan, main = self.plan, self.scene.main
        if thing == "answer":
            sure = main.confidence if plan.is_guess and main else 1.0
            return [Candidate(name=plan.answer, confidence=sure, source="question")]
        if thing in ("other", "shop", "named") or (thing == "it" and main is None):
            place = -1 if thing == "other" else 0
            named = plan.names[place : place + 1 or None]
            return [Candidate(name=n, confidence=1.0, source="question") for n in named]
        if thing == "next":
            return list(self.scene.beside[:1])
        beside = {"both": self.scene.beside[:1], "these": self.scene.beside}.get(thing, ())
        return [*([main] if main else []), *beside]

    def attribute(self, entity: Candidate, slot: int, when: str = "") -> Found | None:
        """One attribute of an entity, now or as of another time."""
        lines = self.desk.lines(entity.name, self.plan.masked)
        found = self._best(entity.name, slot, lines, when)
        if found is None:
            return None
        return msgspec.structs.replace(found, recognition=entity.confidence)

    def sharing(self, owner: Found, slot: int) -> list[tuple[str, Found]]:
        """Things of which some page says that they have the same owner."""
        name = owner.value.text
        found: list[tuple[str, Found]] = []
        for other in self.desk.sharing(name, self.plan.masked):
            said = self._best(other, slot, self.desk.known_lines(other), "")
            if said is not None and fold(said.value.text) == fold(name):
                found.append((other, said))
        return found

    def _best(self, name: str, slot: int, lines: Sequence[Line], when: str) -> Found | None:
        if not lines:
            return None
        places = self._fitting.places(self.plan, slot, self._likely(lines))
        places = [p for p in places if p.value.key and fold(p.value.text) != fold(name)]
        if not places or places[0].fit <= _LEAST:
            return None
        best = places[0]
        near = [p for p in places if p.fit > best.fit - _NEAR and p.value.kind == best.value.kind]
        rival = next((p for p in places if p.value.key != best.value.key), None)
        margin = 0.5 if rival is None else min(0.5, (best.fit - rival.fit) / 8)
        match = min(1 / (1 + math.exp(-best.fit)), self.plan.sure)
        agreement = 1.0
        if not best.line.is_dated:
            near, agreement = _strongest(near)
        else:
            near = [p for p in near if p.line.is_dated]
        found = self._decided(near, when, match, margin)
        return found and msgspec.structs.replace(found, agreement=min(found.agreement, agreement))

    def _likely(self, lines: Sequence[Line]) -> list[Line]:
        """The lines worth looking at."""
        unique = list({(x.text, x.evidence): x for x in lines}.values())
        texts = list(dict.fromkeys(x.text for x in unique))
        if len(texts) <= _READ:
            return unique
        wanted = set(words(self.plan.masked))
        texts.sort(key=lambda t: (-len(wanted & set(words(t))), t))
        chosen = set(texts[:_READ])
        return [x for x in unique if x.text in chosen]

    def _decided(
        self, places: Sequence[Place], when: str, match: float, margin: float
    ) -> Found | None:
        """What lines about one attribute come to, as of the time that is asked about."""
        target = _midst(when) or self.now
        dated = [p for p in places if p.line.is_dated and p.line.date]
        freshness, pool = 1.0, list(places)
        if dated and target:
            gaps = [(_days(p.line.date or "", target), p) for p in dated]
            past = [(g, p) for g, p in gaps if g >= -0.01]
            if past:
                nearest = min(g for g, _ in past)
                pool = [p for g, p in past if g <= nearest + 0.5]
                freshness = math.exp(-max(nearest, 0.0) / _STALE)
            else:
                pool = [p for p in places if not p.line.is_dated] or list(places)
                freshness = 0.3
        votes: dict[str, list[Place]] = {}
        for p in pool:
            votes.setdefault(p.value.key, []).append(p)
        stood = [p.value.key for p in dated]
        ranked = sorted(votes.items(), key=lambda kv: (-_weight(kv[1]), -stood.count(kv[0]), kv[0]))
        if not ranked:
            return None
        winner = ranked[0][1]
        return Found(
            value=winner[0].value,
            match=match,
            margin=margin,
            agreement=_weight(winner) / sum(_weight(v) for v in votes.values()),
            support=len({p.line.evidence for p in winner}),
            freshness=freshness,
            citations=tuple(dict.fromkeys(p.line.evidence for p in winner))[:3],
        )


def stated(text: str) -> Value:
    """What a value that a page states means, in the page's words: "3 for the price of 2"."""
    value = read_value(text)
    return msgspec.structs.replace(value, text=text) if value.kind == "number" else value


def joined(value: Value, *parts: Found, luck: float = 0.0) -> Found:
    """What is made of several: as good as the weakest."""
    fields = {
        name: min((getattr(p, name) for p in parts), default=1.0)
        for name in ("recognition", "match", "margin", "agreement", "freshness")
    }
    return Found(
        value=value,
        luck=luck,
        support=min((p.support for p in parts), default=1),
        citations=tuple(dict.fromkeys(c for p in parts for c in p.citations)),
        steps=sum(p.steps for p in parts),
        **fields,
    )


def finding(text: str, plan: QuestionPlan, found: Found) -> Finding:
    """An answer in words, with what speaks for it."""
    return Finding(
        text=text,
        operation=plan.operation,
        recognition=found.recognition,
        match=found.match,
        margin=found.margin,
        agreement=found.agreement,
        luck=found.luck,
        support=1 - 1 / (1 + found.support),
        freshness=found.freshness,
        steps=found.steps,
        citations=found.citations[:5],
    )


def _strongest(near: Sequence[Place]) -> tuple[list[Place], float]:
    """The places of the value that fits best in all, each source counted once, and its share."""
    votes: dict[str, dict[str, float]] = {}
    for place in near:
        votes.setdefault(place.value.key, {}).setdefault(
            place.line.evidence, math.exp(place.fit - near[0].fit)
        )
    weights = {value: sum(of.values()) for value, of in votes.items()}
    best = max(weights, key=lambda v: (weights[v], v))
    return [p for p in near if p.value.key == best], weights[best] / sum(weights.values())


def _weight(places: Sequence[Place]) -> float:
    """Votes: a source counts once. Copies of a page are told apart by their ids only, so votes
    grow with the root of their number."""
    return math.sqrt(len({p.line.evidence for p in places}))


def _midst(when: str) -> str:
    """The middle of the year, month or day that a question names; a minute is its own."""
    return when + {4: "-07-01T12:00", 7: "-15T12:00", 10: "T12:00"}.get(len(when), "")


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
        return dt.datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None
