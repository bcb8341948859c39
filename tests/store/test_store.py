from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import shutil
import sqlite3
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest
from small_runs import ByNumber, Equality, interrupted, make_session, run_all

from mmrag.errors import ConflictError, DataError, StoreError, UsageError
from mmrag.files.images import LazyImage
from mmrag.records import (
    Capture,
    JudgeItem,
    Outcome,
    Reply,
    Session,
    Status,
    TurnResult,
    Verdict,
    encode,
)
from simulator.run.rejudge import rejudge_run
from simulator.run.results.run_scoring import ScoreOptions, score_run
from simulator.run.runner import Plan, Progress, run_sessions
from simulator.store import store_schema
from simulator.store.loss_detection import TallyingConnection
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore


def timeless(reader: RunReader) -> list[bytes]:
    import msgspec

    return [encode(msgspec.structs.replace(r, seconds=0.0)) for r in reader.results()]


def test_a_run_is_read_back_whole(tmp_path: Path, sessions: list[Session]) -> None:
    run_all(tmp_path / "run", sessions, ByNumber())
    with RunReader(tmp_path / "run") as reader:
        assert [s.id for s in reader.sessions()] == [s.id for s in sessions]
        read = reader.session("s003")
        assert read.turns == sessions[3].turns
        assert read.capture.image.data == sessions[3].capture.image.data
        assert read.capture.image.pil().size == (16, 16)
        results = reader.turns("s003")
        assert [r.turn_index for r in results] == list(range(5))
        assert sum(reader.turn_counts().values()) == sum(len(s.turns) for s in sessions)


def test_pictures_are_kept_once(tmp_path: Path) -> None:
    same = LazyImage.from_bytes(make_session(1).capture.image.data)
    pair = [make_session(i) for i in (1, 2)]
    import msgspec

    pair[1] = msgspec.structs.replace(pair[1], capture=Capture(image=same))
    run_all(tmp_path / "run", pair, ByNumber())
    assert len([p for p in (tmp_path / "run/images").rglob("*") if p.is_file()]) == 1


@pytest.mark.parametrize("concurrency", [1, 16])
def test_concurrency_changes_nothing_but_times(
    tmp_path: Path, sessions: list[Session], concurrency: int
) -> None:
    run_all(tmp_path / "a", sessions, ByNumber(wait=0.001), concurrency=concurrency)
    run_all(tmp_path / "b", sessions, ByNumber(), concurrency=5)
    with RunReader(tmp_path / "a") as a, RunReader(tmp_path / "b") as b:
        assert timeless(a) == timeless(b)
        assert score_run(a) == score_run(b)


def test_resume_asks_only_what_is_missing(tmp_path: Path, sessions: list[Session]) -> None:
    class DiesAfter(ByNumber):
        async def answer(self, query) -> Reply:
            if len(self.seen) == 17:
                await interrupted()
            return await super().answer(query)

    first = DiesAfter()
    with pytest.raises(asyncio.CancelledError):
        run_all(tmp_path / "run", sessions, first, concurrency=3)
    second = ByNumber()
    run_all(tmp_path / "run", sessions, second, concurrency=3)
    run_all(tmp_path / "whole", sessions, ByNumber())
    with RunReader(tmp_path / "run") as resumed, RunReader(tmp_path / "whole") as whole:
        assert timeless(resumed) == timeless(whole)
    asked = {(q.session_id, q.turn_index) for q in first.seen}
    again = {(q.session_id, q.turn_index) for q in second.seen}
    assert len(asked & again) <= 3  # at most the turns in flight


def test_a_kill_before_the_tables_exist_leaves_a_folder_that_can_be_run(
    tmp_path: Path, sessions: list[Session]
) -> None:
    for state in ("no byte", "WAL mode only"):
        folder = tmp_path / state
        folder.mkdir()
        (folder / store_schema.FILE).touch()
        if state == "WAL mode only":
            db = sqlite3.connect(folder / store_schema.FILE)
            db.execute("PRAGMA journal_mode=WAL")
            db.close()
        with pytest.raises(StoreError, match=r"before anything was committed\. Run it again"):
            RunReader(folder)
        run_all(folder, sessions, ByNumber())
        with RunReader(folder) as run:
            assert run.turn_counts()


