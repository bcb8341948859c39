"""A run's repeats: the same run again, beside it, so that chance can be told from skill."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from simulator.store.run_store import RunReader

FOLDER = "repeats"


def repeat_folder(run: Path, number: int) -> Path:
    """Where the second, third, … time lies; the first is the run itself."""
    return run / FOLDER / str(number)


def repeat_folders(run: Path) -> list[Path]:
    """The repeats that have begun, in order."""
    found = [path for path in (run / FOLDER).glob("[0-9]*") if (path / "run.sqlite").is_file()]
    return sorted(found, key=lambda path: int(path.name))


def all_alike(run: Path) -> int:
    """How often a run was held, if not one reply differs between two times; else 0."""
    folders = [run, *repeat_folders(run)]
    alike = len(folders) > 1 and all(_same(run, other) for other in folders[1:])
    return len(folders) if alike else 0


def _same(one: Path, other: Path) -> bool:
    with RunReader(one) as first, RunReader(other) as second:
        return all(
            a is not None
            and b is not None
            and (a.reply and a.reply.text) == (b.reply and b.reply.text)
            for a, b in zip_longest(first.results(), second.results())
        )
