"""From a question to what a recogniser makes of it: said, spoilt, heard, bounded and cached.

Heard text is kept by question, voice, noise, level and seed, so that a run that is resumed,
and another agent's, hear the same and wait for nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import msgspec

from mmrag.agents.external.daemon_threads import DaemonThreads
from mmrag.errors import DataError, Denied, ServiceError, ServiceTimeout, error_text
from mmrag.files.atomic import write_bytes
from mmrag.records import Heard, Turn, encode
from simulator.ears.noises import CHATTER, noisy
from simulator.ears.sounds import Sound, read, read_file
from simulator.ears.voice_and_ear import Ear, Voice

T = TypeVar("T")

VERSION = 1
"""Of noises and bounds: raised whenever what is heard may change."""

SECONDS = 120.0
"""For one question, the models' loading included."""

MOST_SAID, MOST_HEARD = 1000, 1000
"""Characters of a question, and of what is heard of it."""

_MOST_HUNG = 3
"""Calls that hung, after which nobody is asked any more."""


class SpokenQuestion(msgspec.Struct, frozen=True):
    """A question that was said: what was heard, and the sounds before and after the noise."""

    heard: Heard
    said: bytes
    arrived: bytes


Hear = Callable[[Turn, str], Awaitable[SpokenQuestion]]
"""What becomes of a question under a spoken condition: `SpeechPipeline.hear`, or a fake."""


class SpeechPipeline:
    """The voice and the ear of a run."""

    def __init__(
        self,
        voice: Voice | None,
        ear: Ear,
        *,
        seed: int = 0,
        cache: Path | None = None,
        recordings: Path | None = None,
        seconds: float = SECONDS,
    ) -> None:
        """`recordings` is the folder of people's own; without a voice only sounds are heard."""
        self._voice, self.ear = voice, ear
        self._seed, self._cache, self._recordings = seed, cache, recordings
        self._seconds = seconds
        self.keep: Callable[[Mapping[str, bytes]], None] = lambda _: None
        """Takes the sounds of every question by their hashes."""
        self._threads, self._hung = DaemonThreads(), 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._places = asyncio.Semaphore()

    @property
    def voice(self) -> Voice:
        """Who says the questions."""
        assert self._voice is not None, "nobody says anything here"
        return self._voice

    @property
    def ids(self) -> dict[str, str]:
        """Who says and who hears: a run is resumed by the same."""
        return {"voice": self.voice.id, "ear": self.ear.id}

    @property
    def _who(self) -> str:
        ear = f"the ear {self.ear.id}"
        return f"the voice {self._voice.id} and {ear}" if self._voice else ear

    async def hear(self, turn: Turn, condition: str) -> SpokenQuestion:
        """Say a question, or play its recording, under a spoken condition; what is heard of it.

        Raises `DataError` for what cannot be said or played, `ServiceError` for a voice or an ear
        that fails or hangs, whoever wrote it.
        """
        spoken = await self._in_time(partial(self._spoken, turn, condition), "the question was")
        sounds = {_hash(sound): sound for sound in (spoken.said, spoken.arrived)}
        await asyncio.to_thread(self.keep, sounds)
        return spoken

    async def write_down(self, sound: Sound) -> Heard:
        """What is heard in a sound that somebody made.

        Raises `ServiceError` for an ear that fails or hangs.
        """
        return await self._in_time(partial(self._heard, sound.wav, "a sound"), "a sound was")

    async def _in_time(self, work: Callable[[], T], what: str) -> T:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # runs that share their parts have a loop each
            self._loop = loop
            self._places = asyncio.Semaphore(getattr(self.ear, "capacity", 1))
        async with self._places:
            if self._hung >= _MOST_HUNG:
                raise ServiceError(
                    f"{self._who} hung {self._hung} times and will be asked no more."
                )
            try:
                return await asyncio.wait_for(
                    asyncio.wrap_future(self._threads.submit(work)), self._seconds
                )
            except TimeoutError as error:
                self._hung += 1
                raise ServiceTimeout(
                    f"{what} not heard within {self._seconds:g} s by {self._who}."
                ) from error

    def _spoken(self, turn: Turn, condition: str) -> SpokenQuestion:
        said = self._said(turn)
        sound = read(said, name=turn.id)
        key = f"{self._seed}/{turn.query}"
        arrived = noisy(sound, condition, key=key, chatter=lambda: self._chatter)
        wav = arrived.wav
        heard = self._heard(wav, turn.id)
        digests = {"said": _hash(said), "arrived": _hash(wav)}
        return SpokenQuestion(msgspec.structs.replace(heard, **digests), said, wav)

    def _said(self, turn: Turn) -> bytes:
        if turn.audio:
            if self._recordings is None:
                raise DataError(f"{turn.audio}: this data has no folder of recordings.")
            return read_file(self._recordings / turn.audio).wav
        return self._voiced(turn.query)

    def _voiced(self, text: str) -> bytes:
        if not any(c.isalnum() for c in text) or len(text) > MOST_SAID:
            raise DataError(f"{text[:60]!r} cannot be said: write 1 to {MOST_SAID:,} characters.")

        def say() -> bytes:
            who = f"the voice {self.voice.id}"
            return _asked(who, lambda: read(self.voice.say(text).wav, name="what it said")).wav

        return self._cached(f"{self.voice.id}\x00{text}", ".wav", say)

    @cached_property
    def _chatter(self) -> list[Sound]:
        return [read(self._voiced(text)) for text in CHATTER]

    def _heard(self, wav: bytes, name: str) -> Heard:
        sound = read(wav, name=name)

        def ask() -> bytes:
            heard = _asked(f"the ear {self.ear.id}", lambda: self.ear.hear(sound))
            if len(heard.text) > MOST_HEARD:
                raise ServiceError(
                    f"the ear {self.ear.id} wrote {len(heard.text):,} characters for "
                    f"{sound.seconds:.0f} s of sound: nobody said that."
                )
            plain = "".join(c if c.isprintable() else " " for c in heard.text)
            return encode(msgspec.structs.replace(heard, text=plain))

        return msgspec.json.decode(
            self._cached(f"{self.ear.id}\x00{_hash(wav)}", ".json", ask), type=Heard
        )

    def _cached(self, key: str, suffix: str, make: Callable[[], bytes]) -> bytes:
        """What was made before from the same; failures are made again."""
        if self._cache is None:
            return make()
        name = hashlib.sha256(f"{VERSION}\x00{key}".encode("utf-8", "surrogatepass")).hexdigest()
        path = self._cache / name[:2] / f"{name}{suffix}"
        try:
            return path.read_bytes()
        except OSError:
            made = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, made, lasting=False)
        return made


def _asked(who: str, call: Callable[[], T]) -> T:
    """What a voice or an ear answers; its failure is its own, and neither agent's nor data's."""
    try:
        return call()
    except Denied:
        raise
    except Exception as error:  # somebody else's code
        kind = ServiceTimeout if isinstance(error, ServiceTimeout) else ServiceError
        raise kind(f"{who} failed: {error_text(error)}") from error


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
