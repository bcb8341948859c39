"""A judge that fails never makes a run look better: bounds, said first, wherever figures are."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag
from small_runs import done, make_session, write

from mmrag.models import circuit_breaker
from mmrag.records import Reply, Session, Status, TurnResult
from simulator import load_run
from simulator.exchange.run_facts import facts_of
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.store.run_reader import RunReader
from ui.home.summary import summarise
from ui.render import render
from ui.replay.conversation_list import ConversationList
from ui.replay.run_figures import RunFigures

SESSIONS = 12
NOTE = (
    "24 of 48 turns have a reply and no verdict: truthfulness lies between 0.0 and +100.0 points."
)


def half_right(folder: Path, *, judged: bool) -> Path:
    """Every second reply is right; `judged`: the others are wrong, else they lack a verdict."""

    def turns(session: Session) -> list[TurnResult]:
        lacking = {} if judged else {"status": Status.JUDGE_ERROR, "verdict": None}
        return [
            done(session, t.index, "i", reply=Reply(text="something else"), **lacking)
            if t.index % 2
            else done(session, t.index, "c", reply=Reply(text=t.reference.text))
            for t in session.turns
        ]

    sessions = [make_session(place) for place in range(SESSIONS)]
    settings = {"data": "small", "agent": "scripted", "stop": "never"}
    return write(folder, *((s, turns(s)) for s in sessions), config=settings, finished=True)


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that is right has a verdict, and nothing that is wrong: accuracy was 100 %."""
    return half_right(tmp_path_factory.mktemp("failed") / "failed", judged=False)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return half_right(tmp_path_factory.mktemp("whole") / "whole", judged=True)


def test_score_says_so_first_and_gives_bounds(failed: Path) -> None:
    done = mmrag("score", str(failed))
    assert done.stderr.splitlines()[0] == f"{NOTE} `mmrag judge run` asks a judge again."
    assert "0.0% … 100.0%" in done.stdout
    assert "50.0% … 100.0%" in done.stdout  # accuracy
    shown = json.loads(mmrag("score", str(failed), "--json").stdout)
    assert next(iter(shown)) == "warnings"
    assert shown["warnings"][0].startswith(NOTE)
    assert next(iter(shown["all"])) == "bounds"
    assert shown["all"]["bounds"]["truthfulness_score"] == [0.0, 1.0]
    assert shown["all"]["accuracy"] is None


@pytest.mark.parametrize("protocol", ["crag-mm", "kddcup25", "crag"])
def test_no_protocol_takes_what_was_judged_for_a_sample(failed: Path, protocol: str) -> None:
    shown = json.loads(mmrag("score", str(failed), "--protocol", protocol, "--json").stdout)
    assert shown["warnings"][0].startswith(NOTE)
    assert shown["all"]["truthfulness_score"] is None
    assert shown["all"]["bounds"]["accuracy"] == [0.5, 1.0]
    assert "…" in mmrag("score", str(failed), "--protocol", protocol).stdout


