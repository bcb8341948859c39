"""Turns committed exactly once by many machines: leases, fences, and a run that takes them in."""

from __future__ import annotations

import json
import time
from pathlib import Path

import msgspec
import pytest
from small_runs import ByNumber, make_session, picture, run_all

from mmrag.errors import ConflictError, StoreError
from mmrag.files.images import LazyImage
from mmrag.records import Capture, Outcome, Reply, Session, Status, TurnResult, Verdict
from simulator.run.results.run_scoring import score_run
from simulator.store.leases import Lease, ShardStore, copy_shards_while_written
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from simulator.store.shard_files import shard_folders


def said(index: int, text: str = "four", number: int = 0) -> TurnResult:
    return TurnResult(
        session_id=f"s{number:03d}", turn_index=index, status=Status.ANSWERED, query="how many?",
        reply=Reply(text=text), verdict=Verdict(outcome=Outcome.PERFECT, judge="hand")
    )  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", "hand")
    return tmp_path / "run"


def leased(shard: ShardStore, session_id: str = "s000") -> Lease:
    shard.take(session_id, "clean").result()
    return shard.lease(session_id, "clean")


def begun(shard: ShardStore, number: int = 0) -> int:
    session = make_session(number)
    epoch = leased(shard, session.id).epoch
    assert shard.holds(epoch, session.id, "clean")
    shard.begin(number, session).result()
    return epoch


def commits(shard: ShardStore, epoch: int, *results: TurnResult, **grown) -> bool:
    kept = shard.commit_leased(epoch, *results, **grown)
    return kept is not None and kept.result(5) is None


def texts(folder: Path, number: int = 0) -> list[str]:
    with RunReader(folder) as reader:
        return [r.reply.text for r in reader.turns(f"s{number:03d}") if r.reply]


def test_who_leases_is_told_what_was_committed_and_takes_the_right_to_commit(run: Path) -> None:
    with ShardStore(run, 0) as shard:
        first = begun(shard)
        assert commits(shard, first, said(0))
        lease = leased(shard)
        assert (lease.epoch, [r.turn_index for r in lease.done]) == (first + 1, [0])
        assert lease.begun is not None
        assert not commits(shard, first, said(1, "too late"))  # fenced
        assert commits(shard, lease.epoch, said(1, "in time"))
        assert [r.reply.text for r in shard.turns("s000") if r.reply] == ["four", "in time"]


def test_the_identical_turn_is_welcome_again_whoever_sends_it(run: Path) -> None:
    """A call whose answer got lost with the store is sent again."""
    with ShardStore(run, 0) as shard:
        first = begun(shard)
        assert commits(shard, first, said(0), said(1))
        second = leased(shard).epoch
        assert commits(shard, first, said(0), said(1))
        assert commits(shard, second, said(0))
        assert not commits(shard, second, said(0, "another answer"))
        assert [r.reply.text for r in shard.turns("s000") if r.reply] == ["four", "four"]
    assert shard.refused == 1


def test_a_store_that_starts_again_knows_its_leases(run: Path) -> None:
    with ShardStore(run, 0) as shard:
        first = begun(shard)
        second = leased(shard).epoch
    with ShardStore(run, 0) as shard:
        assert not commits(shard, first, said(0))
        assert commits(shard, second, said(0))
        assert leased(shard).epoch == second + 1


