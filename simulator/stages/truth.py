"""What a data set knows about a turn, and which stages that is enough for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from mmrag.errors import DataError
from mmrag.records import Box, Passage, Session
from simulator.stages.truth_stage_names import BLIND


class KnownTruth(NamedTuple):
    """The truth of one turn, as far as its data set has it; None is what it does not have."""

    box: Box | None = None
    """What the question is about, in the picture before anything was done to it."""
    names: tuple[str, ...] = ()
    """What it is called, the usual name first."""
    named: str | None = None
    """The question with the name in it, to be understood without the picture."""
    passages: tuple[Passage, ...] | None = None
    """Those that answer; none at all where no passage is needed."""
    facts: tuple[Passage, ...] | None = None
    """Those that the answer rests on, each a sentence."""


class TruthSource(Protocol):
    """Who knows the truth of sessions."""

    def of(self, session: Session) -> Sequence[KnownTruth]:
        """Of every turn, in their order."""
        ...


class OwnTruth:
    """What sessions say themselves: their box (`focus`), a name, passages labelled as answering."""

    def of(self, session: Session) -> list[KnownTruth]:
        """Of every turn: box and name are the session's."""
        box = None if session.capture is None else session.capture.focus
        found: list[KnownTruth] = []
        for turn in session.turns:
            name = str(turn.extra.get("entity_name") or "")
            said = turn.extra.get("named_query") or (with_name(turn.query, (name,)) if name else "")
            cited = turn.reference.evidence
            right = tuple(p for p in session.passages if p.label == "answers" or p.id in cited)
            found.append(
                KnownTruth(
                    box=box,
                    names=(name,) if name else (),
                    named=str(said) or None,
                    passages=right or None,
                )
            )
        return found


def with_name(question: str, names: Sequence[str]) -> str:
    """A question that does not need the picture any more.

    >>> with_name("Who built this?", ["Alder Tower"])
    'Who built this? (This is Alder Tower.)'
    >>> with_name("Which is longer?", ["Nell and the Glory", "Dust"])  # titles have an "and" too
    'Which is longer? (These are Nell and the Glory, and Dust.)'
    """
    if not names:
        return question
    if not names[1:]:
        return f"{question} (This is {names[0]}.)"
    return f"{question} (These are {', '.join(names[:-1])}, and {names[-1]}.)"


LACKING = {
    "pointed": "no box",
    "named": "no name",
    "paged": "no passages that are known to answer",
    "told": "no facts",
}
"""Stage → what data has not that cannot give it."""


def missing_truth(stage: str, session: Session, known: Sequence[KnownTruth]) -> str:
    """Why a session's data cannot give a stage; empty where it can.

    Every stage rests on those before it, but for the picture: passages without the name would be
    an answer to another question.
    """
    name = stage.partition(":")[0]
    if name == "pointed":
        if session.capture is None:
            return "no picture"
        boxes = [turn.box for turn in known if turn.box is not None]
        try:
            width, height = session.capture.image.pil().size if boxes else (0, 0)
        except DataError:
            return ""  # what is wrong with the picture is told of the turn that shows it
        shows = any(x0 < width and y0 < height and x1 > 0 and y1 > 0 for x0, y0, x1, y1 in boxes)
        return "" if shows else LACKING[name]
    for needed in BLIND[: BLIND.index(name) + 1] if name in BLIND else ():
        has = {
            "named": [turn.named is not None for turn in known],
            "paged": [turn.passages is not None for turn in known],
            "told": [turn.facts is not None for turn in known],
        }[needed]
        if not all(has):
            return LACKING[needed]
    return ""
