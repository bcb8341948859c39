"""A folder of pictures without questions: something to degrade, and to ask about."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import ConflictError, DataError, ImageError, UsageError
from mmrag.files.atomic import formula_safe_cell, write_text
from mmrag.files.images import LazyImage, size_of
from mmrag.records import Capture, Session

if TYPE_CHECKING:
    from simulator.datasets.read_options import ReadOptions

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

    def drop_unreadable(self) -> list[str]:
        """Keep the files that are pictures, not only called so; say why the others are none."""
        reasons: dict[Path, str] = {}
        for path in self.pictures:
            try:
                size_of(LazyImage.from_path(path).data, name=str(path))
            except ImageError as error:
                reasons[path] = str(error)
        self.pictures = [path for path in self.pictures if path not in reasons]
        if not self.pictures:
            raise DataError("\n".join(reasons.values()))
        return list(reasons.values())

    def write_questions(self, out: Path, turns: int) -> None:
        """A file to fill in: a row per picture of a CSV, or a line with so many turns of JSON
        lines, as the name ends. Never overwrites."""
        is_table = out.suffix.lower() == ".csv"
        if not is_table and out.suffix.lower() not in (".jsonl", ".ndjson"):
            raise UsageError(f"{out}: let its name end in .csv or .jsonl.")
        if is_table and turns > 1:
            raise UsageError(f"{out}: a row is one question; let the name end in .jsonl.")
        if out.exists():
            raise ConflictError(f"{out} exists already; fill it in, or choose another --out.")
        images = self._images_from(out)
        if is_table:
            text = io.StringIO()
            rows = csv.writer(text, lineterminator="\n")
            rows.writerow(["image", "question", "answer"])
            # a name may look like a formula to a spreadsheet; below a folder it does not
            rows.writerows(
                [image if formula_safe_cell(image) == image else f"./{image}", "", ""]
                for image in images
            )
            write_text(out, text.getvalue())
            return
        empty = [{"query": "", "references": [""]}] * turns
        lines = ({"image": image, "turns": empty} for image in images)
        told = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        write_text(out, told)

    def _images_from(self, out: Path) -> list[str]:
        root = out.absolute().parent
        if not self.folder.resolve().is_relative_to(root.resolve()):
            raise DataError(f"{out}: write it beside the pictures, in {self.folder}.")
        for path in self.pictures:
            if not path.resolve().is_relative_to(root.resolve()):
                raise DataError(
                    f"{path}: is a link, and lies outside of {root}; move the picture there."
                )
        names = [path.absolute().relative_to(root).as_posix() for path in self.pictures]
        for name in names:
            if any("\ud800" <= c <= "\udfff" for c in name):
                raise DataError(f"{name!r}: this picture's name is not UTF-8; rename it.")
        return names


def open_album(place: str, _reading: ReadOptions) -> Album:
    """`album:FOLDER`, or a folder that holds nothing but pictures."""
    folder = Path(place).absolute()
    if not folder.is_dir():
        raise DataError(f"{place}: is not a folder; an album is a folder of pictures.")
    return Album(folder)
