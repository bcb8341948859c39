"""One writer to a run: a lock on its folder that ends with the process that took it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import weakref
from collections.abc import Callable
from pathlib import Path

from mmrag.errors import ConflictError, StoreError


class RunLock:
    """Held from the first write to the last. A child that is forked meanwhile does not hold it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "lock"
        self.on_fork: Callable[[], None] = _nothing
        """Called in a forked child."""
        self._file: int | None = _take(self.path)
        _held.add(self)

    @property
    def held(self) -> bool:
        """False after `release`, and in a forked child."""
        return self._file is not None

    def check_place(self) -> None:
        """Raise if the folder was moved away or replaced since the lock was taken."""
        assert self._file is not None
        with contextlib.suppress(OSError):
            if os.path.samestat(self.path.stat(), os.fstat(self._file)):
                return
        raise Moved(
            f"{self.folder}: the run was moved or removed while it was written. What was committed "
            "went with it: put it back, or `mmrag resume` it where it is now."
        )

    def release(self) -> None:
        """Let others write, also where a child still has the file open."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._close()

    def left_in_child(self) -> None:
        """Forget the lock in a forked child: closing the file there takes nothing from us."""
        self._close()
        self.on_fork()

    def _close(self) -> None:
        _held.discard(self)
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Moved(StoreError):
    """The folder of a run is no longer where it was when the run began."""


def _nothing() -> None: ...


def is_locked(folder: Path) -> bool:
    """Whether somebody is writing the run at this moment."""
    try:
        file = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False


def _take(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
    except BlockingIOError as error:
        holder = _holder(file)
        os.close(file)
        raise ConflictError(
            f"{path.parent}: another process (pid {holder}) is writing this run. "
            "Wait for it, stop it, or choose another --out."
        ) from error
    except OSError:  # a file system without locks, or without room
        os.close(file)
        raise
    return file


def _holder(file: int) -> str:
    """Who has the lock: who wrote its name there, unless another has outlived it."""
    named = os.pread(file, 32, 0).decode(errors="replace").strip()
    having = _processes_with(file)
    if not having or named in having:
        return named or "unknown"
    return ", ".join(having)


def _processes_with(file: int) -> list[str]:
    """Processes that have the same file open, where the system tells (Linux)."""
    wanted, found = os.fstat(file), list[str]()
    mine = Path(f"/proc/{os.getpid()}/fd/{file}")
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(_is_same(path, wanted) for path in (process / "fd").iterdir() if path != mine):
                found.append(process.name)
    return sorted(found, key=int)


def _is_same(path: Path, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), wanted)
    except OSError:
        return False


_held: weakref.WeakSet[RunLock] = weakref.WeakSet()


def _forked() -> None:
    for lock in list(_held):
        lock.left_in_child()


os.register_at_fork(after_in_child=_forked)
