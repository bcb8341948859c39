"""Whatever a reply or a reference holds, there is a verdict, and soon."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from compared_times import times_as_long

from mmrag.errors import SpecError
from mmrag.judges import make_judge
from mmrag.judges.builtin import BuiltinJudge
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Judge
from mmrag.records import JudgeItem, Outcome

LONG = {
    **{f"{before}{sign!r}": before + sign * 8_000
       for before in ("", "[", "answer") for sign in ("\n", " ", "\t", "-", "*", ".", "|")},
    "boxes": "\n[x] " * 1_500, "letters": "A) \n" * 1_500, "footnotes": "[1]: \n" * 1_500,
    "code": "\n  return '" * 900, "Chinese": "中" * 100_000, "figures": "中" + "9" * 100_000,
}  # fmt: skip
MILLION = 1_000_000
MEGABYTES = {
    text[:9]: text * (MILLION // len(text))
    for text in (
        "a", "Ghent or Bruges, ", "Ghent. No wait, ", "not Ghent, ", "1", "{", "<del>", "~", "<",
        "G h e n t ", " ", ",", "or ", "9:00 ", "Rome, ", "(((1,000,", "\u0301",
    )
}  # fmt: skip
"""Each is judged in no more than a dozen times what a long reply of plain words takes."""
ODD = {
    "nested lists": '{"a":' + "[" * MILLION, "lone surrogates": "\ud800Ghent\udfff",
    "control characters": "\x00G\x07h\x1bent\x7f",
    "marks from right to left": "\u202eGhent\u202c\u200f",
    "zero-width characters": "\u200b".join("Ghent"), "combining marks": "G" + "\u0301" * 3_000,
    "emoji": "🍑" * 3_000,
}  # fmt: skip
STRANGE = {
    "digits of other scripts": "It was ፩፩፩፩ or 1987", "circled": "⓵⓵⓵⓵",
    "a huge number": "It was 1" + "0" * 400,
    "deep": '{"answer":' + "[" * 500 + '"Paris"' + "]" * 500 + "}",
}  # fmt: skip


@pytest.mark.parametrize("name", [*MEGABYTES, *ODD])
def test_a_reply_of_a_megabyte_has_its_verdict_at_once(name: str) -> None:
    text = {**MEGABYTES, **ODD}[name]
    odd = JudgeItem(question="Which city?", references=("Ghent",), prediction=text)
    assert_judged_soon(make_judge("builtin"), odd, times=12)


@pytest.mark.parametrize(
    "references",
    [("\ud800",), ("nan",), ("",), (" ", "\x00"), ("a" * MILLION,), ("x",) * 10_000,
     ("Paris " * 100_000,)],
)  # fmt: skip
def test_so_has_any_reference(references: tuple[str, ...]) -> None:
    odd = JudgeItem(question="\ud800" * 3, references=references, prediction="Ghent or Bruges")
    assert_judged_soon(make_judge("builtin"), odd, times=12)


def test_so_has_any_question() -> None:
    odd = JudgeItem(question="q " * 200_000, references=("Paris",), prediction="Paris it is")
    assert_judged_soon(make_judge("builtin"), odd)


@pytest.mark.parametrize("name", ["control characters", "zero-width characters", "lone surrogates"])
def test_what_cannot_be_seen_does_not_change_a_reply(name: str) -> None:
    odd = JudgeItem(question="Which city?", references=("Ghent",), prediction=ODD[name])
    assert BuiltinJudge().judge_many([odd])[0].outcome is Outcome.PERFECT


@pytest.mark.parametrize("spec", ["exact", "builtin"])
@pytest.mark.parametrize("name", [*LONG, *STRANGE])
def test_a_reply_has_its_verdict_soon(spec: str, name: str) -> None:
    text = {**LONG, **STRANGE}[name]
    odd = JudgeItem(question="Which city?", references=("Paris",), prediction=text)
    assert_judged_soon(make_judge(spec), odd)


@pytest.mark.parametrize("name", [*STRANGE, "Chinese", "figures"])
def test_so_has_a_reference_and_a_question(name: str) -> None:
    text = {**LONG, **STRANGE}[name]
    odd = JudgeItem(question=f"What is {text[:2000]}?", references=(text, "x"), prediction="y")
    assert_judged_soon(make_judge("builtin"), odd)


def assert_judged_soon(judge: Judge, odd: JudgeItem, times: int = 100) -> None:
    """Beside a long reply of plain words."""
    prose = "The tower in Ghent was built in 1320, and it has four floors. " * 400
    plain = JudgeItem(question="Which city?", references=("Paris",), prediction=prose)
    assert asyncio.run(judge.judge(odd)).judge == judge.id
    ask = (lambda item=item: asyncio.run(judge.judge(item)) for item in (odd, plain))
    assert times_as_long(*ask) < times


def test_judges_in_many_threads_say_what_one_says() -> None:
    items = [
        JudgeItem(
            question=f"Who built the zarquon {n}?",
            references=(f"Vellimar Quastrobel{n}x of Trunzwick",),
            prediction=f"I believe it was somebody named Quastrobel{n}x from Trunzwick{n}y.",
        )
        for n in range(120)
    ]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda one: make_judge("builtin").judge_many([one])[0], items))
    assert found == make_judge("builtin").judge_many(items)


@pytest.mark.parametrize(
    "option", ["retries=x", "retries=-1", "retries=1000", "votes=²", "votes=0"]
)
def test_numbers_that_a_model_judge_cannot_use_are_refused(option: str) -> None:
    with pytest.raises(SpecError, match=option.partition("=")[0]):
        make_judge(f"model:model=(scripted:text=x),{option}", models=lambda _: ScriptedModel("x"))


def test_markers_of_citations_weigh_nothing() -> None:
    """Those of GaRAGe's answers, which made any reply that has one too right."""
    reference = "It is 40 m long. [cite_1] Ines Dahl built it. [cite_2]"
    for reply, right in (
        ("I believe it is 42 m [cite_1].", False),
        ("40 m [cite_1][cite_2]", True),
    ):
        item = JudgeItem(question="How long is it?", references=(reference,), prediction=reply)
        assert BuiltinJudge().judge_many([item])[0].outcome.is_correct == right, reply
