"""What is known about a question. Pages, pictures, the builder and agents' tests rely on these."""

from __future__ import annotations

from typing import Any

from mmrag.records import Record, Reference, Turn
from simulator.world.language.answer_program import AnswerKind

Program = list[Any]
"""An expression `[op, argument, …]` over the facts; JSON (see `language/answer_program.py`)."""

FORMS = ("plain", "condition", "set", "post-processing", "false-premise")
"""CRAG's question types beside CRAG-MM's six."""

SETTLED_BY = ("alone", "attention", "words", "hand", "gaze", "history")
"""What tells which thing in view a question means."""

NAMED = "named"
"""Of a question about "that one" which an earlier answer has named: history settles it, and no
picture is needed."""


class NeededFact(Record, frozen=True, kw_only=True):
    """A fact that the answer rests on: a passage that states it `answers`."""

    entity_id: str
    attribute: str
    at: str
    """The instant at which the fact has to hold: a passage with another value is outdated."""


class Question(Record, frozen=True, kw_only=True):
    """One question with its answer and everything known about both."""

    id: str
    index: int
    template: str
    """domain/operation/need; the same for all paraphrases."""
    text: str
    ways: tuple[str, ...] = ()
    """The other wordings of its author, filled alike."""
    answer: str
    accept: tuple[str, ...] = ()
    answer_kind: AnswerKind
    program: Program
    at: str
    """Query time: the program is evaluated as of then."""
    entity_id: str
    """What the question is about: the pictured thing, or one introduced by the conversation."""
    entities: tuple[str, ...] = ()
    """Everything the program touches, the subject first."""
    needs: tuple[NeededFact, ...] = ()
    visible: tuple[str, ...] = ()
    """Things that must stand in the picture for this question, the main one first."""
    means: tuple[str, ...] = ()
    """Things in view that the words mean: "this", "the one next to it", "these". None where the
    question is about what an earlier turn or a name has brought up."""
    could_mean: tuple[str, ...] = ()
    """Kinds of things that the words could mean: those that their noun fits, and without a noun all
    that have what is asked for. A thing in view of such a kind that is not meant is a rival."""
    settled_by: str = ""
    """How it is settled which thing is meant, one of `SETTLED_BY` or `NAMED`; empty where
    none is."""
    domain: str
    query_type: str
    form: str = "plain"
    dynamism: str
    popularity: str
    source: str = "web"
    """kg: one of the questions with equal thirds of head, torso and tail; web: the others."""
    needs_image: bool
    needs_history: bool
    text_clue: bool
    external: bool = True
    """Whether facts from outside the picture are needed."""
    false_premise: bool = False
    choice: tuple[str, ...] = ()
    """The options that the question itself offers: yes and no."""

    def turn(
        self, *, evidence: tuple[str, ...] = (), grounding: dict[str, str] | None = None
    ) -> Turn:
        """The record that data sets and runs carry."""
        return Turn(
            index=self.index,
            id=self.id,
            query=self.text,
            reference=Reference(
                text=self.answer, accept=self.accept, evidence=evidence, grounding=grounding or {}
            ),
            domain=self.domain,
            query_type=self.query_type,
            dynamism=self.dynamism,
            popularity=self.popularity,
            text_clue=self.text_clue,
            needs_image=self.needs_image,
            needs_history=self.needs_history,
            extra={
                "template": self.template,
                "program": self.program,
                "form": self.form,
                "entity_id": self.entity_id,
                "source": self.source,
                "external": self.external,
                "false_premise": self.false_premise,
            },
        )


class Conversation(Record, frozen=True, kw_only=True):
    """A session: one picture, one to six questions. A single-turn question is one of length one."""

    id: str
    entity_id: str
    """The main thing in the picture: "this"."""
    visible: tuple[str, ...]
    """All things that must stand in the picture, the main one first; all of one kind."""
    text_clue: bool
    """Whether the names printed on them are to be legible."""
    query_time: str
    domain: str
    place: str = "out"
    """Where the wearer is: shop, home or out."""
    voice: str = ""
    """Whose wordings it is in."""
    questions: tuple[Question, ...]

    @property
    def is_multi_turn(self) -> bool:
        """Whether it belongs to the multi-turn set."""
        return len(self.questions) > 1
