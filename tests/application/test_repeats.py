"""The same run several times: what chance does, told apart in the report."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from called_command import mmrag
from planted_runs import plant

from mmrag.metrics import chance
from mmrag.records import Query, Reply, Usage
from simulator import evaluate
from simulator.application.execution import forget_failures
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.run.results.repeats import all_alike, repeat_folder, repeat_folders
from simulator.store.run_store import RunReader
from simulator.terminal.live_table import CostCap


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Counting:
    """Says another number each time it is asked the same."""

    def __init__(self, cost: float = 0.0) -> None:
        self.asked: dict[tuple[str, int], int] = {}
        self.cost = cost

    def answer(self, query: Query) -> Reply:
        key = (query.session_id, query.turn_index)
        self.asked[key] = self.asked.get(key, 0) + 1
        return Reply(text=f"the {self.asked[key]}th time", usage=Usage(cost=self.cost))


def texts(run: Path) -> set[str]:
    with RunReader(run) as reader:
        return {result.reply.text for result in reader.results() if result.reply}


def test_a_run_is_held_as_often_as_is_said_and_gone_on_with(tmp_path: Path) -> None:
    agent = Counting()
    run = evaluate(agent, limit=2, judge="exact", out="run", repeats=3, progress=False)
    assert [texts(folder) for folder in (run.folder, *repeat_folders(run.folder))] == [
        {"the 1th time"}, {"the 2th time"}, {"the 3th time"},
    ]  # fmt: skip
    before = sum(agent.asked.values())
    evaluate(agent, limit=2, judge="exact", out="run", progress=False)  # nothing more
    assert sum(agent.asked.values()) == before
    evaluate(agent, limit=2, judge="exact", out="run", repeats=4, progress=False)
    assert texts(repeat_folder(run.folder, 4)) == {"the 4th time"}
    with RunReader(run.folder) as reader:
        assert reader.meta("repeats") == 4


def test_the_money_is_for_all_repeats_together(tmp_path: Path) -> None:
    agent = Counting(cost=1.0)
    once = evaluate(agent, limit=2, judge="exact", out="once", progress=False)
    cost = sum(agent.asked.values())
    with pytest.raises(CostCap):
        evaluate(
            Counting(cost=1.0), limit=2, judge="exact", out="run", repeats=3, progress=False,
            max_cost=cost + 0.5, concurrency=1,
        )  # fmt: skip
    assert once.folder.exists()
    assert len(repeat_folders(Path("run"))) == 1


def test_failed_turns_are_asked_again_in_every_repeat() -> None:
    broken = [True]

    class Breaks:
        def answer(self, query: Query) -> str:
            if broken[0] and query.turn_index == 1:
                raise ValueError("out of order")
            return "yes"

    agent, given = Breaks(), {"limit": 2, "judge": "exact", "stop": "never", "out": "run"}
    run = evaluate(agent, **given, repeats=2, progress=False)
    assert forget_failures(run.folder) == 2 * 2
    broken[0] = False
    evaluate(agent, **given, progress=False)
    for folder in (run.folder, *repeat_folders(run.folder)):
        with RunReader(folder) as reader:
            assert set(reader.turn_counts()) == {"answered"}


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same planted run thrice, with other luck each time."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    for number in (1, 2, 3):
        place = folder if number == 1 else repeat_folder(folder, number)
        plant(place, sessions=30, conditions=("clean",), run_seed=number)
    return folder


def test_a_report_splits_the_headlines_variance(repeated: Path, tmp_path: Path) -> None:
    make_report([repeated], tmp_path / "report", ReportOptions(resamples=100))
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    found = report["runs"][0]["noise"]
    assert found["repeats"]["repeats"] == 3
    table, sessions = by_hand(repeated)
    expected = chance.budget(table, sessions)
    shares = {part["source"]: part["variance"] for part in found["sources"]}
    assert shares["conversations"] == pytest.approx(expected.conversations)
    assert shares["repeats"] == pytest.approx(expected.repeats)
    assert found["turns"] == expected.turns
    assert found["repeats"]["pass_hat"] == pytest.approx(chance.pass_hat(table))
    assert sum(part["share"] for part in found["sources"]) == pytest.approx(1.0)
    page = (tmp_path / "report" / "report.html").read_text()
    assert "pass^3" in page
    assert "Noise" in page


def by_hand(folder: Path) -> tuple[list[list[float]], list[str]]:
    """Scores of the turns that count as experienced in all three, from the records themselves."""
    worth = {"perfect": 1.0, "acceptable": 1.0, "missing": 0.0, "incorrect": -1.0}
    tables: list[dict[tuple[str, int], float]] = []
    for place in (folder, *repeat_folders(folder)):
        rows: dict[tuple[str, int], float] = {}
        with RunReader(place) as run:
            for session_id, condition in run.session_keys():
                failures, stopped = 0, False
                for result in run.turns(session_id, condition):
                    outcome = result.verdict.outcome.value if result.verdict else None
                    key = (session_id, result.turn_index)
                    if stopped:
                        rows[key] = 0.0
                        continue
                    if outcome is not None:
                        rows[key] = worth[outcome]
                        failures = 0 if rows[key] > 0 else failures + 1
                        stopped = failures == 2
        tables.append(rows)
    keys = [key for key in tables[0] if all(key in rows for rows in tables)]
    return [[rows[key] for rows in tables] for key in keys], [key[0] for key in keys]


def test_a_run_without_repeats_has_no_budget(tmp_path: Path) -> None:
    plant(tmp_path / "run", sessions=5, conditions=("clean",))
    make_report([tmp_path / "run"], tmp_path / "report", ReportOptions(resamples=0))
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert report["runs"][0]["noise"] is None
    assert list(itertools.chain(repeat_folders(tmp_path / "run"))) == []


def test_repeats_that_are_all_alike_are_explained(tmp_path: Path) -> None:
    flags = ("--limit", "2", "--judge", "exact", "--search", "none", "--repeats", "3")
    said = mmrag("run", "--data", "mini", "--agent", "random", *flags, "--out", "same").stderr
    assert "All 3 times every reply is the same" in said
    run = evaluate(Counting(), limit=2, judge="exact", out="other", repeats=2, progress=False)
    assert all_alike(run.folder) == 0
    assert all_alike(repeat_folder(run.folder, 2)) == 0  # held once
