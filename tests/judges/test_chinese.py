"""Chinese figures, dates and sentence ends; verdicts are in `plain_pairs.jsonl`."""

from __future__ import annotations

import pytest

from mmrag.judges import make_judge
from mmrag.judges.builtin import BuiltinJudge
from mmrag.judges.structured_replies import split
from mmrag.metrics.overlap import words_of
from mmrag.records import JudgeItem
from mmrag.text.chinese import western


@pytest.fixture(scope="module")
def judge() -> BuiltinJudge:
    made = make_judge("builtin")
    assert isinstance(made, BuiltinJudge)
    return made


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2023年8月5日", "5 August 2023"),
        ("二〇二三年八月", "August 2023"),
        ("８月５日", "5 August"),
        ("四分之一", "25%"),
        ("1060万千瓦", "10600000 kW"),
        ("一亿二千万", "120000000"),
        ("三万五千人", "35000 人"),
        ("十五", "15"),
        ("一个", "一个"),
        ("The kettle boils.", "The kettle boils."),
    ],
)
def test_western_notation(text: str, said: str) -> None:
    assert western(text, words_of) == said


def test_sentences_end_without_blanks() -> None:
    assert split("第一句话。第二句话！第三句？It is 3.5 m. Yes.") == [
        "第一句话。", "第二句话!", "第三句?", "It is 3.5 m.", "Yes.",
    ]  # fmt: skip


@pytest.mark.parametrize("reply", ["May 1987", "in May", "5 May 1987", "1987", "spring of 1987"])
def test_the_month_itself_is_left_to_the_others(judge: BuiltinJudge, reply: str) -> None:
    found = judge.judge_many(
        [JudgeItem(question="When?", references=("May 1987",), prediction=reply)]
    )[0]
    assert "another month" not in found.reason


@pytest.mark.parametrize("text", [
    "中٣万", "三月٣日", "中٣٣٣٣年", "中१२分之一", "一" + "亿" * 3000, "一" + "万" * 3000,
])  # fmt: skip
def test_figures_of_other_scripts_and_endless_ones_are_read(text: str) -> None:
    assert isinstance(western(text, words_of), str)
