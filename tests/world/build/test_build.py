"""Building: the same bytes however it is done, nothing half done, errors before work."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections import namedtuple
from pathlib import Path

import pytest
import small_worlds
from msgspec.structs import replace
from small_worlds import pictured_request, small_request

from mmrag.errors import ConflictError, SpecError, StoreError, UsageError
from mmrag.files.shards import Shard
from simulator.world.build import folder as builder
from simulator.world.build.folder import build, build_shard, staging_folder
from simulator.world.build.world_manifest import damaged_files, read_manifest
from simulator.world.build.world_request import make_request, needed_bytes


def hashes(folder: Path) -> dict[str, str]:
    return {name: f["sha256"] for name, f in read_manifest(folder)["files"].items()}


@pytest.mark.proof("kills")
@pytest.mark.timeout(300)
def test_two_workers_give_the_bytes_of_one_and_a_killed_one_loses_nothing(
    picture_world: Path, tmp_path: Path
) -> None:
    def tell(stage: str, done: int, total: int) -> None:
        rendering = multiprocessing.active_children()
        if stage == "kg" and done == total and rendering:
            os.kill(rendering[0].pid or 0, signal.SIGKILL)

    with pytest.raises(StoreError, match=r"a worker died.*continues where it stopped"):
        build(pictured_request(), tmp_path / "two", workers=2, progress=tell)
    assert not (tmp_path / "two").exists()
    build(pictured_request(), tmp_path / "two", workers=2)
    assert hashes(tmp_path / "two") == hashes(picture_world)
    assert (tmp_path / "two/world.json").read_bytes() == (picture_world / "world.json").read_bytes()


@pytest.mark.proof("render")
def test_the_manifest_knows_every_file(picture_world: Path) -> None:
    manifest = read_manifest(picture_world)
    there = {p.name for p in picture_world.iterdir()} - {"world.json"}
    assert set(manifest["files"]) == there
    assert (damaged_files(picture_world, manifest), manifest["seed"]) == ([], 5)
    assert (manifest["request"]["kg_side"], manifest["files"]["kg.parquet"]["rows"]) == (96, 12)
    assert not staging_folder(picture_world).exists()


@pytest.mark.proof("time")
def test_two_seeds_share_no_name(text_world: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    build(small_request(6, singles=60), tmp_path / "other")
    one, two = (
        set(pq.read_table(f / "entities.parquet", columns=["name"])["name"].to_pylist())
        for f in (text_world, tmp_path / "other")
    )
    assert len(one) > 400
    assert not one & two


@pytest.mark.proof("time")
def test_shards_give_the_bytes_of_one_machine(text_world: Path, tmp_path: Path) -> None:
    request, out = small_request(singles=60), tmp_path / "w"
    for text in ("3/3", "1/3"):
        build_shard(request, out, Shard.read(text))
        assert not out.exists()
    written: list[str] = []
    build(request, out, progress=lambda stage, done, _: written.append(f"{stage} {done}"))
    assert "single-turn 0" not in written, "what the shards wrote was written again"
    assert hashes(out) == hashes(text_world)
    assert not staging_folder(out).exists()


def test_a_shard_of_another_world_is_refused(tmp_path: Path) -> None:
    build_shard(small_request(singles=4), tmp_path / "w", Shard(1, 9))
    with pytest.raises(ConflictError, match="other"):
        build_shard(small_request(7, singles=4), tmp_path / "w", Shard(2, 9))


class Stopped(Exception):
    pass


def stop_at(stage: str, number: int):
    def tell(now: str, done: int, total: int) -> None:
        if (now, done) == (stage, number):
            raise Stopped

    return tell


@pytest.mark.proof("time")
@pytest.mark.parametrize(("stage", "number"), [("pages", 1), ("single-turn", 1), ("join", 4)])
def test_an_interrupted_build_continues(
    text_world: Path, tmp_path: Path, stage: str, number: int
) -> None:
    out = tmp_path / "w"
    request = small_request(singles=60)
    with pytest.raises(Stopped):
        build(request, out, progress=stop_at(stage, number))
    assert not out.exists()
    staging = staging_folder(out)
    kept = {p: p.stat().st_mtime_ns for p in staging.glob("*-0*.parquet")}
    written: list[str] = []
    build(request, out, progress=lambda s, d, t: written.append(f"{s} {d}/{t}"))
    assert hashes(out) == hashes(text_world)
    assert not staging.exists()
    if kept:
        assert "entities 1/1" in written[2:4]  # told as done before anything was written


@pytest.mark.proof("kills")
def test_workers_end_with_a_killed_parent_and_no_part_is_lost(
    text_world: Path, tmp_path: Path
) -> None:
    code = textwrap.dedent(f"""
        import multiprocessing, os, signal, sys
        sys.path.insert(0, {str(Path(small_worlds.__file__).parent)!r})
        from pathlib import Path
        from small_worlds import pictured_request, small_request
        from simulator.world.build.folder import build

        def tell(stage, done, total):
            if stage == "pages" and done == 1:
                print(*(p.pid for p in multiprocessing.active_children()), flush=True)
                os.kill(os.getpid(), signal.SIGKILL)

        if __name__ == "__main__":
            out = Path({str(tmp_path / "w")!r})
            build(small_request(singles=60), out, workers=2, progress=tell)
    """)
    (tmp_path / "main.py").write_text(code)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "main.py")], capture_output=True, text=True, check=False
    )
    workers = [int(pid) for pid in done.stdout.split()]
    assert len(workers) == 2, done.stderr[-2000:]
    deadline = time.monotonic() + 60
    while any(is_running(pid) for pid in workers):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.05)
    assert not (tmp_path / "w").exists()
    build(small_request(singles=60), tmp_path / "w")
    assert hashes(tmp_path / "w") == hashes(text_world)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.proof("time")
def test_an_interrupted_build_of_another_seed_is_not_continued(tmp_path: Path) -> None:
    out = tmp_path / "w"
    with pytest.raises(Stopped):
        build(small_request(5), out, progress=stop_at("pages", 1))
    with pytest.raises(ConflictError, match=r"interrupted build of seed 5.*--fresh"):
        build(small_request(6), out)
    build(small_request(6), out, fresh=True)
    assert read_manifest(out)["seed"] == 6
    assert not staging_folder(out).exists()


def test_the_target_is_never_overwritten(text_world: Path, tmp_path: Path) -> None:
    with pytest.raises(ConflictError, match="this very world"):
        build(small_request(singles=60), text_world)
    with pytest.raises(ConflictError, match="a world of seed 5"):
        build(small_request(9), text_world)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.txt").write_text("mine")
    with pytest.raises(ConflictError, match="not empty and no world"):
        build(small_request(), tmp_path / "full")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ConflictError, match="is a file"):
        build(small_request(), tmp_path / "file")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "full"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"seed": 1, "sessions": 0}, "0 conversations"),
        ({"seed": 1, "sessions": -3}, "-3 conversations"),
        ({"seed": 1, "sessions": 10**7}, "1 to 20,000"), ({"seed": -1}, "seed -1"),
        ({"seed": 1 << 40}, "out of range"), ({"seed": 1, "size": "huge"}, "mini, crag-mm"),
        ({"seed": 1, "singles": -1}, "--singles -1"), ({"seed": 1, "kg_pictures": 10**7}, "700000")
    ]
)  # fmt: skip
def test_an_impossible_request_is_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make_request(**arguments)  # type: ignore[arg-type]


def test_no_workers_build_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="0 workers"):
        build(small_request(), tmp_path / "w", workers=0)
    assert not list(tmp_path.iterdir())


def test_a_disk_too_small_is_noticed_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10, 9, 1 << 20))
    with pytest.raises(UsageError, match="GB free"):
        build(small_request(), tmp_path / "w")
    assert not list(tmp_path.iterdir())


@pytest.mark.proof("time")
def test_a_disk_that_fills_up_leaves_whole_parts_only(
    text_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, calls = os.fsync, iter(range(1000))

    def full(handle: int) -> None:
        if next(calls) >= 8:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"disk is full.*continues where it stopped"):
        build(small_request(singles=60), tmp_path / "w")
    monkeypatch.undo()
    assert not (tmp_path / "w").exists()
    assert not list(tmp_path.rglob("*.tmp"))
    (tmp_path / "w").mkdir()  # an empty folder is a fine target
    build(small_request(singles=60), tmp_path / "w")
    assert hashes(tmp_path / "w") == hashes(text_world)


def test_one_builder_at_a_time(tmp_path: Path) -> None:
    out = tmp_path / "w"

    def second(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("pages", 1):
            with pytest.raises(ConflictError, match="is building here"):
                build(small_request(), out)
            raise Stopped

    with pytest.raises(Stopped):
        build(small_request(), out, progress=second)


def test_published_proportions() -> None:
    request = make_request(1)
    assert (request.conversations, request.singles) == (1956, 6462)
    assert (request.kg_pictures, request.entities) == (68_000, 27_840)
    half = make_request(1, 978)
    assert (half.singles, half.kg_pictures) == (3231, 34_000)
    assert needed_bytes(half) == pytest.approx(needed_bytes(request) / 2, rel=0.05)
    dialled = make_request(1, 60, "mini", singles=0, kg_pictures=7)
    assert (dialled.singles, dialled.kg_pictures, dialled.ego) == (0, 7, (720, 960))


def test_no_world_in_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"is not a world.*mmrag world new"):
        read_manifest(tmp_path)


def test_the_request_alone_decides(tmp_path: Path) -> None:
    """Changing anything in a request makes it another request for the resume check."""
    base = small_request()
    identities = {
        builder.identity_of(r) for r in (base, replace(base, jpeg=50), replace(base, seed=6))
    }
    assert len(identities) == 3
