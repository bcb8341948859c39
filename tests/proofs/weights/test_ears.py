"""The voice and the recogniser of the extra `ears`, where they are installed."""

from __future__ import annotations

import asyncio

import pytest

from mmrag.records import Reference, Turn
from simulator.ears.hearing import Hearing
from simulator.ears.hearing_loss import loss
from simulator.ears.voice_and_ear import ears, voices

pytest.importorskip("piper", reason="the package piper-tts is not installed (extra ears)")
pytest.importorskip("faster_whisper", reason="faster-whisper is not installed (extra ears)")

ASKED = ("What does this cost per night?", "who made this lamp", "Can I take this on the bus?")


def heard(condition: str) -> list[object]:
    made = Hearing(voices.create("piper"), ears.create("whisper"))
    turns = [Turn(index=0, id="t", query=text, reference=Reference(text="")) for text in ASKED]

    async def all_of_them() -> list[object]:
        return [await made.hear(turn, condition) for turn in turns]

    return asyncio.run(all_of_them())


def test_in_quiet_all_words_come_and_in_a_street_the_same_are_lost_twice() -> None:
    quiet, street, again = heard("quiet"), heard("street@5"), heard("street@5")
    assert [loss(t, s.heard.text).errors for t, s in zip(ASKED, quiet, strict=True)] == [0, 0, 0]
    assert street == again, "sounds, texts and confidences, to the last bit"
    assert sum(loss(t, s.heard.text).errors for t, s in zip(ASKED, street, strict=True)) > 3
    assert all(0 < s.heard.confidence <= 1 for s in quiet)
