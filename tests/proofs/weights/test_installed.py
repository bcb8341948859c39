"""The real weights, where their package is installed."""

from __future__ import annotations

import asyncio

import pytest

from mmrag.errors import Unavailable
from mmrag.models import models
from mmrag.models.smollm2.weights import weights_file
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


def test_it_reads_a_passage_and_answers_in_company_as_alone(model):
    options = GenerateOptions(max_tokens=4, logprobs=True)
    bound = GenerateOptions(span_of=PASSAGES)
    questions = ["Where is Kells Oat bottled?", "How deep is the Ann?"]

    async def together():
        reading = model.generate(asked("When was Kells Oat founded?"), bound)
        return await asyncio.gather(
            reading, *(model.generate(asked(q), options) for q in questions)
        )

    when, *company = asyncio.run(together())
    assert when.text == "1987"
    assert PASSAGES[0][when.spans[0].start : when.spans[0].end] == "1987"
    for question, beside in zip(questions, company, strict=True):
        alone = asyncio.run(model.generate(asked(question), options))
        assert alone.text == beside.text
        assert [p for _, p in alone.logprobs] == pytest.approx(
            [p for _, p in beside.logprobs], abs=1e-3
        )
