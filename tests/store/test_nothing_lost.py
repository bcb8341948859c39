"""A finished run is one file; what is lost or changed is told; nobody else is named or harmed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag
from small_runs import ByNumber, Equality, make_session, run_all

from mmrag.errors import ConflictError, ImageError, StoreError
from mmrag.records import Outcome, Query, Reply, Session, Status, TurnResult, Verdict
from simulator.datasets import open_data
from simulator.parts.run_folder import bind_run_config
from simulator.run.rejudge import rejudge_run
from simulator.run.results.run_scoring import ScoreOptions, score_run
from simulator.run.run_config import RunConfig
from simulator.run.runner import Plan, run_sessions
from simulator.store import store_schema
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from simulator.world.sessions import mini_folder

FAST = ScoreOptions(resamples=0)


def figures(folder: Path) -> dict[str, Any]:
    with RunReader(folder) as run:
        return score_run(run, FAST)


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def killed_copy(folder: Path, place: Path, sessions: list[Session]) -> Path:
    """What `kill -9` leaves: the folder as it lies there while the run is being written."""
    with RunStore(folder) as store:
        store.set_meta("judge", "equality")
        work = run_sessions(
            iter(list(enumerate(sessions))), ByNumber(), Equality(), store, Plan(concurrency=2)
        )
        asyncio.run(work)
        shutil.copytree(folder, place)
    return place


# -- a finished run


def test_a_finished_run_is_one_file_and_its_pictures(
    tmp_path: Path, sessions: list[Session]
) -> None:
    folder = tmp_path / "run"
    run_all(folder, sessions, ByNumber())
    assert {path.name for path in folder.iterdir()} == {"run.sqlite", "images", "lock"}
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(folder / "run.sqlite", copy)
    shutil.copytree(folder / "images", copy / "images")
    assert figures(copy) == figures(folder)
    assert figures(copy)["all"]["asked"] > 0
    assert {path.name for path in copy.iterdir()} == {"run.sqlite", "images"}


def test_rejudging_leaves_one_file(tmp_path: Path, sessions: list[Session]) -> None:
    run_all(tmp_path, sessions, ByNumber())
    with RunStore(tmp_path) as store:
        asyncio.run(rejudge_run(store, Equality()))
    assert {path.name for path in tmp_path.iterdir()} == {"run.sqlite", "images", "lock"}


def test_a_run_that_ends_while_somebody_looks_on_is_whole_in_its_file(
    tmp_path: Path, sessions: list[Session]
) -> None:
    folder = tmp_path / "run"
    RunStore(folder).close()
    with RunReader(folder) as onlooker:
        run_all(folder, sessions, ByNumber())
        assert score_run(onlooker, FAST) == figures(folder)
    (tmp_path / "copy").mkdir()
    shutil.copy(folder / "run.sqlite", tmp_path / "copy")
    assert figures(tmp_path / "copy") == figures(folder)
    run_all(folder, sessions, ByNumber())
    assert {path.name for path in folder.iterdir()} == {"run.sqlite", "images", "lock"}


@pytest.mark.parametrize("state", ["finished", "killed", "killed, without -shm"])
def test_commands_that_only_read_write_nothing(
    tmp_path: Path, sessions: list[Session], state: str
) -> None:
    folder = tmp_path / "run"
    if state == "finished":
        run_all(folder, sessions, ByNumber())
    else:
        killed_copy(tmp_path / "first", folder, sessions)
    if state.endswith("-shm"):
        (folder / "run.sqlite-shm").unlink()
    before = {name: kept for name, kept in files(folder).items() if not name.endswith("-shm")}
    names = {path.name for path in folder.iterdir()}
    for command in (
        ["score", folder, "--resamples", 0, "--json"],
        ["show", folder],
        ["show", folder, "s001"],
        ["export", folder, tmp_path / "turns.jsonl"],
        ["report", folder, "--out", tmp_path / "report"],
    ):
        mmrag(*command)
    # -shm is SQLite's scratch index of the -wal: it holds nothing of the run
    assert {n: kept for n, kept in files(folder).items() if not n.endswith("-shm")} == before
    assert {path.name for path in folder.iterdir()} == names


# -- what is lost is told


def flip_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


HARMS: dict[str, Callable[[Path], object]] = {
    "gone": lambda wal: wal.unlink(), "empty": lambda wal: wal.write_bytes(b""),
    "half": lambda wal: os.truncate(wal, wal.stat().st_size // 2), "flipped": flip_a_bit,
    "gone with all beside it": lambda wal: [p.unlink() for p in wal.parent.glob("run.sqlite-*")]
}  # fmt: skip


@pytest.mark.parametrize("harm", HARMS)
def test_an_unfinished_run_that_lost_its_wal_is_an_error(
    tmp_path: Path, sessions: list[Session], harm: str
) -> None:
    whole = killed_copy(tmp_path / "run", tmp_path / "killed", sessions)
    assert figures(whole) == figures(tmp_path / "run")
    HARMS[harm](whole / "run.sqlite-wal")
    with pytest.raises(StoreError, match="Copy the whole folder"):
        RunReader(whole)
    before = files(whole)
    with pytest.raises(StoreError, match="Copy the whole folder"):
        RunStore(whole)
    mmrag("score", whole, code=1)
    after = files(whole)
    kept = [name for name in before if name not in ("lock", "run.sqlite-shm")]
    assert all(after[name][1] == before[name][1] for name in kept)  # for whoever finds the rest


def test_a_wal_of_another_run_is_an_error(tmp_path: Path, sessions: list[Session]) -> None:
    one = killed_copy(tmp_path / "a", tmp_path / "killed a", sessions)
    other = killed_copy(tmp_path / "b", tmp_path / "killed b", sessions[:5])
    for end in ("-wal", "-shm"):
        shutil.copy(other / f"run.sqlite{end}", one / f"run.sqlite{end}")
    with pytest.raises(StoreError):
        RunReader(one)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE turns SET status = 'abstained' WHERE rowid = "
        "(SELECT MIN(rowid) FROM turns WHERE status = 'answered')",
        "DELETE FROM verdicts WHERE rowid = 5",
        "UPDATE verdicts SET verdict = CAST(replace(CAST(verdict AS TEXT), 'incorrect', "
        "'perfect') AS BLOB)",
        "UPDATE meta SET value = CAST('\"nobody\"' AS BLOB) WHERE key = 'judge'",
        "DELETE FROM meta WHERE key = 'tally'",
    ],
)
def test_a_row_that_changed_is_an_error(
    tmp_path: Path, sessions: list[Session], statement: str
) -> None:
    run_all(tmp_path, sessions, ByNumber())
    with sqlite3.connect(tmp_path / store_schema.FILE) as db:
        assert db.execute(statement).rowcount
    db.close()
    with pytest.raises(StoreError, match="damaged"):
        RunReader(tmp_path)
    with pytest.raises(StoreError, match="damaged"):
        RunStore(tmp_path)


def test_two_rows_that_swapped_their_verdicts_are_an_error(tmp_path: Path) -> None:
    with RunStore(tmp_path) as store:
        for index, outcome in enumerate((Outcome.PERFECT, Outcome.MISSING)):
            verdict = Verdict(outcome=outcome, judge="x")
            turn = TurnResult(
                session_id="s", turn_index=index, status=Status.ANSWERED, verdict=verdict
            )
            store.commit(turn).result()
    with sqlite3.connect(tmp_path / store_schema.FILE) as db:
        db.execute("UPDATE verdicts SET turn_index = turn_index + 2")
        db.execute("UPDATE verdicts SET turn_index = 3 - turn_index")
        assert db.total_changes == 4
    db.close()
    with pytest.raises(StoreError, match="damaged"):
        RunReader(tmp_path)


def test_a_picture_that_changed_is_told_and_made_anew(tmp_path: Path) -> None:
    session = make_session(1)
    digest = session.capture.image.sha256
    with RunStore(tmp_path) as store:
        store.begin(0, session).result()
        path = store.images.path(digest)
        path.write_bytes(path.read_bytes()[:-7])
        with pytest.raises(ImageError, match="not the picture that the run was made with"):
            _ = store.session(session.id).capture.image.data
        assert store.begun(session.id, "clean") is None
        store.begin(0, session).result()
        assert path.read_bytes() == session.capture.image.data


def test_a_run_without_a_tally_gets_one_when_it_is_written_to(
    tmp_path: Path, sessions: list[Session]
) -> None:
    run_all(tmp_path, sessions, ByNumber())
    before = figures(tmp_path)
    with sqlite3.connect(tmp_path / store_schema.FILE) as db:  # as schema version 2 wrote it
        db.execute("DELETE FROM meta WHERE key = 'tally'")
        db.execute("PRAGMA user_version = 2")
    db.close()
    assert figures(tmp_path) == before
    RunStore(tmp_path).close()
    assert figures(tmp_path) == before
    with sqlite3.connect(tmp_path / store_schema.FILE) as db:
        db.execute("DELETE FROM turns WHERE rowid = 3")
    db.close()
    with pytest.raises(StoreError, match="damaged"):
        RunReader(tmp_path)


# -- creation


def test_creation_has_no_half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each commit of a beginning run, a copy of its folder can be claimed again."""
    states: list[Path] = []
    write = RunStore._write

    def and_copy(self: RunStore, jobs: list[Any]) -> None:
        write(self, jobs)
        states.append(shutil.copytree(self.folder, tmp_path / f"state {len(states)}"))

    facts: dict[str, Any] = {"data": "d1", "index": "i1", "judge": "equality"}
    monkeypatch.setattr(RunStore, "_write", and_copy)
    with RunStore(tmp_path / "run") as store:
        bind_run_config(store, RunConfig(), **facts)
    monkeypatch.undo()
    assert states
    for state in states:
        with RunStore(state) as store:
            bind_run_config(store, RunConfig(), **facts)
            assert store.meta("judge") == "equality"


