"""The index that ships: used wherever the mini world's content stands, and by who searches only."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from mmrag.encoders.vector_cache import EmbeddingCache
from mmrag.search.index.open import read_manifests
from mmrag.search.index.row_table import RowTable
from mmrag.search.web.bm25 import prepend_title
from simulator.parts import shipped_index
from simulator.parts.agent_resources import index_folder
from simulator.parts.named_agents import uses_searches
from simulator.parts.run_parts import Parts
from simulator.run.run_config import RunConfig
from simulator.world.sessions import mini_folder

TABLES = ("kg.parquet", "pages.parquet")


def test_a_copy_of_the_mini_world_is_searched_with_it(tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    copy.mkdir()
    for name in TABLES:
        shutil.copyfile(mini_folder() / name, copy / name)
        os.utime(copy / name, (1e9, 1e9))
    assert index_folder(str(mini_folder()), "auto") == shipped_index.FOLDER
    assert shipped_index.is_index_of(copy)
    with (copy / "pages.parquet").open("ab") as file:
        file.write(b"\0")
    assert not shipped_index.is_index_of(copy)


def test_every_passage_of_it_is_known_by_its_content() -> None:
    web = next(m for m in read_manifests(shipped_index.FOLDER) if m.part == "web")
    rows = RowTable.open(shipped_index.FOLDER / "web" / "rows.arrow")
    texts = [
        prepend_title(cell["page_name"], cell["text"]) for cell in rows.get(range(0, web.rows, 97))
    ]

    def make(_items: object) -> None:
        raise AssertionError("encoded again")

    cache = EmbeddingCache(None, shipped_index.vectors())
    assert len(cache.get_or_make(web.encoder, texts, str.encode, make)) == len(texts)


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("grounded", True), ("task1:model=(fake:)", True), ("random", False),
        ("faulty:agent=random", False), ("faulty:agent=task3", True),
        ("llm-only:model=(openai:name=m)", False), ("command:run=cat", False),
        ("python:name=test_shipped_index/answer", False),
        ("python:name=test_shipped_index/Blind", False),
        ("python:name=test_shipped_index/Searching", True)
    ]
)  # fmt: skip
def test_only_agents_that_search_get_an_index(agent: str, expected: bool) -> None:
    assert uses_searches(agent) is expected


def test_nothing_is_indexed_for_an_agent_that_searches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = tmp_path / "world"
    shutil.copytree(mini_folder(), world)
    (world / "pages.parquet").write_bytes(b"no table")  # building an index would fail here
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    parts = Parts(RunConfig(data=str(world), agent="python:name=test_shipped_index/answer"))
    assert (parts.index, parts.resources.web_search) == (None, None)
    assert not (tmp_path / "cache").exists()


def answer(query: object) -> str:
    return "I don't know."


class Blind:
    def answer(self, query: object) -> str:
        return "I don't know."


class Searching(Blind):
    def __init__(self, resources: object) -> None:
        self.resources = resources
