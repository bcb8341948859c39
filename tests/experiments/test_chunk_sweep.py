"""`mmrag search eval --chunks`: passages of other sizes, measured on a world's own questions."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from small_index import mini_part, run_eval

from mmrag.search.index.build import build_index
from mmrag.search.index.sources import open_source
from simulator import cli
from simulator.world.sessions import mini_folder


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mini world with few of its pages and none of its pictures."""
    labels = pq.read_table(mini_folder() / "grounding.parquet", columns=["page_url"])
    wanted = labels.column("page_url").unique()[:150]
    pages = pq.read_table(mini_folder() / "pages.parquet")
    pages = pages.filter(pc.is_in(pages["page_url"], wanted))
    return mini_part(tmp_path_factory.mktemp("world"), kg=None, pages=pages)


@pytest.fixture(scope="module")
def built(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "ix"
    build_index(open_source(str(world)), out, text_encoder="test-words")
    return out


@pytest.mark.proof("time")
def test_a_sweep_measures_each_size_and_keeps_no_index(
    world: Path, built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    given = [str(world), "--index", str(built), "--what", "web", "--limit", "60"]
    assert run_eval(*given, "--chunks", "48/0, 96/16,512/64", "--json") == 0
    figures = json.loads(capsys.readouterr().out)
    sweep = figures["chunks"]
    assert list(sweep) == ["48/0", "96/16", "512/64"]
    assert sweep["48/0"]["passages"] > sweep["96/16"]["passages"] > sweep["512/64"]["passages"]
    # the index itself has the last of these sizes: the same figures
    assert sweep["512/64"]["ways"] == figures["web"]
    assert sweep["48/0"]["ways"]["bm25"]["queries"] > 0
    assert list(tmp_path.iterdir()) == []
    assert run_eval(*given, "--chunks", "96/16") == 0
    assert "passages" in capsys.readouterr().out


@pytest.mark.parametrize("chunks", ["0/0", "64/64", "many", "64/-1"])
def test_impossible_sizes_are_refused(
    world: Path, built: Path, chunks: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exception, match="overlap"):
        cli.build()(
            ["search", "eval", str(world), "--index", str(built), "--chunks", chunks],
            standalone_mode=False,
        )
