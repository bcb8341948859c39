"""Tags and a note on a run, beside it in a file that only grows.

Everybody's edit is a line. Two people who edit at once both keep what they wrote: a note that was
changed meanwhile is put under the new one, and no line is ever taken away.
"""

from __future__ import annotations

import datetime as dt
import fcntl
import re
from pathlib import Path

import msgspec

from mmrag.errors import StoreError

FILE = "notes.jsonl"
MOST_TAGS, LONGEST_TAG, LONGEST_NOTE = 12, 40, 4000


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What people have said of a run."""

    tags: tuple[str, ...] = ()
    note: str = ""
    edition: int = 0
    """How often it was changed; who saves says which one was seen."""


class _Line(msgspec.Struct):
    at: str
    tags: list[str]
    note: str


_LINE = msgspec.json.Decoder(_Line)


def read_note(folder: Path) -> Note:
    """The latest tags and note of a run; a line that cannot be read is passed over."""
    try:
        lines = (folder / FILE).read_bytes().splitlines()
    except OSError:
        return Note()
    for line in reversed(lines):
        try:
            found = _LINE.decode(line)
        except msgspec.MsgspecError:
            continue
        return Note(tags=tuple(found.tags[:MOST_TAGS]), note=found.note, edition=len(lines))
    return Note()


def write_note(folder: Path, tags: str, note: str, seen: int) -> Note:
    """Save what was written over the edition that was `seen`; both stay if there is a newer one."""
    if not folder.is_dir():
        raise StoreError(f"{folder} is gone, so nothing can be noted of it.")
    wanted = _tags(tags)
    note = note.strip()[:LONGEST_NOTE]
    try:
        with (folder / FILE).open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            now = read_note(folder)
            if now.edition != seen:
                wanted = tuple(dict.fromkeys((*now.tags, *wanted)))[:MOST_TAGS]
                if now.note and now.note not in note:
                    note = f"{note}\n\n{now.note}".strip()
            at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
            line = _Line(at=at, tags=list(wanted), note=note)
            file.write(msgspec.json.encode(line) + b"\n")
    except OSError as error:
        raise StoreError(
            f"{folder / FILE}: cannot be written ({error.strerror}); make the folder writable."
        ) from error
    return read_note(folder)


def _tags(text: str) -> tuple[str, ...]:
    found = (" ".join(one.split())[:LONGEST_TAG] for one in re.split(r"[,\n]", text))
    return tuple(dict.fromkeys(filter(None, found)))[:MOST_TAGS]
