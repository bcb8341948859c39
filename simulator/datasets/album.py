"""A folder of pictures without questions: something to degrade, and to ask about."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import ConflictError, DataError
from mmrag.images import LazyImage
from mmrag.records import Capture, Session

if TYPE_CHECKING:
    from simulator.datasets.reading import Reading

ENDINGS = frozenset(
    {".jpg", ".jpeg", ".png", ".webp", ".avif", ".gif", ".tif", ".tiff", ".bmp", ".heic", ".heif"}
)
"""Endings of pictures' names; of those that cannot be read, `LazyImage` says why."""


class Album:
    """Sessions without turns, one per picture, named by its path in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pictures = [p for p in sorted(folder.rglob("*")) if p.suffix.lower() in ENDINGS]
        if not self.pictures:
            raise DataError(f"{folder}: no picture in it ({', '.join(sorted(ENDINGS))}).")

    @property
    def fingerprint(self) -> str:
        """An album is not run, so nothing needs to know it again."""
        return f"album-{len(self.pictures)}"

    def __len__(self) -> int:
        return len(self.pictures)

    def __iter__(self) -> Iterator[Session]:
        for path in self.pictures:
            capture = Capture(image=LazyImage.from_path(path), quality="unknown")
            yield Session(id=path.relative_to(self.folder).as_posix(), capture=capture, turns=())

    def write_questions(self, out: Path) -> None:
        """A CSV to fill in: a row per picture. Never overwrites."""
        if out.exists():
            raise ConflictError(f"{out} exists already; fill it in, or choose another --out.")
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["image", "question", "answer"])
        root = out.absolute().parent
        for path in self.pictures:
            if not path.resolve().is_relative_to(root.resolve()):
                raise DataError(f"{out}: write it beside the pictures, in {self.folder}.")
            rows.writerow([path.absolute().relative_to(root).as_posix(), "", ""])
        out.write_text(text.getvalue(), encoding="utf-8")


def open_album(place: str, reading: Reading) -> Album:
    """`album:FOLDER`, or a folder that holds nothing but pictures."""
    del reading
    folder = Path(place).absolute()
    if not folder.is_dir():
        raise DataError(f"{place}: is no folder; an album is a folder of pictures.")
    return Album(folder)
