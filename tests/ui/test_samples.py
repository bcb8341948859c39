"""What Lab and Live offer: pictures of the chosen run, and the same scenes taken again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from ui_parts import write_run

from simulator.store.run_store import RunStore
from simulator.world.sessions import TwinTable, mini_folder
from ui.render import render
from ui.runs import Runs, open_runs
from ui.samples import Samples, retaken
from ui.views.lab_view import degrade_picture


def test_the_chosen_runs_pictures_come_first(tmp_path: Path) -> None:
    runs = open_runs([write_run(tmp_path / "a", 2), write_run(tmp_path / "b", 3)])
    samples = Samples(runs)
    assert samples.of("b")[0].run == "b"
    assert samples.of()[0].run == "a"
    first = samples.of("b")[0]
    assert samples.get(first.id) == first


def test_a_run_that_came_later_is_offered_and_a_broken_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.sqlite").write_text("no database")
    runs = Runs(watched=tmp_path)
    samples = Samples(runs)
    assert samples.of("broken") == []
    write_run(tmp_path / "late", 1)
    runs.refresh()
    assert [one.run for one in samples.of("broken")] == ["late"]
    shutil.rmtree(tmp_path / "late")
    runs.refresh()
    assert samples.of() == []


@pytest.fixture
def twins(tmp_path: Path) -> Path:
    """Two conditions of two sessions, as `mmrag world twins` lays them out."""
    folder = tmp_path / "twins"
    folder.mkdir()
    with pq.ParquetFile(mini_folder() / "multi-turn.parquet") as file:
        table = file.read_row_group(0).slice(0, 2)
    for name in ("clean", "low-light@3", "out-of-focus@2"):
        pq.write_table(table, folder / f"{name}.parquet")
    with RunStore(tmp_path / "run") as store:
        store.set_meta("config", {"data": f"twins:{folder / 'clean.parquet'}", "agent": "random"})
        for place, one in enumerate(TwinTable(folder / "clean.parquet")):
            store.begin(place, one).result()
    return tmp_path / "run"


def test_a_twin_stands_beside_the_pixels_where_there_is_one(twins: Path) -> None:
    sample = Samples(open_runs([twins])).of()[0]
    for spec, there in (
        ("low-light@3", True), ("blurred:defocus@2", True), ("low-light@4", False),
        ("blurred@2", False), ("low-light@3+rotated@1", False), ("clean", False),
    ):  # fmt: skip
        assert (retaken(sample, spec) is not None) is there, spec
    done = degrade_picture(sample, "low-light@3", 0)
    page = render("lab.html.j2", lab=done, ladder=(), problem="", focus="")
    assert "Taken again: low-light&#64;3" in page
    done = degrade_picture(sample, "rotated@3", 0)
    assert "Taken again" not in render("lab.html.j2", lab=done, ladder=(), problem="", focus="")
