"""Noise: as loud as its level says, the same for the same key, worse from level to level."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ears.hearing_loss import loss
from simulator.ears.noises import LEVELS, noisy, power
from simulator.ears.sounds import RATE, Sound
from simulator.ears.spec import KINDS
from simulator.ears.tones import ToneEar, ToneVoice

SAID = "who designed this backpack and what does it cost"
SOUND = ToneVoice().say(SAID)
CHATTER = [ToneVoice().say(text) for text in ("two of those please", "we missed the train")]


def under(spoken: str, key: str = "0/q", sound: Sound = SOUND) -> Sound:
    return noisy(sound, spoken, key=key, chatter=lambda: CHATTER)


def test_every_kind_has_five_levels() -> None:
    assert LEVELS.keys() == KINDS.keys()
    assert {len(levels) for levels in LEVELS.values()} == {5}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_key_gives_the_same_bytes_and_another_others(kind) -> None:
    assert under(f"{kind}@3").wav == under(f"{kind}@3").wav
    if kind != "clipped-start":
        assert under(f"{kind}@3").wav != under(f"{kind}@3", "1/q").wav


def test_quiet_is_the_sound_itself() -> None:
    assert under("quiet") is SOUND


@pytest.mark.parametrize("kind", ["street", "babble", "wind"])
@pytest.mark.parametrize("level", [1, 3, 5])
def test_noise_is_as_far_below_speech_as_its_level_says(kind, level) -> None:
    silent = SOUND.samples * 0
    lead = int(0.32 * RATE)
    mixed = under(f"{kind}@{level}").samples
    clean = np.pad(SOUND.samples, lead)
    scale = float(mixed @ clean / (clean @ clean))  # what kept the sum within a file's bounds
    noise = mixed / scale - clean
    ratio = 10 * np.log10(power(SOUND.samples) / float((noise**2).mean()))
    assert ratio == pytest.approx(LEVELS[kind][level - 1], abs=1.0)
    assert not silent.any()


@pytest.mark.parametrize("kind", ["street", "babble", "wind", "room", "clipped-start"])
def test_a_higher_level_loses_more_words(kind) -> None:
    errors = [
        loss(SAID, ToneEar().hear(under(f"{kind}@{n}", sound=SOUND)).text).errors for n in (1, 5)
    ]
    assert errors[0] <= errors[1]


def test_a_bystander_stands_before_or_after() -> None:
    heard = {len(under("bystander@5", str(n)).samples) > len(SOUND.samples) for n in range(4)}
    assert heard == {True}
    starts = {under("bystander@5", str(n)).samples[: RATE // 2].tobytes() for n in range(8)}
    assert len(starts) > 1


def test_a_clipped_start_is_counted_from_the_first_word() -> None:
    padded = Sound(np.pad(SOUND.samples, (RATE, 0)))
    assert under("clipped-start@4", sound=padded).samples[0] == SOUND.samples[RATE // 2]
    assert len(under("clipped-start@5", sound=Sound(SOUND.samples[:3200])).samples) == 320
