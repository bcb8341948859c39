"""Measures by how likely texts are to a model, with one that finds likely what it was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
import pytest
from measuring_parts import Letters, Says

from mmrag.errors import SpecError
from mmrag.judges.measure_registry import model_measurers
from mmrag.judges.papers.garage import GarageJudge
from mmrag.judges.papers.likelihood import LikelihoodAssessor, LikelihoodSupport
from mmrag.judges.papers.ragas import RagasJudge
from mmrag.metrics.cases import Case, Measurement
from mmrag.metrics.grounding import Support
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import Passage, Usage


class Echo:
    """Finds the words of a text likely that stand in what it was shown; writes one question."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        prompt = messages[-1].text
        self.shown.append(prompt)
        if not options.reply:
            return Completion(text="Question: How long is it?")
        known = prompt.lower()
        logprobs = [
            (word, -0.5 if word.strip("?.").lower() in known else -20.0)
            for word in options.reply.split()
        ]
        return Completion(text=options.reply, logprobs=tuple(logprobs), usage=Usage(calls=1))


PASSAGES = (
    Passage(id="a", text="The bridge is 40 m long. Cats purr.", label="answers"),
    Passage(id="b", text="The bridge is 38 m wide.", label="irrelevant"),
)
CASE = Case(
    question="How long is the bridge?",
    answer="The bridge is 38 m wide [2]. I hope that this helps!",
    passages=PASSAGES,
    references=("The bridge is 40 m long.",),
)


def take(judge: RagasJudge | GarageJudge, case: Case, *measures: str) -> dict[str, Measurement]:
    return {m.measure: m for m in asyncio.run(judge.measure(case, measures))}


def test_a_sentence_is_supported_when_the_passages_make_it_likely() -> None:
    judge = LikelihoodSupport(Echo())
    said = ["The bridge is 40 m long.", "The tower was built by cranes.", "Thanks!"]
    found = asyncio.run(judge.support(said, [p.text for p in PASSAGES]))
    assert found == (Support.SUPPORTED, Support.UNSUPPORTED, Support.NOT_NEEDED)
    assert asyncio.run(judge.support(said[:1], [])) == (Support.UNSUPPORTED,)


def test_passages_beyond_one_request_are_read_in_turn() -> None:
    model = Echo()
    long = [f"Filler {i} " * 200 for i in range(12)]
    said = ["The bridge is 40 m long."]
    found = asyncio.run(LikelihoodSupport(model).support(said, [*long, said[0]]))
    assert found == (Support.SUPPORTED,)
    assert len(model.shown) > 1
    assert all(len(prompt) < 13_000 for prompt in model.shown)


def test_ragas() -> None:
    judge = RagasJudge(Echo(), name="m", encoder=Letters(), prompts="likelihood")
    found = take(judge, CASE, "faithfulness", "answer_relevance", "context_relevance")
    assert found["faithfulness"].value == 1.0
    assert found["faithfulness"].details["statements"] == ["The bridge is 38 m wide."]
    # Of "How long is the bridge?" two words are likely after nothing (they stand in the prompt):
    # -12.2. After the first sentence four are: -4.4; after the third three: -8.3; 4.5 is the limit.
    assert found["context_relevance"].details["needed"] == ["The bridge is 40 m long."]
    assert found["context_relevance"].value == pytest.approx(1 / 3)
    assert found["answer_relevance"].details["questions"] == ["How long is it?"] * 3
    assert all(m.approximate for m in found.values())
    assert found["faithfulness"].judge.startswith("ragas/2:likelihood:m+")


def test_garage() -> None:
    judge = GarageJudge(LikelihoodAssessor(Echo(), name="m"))
    names = ("eligibility", "unadjusted_factuality", "unadjusted_raf", "deflection_false_positive")
    found = take(judge, CASE, *names)
    # how wide it is makes "How long is it?" unlikely, and stands in an irrelevant passage only
    assert [found[name].value for name in names] == [0.0, 1.0, 0.0, 0.0]
    assert all(m.approximate for m in found.values())
    asked = msgspec.structs.replace(CASE, question="Is the bridge wide?", references=())
    assert take(judge, asked, "eligibility")["eligibility"].value == 1.0
    declined = Case(question="?", answer="I don't know.", passages=PASSAGES, references=("x",))
    found = take(judge, declined, *names)
    assert [found[name].value for name in names[::3]] == [0.0, 1.0]


def test_limits_and_prompts_stand_in_the_judges_id() -> None:
    takers = model_measurers(Echo(), name="m", prompts="likelihood")
    ragas, garage = takers[0], next(taker for taker in takers if "raf" in taker.measures)
    assert ragas.id("faithfulness").startswith("ragas/2:likelihood:m+-1.85/4.5+")
    assert garage.id("raf").startswith("likelihood/1:m@-1.85/-1.45+")


def test_a_model_that_only_speaks_is_refused() -> None:
    judge = RagasJudge(Says("Yes."), name="m", prompts="likelihood")
    with pytest.raises(SpecError, match=r"tells how likely a given reply is: --model smollm2\."):
        take(judge, CASE, "faithfulness")
