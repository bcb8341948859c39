"""Sessions with their questions: errands that somebody runs with a thing before them.

What each session is to be is planned before (`session_plans.py`). A conversation is one errand as
its author wrote it, with turns left out. Which errand, and which turns, are those that the world
has least of so far; CRAG-MM's types are published for single questions, and in conversations the
errand comes first. First turns have proportions of their own,
and what leads to another domain comes at the end. `check_session` derives every answer again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mmrag.errors import DataError
from simulator.world.build.randomness import Draw
from simulator.world.build.world_request import LIFE
from simulator.world.checks.published_figures import (
    TYPES,
)
from simulator.world.facts.domain_schema import HUBS, Entity, domain_of_kind
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import WINDOW_DAYS
from simulator.world.facts.look import MET_AT
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
from simulator.world.language.question_tally import QuestionTally, added, tally_group
from simulator.world.language.questions.answer_wordings import say_answer
from simulator.world.language.questions.question_records import (
    NAMED,
    Conversation,
    NeededFact,
    Question,
)
from simulator.world.language.session_plans import SessionPlan, make_plan
from simulator.world.language.voices.need_reader import Need
from simulator.world.language.voices.voice_reader import voice as voice_of

_BESIDE = {"next", "both", "these"}
"""What a need speaks of that has others beside the thing."""

_IT = ["var", "it"]
"""The program that is answered with the thing's name."""

_NEIGHBOURS = 1.5
"""By how much a need rises that speaks of neighbours which are in view already, and falls where it
would be the first to bring some: in life most things stand alone."""

_LAST_OF_ALL = 100.0
"""What a need loses that spoils the plan, and gains that keeps it: more than lacks come to."""

_DEAD_ENDS = 40
"""Turns taken back before another thing is tried."""

_SKIPPED = 2.0
"""By how much a turn falls for each that is left out before it."""

_MOST_SKIPPED = 3
"""Beyond these it does not fall further: an errand may have to end where it leads elsewhere."""

_ONCE_ON_THE_WAY = 0.2
"""How much it counts, once an errand is begun, what the world has least of: turns that were picked
for their types did not follow from each other."""

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
                if made.ask() and (best is None or made.talk.missed < best.talk.missed):
                    best = made
                if best is not None and not best.talk.missed:
                    break
            if best is not None and best.talk.missed < 2:
                break
        if best is not None and best.talk.missed < 2:
            break
    if best is None:
        what = plan.query_type or f"conversation of {plan.turns} turns"
        raise DataError(
            f"no {what} can be had about {', '.join(plan.kinds)} in the world of seed "
            f"{facts.seed} from {', '.join(order)}: ask for more entities, or write more needs "
            "about these kinds."
        )
    for filled, question in zip(best.talk.filled, best.talk.questions, strict=True):
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


@dataclass(frozen=True)
class _Line:
    """What could be said now."""

    need: Need
    ahead: tuple[Need, ...]
    """What the errand has after it, but for what leans on it."""
    places: tuple[str, ...]
    """Where the errand is run."""
    skipped: int = 0
    """Turns of the errand that are left out before it."""


