"""Whatever a reply or a reference holds, there is a verdict, and soon."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from compared_times import times_as_long

from mmrag.errors import SpecError
from mmrag.judges import make_judge
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Judge
from mmrag.records import JudgeItem

LONG = {
    **{f"{before}{sign!r}": before + sign * 8_000
       for before in ("", "[", "answer") for sign in ("\n", " ", "\t", "-", "*", ".", "|")},
    "boxes": "\n[x] " * 1_500, "letters": "A) \n" * 1_500, "footnotes": "[1]: \n" * 1_500,
    "code": "\n  return '" * 900, "Chinese": "中" * 100_000, "figures": "中" + "9" * 100_000,
}  # fmt: skip
STRANGE = {
    "digits of other scripts": "It was ፩፩፩፩ or 1987", "circled": "⓵⓵⓵⓵",
    "a huge number": "It was 1" + "0" * 400,
    "deep": '{"answer":' + "[" * 500 + '"Paris"' + "]" * 500 + "}",
}  # fmt: skip


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


def assert_judged_soon(judge: Judge, odd: JudgeItem) -> None:
    """Beside a long reply of plain words."""
    prose = "The tower in Ghent was built in 1320, and it has four floors. " * 400
    plain = JudgeItem(question="Which city?", references=("Paris",), prediction=prose)
    assert asyncio.run(judge.judge(odd)).judge == judge.id
    assert (
        times_as_long(*(lambda item=item: asyncio.run(judge.judge(item)) for item in (odd, plain)))
        < 100
    )


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