def test_a_lease_does_not_look_at_the_clock(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines whose clocks are days apart commit alike."""
    now = time.time()
    with ShardStore(run, 0) as shard:
        first = begun(shard)
        monkeypatch.setattr("time.time", lambda: now - 1e6)
        second = leased(shard).epoch
        monkeypatch.setattr("time.time", lambda: now + 1e6)
        assert not commits(shard, first, said(0))
        assert commits(shard, second, said(0))


def test_a_run_takes_in_what_its_shards_have_when_it_is_next_written(run: Path) -> None:
    for number in range(2):
        with ShardStore(run, number) as shard:
            epoch = begun(shard, number)
            assert commits(shard, epoch, said(0, f"of {number}", number))
    assert texts(run, 1) == []
    RunStore(run).close()
    assert [texts(run, n) for n in range(2)] == [["of 0"], ["of 1"]]
    assert not (run / "shards").exists()
    with RunReader(run) as reader:
        image = reader.session("s001").capture.image  # type: ignore[union-attr]
        assert image.data == make_session(1).capture.image.data  # type: ignore[union-attr]
        assert reader.verdicts("s001", "clean", 0)["hand"].outcome is Outcome.PERFECT
        assert reader.meta("judge") == "hand"


def test_a_run_is_followed_while_its_shards_are_written(run: Path) -> None:
    with RunStore(run) as store:
        shard = ShardStore(run, 0)
        epoch = begun(shard)
        assert commits(shard, epoch, said(0))
        with copy_shards_while_written(store) as gather:
            assert gather() == 1
            assert gather() == 0
            assert commits(shard, epoch, said(1), said(2))
            assert gather() == 2
            assert texts(run) == ["four"] * 3
            assert commits(shard, epoch, said(3))
            shard.close()
        assert len(store.turns("s000")) == 4
    assert not (run / "shards").exists()


def test_what_was_taken_in_once_is_no_second_turn(run: Path) -> None:
    """Killed between taking in and removing: it is taken in again."""
    with ShardStore(run, 0) as shard:
        epoch = begun(shard)
        assert commits(shard, epoch, said(0))
    with RunStore(run) as store:
        assert store.turn_counts() == {"answered": 1}
    (run / "shards").mkdir()
    with ShardStore(run, 0) as shard:  # as the killed driver left it
        epoch = begun(shard)
        assert commits(shard, epoch, said(1))
    with RunStore(run) as store:
        assert store.turn_counts() == {"answered": 2}


def test_a_conversation_goes_on_after_what_the_run_has_already(run: Path) -> None:
    """The driver died: another one makes new shards, which know nothing of the old turns."""
    run_all(run, [make_session(0)], ByNumber(lambda sid, turn: "x" if turn else "c"))
    with RunStore(run) as store:
        store.forget_turns("s000", "clean", 1)
    with ShardStore(run, 0) as shard:
        lease = leased(shard)
        assert [r.turn_index for r in lease.done] == [0]
        assert lease.begun is not None
        assert lease.begun.capture is not None
        assert isinstance(lease.begun.capture.image, LazyImage)
        assert commits(shard, lease.epoch, said(1))
    RunStore(run).close()
    assert texts(run) == ["answer 0-0", "four"]


def grown(turns: int) -> Session:
    """A session that a live wearer has made longer, its last turn with a picture of its own."""
    session = make_session(0, turns=turns)
    capture = Capture(image=LazyImage.from_bytes(picture(turns)))
    last = msgspec.structs.replace(session.turns[-1], capture=capture)
    return msgspec.structs.replace(session, turns=(*session.turns[:-1], last))


def kept(run: Path) -> Session:
    with RunReader(run) as reader:
        return reader.session("s000")


def test_a_conversation_that_grows_is_followed_turn_by_turn(run: Path) -> None:
    with RunStore(run) as store:
        shard = ShardStore(run, 0)
        epoch = begun(shard)
        with copy_shards_while_written(store) as gather:
            for turns in (5, 6):
                longer = {"session": grown(turns), "position": 0}
                assert commits(shard, epoch, said(turns), **longer)
                assert gather() == 1
                assert len(kept(run).turns) == turns
            assert commits(shard, epoch, said(7), session=grown(7), position=0)
            shard.close()
    assert len(kept(run).turns) == 7
    assert kept(run).turns[-1].capture.image.data == picture(7)  # type: ignore[union-attr]


def test_what_is_too_late_makes_no_conversation_longer(run: Path) -> None:
    with ShardStore(run, 0) as shard:
        old = begun(shard)
        now = leased(shard).epoch
        assert not commits(shard, old, said(0), session=grown(5), position=0)
        assert commits(shard, now, said(0), session=grown(6), position=0)
        assert commits(shard, old, said(0), session=grown(6), position=0)  # sent again
    RunStore(run).close()
    assert len(kept(run).turns) == 6


def test_a_conversation_that_the_run_has_already_grows_in_a_new_shard(run: Path) -> None:
    run_all(run, [make_session(3), make_session(0)], ByNumber())
    with RunStore(run) as store:
        store.forget_turns("s000", "clean", 1)
    with ShardStore(run, 0) as shard:
        assert commits(shard, leased(shard).epoch, said(1), session=grown(6), position=1)
    RunStore(run).close()
    with RunReader(run) as reader:
        assert [(s.id, len(s.turns)) for s in reader.sessions()] == [("s003", 4), ("s000", 6)]


def test_a_shard_that_lost_its_commits_is_an_error_that_names_it(run: Path) -> None:
    shard = ShardStore(run, 0)
    epoch = begun(shard)
    assert commits(shard, epoch, said(0))
    folder = shard_folders(run)[0]
    kept = {path: path.read_bytes() for path in folder.iterdir()}
    shard.close()
    for path, data in kept.items():
        path.write_bytes(data)
    (folder / "run.sqlite-wal").unlink()
    (folder / "run.sqlite-shm").unlink()
    with pytest.raises(StoreError, match=r"shards.*commits are missing"):
        RunStore(run)
    assert (folder / "run.sqlite").exists()  # nothing was thrown away


def test_a_shard_that_is_still_written_is_waited_for_and_then_refused(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.store.shard_files.PATIENCE", 0.2)
    with ShardStore(run, 0), pytest.raises(ConflictError, match="still at work on this run"):
        RunStore(run)


def test_a_full_disk_says_which_run_to_go_on_with(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ShardStore(run, 0) as shard:
        epoch = begun(shard)

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(shard._lock, "check_place", full)
        with pytest.raises(StoreError, match=rf"No space left.*mmrag resume {run}`"):
            commits(shard, epoch, said(0))
        monkeypatch.undo()


def test_figures_are_those_of_one_process(tmp_path: Path) -> None:
    sessions = [make_session(i, turns=2 + i % 5) for i in range(12)]
    run_all(tmp_path / "one", sessions, ByNumber())
    with RunStore(tmp_path / "many") as store:
        store.set_meta("judge", "equality")
    with RunReader(tmp_path / "one") as one:
        for number in range(3):
            with ShardStore(tmp_path / "many", number) as shard:
                for place, session in reversed(list(enumerate(sessions))):
                    if place % 3 == number:
                        epoch = leased(shard, session.id).epoch
                        shard.begin(place, session).result()
                        assert commits(shard, epoch, *one.turns(session.id))
    RunStore(tmp_path / "many").close()
    figures = []
    for name in ("one", "many"):
        with RunReader(tmp_path / name) as reader:
            figures.append(json.dumps(score_run(reader), sort_keys=True))
    assert figures[0] == figures[1]
