"""What links cost: pairs, turns lost, the cheapest, in the command and in the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from called_command import mmrag
from linked_runs import write_linked_run
from small_runs import make_session, run_all

from mmrag.records import Query, Reply
from simulator.reports.losses.link_losses import cheapest


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_linked_run(tmp_path_factory.mktemp("links") / "run")


def test_the_command_sets_truthfulness_against_bytes_and_seconds(run: Path) -> None:
    found = json.loads(mmrag("link", str(run), "--points", "20", "--json").stdout)
    whole, thing = found["rows"]
    assert (whole["condition"], thing["condition"]) == ("link:radio:whole", "link:stream:thing")
    assert whole["pictures"] == thing["pictures"] == 20
    assert whole["bytes"] > 2 * thing["bytes"] > 0
    assert whole["seconds"] == pytest.approx(0.4 + whole["bytes"] / 98_000)
    assert thing["seconds"] == pytest.approx(5.3 + thing["bytes"] / 237_500)
    assert whole["change"]["estimate"] == 0
    assert (whole["lost"], whole["won"]) == (0, 0)
    # of 40 turns 34 are right on the whole picture, and none on the part
    assert (thing["pairs"], thing["lost"], thing["won"]) == (40, 34, 0)
    assert thing["change"]["estimate"] == pytest.approx(-2 * 34 / 40)
    assert thing["turns_lost"][0] == {"session": "s001", "turn": 0}
    assert found["cheapest"] == [{"before": "clean", "condition": "link:radio:whole"}]


def test_what_is_lost_by_a_stop_is_lost_to_the_link(tmp_path: Path) -> None:
    folder = write_linked_run(tmp_path / "run", turns=3)
    found = json.loads(mmrag("link", str(folder), "--json").stdout)
    thing = found["rows"][1]
    assert (thing["pairs"], thing["change"]["n"]) == (60, 60)
    assert thing["lost"] == 51  # of each of 17 the third question too, which was never asked


def test_the_command_in_words(run: Path) -> None:
    said = mmrag("link", str(run), "--points", "200").stdout
    assert "is link:stream:thing." in said
    assert "-170.0" in said


def test_too_few_conversations_are_told_how_many_it_takes(run: Path) -> None:
    said = mmrag("link", str(run), "--points", "7").stdout
    assert said.endswith(
        "clean: no setting is shown to cost no more than 7 points.\n"
        "That takes 43 conversations or more; this run has 20.\n"
    )
    assert "That takes" not in mmrag("link", str(run), "--points", "20").stdout


def test_the_report_has_the_same_figures(run: Path, tmp_path: Path) -> None:
    report = json.loads(mmrag("report", str(run), "--out", str(tmp_path), "--json").stdout)
    found = json.loads(mmrag("link", str(run), "--json").stdout)
    assert report["runs"][0]["link"] == found
    page = (tmp_path / "report.html").read_text()
    assert "<h2>The link</h2>" in page
    assert "no setting is shown to cost no more than" in page  # 20 conversations show little


def test_a_run_without_links_is_told_how_to_have_one(tmp_path: Path) -> None:
    run_all(tmp_path / "run", [make_session(1)], SeesNothing())
    said = mmrag("link", str(tmp_path / "run"), code=2)
    assert "--link radio" in said.stderr


class SeesNothing:
    async def answer(self, query: Query) -> Reply:
        return Reply(text="I don't know", abstained=True)


def row(name: str, size: float, low: float | None, sessions: int = 300) -> dict:
    return {
        "condition": name,
        "bytes": size,
        "change": None if low is None else {"low": low, "sessions": sessions},
    }


def test_the_cheapest_needs_its_whole_interval_above_the_bound() -> None:
    rows = [row("a", 10, -0.051), row("b", 20, -0.05), row("c", 30, 0.0), row("d", 5, None)]
    assert cheapest(rows, 5.0) == "b"
    assert cheapest(rows, 1.0) == "c"
    assert cheapest(rows[:1], 5.0) is None
    assert cheapest([row("a", 10, 0.0, 60)], 5.0) == "a"
    assert cheapest([row("a", 10, 0.0, 59)], 5.0) is None  # 3 / 59 of them may be lost unseen


def test_columns_say_what_was_sent(run: Path) -> None:
    from simulator.reports.read.turn_frame import load_turn_frame
    from simulator.run.stop_policies import StopPolicy
    from simulator.store.run_reader import RunReader

    with RunReader(run) as reader:
        frame = load_turn_frame(reader, stop=StopPolicy())
    assert np.isnan(frame["link_bytes"][frame.condition("clean")]).all()
    assert (frame["link_bytes"][frame.condition("link:radio:whole")] > 1000).all()