@dataclass(frozen=True)
class _Talk:
    """What was said so far."""

    places: tuple[str, ...]
    text_clue: bool
    line: _Line | None = None
    filled: tuple[FilledNeed, ...] = ()
    questions: tuple[Question, ...] = ()
    view: tuple[Entity, ...] = ()
    """What stands beside the main thing."""
    shifted: int = 0
    missed: int = 0
    """What did not come out as planned: shifts that are wanting, answers to the other side."""

    @property
    def tally(self) -> QuestionTally:
        """What it adds to that of the world."""
        found = QuestionTally()
        for filled, question in zip(self.filled, self.questions, strict=True):
            found.add(filled, question)
        return found

    @property
    def text(self) -> str:
        """All its words."""
        return "\n".join(f"{q.text}\n{q.answer}" for q in self.questions)


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
        legible = self._has_label and self._draw.chance(statistics.legible)
        shops = facts.of_kind("shopfront")
        known = [e for e in shops if e.popularity == plan.popularity] or shops
        self._shop = self._draw.pick([e for e in known if e.id != self._main.id] or shops)
        self._dead_ends = 0
        self.talk = _Talk(tuple(self._draw.shuffled(MET_AT[kind])), legible)

    def ask(self) -> bool:
        """Ask every turn; False where no way through an errand is found."""
        if len(self.talk.questions) == self._plan.turns:
            wanting = 2 * max(0, self._plan.shifts - self.talk.shifted)
            self.talk = replace(self.talk, missed=self.talk.missed + wanting)
            return True
        before = self.talk
        for line, filled in self._ranked():
            self._add(line, filled)
            if self.ask():
                return True
            self.talk = before
            self._dead_ends += 1
            if self._dead_ends > _DEAD_ENDS:
                break
        return False

    def finish(self) -> Conversation:
        talk = self.talk
        return Conversation(
            id=self._plan.id,
            entity_id=self._main.id,
            visible=(self._main.id, *(e.id for e in talk.view)),
            text_clue=talk.text_clue,
            query_time=self._at,
            domain=self._plan.domain,
            voice=self._voice.name,
            place=talk.places[0],
            questions=talk.questions,
        )

    def _ranked(self) -> Iterator[tuple[_Line, FilledNeed]]:
        """What can be said now, what is wanted most first; answers to the other side last."""
        i, mine = len(self.talk.questions), self.talk.tally
        now = self._before.plus(mine) if i else self._before
        may = self._candidates()
        often = 1 + max((now.used[w.need.id] for w in may), default=0)
        ranks = {w.need.id: self._rank(w, i, now) - now.used[w.need.id] / often for w in may}
        others: list[tuple[_Line, FilledNeed]] = []
        for line in sorted(may, key=lambda w: ranks[w.need.id], reverse=True):
            need = line.need
            if i and self.talk.text_clue and self._asks_for_print(need):
                continue
            filled = fill_need(need, self._moment(i, need, mine))
            if filled is None or self._given_away(filled):
                continue
            if filled.as_wanted:
                yield line, filled
            else:
                others.append((line, filled))
        yield from others

    def _candidates(self) -> list[_Line]:
        """What may be said now: how an errand begins, what leans on the turn before, or what else
        the errand has."""
        talk, line = self.talk, self.talk.line
        if line is None:
            return [w for w in self._openings() if set(w.places) & set(talk.places)]
        found = [_Line(need, line.ahead, line.places) for need in line.need.then]
        found += [
            _Line(need, line.ahead[n + 1 :], line.places, skipped=n)
            for n, need in enumerate(line.ahead)
        ]
        away = talk.questions[-1].domain != self._plan.domain
        return [
            w for w in found
            if self._may(w.need)
            or (away and self._main.kind in w.need.meanings and self._follows(w.need))
        ]  # fmt: skip

    def _may(self, need: Need) -> bool:
        """Whether it can be said of this thing, and leads nowhere that is not planned."""
        may_shift = self.talk.shifted < self._plan.shifts
        return self._main.kind in need.meanings and (may_shift or not self._shifts(need))

    def _reach(self, need: Need) -> int:
        """How many turns it makes with what may follow, one leaning on the other."""
        return 1 + max(map(self._reach, filter(self._may, need.then)), default=0)

    def _openings(self) -> Iterator[_Line]:
        """Of conversations the first turns of errands, of single questions whatever can open."""
        wanted = self._plan.query_type
        for errand in self._voice.errands(self._main.kind):
            turns = errand.about(self._main.kind)
            for n, need in enumerate(turns[:1] if self._plan.turns > 1 else turns):
                if need.first and wanted in ("", need.query_type) and not self._shifts(need):
                    yield _Line(need, turns[n + 1 :], errand.places)

    def _follows(self, need: Need) -> bool:
        """Whether it leans on the turn before."""
        return self.talk.line is not None and need in self.talk.line.need.then

    def _rank(self, line: _Line, i: int, now: QuestionTally) -> float:
        """How much a need is wanted now."""
        need, left = line.need, self._plan.turns - i - 1
        is_under_way = self._plan.turns > 1 and i > 0
        rank = self._lack(need, now) * (_ONCE_ON_THE_WAY if is_under_way else 1)
        rank += Draw(self._facts.seed, self._plan.id, i, need.id).uniform()
        if self._plan.turns > 1:
            reach = self._reach(need) - 1 + sum(map(self._reach, filter(self._may, line.ahead)))
            rank -= _LAST_OF_ALL if reach < left else 0.0  # it would be the end of the errand
            rank -= _SKIPPED * min(line.skipped, _MOST_SKIPPED)
            rank += 2.0 if i and self._follows(need) else 0.0
            if not i:
                ahead = (*self._follow_ups(need)[:1], *line.ahead)[:left]
                rank += 2 * sum(self._lack(w, now) for w in ahead) / max(1, len(ahead))
                rank += 1.5 * now.lack_of_openings(need.query_type)
                is_printed = need.query_type != TYPES[0] and self._is_seen(need)
                rank -= _LAST_OF_ALL if is_printed else 0.0  # it stands before the wearer's eyes
            if i and need.things & _BESIDE:
                rank += _NEIGHBOURS if self.talk.view else -_NEIGHBOURS
            rank -= 3.0 if it_is_ambiguous(need, self._main, self._came_up(need)) else 0.0
            if self.talk.shifted < self._plan.shifts:
                # At its end: who has left the thing for a town or a shop seldom comes back to it.
                if self._shifts(need):
                    rank += _LAST_OF_ALL if left <= 1 else -_LAST_OF_ALL
                away = min([self._turns_away(need), *(1 + self._turns_away(w) for w in line.ahead)])
                rank -= _LAST_OF_ALL if away > left else 0.0
        return rank

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
        return self.talk.text_clue or (self._has_label and not self.talk.questions)

    def _turns_away(self, need: Need) -> int:
        """After how many follow-ups it leads to another domain; very many where it never does."""
        if self._shifts(need):
            return 0
        return 1 + min(map(self._turns_away, self._follow_ups(need)), default=99)

    def _follow_ups(self, need: Need) -> list[Need]:
        """What may lean on a need, of those that can be said of this thing."""
        return [w for w in need.then if self._main.kind in w.meanings]

    def _shifts(self, need: Need) -> bool:
        """Whether a need leads to another domain."""
        if "shop" in need.things and not need.things & {"it", "both", "these", "next"}:
            return self._plan.domain != "local"
        said = need.meanings[self._main.kind]
        kinds = [k for root, k, _ in said.reads if root == "answer" and k not in HUBS]
        kinds += [k for k in said.kinds if said.result == "thing" and k not in HUBS]
        return any(domain_of_kind(k).name != self._plan.domain for k in kinds)

    def _moment(self, i: int, need: Need, mine: QuestionTally) -> NeedContext:
        flips = self._before.flips[need.id] + mine.flips[need.id]
        asks = tally_group(need)
        flips = flips or self._before.leaning[asks] + mine.leaning[asks]
        draw = Draw(self._facts.seed, self._plan.id, self._main.id, i, need.id)
        named = [f.answer.value for f in self.talk.filled if f.answer.kind == "entity"]
        return NeedContext(
            facts=self._facts,
            statistics=self._statistics,
            draw=draw,
            at=self._at,
            main=self._main,
            view=self.talk.view,
            shop=self._shop,
            answer=self._facts.entity(named[-1]) if named else None,
            polarity=draw.chance(0.5) if not flips else flips < 0,
            text_clue=self._is_legible,
            came_up=self._came_up(need),
            is_first=not i,
            numbers=added(self._before.numbers, mine.numbers),
        )

    def _came_up(self, need: Need) -> Entity | None:
        """What was spoken of last, as far as it is not what a need leans on."""
        if not self.talk.filled or self._follows(need):
            return None
        last = self.talk.filled[-1]
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
        said = self.talk.text
        return any(self._facts.entity(e).name in said for e in ids)

    def _add(self, line: _Line, filled: FilledNeed) -> None:
        talk, need = self.talk, filled.want
        clue = talk.text_clue or (need.meanings[self._main.kind].is_visual and self._is_legible)
        clue = clue and not self._asks_for_print(need)
        question = self._question(filled, text_clue=clue, leans=self._follows(need))
        is_away = question.domain != self._plan.domain and self._shifts(need)
        self.talk = _Talk(
            places=tuple(p for p in talk.places if p in line.places),
            text_clue=clue,
            line=line,
            filled=(*talk.filled, filled),
            questions=(*talk.questions, question),
            view=talk.view or filled.beside,
            shifted=talk.shifted + is_away,
            missed=talk.missed + (not filled.as_wanted),
        )

    def _question(self, filled: FilledNeed, *, text_clue: bool, leans: bool) -> Question:
        i = len(self.talk.questions)
        need, subject, main = filled.want, filled.subject, self._main
        said = need.meanings[main.kind]
        draw = Draw(self._facts.seed, self._plan.id, i, "words")
        texts = draw.shuffled([as_transcript(text, draw) for text in filled.texts])
        wording, accept = say_answer(filled.answer, self._facts)
        leans = leans or bool(i and filled.means and not points_at_view(texts[0], main.kind))
        said_before = self.talk.text
        known = any(n in said_before for n in (main.name, *main.aliases))
        settled_by = _settled_by(filled, leans=leans)
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
            settled_by=settled_by,
            domain=self._domain(filled),
            query_type=need.query_type,
            form=_form(need, filled),
            dynamism=said.dynamism,
            popularity=subject.popularity,
            source=self._plan.source,
            needs_image=settled_by not in ("", NAMED) and bool(beside or not known),
            needs_history=leans,
            text_clue=text_clue,
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


def _settled_by(filled: FilledNeed, *, leans: bool) -> str:
    if not filled.means:
        return ""
    if "answer" in filled.want.things and not filled.want.things & {"it", *_BESIDE}:
        return NAMED
    if filled.beside:  # "these" and "both" are settled where nothing else could be meant
        return "words" if filled.want.things & {"it", "next"} else "alone"
    return "history" if leans else "attention"


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
