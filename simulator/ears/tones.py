"""A voice and an ear that need no package: a text as tones, eight bits at once.

They stand in for speech in tests and first tries. Noise spoils them as it does speech, letter by
letter, though at other levels.
"""

from __future__ import annotations

import numpy as np

from mmrag.records import Heard
from simulator.ears.sounds import RATE, Samples, Sound

_FRAME = RATE // 50
_PILOT = 3000
_TONES = [_PILOT, *(600 + 200 * bit for bit in range(8))]
_WAVES = np.sin(2 * np.pi * np.outer(_TONES, np.arange(_FRAME)) / RATE) * 0.1


class ToneVoice:
    """`tones`: each letter takes a fiftieth of a second."""

    id = "tones:1"

    def say(self, text: str) -> Sound:
        """The text as tones."""
        bits = np.unpackbits(np.frombuffer(text.encode(), np.uint8)).reshape(-1, 8)
        return Sound((bits @ _WAVES[1:] + _WAVES[0]).ravel().astype(np.float32))


class ToneEar:
    """`tones`: hears what a `ToneVoice` says."""

    id = "tones:1"

    def hear(self, sound: Sound) -> Heard:
        """The letters, as far as they can be told."""
        frames = _frames(sound.samples)
        turns = np.exp(2j * np.pi * np.outer(np.arange(_FRAME), _TONES) / RATE)
        levels = 2 * np.abs(frames @ turns) / _FRAME / 0.1
        speech = levels[levels[:, 0] > 0.5, 1:]
        text = np.packbits((speech > 0.5).astype(np.uint8), axis=1).tobytes()
        margin = np.minimum(np.abs(speech - 0.5) * 2, 1).mean() if len(speech) else 0.0
        return Heard(text=text.decode(errors="replace"), confidence=round(float(margin), 3))


def _frames(samples: Samples) -> Samples:
    whole = len(samples) // _FRAME
    return samples[: whole * _FRAME].reshape(whole, _FRAME)
