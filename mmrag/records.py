"""The frozen records that everything passes around. They hold data, never behaviour of a part.

They are `msgspec` structs: immutable, compared by value, encoded to and from JSON with types
checked on the way in. Names are the project's vocabulary (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Literal, TypeVar, cast

import msgspec

from mmrag.files.images import LazyImage

T = TypeVar("T")

ImageLookup = Callable[[str], LazyImage]
"""Content hash → picture."""

SCHEMA_VERSION = 1
"""Version of the records as they are saved. Raised with a migration, never silently."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels; right and bottom are exclusive."""

Polygon = tuple[tuple[float, float], ...]
"""Corner points in pixels, in order; closed implicitly."""

Gaze = tuple[float, float]
"""Where somebody looks: shares of a picture's width and height, from its left upper corner."""

NO_PICTURE = "no picture"
"""The quality of a conversation that is text alone."""

Json = dict[str, Any]
"""A JSON object whose shape belongs to whoever wrote it."""

MOST_TOKENS = 2**31 - 1
"""Of one turn; reports keep a count in four bytes."""

ASKS = ("which", "look", "again")
"""What a reply may ask back: which thing is meant, another picture, the question once more."""

ONLY_ASKED = "I don't know"
"""What a reply that asks and answers nothing is judged as."""


class Outcome(StrEnum):
    """What a judge made of a reply. `correct` does not exist here: scoring merges the first two."""

    PERFECT = "perfect"
    ACCEPTABLE = "acceptable"
    MISSING = "missing"
    INCORRECT = "incorrect"
    UNSCORED = "unscored"

    @property
    def is_correct(self) -> bool:
        """Perfect and acceptable count as correct in automatic evaluation."""
        return self in (Outcome.PERFECT, Outcome.ACCEPTABLE)

    @property
    def score(self) -> float | None:
        """CRAG's grade: 1, 0.5, 0, −1; None when unscored."""
        return {"perfect": 1.0, "acceptable": 0.5, "missing": 0.0, "incorrect": -1.0}.get(
            self.value
        )


class Status(StrEnum):
    """What happened to a turn, apart from how good the reply was."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    AGENT_ERROR = "agent_error"
    TIMEOUT = "timeout"
    JUDGE_ERROR = "judge_error"
    DATA_ERROR = "data_error"
    EAR_ERROR = "ear_error"
    SKIPPED_AFTER_STOP = "skipped_after_stop"

    @property
    def is_failure(self) -> bool:
        """An infrastructure failure: unscored, neither a strike nor a pardon."""
        return self in (
            Status.AGENT_ERROR,
            Status.TIMEOUT,
            Status.JUDGE_ERROR,
            Status.DATA_ERROR,
            Status.EAR_ERROR,
        )


NOTHING_TO_JUDGE = frozenset(
    {Status.AGENT_ERROR, Status.TIMEOUT, Status.DATA_ERROR, Status.EAR_ERROR}
)
"""Failures before there was anything to judge: such a turn lacks no verdict."""


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all records."""


class Capture(Record, frozen=True, kw_only=True):
    """What the wearer's camera saw."""

    image: LazyImage
    quality: str = "normal"
    """normal, low-light, blurred, truncated, occluded or rotated."""
    focus: Box | None = None
    """Where the entity asked about is; None means the whole frame."""
    polygon: Polygon | None = None
    """The entity's outline where it is known."""
    is_ego: bool = True
    """First-person picture (True) or catalogue-like (False)."""
    degradation: str = "clean"
    """Spec of what was done to the picture before the agent saw it, e.g. `low-light@3`."""
    degraded: Json | None = None
    """The optics record of that degradation."""


class Reference(Record, frozen=True, kw_only=True):
    """The accepted truth of one turn."""

    text: str
    accept: tuple[str, ...] = ()
    """Other wordings, units or roundings that are just as true."""
    evidence: tuple[str, ...] = ()
    """Ids or URLs of evidence that supports it."""
    grounding: Mapping[str, str] = {}
    """Evidence id → answers, related, outdated or irrelevant."""

    @property
    def all_texts(self) -> tuple[str, ...]:
        """The main wording first, then the other accepted ones."""
        return (self.text, *self.accept)


