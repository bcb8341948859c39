"""Measures in the run store: durable, idempotent, resumable, and nothing paid twice."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import measuring_parts
import msgspec
import pytest
from killed_programs import killed_when
from measuring_parts import Letters, Reader, asked, replied, write_run

from mmrag.errors import Denied, ServiceError
from mmrag.judges.measure_registry import chosen_measures, label_measurers, model_measurers
from mmrag.metrics.grounding import GARAGE
from mmrag.metrics.measure_records import Measurement
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import Passage, Reply, Session, Status
from simulator.application.measure_replies import case_of, measure_run, model_paid_once
from simulator.application.stored_run import load_run
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from ui.replay import conversation_view

ALL = chosen_measures("ragas,garage")


def measure(folder: Path, model: Reader, measures: Sequence[str] = ALL, **more: object) -> int:
    with RunStore(folder) as store:
        kept = model_paid_once(model, "reader", store, **more)  # type: ignore[arg-type]
        takers = model_measurers(kept, name="reader", encoder=Letters())
        return asyncio.run(measure_run(store, takers, measures, 4))


def rows(folder: Path) -> dict[tuple[str, int, str], Measurement]:
    with RunReader(folder) as run:
        return {
            (session_id, turn, m.measure): m
            for session_id, condition in run.session_keys()
            for turn, found in run.measurements(session_id, condition).items()
            for m in found
        }


def test_a_case_is_read_from_the_trace() -> None:
    session = Session(id="s0", turns=(asked(0, 0), asked(0, 1)))
    case = case_of(session, replied(0, 1))
    assert [p.label for p in case.passages] == ["answers", "outdated"]
    assert case.citations == case.expected == ("http://olm.example/a",)
    assert case.should_deflect is False
    assert [p.provider for p in case.passages] == ["web", "web"]


def test_passages_that_the_session_brought() -> None:
    brought = Passage(id="p", text="It is 40 m long.", provider="private", label="answers")
    session = Session(id="s0", turns=(asked(0, 0),), passages=(brought,))
    bare = msgspec.structs.replace(replied(0, 0), reply=Reply(text="40 m", citations=("p",)))
    case = case_of(session, bare)
    assert (case.passages, (case.provider, case.citations)) == ((brought,), ("private", ("p",)))


def test_one_row_per_turn_judge_and_measure(tmp_path: Path) -> None:
    write_run(tmp_path)
    assert measure(tmp_path, Reader()) == 6 * 13
    found = rows(tmp_path)
    assert (len(found), found["s0", 0, "faithfulness"].value) == (6 * 13, 1.0)
    assert found["s0", 0, "raf"].value == 1.0
    assert found["s0", 1, "unadjusted_factuality"].value == 1.0
    assert found["s0", 1, "unadjusted_raf"].value == 0.0  # an outdated passage alone says it
    assert found["s0", 0, "attribution_f1"].value == 1.0
    with RunReader(tmp_path) as run:
        assert {m for m, _, n in run.measured_by() if n == 6} == set(ALL)
        assert len({judge for _, judge, _ in run.measured_by()}) == 4  # ragas twice, garage, cites


def test_a_reply_without_a_reference_has_the_measures_that_ask_for_none(tmp_path: Path) -> None:
    write_run(tmp_path)
    lost = msgspec.structs.replace(replied(1, 1), status=Status.DATA_ERROR, error="no reference")
    with RunStore(tmp_path) as store:
        store.commit(lost)
    assert measure(tmp_path, Reader()) == 6 * 13
    assert rows(tmp_path)["s1", 1, "faithfulness"].value == 1.0


def test_measuring_again_asks_nobody(tmp_path: Path) -> None:
    write_run(tmp_path)
    measure(tmp_path, Reader())
    again = Reader()
    assert measure(tmp_path, again) == 0
    assert not again.prompts


def test_the_same_request_is_paid_once_within_a_measuring(tmp_path: Path) -> None:
    with RunStore(tmp_path) as store:
        model = Reader()
        kept = model_paid_once(model, "reader", store)
        message = [Message(role="user", text='<reply-01234567>\nx\n</reply-01234567> "declines"')]

        async def ask() -> None:
            await asyncio.gather(*(kept.generate(message) for _ in range(5)))
            await kept.generate(message)

        asyncio.run(ask())
        assert len(model.prompts) == 1


def test_another_judges_rows_stand_beside(tmp_path: Path) -> None:
    write_run(tmp_path)
    measure(tmp_path, Reader(), ["raf"])
    with RunStore(tmp_path) as store:
        assert asyncio.run(measure_run(store, label_measurers(), ["raf"], 2)) == 6
    with RunReader(tmp_path) as run:
        assert [n for _, _, n in run.measured_by()] == [6, 6]


def test_what_failed_is_asked_again_and_what_was_answered_is_not(tmp_path: Path) -> None:
    class Down(Reader):
        async def generate(
            self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
        ) -> Completion:
            if '"eligibility"' in messages[-1].text:
                raise ServiceError("the server is down")
            return await super().generate(messages, options)

    write_run(tmp_path)
    measure(tmp_path, Down(), GARAGE)
    found = rows(tmp_path)
    assert found["s0", 0, "eligibility"].failed
    assert not found["s0", 0, "unadjusted_raf"].failed
    again = Reader()
    measure(tmp_path, again, GARAGE)
    assert all('"eligibility"' in prompt for prompt in again.prompts)
    assert not any(m.failed for m in rows(tmp_path).values())


def test_a_server_that_refuses_the_key_ends_the_measuring(tmp_path: Path) -> None:
    class Refused(Reader):
        async def generate(
            self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
        ) -> Completion:
            raise Denied("the key is wrong")

    write_run(tmp_path)
    for measures in (["faithfulness"], ["raf"]):
        with pytest.raises(Denied):
            measure(tmp_path, Refused(), measures)
    assert not rows(tmp_path)


def test_the_cost_is_told_before_each_call(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(cost: float) -> None:
        if cost >= 0.005:
            raise Enough

    write_run(tmp_path)
    first, second = Reader(), Reader()
    with pytest.raises(Enough):
        measure(tmp_path, first, on_cost=stop)
    assert len(first.prompts) <= 5 + 4  # those in flight when it was enough
    with pytest.raises(Enough):  # what was spent before counts
        measure(tmp_path, second, on_cost=stop)
    assert not second.prompts
    third = Reader()
    measure(tmp_path, third)
    assert not set(first.prompts) & set(third.prompts)
    with RunReader(tmp_path) as run:
        assert run.completion_cost() == pytest.approx(0.001 * len({*first.prompts, *third.prompts}))


def test_a_turn_that_is_asked_again_loses_its_measures(tmp_path: Path) -> None:
    write_run(tmp_path)
    measure(tmp_path, Reader(), ["raf"])
    with RunStore(tmp_path) as store:
        store.forget_turns("s0", "clean", 1)
    assert ("s0", 0, "raf") in rows(tmp_path)
    assert ("s0", 1, "raf") not in rows(tmp_path)


@pytest.mark.parametrize("version", [2, 3])
def test_runs_of_older_schemas_open_and_can_be_measured(tmp_path: Path, version: int) -> None:
    write_run(tmp_path / "run")
    older(tmp_path / "run" / "run.sqlite", version)
    with RunReader(tmp_path / "run") as run:
        assert run.measurements("s0") == {}
        assert run.measured_by() == []
        assert run.completion_cost() == 0
        assert len(list(run.results())) == 6
    assert measure(tmp_path / "run", Reader(), ["raf"]) == 6


def test_the_first_schema_opens_too(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[1] / "data" / "run-v1", tmp_path / "run")
    with RunReader(tmp_path / "run") as run:
        assert run.measured_by() == []
    with RunStore(tmp_path / "run") as store:
        assert asyncio.run(measure_run(store, label_measurers(), ["raf"])) == store.reply_count()


def older(path: Path, version: int) -> None:
    """Take a run back to an earlier schema."""
    db = sqlite3.connect(path)
    db.executescript("DROP TABLE measurements; DROP TABLE completions;")
    if version == 2:
        db.execute("DELETE FROM meta WHERE key = 'tally'")
    db.execute(f"PRAGMA user_version={version}")
    db.commit()
    db.close()


PROGRAM = """
import asyncio, hashlib, sys
sys.path.insert(0, {here!r})
from pathlib import Path
from measuring_parts import Letters, Reader
from mmrag.judges.measure_registry import chosen_measures, model_measurers
from simulator.application.measure_replies import measure_run, model_paid_once
from simulator.store.run_store import RunStore

