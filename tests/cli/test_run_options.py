"""Estimates, the cost cap, rerun errors and the shared cache, through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from called_command import mmrag
from planted_runs import make_session, plant
from small_runs import done

from mmrag.records import Outcome, Reply, Usage
from simulator.run.runner import Progress
from simulator.store.run_reader import RunReader
from simulator.terminal.cost_cap import CostCapReached, conversation_progress
from simulator.terminal.progress import PlainProgress, progress_bars

ROOT = Path(__file__).parents[2]


SMALL = ("run", "--data", "mini", "--search", "none", "--agent", "random", "--limit", "2")


def test_an_estimate_without_a_measure_guesses_nothing(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "run"), "--dry-run", "--json")
    found = json.loads(mmrag(*SMALL, "--degrade", "sweep", *out).stdout)
    assert found["conversations"] == 2 * 26
    assert found["turns"] == found["turns_asked"] > 0
    assert found["cost"] is None
    assert not (tmp_path / "run").exists()


def test_a_link_doubles_the_conditions_and_a_run_over_it_resumes(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "run"), "--json")
    sent = ("--degrade", "clean,low-light@2", "--link", "stream:thing")
    found = json.loads(mmrag(*SMALL, *sent, *out, "--dry-run").stdout)
    assert found["conversations"] == 2 * 4
    mmrag(*SMALL, *sent, *out)
    with RunReader(tmp_path / "run") as run:
        before = sorted((r.session_id, r.degradation, r.turn_index) for r in run.results())
        session = run.session(before[0][0], "low-light@2+link:stream:thing")
    assert {name for _, name, _ in before} == {
        "clean", "low-light@2", "link:stream:thing", "low-light@2+link:stream:thing",
    }  # fmt: skip
    link = session.capture.degraded["link"]
    assert link["bytes"] == len(session.capture.image.data)
    mmrag("resume", str(tmp_path / "run"))
    with RunReader(tmp_path / "run") as run:
        assert before == sorted((r.session_id, r.degradation, r.turn_index) for r in run.results())


def test_an_estimate_is_measured_on_a_run_with_the_same_agent(tmp_path: Path) -> None:
    plant(tmp_path / "other", sessions=10, agent="closed-book")
    same = plant(tmp_path / "same", sessions=20, agent="random")
    out = ("--out", str(tmp_path / "run"), "--dry-run", "--json", "--concurrency", "4")
    found = json.loads(mmrag(*SMALL, *out).stdout)
    assert found["measured_on"] == str(same)
    assert found["turns_asked"] <= found["turns"]
    assert found["cost"] == pytest.approx(0.0004 * found["turns_asked"])
    assert 400 <= found["input_tokens"] / found["turns_asked"] <= 1600
    assert 0.5 < found["seconds"] / found["turns_asked"] * 2 < 2.5  # two conversations at once
    from simulator.store.run_store import RunStore

    with RunStore(same) as store:
        store.set_meta("plan", {"sessions": 20, "degradations": ["clean"], "capacity": 1})
    alone = json.loads(mmrag(*SMALL, *out).stdout)
    assert alone["seconds"] == pytest.approx(2 * found["seconds"])  # the agent bears one at a time


def test_an_estimate_is_measured_on_the_run_itself_before_one_beside_it(tmp_path: Path) -> None:
    plant(tmp_path / "beside", sessions=20, agent="random")
    own = plant(tmp_path / "run", sessions=2, agent="random")
    found = json.loads(mmrag(*SMALL, "--out", str(own), "--dry-run", "--json").stdout)
    assert found["measured_on"] == str(own)


@pytest.mark.proof("time")
def test_the_script_runs_reports_and_says_how(tmp_path: Path) -> None:
    out = tmp_path / "run"
    script = [sys.executable, str(ROOT / "scripts" / "eval_multi_turn.py"), *SMALL[1:]]
    more = ("--degrade", "sweep", "--severities", "3", "--out", str(out), "--report")
    subprocess.run(
        [*script, *more], check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    report = json.loads((out / "report" / "report.json").read_text())
    state = report["runs"][0]["state"]
    assert (state["finished"], state["expected_conversations"]) == (True, 12)
    assert "--severities 3" in report["runs"][0]["about"]["command"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--voice", "tones"], "--voice: no question is spoken; add --spoken"),
        (["--ear", "tones", "--spoken", "none"], "--ear: no question is spoken"),
        (["--limit", "two"], "error: --limit should be a whole number, not 'two'."),
        (["--seconds", "x"], "error: --seconds should be a number, not 'x'."),
        (["--concurrency", "0"], "should be greater than or equal to 1, not '0'."),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(words: list[str], told: str) -> None:
    shown = mmrag("run", "--data", "mini", "--agent", "random", *words, code=2).stderr
    assert told in shown
    assert shown.count("\n") == 1


def test_commands_of_other_packages_refuse_in_one_line_too() -> None:
    shown = mmrag("ui", "--port", "two", code=2).stderr
    assert shown == "error: --port should be a whole number, not 'two'.\n"


def test_only_errors_can_be_rerun() -> None:
    assert "the only thing that can be rerun" in mmrag(*SMALL, "--rerun", "all", code=2).stderr


def finished(condition: str, cost: float, outcome: Outcome = Outcome.PERFECT) -> Progress:
    session = make_session(1, condition)
    reply = Reply(text="x", usage=Usage(cost=cost))
    result = done(session, 0, outcome, reply=reply, seconds=2.0, degradation=condition)
    return Progress(session_id=session.id, degradation=condition, results=(result,), resumed=False)


def test_the_cost_cap_ends_a_run() -> None:
    with conversation_progress(10, max_cost=0.25) as advance:
        advance(finished("clean", 0.1))
        advance(finished("clean", 0.1))
        with pytest.raises(CostCapReached, match=r"has cost \$0.30 and --max-cost is \$0.25"):
            advance(finished("clean", 0.1))


def test_a_cost_cap_that_the_last_conversation_reaches_ends_nothing() -> None:
    ended: dict[int, bool] = {}
    for conversations in (2, 3):
        with conversation_progress(conversations, max_cost=0.15) as advance:
            advance(finished("clean", 0.1))
            try:
                advance(finished("clean", 0.1))
            except CostCapReached:
                ended[conversations] = True
            else:
                ended[conversations] = False
    assert ended == {2: False, 3: True}  # the same cost ends a run that has more to do


def test_without_a_terminal_long_work_says_now_and_then_how_far_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    told = PlainProgress(clock=lambda: now)
    for far in range(0, 1001, 100):  # ten seconds a hundred; two hundred were there already
        if far >= 200:
            told("pages", far, 1000)
            now += 10
    assert capsys.readouterr().err.splitlines() == [
        "pages: 500 of 1,000, about 50 s left",
        "pages: 800 of 1,000, about 20 s left",
    ]
    now += 20
    told("database", 0, 1000)  # a new stage has no pace yet
    now += 60
    told("database", 10, 1000)
    now += 31
    told("database", 1000, 1000)
    assert capsys.readouterr().err.splitlines() == [
        "database: 0 of 1,000",
        "database: 10 of 1,000, about 99 min left",
        "database: 1,000 of 1,000",
    ]


def test_a_run_without_a_terminal_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.terminal.progress.EVERY", 0.0)
    with conversation_progress(3) as advance:
        advance(finished("clean", 0.1))
        advance(finished("clean", 0.1))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"conversations: {done} of 3" for done in range(3)
    ]


def test_short_work_without_a_terminal_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bars() as advance:
        for done in range(5):
            advance("judging", done, 4)
    assert capsys.readouterr().err == ""


def test_an_estimate_counts_faults(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "run"), "--dry-run", "--json")
    once = json.loads(mmrag(*SMALL, *out).stdout)
    found = json.loads(mmrag(*SMALL, "--faults", "web,network-loss@5", *out).stdout)
    assert found["conditions"] == 1 + 6
    assert found["conversations"] == 2 * 7
    assert found["turns"] == once["turns"] * 7


def test_a_report_gives_the_command_with_its_faults(tmp_path: Path) -> None:
    out = tmp_path / "run"
    mmrag(*SMALL, "--faults", "network-loss@5", "--out", str(out))
    mmrag("report", str(out), "--resamples", "50")
    report = json.loads((out / "report" / "report.json").read_text())
    assert "--faults network-loss@5" in report["runs"][0]["about"]["command"]
    assert report["runs"][0]["state"]["expected_conversations"] == 4
