"""What lists and reports read of the saved records, without decoding the rest.

A report over a quarter of a million turns needs few of their fields. Each struct here stands for a
part of the record that it names; `tests/test_partial_records.py` holds names and defaults to that
record.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mmrag.records import Outcome, Usage, spoken_condition, staged_condition


class PartialRecord(msgspec.Struct):
    """Base of all parts of records."""


class PartialReference(PartialRecord, kw_only=True):
    """Of a `Reference`."""

    text: str = ""
    accept: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    grounding: dict[str, str] = {}


class PartialEntity(PartialRecord, kw_only=True):
    """Of a turn's `extra`, where the data set says which entity is asked about."""

    entity_id: Any = None
    entity_name: Any = None


class ListedTurn(PartialRecord, kw_only=True):
    """Of a `Turn`: what a list shows."""

    query: str
    domain: str = "other"
    query_type: str = "simple-knowledge"
    meta: dict[str, str] = {}


class PartialUtterance(PartialRecord, kw_only=True):
    """Of an `Utterance`."""

    goal: int
    stands_for: str = ""


class CountedTurn(ListedTurn, kw_only=True):
    """Of a `Turn`: what is counted."""

    index: int
    reference: PartialReference
    dynamism: str = "static"
    popularity: str | None = None
    text_clue: bool | None = None
    needs_image: bool | None = None
    needs_history: bool | None = None
    extra: PartialEntity = msgspec.field(default_factory=PartialEntity)
    wearer: PartialUtterance | None = None


class ListedCapture(PartialRecord, kw_only=True):
    """Of a `Capture`: what a list shows."""

    quality: str = "normal"
    is_ego: bool = True


class PartialLink(PartialRecord, kw_only=True):
    """Of a capture's `degraded`, where the picture was sent over a link."""

    bytes: int = 0
    seconds: float = 0.0
    late: bool = False


class PartialDegraded(PartialRecord, kw_only=True):
    """Of a capture's `degraded`."""

    link: PartialLink | None = None


class CountedCapture(ListedCapture, kw_only=True):
    """Of a `Capture`: what is counted."""

    degradation: str = "clean"
    degraded: PartialDegraded | None = None


class ListedSession(PartialRecord, kw_only=True):
    """Of a `Session`: what a list shows."""

    turns: tuple[ListedTurn, ...]
    capture: ListedCapture | None = None


class CountedSession(PartialRecord, kw_only=True):
    """Of a `Session`: what is counted."""

    id: str
    turns: tuple[CountedTurn, ...]
    capture: CountedCapture | None = None
    fault: str = ""
    stage: str = ""
    spoken: str = ""

    @property
    def degradation(self) -> str:
        """The condition, as a `Session` has it."""
        picture = self.capture.degradation if self.capture else "clean"
        return self.fault or staged_condition(spoken_condition(picture, self.spoken), self.stage)


class PartialEvidence(PartialRecord, kw_only=True):
    """Of an `Evidence`. What is long stays undecoded until it is asked for."""

    source: str = ""
    id: str = ""
    text: msgspec.Raw = msgspec.Raw(b'""')
    title: msgspec.Raw = msgspec.Raw(b'""')
    url: str = ""
    attributes: msgspec.Raw = msgspec.Raw(b"{}")


class PartialStep(PartialRecord, kw_only=True):
    """Of a `Step`."""

    name: str = ""
    start: float = 0.0
    seconds: float = 0.0
    evidence: tuple[PartialEvidence, ...] = ()
    steps: tuple[PartialStep, ...] = ()


class ReplyText(PartialRecord, kw_only=True):
    """Of a `Reply`: its words."""

    text: str = ""
    ask: str | None = None
    abstained: bool = False


class CountedReply(ReplyText, kw_only=True):
    """Of a `Reply`: what is counted."""

    citations: tuple[str, ...] = ()
    confidence: float | None = None
    trace: tuple[PartialStep, ...] = ()
    usage: Usage = Usage()


class ResultText(PartialRecord, kw_only=True):
    """Of a `TurnResult`: what was said, and under which degradation."""

    turn_index: int
    query: str = ""
    degradation: str = "clean"
    reply: ReplyText | None = None
    seconds: float = 0.0
    step: bool = False


class PartialHeard(PartialRecord, kw_only=True):
    """Of a `Heard`."""

    text: str


class CountedResult(PartialRecord, kw_only=True):
    """Of a `TurnResult`: what is counted."""

    turn_index: int
    reply: CountedReply | None = None
    seconds: float = 0.0
    fault: str = ""
    heard: PartialHeard | None = None
    step: bool = False
    first_word: float | None = None
    delay: float = 0.0


class PartialVote(PartialRecord, kw_only=True):
    """Of a `Vote`."""

    outcome: Outcome


class PartialVerdict(PartialRecord, kw_only=True):
    """Of a `Verdict`."""

    outcome: Outcome
    exact: bool = False
    usage: Usage = Usage()
    votes: tuple[PartialVote, ...] = ()
