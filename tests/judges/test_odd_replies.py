"""Untrusted text: a verdict each, soon, whatever stands there."""

from __future__ import annotations

import pytest
from compared_times import times_as_long

from mmrag.judges.builtin import BuiltinJudge
from mmrag.records import JudgeItem, Outcome

MILLION = 1_000_000
REPLIES = {
    "a megabyte of letters": "a" * MILLION,
    "a megabyte of words": "Ghent or Bruges, " * (MILLION // 17),
    "a megabyte of corrections": "Ghent. No wait, " * (MILLION // 16),
    "a megabyte of denials": "not Ghent, " * (MILLION // 11),
    "a megabyte of digits": "1" * MILLION,
    "a megabyte of brackets": "{" * MILLION,
    "a megabyte of nested lists": '{"a":' + "[" * MILLION,
    "a megabyte of open tags": "<del>" * (MILLION // 5),
    "a megabyte of tildes": "~" * MILLION,
    "a megabyte of single letters": "G h e n t " * (MILLION // 10),
    "a megabyte of blanks": " " * MILLION,
    "a megabyte of commas": "," * MILLION,
    "a megabyte of or": "or " * (MILLION // 3),
    "a megabyte of clocks": "9:00 " * (MILLION // 5),
    "lone surrogates": "\ud800Ghent\udfff",
    "control characters": "\x00G\x07h\x1bent\x7f",
    "marks from right to left": "\u202eGhent\u202c\u200f",
    "combining marks": "G" + "\u0301" * 3_000,
    "zero-width characters": "\u200b".join("Ghent"),
    "emoji": "🍑" * 3_000,
}


@pytest.fixture(scope="module")
def judge() -> BuiltinJudge:
    made = BuiltinJudge()
    made.judge_many([JudgeItem(question="q", references=("warm",), prediction="it is warm")])
    return made


@pytest.mark.parametrize("name", REPLIES)
def test_hostile_replies_get_a_verdict_at_once(judge: BuiltinJudge, name: str) -> None:
    item = JudgeItem(question="Which city?", references=("Ghent",), prediction=REPLIES[name])
    assert_judged_at_once(judge, item)


def assert_judged_at_once(judge: BuiltinJudge, item: JudgeItem) -> None:
    """In no more than a dozen times what a long reply of plain words takes."""
    prose = "The tower in Ghent was built in 1320, and it has four floors. " * 400
    plain = JudgeItem(question="Which city?", references=("Ghent",), prediction=prose)
    assert judge.judge_many([item])[0].outcome in Outcome
    assert times_as_long(lambda: judge.judge_many([item]), lambda: judge.judge_many([plain])) < 12


@pytest.mark.parametrize("name", ["control characters", "zero-width characters", "lone surrogates"])
def test_what_cannot_be_seen_does_not_change_a_reply(judge: BuiltinJudge, name: str) -> None:
    item = JudgeItem(question="Which city?", references=("Ghent",), prediction=REPLIES[name])
    assert judge.judge_many([item])[0].outcome is Outcome.PERFECT


@pytest.mark.parametrize(
    "references", [("\ud800",), ("nan",), ("",), (" ", "\x00"), ("a" * MILLION,), ("x",) * 10_000]
)
def test_hostile_references_get_a_verdict_at_once(
    judge: BuiltinJudge, references: tuple[str, ...]
) -> None:
    item = JudgeItem(question="\ud800" * 3, references=references, prediction="Ghent or Bruges")
    assert_judged_at_once(judge, item)


@pytest.mark.parametrize("reference", ["nan", "NaN", "", "  "])
def test_a_reference_that_is_nothing_scores_nothing(judge: BuiltinJudge, reference: str) -> None:
    item = JudgeItem(question="Which city?", references=(reference,), prediction="Ghent")
    assert judge.judge_many([item])[0].outcome is Outcome.UNSCORED


def test_markers_of_citations_weigh_nothing(judge: BuiltinJudge) -> None:
    """Those of GaRAGe's answers, which made any reply that has one too right."""
    reference = "It is 40 m long. [cite_1] Ines Dahl built it. [cite_2]"
    for reply, right in (
        ("I believe it is 42 m [cite_1].", False),
        ("40 m [cite_1][cite_2]", True),
    ):
        item = JudgeItem(question="How long is it?", references=(reference,), prediction=reply)
        assert judge.judge_many([item])[0].outcome.is_correct == right, reply