def test_a_run_that_was_killed_between_its_first_commits_can_be_begun(tmp_path: Path) -> None:
    with RunStore(tmp_path) as store:
        store.set_meta("config", RunConfig())  # as it was before these were one commit
        bind_run_config(store, RunConfig(), data="d1", index="i1", judge="equality")
        assert store.meta("provenance")["data"] == "d1"


# -- the folder


class Restless(ByNumber):
    """Does something to the world when it is asked for the eighth time."""

    def __init__(self, deed: Callable[[], object]) -> None:
        super().__init__()
        self.deed = deed

    async def answer(self, query: Query) -> Reply:
        if len(self.seen) == 8:
            self.deed()
        return await super().answer(query)


def test_an_agent_may_change_the_working_directory(
    tmp_path: Path, sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    run_all(Path("run"), sessions, Restless(lambda: os.chdir("elsewhere")), concurrency=1)
    assert not list((tmp_path / "elsewhere").iterdir())
    with RunReader(tmp_path / "run") as run:
        pictures = [session.capture.image.data for session in run.sessions()]
    assert pictures == [session.capture.image.data for session in sessions]


MOVES = """
import os
class Asked:
    home = os.path.abspath("elsewhere")
    def answer(self, query):
        os.chdir(self.home)
        return "fine"
class Made(Asked):
    def __init__(self):
        os.chdir(self.home)
"""


@pytest.mark.parametrize("when", ["Made", "Asked"])
def test_a_command_stays_where_it_was_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "moving_agents.py").write_text(MOVES)
    monkeypatch.delitem(sys.modules, "moving_agents", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    told = mmrag("run", "--data", "mini", "--search", "none", "--judge", "exact", "--limit", "1",
                 "--agent", f"python:name=moving_agents/{when}", "--out", "run")  # fmt: skip
    assert "run: run\n" in told.stdout
    assert not list((tmp_path / "elsewhere").iterdir())
    with RunReader(tmp_path / "run") as run:
        assert run.turn_counts()["answered"]


def test_a_data_set_stays_where_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "world").symlink_to(mini_folder())
    monkeypatch.chdir(tmp_path)
    source = open_data("world")
    monkeypatch.chdir("/")
    assert len(next(iter(source)).capture.image.data) > 1000


