"""WikiEval's pairs and the agreement of measures with people's preferences."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called_command import mmrag
from measuring_parts import Letters, Reader, Says

from mmrag.errors import DataError, JudgeError
from mmrag.judges.papers.preference import read_choice, read_grade
from mmrag.judges.papers.ragas import RagasJudge
from mmrag.protocols import Completion, GenerateOptions, Message
from simulator.datasets.papers.answer_records import UnusableRow
from simulator.datasets.papers.wikieval import AnswerPair, read_wikieval
from simulator.experiments.wikieval import agreement, by_measure, by_ranking, by_score, table


def row(number: int) -> dict[str, Any]:
    """An invented row with the published columns."""
    fact = f"The tower of town {number} is {number + 20} m high, which is needed."
    return {
        "question": f"How high is the tower of town {number}?", "answer": fact,
        "ungrounded_answer": f"The tower of town {number} is 900 m high.",
        "poor_answer": "It is a tower zzzz zzzz.", "context_v1": [fact],
        "context_v2": [fact, "The town has a market. It rains there."],
        "source": "https://towns.example"
    }  # fmt: skip


@pytest.fixture
def pairs(tmp_path: Path) -> list[AnswerPair]:
    path = tmp_path / "wikieval.jsonl"
    path.write_text("\n".join(json.dumps(row(i)) for i in range(10)), encoding="utf-8")
    return [one for one in read_wikieval(str(path)) if isinstance(one, AnswerPair)]


def test_three_pairs_a_row(pairs: list[AnswerPair]) -> None:
    assert len(pairs) == 30
    assert [p.quality for p in pairs[:3]] == [
        "faithfulness", "answer_relevance", "context_relevance",
    ]  # fmt: skip
    assert pairs[0].other.answer == "The tower of town 0 is 900 m high."
    assert (len(pairs[2].other.passages), pairs[2].preferred.answer) == (2, pairs[2].other.answer)


def test_parquet_as_on_the_hub(tmp_path: Path, pairs: list[AnswerPair]) -> None:
    (tmp_path / "data").mkdir()
    rows = [row(i) for i in range(10)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "data" / "train-00000-of-00001.parquet")
    assert list(read_wikieval(str(tmp_path / "data"))) == pairs


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Answer: It is 20 m high.", "It is 20 m high."),
        ("\nanswer : It is 20 m high.\n", "It is 20 m high."),
        ("Question: How high?\nAnswer: It is 20 m high.", "It is 20 m high."),
        ("Question: How high\nis it?\n\nAnswer:\nIt is 20 m high.", "It is 20 m high."),
        ("It is high. Answer: 20 m.", "It is high. Answer: 20 m."),
    ],
)
def test_no_head_marks_the_preferred_answer(tmp_path: Path, written: str, read: str) -> None:
    path = tmp_path / "wikieval.jsonl"
    heads = dict.fromkeys(("answer", "ungrounded_answer", "poor_answer"), written)
    path.write_text(json.dumps(row(0) | heads), encoding="utf-8")
    for pair in read_wikieval(str(path)):
        assert isinstance(pair, AnswerPair)
        assert pair.preferred.answer == pair.other.answer == read


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2: is not JSON"),
        ("[1]", "line 2: is not a JSON object"),
        (json.dumps(row(1) | {"answer": None}), "line 2: answer is not text"),
        (json.dumps(row(1) | {"context_v1": [1]}), "line 2: context_v1 is not a list of texts"),
    ],
)
def test_a_row_that_cannot_be_used_costs_itself(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "wikieval.jsonl"
    path.write_text("\n".join([json.dumps(row(0)), line, json.dumps(row(2))]), encoding="utf-8")
    found = list(read_wikieval(str(path)))
    [bad] = [one for one in found if isinstance(one, UnusableRow)]
    assert says in bad.problem
    assert [one.id.partition("/")[0] for one in found if isinstance(one, AnswerPair)] == [
        "0", "0", "0", "2", "2", "2",
    ]  # fmt: skip
    words = ["lab", "wikieval", str(path), "--out", str(tmp_path / "kept"), "--json"]
    done = mmrag(*words)
    assert says in done.stderr
    assert json.loads(done.stdout)[0]["n"] == 2


@pytest.mark.parametrize("column", ["question", "poor_answer", "context_v2"])
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps({k: v for k, v in row(0).items() if k != column}))
    with pytest.raises(DataError, match=column):
        list(read_wikieval(str(path)))


def test_ragas_agrees_where_its_judge_reads_well(pairs: list[AnswerPair]) -> None:
    judge = RagasJudge(Reader(), name="reader", encoder=Letters())
    found = asyncio.run(agreement(pairs, {"Ragas": by_measure(judge)}))
    assert [one.accuracy for one in found][::2] == [1.0, 1.0]  # faithfulness, context relevance
    assert all(one.n == 10 and not one.failed for one in found)
    assert found[0].low == pytest.approx(0.7225, abs=1e-4)  # Wilson, 10 of 10


def test_ties_are_drawn_and_counted(pairs: list[AnswerPair]) -> None:
    first = asyncio.run(agreement(pairs, {"GPT Score": by_score(Says("7"))}))
    again = asyncio.run(agreement(pairs, {"GPT Score": by_score(Says("7"))}))
    other = asyncio.run(agreement(pairs, {"GPT Score": by_score(Says("7"))}, seed=1))
    assert first == again
    assert first != other
    assert all(one.ties == 10 for one in first)
    assert 0 < sum(one.accuracy or 0 for one in first) < 3


def test_score_and_ranking_by_a_model_that_knows(pairs: list[AnswerPair]) -> None:
    class Knows:
        async def generate(
            self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
        ) -> Completion:
            text = messages[-1].text
            if "1 or 2" in text:
                first = text.split("answer 1:")[-1].split("context 1:")[-1]
                first = first.split("answer 2:")[0].split("context 2:")[0]
                worse = "900 m" in first or "zzzz" in first or "market" in first
                return Completion(text="2" if worse else "Answer 1.")
            worse = "900 m" in text or "zzzz" in text or "market" in text
            return Completion(text="3" if worse else "9/10")

    methods = {"GPT Score": by_score(Knows()), "GPT Ranking": by_ranking(Knows())}
    found = asyncio.run(agreement(pairs, methods))
    assert [one.accuracy for one in found] == [1.0] * 6


def test_a_model_that_always_says_the_first_is_no_better_than_a_coin(
    pairs: list[AnswerPair],
) -> None:
    found = asyncio.run(agreement(pairs, {"GPT Ranking": by_ranking(Says("1"))}))
    assert 0.2 < sum(one.accuracy or 0 for one in found) / 3 < 0.8


def test_what_fails_is_left_out_and_counted(pairs: list[AnswerPair]) -> None:
    found = asyncio.run(agreement(pairs, {"GPT Score": by_score(Says("who knows"))}))
    assert [(one.accuracy, one.failed) for one in found] == [(None, 10)] * 3
    assert "10 failed" in table(found)[1]
    with pytest.raises(JudgeError):
        asyncio.run(by_score(Says("who knows"))(pairs[0], 0))


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("Score: 8.5", 8.5), ("I give it 6/10.", 6), ("3 or 5", None), ("11", None),
     ("none", None), ("The answer names 2 things. score: 9", 9)],
)  # fmt: skip
def test_grades(text: str, value: float | None) -> None:
    assert read_grade(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("2.", 2), ("Answer 2 is better", 2), ("1\nbecause 2 lies", 1), ("both", None),
     ("Answer 1, then answer 2", None)],
)  # fmt: skip
def test_choices(text: str, value: int | None) -> None:
    assert read_choice(text) == value


def test_the_command_without_a_model(tmp_path: Path) -> None:
    path = tmp_path / "wikieval.jsonl"
    path.write_text("\n".join(json.dumps(row(i)) for i in range(4)), encoding="utf-8")
    words = ["lab", "wikieval", str(path), "--out", str(tmp_path / "kept"), "--json"]
    found = json.loads(mmrag(*words).stdout)
    assert {one["method"] for one in found} == {"encoder (approximate)"}
    assert found[0]["accuracy"] == 1.0  # "900" stands in no passage
