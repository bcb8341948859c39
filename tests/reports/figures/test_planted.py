"""Planted effects: the slice is found and no other, at the error rates that are stated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from frames import make_frame
from planted_runs import plant

from mmrag.metrics.headline import IntervalOptions
from simulator.reports.figures.report import ReportOptions, build_report, load_report_runs
from simulator.reports.figures.slices import dimensions, standouts
from simulator.reports.read.paired_turns import change_standouts, match, slice_differences
from simulator.store.run_reader import RunReader

RUNS = 200
FAST = IntervalOptions(resamples=0)
# 5 % stated; what 200 runs of a true 5 % stay under with 99.9 % probability
MOST = 0.05 + 3.1 * (0.05 * 0.95 / RUNS) ** 0.5


def found_by_report(seed: int, effect: tuple[str, str, float] | None) -> set[tuple[str, str]]:
    frame = make_frame(seed=seed, answers=0, effect=effect)
    found = standouts(frame, np.ones(len(frame), bool))["found"]
    return {(entry["dimension"], entry["slice"]) for entry in found}


def test_without_an_effect_a_report_finds_nothing() -> None:
    assert np.mean([bool(found_by_report(seed, None)) for seed in range(RUNS)]) <= MOST


@pytest.mark.parametrize("place", [("query_type", "multi-hop"), ("domain", "food")])
def test_a_weak_slice_is_found_and_no_other(place: tuple[str, str]) -> None:
    found = [found_by_report(seed, (*place, 0.4)) for seed in range(RUNS)]
    assert np.mean([place in one for one in found]) >= 0.95
    assert np.mean([bool(one - {place}) for one in found]) <= MOST


def compare_slices(seed: int, effect: tuple[str, str, float] | None) -> set[tuple[str, str]]:
    first = make_frame(seed=seed, answers=1)
    second = make_frame(seed=seed, answers=2, effect=effect)
    everything = np.ones(len(first), bool)
    pairs = match(first, everything, second, everything)
    table = slice_differences(pairs, dimensions(first), FAST)
    return {
        (entry["dimension"], entry["slice"])
        for entry in table
        if entry["p_holm"] is not None and entry["p_holm"] <= 0.05
    }


def test_two_runs_without_a_difference_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.reports.read.paired_turns.PERMUTATIONS", 2000)
    assert np.mean([bool(compare_slices(seed, None)) for seed in range(RUNS)]) <= MOST


@pytest.mark.parametrize("place", [("query_type", "multi-hop"), ("popularity", "tail")])
def test_the_slice_that_moved_is_found_and_no_other(place: tuple[str, str]) -> None:
    found: list[set[tuple[str, str]]] = []
    for seed in range(RUNS):
        first = make_frame(seed=seed, answers=1)
        second = make_frame(seed=seed, answers=2, effect=(*place, 0.5))
        everything = np.ones(len(first), bool)
        moved = change_standouts(match(first, everything, second, everything), dimensions(first))
        found.append({(entry["dimension"], entry["slice"]) for entry in moved["found"]})
    assert np.mean([place in one for one in found]) >= 0.95
    assert np.mean([bool(one - {place}) for one in found]) <= MOST


def only_multi_hop(turn, session, condition: str) -> float:
    return 0.55 if condition != "clean" and turn.query_type == "multi-hop" else 0.0


def test_in_a_whole_report_of_a_sweep(tmp_path: Path) -> None:
    """Degradation hurts one query type only: the report says so and names nothing else."""
    folder = plant(
        tmp_path / "run",
        sessions=150,
        conditions=("clean", "low-light@3", "blurred@3"),
        effect=only_multi_hop,
        after_stop="generate",
        seed=5,
    )
    options = ReportOptions(resamples=100, failures=0)
    with RunReader(folder) as run:
        report = build_report(*load_report_runs([run], options), options)
    slices = report["runs"][0]["robustness"]["slices"]
    named = [(s["dimension"], s["slice"]) for s in slices["standouts"]["found"]]
    assert named == [("query_type", "multi-hop")]
    assert (slices["worst"]["dimension"], slices["worst"]["slice"]) == ("query_type", "multi-hop")
    assert report["runs"][0]["slices"]["standouts"]["found"] == []
