"""What a report and a comparison say in words: where nothing differs, is tested, or is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from planted_runs import make_session, plant
from small_runs import done, write

from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs
from simulator.reports.draw.markdown import comparison_markdown
from simulator.reports.draw.page import Figures, comparison_page
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.reports.figures.slices import untested

FEW = ReportOptions(resamples=50, failures=0)


def text_of(page: str) -> str:
    body = page.partition("<body>")[2]
    return " ".join(re.sub(r"<[^>]+>", "", body).split())


def report_of(folder: Path, **planted: Any) -> str:
    plant(folder / "run", shared_picture=True, **planted)
    make_report([folder / "run"], folder / "report", FEW)
    return text_of((folder / "report" / "report.html").read_text())


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("pair")
    sides = []
    for name, base in (("a", 0.3), ("b", 0.7)):
        plant(folder / name, sessions=4, base=base, shared_picture=True, agent=name)
        sides.append(ComparedRun(folder=str(folder / name)))
    return compare_runs(sides, FEW)


def test_where_no_condition_differs_none_loses_most(tmp_path: Path) -> None:
    # nearly certain to be right: every turn of these few is, under both conditions
    words = report_of(
        tmp_path, sessions=3, conditions=("clean", "low-light@1"), base=9.0, failures=0.0
    )
    assert "Truthfulness falls under no condition" in words
    assert "would likely have missed" not in words  # a fall of less than 0.0 points
    assert "largest loss" not in words


def test_who_says_nothing_is_told_so_and_not_that_it_may_be_chance(tmp_path: Path) -> None:
    talks = [make_session(number) for number in range(3)]
    write(tmp_path / "run", *((one, [done(one, t.index, "m") for t in one.turns]) for one in talks))
    make_report([tmp_path / "run"], tmp_path / "report", FEW)
    words = text_of((tmp_path / "report" / "report.html").read_text())
    assert "Truthfulness is 0.0 [0.0, 0.0] points, the same as saying nothing." in words
    assert "may be chance" not in words.partition("Three protocols")[0]


def test_the_largest_loss_beyond_chance_is_named(tmp_path: Path) -> None:
    words = report_of(
        tmp_path, sessions=12, conditions=("clean", "low-light@1"),
        effect=lambda _turn, _session, condition: 0.0 if condition == "clean" else 0.9, base=0.9,
    )  # fmt: skip
    assert "The largest loss beyond chance is under low-light@1" in words
    assert "Holm over the one degraded condition" in words


def test_a_dash_for_p_is_explained(compared: dict[str, Any]) -> None:
    assert all(s["p_holm"] is None for s in compared["comparisons"][0]["slices"])
    why = "no slice has the 10 conversations"
    assert why in text_of(comparison_page(compared))
    shown = comparison_markdown(compared)
    assert why in shown
    assert "0 of" not in shown


@pytest.mark.parametrize(
    ("ps", "words"), [([0.2, None], "where a slice has no label or fewer"), ([0.2], ""), ([], "")]
)
def test_what_is_said_of_slices_without_a_p(ps: list[float | None], words: str) -> None:
    said = untested([{"p_holm": p} for p in ps])
    assert words in said
    assert bool(said) is bool(words)


def test_differences_are_headed_as_paired(compared: dict[str, Any]) -> None:
    assert "Difference (paired)" in text_of(comparison_page(compared))
    assert "| difference in points (paired) |" in comparison_markdown(compared)


def test_one_conversation_is_no_conversations(tmp_path: Path) -> None:
    assert "Condition clean: 1 conversation, " in report_of(tmp_path, sessions=1)
    (tmp_path / "other").mkdir()
    plant(tmp_path / "other" / "run", sessions=1, base=0.1, shared_picture=True)
    sides = [ComparedRun(folder=str(tmp_path / name)) for name in ("run", "other/run")]
    shown = comparison_markdown(compare_runs(sides, FEW))
    assert "of 1 conversation\n" in shown
    counted = Figures({"n": 1, "m": 2}).counted
    assert counted("n", "hypothesis", "hypotheses").striptags() == "1 hypothesis"
    assert counted("m", "hypothesis", "hypotheses").striptags() == "2 hypotheses"


def test_findings_say_how_truthful_what_a_run_could_miss_and_what_to_fix(tmp_path: Path) -> None:
    words = report_of(
        tmp_path, sessions=8, conditions=("clean", "low-light@1"), base=0.3, effect=lambda *_: 0.0
    )
    first = words.partition("Three protocols")[0]
    assert re.search(
        r"an assistant that says nothing has 0: (better than chance|a difference that may)",
        first,
    )
    assert re.search(r"Most is lost under low-light@1, which may be chance|falls under no", first)
    assert re.search(r"would likely have missed a fall of less than \d+\.\d points", first)
    assert "Two failures in a row end a conversation; failures of the" in words
    assert "strikes(" not in words.partition("Settings, versions")[0]
    assert words.count("Popularity of the entityhow widely it is known: head most") == 1
    retrieved = words.partition("Best retrieved passage")[2].partition("Every slice")[0]
    assert "no reply" in retrieved  # of turns after a stop, which are not unlabelled
    assert "labelled" not in retrieved
    [fix] = re.findall(r"Fix first: [a-z ]+, which ended (.+?) The order is not tested", first)
    ended, scored, *others = map(int, re.findall(r"\d+", fix))
    assert ended + sum(others) == scored, fix  # right, other causes, not known