class Utterance(Record, frozen=True, kw_only=True):
    """What a live wearer meant by what they said, so that it can be proved (docs/wearer.md)."""

    move: str
    """ask, again, repeat, misheard, point, correct, object, look, cannot, press, hello or
    interrupt."""
    goal: int
    """Which goal of the agenda it serves."""
    claims: tuple[tuple[str, ...], ...] = ()
    """What the words say about the world, each as (kind, argument, …)."""
    look: str = ""
    """How another picture was taken: brighter, closer, …"""
    patience: int = 0
    """That the wearer has left when saying it."""
    seconds: float = 0.0
    """Of the conversation before it, as the wearer's clock counts them."""
    stands_for: str = ""
    """The agenda's question, where a person asks it in words of their own."""


Label = Literal["answers", "related", "outdated", "irrelevant", "unknown"]
"""What a passage does for the answer of a question."""


class Passage(Record, frozen=True, kw_only=True):
    """A text that a session brings for the agent to search."""

    id: str
    text: str
    title: str = ""
    url: str = ""
    date: str | None = None
    provider: str = ""
    """Where it comes from, as the data set calls it: web, private, ..."""
    label: Label = "unknown"
    """Agents are never given it."""


class Heard(Record, frozen=True, kw_only=True):
    """What a recogniser made of a spoken question."""

    text: str
    confidence: float | None = None
    """Its own probability of being right."""
    said: str = ""
    """Hash of the sound as it was said; the run keeps it beside its pictures."""
    arrived: str = ""
    """Hash of the sound as the recogniser got it."""


class Turn(Record, frozen=True, kw_only=True):
    """One question of a conversation with everything known about it."""

    index: int
    id: str
    query: str
    reference: Reference
    domain: str = "other"
    query_type: str = "simple-knowledge"
    dynamism: str = "static"
    popularity: str | None = None
    text_clue: bool | None = None
    """Whether the entity's name can be read in the picture."""
    needs_image: bool | None = None
    needs_history: bool | None = None
    extra: Json = {}
    meta: Mapping[str, str] = {}
    """Dimensions of the data set's own, beside those above: reports slice by them too."""
    wearer: Utterance | None = None
    """Of a live conversation: what the wearer meant. Scripted wearers mean their question."""
    capture: Capture | None = None
    """Another picture, taken just before this turn; None: the last one still holds."""
    gaze: Gaze | None = None
    """Where the wearer looks, in the session's picture before anything was done to it."""
    box: Box | None = None
    """What the question is about, in the picture before anything was done to it, where that is
    handed over."""
    handed: tuple[Passage, ...] = ()
    """What a stage hands over: the passages that answer, and facts as sentences."""
    audio: str = ""
    """A recording of the question, by its path from the data's folder."""


class Session(Record, frozen=True, kw_only=True):
    """One conversation about one capture, or about none: then it is text alone."""

    id: str
    capture: Capture | None = None
    turns: tuple[Turn, ...]
    query_time: str | None = None
    """ISO date-time at which the wearer asks; real-time facts are as of then."""
    extra: Json = {}
    passages: tuple[Passage, ...] = ()
    """Where there are any, the agent's web search finds these and nothing else."""
    fault: str = ""
    """What goes wrong around the assistant, e.g. `web-empty@3`; a condition as a degradation is."""
    stage: str = ""
    """How much of the truth was handed over, e.g. `named`; part of the condition."""
    spoken: str = ""
    """How the questions are asked aloud, e.g. `street@3`; empty: they are typed."""

    @property
    def degradation(self) -> str:
        """The condition: a fault, or what was done to the picture, which needs one, and to the
        question, and a stage."""
        picture = "clean" if self.capture is None else self.capture.degradation
        return self.fault or staged_condition(spoken_condition(picture, self.spoken), self.stage)

    @property
    def quality(self) -> str:
        """Of the picture; `no picture` is a slice of its own."""
        return NO_PICTURE if self.capture is None else self.capture.quality


def staged_condition(degradation: str, stage: str) -> str:
    """The name of a condition under which a stage of the truth is handed over.

    >>> staged_condition("low-light@3", "pointed"), staged_condition("clean", "named")
    ('low-light@3/pointed', 'named')
    """
    return _joined(degradation, "/", stage)


def spoken_condition(picture: str, spoken: str) -> str:
    """The condition of what was done to a picture and to a question.

    >>> spoken_condition("low-light@3", "street@1"), spoken_condition("clean", "quiet")
    ('low-light@3+street@1', 'quiet')
    """
    return _joined(picture, "+", spoken)


def _joined(condition: str, sign: str, more: str) -> str:
    if not more:
        return condition
    return more if condition == "clean" else f"{condition}{sign}{more}"


class Exchange(Record, frozen=True, kw_only=True):
    """One element of the history: a query and what the agent itself replied to it."""

    query: str
    reply: str
    ask: str | None = None
    """What the reply asked back."""


