"""A question as tones, voices and ears of a few lines, and a run of spoken questions."""

from __future__ import annotations

import asyncio
import io
import wave
from pathlib import Path

import numpy as np
from small_runs import Equality, make_session

from mmrag.records import Heard, Reference, Turn
from simulator.ears.sounds import Sound
from simulator.ears.speech_pipeline import SpeechPipeline
from simulator.ears.tones import ToneEar, ToneVoice
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_store import RunStore


def turn(query: str = "What does this cost?", **more) -> Turn:
    return Turn(index=0, id="t", query=query, reference=Reference(text="5"), **more)


def wav(seconds: float = 1.0, rate: int = 16_000, channels: int = 1, width: int = 2) -> bytes:
    tone = np.sin(2 * np.pi * 440 * np.arange(int(seconds * rate)) / rate)
    if width == 1:
        raw = np.round(tone * 100 + 128).astype(np.uint8).tobytes()
    elif width == 3:
        raw = np.round(tone * 2**30).astype("<i4").view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()
    else:
        raw = np.round(tone * 2 ** (8 * width - 2)).astype(f"<i{width}").tobytes()
    raw = b"".join(raw[i : i + width] * channels for i in range(0, len(raw), width))
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        file.writeframes(raw)
    return buffer.getvalue()


class Writes:
    """An ear that hears one thing in everything."""

    id = "writes:1"

    def __init__(self, text: str) -> None:
        self.text, self.asked = text, 0

    def hear(self, sound: Sound) -> Heard:
        self.asked += 1
        return Heard(text=self.text)


def tones(**more) -> SpeechPipeline:
    return SpeechPipeline(ToneVoice(), ToneEar(), **more)


def hold(
    folder: Path, agent: object, hearing: SpeechPipeline, *, sessions: int = 2, **plan
) -> None:
    with RunStore(folder) as store:
        store.set_meta("judge", Equality.id)
        hearing.keep = store.keep_sounds
        work = iter([(n, make_session(n)) for n in range(sessions)])
        asyncio.run(run_sessions(work, agent, Equality(), store, Plan(**plan), hear=hearing.hear))
        store.set_meta("finished", True)
