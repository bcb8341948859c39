"""What the built-in reader finds: an attribute is the value whose line fits the question best."""

from __future__ import annotations

import datetime as dt
import math
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from mmrag.agents.grounded.bounded_cache import BoundedCache
from mmrag.agents.grounded.contextual_vectors import (
    NAME_WORD,
    ContextualEncoder,
    WordVectorCache,
    word_vectors,
)
from mmrag.agents.grounded.evidence_lines import EvidenceLine
from mmrag.agents.grounded.passage_text import NAME, comparable_name
from mmrag.agents.grounded.question_plan import QuestionPlan
from mmrag.agents.grounded.scene_records import Candidate, Finding, Scene
from mmrag.agents.grounded.times_and_numbers import in_figures, quantity_places
from mmrag.agents.grounded.trained_heads import (
    EncodedLine,
    Weights,
    analyse_question,
    encode_line,
    find_values,
    kind_of,
    read_weights,
    score_lines,
)
from mmrag.agents.grounded.turn_evidence import TurnEvidence
from mmrag.agents.grounded.values import DATE, Value, read_value
from mmrag.records import Record
from mmrag.search.web.words import words

_READ = 512
"""Most lines that are looked at closely: those that share words with the question first."""

NAMES = frozenset({"name"})
SIZES = frozenset({"number", "year", "date", "clock"})
ANY = SIZES | {"name", "text", "list"}
"""Kinds of value that can be what is looked for."""

_NEAR = 3.0
"""How much worse than the best a line may fit and still be read as saying the same; one as much
worse as that has 1/e of a vote."""

_LEAST = -3.0
"""A worse fit is no answer. At 0 nothing is as probable; how sure to be is weighed later."""

_WORD = 0.5
"""What a word in common counts, beside the trained fit."""

_ASIDE = 3.0
"""How much less a line fits that stands on the page of another thing: none of them has a vote
beside a line of the thing's own page."""

_STALE = 420.0
"""Days after which a value that is asked for as of now is no longer worth much."""

_KEPT = 8192
"""Lines of which is remembered what the encoder makes of them: some 35 MB, at most 50."""


class FoundValue(Record, frozen=True, kw_only=True):
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
    is_denied: bool = False
    """Its line says that it is not so: "it isn't safe for cats"."""


class ValuePlace(Record, frozen=True, kw_only=True):
    """A value in its line, and how well the line states what is asked."""

    line: EvidenceLine
    value: Value
    fit: float


class _SeenLine(NamedTuple):
    """What is kept of a line: all that the encoder makes of its words would take ten times the
    memory."""

    encoded: EncodedLine
    places: list[tuple[int, int]]


class LineMatcher:
    """Fits lines to questions, and finds the values in them."""

    def __init__(self, encoder: ContextualEncoder, weights: Weights | None = None) -> None:
        self._encoder = encoder
        self._questions = WordVectorCache(encoder)
        self._weights = weights
        self._lines: BoundedCache[str, _SeenLine] = BoundedCache(_KEPT)
        self._lock = threading.Lock()

    def places(
        self, plan: QuestionPlan, slot: int, lines: Sequence[EvidenceLine]
    ) -> list[ValuePlace]:
        """The lines with their values, the best first."""
        weights = self._weights or read_weights()
        asked = analyse_question(self._questions, plan.masked, plan.before, weights).slots[slot]
        valued = [one for line in self._parts(lines, weights) if (one := _valued(line))]
        if not valued:
            return []
        seen = [one.encoded for one in self._seen([line.text for line, _ in valued], weights)]
        said = frozenset(words(plan.masked))
        fit = score_lines(asked, seen, [kind_of(value) for _, value in valued], weights)
        found = [
            ValuePlace(
                line=line, value=value, fit=one + _shared(said, line) - _ASIDE * line.is_aside
            )
            for one, (line, value) in zip(fit, valued, strict=True)
        ]
        return sorted(found, key=lambda p: (-p.fit, p.line.text))

    def _parts(self, lines: Sequence[EvidenceLine], weights: Weights) -> Iterator[EvidenceLine]:
        """Lines with their value; one that has several is taken apart between them."""
        for line, seen in zip(lines, self._seen([x.text for x in lines], weights), strict=True):
            places = [line.value] if line.value else seen.places
            ends = [0, *(end for _, end in places)]
            starts = [*(start for start, _ in places), len(line.text)]
            for i, (start, end) in enumerate(places):
                a, b = (ends[i], starts[i + 1]) if len(places) > 1 else (0, len(line.text))
                yield msgspec.structs.replace(
                    line,
                    text=line.text[a:b],
                    value=(start - a, end - a),
                    is_denied=_is_denied(line.text, start),
                )

    def _seen(self, texts: Sequence[str], weights: Weights) -> list[_SeenLine]:
        """Lines as the encoder sees them; who reads the same page meanwhile waits for its end."""
        found = {t: self._lines.get(t) for t in dict.fromkeys(texts)}
        if missing := [t for t, known in found.items() if known is None]:
            with self._lock:
                found |= {t: self._lines.get(t) for t in missing}
                new = [t for t in missing if found[t] is None]
                for text, one in zip(new, word_vectors(self._encoder, new), strict=True):
                    places = _merge(text, find_values(text, one, weights))
                    made = _SeenLine(encode_line(one, weights), places)
                    found[text] = made
                    self._lines.put(text, made)
        return [one for t in texts if (one := found[t]) is not None]


