"""What strangers record: read where it can be, else refused in one line, within bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_sounds import wav

from mmrag.errors import DataError
from simulator.ears.noises import LEVELS, noisy, power
from simulator.ears.recognition_losses import recognition_errors
from simulator.ears.sounds import MAX_BYTES, RATE, Sound, read, read_file
from simulator.ears.spoken_conditions import KINDS
from simulator.ears.tones import ToneEar, ToneVoice


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 48_000])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_any_usual_recording_becomes_one_channel_at_16_khz(rate, channels, width) -> None:
    sound = read(wav(0.5, rate, channels, width))
    assert abs(len(sound.samples) - RATE / 2) <= 2
    loudest = np.argmax(np.abs(np.fft.rfft(sound.samples)))
    assert abs(loudest * RATE / len(sound.samples) - 440) < 3


def test_a_written_sound_is_read_back_to_the_last_bit() -> None:
    data = read(wav()).wav
    assert read(data).wav == data


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty file"), (wav(0), "holds no sound"),
        (Sound(np.zeros(RATE, np.float32)).wav, "holds no sound"),
        (wav(61, rate=8_000), "longer than 60 s"),
        (wav(600, rate=4_000, width=1), "longer than 60 s"), (wav(1, rate=1_000), "1000 Hz"),
        (b"\x89PNG not a sound at all" * 10, "read|convert"),
        (wav()[:60], "cut short: 0.0 of 1.0 s"),
        (wav(2, 8_000, 2)[:40_000], "cut short: 1.2 of 2.0 s")
    ]
)  # fmt: skip
def test_what_is_no_question_is_refused_in_one_line(data, why) -> None:
    with pytest.raises(DataError, match=why) as caught:
        read(data, name="a.wav")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("a.wav")


def test_a_file_of_200_mb_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with path.open("wb") as file:
        file.truncate(200 << 20)
    with pytest.raises(DataError, match=f"larger than {MAX_BYTES >> 20} MiB"):
        read_file(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_file(tmp_path / "none.wav")


def test_a_header_that_promises_gigabytes_costs_nothing() -> None:
    data = bytearray(wav())
    data[40:44] = (0xFFFFFFF0).to_bytes(4, "little")
    assert read(bytes(data)).seconds == pytest.approx(1.0)


def test_telephones_record_other_formats(tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="the package av is not installed (extra ears)")
    path = tmp_path / "a.ogg"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libopus", rate=48_000)
        tone = np.sin(2 * np.pi * 440 * np.arange(48_000) / 48_000) * 20_000
        frame = av.AudioFrame.from_ndarray(
            tone.astype(np.int16)[None, :], format="s16", layout="mono"
        )
        frame.rate = 48_000
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    assert read_file(path).seconds == pytest.approx(1.0, abs=0.1)


# -- noises

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
        recognition_errors(SAID, ToneEar().hear(under(f"{kind}@{n}", sound=SOUND)).text).errors
        for n in (1, 5)
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
