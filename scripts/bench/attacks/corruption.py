"""Files of a run harmed as disks, copies and people do: an error of ours, or the right scores.

A finished run and one as a kill leaves it are harmed in every way below, with another place, bit
or page each time. Then the run is read whole, its pictures too, and opened by a writer. What is
never allowed: other scores, another picture, or a traceback.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from mmrag.errors import MmragError
from scripts.bench.attacks import Case, _runs
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

TRIES_EACH = 20
_PAGE = 4096


class _Site(NamedTuple):
    """What an attack has at hand."""

    folder: Path
    other: Path
    """Another run in the same state."""
    early: Path
    """The same run at an earlier moment."""
    rng: random.Random

    @property
    def main(self) -> Path:
        return self.folder / "run.sqlite"

    def beside(self, end: str) -> Path:
        return self.folder / f"run.sqlite{end}"


def cases(seed: int, work: Path) -> Iterator[Case]:
    """Every way once, then every way again with other dice."""
    rng = random.Random(seed)
    sites, others = _sites(work / "first", 0), _sites(work / "other", 1)
    right = {state: _runs.aggregate(whole) for state, (_, whole) in sites.items()}
    for number in range(TRIES_EACH):
        for way, (state, name, harm) in enumerate(WAYS):
            folder = work / f"harmed-{number}-{way}"
            early, whole = sites[state]
            shutil.copytree(whole, folder)
            other = others[state][1]
            try:
                harm(_Site(folder, other, early, rng))
                fault = _look(folder, whole, right[state])
            except Exception as error:
                fault = f"{type(error).__name__}: {error}"
            shutil.rmtree(folder, ignore_errors=True)
            yield Case(f"{state}: {name}", fault and f"{fault} (try {number})")


def _sites(work: Path, seed: int) -> dict[str, tuple[Path, Path]]:
    """State → the run early and whole; a killed run is the folder, copied while it was written."""
    live, killed, early = work / "run", work / "killed", work / "early"
    moments = iter(range(10_000))

    def told(_turns: int) -> None:
        if next(moments) == 6:
            shutil.copytree(live, early)

    def stage(name: str) -> None:
        if name == "close":
            shutil.copytree(live, killed)

    _runs.hold(live, seed=seed, told=told, stage=stage)
    return {"finished": (early, live), "killed": (early, killed)}


def _look(folder: Path, whole: Path, right: bytes) -> str | None:
    """Read everything as `score`, `show` and the app do; then open it as `resume` does."""
    for writing in (False, True):
        try:
            if writing:
                RunStore(folder).close()
            if _runs.aggregate(folder) != right:
                return "other scores" + " after a writer" * writing
            with RunReader(folder) as run, RunReader(whole) as before:
                for session, same in zip(run.sessions(), before.sessions(), strict=True):
                    try:
                        changed = session.capture.image.data != same.capture.image.data
                    except MmragError:
                        continue
                    if changed:
                        return "another picture"
        except MmragError:
            continue
    return None


# -- bytes of a file


def _edit(path: Path, change: Callable[[bytearray], bytes | bytearray]) -> None:
    path.write_bytes(change(bytearray(path.read_bytes())))


def _flip(path: Path, rng: random.Random, bits: int = 1, start: int = 0, end: int = 0) -> None:
    def change(data: bytearray) -> bytearray:
        for _ in range(bits):
            data[rng.randrange(start, end or len(data))] ^= 1 << rng.randrange(8)
        return data

    _edit(path, change)


def _overwrite(path: Path, rng: random.Random, data: bytes, step: int = _PAGE) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(rng.randrange(max(1, size // step)) * step)
        file.write(data)


def _cut(path: Path, size: int) -> None:
    os.truncate(path, max(0, size))


def _swap(path: Path, rng: random.Random, header: int, step: int) -> None:
    def change(data: bytearray) -> bytearray:
        places = range(header, len(data) - step + 1, step)
        a, b = rng.sample(list(places), 2)
        data[a : a + step], data[b : b + step] = data[b : b + step], data[a : a + step]
        return data

    _edit(path, change)


def _double(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    page = rng.randrange(len(data) // _PAGE) * _PAGE
    _overwrite(path, rng, data[page : page + _PAGE])


def _size(path: Path) -> int:
    return path.stat().st_size


def _sql(site: _Site, *statements: str) -> None:
    db = sqlite3.connect(site.main, isolation_level=None)
    try:
        for statement in statements:
            db.execute(statement)
    finally:
        db.close()


def _picture(site: _Site) -> Path:
    return site.rng.choice(sorted(p for p in (site.folder / "images").rglob("*") if p.is_file()))


def _exchange_pictures(site: _Site) -> None:
    one, two = _picture(site), _picture(site)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def _replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _remove(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _frames_lost(site: _Site) -> None:
    wal, frame = site.beside("-wal"), _PAGE + 24
    frames = (_size(wal) - 32) // frame
    _cut(wal, 32 + frame * site.rng.randrange(frames))


def _journal(site: _Site, magic: bytes) -> None:
    noise = site.rng.randbytes(_PAGE)
    site.beside("-journal").write_bytes(magic + b"\0\0\0\1" + noise)


_MAGIC = bytes.fromhex("d9d505f920a163d7")

_ON_MAIN: dict[str, Callable[[_Site], object]] = {
    "a bit": lambda s: _flip(s.main, s.rng),
    "64 bits": lambda s: _flip(s.main, s.rng, 64),
    "a bit of the header": lambda s: _flip(s.main, s.rng, 1, 0, 100),
    "a bit of the schema": lambda s: _flip(s.main, s.rng, 1, 100, _PAGE),
    "a page zeroed": lambda s: _overwrite(s.main, s.rng, bytes(_PAGE)),
    "a sector zeroed": lambda s: _overwrite(s.main, s.rng, bytes(512), 512),
    "a page of noise": lambda s: _overwrite(s.main, s.rng, s.rng.randbytes(_PAGE)),
    "two pages exchanged": lambda s: _swap(s.main, s.rng, 0, _PAGE),
    "a page over another": lambda s: _double(s.main, s.rng),
    "cut anywhere": lambda s: _cut(s.main, s.rng.randrange(_size(s.main))),
    "cut to whole pages": lambda s: _cut(
        s.main, s.rng.randrange(_size(s.main) // _PAGE) * _PAGE
    ),
    "the last byte gone": lambda s: _cut(s.main, _size(s.main) - 1),
    "emptied": lambda s: _cut(s.main, 0),
    "noise appended": lambda s: _edit(s.main, lambda d: d + s.rng.randbytes(5000)),
    "a byte inserted": lambda s: _edit(
        s.main, lambda d: d[: (at := s.rng.randrange(len(d)))] + b"x" + d[at:]
    ),
    "copied as text": lambda s: _edit(s.main, lambda d: d.replace(b"\n", b"\r\n")),
    "copied in seven bits": lambda s: _edit(s.main, lambda d: bytes(b & 127 for b in d)),
    "half a download": lambda s: _edit(
        s.main, lambda d: d[: len(d) // 2] + bytes(len(d) - len(d) // 2)
    ),
    "a folder in its place": lambda s: _replace_by_folder(s.main),
}  # fmt: skip

_ON_PICTURES: dict[str, Callable[[_Site], object]] = {
    "a picture cut": lambda s: _cut(p := _picture(s), s.rng.randrange(_size(p))),
    "a bit of a picture": lambda s: _flip(_picture(s), s.rng),
    "pictures exchanged": _exchange_pictures,
    "a picture gone": lambda s: _remove(_picture(s)),
    "all pictures gone": lambda s: shutil.rmtree(s.folder / "images"),
}

_ON_FINISHED: dict[str, Callable[[_Site], object]] = {
    "a status changed": lambda s: _sql(
        s, f"UPDATE turns SET status = 'timeout' WHERE rowid = {s.rng.randint(1, 20)}"
    ),
    "a verdict gone": lambda s: _sql(
        s, f"DELETE FROM verdicts WHERE rowid = {s.rng.randint(1, 20)}"
    ),
    "a session gone": lambda s: _sql(
        s, f"DELETE FROM sessions WHERE rowid = {s.rng.randint(1, 8)}"
    ),
    "a session twice": lambda s: _sql(
        s, "INSERT INTO sessions SELECT 99, session_id || 'x', degradation, record FROM sessions"
    ),
    "the judge renamed": lambda s: _sql(
        s, "UPDATE meta SET value = CAST('\"no\"' AS BLOB) WHERE key = 'judge'"
    ),
    "verdicts turned round": lambda s: _sql(
        s, "UPDATE verdicts SET turn_index = turn_index + 10",
        "UPDATE verdicts SET turn_index = 11 - turn_index WHERE turn_index < 12",
        "UPDATE verdicts SET turn_index = turn_index - 10 WHERE turn_index >= 12",
    ),
    "the tally gone": lambda s: _sql(s, "DELETE FROM meta WHERE key = 'tally'"),
    "a table gone": lambda s: _sql(s, "DROP TABLE verdicts"),
    "an index gone": lambda s: _sql(s, "DROP INDEX sessions_in_order"),
    "noise as -wal": lambda s: s.beside("-wal").write_bytes(s.rng.randbytes(30_000)),
    "another run's -wal": lambda s: shutil.copy(
        s.other.parent / "killed" / "run.sqlite-wal", s.folder
    ),
    "its own earlier -wal": lambda s: shutil.copy(s.early / "run.sqlite-wal", s.folder),
    "noise as -journal": lambda s: _journal(s, b"noise..."),
    "a -journal like a real one": lambda s: _journal(s, _MAGIC),
    "another run's count": lambda s: shutil.copy(
        s.other.parent / "killed" / "run.sqlite-commits", s.folder
    ),
    "its main file of an earlier moment": lambda s: shutil.copy(
        s.early / "run.sqlite", s.folder
    ),
    "noise as lock": lambda s: (s.folder / "lock").write_bytes(s.rng.randbytes(99)),
}  # fmt: skip

_ON_KILLED: dict[str, Callable[[_Site], object]] = {
    "the -wal gone": lambda s: _remove(s.beside("-wal")),
    "the -wal and its index gone": lambda s: _remove(s.beside("-wal"), s.beside("-shm")),
    "only run.sqlite and images left": lambda s: _remove(
        s.beside("-wal"), s.beside("-shm"), s.beside("-commits")
    ),
    "the -wal emptied": lambda s: _cut(s.beside("-wal"), 0),
    "the -wal cut anywhere": lambda s: _cut(
        s.beside("-wal"), s.rng.randrange(_size(s.beside("-wal")) - 1)
    ),
    "frames of the -wal lost": _frames_lost,
    "a bit of the -wal": lambda s: _flip(s.beside("-wal"), s.rng),
    "a sector of the -wal zeroed": lambda s: _overwrite(
        s.beside("-wal"), s.rng, bytes(512), 512
    ),
    "frames of the -wal exchanged": lambda s: _swap(s.beside("-wal"), s.rng, 32, _PAGE + 24),
    "another run's -wal": lambda s: shutil.copy(s.other / "run.sqlite-wal", s.folder),
    "another run's -wal and index": lambda s: [
        shutil.copy(s.other / f"run.sqlite{end}", s.folder) for end in ("-wal", "-shm")
    ],
    "its own earlier -wal": lambda s: shutil.copy(s.early / "run.sqlite-wal", s.folder),
    "noise as -shm": lambda s: s.beside("-shm").write_bytes(s.rng.randbytes(32_768)),
    "the -shm gone": lambda s: _remove(s.beside("-shm")),
    "the count gone": lambda s: _remove(s.beside("-commits")),
    "the count emptied": lambda s: _cut(s.beside("-commits"), 0),
    "a bit of the count": lambda s: _flip(s.beside("-commits"), s.rng),
    "another run's count": lambda s: shutil.copy(s.other / "run.sqlite-commits", s.folder),
    "another run's main file": lambda s: shutil.copy(s.other / "run.sqlite", s.folder),
}  # fmt: skip

WAYS = [
    *(("finished", f"run.sqlite, {name}", harm) for name, harm in _ON_MAIN.items()),
    *(("finished", name, harm) for name, harm in (_ON_PICTURES | _ON_FINISHED).items()),
    *(("killed", f"run.sqlite, {name}", harm) for name, harm in _ON_MAIN.items()),
    *(("killed", name, harm) for name, harm in _ON_KILLED.items()),
]
"""State of the run, what is done to it, and what does it."""