def test_a_run_that_is_moved_while_it_runs_is_an_error(
    tmp_path: Path, sessions: list[Session]
) -> None:
    folder, elsewhere = tmp_path / "run", tmp_path / "moved"
    with pytest.raises(StoreError, match="moved or removed while it was written"):
        run_all(folder, sessions, Restless(lambda: folder.rename(elsewhere)), concurrency=2)
    assert not folder.exists()
    run_all(elsewhere, sessions, ByNumber())
    run_all(tmp_path / "whole", sessions, ByNumber())
    assert figures(elsewhere) == figures(tmp_path / "whole")


def test_a_moved_run_leaves_its_successor_alone(tmp_path: Path, sessions: list[Session]) -> None:
    folder = tmp_path / "run"
    first = RunStore(folder)
    first.set_meta("judge", "first")
    folder.rename(tmp_path / "moved")
    with RunStore(folder) as second:
        second.set_meta("judge", "second")
        wal = (folder / "run.sqlite-wal").read_bytes()
        first.close()
        assert (folder / "run.sqlite-wal").read_bytes() == wal
    with RunReader(folder) as run:
        assert run.meta("judge") == "second"
    with RunReader(tmp_path / "moved") as run:
        assert run.meta("judge") == "first"


# -- the lock

FORKS = """
import os, sys, time
from simulator.store.run_store import RunStore
with RunStore({folder!r}) as store:
    store.set_meta("judge", "x")
    child = os.fork()
    if not child:
        open({folder!r} + "/child", "w").close()
        {in_child}
        time.sleep(60)
        os._exit(0)
    while not os.path.exists({folder!r} + "/child"):
        time.sleep(0.01)
    {in_parent}
print(child, flush=True)
os._exit(0)
"""


