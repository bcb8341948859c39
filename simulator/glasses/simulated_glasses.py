"""A simulated pair of glasses: an agent to a run, and to an app what it would find on a face.

The app is not called; it sees frames, hears the wearer and replies when it likes. Whose reply ends
first is heard. Times are those of this side's clock: what an app says of times is not looked at.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from typing import Any

import msgspec

from mmrag.errors import Denied, EarError, MmragError, Unavailable, UsageError, error_text
from mmrag.files.images import LazyImage
from mmrag.records import ASKS, Heard, Query, Record, Reply, Step, TurnResult
from mmrag.turn_clock import CLOCK, TurnClock
from simulator.ears.sounds import read
from simulator.ears.speech_pipeline import SpeechPipeline
from simulator.glasses.waiting_agent import WaitingAgent

MOST_WORDS = 20_000
"""Characters of a reply."""

LISTENING = 10.0
"""Seconds after its last request for which an app without a WebSocket still counts as there."""


class AppReply(Record, frozen=True, kw_only=True):
    """A reply, or the end of one that came in parts. What else a client sends is left aside."""

    to: str
    text: str | None = None
    ask: str | None = None
    confidence: float | None = None


class Stale(UsageError):
    """A reply to words that are not being answered: answered already, given up, or never said."""


class SimulatedGlasses(WaitingAgent):
    """What every app at this pair of glasses sees, and where its replies go."""

    takes_sound = True

    def __init__(self, ear: SpeechPipeline | Unavailable) -> None:
        """`ear` writes down replies that come as sound, or says why it cannot."""
        super().__init__()
        self._ear = ear
        self._one = asyncio.Lock()  # a sound takes its time, and who replies later waits for it
        self.over = False
        """Whether the wearer has taken the glasses off for good."""
        self.sockets = 0
        """Apps with an open WebSocket."""
        self._last_request = -LISTENING
        self._to = ""
        self._since = 0.0
        self._clock: TurnClock | None = None
        self._kept: asyncio.Future[None] | None = None
        """Done when the reply that was taken last is on the disk."""

    async def ready(self) -> None:
        """The wearer speaks only while an app is there, and waits for one that has gone."""
        while not self.sockets and time.monotonic() - self._last_request > LISTENING:
            await asyncio.sleep(0.05)

    async def answer(self, query: Query) -> Reply:
        """What an app replies."""
        self._settle(Stale("the reply could not be kept; the words are said again."))
        self._to, self._since = secrets.token_hex(8), time.perf_counter()
        self._clock = CLOCK.get()
        return await super().answer(query)

    def seen(self) -> None:
        """An app without a WebSocket has asked for something."""
        self._last_request = time.monotonic()

    def kept(self, result: TurnResult) -> None:
        """What came of the words said last is on the disk: whose reply it has may know."""
        lost = result.reply is None
        self._settle(Stale(f"the reply was not kept: {result.error}") if lost else None)

    def _settle(self, why_lost: MmragError | None) -> None:
        if self._kept is not None and not self._kept.done():
            if why_lost is None:
                self._kept.set_result(None)
            else:
                self._kept.set_exception(why_lost)

    async def end(self) -> None:
        """Nothing more is going to be said."""
        self._settle(Unavailable("the glasses end; the words are said again when they go on."))
        self.over = True
        self._ask(None)

    @property
    def words(self) -> dict[str, Any]:
        """The event that tells how things stand: `words`, `quiet` or `over`."""
        if self.asked is None:
            return {"type": "over" if self.over else "quiet"}
        query = self.asked.query
        return {
            "type": "words",
            "to": self._to,
            "text": query.text,
            "conversation": query.session_id,
            "turn": query.turn_index,
            "time": query.query_time,
            "may_ask": list(ASKS) if query.may_ask else [],
            "history": [{"words": said.query, "reply": said.reply} for said in query.history],
            "frame": None if query.image is None else query.image.sha256,
            "sound": None if query.sound is None else hashlib.sha256(query.sound).hexdigest(),
            "gaze": query.gaze,
        }

    @property
    def frame(self) -> LazyImage | None:
        """What the camera sees."""
        return None if self.asked is None else self.asked.query.image

    @property
    def sound(self) -> bytes | None:
        """What the microphones hear, a WAV file, where the wearer's words are spoken."""
        return None if self.asked is None else self.asked.query.sound

    def check(self, to: str) -> None:
        """Refuse what answers other words than those that were said last."""
        if self.asked is None or to != self._to or self.asked.reply.done():
            raise Stale(
                f"nobody waits for a reply to {to[:40]!r}: answered, given up or never said."
            )

    async def hear(
        self,
        said: AppReply,
        *,
        app: str = "",
        first: float | None = None,
        sound: bytes | None = None,
    ) -> str:
        """Take a whole reply, in words or in a sound, and return what was heard once that is on the
        disk. `first` is when its first part came, on this side's clock."""
        now = time.perf_counter()
        async with self._one:
            self.check(said.to)
            assert self.asked is not None
            text, ask = said.text or "", said.ask if self.asked.query.may_ask else None
            if len(text) > MOST_WORDS:
                raise UsageError(f"a reply has at most {MOST_WORDS:,} characters.")
            if said.ask not in (None, *ASKS):
                raise UsageError(f"ask is {', '.join(ASKS)}, or left out.")
            if said.confidence is not None and not 0 <= said.confidence <= 1:
                raise UsageError("confidence lies between 0 and 1.")
            if said.text is None and ask is None and sound is None:
                raise UsageError("a reply has text, or an ask of may_ask, or is a sound.")
            info: dict[str, Any] = {"app": app[:80]} if app else {}
            if sound is not None:
                heard, ear = await self._written(said.to, sound)
                text, info = heard.text, {**info, "ear": ear, "confidence": heard.confidence}
            begun = now if first is None else first
            step = Step(
                name="spoken",
                start=round(max(0.0, begun - self._since), 6),
                seconds=round(now - begun, 6),
                info=info,
            )
            if first is not None and self._clock is not None:
                self._clock.word(first)
            kept = self._kept = asyncio.get_running_loop().create_future()
            self.asked.reply.set_result(
                Reply(text=text, ask=ask, confidence=said.confidence, trace=(step,))
            )
        await kept
        return text

    async def _written(self, to: str, sound: bytes) -> tuple[Heard, str]:
        """What the ear hears, and its id; neither its time nor its failure is the app's."""
        if isinstance(self._ear, Unavailable):
            raise Unavailable(f"a reply in sound cannot be heard: {self._ear}")
        whole = await asyncio.to_thread(read, sound, name="reply.wav")
        self.check(to)
        assert self.asked is not None
        if self._clock is not None:
            self._clock.stop()
        try:
            heard = await self._ear.write_down(whole)
        except MmragError as error:
            self.check(to)
            lost = error if isinstance(error, Denied) else EarError(error_text(error))
            self.asked.reply.set_exception(lost)
            raise
        self.check(to)
        return heard, self._ear.ear.id


def parse_app_reply(data: bytes | str) -> AppReply:
    """Read a reply."""
    try:
        return msgspec.json.decode(data, type=AppReply)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"no reply: {error}. Send {{to, text}}.") from error