def test_a_file_of_outcomes_says_so_too(tmp_path: Path) -> None:
    lines = [
        {"session_id": f"s{s}", "turn_index": t, "outcome": ("correct", "unscored")[t]}
        for s in range(6)
        for t in range(2)
    ]
    (tmp_path / "o.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = json.loads(mmrag("score", str(tmp_path / "o.jsonl"), "--json").stdout)
    assert "6 of 12 turns have a reply and no verdict" in shown["warnings"][0]


def test_python_and_other_tools(failed: Path) -> None:
    run = load_run(failed)
    scores = run.score()
    assert scores.truthfulness is scores.accuracy is None
    assert (scores.bounds, scores.coverage) == ((0.0, 1.0), 0.5)
    assert "0.0% … 100.0%" in repr(run)
    assert NOTE in repr(run)
    with RunReader(failed) as reader:
        figures = facts_of(reader).figures
    assert "truthfulness" not in figures
    assert (figures["truthfulness.low"], figures["truthfulness.high"]) == (0.0, 1.0)


def test_a_report_says_so_first(failed: Path, tmp_path: Path) -> None:
    made = make_report([failed], tmp_path, ReportOptions(resamples=50, failures=0))
    assert made["warnings"][0].startswith(f"failed: {NOTE}")
    figure = made["runs"][0]["conditions"][0]["strict"]["as_experienced"]["truthfulness_score"]
    assert figure["estimate"] is figure["low"] is None
    assert (figure["bounds"], figure["unjudged"]) == ([0.0, 1.0], 24)
    slices = [one for one in made["runs"][0]["slices"]["main"] if one["coverage"] < 1]
    assert slices
    assert all(one["accuracy"] is None for one in slices)
    page = (tmp_path / "report.html").read_text()
    assert page.index(NOTE) < page.index("<h2>Headline</h2>")
    tiles = page.partition('<p class="figures">')[2].partition("</p>")[0]
    assert "strict.as_experienced.accuracy.bounds.0" in tiles
    assert "strict.as_experienced.accuracy.estimate" not in tiles


def test_the_app_shows_bounds(failed: Path, whole: Path) -> None:
    summary = summarise(failed)
    assert (summary.truthfulness.bounds, summary.right) == ((0.0, 1.0), None)
    analysis = RunFigures({p.name: ConversationList(RunReader(p)) for p in (failed, whole)})
    sides = (("whole", "clean"), ("failed", "clean"))
    found = analysis.compare(*sides)
    assert (found.main.estimate, found.main.bounds) == (None, (0.0, 1.0))
    assert "Verdicts are missing" in render(
        "differences.html.j2", found=found, gone=[], sides=sides
    )


def test_a_comparison_and_its_gates_do_not_pass_unmeasured(failed: Path, whole: Path) -> None:
    passing = ("truthfulness < -0.1", "accuracy < 0", "hallucination > 0.6")
    gates = [word for gate in (*passing, "multi_turn_score < -2") for word in ("--fail-if", gate)]
    shown = json.loads(
        mmrag("gate", str(failed), "--baseline", str(whole), *gates, "--json", code=1).stdout
    )
    assert shown["warnings"][0].startswith(f"failed: {NOTE}")
    difference = shown["comparisons"][0]["as_experienced"]["truthfulness_score"]
    assert difference["estimate"] is difference["p"] is None
    assert difference["bounds"] == [0.0, 1.0]
    # against whole: every wrong reply may be right now, and none can be worse than wrong
    assert [gate["failed"] for gate in shown["gates"][2:-1]] == [False, False, False, True]
    back = json.loads(
        mmrag("gate", str(whole), "--baseline", str(failed), *gates[:2], "--json", code=1).stdout
    )
    assert back["gates"][1]["value"] is back["gates"][2]["value"] is None
    assert back["gates"][2]["bounds"] == [-1.0, 0.0]
    text = mmrag("gate", str(whole), "--baseline", str(failed), *gates[:2], code=1).stdout
    assert text.index("no verdict") < text.index("| truthfulness |")
    assert "between -1 and 0" in text


def spec(server: Any) -> str:
    return f"model:model=(openai:name=m,base_url={server.url},retries=0)"


def test_a_judge_that_is_down_ends_the_command_and_no_verdict_is_lost(
    server: Any, tmp_path: Path
) -> None:
    server.script = ["500"] * 200
    folder = half_right(tmp_path / "run", judged=True)
    began = time.monotonic()
    for command in (("judge", "run", str(folder)), ("score", str(folder))):
        done = mmrag(*command, "--judge", spec(server), code=1)
        (line,) = (line for line in done.stderr.splitlines() if line.startswith("error"))
        assert "is down: it gave no verdict on any of" in line
    assert time.monotonic() - began < 60
    with RunReader(folder) as run:
        assert run.meta("judge") == "j"
        assert run.turn_counts() == {"answered": 48}


def test_a_model_that_greets_and_then_hangs_ends_the_command(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(circuit_breaker, "SILENCE", 0.3)
    server.script = ["hang"] * 1000
    folder = half_right(tmp_path / "run", judged=True)
    again = ("judge", "run", str(folder), "--judge", spec(server))
    new = ("run", "--data", "mini", "--search", "none", "--limit", "40", "--seconds", "0.1", "--agent",
           f"llm-only:model=(openai:name=m,base_url={server.url})", "--out", str(tmp_path / "new"))  # fmt: skip
    for command in (again, new):
        (line,) = (s for s in mmrag(*command, code=1).stderr.splitlines() if "error" in s)
        assert "no answer to anything in 0.3 s" in line
        assert "continue with" in line


def test_a_judge_that_answers_without_a_verdict_leaves_bounds(server: Any, tmp_path: Path) -> None:
    folder = half_right(tmp_path / "run", judged=True)  # the server says "Blue." to everything
    done = mmrag("judge", "run", str(folder), "--judge", spec(server))
    assert NOTE in done.stderr
    assert "0.0% … 100.0%" in done.stdout
    with RunReader(folder) as run:
        assert run.turn_counts() == {"answered": 24, "judge_error": 24}


def test_a_judge_that_nobody_answers_for_is_told_at_once(tmp_path: Path) -> None:
    folder = half_right(tmp_path / "run", judged=True)
    nobody = "model:model=(openai:name=m,base_url=http://127.0.0.1:9/v1)"
    for command in (("judge", "run", str(folder)), ("score", str(folder))):
        done = mmrag(*command, "--judge", nobody, code=1)
        assert "cannot be reached" in done.stderr
        assert done.stderr.count("\n") == 1
