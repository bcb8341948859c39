"""`mmrag score` says what it scores: what is missing, and whose turns are whose."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import msgspec
import pytest
import small_runs as small
from called_command import mmrag
from msgspec.structs import replace
from small_runs import ByNumber, make_session, run_all

from mmrag.files.images import LazyImage
from mmrag.records import Capture, Outcome, Query, Reply, Session, Status, TurnResult, Verdict
from simulator.reports.comparison.paired_runs import Side, compare_runs
from simulator.reports.draw.markdown import comparison_markdown
from simulator.reports.draw.page import comparison_page
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions, build_report, load_runs
from simulator.run.results.turn_results import ScoreOptions, language_note, run_state, score_run
from simulator.run.runner import Plan, run_sessions
from simulator.store import run_store
from simulator.store.run_store import RunReader, RunStore


def turn(session: Session, index: int, outcome: Outcome = Outcome.PERFECT) -> TurnResult:
    return TurnResult(
        session_id=session.id, turn_index=index, status=Status.ANSWERED,
        degradation=session.capture.degradation, reply=Reply(text="x"),
        verdict=Verdict(outcome=outcome, judge="j"),
    )  # fmt: skip


@pytest.fixture
def broken_off(tmp_path: Path) -> Path:
    """Of six conversations one is whole, one broke off after a turn, one before any, three lack."""
    folder = tmp_path / "run"
    with RunStore(folder) as store:
        store.set_meta("judge", "j")
        store.set_meta("plan", {"sessions": 6, "degradations": ["clean"]})
        sessions = [make_session(n, turns=3) for n in range(3)]
        for place, session in enumerate(sessions):
            store.begin(place, session)
        store.commit(*(turn(sessions[0], i) for i in range(3)))
        store.commit(turn(sessions[1], 0))
    return folder


def test_an_unfinished_run_is_scored_with_a_warning(broken_off: Path) -> None:
    done = mmrag("score", str(broken_off), "--json")
    shown = json.loads(done.stdout)
    assert shown["state"] == {
        "finished": False, "conversations": 3, "expected_conversations": 6, "not_begun": 3,
        "broken_off": 2, "turns": 4, "missing_turns": 5,
    }  # fmt: skip
    (warning,) = shown["warnings"]
    assert "run is not finished (3 of 6 not begun, 2 broken off, 5 turns missing)" in warning
    told = mmrag("score", str(broken_off))
    assert warning in told.stderr
    assert "truthfulness" in told.stdout


def test_score_and_report_say_the_same(broken_off: Path) -> None:
    with RunReader(broken_off) as run:
        options = ReportOptions(resamples=0)
        report = build_report(*load_runs([run], options), options)
        assert f"the {report['warnings'][0]}" == score_run(run)["warnings"][0]  # its name is "run"
        state = report["runs"][0]["state"]
        assert {k: v for k, v in state.items() if k != "statuses"} == msgspec.structs.asdict(
            run_state(run)
        )


def test_a_finished_run_has_nothing_to_warn_of(tmp_path: Path) -> None:
    run_all(tmp_path / "run", [make_session(n) for n in range(3)], ByNumber())
    with RunStore(tmp_path / "run") as store:
        store.set_meta("finished", True)
        found = score_run(store)
    assert (found["state"]["finished"], found["warnings"]) == (True, [])
    assert mmrag("score", str(tmp_path / "run")).stderr == ""


def test_a_session_named_like_a_degraded_one_is_another(tmp_path: Path) -> None:
    """`a` under low-light@2 was all wrong; the session called `a@low-light@2` was all right."""
    degraded = msgspec.structs.replace(make_session(0, degradation="low-light@2"), id="a")
    namesake = msgspec.structs.replace(make_session(1), id="a@low-light@2")
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", "j")
        store.set_meta("finished", True)
        for place, (session, outcome) in enumerate(
            [(degraded, Outcome.INCORRECT), (namesake, Outcome.PERFECT)]
        ):
            store.begin(place, session)
            store.commit(*(turn(session, i, outcome) for i in range(4)))
    with RunReader(tmp_path / "run") as run:
        found = score_run(run, ScoreOptions(resamples=0))["all"]
    assert (found["sessions"], found["two_strike_rate"], found["correct"]) == (2, 0.5, 4)
    assert found["hallucination"] == 2
    table = mmrag("score", str(tmp_path / "run")).stdout
    rows = {
        line.split()[0]: line.split()[2]
        for line in table.splitlines()
        if "@" in line or line.startswith("clean")
    }
    assert rows == {"clean": "100.0%", "low-light@2": "0.0%"}


# -- language

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
        (("elm",), "Questions in the open voice elm."),
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


def test_report_scores_and_show_say_them(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", "willow", "rowan")
    make_report([run], tmp_path / "report", FEW)
    body = (tmp_path / "report/report.html").read_text().partition("<body>")[2]
    assert HELD in body.partition("<h3>")[0], "it stands in the head"
    assert json.loads(mmrag("show", str(run), "--json").stdout)["language"] == HELD
    assert json.loads(mmrag("score", str(run), "--json").stdout)["language"] == HELD
    assert HELD in " ".join(re.sub(r"[│╭╮╰╯─]", " ", mmrag("score", str(run)).stdout).split())


def test_a_comparison_says_them(tmp_path: Path) -> None:
    sides = [Side(folder=str(run_in(tmp_path / name, "willow", "rowan"))) for name in "ab"]
    found = {**compare_runs(sides, FEW), "gates": []}
    assert HELD in comparison_page(found)
    assert HELD in comparison_markdown(found)


# -- new runs


class Counting(small.ByNumber):
    asked = 0

    async def answer(self, query: Query) -> Reply:
        self.asked += 1
        return await super().answer(query)


def test_a_session_that_stands_twice_in_the_data_is_held_once(tmp_path: Path) -> None:
    agent, one = Counting(), small.make_session(0, 2)
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", "equality")
        twice = iter([(0, one), (1, one)])
        asyncio.run(run_sessions(twice, agent, small.Equality(), store, Plan(concurrency=1)))
        assert agent.asked == 2
        assert sum(store.turn_counts().values()) == 2


def test_pictures_that_cannot_be_kept_together_are_kept_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = run_store.write_all

    def few(files: dict[Path, bytes]) -> None:
        if len(files) > 1:
            raise OSError(24, "Too many open files")
        write(files)

    monkeypatch.setattr(run_store, "write_all", few)
    seen = [
        msgspec.structs.replace(
            small.make_session(i, 2),
            capture=Capture(image=LazyImage.from_bytes(small.picture(i))),
        )
        for i in range(6)
    ]
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", "equality")
        work = iter(list(enumerate(seen)))
        asyncio.run(run_sessions(work, Counting(), small.Equality(), store, Plan(concurrency=6)))
        assert sum(store.turn_counts().values()) == 12
