"""CRUD-RAG's file as conversations of one turn, and its measures over a run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from mmrag.errors import DataError, SpecError
from mmrag.judges.crud import MEASURES, Likeness, Overlap, QuestEval
from mmrag.judges.measuring import chosen_measures
from mmrag.metrics.cases import Case
from mmrag.protocols import Completion, GenerateOptions, Message
from simulator.datasets import open_data
from simulator.datasets.broken import problem_of
from simulator.evaluation.toolboxes import toolboxes
from simulator.run.config import make_config

NEWS = "青石镇新图书馆2030年8月5日启用，藏书42万册。"
ROWS: dict[str, list[Any]] = {
    "event_summary": [{"ID": "a1", "event": "青石镇图书馆启用", "summary": NEWS}],
    "continuing_writing": [{"ID": "b", "beginning": "青石镇消息", "continuing": NEWS}],
    "hallu_modified": [
        {"ID": "c", "newsBeginning": "青石镇消息", "hallucinatedContinuation": "藏书24万册。",
         "hallucinatedMod": "藏书42万册。"},
    ],
    "questanswer_1doc": [
        {"ID": "d", "questions": "藏书多少？", "answers": "42万册", "news1": NEWS}
    ],
    "questanswer_2docs": [
        {"ID": "e", "questions": ["藏书多少？"], "answers": "42万册", "news1": NEWS, "news2": NEWS},
        {"ID": "e", "questions": "", "answers": "x"},
        "no object",
    ],
}  # fmt: skip


def write(tmp_path: Path, data: Any) -> Path:
    path = tmp_path / "split_merged.json"
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return path


def test_every_task_asks_for_what_it_wants(tmp_path: Path) -> None:
    source = open_data(f"crud:{write(tmp_path, ROWS)}")
    sessions = {s.turns[0].query_type: s for s in source}
    assert len(source) == 7
    assert len(list(source)) == len({s.id for s in source}) == 7
    assert set(sessions) >= {"event-summary", "continuing-writing", "hallu-modified"}
    asked = sessions["hallu-modified"].turns[0]
    assert "青石镇消息" in asked.query
    assert "藏书24万册" in asked.query
    assert asked.reference.text == "藏书42万册。"
    one = sessions["questanswer-1doc"]
    assert one.capture is None
    assert [p.id for p in one.passages] == ["news1"]
    assert one.turns[0].reference.evidence == ("news1",)


def test_a_bad_row_is_its_own_data_error(tmp_path: Path) -> None:
    found = list(open_data(f"crud:{write(tmp_path, ROWS)}"))
    broken = [s for s in found if s.capture is not None]
    assert len(broken) == 2
    with pytest.raises(DataError, match=r"row 2 of questanswer_2docs: 'questions' is missing"):
        _ = broken[0].capture.image.data  # type: ignore[union-attr]


@pytest.mark.parametrize("data", [[], {}, {"event_summary": 3}, "x"])
def test_another_file_is_told_apart(tmp_path: Path, data: Any) -> None:
    with pytest.raises(DataError, match="none of CRUD-RAG's tasks"):
        open_data(f"crud:{write(tmp_path, data)}")


def test_no_two_conversations_share_a_name(tmp_path: Path) -> None:
    row = ROWS["event_summary"][0]
    rows = [row | {"ID": "row-2"}, row | {"ID": "row-2"}, row | {"ID": "row-2"}]
    source = open_data(f"crud:{write(tmp_path, {'event_summary': rows})}")
    assert len({session.id for session in source}) == len(source) == 3


def test_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "gb.json"
    path.write_bytes(json.dumps(ROWS, ensure_ascii=False).encode("gb18030"))
    with pytest.raises(DataError, match="UTF-8"):
        open_data(f"crud:{path}")


def test_long_texts_are_not_cut() -> None:
    assert make_config({"data": "crud:f.json"}).max_tokens == 0


def case(answer: str) -> Case:
    return Case(question="藏书多少？", answer=answer, references=("藏书42万册。",))


def take(taker: Any, answer: str, *names: str) -> dict[str, Any]:
    found = asyncio.run(taker.measure(case(answer), names or taker.measures))
    return {m.measure: m.value for m in found}


def test_words_are_counted_without_a_model() -> None:
    assert chosen_measures("crud") == MEASURES
    same = take(Overlap(), "藏书42万册。")
    assert same == pytest.approx(dict.fromkeys(("bleu", "rouge_l", "token_f1"), 1.0))
    other = take(Overlap(), "不清楚")
    assert set(other.values()) == {0.0}
    empty = asyncio.run(Overlap().measure(Case(question="?", answer="x"), ["bleu"]))
    assert empty[0].value is None
    assert "no reference" in empty[0].reason


def test_likeness_is_a_cosine_and_called_so() -> None:
    class Letters:
        id, dim = "letters", 3

        def encode(self, items: Any) -> Any:
            import numpy as np

            rows = np.array([[t.count("4"), t.count("2"), 1.0] for t in items], np.float32)
            return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    assert take(Likeness(Letters()), "藏书42万册。")["reference_cosine"] == pytest.approx(1.0)
    assert Likeness(Letters()).id("reference_cosine") == "cosine/1:letters"


class Editor:
    """Writes two questions, and answers from the text that stands in the prompt."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def generate(
        self, messages: Any, options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        del options
        prompt: str = messages[-1].text if isinstance(messages[-1], Message) else ""
        self.asked.append(prompt)
        key = prompt.split('"key": "')[1].split('"')[0]
        body: dict[str, Any] = {"key": key}
        if '"questions"' in prompt:
            body["questions"] = ["藏书多少？", "馆长是谁？"]
        else:
            text = prompt.split(f"<text-{key}>")[1].split("</text")[0]
            body["answers"] = [
                "42万册" if "42" in text else "24万册" if "24" in text else None,
                None,
            ]
        return Completion(text=json.dumps(body, ensure_ascii=False))


