"""CRAG's published rows: an invented file with the oddities of the editions, and broken ones."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mmrag.errors import DataError
from mmrag.records import Session
from simulator.datasets import open_data
from simulator.datasets.file_rows import Row
from simulator.datasets.papers.crag import CHUNK, MAX_PAGE_TEXT, PAGE, SNIPPET, CragQuestions

PAGE_ONE = {
    "page_name": "Orlan Works &amp; its shares",
    "page_url": "https://money.example/orlan",
    "page_snippet": "Orlan Works closed at <strong>$14.20</strong> on Monday&#x27;s market.",
    "page_result": "\n\n<!DOCTYPE html><html><head><title>x</title><script>steal()</script></head>"
    "<body><p>Orlan Works closed at $14.20.</p><p>It has 340 workers.</p></body></html>",
    "page_last_modified": " Wed, 06 Mar 2024 03:19:02 GMT",
}
EMPTY_PAGE = {
    "page_name": "Nothing", "page_url": "https://n.example", "page_snippet": "",
    "page_result": "", "page_last_modified": "",
}  # fmt: skip


def row(name: str, **more: Any) -> dict[str, Any]:
    return {
        "interaction_id": name, "query_time": "02/28/2024, 10:04:54 PT", "domain": "finance",
        "question_type": "simple", "static_or_dynamic": "real-time",
        "query": "what did orlan works close at?", "answer": "$14.20", "alt_ans": ["14.20 dollars"],
        "split": 0, "popularity": "tail", "search_results": [PAGE_ONE, EMPTY_PAGE], **more
    }  # fmt: skip


ROWS = [
    row("a"),
    # the example data of the repository: a text for a list, no popularity, no date of the page
    {k: v for k, v in row("b", alternative_answers="['14.20 dollars', \"it's $14.2\"]", split=1,
                          question_type="simple_w_condition").items()
     if k not in ("alt_ans", "popularity")},
    row("c", answer="nan", alt_ans=[], question_type="comparison"),
    row("d", answer="invalid question", question_type="false_premise", popularity="",
        search_results=[{**PAGE_ONE, "page_last_modified": "2024-1-18 15:32:24"}]),
    row("e", question_type="post-processing", domain="open", static_or_dynamic="slow-changing",
        search_results=[PAGE_ONE] * 50),
]  # fmt: skip
"""Five invented rows. Each has another oddity of the published files."""


def written(path: Path, *rows: Any) -> Path:
    lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in rows]
    data = b"\n".join(lines) + b"\n"
    pack = {".bz2": bz2.compress, ".gz": gzip.compress}.get(path.suffix, lambda plain: plain)
    path.write_bytes(pack(data))
    return path


def read(path: Path) -> list[Session]:
    return list(open_data(f"crag:{path}"))


def problem(session: Session) -> str:
    assert session.capture is not None, "the row could be read"
    with pytest.raises(DataError) as told:
        _ = session.capture.image.data
    return str(told.value)


@pytest.mark.parametrize("name", ["q.jsonl", "q.jsonl.bz2", "q.jsonl.gz"])
def test_plain_and_packed_files_give_the_same_sessions(tmp_path: Path, name: str) -> None:
    found = read(written(tmp_path / name, *ROWS))
    assert [s.id for s in found] == ["a", "b", "c", "d", "e"]
    assert found == read(written(tmp_path / "plain.jsonl", *ROWS))
    assert len(open_data(f"crag:{tmp_path / name}")) == 5


def test_a_row_is_a_question_in_text_with_its_pages(tmp_path: Path) -> None:
    session, *_ = read(written(tmp_path / "q.jsonl", *ROWS))
    assert (session.capture, session.query_time) == (None, "2024-02-28T10:04:54")
    [turn] = session.turns
    assert turn.reference.all_texts == ("$14.20", "14.20 dollars")
    assert (turn.domain, turn.query_type) == ("finance", "simple")
    assert (turn.dynamism, turn.popularity) == ("real-time", "tail")
    assert turn.meta == {"split": "validation", "answer_from": "kg"}
    snippet, page = session.passages
    assert snippet.text == "Orlan Works closed at $14.20 on Monday's market."
    assert page.text == "Orlan Works closed at $14.20.\nIt has 340 workers."
    assert (snippet.id, page.id) == ("1", "1.1")
    assert (snippet.provider, page.provider) == (SNIPPET, PAGE)
    assert (page.title, page.date) == ("Orlan Works & its shares", "2024-03-06")


def test_the_oddities_of_the_editions(tmp_path: Path) -> None:
    _, b, c, d, e = read(written(tmp_path / "q.jsonl", *ROWS))
    assert b.turns[0].reference.all_texts == ("$14.20", "14.20 dollars", "it's $14.2")
    assert b.turns[0].query_type == "simple-w-condition"
    assert b.turns[0].meta == {"split": "public test"}, "without the field nobody knows whence"
    assert c.turns[0].reference.all_texts == ("",), "nan is no answer: nothing can be scored"
    assert d.turns[0].reference.text == "invalid question"
    assert (d.turns[0].query_type, d.turns[0].popularity) == ("false-premise", None)
    assert (d.turns[0].meta["answer_from"], d.passages[0].date) == ("web", "2024-01-18")
    assert len({p.id for p in e.passages}) == len(e.passages) == 100


def test_a_folder_of_parts_is_one_data_set(tmp_path: Path) -> None:
    written(tmp_path / "part_0.jsonl.bz2", *ROWS[:3])
    written(tmp_path / "part_1.jsonl.bz2", *ROWS[3:])
    assert [s.id for s in read(tmp_path)] == ["a", "b", "c", "d", "e"]


def test_a_file_that_breaks_off_keeps_its_rows_and_names_the_line(tmp_path: Path) -> None:
    whole = written(tmp_path / "q.jsonl.bz2", *ROWS).read_bytes()
    later = bz2.compress(json.dumps(row("f")).encode() + b"\n")
    (tmp_path / "cut.jsonl.bz2").write_bytes(whole + later[:-20])
    found = read(tmp_path / "cut.jsonl.bz2")
    assert [s.id for s in found[:5]] == ["a", "b", "c", "d", "e"]
    [last] = found[5:]
    assert "cut.jsonl.bz2, line 6: cannot be unpacked" in problem(last)
    assert "fetch it again" in problem(last)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({k: v for k, v in row("x").items() if k != "search_results"}, "search_results"),
        (row("x", search_results=None), '"search_results": []'),
        (row("x", search_results=["https://a.example"]), "page 1 is not an object"),
        (row("x", search_results=[EMPTY_PAGE] * 101), "101 pages"),
        (row("x", query=""), "no query"),
        ({k: v for k, v in row("x").items() if k != "answer"}, "no answer"),
        (row("x", query_time="yesterday"), "02/28/2024, 10:04:54 PT"),
        (row("x", alt_ans={"a": 1}), "alt_ans is not a list"),
        (row("a"), "stands in line 1 too"),
        ('{"interaction_id": "x", "query": "价格是多少"}'.encode("gb18030"), "UTF-8"),
        (b'{"interaction_id": "x", ', "not JSON"),
        (b"[1, 2]", "not a JSON object"),
    ],
)  # fmt: skip
def test_a_bad_row_is_told_with_its_line_and_the_others_run(
    tmp_path: Path, bad: Any, says: str
) -> None:
    found = read(written(tmp_path / "q.jsonl", ROWS[0], bad, ROWS[1]))
    assert [found[0].id, found[2].id] == ["a", "b"]
    assert "q.jsonl, line 2" in problem(found[1])
    assert says in problem(found[1])


@pytest.mark.parametrize(
    "html",
    ["<p>word " * 1_500_000, "<b>" * 3_000_000, "<" * 10_000_000, "a" * 10_000_000],
    ids=["ten MB", "endless tags", "endless brackets", "one word"],
)
def test_hostile_pages_are_bounded(tmp_path: Path, html: str) -> None:
    page = {**PAGE_ONE, "page_result": html}
    [session] = read(written(tmp_path / "q.jsonl", row("a", search_results=[page])))
    assert session.capture is None
    assert sum(len(p.text) for p in session.passages) <= MAX_PAGE_TEXT + 1000
    assert max(len(p.text) for p in session.passages) <= CHUNK


def test_an_archive_is_refused_with_the_cure(tmp_path: Path) -> None:
    (tmp_path / "crag_task_3_dev_v4.tar.bz2.part1").write_bytes(b"BZh9")
    with pytest.raises(DataError, match=r"tar -xj"):
        open_data(f"crag:{tmp_path / 'crag_task_3_dev_v4.tar.bz2.part1'}")


def test_two_rows_of_a_large_file_cost_two_rows(tmp_path: Path) -> None:
    """`--limit 2` of the published file must not unpack all of it to count its rows."""
    from simulator.parts.run_parts import Parts
    from simulator.run.run_config import RunConfig

    class Watched(CragQuestions):
        def _rows(self) -> Iterator[tuple[str, Row]]:
            for number, found in enumerate(super()._rows()):
                assert number < 2, "a third row was unpacked"
                yield found

    source = Watched(written(tmp_path / "q.jsonl.bz2", *ROWS))
    assert Parts(RunConfig(data="crag:q", limit=2), source=source).count() == 2


def test_files_with_the_same_names_and_lines_stay_apart(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        (tmp_path / name).write_text('{"interaction_id": "one"}\n', encoding="utf-8")
    found = [session.id for session in open_data(f"crag:{tmp_path}")]
    assert len(set(found)) == 3
