"""Files that appear whole or not at all, and locks that end with the process that took them."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import threading
import time
import weakref
from collections.abc import Generator, Mapping
from pathlib import Path

import msgspec

from mmrag.errors import ConflictError, StoreError, UsageError


@contextlib.contextmanager
def atomic_path(path: Path, *, lasting: bool = True) -> Generator[Path]:
    """A temporary path that takes its name when everything written there is on the disk.

    What is not `lasting` (made again at will, or many small files) does not wait for the disk:
    it is whole after a crash of the process, but perhaps not after one of the machine.
    """
    temporary = Path(_temporary(path))
    try:
        yield temporary
        if lasting:
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
        if lasting:
            sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):  # what went wrong before is what must be told
            temporary.unlink()


def _temporary(path: Path) -> str:
    return f"{path.parent}/.{path.name}.{os.getpid()}-{threading.get_ident()}.tmp"


def sync_folder(folder: Path) -> None:
    """Flush a folder, so that renames inside it survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def clear_unfinished(folder: Path) -> None:
    """Remove what a killed process was writing. Only for whoever owns the folder."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes, *, lasting: bool = True) -> None:
    """A file, atomically; opened once, since runs keep a picture for every conversation."""
    write_all({path: data}, lasting=lasting)


def write_all(files: Mapping[Path, bytes], *, lasting: bool = True) -> None:
    """Several files, each of them atomically. The disk is waited for once all are written: it
    takes many at once in much less time than one by one."""
    opened: dict[Path, int] = {}
    names = {path: _temporary(path) for path in files}
    try:
        for path, data in files.items():
            file = os.open(names[path], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
            opened[path] = file
            left = memoryview(data)
            while left:
                left = left[os.write(file, left) :]
            if lasting and len(files) > 1:
                _begin_to_flush(file)
        for path in files:
            file = opened.pop(path)
            try:
                if lasting:
                    os.fsync(file)
            finally:
                os.close(file)
        for path in files:
            os.replace(names[path], path)  # noqa: PTH105 - no second path is made for it
    except BaseException:
        for file in opened.values():
            os.close(file)
        for name in names.values():
            with contextlib.suppress(OSError):
                os.unlink(name)  # noqa: PTH108
        raise
    if lasting:
        for folder in dict.fromkeys(path.parent for path in files):
            sync_folder(folder)


def _begin_to_flush(file: int) -> None:
    """Have the disk begin on a file that is going to be synced, where the system can be told."""
    if hasattr(os, "posix_fadvise"):
        with contextlib.suppress(OSError):
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


def write_text(path: Path, text: str) -> None:
    """A file of UTF-8, atomically."""
    write_bytes(path, text.encode())


def formula_safe_cell(text: str) -> str:
    """A cell of a CSV that no spreadsheet takes for a formula; numbers stay as they are.

    >>> formula_safe_cell("=1+1"), formula_safe_cell("-1.5"), formula_safe_cell("a kettle")
    ("'=1+1", '-1.5', 'a kettle')
    """
    if not text.startswith(("=", "+", "-", "@", "\t", "\r")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


@contextlib.contextmanager
def folder_removed_on_error(folder: Path) -> Generator[None]:
    """A folder to fill: where that fails, one that was not there before goes again."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def write_json(path: Path, value: object) -> None:
    """A small JSON file, atomically."""
    data = msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=1)
    write_bytes(path, data + b"\n")


class FileLock:
    """Held from its making until `release`. A child that is forked meanwhile does not hold it.

    `busy` says what another holder does and what to do about it: "is writing this run. Wait …".
    Several may hold it as `shared`; then nobody has it alone.
    """

    def __init__(self, path: Path, busy: str, *, shared: bool = False) -> None:
        self.path = path
        self._file: int | None = _take(path, busy, shared)
        _held.add(self)

    @property
    def held(self) -> bool:
        """False after `release`, and in a forked child."""
        return self._file is not None

    def is_in_place(self) -> bool:
        """Whether the file is still where it was when the lock was taken."""
        assert self._file is not None
        return _is_same(self.path, os.fstat(self._file))

    def release(self) -> None:
        """Let others in, also where a child still has the file open."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._close()

    def left_in_child(self) -> None:
        """Forget the lock in a forked child: closing the file there takes nothing from us."""
        self._close()

    def _close(self) -> None:
        _held.discard(self)
        if self._file is not None:
            os.close(self._file)
            self._file = None


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock at this moment."""
    try:
        file = os.open(path, os.O_RDONLY)
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


OWNER = ".lock"
"""The file by which `lock_folder` holds a folder."""


@contextlib.contextmanager
def lock_folder(folder: Path, *, shared: bool = False) -> Generator[None]:
    """Be the only one who builds in a folder, which is made if need be; or one of those who share.
    Nobody builds alone where others share, and nobody shares with one who builds alone."""
    make_folder(folder)
    busy = "is building here. Wait for it, or choose another --out."
    try:
        lock = FileLock(folder / OWNER, busy, shared=shared)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        yield
    finally:
        lock.release()


def make_folder(folder: Path) -> None:
    """A folder that is there afterwards, or a word on why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def file_sha256(path: Path) -> str:
    """Content hash of a file, read in pieces."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}).") from error
    return digest.hexdigest()


def _unwritable(folder: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{folder}: cannot be made or written to ({error.strerror}); choose "
        "another folder, or make this one writable."
    )


def _take(path: Path, busy: str, shared: bool) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _wait_for_lookers(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        if not shared:
            os.ftruncate(file, 0)
            os.pwrite(file, str(os.getpid()).encode(), 0)
    except BlockingIOError as error:
        holder = _holder(file)
        os.close(file)
        raise ConflictError(f"{path.parent}: another process (pid {holder}) {busy}") from error
    except OSError:  # a file system without locks, or without room
        os.close(file)
        raise
    return file


def _wait_for_lookers(file: int, kind: int) -> None:
    """Take a lock. Who looks (`is_locked`) holds it for microseconds, so it is tried for 0.2 s."""
    for left in reversed(range(40)):
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if not left:
                raise
            time.sleep(0.005)


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


_held: weakref.WeakSet[FileLock] = weakref.WeakSet()


def _forked() -> None:
    for lock in list(_held):
        lock.left_in_child()


os.register_at_fork(after_in_child=_forked)
