"""Every account of a run asked in words that its agent may not know says whose they were."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from called_command import mmrag
from msgspec.structs import replace
from small_runs import ByNumber, make_session, run_all

from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs
from simulator.reports.draw.markdown import comparison_markdown
from simulator.reports.draw.page import comparison_page
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.run.results.run_scoring import language_note
from simulator.store.run_reader import RunReader

FEW = ReportOptions(resamples=50, failures=0)
HELD = "Questions in the held-out voices rowan and willow."


def run_in(folder: Path, *voices: str) -> Path:
    """Two conversations in each voice."""
    sessions = [
        replace(make_session(n, 2), extra={"voice": voice} if voice else {})
        for n, voice in enumerate(voices * 2)
    ]
    run_all(folder, sessions, ByNumber())
    return folder


@pytest.mark.parametrize(
    ("voices", "said"),
    [
        (("",), None),
        (("elm", "cedar"), None),
        (("willow", "rowan"), HELD),
        (
            ("alder", "rowan"),
            "Questions in the open voice alder, held-out voice rowan "
            "(mixed: the slices by voice tell them apart).",
        ),
    ],
)
def test_a_run_knows_its_voices(tmp_path: Path, voices: tuple[str, ...], said: str | None) -> None:
    with RunReader(run_in(tmp_path / "run", *voices)) as run:
        assert language_note(run) == said


def test_scores_name_the_only_condition(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", "elm")
    assert (
        "strict, two failures in a row end a conversation, clean" in mmrag("score", str(run)).stdout
    )


def test_report_scores_and_show_say_them(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", "willow", "rowan")
    make_report([run], tmp_path / "report", FEW)
    body = (tmp_path / "report/report.html").read_text().partition("<body>")[2]
    assert HELD in body.partition("<h3>")[0], "it stands in the head"
    assert json.loads(mmrag("show", str(run), "--json").stdout)["language"] == HELD
    assert json.loads(mmrag("score", str(run), "--json").stdout)["language"] == HELD
    assert HELD in " ".join(re.sub(r"[│╭╮╰╯─]", " ", mmrag("score", str(run)).stdout).split())


def test_a_comparison_says_them(tmp_path: Path) -> None:
    sides = [ComparedRun(folder=str(run_in(tmp_path / name, "willow", "rowan"))) for name in "ab"]
    found = {**compare_runs(sides, FEW), "gates": []}
    assert HELD in comparison_page(found)
    assert HELD in comparison_markdown(found)
