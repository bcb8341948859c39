"""Sessions with their questions: errands that somebody runs with a thing before them.

What each session is to be is fixed before anything is made, by quotas instead of luck: every
published share (domains, lengths, shifts, popularity, and of single questions the types in each
domain) is met by largest remainders over the whole set.

What is asked next is chosen among the needs of one voice that fit the place: a follow-up, or
another step of the errand, never a step back. Of what could be asked, that is preferred which the
world has least of so far, so that types and dynamism come out in the published proportions; first
turns have proportions of their own, other domains come at the end, and neighbours are asked about
where they are in view anyway. `check_session` derives every answer again.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from mmrag.errors import DataError, UsageError
from mmrag.records import Record
from simulator.world.build.randomness import Draw
from simulator.world.build.world_request import LIFE
from simulator.world.checks.published_figures import (
    DOMAIN_SHIFT,
    DYNAMISM,
    EXTERNAL,
    MULTI_TURN,
    SINGLE_TOTALS,
    SINGLE_TURN,
    TORSO_TAIL,
    TYPE_TOTALS,
    TYPES,
)
from simulator.world.facts.domain_schema import HUBS, Entity, domain_of_kind
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import WINDOW_DAYS
from simulator.world.facts.look import KINDS, MET_AT
from simulator.world.language.answer_program import evaluate
from simulator.world.language.english import as_transcript
from simulator.world.language.filled_needs import (
    FilledNeed,
    NeedContext,
    WorldCache,
    fill_need,
    it_is_ambiguous,
    points_at_view,
)
from simulator.world.language.questions.answer_wordings import say_answer
from simulator.world.language.questions.question_records import Conversation, NeededFact, Question
from simulator.world.language.voices.need_reader import STEPS, Need
from simulator.world.language.voices.voice_reader import voice as voice_of

_MOST_VISUAL = 5.0
"""How much it counts at most that questions which the picture alone answers are wanting: more would
leave no room for the types that are short."""

SHARE_TOLERANCE = 0.02
"""By how much a type or a speed may be short of its published share; more where turns are few."""

_TYPE_SHARES = {t: n / sum(TYPE_TOTALS.values()) for t, n in TYPE_TOTALS.items()}


OPENINGS = {
    "simple-recognition": 0.18,
    "simple-knowledge": 0.46,
    "multi-hop": 0.06,
    "comparison": 0.12,
    "aggregation": 0.06,
    "reasoning": 0.12,
}
"""Type → share of first turns that is aimed at. Left to the shares of all turns, 37 of 100 would
ask for a name and 20 for the neighbour: what follow-ups seldom do."""


@dataclass
class QuestionTally:
    """What a set has so far of everything that is to come out in proportion."""

    turns: int = 0
    types: Counter[str] = field(default_factory=Counter[str])
    openings: Counter[str] = field(default_factory=Counter[str])
    """The types of first turns."""
    speeds: Counter[str] = field(default_factory=Counter[str])
    visual: int = 0
    used: Counter[str] = field(default_factory=Counter[str])
    """NeededFact → how often it was asked."""
    flips: Counter[str] = field(default_factory=Counter[str])
    """NeededFact → by how much it was answered yes (or with a true premise) more often than no."""
    leaning: Counter[str] = field(default_factory=Counter[str])
    """The same of all needs together, premises apart."""
    numbers: Counter[str] = field(default_factory=Counter[str])
    """The same of each number that a question names ("enough for six"): it must not tell."""

    def plus(self, other: QuestionTally) -> QuestionTally:
        """Both together."""
        return QuestionTally(
            turns=self.turns + other.turns,
            types=self.types + other.types,
            openings=self.openings + other.openings,
            speeds=self.speeds + other.speeds,
            visual=self.visual + other.visual,
            used=self.used + other.used,
            flips=_added(self.flips, other.flips),
            leaning=_added(self.leaning, other.leaning),
            numbers=_added(self.numbers, other.numbers),
        )

    def lack(self, query_type: str, speed: str, *, visual: bool) -> float:
        """How much a question of this type and speed is wanting. A world is refused for want of
        types first, of speeds next, never for what the picture alone answers."""
        n = self.turns + 1
        of_type = _TYPE_SHARES[query_type] * n - self.types[query_type]
        of_speed = DYNAMISM[speed] * n - self.speeds[speed]
        of_visual = min((1 - EXTERNAL) * n - self.visual, _MOST_VISUAL)
        return 2 * of_type + 1.5 * of_speed + (of_visual if visual else -of_visual)

    def lack_of_openings(self, query_type: str) -> float:
        """How much a first turn of this type is wanting."""
        return OPENINGS[query_type] * (self.openings.total() + 1) - self.openings[query_type]

    def add(self, filled: FilledNeed, question: Question) -> None:
        """One more question."""
        self.turns += 1
        self.openings[question.query_type] += not question.index
        self.types[question.query_type] += 1
        self.speeds[question.dynamism] += 1
        self.visual += not question.external
        self.used[filled.want.id] += 1
        if question.choice or question.program[0] == "premise":
            is_yes = question.answer == "Yes" if question.choice else not question.false_premise
            self.flips[filled.want.id] += 1 if is_yes else -1
            self.leaning[tally_group(filled.want)] += 1 if is_yes else -1
            for number in filled.numbers:
                self.numbers[number] += 1 if is_yes else -1

    def refuse_if_short(self, *, is_planned: bool) -> None:
        """A world that cannot have the published shares is none. `is_planned`: its types are."""
        lacks = [
            (share - counts[key] / max(1, self.turns), name, key, share)
            for name, shares, counts in (
                ("type", {} if is_planned else _TYPE_SHARES, self.types),
                ("dynamism", DYNAMISM, self.speeds),
            )
            for key, share in shares.items()
        ]
        lack, name, key, share = max(lacks)
        if lack > max(SHARE_TOLERANCE, 4 / max(1, self.turns)):
            raise DataError(
                f"{share - lack:.0%} of {self.turns} questions are of the {name} {key}, and "
                f"{share:.0%} are published: give the voices more needs of that {name}."
            )


def _added(a: Counter[str], b: Counter[str]) -> Counter[str]:
    found = Counter(a)
    found.update(b)
    return found


def tally_group(need: Need) -> str:
    """What is kept in balance apart: statements that may be false, and questions."""
    return "premise" if need.answer[0] == "premise" else "question"


T = TypeVar("T")

_BESIDE = {"next", "both", "these"}
"""What a need speaks of that has others beside the thing."""

_IT = ["var", "it"]
"""The program that is answered with the thing's name."""

