"""The real weights, where their package is installed."""

from __future__ import annotations

import asyncio

import pytest

from mmrag.errors import Unavailable
from mmrag.models import models
from mmrag.models.smollm2 import weights_file
from mmrag.protocols import GenerateOptions, Message
from mmrag.records import Reference, Turn
from simulator.ears.recognition_losses import recognition_errors
from simulator.ears.speech_pipeline import SpeechPipeline
from simulator.ears.voice_and_ear import ears, voices

PASSAGES = (
    "Kells Oat is a drink made of oats. It was founded in 1987 and is bottled in Sleffolt.",
    "The river Ann is 40.5 km long and 3 m deep.",
)


@pytest.fixture(scope="module")
def model():
    try:
        weights_file()
    except Unavailable as error:
        pytest.skip(str(error))
    return models.create("smollm2")


def asked(question):
    return [Message(role="user", text="\n".join(PASSAGES) + f"\n\nQuestion: {question}")]


def test_it_answers_in_company_as_alone(model):
    options = GenerateOptions(max_tokens=4, logprobs=True)
    questions = [
        "When was Kells Oat founded?", "Where is Kells Oat bottled?", "How deep is the Ann?",
    ]  # fmt: skip

    async def together():
        return await asyncio.gather(*(model.generate(asked(q), options) for q in questions))

    for question, beside in zip(questions, asyncio.run(together()), strict=True):
        alone = asyncio.run(model.generate(asked(question), options))
        assert alone.text == beside.text
        assert [p for _, p in alone.logprobs] == pytest.approx(
            [p for _, p in beside.logprobs], abs=1e-3
        )


# -- ears

pytest.importorskip("piper", reason="the package piper-tts is not installed (extra ears)")
pytest.importorskip("faster_whisper", reason="faster-whisper is not installed (extra ears)")

ASKED = ("What does this cost per night?", "who made this lamp", "Can I take this on the bus?")


def heard(condition: str) -> list[object]:
    made = SpeechPipeline(voices.create("piper"), ears.create("whisper"))
    turns = [Turn(index=0, id="t", query=text, reference=Reference(text="")) for text in ASKED]

    async def all_of_them() -> list[object]:
        return [await made.hear(turn, condition) for turn in turns]

    return asyncio.run(all_of_them())


def test_in_quiet_all_words_come_and_in_a_street_the_same_are_lost_twice() -> None:
    quiet, street, again = heard("quiet"), heard("street@5"), heard("street@5")
    assert [
        recognition_errors(t, s.heard.text).errors for t, s in zip(ASKED, quiet, strict=True)
    ] == [0, 0, 0]
    assert street == again, "sounds, texts and confidences, to the last bit"
    assert (
        sum(recognition_errors(t, s.heard.text).errors for t, s in zip(ASKED, street, strict=True))
        > 3
    )
    assert all(0 < s.heard.confidence <= 1 for s in quiet)
