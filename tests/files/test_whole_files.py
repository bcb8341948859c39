"""Files appear whole or not at all; a lock is one process's."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from mmrag.errors import ConflictError, UsageError
from mmrag.files.atomic import (
    FileLock,
    atomic_path,
    clear_unfinished,
    is_locked,
    lock_folder,
    write_all,
    write_bytes,
    write_text,
)


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    write_text(place, "old")

    def write_half() -> None:
        with atomic_path(place) as temporary:
            temporary.write_text("ne")
            raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        write_half()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert place.read_text() == "old"


def test_threads_that_write_one_file_do_not_share_a_temporary_name(tmp_path: Path) -> None:
    place, meet = tmp_path / "a", threading.Barrier(2, timeout=10)
    seen: list[str] = []

    def write(text: str) -> None:
        with atomic_path(place) as temporary:
            meet.wait()
            temporary.write_text(text)
            seen.append(temporary.name)
            meet.wait()

    threads = [threading.Thread(target=write, args=(text,)) for text in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 2
    assert place.read_text() in ("one", "two")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_what_lasts_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    sync, rename = os.fsync, os.replace

    def fsync(handle: int) -> None:
        steps.append(f"sync {Path(f'/proc/self/fd/{handle}').readlink().name[:3]}")
        sync(handle)

    def replace(source: str, target: Path) -> None:
        steps.append("rename")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    write_bytes(tmp_path / "a", b"x")
    assert steps == ["sync .a.", "rename", f"sync {tmp_path.name[:3]}"]
    steps.clear()
    write_bytes(tmp_path / "b", b"x", lasting=False)  # made again at will: no wait for the disk
    assert steps == ["rename"]
    steps.clear()
    write_all({tmp_path / "c": b"x", tmp_path / "d": b"y"})  # the disk is waited for once
    folder = f"sync {tmp_path.name[:3]}"
    assert steps == ["sync .c.", "sync .d.", "rename", "rename", folder]


def test_of_files_that_are_written_together_none_is_half_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def full(handle: int, data: bytes) -> int:
        if bytes(data) == b"two":
            raise OSError(28, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(os, "write", full)
    handles = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match="No space left"):
        write_all({tmp_path / name: name.encode() for name in ("one", "two", "three")})
    assert list(tmp_path.iterdir()) == []
    assert len(list(Path("/proc/self/fd").iterdir())) == handles


def test_the_owner_clears_what_a_killed_process_was_writing(tmp_path: Path) -> None:
    (tmp_path / "whole").write_text("x")
    child = os.fork()
    if not child:
        with atomic_path(tmp_path / "a") as temporary:
            temporary.write_text("ha")
            os._exit(0)  # as kill -9 would end it
    os.waitpid(child, 0)
    assert len(list(tmp_path.iterdir())) == 2
    clear_unfinished(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]


def test_a_lock_names_its_holder_and_can_be_taken_after_it(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", "is at work; wait for it.")
    assert is_locked(tmp_path / "lock")
    with pytest.raises(ConflictError, match=rf"pid {os.getpid()}\) is at work; wait"):
        FileLock(tmp_path / "lock", "is at work; wait for it.")
    lock.release()
    assert not is_locked(tmp_path / "lock")
    FileLock(tmp_path / "lock", "is at work.").release()


def test_looking_whether_a_file_is_locked_keeps_nobody_from_locking_it(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            is_locked(tmp_path / "lock")

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for _ in range(1000):
            FileLock(tmp_path / "lock", "is at work.").release()
    finally:
        stop.set()
        watcher.join()
    assert not is_locked(tmp_path / "lock")


def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    with (
        lock_folder(tmp_path / "new"),
        pytest.raises(ConflictError, match=r"another process .* is building"),
        lock_folder(tmp_path / "new"),
    ):
        pass
    with lock_folder(tmp_path / "new"):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be made"), lock_folder(tmp_path / "file"):
        pass
