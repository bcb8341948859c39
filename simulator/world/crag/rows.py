"""A world's questions as rows of CRAG's published files, packed or plain."""

from __future__ import annotations

import bz2
import contextlib
import datetime as dt
import gzip
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from mmrag.errors import UsageError
from mmrag.files.atomic import appearing
from simulator.world.build.randomness import Draw
from simulator.world.crag.crag_stage import CragStage
from simulator.world.crag.questions.question_set import CragQuestion, ask_questions
from simulator.world.crag.web import PAGES, CragPage, answered_by, five_of, pages_of


def crag_rows(
    stage: CragStage, count: int, *, pages: int = 5, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Rows with 5 pages (tasks 1 and 2) or all 50 (task 3); the same questions in both."""
    if pages not in (5, PAGES):
        raise UsageError(
            f"--pages {pages}: CRAG has 5 a question for tasks 1 and 2, {PAGES} for 3."
        )
    for asked in ask_questions(stage, count, seed):
        found = pages_of(stage, asked)
        shown = five_of(found, asked, stage.facts.seed) if pages == 5 else found
        yield _row(stage, asked, shown)


def write_rows(rows: Iterable[dict[str, Any]], out: Path) -> int:
    """Write rows as JSON lines, packed as the name says, one by one; how many there were."""
    many = 0
    with appearing(out) as temporary, _opened(temporary, out.suffix) as file:
        for row in rows:
            file.write(msgspec.json.encode(row) + b"\n")
            many += 1
    return many


@contextlib.contextmanager
def _opened(path: Path, ending: str) -> Generator[IO[bytes]]:
    """A file to write to; the same rows give the same bytes, whenever they are written."""
    with path.open("wb") as plain:
        if ending == ".bz2":
            with bz2.open(plain, "wb") as packed:
                yield packed
        elif ending == ".gz":
            with gzip.GzipFile("", "wb", fileobj=plain, mtime=0) as packed:
                yield cast("IO[bytes]", packed)
        else:
            yield plain


def _row(stage: CragStage, asked: CragQuestion, pages: list[CragPage]) -> dict[str, Any]:
    split = Draw(stage.facts.seed, "crag split", asked.id).below(2)
    return {
        "interaction_id": asked.id,
        "query_time": f"{dt.datetime.fromisoformat(asked.at):%m/%d/%Y, %H:%M:%S} PT",
        "domain": asked.domain,
        "question_type": asked.form,
        "static_or_dynamic": asked.dynamism,
        "query": asked.query,
        "answer": asked.answer,
        "alt_ans": list(asked.others),
        "split": split,
        "popularity": asked.popularity,
        "pages_answer": answered_by(pages, asked),
        "derivation": msgspec.to_builtins(asked.proof),
        "search_results": [
            {
                "page_name": page.name,
                "page_url": page.url,
                "page_snippet": page.snippet,
                "page_result": page.html,
                "page_last_modified": page.modified,
            }
            for page in pages
        ],
    }
