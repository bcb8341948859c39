"""What strangers record: read where it can be, else refused in one line, within bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_sounds import wav

from mmrag.errors import DataError
from simulator.ears.sounds import MAX_BYTES, RATE, Sound, read, read_file


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
        (b"", "empty file"),
        (wav(0), "holds no sound"),
        (Sound(np.zeros(RATE, np.float32)).wav, "holds no sound"),
        (wav(61, rate=8_000), "longer than 60 s"),
        (wav(600, rate=4_000, width=1), "longer than 60 s"),
        (wav(1, rate=1_000), "1000 Hz"),
        (b"\x89PNG not a sound at all" * 10, "read|convert"),
        (wav()[:60], "cut short: 0.0 of 1.0 s"),
        (wav(2, 8_000, 2)[:40_000], "cut short: 1.2 of 2.0 s"),
    ],
)
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