History = tuple[Exchange, ...]
"""The agent's own earlier turns; failed turns are absent, so error text never gets in."""


class Query(Record, frozen=True, kw_only=True):
    """All that an agent is given for one turn."""

    text: str
    image: LazyImage | None = None
    """None in a conversation without a picture."""
    history: History = ()
    session_id: str = ""
    turn_index: int = 0
    query_time: str | None = None
    domain: str | None = None
    """Given only where the protocol of the data set gives it to agents."""
    passages: tuple[Passage, ...] = ()
    """What the session brings to be searched, without labels; a run's web search finds these."""
    handed: int = 0
    """How many of the passages, the first ones, are handed over as right: a run's web search finds
    them before all else, and searches what it would have searched without them."""
    may_ask: bool = False
    """Whether the wearer hears what a reply asks back (`Reply.ask`)."""
    earlier: tuple[LazyImage, ...] = ()
    """The pictures that were taken before `image`, the first one first."""
    gaze: Gaze | None = None
    """Where in `image` the wearer looks: of glasses that track eyes, and where a run gives it."""
    sound: bytes | None = None
    """A spoken question as a WAV file, for an agent with `takes_sound`; `text` was heard in it."""

    @property
    def images(self) -> tuple[LazyImage, ...]:
        """The picture, or none, as a message to a model takes it."""
        return () if self.image is None else (self.image,)

    @property
    def scope(self) -> str:
        """Queries of one scope see the same picture and search the same passages."""
        picture = "" if self.image is None else self.image.sha256
        if self.handed:
            right = "/".join(passage.id for passage in self.passages[: self.handed])
            return f"{picture}/{self.session_id}/{right}"
        return f"{picture}/{self.session_id}" if self.passages or not picture else picture


class Evidence(Record, frozen=True, kw_only=True):
    """One retrieved item."""

    source: str
    """image-kg, web, ocr, or the name of another search."""
    id: str
    score: float
    text: str = ""
    """The matched passage (web), or the entity's name (image-kg)."""
    title: str = ""
    url: str = ""
    date: str | None = None
    attributes: Json = {}
    """Entity attributes (image-kg); place in the page as start and end (web)."""


class Step(Record, frozen=True, kw_only=True):
    """One step of an agent's work. `start` and `seconds` are the only times in a trace."""

    name: str
    start: float = 0.0
    """Seconds since the turn began."""
    seconds: float = 0.0
    info: Json = {}
    evidence: tuple[Evidence, ...] = ()
    steps: tuple[Step, ...] = ()


class Usage(Record, frozen=True, kw_only=True):
    """What a reply or a verdict cost."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    cost: float = 0.0
    """In US dollars, where prices are known."""

    @property
    def is_possible(self) -> bool:
        """Whether these can be counts and a cost: finite, not negative, no overflow anywhere."""
        counts = (self.input_tokens, self.output_tokens, self.calls)
        return all(0 <= n <= MOST_TOKENS for n in counts) and 0 <= self.cost <= MOST_TOKENS

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            calls=self.calls + other.calls,
            cost=self.cost + other.cost,
        )


class Reply(Record, frozen=True, kw_only=True):
    """What an agent said, and how it got there."""

    text: str
    citations: tuple[str, ...] = ()
    """Evidence ids the reply rests on."""
    abstained: bool = False
    confidence: float | None = None
    """The agent's own probability of being right."""
    trace: tuple[Step, ...] = ()
    usage: Usage = Usage()
    ask: str | None = None
    """One of `ASKS`, for a wearer who hears it (`Query.may_ask`)."""

    @property
    def only_asks(self) -> bool:
        """Whether there is nothing in it to judge but a request."""
        text = self.text.strip()
        return self.ask is not None and (self.abstained or not text or text.endswith("?"))

    @property
    def answer(self) -> str:
        """What there is to judge; a request answers nothing.

        >>> Reply(text="Could you go closer?", ask="look").answer
        "I don't know"
        """
        return ONLY_ASKED if self.only_asks else self.text


class JudgeItem(Record, frozen=True, kw_only=True):
    """What a judge is given."""

    question: str
    references: tuple[str, ...]
    prediction: str
    id: str = ""


def item_of(session_id: str, turn: Turn, reply: Reply) -> JudgeItem:
    """What a judge is given of a turn's reply."""
    return JudgeItem(
        question=turn.query,
        references=turn.reference.all_texts,
        prediction=reply.answer,
        id=f"{session_id}/{turn.index}",
    )


