"""A run's repeats: the same run again, beside it, so that chance can be told from skill."""

from __future__ import annotations

from pathlib import Path

FOLDER = "repeats"


def repeat_folder(run: Path, number: int) -> Path:
    """Where the second, third, … time lies; the first is the run itself."""
    return run / FOLDER / str(number)


def repeat_folders(run: Path) -> list[Path]:
    """The repeats that have begun, in order."""
    found = [path for path in (run / FOLDER).glob("[0-9]*") if (path / "run.sqlite").is_file()]
    return sorted(found, key=lambda path: int(path.name))