class AttributeFinder:
    """One question being answered: the steps that programs are made of."""

    def __init__(
        self,
        fitting: LineMatcher,
        plan: QuestionPlan,
        scene: Scene,
        evidence: TurnEvidence,
        now: str,
    ) -> None:
        self.plan = plan
        self.scene = scene
        self.evidence = evidence
        self.now = now
        self.hint = " ".join(plan.masked.replace(NAME_WORD, " ").split())
        """What is searched for beside a name."""
        self._fitting = fitting

    def entities(self, thing: str) -> list[Candidate]:
        """Whom a word of a program stands for."""
        plan, main = self.plan, self.scene.main
        if main is None and thing in ("both", "these"):
            return [Candidate(name=n, confidence=1.0, source="question") for n in plan.names]
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

    def attribute(
        self, entity: Candidate, slot: int, kinds: frozenset[str] = ANY, when: str = ""
    ) -> FoundValue | None:
        """One attribute of an entity, of some kinds of value, now or as of another time."""
        lines = self.evidence.lines(entity.name, self.hint)
        found = self._best(entity.name, slot, lines, kinds, when)
        if found is None:
            return None
        return msgspec.structs.replace(found, recognition=entity.confidence)

    def sharing(self, owner: FoundValue, slot: int) -> list[tuple[str, FoundValue]]:
        """Things of which some page says that they have the same owner."""
        name = owner.value.text
        found: list[tuple[str, FoundValue]] = []
        for other in self.evidence.sharing(name, self.hint):
            said = self._best(other, slot, self.evidence.known_lines(other), NAMES, "")
            if said is not None and comparable_name(said.value.text) == comparable_name(name):
                found.append((other, said))
        return found

    def _best(
        self, name: str, slot: int, lines: Sequence[EvidenceLine], kinds: frozenset[str], when: str
    ) -> FoundValue | None:
        if not lines:
            return None
        places = self._fitting.places(self.plan, slot, self._likely(lines))
        own = comparable_name(name)
        places = [
            p for p in places if p.value.kind in kinds and comparable_name(p.value.text) not in own
        ]
        if not places or places[0].fit <= _LEAST:
            return None
        best = places[0]
        near = [p for p in places if p.fit > best.fit - _NEAR and p.value.kind == best.value.kind]
        near = [p for p in near if best.line.is_aside or not p.line.is_aside]
        rival = next((p for p in places if p.value.key != best.value.key), None)
        margin = 0.5 if rival is None else min(0.5, (best.fit - rival.fit) / 8)
        match = min(1 / (1 + math.exp(-best.fit / _NEAR)), self.plan.sure)
        agreement = 1.0
        if not best.line.is_dated:
            near, agreement = _strongest(near)
        else:
            near = [p for p in near if p.line.is_dated]
        found = self._decided(near, when, match, margin)
        return found and msgspec.structs.replace(found, agreement=min(found.agreement, agreement))

    def _likely(self, lines: Sequence[EvidenceLine]) -> list[EvidenceLine]:
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
        self, places: Sequence[ValuePlace], when: str, match: float, margin: float
    ) -> FoundValue | None:
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
        votes: dict[str, list[ValuePlace]] = {}
        for p in pool:
            votes.setdefault(p.value.key, []).append(p)
        stood = [p.value.key for p in dated]
        ranked = sorted(votes.items(), key=lambda kv: (-_weight(kv[1]), -stood.count(kv[0]), kv[0]))
        if not ranked:
            return None
        winner = ranked[0][1]
        return FoundValue(
            value=winner[0].value,
            match=match,
            margin=margin,
            agreement=_weight(winner) / sum(_weight(v) for v in votes.values()),
            support=len({p.line.evidence for p in winner}),
            freshness=freshness,
            citations=tuple(dict.fromkeys(p.line.evidence for p in winner))[:3],
            is_denied=winner[0].line.is_denied,
        )


