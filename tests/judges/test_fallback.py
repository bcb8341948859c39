"""A judge that fails: what needs no judge keeps its outcome, and one that is down ends all."""

from __future__ import annotations

import asyncio

import pytest

from mmrag.errors import Denied, ServiceError
from mmrag.judges import make_judge
from mmrag.judges.builtin import BuiltinJudge, Cascade
from mmrag.judges.fallback import FEW_FAILURES, MOST_FAILURES, PATIENCE, FallbackJudge
from mmrag.judges.model_judge import ModelJudge
from mmrag.judges.simple import ExactJudge, FixedJudge
from mmrag.records import JudgeItem, Outcome, Usage, Verdict


def item(prediction: str, *references: str) -> JudgeItem:
    return JudgeItem(question="Who?", references=references or ("Ann Lee",), prediction=prediction)


class Failing:
    """Fails as often as it is told, and then always says incorrect."""

    id = "failing/1"

    def __init__(self, times: int = 10**9, *, raises: bool = True) -> None:
        self.left, self.raises = times, raises

    async def judge(self, item: JudgeItem) -> Verdict:
        self.left -= 1
        if self.left < 0:
            return Verdict(outcome=Outcome.INCORRECT, judge=self.id)
        if self.raises:
            raise ServiceError("HTTP 500: oops")
        return Verdict(outcome=Outcome.UNSCORED, judge=self.id, reason="HTTP 500: oops")


class Down:
    """A model that never answers."""

    async def generate(self, messages: object, options: object = None) -> object:
        raise ServiceError("HTTP 500: oops")


def judged(judge: FallbackJudge | ModelJudge, *items: JudgeItem) -> list[Outcome]:
    async def ask() -> list[Outcome]:
        return [(await judge.judge(one)).outcome for one in items]

    return asyncio.run(ask())


PLAIN = (item("ann lee."), item("I don’t know."), item(""), item("Sorry, I am not sure."))


@pytest.mark.parametrize("raises", [True, False])
def test_what_needs_no_judge_keeps_its_outcome_where_the_judge_fails(raises: bool) -> None:
    found = judged(FallbackJudge(Failing(raises=raises)), *PLAIN, item("Bob"))
    assert found == [Outcome.PERFECT, *[Outcome.MISSING] * 3, Outcome.UNSCORED]


def test_what_needs_no_judge_keeps_its_outcome_whatever_a_judge_says() -> None:
    """Else the same refusals are missing under one judge and wrong, or right, under another."""
    assert judged(FallbackJudge(Failing(times=0)), *PLAIN, item("Bob")) == [
        Outcome.PERFECT, *[Outcome.MISSING] * 3, Outcome.INCORRECT
    ]  # fmt: skip


def test_a_doubt_that_names_the_reference_is_for_the_judge() -> None:
    doubts = item("I'm not sure, Sony?", "Sony"), item("Ez egy monstera, nem tudom.", "monstera")
    assert judged(FallbackJudge(Failing(times=0)), *doubts) == [Outcome.INCORRECT] * 2
    assert judged(FallbackJudge(FixedJudge("perfect")), *PLAIN) == [Outcome.PERFECT] * 4  # a fake


def test_what_a_judge_charged_for_a_refusal_is_kept() -> None:
    class Charging(Failing):
        async def judge(self, item: JudgeItem) -> Verdict:
            outcome, usage = Outcome.INCORRECT, Usage(calls=1, cost=0.5)
            return Verdict(outcome=outcome, judge=self.id, usage=usage)

    verdict = asyncio.run(FallbackJudge(Charging()).judge(item("I don't know.")))
    assert (verdict.outcome, verdict.usage.cost) == (Outcome.MISSING, 0.5)


def test_a_model_is_not_asked_about_what_needs_no_judge() -> None:
    """So it has the outcome that the judge of exact matches gives it."""
    assert judged(ModelJudge(Down()), *PLAIN) == judged(FallbackJudge(ExactJudge()), *PLAIN)


def test_a_refusal_is_right_or_open_where_the_reference_is_one() -> None:
    unknown = item("I don't know.", "It is not known; I don't know")
    assert judged(FallbackJudge(Failing()), unknown) == [Outcome.UNSCORED]