class Vote(Record, frozen=True, kw_only=True):
    """One judge's opinion inside a verdict."""

    judge: str
    outcome: Outcome
    score: float | None = None
    reason: str = ""


class Verdict(Record, frozen=True, kw_only=True):
    """What was decided about one reply."""

    outcome: Outcome
    judge: str
    """Id of the judge: name, version and a hash of whatever steers it."""
    score: float | None = None
    exact: bool = False
    """Equal to a reference after normalisation."""
    reason: str = ""
    votes: tuple[Vote, ...] = ()
    usage: Usage = Usage()
    """What the judge's own model took, for every attempt that it answered."""


class TurnResult(Record, frozen=True, kw_only=True):
    """Everything that happened in one turn of a run. One of these is one durable commit."""

    session_id: str
    turn_index: int
    status: Status
    degradation: str = "clean"
    query: str = ""
    reply: Reply | None = None
    verdict: Verdict | None = None
    error: str | None = None
    """What failed, in words; never shown to the agent and never part of a history."""
    seconds: float = 0.0
    fault: str = ""
    """The kind of fault that this turn met and felt; other turns of the condition are as ever."""
    heard: Heard | None = None
    """Of a spoken question; `query` is what was said."""
    got: str = ""
    """What the assistant got in place of the wearer's picture or words; else empty."""
    first_word: float | None = None
    """Seconds until the reply's first word; None where it came in one piece, after `seconds`."""
    delay: float = 0.0
    """Seconds that are declared and not waited for: of the picture's link, and a fault's."""
    unheard: str = ""
    """The rest of a reply that a live wearer did not wait for; `reply` has what they heard."""
    step: bool = False
    """A live wearer went on about the same goal: the goal's last turn is what counts."""

    @property
    def first_heard(self) -> float:
        """Seconds until the wearer can hear the first word."""
        return heard_times(self.delay, self.seconds, self.first_word)[0]

    @property
    def last_heard(self) -> float:
        """Seconds until the last word is there."""
        return heard_times(self.delay, self.seconds, self.first_word)[1]

    @property
    def is_unheard(self) -> bool:
        """Whether the wearer heard nothing of the reply: no word, and no request."""
        return self.reply is not None and not self.reply.text and self.reply.ask is None


def heard_times(delay: float, seconds: float, first_word: float | None) -> tuple[float, float]:
    """Seconds until the wearer can hear a reply's first word and its last, by a turn's record."""
    return delay + (seconds if first_word is None else first_word), delay + seconds


def outcome_of(result: TurnResult) -> Outcome:
    """What a turn counts as: a failure of the infrastructure is unscored."""
    return Outcome.UNSCORED if result.verdict is None else result.verdict.outcome


NOT_ASKED = "not_asked"


def outcome_word(result: TurnResult) -> str:
    """What tables say of a turn: its outcome, or `not_asked` of one that no judge was to see."""
    return NOT_ASKED if result.status is Status.SKIPPED_AFTER_STOP else str(outcome_of(result))


def reply_status(reply: Reply, verdict: Verdict | None) -> Status:
    """Status of a turn that has a reply, given what the judge made of it."""
    if verdict is None or verdict.outcome is Outcome.UNSCORED:
        return Status.JUDGE_ERROR
    if reply.abstained or verdict.outcome is Outcome.MISSING:
        return Status.ABSTAINED
    return Status.ANSWERED


def encode(record: Any) -> bytes:
    """A record as JSON bytes; fields in declaration order, so equal records give equal bytes."""
    return _ENCODER.encode(record)


def decode_as(kind: type[T], data: bytes | str, *, images: ImageLookup | None = None) -> T:
    """Read a record back. `images` turns a content hash into a picture (the store's lookup)."""

    def dec_hook(wanted: type, value: Any) -> Any:
        if wanted is LazyImage and isinstance(value, str):
            digest = value.removeprefix("sha256:")
            if images is not None:
                return images(digest)
            return LazyImage(_no_image, name=value, sha256=digest)
        raise TypeError(f"cannot read {wanted.__name__} from {cast('object', value)!r}")

    return msgspec.json.decode(data, type=kind, dec_hook=dec_hook)


def _enc_hook(value: Any) -> Any:
    if isinstance(value, LazyImage):
        return f"sha256:{value.sha256}"
    raise TypeError(f"cannot save a {type(value).__name__}")


def _no_image() -> bytes:
    from mmrag.errors import ImageError

    raise ImageError("This record was read without its picture store; open it through the run.")


_ENCODER = msgspec.json.Encoder(enc_hook=_enc_hook, order="deterministic")
