"""`builtin:second=SPEC`: what the built-in judge is unsure of is passed on, and only that."""

from __future__ import annotations

import asyncio

from mmrag.judges import make_judge
from mmrag.judges.builtin import BuiltinJudge, Cascade
from mmrag.records import JudgeItem, Outcome, Verdict

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
    assert asyncio.run(judge.judge(SURE)).outcome is Outcome.PERFECT
    assert second.asked == 0
    verdict = asyncio.run(judge.judge(UNSURE))
    assert second.asked == 1
    assert (verdict.outcome, verdict.score) == (Outcome.ACCEPTABLE, 0.5)
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