@pytest.mark.parametrize("raises", [True, False])
def test_a_judge_that_never_gave_a_verdict_ends_the_run_in_a_line(raises: bool) -> None:
    judge = FallbackJudge(Failing(raises=raises))
    assert judged(judge, *[item("Bob")] * (MOST_FAILURES - 1)) == [Outcome.UNSCORED] * 15
    with pytest.raises(
        Denied, match=r"failing/1 is down: .* 16 replies \(.*HTTP 500: oops\)"
    ) as no:
        judged(judge, item("Bob"))
    assert "\n" not in str(no.value)


def test_a_slow_judge_that_fails_is_down_after_a_few_replies() -> None:
    now = [0.0]
    judge = FallbackJudge(Failing(), clock=lambda: now[0])
    judged(judge, *[item("Bob")] * (FEW_FAILURES - 1))
    now[0] = PATIENCE + 1
    with pytest.raises(Denied, match="is down"):
        judged(judge, item("Bob"))


def test_a_judge_whose_model_rambles_is_not_down() -> None:
    class Rambling(Failing):
        async def judge(self, item: JudgeItem) -> Verdict:
            usage = Usage(calls=3)
            return Verdict(outcome=Outcome.UNSCORED, judge=self.id, reason="hm", usage=usage)

    judge = FallbackJudge(Rambling())
    assert judged(judge, *[item("Bob")] * 40) == [Outcome.UNSCORED] * 40


def test_a_judge_that_gave_a_verdict_once_is_not_down() -> None:
    once = Failing(times=5)
    judge = FallbackJudge(once)
    judged(judge, *[item("Bob")] * 6)
    once.left = 10**9
    assert judged(judge, *[item("Bob")] * 30) == [Outcome.UNSCORED] * 30
    judge.check()


def test_a_data_set_without_answers_is_no_failure_of_the_judge() -> None:
    judge = FallbackJudge(ExactJudge())
    judged(judge, *[item("Bob", " ")] * 30)
    judge.check()


# -- second judge

SURE = JudgeItem(question="Which city?", references=("Ghent",), prediction="Ghent")
UNSURE = JudgeItem(
    question="What does the notice ask visitors to do?",
    references=("leave their shoes at the door",),
    prediction="Take off your footwear before you come in.",
)


class Counting:
    """A fake that counts how often it is asked."""

    id = "counting/1"

    def __init__(self, outcome: Outcome) -> None:
        self.outcome, self.asked = outcome, 0

    async def judge(self, item: JudgeItem) -> Verdict:
        del item
        self.asked += 1
        return Verdict(
            outcome=self.outcome, judge=self.id, score=self.outcome.score, reason="because"
        )


def test_the_pair_of_this_test_is_one_the_first_judge_is_unsure_of() -> None:
    assert [judged.sure for judged in BuiltinJudge().weigh([SURE, UNSURE])] == [True, False]


def test_only_unsure_pairs_are_passed_on_and_the_reason_says_so() -> None:
    second = Counting(Outcome.ACCEPTABLE)
    judge = Cascade(BuiltinJudge(), second)
    assert (asyncio.run(judge.judge(SURE)).outcome, second.asked) == (Outcome.PERFECT, 0)
    verdict = asyncio.run(judge.judge(UNSURE))
    assert (second.asked, (verdict.outcome, verdict.score)) == (1, (Outcome.ACCEPTABLE, 0.5))
    assert "unsure" in verdict.reason
    assert "counting/1 decided: because" in verdict.reason
    assert verdict.votes == ()  # the second decides: no half of the first is counted beside it
    assert {asyncio.run(judge.judge(one)).judge for one in (SURE, UNSURE)} == {judge.id}


def test_a_second_judge_without_a_verdict_leaves_the_first_one() -> None:
    own = BuiltinJudge().judge_many([UNSURE])[0]
    verdict = asyncio.run(Cascade(BuiltinJudge(), Counting(Outcome.UNSCORED)).judge(UNSURE))
    assert verdict.outcome is own.outcome
    assert "no second verdict" in verdict.reason


def test_it_is_made_by_its_spec() -> None:
    judge = make_judge("builtin:second=exact")
    assert judge.id == f"{BuiltinJudge().id} then exact/1"
    assert make_judge("builtin").id == BuiltinJudge().id
