"""The built-in judge: the guideline's cases, hostile text, determinism, speed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from compared_times import times_as_long
from hypothesis import given, settings
from hypothesis import strategies as st

from mmrag.errors import DataError
from mmrag.judges import judges, make_judge
from mmrag.judges.builtin import BuiltinJudge
from mmrag.records import JudgeItem, Outcome

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent / "guideline_pairs.jsonl").read_bytes().split(b"\n")
    if line
]


@pytest.fixture(scope="module")
def judge() -> BuiltinJudge:
    return BuiltinJudge()


def item(question: str, references: list[str] | str, prediction: str) -> JudgeItem:
    known = [references] if isinstance(references, str) else references
    return JudgeItem(question=question, references=tuple(known), prediction=prediction)


def test_guideline_pairs(judge: BuiltinJudge) -> None:
    assert len(PAIRS) >= 200
    verdicts = judge.judge_many(
        [item(p["question"], p["references"], p["prediction"]) for p in PAIRS]
    )
    wrong = [
        (pair["id"], pair["prediction"], verdict.outcome, verdict.reason)
        for pair, verdict in zip(PAIRS, verdicts, strict=True)
        if merged(verdict.outcome) != merged(Outcome(pair["human_outcome"]))
    ]
    assert len(wrong) <= 0.05 * len(PAIRS), wrong


def test_every_case_of_the_guideline_is_covered() -> None:
    cases = {pair["case"] for pair in PAIRS}
    assert cases >= {
        "units", "numbers", "sets", "yes / no", "aliases and abbreviations", "extra detail",
        "negation and contradiction", "unsure but committed", "missing", "near misses of names",
        "adversarial", "other languages",
    }  # fmt: skip


def merged(outcome: Outcome) -> str:
    return "correct" if outcome.is_correct else outcome.value


def test_one_by_one_and_together_agree(judge: BuiltinJudge) -> None:
    items = [item(p["question"], p["references"], p["prediction"]) for p in PAIRS[:60]]
    together = judge.judge_many(items)
    assert together == [asyncio.run(judge.judge(one)) for one in items]
    assert together == list(reversed(judge.judge_many(list(reversed(items)))))


def test_verdict_carries_exact_score_and_id(judge: BuiltinJudge) -> None:
    verdict = judge.judge_many([item("Which city is this?", "Paris", "paris.")])[0]
    assert (verdict.outcome, verdict.exact, verdict.score) == (Outcome.PERFECT, True, 1.0)
    assert verdict.judge.startswith("builtin/7+")


@pytest.mark.parametrize("references", [[], [""], ["  ", "\n"], ["nan"], ["NaN"]])
def test_without_a_reference_nothing_is_scored(judge: BuiltinJudge, references: list[str]) -> None:
    verdict = judge.judge_many([item("Which city?", references, "Paris")])[0]
    assert verdict.outcome is Outcome.UNSCORED
    assert verdict.score is None


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.lists(st.text(max_size=40), max_size=4), st.text(max_size=200))
def test_any_text_gets_a_verdict(question: str, references: list[str], prediction: str) -> None:
    verdict = BuiltinJudge().judge_many([item(question, references, prediction)])[0]
    assert verdict.outcome in Outcome
    assert verdict.reason


def test_many_references_are_bounded(judge: BuiltinJudge) -> None:
    many, few = (
        item("Which city?", [*(f"Somewhere {n}" for n in range(count)), "Paris"], "It is Rome")
        for count in (20_000, 2_000)
    )
    assert times_as_long(lambda: judge.judge_many([many]), lambda: judge.judge_many([few])) < 30


def test_missing_parameters_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="train_judge"):
        BuiltinJudge(tmp_path)


def test_judges_by_name() -> None:
    assert {"builtin", "exact", "fixed", "model", "panel"} <= set(judges.names())
    fixed = asyncio.run(make_judge("fixed:outcome=acceptable").judge(item("q", "a", "b")))
    assert (fixed.outcome, fixed.score) == (Outcome.ACCEPTABLE, 0.5)
    exact = make_judge("exact")
    outcomes = [
        asyncio.run(exact.judge(item("q", r, p))).outcome
        for r, p in (
            ("Paris", "the PARIS!"),
            ("Paris", "It is Paris"),
            ("Paris", "no idea"),
            ("", "x"),
        )
    ]
    assert outcomes == [Outcome.PERFECT, Outcome.INCORRECT, Outcome.MISSING, Outcome.UNSCORED]


@pytest.mark.parametrize(("reference", "said"), [
    ("William Shakespeare", "It was Shakespeare."),
    ("Albert Einstein", "That was Einstein."),
    ("Jane Austen", "Probably Austen."),
    ("Jane Austen", "Author: Austen"),
    ("Kreggum Chaiddadis Boil", "It is a Kreggum Chaiddadis."),
])  # fmt: skip
def test_what_opens_a_sentence_is_no_part_of_a_name(
    judge: BuiltinJudge, reference: str, said: str
) -> None:
    asked = "Who or what is it?"
    right, another = judge.judge_many(
        [item(asked, reference, said), item(asked, "Jane Austen", "It was Emily Austen.")]
    )
    assert right.outcome.is_correct, right.reason
    assert another.reason == "rule: a similar name"


def test_reasons_say_what_was_read(judge: BuiltinJudge) -> None:
    said, guessed = judge.judge_many(
        [
            item("Is it open?", "yes", "No, it is closed."),
            item("Who painted it?", "Claude Monet", "One of the impressionists, it seems."),
        ]
    )
    assert said.reason == "rule: yes was wanted, no was said"
    assert guessed.reason.startswith("trees: p(correct) = ")
