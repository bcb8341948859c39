"""Who says a question and who hears it: one method each, by spec.

The voice that ships, Piper, is under the GPL: it is an extra and never needed for anything else.
"""

from __future__ import annotations

from typing import Protocol

from mmrag.records import Heard
from mmrag.registry import Registry
from simulator.ears.sounds import Sound


class Voice(Protocol):
    """Says texts aloud. Called from one thread at a time."""

    @property
    def id(self) -> str:
        """Name, version and whatever else changes what is said: part of the cache's key."""
        ...

    def say(self, text: str) -> Sound:
        """The text, spoken; the same text gives the same sound."""
        ...


class Ear(Protocol):
    """Writes down what was said. `capacity` (else 1) sounds may be given to it at once."""

    @property
    def id(self) -> str:
        """Name, version and whatever else changes what is heard."""
        ...

    def hear(self, sound: Sound) -> Heard:
        """The words, and how sure they are."""
        ...


voices: Registry[Voice] = Registry(
    "voice",
    group="mmrag.voices",
    builtin={
        "piper": "simulator.ears.piper_and_whisper:Piper",
        "command": "simulator.ears.external_speech:ProgramVoice",
        "tones": "simulator.ears.tones:ToneVoice",
    },
)

ears: Registry[Ear] = Registry(
    "ear",
    group="mmrag.ears",
    builtin={
        "whisper": "simulator.ears.piper_and_whisper:Whisper",
        "openai": "simulator.ears.external_speech:EndpointEar",
        "command": "simulator.ears.external_speech:ProgramEar",
        "tones": "simulator.ears.tones:ToneEar",
    },
)
