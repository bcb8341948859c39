"""CRUD-RAG's file as conversations of one turn, and its measures over a run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from mmrag.agents import agents
from mmrag.errors import DataError, SpecError, UsageError
from mmrag.judges.measure_registry import chosen_measures
from mmrag.judges.papers.reference_measures import (
    MEASURES,
    OVERLAP,
    QUEST,
    RETRIEVAL,
    LikenessMeasurer,
    OverlapMeasurer,
    QuestEvalMeasurer,
    RetrievalMeasurer,
)
from mmrag.metrics.measure_records import Case
from mmrag.models.scripted import ScriptedModel
from mmrag.passages import PassageOptions
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import Status, TurnResult
from mmrag.search.index.articles import article_name
from mmrag.search.index.sources import open_source
from mmrag.search.session_passages import set_searched_passages
from simulator.application.measure_replies import case_of
from simulator.datasets import open_data
from simulator.datasets.unreadable_row import problem_of
from simulator.parts.agent_resources import make_resources, search_cut_pages
from simulator.parts.run_parts import Parts
from simulator.parts.toolboxes import toolboxes
from simulator.run.engine import Rules, query_of
from simulator.run.run_config import make_config

NEWS = "青石镇新图书馆2030年8月5日启用，藏书42万册。"
ARTICLE = "2030-08-05 10:02，正文：本报讯 " + NEWS
ROWS: dict[str, list[Any]] = {
    "event_summary": [
        {"event": "青石镇图书馆启用", "summary": NEWS, "ID": "a1", "text": ARTICLE,
         "time": "2030-08-05 10:02", "url": "http://qs.example/1", "title": "图书馆启用"},
    ],
    "continuing_writing": [
        {"ID": "b", "beginning": "青石镇消息", "continuing": NEWS, "summary": "青石镇图书馆启用。",
         "text": "青石镇消息" + NEWS},
    ],
    "hallu_modified": [
        {"ID": "c", "headLine": "图书馆启用", "type": "num", "newsBeginning": "青石镇消息",
         "hallucinatedContinuation": "藏书24万册。", "newsRemainder": "藏书42万册。周一闭馆。",
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
    assert [p.id for p in one.passages] == [article_name(NEWS)]
    assert one.turns[0].reference.evidence == (article_name(NEWS),)


def test_every_task_brings_what_its_row_has_to_read(tmp_path: Path) -> None:
    brought = {
        session.turns[0].query_type: [passage.text for passage in session.passages]
        for session in open_data(f"crud:{write(tmp_path, ROWS)}")
        if session.capture is None
    }
    assert brought == {
        "event-summary": [ARTICLE],
        "continuing-writing": ["青石镇图书馆启用。"],
        "hallu-modified": ["藏书42万册。周一闭馆。"],
        "questanswer-1doc": [NEWS],
        "questanswer-2docs": [NEWS],
    }, "what was to be written is never brought"


def test_rows_without_a_reference_are_skipped_as_the_authors_skip_them(tmp_path: Path) -> None:
    [good] = ROWS["hallu_modified"]
    failed = good | {"ID": "f", "hallucinatedMod": '","msg":"request openai failed"'}
    source = open_data(f"crud:{write(tmp_path, {'hallu_modified': [failed, good]})}")
    assert (len(source), [session.id for session in source]) == (1, ["hallu_modified-c"])


# the 80,000 articles


@pytest.fixture
def news(tmp_path: Path) -> Path:
    """Published files of articles: one a line, no ending, blank last lines, one twice."""
    folder = tmp_path / "80000_docs"
    folder.mkdir()
    (folder / "documents_dup_part_1_part_1").write_text(
        f"2030-08-07，正文：白河镇通车。\n{NEWS.replace('，', '， ')}\n\n", encoding="utf-8"
    )
    (folder / "documents_hallu.txt_part_1").write_text(f"藏书42万册。周一闭馆。\n{NEWS}\n")
    return folder


def test_the_articles_of_the_published_files_are_pages(news: Path) -> None:
    source = open_source(str(news))
    pages = list(source.pages())
    assert source.page_count == len(pages) == 4
    assert [page.url for page in pages[1:3]] == [
        article_name(NEWS), article_name("藏书42万册。周一闭馆。"),
    ]  # fmt: skip
    assert [bool(page.text) for page in pages] == [True, True, True, False]
    assert [page.url for page in source.pages(2)] == [page.url for page in pages[2:]]


def test_an_article_has_one_name_in_rows_and_files() -> None:
    assert article_name("青石镇 新\n图书馆") == article_name("青石镇新图书馆")
    assert article_name("青石镇") != article_name("白河镇")


@pytest.mark.parametrize("spec", ["rag:model=m", "rag:model=m,chunk=64,retriever=bm25"])
def test_the_articles_are_searched_in_place_of_a_rows_own(
    tmp_path: Path, news: Path, spec: str
) -> None:
    rows = {"questanswer_1doc": [ROWS["questanswer_1doc"][0] | {"questions": "青石镇藏书多少？"}]}
    data = f"crud:{write(tmp_path, rows)}"
    resources, fingerprint = make_resources(data, news)
    model = ScriptedModel("42万册")
    resources.model = lambda _: model
    agent = agents.create(spec, resources=resources)
    [session] = open_data(data)
    query = query_of(session, session.turns[0], (), Rules())
    set_searched_passages(query.passages)
    try:
        reply = asyncio.run(agent.answer(query))
    finally:
        set_searched_passages(())
    found = [item.url for step in reply.trace for item in step.evidence]
    assert fingerprint == open_source(str(news)).fingerprint
    assert set(found) == {article_name(NEWS), article_name("藏书42万册。周一闭馆。")}
    result = TurnResult(session_id=session.id, turn_index=0, status=Status.ANSWERED,
                        query=query.text, reply=reply)  # fmt: skip
    taken = asyncio.run(
        RetrievalMeasurer().measure(case_of(session, result), ["mrr_of_all", "recall@1"])
    )
    rank = found.index(article_name(NEWS)) + 1
    assert [one.value for one in taken] == [1 / rank, float(rank == 1)]


def test_an_index_that_is_cut_already_is_not_cut_in_silence() -> None:
    with pytest.raises(UsageError, match="--search FOLDER of news articles"):
        search_cut_pages(None, PassageOptions())


def test_ranks_are_counted_over_all_articles_that_answer() -> None:
    asked = Case(question="?", answer="x", expected=("a", "b"), found=("a", "x", "b"))
    found = {m.measure: m.value for m in asyncio.run(RetrievalMeasurer().measure(asked, RETRIEVAL))}
    assert found["mrr_of_all"] == pytest.approx(2 / 3)
    assert (found["recall@1"], found["recall@3"]) == (0.5, 1.0)
    nothing = asyncio.run(RetrievalMeasurer().measure(Case(question="?", answer="x"), ["recall@1"]))
    assert nothing[0].value is None
    unfound = Case(question="?", answer="x", expected=("a",), found=())
    assert asyncio.run(RetrievalMeasurer().measure(unfound, ["mrr_of_all"]))[0].value == 0.0
    untold = Case(question="?", answer="x", expected=("a",))
    [row] = asyncio.run(RetrievalMeasurer().measure(untold, ["mrr_of_all"]))
    assert (row.value, row.reason) == (None, "the reply has no trace of what was found")


def test_a_run_that_finds_nothing_for_its_settings_says_so(tmp_path: Path) -> None:
    bare = [{"ID": "b", "beginning": "青石镇消息", "continuing": NEWS}]
    data = f"crud:{write(tmp_path, {'continuing_writing': bare})}"

    def said(**more: str) -> str:
        return Parts(make_config({"data": data, "agent": "rag:model=m"} | more)).unsearched_pages()

    assert said() == (
        "rag finds no pages in 1 of the first 1 conversation, which bring none: no index is "
        "searched. Give --search its folder."
    )
    assert said(agent="grounded").endswith("its folder, or take an agent with a model.")
    assert said(agent="llm-only:model=m") == said(search="none") == ""
    full = f"crud:{write(tmp_path, ROWS)}"
    assert said(data=full) == ""


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
    same = take(OverlapMeasurer(), "藏书42万册。")
    assert same == pytest.approx(dict.fromkeys(OVERLAP, 1.0) | {"length": 7.0})
    other = take(OverlapMeasurer(), "不清楚")
    assert other == dict.fromkeys(OVERLAP, 0.0) | {"length": 3.0}
    empty = asyncio.run(OverlapMeasurer().measure(Case(question="?", answer="x"), ["bleu"]))
    assert empty[0].value is None
    assert "no reference" in empty[0].reason


def test_likeness_is_a_cosine_and_called_so() -> None:
    class Letters:
        id, dim = "letters", 3

        def encode(self, items: Any) -> Any:
            import numpy as np

            rows = np.array([[t.count("4"), t.count("2"), 1.0] for t in items], np.float32)
            return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    assert take(LikenessMeasurer(Letters()), "藏书42万册。")["reference_cosine"] == pytest.approx(
        1.0
    )
    assert LikenessMeasurer(Letters()).id("reference_cosine") == "cosine/1:letters"


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
    found = take(QuestEvalMeasurer(Editor(), name="editor"), answer)  # type: ignore[arg-type]
    assert found == {"quest_precision": precision, "quest_recall": recall}


def test_quest_eval_says_where_a_model_makes_no_sense() -> None:
    class Mumbler:
        async def generate(self, *_: Any, **__: Any) -> Completion:
            return Completion(text="mm")

    rows = asyncio.run(QuestEvalMeasurer(Mumbler(), name="m").measure(case("x"), QUEST))
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