@pytest.mark.parametrize(
    ("answer", "precision", "recall"),
    [("藏书42万册。", 1.0, 1.0), ("我不知道。", 0.0, 0.0), ("", 0.0, 0.0)],
)
def test_quest_eval(answer: str, precision: float, recall: float) -> None:
    found = take(QuestEval(Editor(), name="editor"), answer)  # type: ignore[arg-type]
    assert found == {"quest_precision": precision, "quest_recall": recall}


def test_quest_eval_says_where_a_model_makes_no_sense() -> None:
    class Mumbler:
        async def generate(self, *_: Any, **__: Any) -> Completion:
            return Completion(text="mm")

    rows = asyncio.run(QuestEval(Mumbler(), name="m").measure(case("x"), MEASURES[-2:]))
    assert all(row.failed and row.value is None for row in rows)


def test_a_question_without_its_articles_is_no_question(tmp_path: Path) -> None:
    row = {"ID": "q", "questions": "藏书多少？", "answers": "42万册", "news1": NEWS}
    rows = {"questanswer_1doc": [row | {"news1": " "}], "questanswer_2docs": [row],
            "questanswer_3docs": [row | {"news2": NEWS, "news3": NEWS}]}  # fmt: skip
    one, two, three = open_data(f"crud:{write(tmp_path, rows)}")
    assert problem_of(three) is None
    assert problem_of(one) == (
        "split_merged.json, row 1 of questanswer_1doc: 'news1' is missing or no text; mend or "
        "remove the row (it needs questions, answers, news1)."
    )
    assert "'news2' is missing" in str(problem_of(two))


@pytest.mark.parametrize("spec", ["crud:a\0b", "crag:a\0b", "jsonl:\0", "a\0", "world:\0"])
def test_a_path_with_a_nul_is_refused_in_words(spec: str) -> None:
    with pytest.raises(SpecError, match="NUL; take it out"):
        open_data(spec)
    with pytest.raises(SpecError, match="holds a NUL"):
        toolboxes.create("world:world=a\0b")
