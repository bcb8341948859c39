"""What Lab and Live offer: pictures of the chosen run, and the same scenes taken again."""

from __future__ import annotations

import shutil
from pathlib import Path

from ui_parts import write_run

from ui.offered_pictures import OfferedPictures
from ui.opened_runs import Runs, open_runs


def test_the_chosen_runs_pictures_come_first(tmp_path: Path) -> None:
    runs = open_runs([write_run(tmp_path / "a", 2), write_run(tmp_path / "b", 3)])
    samples = OfferedPictures(runs)
    assert samples.of("b")[0].run == "b"
    assert samples.of()[0].run == "a"
    first = samples.of("b")[0]
    assert samples.get(first.id) == first


def test_a_run_that_came_later_is_offered_and_a_broken_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.sqlite").write_text("no database")
    runs = Runs(watched=tmp_path)
    samples = OfferedPictures(runs)
    assert samples.of("broken") == []
    write_run(tmp_path / "late", 1)
    runs.refresh()
    assert [one.run for one in samples.of("broken")] == ["late"]
    shutil.rmtree(tmp_path / "late")
    runs.refresh()
    assert samples.of() == []