def forked(folder: Path, in_child: str = "pass", in_parent: str = "pass") -> int:
    """Run a writer that forks; give the pid of the child that is left behind."""
    code = FORKS.format(folder=str(folder), in_child=in_child, in_parent=in_parent)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        return int(process.stdout.readline())


@pytest.mark.parametrize("end", ["pass", "print(child, flush=True); os.kill(os.getpid(), 9)"])
def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path, end: str) -> None:
    child = forked(tmp_path, in_parent=end)
    try:
        os.kill(child, 0)  # it is still there
        with RunStore(tmp_path) as store:
            assert store.meta("judge") == "x"
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_forked_child_cannot_write_nor_close(tmp_path: Path) -> None:
    told = tmp_path / "told"
    deed = (
        "store.close()\n"
        "        try: store.set_meta('judge', 'y')\n"
        f"        except Exception as e: open({str(told)!r}, 'w').write(repr(e))"
    )
    wait = (
        f"\n    while not os.path.exists({str(told)!r}): time.sleep(.01)\n"
        "    store.set_meta('z', 1)"
    )
    child = forked(tmp_path / "run", in_child=deed, in_parent=wait)
    os.kill(child, signal.SIGKILL)
    assert "belongs to the process that began it" in told.read_text()
    with RunReader(tmp_path / "run") as run:
        assert (run.meta("judge"), run.meta("z")) == ("x", 1)


def test_the_lock_names_who_has_it(tmp_path: Path) -> None:
    """A program that inherited the lock's file outlives the run that opened it."""
    code = (
        "import os, subprocess, sys\n"
        "from simulator.store.run_store import RunStore\n"
        f"store = RunStore({str(tmp_path)!r})\n"
        "fds = [int(n) for n in os.listdir('/proc/self/fd')\n"
        "       if os.path.realpath(f'/proc/self/fd/{n}').endswith('/lock')]\n"
        "left = subprocess.Popen(['sleep', '60'], pass_fds=fds, stdout=subprocess.DEVNULL)\n"
        "print(left.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        holder = int(process.stdout.readline())
    try:
        with pytest.raises(ConflictError, match=rf"\(pid {holder}\)"):
            RunStore(tmp_path)
    finally:
        os.kill(holder, signal.SIGKILL)
