"""One question heard: bounded, cached, and its failures its own."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest
from small_sounds import Writes, tones, turn, wav

from mmrag.errors import DataError, ServiceError, ServiceTimeout
from simulator.ears.sounds import RATE, Sound
from simulator.ears.speech_pipeline import MOST_HEARD, SpeechPipeline
from simulator.ears.tones import ToneEar, ToneVoice


def heard(hearing: SpeechPipeline, condition: str = "quiet", **more):
    return asyncio.run(hearing.hear(turn(**more), condition))


def test_a_question_in_quiet_is_heard_as_it_was_said() -> None:
    found = heard(tones())
    assert (found.heard.text, found.heard.confidence) == ("What does this cost?", 1.0)
    assert found.said == found.arrived
    assert len(found.heard.said) == 64


def test_two_hearings_give_the_same_bytes_and_another_seed_others() -> None:
    first, again, other = (heard(tones(seed=seed), "street@5") for seed in (0, 0, 1))
    assert first == again
    assert first.said == other.said
    assert first.arrived != other.arrived


def test_nothing_is_heard_twice(tmp_path: Path) -> None:
    ear = Writes("what does this toast")
    for _ in range(2):
        made = heard(SpeechPipeline(ToneVoice(), ear, cache=tmp_path), "wind@3")
        assert made.heard.text == "what does this toast"
    assert ear.asked == 1
    heard(SpeechPipeline(ToneVoice(), ear, cache=tmp_path), "wind@4")
    assert ear.asked == 2


def test_a_recogniser_that_repeats_itself_costs_the_turn_and_is_not_cached(tmp_path: Path) -> None:
    ear = Writes("and the " * 1250)
    for _ in range(2):
        with pytest.raises(ServiceError, match="10,000 characters"):
            heard(SpeechPipeline(ToneVoice(), ear, cache=tmp_path))
    assert ear.asked == 2
    assert (
        len(heard(SpeechPipeline(ToneVoice(), Writes("x" * MOST_HEARD))).heard.text) == MOST_HEARD
    )


@pytest.mark.parametrize(("seconds", "why"), [(0, "holds no sound"), (600, "longer than 60 s")])
def test_a_voice_that_says_nothing_or_too_much_is_named(tmp_path: Path, seconds, why) -> None:
    voice = ToneVoice()
    voice.say = lambda _: Sound(np.zeros(seconds * RATE, np.float32))
    with pytest.raises(ServiceError, match=f"the voice tones:1 failed: .*{why}"):
        heard(SpeechPipeline(voice, ToneEar(), cache=tmp_path))
    assert not list(tmp_path.iterdir()), "what fails is said again"


def test_what_cannot_be_shown_is_not_kept() -> None:
    assert heard(SpeechPipeline(ToneVoice(), Writes("a\x00b\nc"))).heard.text == "a b c"


def test_a_recogniser_that_hangs_is_left_behind() -> None:
    go = threading.Event()

    class Hangs(ToneEar):
        def hear(self, sound):
            go.wait()
            return super().hear(sound)

    hearing = SpeechPipeline(ToneVoice(), Hangs(), seconds=0.05)

    async def several() -> list[object]:
        return [await asyncio.gather(hearing.hear(turn(), "quiet"), return_exceptions=True)
                for _ in range(4)]  # fmt: skip

    try:
        found = [one for (one,) in asyncio.run(several())]
    finally:
        go.set()
    assert [type(one) for one in found[:3]] == [ServiceTimeout] * 3
    assert "asked no more" in str(found[3])


@pytest.mark.parametrize("error", [RuntimeError("no device"), DataError("no device")])
def test_a_part_that_fails_is_named_and_is_no_fault_of_agent_or_data(error) -> None:
    def fails(*_):
        raise error

    voice, ear = ToneVoice(), ToneEar()
    voice.say = fails
    with pytest.raises(ServiceError, match="the voice tones:1 failed"):
        heard(SpeechPipeline(voice, ToneEar()))
    ear.hear = fails
    with pytest.raises(ServiceError, match="the ear tones:1 failed"):
        heard(SpeechPipeline(ToneVoice(), ear))


@pytest.mark.parametrize("query", ["", "?!", "word " * 300])
def test_what_cannot_be_said(query) -> None:
    with pytest.raises(DataError, match="cannot be said"):
        heard(tones(), query=query)


def test_a_recording_is_played_in_place_of_the_voice(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(ToneVoice().say("what's this cost").wav)
    found = heard(tones(recordings=tmp_path), audio="a.wav")
    assert found.heard.text == "what's this cost"
    (tmp_path / "b.wav").write_bytes(wav(0))
    for lost in ("b.wav", "c.wav"):
        with pytest.raises(DataError, match=lost):
            heard(tones(recordings=tmp_path), audio=lost)
    with pytest.raises(DataError, match="no folder"):
        heard(tones(), audio="a.wav")


def test_runs_that_share_their_parts_have_a_loop_each() -> None:
    hearing = tones()

    async def at_once() -> list[object]:
        return await asyncio.gather(
            *(hearing.hear(turn(f"what is {n}"), "quiet") for n in range(3))
        )

    assert asyncio.run(at_once()) == asyncio.run(at_once())
