"""What is added to a spoken question: noise at a level, always the same for the same key.

A level is a ratio of powers in decibels, speech to noise, where speech is what lies above a tenth
of a percent of the loudest moment's power; of a room it is direct sound to echo, of a bystander the
wearer to them. A clipped start is counted in seconds. The noise of a key is one recording, louder
from level to level.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from simulator.ears.sounds import RATE, Samples, Sound

LEVELS: dict[str, tuple[float, ...]] = {
    "street": (15.0, 8.0, 3.0, -1.0, -5.0),
    "babble": (15.0, 11.0, 8.0, 5.0, 2.0),
    "wind": (10.0, 2.0, -4.0, -9.0, -14.0),
    "room": (6.0, 3.0, 0.0, -3.0, -8.0),
    "clipped-start": (0.1, 0.2, 0.35, 0.5, 0.8),
    "bystander": (48.0, 42.0, 36.0, 30.0, 20.0),
}
"""Kind → levels 1 to 5: decibels, of a clipped start seconds. Chosen on sentences of this module's
author, none of which is asked anywhere (docs/benchmarks/ears.md has what they do)."""

CHATTER = (
    "I told her we would be there around noon, but the train was late again.",
    "Two coffees and one of those, please, and could we sit by the window?",
    "So then he says the meeting was moved, and nobody had written to us.",
    "My sister has the same one in green, she bought it at the market.",
    "If you turn left after the bakery you can't miss it.",
    "They were playing until midnight, and the neighbours didn't mind at all.",
)
"""What people around say, in the voice of the run."""

_LEAD = int(0.32 * RATE)
"""Before and after the question there is noise alone."""

_FRAME = RATE // 50


def noisy(sound: Sound, spoken: str, *, key: str, chatter: Callable[[], Sequence[Sound]]) -> Sound:
    """A question as it arrives under a spoken condition; `chatter` is what others say."""
    kind, _, level = spoken.partition("@")
    if not level:
        return sound
    amount, chance = LEVELS[kind][int(level) - 1], _chance(kind, key)
    speech = np.pad(sound.samples, _LEAD)
    if kind == "clipped-start":
        start = _first(sound.samples) + int(amount * 50) * _FRAME
        return Sound(sound.samples[min(start, len(sound.samples) - _FRAME) :])
    if kind == "room":
        return _even(_echoing(speech, amount, chance))
    if kind == "bystander":
        return _even(_beside(speech, amount, chance, chatter()))
    made = {"street": _street, "wind": _wind}
    noise = made[kind](len(speech), chance) if kind in made else _babble(speech, chance, chatter())
    return _even(speech + _at(noise, speech, amount))


def _chance(kind: str, key: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{kind}\x00{key}".encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def power(samples: Samples) -> float:
    """Of the frames in which something is said."""
    loud = _loudness(samples)
    return float(loud[loud > loud.max(initial=0) / 1000].mean()) if loud.any() else 0.0


def _loudness(samples: Samples) -> Samples:
    whole = len(samples) // _FRAME
    return (samples[: whole * _FRAME].reshape(whole, _FRAME) ** 2).mean(axis=1)


def _first(samples: Samples) -> int:
    """Where speech begins."""
    loud = _loudness(samples)
    return int(np.argmax(loud > loud.max(initial=0) / 1000)) * _FRAME


def _at(noise: Samples, speech: Samples, decibels: float) -> Samples:
    """Noise at a ratio below speech."""
    own = float((noise**2).mean()) or 1.0
    return noise * np.sqrt(power(speech) / own / 10 ** (decibels / 10))


def _even(samples: Samples) -> Sound:
    """No louder than a file can hold."""
    return Sound((samples / max(1.0, float(np.abs(samples).max()))).astype(np.float32))


def _coloured(size: int, chance: np.random.Generator, slope: float, low: float) -> Samples:
    """Noise whose amplitude falls with frequency to the power of `slope`, from `low` Hz on."""
    spectrum = np.fft.rfft(chance.standard_normal(size))
    hertz = np.fft.rfftfreq(size, 1 / RATE)
    shaped = spectrum * np.maximum(hertz, low) ** -slope * (hertz > low / 2)
    made = np.fft.irfft(shaped, size)
    return (made / made.std()).astype(np.float32)


def _slow(size: int, chance: np.random.Generator, seconds: float) -> Samples:
    """A curve about 0 that changes every so many seconds."""
    points = max(4, int(size / RATE / seconds) + 3)
    found = np.interp(
        np.linspace(0, points - 1, size), np.arange(points), chance.standard_normal(points)
    )
    return found.astype(np.float32)


def _street(size: int, chance: np.random.Generator) -> Samples:
    """A steady roar, tyres and engines that come and go."""
    cars = _coloured(size, chance, 0.8, 60) * np.exp(1.2 * _slow(size, chance, 1.2))
    tyres = _coloured(size, chance, 0.3, 700) * np.exp(1.2 * _slow(size, chance, 0.9))
    return (_coloured(size, chance, 0.5, 50) * 0.7 + cars + 0.5 * tyres).astype(np.float32)


def _wind(size: int, chance: np.random.Generator) -> Samples:
    """Low rumble in gusts, which the microphone flattens."""
    gusts = _coloured(size, chance, 1.0, 30) * np.exp(1.5 * _slow(size, chance, 0.35))
    return np.tanh(gusts / (2 * gusts.std())) + 0.03 * _coloured(size, chance, 0.2, 500)


def _babble(speech: Samples, chance: np.random.Generator, chatter: Sequence[Sound]) -> Samples:
    """Six who talk at once, higher and lower than the wearer."""
    total = np.zeros(len(speech), np.float32)
    for _ in range(6):
        one = _another(chatter[int(chance.integers(len(chatter)))].samples, chance)
        turned = np.roll(np.resize(one, len(speech)), int(chance.integers(len(speech))))
        total += turned * (0.6 + 0.4 * chance.random()) / (np.sqrt(power(turned)) or 1.0)
    return total


def _beside(
    speech: Samples, decibels: float, chance: np.random.Generator, chatter: Sequence[Sound]
) -> Samples:
    """Somebody's sentence, before or after."""
    one = _another(chatter[int(chance.integers(len(chatter)))].samples, chance)
    one = one * np.sqrt(power(speech) / (power(one) or 1.0) / 10 ** (decibels / 10))
    order = (one, speech) if chance.random() < 0.5 else (speech, one)
    return np.concatenate(order)


def _another(samples: Samples, chance: np.random.Generator) -> Samples:
    """The same words, faster and higher or slower and lower."""
    rate = 0.85 if chance.random() < 0.5 else 1.18
    places = np.arange(0, len(samples) - 1, rate)
    return np.interp(places, np.arange(len(samples)), samples).astype(np.float32)


def _echoing(speech: Samples, decibels: float, chance: np.random.Generator) -> Samples:
    """A hall in which a sound takes more than a second to die away."""
    from scipy.signal import fftconvolve

    seconds = 1.0 + 0.6 * chance.random()
    at = np.arange(int(seconds * RATE)) / RATE
    tail = chance.standard_normal(len(at)) * np.exp(-6.9 * at / seconds)
    tail[: RATE // 200] = 0
    tail *= np.sqrt(1 / float((tail**2).sum()) / 10 ** (decibels / 10))
    tail[0] = 1
    return fftconvolve(speech, tail)[: len(speech) + RATE // 4].astype(np.float32)