class Logged(Reader):
    log = open({log!r}, "a")
    async def generate(self, messages, options=None):
        self.log.write(hashlib.sha256(messages[-1].text.encode()).hexdigest() + "\\n")
        self.log.flush()
        await asyncio.sleep(0.002)
        return await super().generate(messages)

with RunStore({folder!r}) as store:
    print("begun", flush=True)
    takers = model_measurers(model_paid_once(Logged(), "r", store), name="r", encoder=Letters())
    asyncio.run(measure_run(store, takers, chosen_measures("ragas,garage"), 4))
"""


@pytest.mark.proof("kills")
def test_killed_it_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    folder, log = tmp_path / "run", tmp_path / "calls"
    write_run(folder, sessions=40, turns=3)
    code = PROGRAM.format(
        here=str(Path(measuring_parts.__file__).parent), log=str(log), folder=str(folder)
    )
    in_flight, durable = 0, 0
    for enough in (40, 90, 150, 220, 300):  # of some 480 requests
        most = 65 * enough
        killed_when(
            [sys.executable, "-c", code],
            lambda most=most: log.exists() and len(log.read_bytes()) >= most,
        )
        calls = Counter(log.read_text().split())
        with RunReader(folder) as run:
            kept = len(run.completion_keys())
            done = sum(n for _, _, n in run.measured_by())
        assert done >= durable, "a committed row was lost"
        durable = done
        in_flight = calls.total() - kept  # called and not committed when it was killed, so far
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=120)
    calls = Counter(log.read_text().split())
    assert durable > 0
    # Every call beyond the first of its kind is one whose answer was not on disk at a kill.
    assert calls.total() - len(calls) <= in_flight
    assert len(rows(folder)) == 120 * 13
    with RunReader(folder) as run:
        assert len(calls) == len(run.completion_keys())


def test_the_app_shows_what_was_measured(tmp_path: Path) -> None:
    write_run(tmp_path)
    with RunReader(tmp_path) as run:
        view = conversation_view.conversation(run, "run", "s0", "clean")
        assert view.turns[1].measures == ()
    measure(tmp_path, Reader(), ["unadjusted_raf", "deflection_true_positive"])
    with RunReader(tmp_path) as run:
        view = conversation_view.conversation(run, "run", "s0", "clean")
    [row] = view.turns[1].measures  # declining is not right here: that measure does not apply
    assert (row.measure, row.value, row.approximate) == ("unadjusted raf", "0.00", False)
    assert row.why == "unsupported: It was 9 m long."


def test_a_run_in_python(tmp_path: Path) -> None:
    write_run(tmp_path)
    found = load_run(tmp_path).measure("raf", model=Reader(), progress=False)
    assert (found.rows, found.tables[0]["rows"][0]["cells"][4]["estimate"]) == (6, 0.5)

    async def in_a_notebook() -> int:
        return load_run(tmp_path).measure("raf", model=Reader(), progress=False).rows

    assert asyncio.run(in_a_notebook()) == 0


def test_lengths_are_no_shares(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    run = load_run(tmp_path / "run")
    found = run.measure("length,token_f1", judge="labels", progress=False)
    (row,) = (line for line in repr(found).splitlines() if " length" in f" {line.strip()}")
    make_report([tmp_path / "run"], tmp_path / "report", ReportOptions(resamples=50, failures=0))
    report = json.loads((tmp_path / "report/report.json").read_text())
    (table,) = report["runs"][0]["measured"]["tables"]
    cells = dict(zip(table["measures"], table["rows"][0]["cells"], strict=True))
    assert (cells["length"]["unit"], cells["token_f1"]["unit"]) == ("number", "share")
    assert cells["length"]["estimate"] > 1
    assert f"{cells['length']['estimate']:.1f}" in row
    page = (tmp_path / "report/report.html").read_text()
    assert f">{cells['length']['estimate']:.2f}</data>" in page
    assert f"{100 * cells['length']['estimate']:.1f} %" not in page