def test_a_file_that_cannot_be_locked_is_no_second_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_args: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with pytest.raises(StoreError, match="No locks available"):
        RunStore(tmp_path / "run")
    monkeypatch.undo()
    (tmp_path / "run" / store_schema.FILE).mkdir()
    with pytest.raises(StoreError, match="cannot be opened"):
        RunStore(tmp_path / "run")


def test_a_second_writer_is_refused_and_readers_are_not(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", "x")
        place = str(tmp_path / "run")
        code = f"from simulator.store.run_store import RunStore; RunStore({place!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode != 0
        assert "another process (pid" in done.stderr
        with pytest.raises(ConflictError):
            RunStore(tmp_path / "run")
        with RunReader(tmp_path / "run") as reader:
            assert reader.meta("judge") == "x"
    RunStore(tmp_path / "run").close()


def test_anybody_else_may_look_with_sqlite_while_it_is_being_written(tmp_path: Path) -> None:
    """Whoever closes a database last takes its `-wal` away; a run that is being written, and read
    by its own process, must not look as if nobody had it."""
    with RunStore(tmp_path / "run") as store:
        with RunReader(tmp_path / "run") as reader:
            assert reader.meta("judge") is None
        code = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT 1 FROM "
        code += "meta').fetchall(); db.close()"
        file = str(tmp_path / "run" / store_schema.FILE)
        subprocess.run([sys.executable, "-c", code, file], check=True)
        store.set_meta("judge", "x")
        with RunReader(tmp_path / "run") as reader:
            assert reader.meta("judge") == "x"


def test_readable_while_it_is_being_written(tmp_path: Path, sessions: list[Session]) -> None:
    seen: list[int] = []
    stop = threading.Event()
    (tmp_path / "run").mkdir()
    RunStore(tmp_path / "run").close()

    def watch() -> None:
        with RunReader(tmp_path / "run") as reader:
            while not stop.is_set():
                seen.append(sum(1 for _ in reader.results()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        run_all(tmp_path / "run", sessions, ByNumber(wait=0.01), concurrency=2)
    finally:
        stop.set()
        watcher.join()
    assert seen == sorted(seen)
    assert len(set(seen)) > 3


def test_a_full_disk_ends_the_run_and_loses_nothing_committed(
    tmp_path: Path, sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    really_open = store_schema.open_for_writing

    def small(path: Path) -> TallyingConnection:
        ledger = really_open(path)
        ledger.db.execute("PRAGMA max_page_count = 11")
        return ledger

    monkeypatch.setattr(store_schema, "open_for_writing", small)
    with pytest.raises(StoreError, match=r"full.*resume"):
        run_all(tmp_path / "run", sessions, ByNumber(), concurrency=2)
    with RunReader(tmp_path / "run") as reader:
        kept = timeless(reader)
    assert kept
    monkeypatch.undo()
    run_all(tmp_path / "run", sessions, ByNumber())
    run_all(tmp_path / "whole", sessions, ByNumber())
    with RunReader(tmp_path / "run") as a, RunReader(tmp_path / "whole") as b:
        assert timeless(a) == timeless(b)
        assert set(kept) <= set(timeless(b))


@pytest.mark.parametrize("place", ["/proc/run", "/dev/null/run"])
def test_a_folder_that_cannot_be_written(place: str) -> None:
    with pytest.raises(StoreError, match=r"cannot be written.*--out"):
        RunStore(place)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a run"):
        RunReader(tmp_path)
    (tmp_path / store_schema.FILE).write_bytes(
        b"this is no data base, it is a text of some length" * 40
    )
    with pytest.raises(StoreError, match="from a copy, or choose another --out"):
        RunReader(tmp_path)
    with pytest.raises(StoreError):
        RunStore(tmp_path)
    (tmp_path / store_schema.FILE).unlink()
    with contextlib.closing(sqlite3.connect(tmp_path / store_schema.FILE)) as db:
        db.execute("CREATE TABLE other (name)")
    for opens in (RunReader, RunStore):
        with pytest.raises(StoreError, match=r"no run of mmrag .*\. Choose another folder"):
            opens(tmp_path)
    (tmp_path / store_schema.FILE).unlink()
    db = sqlite3.connect(tmp_path / store_schema.FILE)
    db.execute(f"PRAGMA user_version = {store_schema.VERSION + 1}")
    db.close()
    with pytest.raises(StoreError, match="newer mmrag"):
        RunReader(tmp_path)


def test_a_picture_name_cannot_lead_outside(tmp_path: Path) -> None:
    RunStore(tmp_path / "run").close()
    with RunReader(tmp_path / "run") as reader:
        for name in ("../../etc/passwd", "a" * 63, "A" * 64, "." * 64, ""):
            with pytest.raises(StoreError):
                reader.images.path(name)


def test_a_broken_picture_is_that_sessions_data_error(tmp_path: Path) -> None:
    def dead() -> bytes:
        raise DataError("http://example.invalid/a.jpg: gone")

    import msgspec

    broken = msgspec.structs.replace(make_session(1), capture=Capture(image=LazyImage(dead)))
    run_all(tmp_path / "run", [make_session(0), broken, make_session(2)], ByNumber())
    with RunReader(tmp_path / "run") as reader:
        results = reader.turns("s001")
        assert [r.status for r in results] == [Status.DATA_ERROR] * 4
        assert "gone" in (results[0].error or "")
        assert reader.turns("s002")[0].status is Status.ANSWERED
        figures = score_run(reader)
        assert figures["all"]["coverage"] < 1
        assert list(reader.sessions())[1].turns == broken.turns


class Generous:
    id = "generous"

    async def judge(self, item: JudgeItem) -> Verdict:
        return Verdict(outcome=Outcome.ACCEPTABLE, judge=self.id)


def test_rejudging_asks_no_agent_and_keeps_the_earlier_verdicts(
    tmp_path: Path, sessions: list[Session]
) -> None:
    run_all(tmp_path / "run", sessions, ByNumber())
    with RunStore(tmp_path / "run") as store:
        before = score_run(store)
        judged = asyncio.run(rejudge_run(store, Generous()))
        assert judged == before["all"]["asked"]
        after = score_run(store)
        assert after["all"]["accuracy"] == 1.0
        assert set(store.verdicts("s000", "clean", 0)) == {"equality", "generous"}
        assert asyncio.run(rejudge_run(store, Generous())) == 0  # idempotent
        asyncio.run(rejudge_run(store, Equality()))
        assert score_run(store) == before


class Undecided:
    id = "undecided"

    async def judge(self, item: JudgeItem) -> Verdict:
        return Verdict(outcome=Outcome.UNSCORED, judge=self.id, reason="cannot say")


class Broken:
    id = "broken"

    async def judge(self, item: JudgeItem) -> Verdict:
        raise OSError("no route")


@pytest.mark.parametrize("judge", [Undecided(), Broken()])
def test_statuses_follow_the_judge_there_and_back(
    tmp_path: Path, sessions: list[Session], judge: object
) -> None:
    run_all(tmp_path / "run", sessions, ByNumber())
    with RunStore(tmp_path / "run") as store:
        before, turns = score_run(store), timeless(store)
        assert asyncio.run(rejudge_run(store, judge)) == 0
        asked = before["all"]["asked"]
        assert store.turn_counts()["judge_error"] == asked
        failed = store.turns("s000")[0]
        assert failed.verdict is not None
        assert failed.error == failed.verdict.reason
        assert failed.error in ("cannot say", "OSError: no route")
        assert asyncio.run(rejudge_run(store, Equality())) == 0  # its verdicts are there
        assert score_run(store) == before
        assert timeless(store) == turns


def test_an_interrupted_rejudging_changes_no_status(
    tmp_path: Path, sessions: list[Session]
) -> None:
    class Dies(Undecided):
        left = 7

        async def judge(self, item: JudgeItem) -> Verdict:
            self.left -= 1
            if self.left < 0:
                raise asyncio.CancelledError
            return await super().judge(item)

    run_all(tmp_path / "run", sessions, ByNumber())
    with RunStore(tmp_path / "run") as store:
        before = score_run(store)
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(rejudge_run(store, Dies(), 1))
        assert score_run(store) == before
        told: list[tuple[int, int]] = []
        asyncio.run(rejudge_run(store, Generous(), on_progress=lambda *now: told.append(now)))
        assert told == [(n + 1, len(told)) for n in range(before["all"]["asked"])]


def test_a_score_under_another_rule_is_one_reaggregation(
    tmp_path: Path, sessions: list[Session]
) -> None:
    from simulator.run.engine import Rules

    run_all(tmp_path / "run", sessions, ByNumber(), rules=Rules(ask_after_stop=True))
    with RunReader(tmp_path / "run") as reader:
        rates = [
            score_run(reader, ScoreOptions(stop=rule, resamples=0))["all"]["early_stop_rate"]
            for rule in ("never", "strikes(3)", "strikes(2)", "strikes(1)")
        ]
    assert rates == sorted(rates)
    assert rates[0] == 0 < rates[-1]


def test_an_old_schema_keeps_opening(tmp_path: Path) -> None:
    """The fixture was written by schema version 1, which kept the verdict inside the turn."""
    old = tmp_path / "old"
    shutil.copytree(Path(__file__).parents[1] / "data" / "run-v1", old)
    before = (old / store_schema.FILE).read_bytes()
    with RunReader(old) as reader:
        read = timeless(reader)
        figures = score_run(reader, ScoreOptions(resamples=0))["all"]
    assert (old / store_schema.FILE).read_bytes() == before  # reading changes nothing
    assert (figures["correct"], figures["early_stop_rate"]) == (5, 0.5)
    with RunStore(old) as store:
        assert timeless(store) == read
        assert store.meta("judge") == "equality"
    db = sqlite3.connect(old / store_schema.FILE)
    assert db.execute("PRAGMA user_version").fetchone()[0] == store_schema.VERSION
    db.close()


def test_turns_commit_together_with_those_of_other_conversations(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        futures = [
            store.commit(TurnResult(session_id=f"s{i}", turn_index=0, status=Status.ANSWERED))
            for i in range(500)
        ]
        for future in futures:
            future.result(timeout=30)
        assert store.turn_counts() == {"answered": 500}


@pytest.mark.proof("time")
def test_memory_does_not_grow_with_the_number_of_sessions(tmp_path: Path) -> None:
    class Forgetful:
        async def answer(self, query) -> Reply:
            return Reply(text="something")

    early, late = range(330, 370), range(600, 640)  # the set of ids doubles before and after
    held: dict[range, int] = {}
    count = 0

    def measure(_: Progress) -> None:
        nonlocal count
        count += 1
        for span in (early, late):
            if count in span:
                gc.collect()
                # The least: what waits for the disk at the moment is not kept.
                now = tracemalloc.get_traced_memory()[0]
                held[span] = min(held.get(span, now), now)

    sessions = ((i, make_session(i, turns=1)) for i in range(650))
    tracemalloc.start()
    try:
        with RunStore(tmp_path) as store:
            work = run_sessions(
                sessions, Forgetful(), Equality(), store, Plan(concurrency=8),
                on_progress=measure,
            )  # fmt: skip
            asyncio.run(work)
    finally:
        tracemalloc.stop()
    assert held[late] - held[early] < 200 * 250  # bytes; 270 sessions came between


def test_a_judge_whose_name_no_query_finds_is_refused(tmp_path: Path) -> None:
    """SQLite's JSON ends a text at a NUL: its verdicts would be there and never be counted."""
    with RunStore(tmp_path / "run") as store, pytest.raises(UsageError, match=r"judge.*no NUL"):
        store.set_meta("judge", "fair\0judge")


def test_a_run_begins_in_no_folder_of_other_things(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_bytes(b"")
    (tmp_path / "photos" / "lock").write_bytes(b"")
    with pytest.raises(UsageError, match=r"contains 'one\.jpg' but is not a run"):
        RunStore(tmp_path / "photos")
    assert {one.name for one in (tmp_path / "photos").iterdir()} == {"lock", "one.jpg"}
    (tmp_path / "new").mkdir()
    for name in (".DS_Store", "lock"):  # a run may be killed before it has a database
        (tmp_path / "new" / name).write_bytes(b"")
    for _ in range(2):  # begun, and gone on with
        RunStore(tmp_path / "new").close()
