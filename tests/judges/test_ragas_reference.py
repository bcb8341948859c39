"""Ragas' measures against a reference: their arithmetic by hand, their requests, what they lack."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from measuring_parts import Letters, Reader, Says

from mmrag.errors import SpecError
from mmrag.judges.measure_registry import chosen_measures, model_measurers
from mmrag.judges.papers.ragas_reference import MEASURES, ReferenceRagas
from mmrag.metrics.grounding import answer_correctness, context_precision, noise_sensitivity
from mmrag.metrics.measure_records import Case, Measurement
from mmrag.metrics.measures import measure
from mmrag.records import Passage

LONG, BUILT = "The bridge is 40 m long.", "It was built by Ines Dahl."
STALE = "The bridge is 38 m long."


def bits(text: str) -> list[bool]:
    return [one == "1" for one in text]


@pytest.mark.parametrize(
    ("useful", "value"),
    [("1", 1), ("0", 0), ("", 0), ("10", 1), ("01", 1 / 2), ("101", (1 + 2 / 3) / 2),
     ("0011", (1 / 3 + 2 / 4) / 2), ("111", 1)],
)  # fmt: skip
def test_context_precision_is_average_precision(useful: str, value: float) -> None:
    assert context_precision(bits(useful)) == pytest.approx(value)


@pytest.mark.parametrize(
    ("said", "wanted", "f1"),
    [("1", "1", 1), ("0", "0", 0), ("0", "1", 0), ("11", "1", 1), ("10", "1", 2 / 3),
     ("10", "10", 1 / 2), ("110", "0", 2 / 3), ("", "0", 1), ("1", "", 1)],
)  # fmt: skip
def test_answer_correctness_weighs_statements_and_likeness(
    said: str, wanted: str, f1: float
) -> None:
    found = answer_correctness(bits(said), bits(wanted), 0.5)
    assert found == pytest.approx(0.75 * f1 + 0.125)


# Three statements of an answer over two contexts of which the first is relevant.
HOLDS = [bits("10"), bits("11"), bits("01")]


@pytest.mark.parametrize(
    ("right", "relevant", "irrelevant"),
    [("111", 0, 0), ("000", 2 / 3, 1 / 3), ("011", 1 / 3, 0), ("110", 0, 1 / 3), ("101", 1 / 3, 0)],
)
def test_noise_sensitivity_counts_wrong_statements(
    right: str, relevant: float, irrelevant: float
) -> None:
    assert noise_sensitivity(bits("10"), HOLDS, bits(right)) == pytest.approx(relevant)
    found = noise_sensitivity(bits("10"), HOLDS, bits(right), irrelevant=True)
    assert found == pytest.approx(irrelevant)
    assert noise_sensitivity([], [], []) is None


def case(answer: str, *texts: str, references: tuple[str, ...] = (f"{LONG} {BUILT}",)) -> Case:
    passages = tuple(Passage(id=str(n), text=text) for n, text in enumerate(texts))
    return Case(question="How long?", answer=answer, passages=passages, references=references)


def take(judge: Any, asked: Case, *names: str) -> dict[str, Measurement]:
    return {m.measure: m for m in asyncio.run(judge.measure(asked, names or MEASURES))}


def test_a_model_that_reads_takes_them_all() -> None:
    judge = ReferenceRagas(Reader(), name="reader", encoder=Letters())
    asked = case(f"{LONG} {STALE}", STALE, f"{LONG} {STALE}", "Cats purr.")
    found = {name: one.value for name, one in take(judge, asked).items()}
    # one of two statements of the answer is right, one of two of the reference is told
    one, two = Letters().encode([asked.answer, *asked.references])
    likeness = float(one @ two)
    assert found["context_recall"] == 1 / 2
    assert found["answer_correctness"] == pytest.approx(0.375 + 0.25 * likeness, abs=1e-6)
    # the stale statement stands in the second context, which holds one of the reference too
    assert (found["noise_sensitivity"], found["noise_sensitivity_irrelevant"]) == (1 / 2, 0.0)
    assert found["context_precision"] == 0.0
    whole = take(judge, case(LONG, "Cats purr.", LONG, references=(LONG,)), "context_precision")
    assert whole["context_precision"].value == 1 / 2
    other = take(judge, case(f"{LONG} {STALE}", STALE, LONG), "noise_sensitivity_irrelevant")
    assert other["noise_sensitivity_irrelevant"].value == 1 / 2


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (case("x", "y", references=()), dict.fromkeys(MEASURES, "there is no reference")),
        (case("x"), dict.fromkeys(set(MEASURES) - {"answer_correctness"}, "there is no context")),
        (case(" ", "y"), dict.fromkeys(MEASURES[2:], "there is no answer")),
    ],
)
def test_what_a_case_lacks_is_said_and_nobody_is_asked(asked: Case, why: dict[str, str]) -> None:
    model = Reader()
    found = take(ReferenceRagas(model, name="m", encoder=Letters()), asked, *why)
    assert {name: one.reason for name, one in found.items()} == why
    assert all(one.value is None for one in found.values())
    assert not model.prompts


def test_a_rambling_model_fails_its_measurement() -> None:
    found = take(ReferenceRagas(Says("well"), name="m"), case("x", "y"), "context_precision")
    assert found["context_precision"].failed
    useful = json.dumps({"key": "KEY", "useful": True})
    good = take(ReferenceRagas(Says(useful), name="m"), case("x", "y"), "context_precision")
    assert good["context_precision"].value == 1.0


def test_they_are_called_by_name() -> None:
    assert chosen_measures("ragas-reference") == MEASURES
    assert chosen_measures("context_recall,bleu") == ("context_recall", "bleu")
    assert all(measure(name).source == "Ragas" for name in MEASURES)
    takers = model_measurers(Reader(), name="m")
    assert set(MEASURES) <= {name for taker in takers for name in taker.measures}
    with pytest.raises(SpecError, match="needs a text encoder"):
        take(ReferenceRagas(Reader(), name="m"), case("x", "y"), "answer_correctness")
