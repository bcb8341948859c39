"""People's verdicts on the replies of a run, in a file beside it that only ever grows.

A run has one writer and is checked row by row, so people do not write into it: each verdict is one
line at the end of `human_verdicts.jsonl`, appended under a lock and synced before it counts. So two
people at once lose nothing, a judge's verdict is never touched, and a run of any age can be read.
"""

from __future__ import annotations

import datetime as dt
import errno
import fcntl
import hashlib
import os
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from mmrag.errors import StoreError, UsageError
from mmrag.files.atomic import sync_folder
from mmrag.records import Record, decode_as, encode
from simulator.store import store_schema

FILE = "human_verdicts.jsonl"
SCHEMA = 1
"""Version of a line. A line of a newer one is left alone and counted as unreadable."""

MAX_NOTE = 2_000
MAX_NAME = 60
MAX_BYTES = 64 << 20
"""Of the whole file: hundreds of thousands of verdicts."""

Key = tuple[str, str, int]
"""Session id, degradation, turn index."""


class HumanOutcome(StrEnum):
    """What a person says of a reply."""

    RIGHT = "right"
    WRONG = "wrong"
    MISSING = "missing"
    UNSURE = "unsure"
    WITHDRAWN = "withdrawn"
    """Takes back what the same person said before."""

    @property
    def outcome(self) -> str:
        """In the judge's words: correct, incorrect or missing; empty where nothing is decided."""
        words = {"right": "correct", "wrong": "incorrect", "missing": "missing"}
        return words.get(self.value, "")


class HumanVerdict(Record, frozen=True, kw_only=True):
    """One person's word on one reply. A later one of the same person takes its place."""

    schema: int
    session_id: str
    degradation: str
    turn_index: int
    said: HumanOutcome
    person: str
    at: str
    """When, in UTC."""
    reply: str
    """Fingerprint of the reply: a turn that is asked anew has a reply nobody has read."""
    note: str = ""

    @property
    def key(self) -> Key:
        """The turn it is about."""
        return (self.session_id, self.degradation, self.turn_index)


class Log(NamedTuple):
    """All that was ever said of a run."""

    verdicts: tuple[HumanVerdict, ...]
    unreadable: int
    """Lines that are damaged, or of a newer version."""


def fingerprint(reply: str) -> str:
    """By which a verdict knows the reply that it is about."""
    return hashlib.sha256(reply.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def make_verdict(
    key: Key, said: HumanOutcome | str, *, person: str, reply: str, note: str = ""
) -> HumanVerdict:
    """A verdict of this moment, its texts cut to what the file takes."""
    if said not in set(HumanOutcome):
        raise UsageError(f"{said!r} is not a verdict; say {', '.join(HumanOutcome)}.")
    name = " ".join(_writable(person).split())[:MAX_NAME]
    if not name:
        raise UsageError("A verdict needs a name: say whose it is.")
    return HumanVerdict(
        schema=SCHEMA,
        session_id=key[0],
        degradation=key[1],
        turn_index=key[2],
        said=HumanOutcome(said),
        person=name,
        at=dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
        reply=fingerprint(reply),
        note=_writable(note).strip()[:MAX_NOTE],
    )


def check_there(folder: Path) -> None:
    """Raise where the run is gone: a verdict must not make a folder of its own."""
    if not (folder / store_schema.FILE).is_file():
        raise StoreError(f"{folder}: the run is no longer there, so the verdict was not kept.")


def append(folder: Path, verdict: HumanVerdict) -> None:
    """Keep a verdict. It is on the disk when this returns, or `StoreError` says why not."""
    path = folder / FILE
    check_there(folder)
    line = encode(verdict) + b"\n"
    try:
        is_new = not path.exists()
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file).st_size
            if size + len(line) > MAX_BYTES:
                raise StoreError(
                    f"{path}: holds {MAX_BYTES >> 20} MB already, so the verdict was not kept. "
                    "Export them and move the file away."
                )
            if size and os.pread(file, 1, size - 1) != b"\n":  # a line that was cut by a crash
                line = b"\n" + line
            if os.write(file, line) != len(line):
                os.ftruncate(file, size)
                raise OSError(errno.ENOSPC, "the disk is full")
            os.fsync(file)
            if not os.fstat(file).st_nlink:
                raise StoreError(f"{folder}: the run was removed; the verdict was not kept.")
        finally:
            os.close(file)
        if is_new:
            sync_folder(folder)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror}), so the verdict was not kept. Make the "
            "run's folder writable, or work on a copy of it."
        ) from error


def read_log(folder: Path) -> Log:
    """Everything that was said, in the order it was said. A damaged line costs only itself."""
    path = folder / FILE
    try:
        if path.stat().st_size > MAX_BYTES:
            raise StoreError(f"{path}: larger than {MAX_BYTES >> 20} MB; it is not a file of ours.")
        data = path.read_bytes()
    except FileNotFoundError:
        return Log((), 0)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}).") from error
    found: list[HumanVerdict] = []
    unreadable = 0
    for line in data.split(b"\n")[:-1]:  # what follows the last one is still being written
        if not line:
            continue
        try:
            verdict = decode_as(HumanVerdict, line)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            unreadable += 1
            continue
        if verdict.schema == SCHEMA:
            found.append(verdict)
        else:
            unreadable += 1
    return Log(tuple(found), unreadable)


def _writable(text: str) -> str:
    """Without the half characters that no file can hold."""
    return text.encode("utf-8", "replace").decode()