def _shared(said: frozenset[str], line: EvidenceLine) -> float:
    """What the question's words that a line has, its value aside, add to its fit."""
    start, end = line.value or (0, 0)
    return _WORD * min(3, len(said & set(words(line.text[:start] + " " + line.text[end:]))))


DENIES = re.compile(
    r"\b(?:not?|none|nobody|nothing|never|neither|nor|without|hardly|cannot)\b"
    r"(?! (?:doubt|exception|until|just|later|less|more|fewer|fails?)\b| \d)|n['’]t\b",
    re.I,
)
"""Words that turn what is said into its opposite."""

_CLAUSE = re.compile(r"[.,;–—()]|\b(?:and|but|except|only|than)\b", re.I)


def _is_denied(text: str, start: int) -> bool:
    """Whether a "not" stands before the value, in its clause; one in the value is a part of it."""
    return bool(DENIES.search(_CLAUSE.split(text[:start])[-1]))


def _valued(line: EvidenceLine) -> tuple[EvidenceLine, Value] | None:
    """A line and what its value means; None where it means nothing."""
    start, end = _widen(line.text, *(line.value or (0, 0)))
    value = read_stated_value(line.text[start:end])
    if comparable_name(value.text) in ("", "it", "a", "the", "as"):
        return None
    if value.kind == "date" and len(DATE.findall(line.text)) == 1:
        line = msgspec.structs.replace(line, is_dated=False)  # the value is the date itself
    return line, value


def _merge(text: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Widen each place, and drop those that then overlap an earlier one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(_widen(text, *place) for place in places):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _widen(text: str, start: int, end: int) -> tuple[int, int]:
    """A place with the names, days and quantities that it cuts: none of them is taken apart."""
    spans = [m.span() for pattern in (NAME, DATE) for m in pattern.finditer(text)]
    for first, last in spans + quantity_places(text):
        if first < end and start < last and " It" not in text[first:last]:
            start, end = min(start, first), max(end, last)
    return start, end


def read_stated_value(text: str) -> Value:
    """What a value that a page states means, in the page's words: "3 for the price of 2"."""
    value = read_value(text if NAME.match(text) else in_figures(text))
    return msgspec.structs.replace(value, text=text) if value.kind == "number" else read_value(text)


def combine_values(value: Value, *parts: FoundValue, luck: float = 0.0) -> FoundValue:
    """What is made of several: as good as the weakest."""
    fields: dict[str, Any] = {
        name: min((getattr(p, name) for p in parts), default=1.0)
        for name in ("recognition", "match", "margin", "agreement", "freshness")
    }
    return FoundValue(
        value=value,
        luck=luck,
        support=min((p.support for p in parts), default=1),
        citations=tuple(dict.fromkeys(c for p in parts for c in p.citations)),
        steps=sum(p.steps for p in parts),
        **fields,
    )


def make_finding(text: str, plan: QuestionPlan, found: FoundValue) -> Finding:
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


def _strongest(near: Sequence[ValuePlace]) -> tuple[list[ValuePlace], float]:
    """The places of the value that fits best in all, each source counted once, and its share."""
    votes: dict[str, dict[str, float]] = {}
    for place in near:
        votes.setdefault(place.value.key, {}).setdefault(
            place.line.evidence, math.exp((place.fit - near[0].fit) / _NEAR)
        )
    weights = {value: sum(of.values()) for value, of in votes.items()}
    best = max(weights, key=lambda v: (weights[v], v))
    return [p for p in near if p.value.key == best], weights[best] / sum(weights.values())


def _weight(places: Sequence[ValuePlace]) -> float:
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