LENGTHS = {2: 0.04, 3: 0.09, 4: 0.17, 5: 0.33, 6: 0.37}
"""Turns per conversation: 4.9 on average."""

_KG = TORSO_TAIL * 1.5
"""Share of KG questions (equal thirds of popularity), so that a fifth concern torso and tail."""


class SessionPlan(Record, frozen=True, kw_only=True):
    """What one session is to be."""

    id: str
    domain: str
    kinds: tuple[str, ...]
    """The kinds of the domain, the one asked about least first."""
    popularity: str
    source: str
    turns: int
    shifts: int = 0
    """How often it moves to another domain."""
    query_type: str = ""
    """Of a single question; in a conversation the types are kept in balance as it goes."""


def make_plan(seed: int, conversations: int, singles: int) -> tuple[SessionPlan, ...]:
    """Plans of all sessions: the multi-turn set, then the single-turn set."""
    if conversations < 0 or singles < 0 or conversations + singles < 1:
        raise UsageError(
            f"{conversations} conversations and {singles} single questions make no data set; "
            "ask for at least one session."
        )
    multi = _Planner(Draw(seed, "plan", "multi", conversations)).conversations(conversations)
    single = _Planner(Draw(seed, "plan", "single", singles)).singles(singles)
    return (*multi, *single)


