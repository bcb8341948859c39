"""A sound: one channel at 16 kHz, read from whatever somebody recorded, and bounded."""

from __future__ import annotations

import contextlib
import io
import math
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError

RATE = 16_000
"""Samples per second: what recognisers take."""

MAX_SECONDS = 60.0
"""A question is shorter; what is longer is no question, and costs a recogniser minutes."""

MAX_BYTES = 32 << 20

_UNKNOWN = 0x7FFF0000
"""Bytes that a header promises where a recorder could not know how many would come."""

Samples = NDArray[np.float32]


@dataclass(frozen=True)
class Sound:
    """Samples between −1 and 1."""

    samples: Samples

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.samples) / RATE

    @property
    def wav(self) -> bytes:
        """As a WAV file of 16 bits; the same samples give the same bytes."""
        buffer = io.BytesIO()
        with wave.open(buffer, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            scaled = np.clip(np.round(self.samples * 32768.0), -32768, 32767)
            file.writeframes(scaled.astype("<i2").tobytes())
        return buffer.getvalue()


def read_file(path: Path) -> Sound:
    """A recording, or `DataError` naming the cure."""
    try:
        with path.open("rb") as file:  # a device says that it has no bytes, and never ends
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}).") from error
    return read(data, name=str(path))


def read(data: bytes, *, name: str = "sound") -> Sound:
    """A sound of any length, rate and number of channels, within the bounds."""
    if len(data) > MAX_BYTES:
        raise DataError(f"{name}: larger than {MAX_BYTES >> 20} MiB; cut it to the question.")
    if not data:
        raise DataError(f"{name}: empty file (0 bytes); record it again.")
    try:
        samples, rate = _wav(data, name)
    except (wave.Error, EOFError):  # no WAV, or one of an unusual coding
        samples, rate = _decoded(data, name), RATE
    sound = sound_from_rate(samples, rate)
    if len(sound.samples) < RATE // 20 or not np.any(np.abs(sound.samples) > 1e-4):
        raise DataError(f"{name}: holds no sound; record it again.")
    return sound


def sound_from_rate(samples: NDArray[Any], rate: int) -> Sound:
    """Samples of another rate as a sound."""
    if rate != RATE and len(samples):
        from scipy.signal import resample_poly

        shared = math.gcd(rate, RATE)
        samples = resample_poly(samples, RATE // shared, rate // shared)
    return Sound(np.asarray(samples, np.float32))


def _wav(data: bytes, name: str) -> tuple[NDArray[Any], int]:
    with wave.open(io.BytesIO(data)) as file:
        rate, width, channels = file.getframerate(), file.getsampwidth(), file.getnchannels()
        if not 4_000 <= rate <= 192_000 or width not in (1, 2, 3, 4) or channels > 16:
            raise DataError(
                f"{name}: {rate} Hz, {channels} channels of {8 * width} bits; record it with 8 to "
                "48 kHz."
            )
        promised = file.getnframes()
        raw = file.readframes(int(rate * MAX_SECONDS) + 1)
    whole = len(raw) // (width * channels)
    if whole > rate * MAX_SECONDS:
        raise _too_long(name)
    if whole < promised < _UNKNOWN // (width * channels):
        raise DataError(
            f"{name}: cut short: {whole / rate:.1f} of {promised / rate:.1f} s are there; copy it "
            "again."
        )
    raw = raw[: whole * width * channels]
    if width == 1:
        numbers = (np.frombuffer(raw, np.uint8).astype(np.float64) - 128) / 128
    elif width == 3:
        parts = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        wide = np.zeros((len(parts), 4), np.uint8)
        wide[:, 1:] = parts
        numbers = wide.view("<i4")[:, 0] / 2.0**31
    else:
        numbers = np.frombuffer(raw, f"<i{width}") / 2.0 ** (8 * width - 1)
    return numbers.reshape(-1, channels).mean(axis=1), rate


def _decoded(data: bytes, name: str) -> NDArray[Any]:
    """What telephones and browsers record, by the decoder that comes with the extra."""
    try:
        import av
    except ImportError as error:
        raise DataError(
            f"{name}: no WAV file of whole numbers; convert it (ffmpeg -i {Path(name).name} "
            "question.wav), or pip install 'mmrag[ears]'."
        ) from error
    found: list[NDArray[Any]] = []
    try:
        with contextlib.closing(av.open(io.BytesIO(data), "r")) as container:
            resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
            for frame in container.decode(audio=0):
                found += [part.to_ndarray()[0] for part in resampler.resample(frame)]
                if sum(map(len, found)) > RATE * MAX_SECONDS:
                    raise _too_long(name)
    except DataError:
        raise
    except Exception as error:  # a decoder raises whatever a stranger's bytes drive it to
        raise DataError(f"{name}: not a recording that can be read; export it as WAV.") from error
    return np.concatenate(found) / 32768.0 if found else np.zeros(0)


def _too_long(name: str) -> DataError:
    return DataError(f"{name}: longer than {MAX_SECONDS:g} s; cut it to the question.")
