"""Sessions with their questions: plans filled in with things and facts of one world.

`make_session` is pure: a plan and a fact base give the same conversation in any order and in any
process. `check_session` re-derives every answer from its program.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from mmrag.errors import DataError
from simulator.world.build.difficulty import LIFE
from simulator.world.build.randomness import Draw
from simulator.world.facts.fact_records import DYNAMISM, Entity
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import WINDOW_DAYS
from simulator.world.language.program import Access, Answer, evaluate
from simulator.world.language.questions.answers import say_answer
from simulator.world.language.questions.asking import (
    Draft,
    Moment,
    Statistics,
    Template,
    about,
    words_of,
)
from simulator.world.language.questions.operations_by_attribute import OPERATIONS, wordings
from simulator.world.language.questions.phrases import noun_of, plural_of, utter
from simulator.world.language.questions.question_records import Conversation, Need, Question
from simulator.world.language.session_plans import SessionPlan, TurnPlan, cell, make_plan
from simulator.world.language.voices.reading import Voice
from simulator.world.language.voices.reading import voice as voice_of

_TRIES = 12
_ELLIPSIS = 0.7
_SAME_OF_OTHER = 0.5
"""How often a simple question is followed by "and what about …?" where the plan allows it."""


def make_sessions(
    facts: FactBase,
    voices: Sequence[str],
    *,
    conversations: int,
    singles: int,
    legible: float = LIFE.legible,
) -> Iterator[Conversation]:
    """All sessions of a world in order: the multi-turn set, then the single-turn set."""
    statistics = Statistics(facts, legible)
    for plan in make_plan(facts.seed, conversations, singles):
        yield make_session(plan, facts, voices, statistics)


def make_session(
    plan: SessionPlan,
    facts: FactBase,
    voices: Sequence[str],
    statistics: Statistics | None = None,
) -> Conversation:
    """One session, in one of the voices.

    The main thing is drawn until every turn of the plan can be asked about it.
    """
    draw = Draw(facts.seed, plan.id)
    voice = voice_of(Draw(facts.seed, plan.id, "voice").pick(voices))
    statistics = statistics or Statistics(facts)
    needs_print = any(t.template.legible for t in plan.turns)
    pool = _pool(statistics, facts, plan, needs_print)
    best: _Session | None = None
    for _ in range(_TRIES):
        made = _Session(plan, facts, voice, statistics, draw.pick(pool), needs_print)
        made.ask()
        if best is None or made.changed < best.changed:
            best = made
        if not best.changed:
            break
    assert best is not None
    return best.finish()


def _pool(
    statistics: Statistics, facts: FactBase, plan: SessionPlan, needs_print: bool
) -> list[Entity]:
    """What may be the main thing, kept from session to session: scanning each time is quadratic."""
    key = (plan.kind, plan.popularity, needs_print)
    if key not in statistics.pools:
        kind = [e for e in facts.of_kind(plan.kind) if e.id in statistics.askable]
        pool = [e for e in kind if e.popularity == plan.popularity] or kind
        if needs_print:
            pool = [e for e in pool if e.look and e.look.label] or pool
        statistics.pools[key] = pool
    return statistics.pools[key]


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
        if any(name in question.text for name in (question.answer,) if not question.choice) and (
            len(question.answer) > 4 and answer.kind in ("entity", "word", "text")
        ):
            problems.append(f"{question.id}: the question gives its answer away.")
    return problems


class _Session:
    """One attempt to fill in a plan with one main thing."""

    def __init__(
        self,
        plan: SessionPlan,
        facts: FactBase,
        voice: Voice,
        statistics: Statistics,
        main: Entity,
        needs_print: bool,
    ) -> None:
        self._plan = plan
        self._facts = facts
        self._voice = voice
        self._statistics = statistics
        self._main = main
        self._draw = Draw(facts.seed, plan.id, main.id)
        self._at = _query_time(facts, self._draw)
        has_label = bool(main.look and main.look.label)
        self._text_clue = has_label and (needs_print or self._draw.chance(statistics.legible))
        self._questions: list[Question] = []
        self._answers: list[Answer] = []
        self._subjects: list[Entity] = []
        self._templates: list[Template] = []
        self._asked: set[str] = set()
        self._visible: list[Entity] = []
        self._said: str = ""
        self._mentioned: list[Entity] = []
        """Everything that has come up, in order: what "that town" means is the last town."""
        self.changed = 0
        """Turns that could not be asked as planned."""

    def ask(self) -> None:
        for i, turn in enumerate(self._plan.turns):
            self._turn(i, turn)

    def finish(self) -> Conversation:
        return Conversation(
            id=self._plan.id,
            entity_id=self._main.id,
            visible=(self._main.id, *(e.id for e in self._visible)),
            text_clue=self._text_clue,
            query_time=self._at,
            domain=self._plan.domain,
            voice=self._voice.name,
            questions=tuple(self._questions),
        )

    def _turn(self, i: int, turn: TurnPlan) -> None:
        subject, domain = self._main, turn.domain
        if turn.subject >= 0:
            answer = self._answers[turn.subject]
            if answer.kind == "entity":
                subject = self._facts.entity(answer.value)
            else:
                domain = self._plan.domain
        if self._same_of_other(i, turn, domain):
            return
        candidates = self._candidates(turn, subject)
        for n, template in enumerate(candidates):
            if self._try(i, turn, template, subject, domain):
                self.changed += n > 0
                return
        for template in self._instead(turn):
            if self._try(i, turn, template, self._main, self._plan.domain):
                self.changed += 2
                return
        raise DataError(
            f"no {turn.dynamism} {turn.query_type} question can be asked about {subject.id} in the "
            f"world of seed {self._facts.seed}; it has too few things: ask for more entities."
        )

    def _same_of_other(self, i: int, turn: TurnPlan, domain: str) -> bool:
        """Ask of another, named thing what was just asked of this one: "and what about …?"."""
        if not self._questions or turn.query_type != "simple-knowledge":
            return False
        before, subject = self._questions[-1], self._subjects[-1]
        template = self._templates[-1]
        if (
            template.operation != "attribute"
            or template.dynamism != turn.dynamism
            or before.domain != domain
            or before.entity_id != subject.id
            or not self._draw.chance(_SAME_OF_OTHER)
        ):
            return False
        following = self._plan.turns[i + 1 : i + 2]
        if following and following[0].subject >= 0:
            return False
        pool = [e for e in self._facts.family(subject) if e.popularity == subject.popularity]
        pool = [e for e in pool if e.id not in (self._main.id, *(v.id for v in self._visible))]
        pool = [e for e in pool if e.name not in self._said]
        return bool(pool) and self._try(
            i, turn, template, self._draw.pick(pool), domain, named=True
        )

    def _candidates(self, turn: TurnPlan, subject: Entity) -> list[Template]:
        """The planned template first, then the others of its operation, then those of its cell."""
        groups = cell(subject.kind, turn.query_type, turn.dynamism, subject.id != self._main.id)
        planned = [turn.template] if subject.kind in turn.template.kinds else []
        same = list(groups.get(turn.template.operation, ()))
        rest = [t for group in groups.values() for t in group]
        order = [*planned, *self._draw.shuffled(same), *self._draw.shuffled(rest)]
        return [
            t
            for t in dict.fromkeys(order)
            if t.id not in self._asked and (self._text_clue or not t.legible)
        ]

    def _instead(self, turn: TurnPlan) -> list[Template]:
        """When the planned cell cannot be asked: the main thing, then any speed of the type."""
        found = self._candidates(turn, self._main)
        for speed in DYNAMISM:
            groups = cell(self._main.kind, turn.query_type, speed, False)
            found += self._draw.shuffled([t for group in groups.values() for t in group])
        return [t for t in found if t.id not in self._asked and (self._text_clue or not t.legible)]

    def _try(
        self,
        i: int,
        turn: TurnPlan,
        template: Template,
        subject: Entity,
        domain: str,
        *,
        named: bool = False,
    ) -> bool:
        draw = Draw(self._facts.seed, self._plan.id, self._main.id, i, template.id)
        moment = Moment(
            facts=self._facts,
            statistics=self._statistics,
            draw=draw,
            at=self._at,
            subject=subject,
            polarity=turn.polarity,
            order=turn.order,
            text_clue=self._text_clue,
            view=tuple(self._visible),
        )
        try:
            draft = OPERATIONS[template.operation].bind(template, moment)
            if draft is None:
                return False
            answer, accesses = evaluate(draft.program, self._facts, self._at)
        except DataError:
            return False
        if self._given_away(answer, draft):
            return False
        self._add(i, template, subject, domain, draft, answer, accesses, draw, named)
        return True

    def _given_away(self, answer: Answer, draft: Draft) -> bool:
        """Whether an earlier turn has named the answer: copying must not pay."""
        if draft.choice or answer.kind not in ("entity", "entities"):
            return False
        ids = [answer.value] if answer.kind == "entity" else list(answer.value)
        if self._main.id in ids and not self._questions:
            return False
        return any(self._facts.entity(e).name in self._said for e in ids)

    def _add(
        self,
        i: int,
        template: Template,
        subject: Entity,
        domain: str,
        draft: Draft,
        answer: Answer,
        accesses: tuple[Access, ...],
        draw: Draw,
        named: bool,
    ) -> None:
        if named:
            words = draw.pick(self._voice.operations["again"])
            text, needs_history = utter(words.format(other=subject.name), draw), True
        else:
            text, needs_history = self._words(template, subject, draft, draw)
        main = subject.id == self._main.id
        known = any(n in self._said for n in (self._main.name, *self._main.aliases))
        wording, accept = say_answer(answer, self._facts)
        touched = dict.fromkeys((subject.id, *(a.entity_id for a in accesses)))
        for other in draft.visible:
            if other not in self._visible:
                self._visible.append(other)
        self._questions.append(
            Question(
                id=f"{self._plan.id}-{i}",
                index=i,
                template=template.id,
                text=text,
                answer=wording,
                accept=accept,
                answer_kind=answer.kind,
                program=draft.program,
                at=self._at,
                entity_id=subject.id,
                entities=tuple(touched),
                needs=tuple(
                    Need(entity_id=a.entity_id, attribute=a.attribute, at=a.at) for a in accesses
                ),
                visible=(self._main.id, *(e.id for e in draft.visible)),
                domain=domain,
                query_type=template.query_type,
                form="false-premise" if draft.false_premise else template.form,
                dynamism=template.dynamism,
                popularity=subject.popularity,
                source=self._plan.source,
                needs_image=main and (template.pictured or not known),
                needs_history=needs_history,
                text_clue=self._text_clue,
                external=not (template.visual and (not template.legible or self._text_clue)),
                false_premise=draft.false_premise,
                choice=draft.choice,
            )
        )
        self._mention(subject, text, answer, accesses)
        self._answers.append(answer)
        self._subjects.append(subject)
        self._templates.append(template)
        self._asked.add(template.id)
        self._said = f"{self._said}\n{text}\n{wording}"

    def _mention(
        self, subject: Entity, text: str, answer: Answer, accesses: tuple[Access, ...]
    ) -> None:
        self._mentioned.append(subject)
        read = [self._facts.entity(a.entity_id) for a in accesses if a.entity_id != subject.id]
        self._mentioned += [e for e in read if e.name in text]
        if answer.kind == "entity":
            self._mentioned.append(self._facts.entity(answer.value))
        elif answer.kind == "entities":
            self._mentioned += [self._facts.entity(i) for i in answer.value]

    def _words(
        self, template: Template, subject: Entity, draft: Draft, draw: Draw
    ) -> tuple[str, bool]:
        """The question in words, and whether it leans on earlier turns."""
        main = subject.id == self._main.id
        phrase, leaning = self._phrase(subject, template, draw)
        noun = noun_of(subject.kind)
        before = self._questions[-1] if self._questions else None
        if (
            before is not None
            and template.operation == "attribute"
            and self._subjects[-1].id == subject.id
            and before.template.split("/")[1] in ("attribute", "past", "hop")
            and draw.chance(_ELLIPSIS)
        ):
            return utter(
                about(draw.pick(words_of(template, self._voice).short), phrase), draw
            ), True
        pattern = draw.pick(wordings(template, draft, self._voice))
        slots = {"noun": noun, "plural": plural_of(subject.kind), **draft.slots}
        for _ in range(2):
            for name, value in slots.items():
                pattern = pattern.replace(f"{{{name}}}", value)
        if phrase == "it" and "{x}'s" in pattern:
            phrase = f"this {noun}" if main else f"that {noun}"
        sentence = about(pattern, phrase)
        if main and self._subjects and self._subjects[-1].id != subject.id:
            sentence = (
                draw.pick(("", "", self._voice.operations["back"][draw.below(3)] + " ")) + sentence
            )
        return utter(sentence, draw), leaning

    def _phrase(self, subject: Entity, template: Template, draw: Draw) -> tuple[str, bool]:
        """How the subject is referred to."""
        noun = noun_of(subject.kind)
        again = bool(self._subjects) and self._subjects[-1].id == subject.id
        if subject.id == self._main.id:
            if again and not template.pictured and draw.chance(0.6):
                return "it", False
            return f"this {noun}", False
        same = [e.id for e in self._mentioned if e.kind == subject.kind]
        if not same or same[-1] != subject.id:
            return subject.name, False
        if again and subject.kind != "person" and draw.chance(0.6):
            return "it", True
        return f"that {noun}", True


def _query_time(facts: FactBase, draw: Draw) -> str:
    """An instant of the snapshot between eight in the morning and nine in the evening."""
    date = dt.date.fromisoformat(facts.window[0][:10]) + dt.timedelta(days=draw.below(WINDOW_DAYS))
    return f"{date}T{draw.between(8, 20):02d}:{draw.below(60):02d}"
