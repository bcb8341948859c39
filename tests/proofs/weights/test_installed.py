"""The real weights, where their package is installed."""

from __future__ import annotations

import asyncio

import pytest

from mmrag.errors import Unavailable
from mmrag.models import models
from mmrag.models.smollm2 import weights_file
from mmrag.protocols import GenerateOptions, Message

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
