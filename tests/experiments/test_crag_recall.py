"""How many of CRAG's questions their first pages answer, counted by hand."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag

from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Message
from simulator.datasets.papers.crag import CragQuestions
from simulator.experiments.crag_recall import first_answering_pages, recall_curve


def page(snippet: str, text: str = "") -> dict[str, str]:
    return {
        "page_name": "p", "page_url": "https://p.example", "page_snippet": snippet,
        "page_result": f"<html><body><p>{text}</p></body></html>", "page_last_modified": "",
    }  # fmt: skip


def row(name: str, answer: str, *pages: dict[str, str], **more: Any) -> dict[str, Any]:
    return {
        "interaction_id": name, "query_time": "02/28/2024, 10:04:54 PT", "domain": "finance",
        "question_type": "simple", "static_or_dynamic": "static", "query": "what is it?",
        "answer": answer, "alt_ans": [], "split": 0, "popularity": "",
        "search_results": list(pages), **more,
    }  # fmt: skip


OTHER = page("Something else.", "Of 14.25 nothing is known.")
ROWS = [
    row("first", "$14.20", page("It closed at <b>$14.20</b> on Monday.")),
    row("third", "Ines Dahl", OTHER, OTHER, page("A name.", "It was INES DAHL who built it.")),
    row("other-wording", "a boat", OTHER, page("", "A small ferry."), alt_ans=["ferry"]),
    row("nowhere", "14.2", OTHER, OTHER, popularity="tail"),
    row("premise", "invalid question", OTHER),
    row("none", "nan", OTHER),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return path


def test_a_page_answers_where_it_holds_the_answer(file: Path) -> None:
    found = asyncio.run(first_answering_pages(CragQuestions(file)))
    assert [one.page for one in found] == [1, 3, 2, None]
    every, kg, web = recall_curve(found, [1, 2, 3])
    assert (every["questions"], every["n"]) == ("all", 4)
    assert every["recall"] == {1: 0.25, 2: 0.5, 3: 0.75}
    assert kg == {"questions": "kg", "n": 1, "recall": {1: 0.0, 2: 0.0, 3: 0.0}}
    assert web["recall"] == {1: 1 / 3, 2: 2 / 3, 3: 1.0}


def test_a_model_says_whether_a_page_suffices(file: Path) -> None:
    def judge(messages: Any) -> str:
        text = messages[-1].text if isinstance(messages[-1], Message) else ""
        key = re.findall(r'"key": "(\w+)"', text)[0]
        suffices = "nothing is known" in text.partition("<passages")[2] and "14.2\n" in text
        return json.dumps({"key": key, "sufficient": suffices})

    found = asyncio.run(
        first_answering_pages(CragQuestions(file), ScriptedModel(judge), concurrency=1)
    )
    assert [one.page for one in found] == [None, None, None, 1]


def test_the_command(file: Path) -> None:
    done = mmrag("lab", "crag-recall", file, "--pages", "1,3")
    assert "| pages | n | 1 | 3 |" in done.stdout
    assert "| all | 4 | 25.0 | 75.0 |" in done.stdout
    shown = mmrag("lab", "crag-recall", file, "--json", "--limit", 1)
    assert json.loads(shown.stdout)[0]["recall"]["1"] == 1.0