def quota(shares: Mapping[T, float], total: int) -> dict[T, int]:
    """Whole numbers in proportion to shares, by largest remainders; their sum is `total`."""
    whole = sum(shares.values())
    exact = {k: v * total / whole for k, v in shares.items()}
    counts = {k: int(v) for k, v in exact.items()}
    order = sorted(exact, key=lambda k: (counts[k] - exact[k], str(k)))
    for k in order[: total - sum(counts.values())]:
        counts[k] += 1
    return counts


class _Planner:
    """Keeps the balances of one set."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._kinds: dict[str, int] = {}
        self._orders: dict[str, list[str]] = {}

    def singles(self, n: int) -> list[SessionPlan]:
        slots: list[tuple[str, str]] = []
        for domain, count in quota(SINGLE_TOTALS, n).items():
            types = quota(dict(zip(TYPES, SINGLE_TURN[domain], strict=True)), count)
            slots += [(domain, t) for t, k in types.items() for _ in range(k)]
        slots = self._draw.shuffled(slots)
        popularity = self._popularity(n)
        return [
            self._session(f"single-{i:05d}", domain, popularity[i], 1, query_type=query_type)
            for i, (domain, query_type) in enumerate(slots)
        ]

    def conversations(self, n: int) -> list[SessionPlan]:
        lengths = self._spread(quota(LENGTHS, n))
        domains = self._spread(quota(MULTI_TURN, n))
        shifting = self._spread(quota({1: DOMAIN_SHIFT, 0: 1 - DOMAIN_SHIFT}, n))
        popularity = self._popularity(n)
        return [
            self._session(f"multi-{i:05d}", domains[i], popularity[i], lengths[i], shifts=shift)
            for i, shift in enumerate(shifting)
        ]

    def _spread(self, counts: Mapping[T, int]) -> list[T]:
        return self._draw.shuffled([k for k, n in counts.items() for _ in range(n)])

    def _popularity(self, n: int) -> list[tuple[str, str]]:
        shares = {("kg", p): _KG / 3 for p in ("head", "torso", "tail")}
        return self._spread(quota({**shares, ("web", "head"): 1 - _KG}, n))

    def _order(self, domain: str) -> tuple[str, ...]:
        """The kinds of a domain, the one that was asked about least first."""
        if domain not in self._orders:
            self._orders[domain] = self._draw.shuffled(KINDS[domain])
        order = sorted(self._orders[domain], key=lambda k: self._kinds.get(k, 0))
        self._kinds[order[0]] = self._kinds.get(order[0], 0) + 1
        return tuple(order)

    def _session(
        self, session_id: str, domain: str, popularity: tuple[str, str], turns: int, *,
        shifts: int = 0, query_type: str = "",
    ) -> SessionPlan:  # fmt: skip
        return SessionPlan(
            id=session_id,
            domain=domain,
            kinds=self._order(domain),
            source=popularity[0],
            popularity=popularity[1],
            turns=turns,
            shifts=shifts,
            query_type=query_type,
        )


_NEIGHBOURS = 1.5
"""By how much a need rises that speaks of neighbours which are in view already, and falls where it
would be the first to bring some: in life most things stand alone."""

_TRIES = 12
"""Things tried for a session in one voice, and then in each of the others."""


def make_sessions(
    facts: FactBase,
    voices: Sequence[str],
    *,
    conversations: int,
    singles: int,
    legible: float = LIFE.legible,
) -> Iterator[Conversation]:
    """All sessions of a world in order: the multi-turn set, then the single-turn set."""
    statistics = WorldCache(facts, legible)
    plans = make_plan(facts.seed, conversations, singles)
    for is_single, of in enumerate((plans[:conversations], plans[conversations:])):
        balance = QuestionTally()
        for plan in of:
            yield _make_session(plan, facts, voices, statistics, balance)
        if of:
            balance.refuse_if_short(is_planned=bool(is_single))


def _make_session(
    plan: SessionPlan,
    facts: FactBase,
    voices: Sequence[str],
    statistics: WorldCache,
    balance: QuestionTally,
) -> Conversation:
    """One session in one voice: things are drawn until every turn can be asked about one."""
    draw = Draw(facts.seed, plan.id)
    order = Draw(facts.seed, plan.id, "voice").shuffled(voices)
    # Few kinds of a small world have things of every popularity: those that have come first.
    kinds = sorted(
        plan.kinds, key=lambda k: _pool(statistics, facts, plan, k)[0].popularity != plan.popularity
    )
    best: _Session | None = None
    for name in order:
        for kind in kinds:
            for attempt in range(_TRIES):
                made = _Session(plan, facts, name, kind, statistics, balance, draw, attempt)
                if made.ask() and (best is None or made.missed < best.missed):
                    best = made
                if best is not None and not best.missed:
                    break
            if best is not None and best.missed < 2:
                break
        if best is not None and best.missed < 2:
            break
    if best is None:
        what = plan.query_type or f"conversation of {plan.turns} turns"
        raise DataError(
            f"no {what} can be had about {', '.join(plan.kinds)} in the world of seed "
            f"{facts.seed}: ask for more entities, or write more needs about these kinds."
        )
    for filled, question in zip(best.filled, best.questions, strict=True):
        balance.add(filled, question)
    return best.finish()


def check_session(session: Conversation, facts: FactBase) -> list[str]:
    """What is wrong with the answers of a session: empty when all are re-derived and unique."""
    problems: list[str] = []
    for question in session.questions:
        try:
            answer, _ = evaluate(question.program, facts, question.at)
        except DataError as error:
            problems.append(f"{question.id}: {error}")
            continue
        text, accept = say_answer(answer, facts)
        if (text, accept, answer.kind) != (question.answer, question.accept, question.answer_kind):
            problems.append(
                f"{question.id}: the facts say {text!r}, the data set says {question.answer!r}."
            )
        if answer.kind == "entity" and len(facts.find(question.answer)) != 1:
            problems.append(f"{question.id}: {question.answer!r} names more than one thing.")
        if _says_its_answer(question.text, question.answer, answer.kind, question.choice):
            problems.append(f"{question.id}: the question gives its answer away.")
    return problems


def _says_its_answer(text: str, answer: str, kind: str, choice: tuple[str, ...]) -> bool:
    told = len(answer) > 4 and kind in ("entity", "word", "text")
    return told and not choice and answer in text


class _Session:
    """One attempt to have a conversation about one thing."""

    def __init__(
        self,
        plan: SessionPlan,
        facts: FactBase,
        voice: str,
        kind: str,
        statistics: WorldCache,
        balance: QuestionTally,
        draw: Draw,
        attempt: int,
    ) -> None:
        self._plan, self._facts, self._statistics = plan, facts, statistics
        self._voice, self._before = voice_of(voice), balance
        self._main = draw.pick(_pool(statistics, facts, plan, kind))
        self._draw = Draw(facts.seed, plan.id, self._main.id, attempt)
        self._at = _query_time(facts, self._draw)
        self._has_label = bool(self._main.look and self._main.look.label)
        self._text_clue = self._has_label and self._draw.chance(statistics.legible)
        shops = facts.of_kind("shopfront")
        known = [e for e in shops if e.popularity == plan.popularity] or shops
        self._shop = self._draw.pick([e for e in known if e.id != self._main.id] or shops)
        self._needs = self._voice.wants(kind)
        self._places = tuple(self._draw.shuffled(MET_AT[kind]))
        self._view: tuple[Entity, ...] = ()
        self._said = ""
        self._mine = QuestionTally()
        self._shifted = 0
        self.filled: list[FilledNeed] = []
        self.questions: list[Question] = []
        self.missed = 0
        """What did not come out as planned: shifts that are wanting, answers to the other side."""

    def ask(self) -> bool:
        """Ask every turn; False where one cannot be."""
        for i in range(self._plan.turns):
            if not self._turn(i):
                return False
        self.missed += 2 * max(0, self._plan.shifts - self._shifted)
        return True

    def finish(self) -> Conversation:
        return Conversation(
            id=self._plan.id,
            entity_id=self._main.id,
            visible=(self._main.id, *(e.id for e in self._view)),
            text_clue=self._text_clue,
            query_time=self._at,
            domain=self._plan.domain,
            voice=self._voice.name,
            place=self._places[0],
            questions=tuple(self.questions),
        )

    def _turn(self, i: int) -> bool:
        now = self._before.plus(self._mine) if i else self._before
        may = self._candidates(i)
        often = 1 + max((now.used[w.id] for w in may), default=0)
        ranks = {w.id: self._rank(w, i, now) - 2 * now.used[w.id] / often for w in may}
        ranked = sorted(may, key=lambda w: ranks[w.id], reverse=True)
        second: FilledNeed | None = None
        for need in ranked:
            if i and self._text_clue and self._asks_for_print(need):
                continue
            filled = fill_need(need, self._moment(i, need))
            if filled is None or self._given_away(filled):
                continue
            if filled.as_wanted:
                self._add(i, filled)
                return True
            second = second or filled
        if second is None:
            return False
        self.missed += 1
        self._add(i, second)
        return True

    def _candidates(self, i: int) -> list[Need]:
        """What may be said now: what leans on the turn before, or a step of the errand."""
        if not i:
            wanted = self._plan.query_type
            fits = [w for w in self._needs if w.opens and wanted in ("", w.query_type)]
            return [w for w in fits if set(w.places) & set(self._places) and not self._shifts(w)]
        last = self.filled[-1].want
        step = max(f.want.step for f in self.filled)
        asked = {f.want.id for f in self.filled}
        found = [*last.then, *(w for w in self._needs if w.step >= step and w.id not in asked)]
        may_shift = self._shifted < self._plan.shifts
        away = self.questions[-1].domain != self._plan.domain
        return [
            w for w in found
            if set(w.places) & set(self._places)
            and (may_shift or not self._shifts(w) or (away and w in last.then))
        ]  # fmt: skip

    def _rank(self, need: Need, i: int, now: QuestionTally) -> float:
        """How much a need is wanted now."""
        rank = self._lack(need, now)
        rank += Draw(self._facts.seed, self._plan.id, i, need.id).uniform()
        if self._plan.turns > 1:
            left = self._plan.turns - i - 1
            rank += 0.0 if i else 1.5 * now.lack_of_openings(need.query_type)
            rank -= abs(need.step - i * len(STEPS) / self._plan.turns)
            after = self._after(need)
            rank -= 9.0 if len(after) < left else 0.0  # it would be the end of the errand
            rank += 2.0 if self.filled and need in self.filled[-1].want.then else 0.0
            if not i and need.query_type != TYPES[0] and self._is_seen(need):
                rank -= 9.0  # it stands printed before the wearer's eyes
            if i and need.things & _BESIDE:
                rank += _NEIGHBOURS if self._view else -_NEIGHBOURS
            rank -= 3.0 if it_is_ambiguous(need, self._main, self._came_up(need)) else 0.0
            if left and need.then:  # what can only be asked after it
                rank += max(0.0, 0.7 * max(self._lack(after, now) for after in need.then))
            if self._shifted < self._plan.shifts:
                # At its end: who has left the thing for a town or a shop seldom comes back to it.
                if i and self._shifts(need):
                    rank += 6.0 if left <= 1 else -6.0
                rank += 3.0 if 0 < self._turns_away(need) in (left - 1, left) else 0.0
                may_shift = any(self._turns_away(w) < left for w in after)
                rank -= 0.0 if may_shift or self._turns_away(need) <= left else 9.0
        return rank

    def _after(self, need: Need) -> list[Need]:
        """The needs that there are to go on with after it."""
        asked = {need.id, *(f.want.id for f in self.filled)}
        places = set(self._places) & set(need.places)
        return [
            w
            for w in self._needs
            if w.step >= need.step and w.id not in asked and places & set(w.places)
        ]

    def _lack(self, need: Need, now: QuestionTally) -> float:
        said = need.meanings[self._main.kind]
        return now.lack(need.query_type, said.dynamism, visual=self._is_seen(need))

    def _is_seen(self, need: Need) -> bool:
        """Whether the picture alone answers it."""
        said = need.meanings[self._main.kind]
        return said.is_visual and (need.query_type == TYPES[0] or self._is_legible)

    def _asks_for_print(self, need: Need) -> bool:
        """Whether it asks for the name of a thing that carries it in print: nobody does who can
        read it."""
        return self._has_label and (need.answer == _IT or need.answer[:2] == ["same", _IT])

    @property
    def _is_legible(self) -> bool:
        """Whether print can be read; before anything is asked that is still open."""
        return self._text_clue or (self._has_label and not self.questions)

    def _turns_away(self, need: Need) -> int:
        """After how many follow-ups it leads to another domain; very many where it never does."""
        if self._shifts(need):
            return 0
        return 1 + min(map(self._turns_away, need.then), default=99)

    def _shifts(self, need: Need) -> bool:
        """Whether a need leads to another domain."""
        if "shop" in need.things and not need.things & {"it", "both", "these", "next"}:
            return self._plan.domain != "local"
        said = need.meanings[self._main.kind]
        kinds = [k for root, k, _ in said.reads if root == "answer" and k not in HUBS]
        kinds += [k for k in said.kinds if said.result == "thing" and k not in HUBS]
        return any(domain_of_kind(k).name != self._plan.domain for k in kinds)

    def _moment(self, i: int, need: Need) -> NeedContext:
        flips = self._before.flips[need.id] + self._mine.flips[need.id]
        asks = tally_group(need)
        flips = flips or self._before.leaning[asks] + self._mine.leaning[asks]
        draw = Draw(self._facts.seed, self._plan.id, self._main.id, i, need.id)
        last = self.filled[-1] if self.filled else None
        named = last.answer.value if last is not None and last.answer.kind == "entity" else None
        return NeedContext(
            facts=self._facts,
            statistics=self._statistics,
            draw=draw,
            at=self._at,
            main=self._main,
            view=self._view,
            shop=self._shop,
            answer=self._facts.entity(named) if named else None,
            polarity=draw.chance(0.5) if not flips else flips < 0,
            text_clue=self._is_legible,
            came_up=self._came_up(need),
            is_first=not i,
            numbers=_added(self._before.numbers, self._mine.numbers),
        )

    def _came_up(self, need: Need) -> Entity | None:
        """What was spoken of last, as far as it is not what a need leans on."""
        if not self.filled or need in self.filled[-1].want.then:
            return None
        last = self.filled[-1]
        is_named = last.answer.kind == "entity"
        return self._facts.entity(last.answer.value) if is_named else last.subject

    def _given_away(self, filled: FilledNeed) -> bool:
        """Whether the words, or an earlier turn, name the answer: copying must not help."""
        answer, kind = filled.answer, filled.answer.kind
        text, _ = say_answer(answer, self._facts)
        if any(_says_its_answer(said, text, kind, filled.choice) for said in filled.texts):
            return True
        if kind not in ("entity", "entities"):
            return False
        ids = [answer.value] if kind == "entity" else list(answer.value)
        return any(self._facts.entity(e).name in self._said for e in ids)

    def _add(self, i: int, filled: FilledNeed) -> None:
        said = filled.want.meanings[self._main.kind]
        if self._asks_for_print(filled.want):
            self._text_clue = False
        else:
            self._text_clue = self._text_clue or (said.is_visual and self._is_legible)
        question = self._question(i, filled)
        self.filled.append(filled)
        self.questions.append(question)
        self._mine.add(filled, question)
        self._view = self._view or filled.beside
        self._places = tuple(p for p in self._places if p in filled.want.places)
        self._said = f"{self._said}\n{question.text}\n{question.answer}"
        self._shifted += question.domain != self._plan.domain and self._shifts(filled.want)

    def _question(self, i: int, filled: FilledNeed) -> Question:
        need, subject, main = filled.want, filled.subject, self._main
        said = need.meanings[main.kind]
        draw = Draw(self._facts.seed, self._plan.id, i, "words")
        texts = draw.shuffled([as_transcript(text, draw) for text in filled.texts])
        wording, accept = say_answer(filled.answer, self._facts)
        leans = bool(i) and (not need.opens or "answer" in need.things)
        known = any(n in self._said for n in (main.name, *main.aliases))
        touched = dict.fromkeys((subject.id, *(a.entity_id for a in filled.accesses)))
        beside = filled.beside
        return Question(
            id=f"{self._plan.id}-{i}",
            index=i,
            template=f"{self._plan.domain}/{need.answer[0]}/{need.id.replace('/', '.')}",
            text=texts[0],
            ways=tuple(texts[1:]),
            answer=wording,
            accept=accept,
            answer_kind=filled.answer.kind,
            program=filled.program,
            at=self._at,
            entity_id=subject.id,
            entities=tuple(touched),
            needs=tuple(
                NeededFact(entity_id=a.entity_id, attribute=a.attribute, at=a.at)
                for a in filled.accesses
            ),
            visible=(main.id, *(e.id for e in beside)),
            means=filled.means,
            could_mean=filled.could_mean,
            settled_by=_settled_by(i, filled, texts[0], leans=leans),
            domain=self._domain(filled),
            query_type=need.query_type,
            form=_form(need, filled),
            dynamism=said.dynamism,
            popularity=subject.popularity,
            source=self._plan.source,
            needs_image=bool(filled.means) and bool(beside or not known),
            needs_history=leans,
            text_clue=self._text_clue,
            external=bool(filled.accesses) and not self._is_seen(need),
            false_premise=filled.false_premise,
            choice=filled.choice,
        )

    def _domain(self, filled: FilledNeed) -> str:
        """That of what is talked about: the thing, or what another domain has in its place."""
        home = self._plan.domain
        if not self._shifts(filled.want):
            return home
        found = [filled.subject]
        if filled.answer.kind == "entity":
            found.insert(0, self._facts.entity(filled.answer.value))
        of = [e.domain for e in found if e.kind not in HUBS and e.domain != home]
        return of[0] if of else home


def _settled_by(i: int, filled: FilledNeed, text: str, *, leans: bool) -> str:
    if not filled.means:
        return ""
    if filled.beside:  # "these" and "both" are settled where nothing else could be meant
        return "words" if filled.want.things & {"it", "next"} else "alone"
    return "history" if i and (leans or not points_at_view(text)) else "attention"


def _form(need: Need, filled: FilledNeed) -> str:
    if filled.false_premise:
        return "false-premise"
    if filled.answer.kind == "entities":
        return "set"
    if any(slot.how in ("past", "claim") for slot in need.slots.values()):
        return "condition"
    return "post-processing" if need.query_type == "reasoning" else "plain"


def _pool(statistics: WorldCache, facts: FactBase, plan: SessionPlan, kind: str) -> list[Entity]:
    """What may be the main thing, kept from session to session: scanning each time is quadratic."""
    key = (kind, plan.popularity)
    if key not in statistics.pools:
        of = [e for e in facts.of_kind(kind) if e.id in statistics.askable]
        statistics.pools[key] = [e for e in of if e.popularity == plan.popularity] or of
    return statistics.pools[key]


def _query_time(facts: FactBase, draw: Draw) -> str:
    """An instant of the snapshot between eight in the morning and nine in the evening."""
    date = dt.date.fromisoformat(facts.window[0][:10]) + dt.timedelta(days=draw.below(WINDOW_DAYS))
    return f"{date}T{draw.between(8, 20):02d}:{draw.below(60):02d}"
