"""Which pictures a command is about: a file, a folder or a data set, and their boxes."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from pathlib import Path

from mmrag.errors import ConflictError, DataError, MmragError, UsageError
from mmrag.files.images import FORMATS, MAX_BYTES
from mmrag.records import Box, Session
from simulator.optics.files.degraded_folder import SIDECAR, PictureItem

Boxes = dict[str, tuple[Box | None, str]]
"""Picture's name → its box, and what is wrong with it."""

_CORNERS = ("x0", "y0", "x1", "y1")

SpecOf = Callable[[str], str]


def items_from_path(
    source: str,
    target: Path,
    spec_of: Callable[[list[str]], SpecOf],
    boxes: Boxes,
    focus: Box | None,
) -> tuple[list[PictureItem], Path]:
    """Items of a file or a folder (with its subfolders), and the sidecar's path."""
    path, suffixes = Path(source), _suffixes()
    root = path if path.is_dir() else path.parent
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    files = [p for p in files if p.is_file() and p.suffix.lower() in suffixes]
    if not files:
        raise UsageError(f"{source}: no pictures there; give a file, a folder or a data set.")
    there = target.resolve()
    if there.is_relative_to(path.resolve()):  # outputs would be inputs of the next time
        raise ConflictError(f"{target} lies inside {path}; choose a DST outside of SRC.")
    if there == root.resolve():
        raise ConflictError(f"{target} is where the source lies; choose another DST.")
    found = [(name := p.relative_to(root).as_posix(), p, target / name) for p in files]
    return _items(found, spec_of, boxes, focus), target / SIDECAR


def items_from_sessions(
    sessions: Iterable[Session], target: Path, spec_of: Callable[[list[str]], SpecOf]
) -> tuple[list[PictureItem], Path]:
    """Items of a data set: each session's picture, where it has one, about its own focus."""
    found = [session for session in sessions if session.capture is not None]
    chosen = spec_of([session.id for session in found])
    items: list[PictureItem] = []
    for session in found:
        capture = session.capture
        assert capture is not None
        try:
            data, problem = capture.image.data, ""
        except MmragError as error:
            data, problem = b"", str(error)
        suffix = ".png" if data.startswith(b"\x89PNG") else ".jpg"
        safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in session.id).lstrip(".")
        items.append(
            PictureItem(
                name=session.id, target=target / f"{safe or 'session'}{suffix}",
                spec=chosen(session.id), data=data, focus=capture.focus, polygon=capture.polygon,
                problem=problem,
            )
        )  # fmt: skip
    return items, target / SIDECAR


def parse_focus(text: str) -> Box:
    """`left,top,right,bottom` in pixels."""
    try:
        box = _box([float(part) for part in text.split(",")])
    except ValueError:
        raise UsageError(f"--focus {text}: write left,top,right,bottom in pixels.") from None
    if box[0] > box[2] or box[1] > box[3]:
        raise UsageError(f"--focus {text} is inverted: left,top,right,bottom in this order.")
    return box


def read_boxes(path: Path) -> Boxes:
    """Boxes of many pictures: a CSV with the columns file, x0, y0, x1, y1. A box that is inverted
    or no box spoils its own picture only."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path}: larger than {MAX_BYTES >> 20} MiB.")
        reader = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text ({error}).") from error
    if not {"file", *_CORNERS} <= set(reader.fieldnames or ()):
        raise DataError(f"{path}: line 1: the columns have to be file,x0,y0,x1,y1.")
    return {row["file"]: _checked(path, n, row) for n, row in enumerate(reader, 2)}


def _checked(path: Path, line: int, row: dict[str, str]) -> tuple[Box | None, str]:
    where = f"{row['file']}: {path}, line {line}"
    try:
        box = _box([float(row[corner]) for corner in _CORNERS])
    except (TypeError, ValueError):
        return None, f"{where}: no box of four finite numbers."
    if box[0] > box[2] or box[1] > box[3]:
        return None, f"{where}: the box {list(box)} is inverted; write left, top, right, bottom."
    return box, ""


def _box(values: list[float]) -> Box:
    if len(values) != 4 or not all(math.isfinite(v) for v in values):
        raise ValueError("a box is four finite numbers")
    return values[0], values[1], values[2], values[3]


def _items(
    found: list[tuple[str, Path, Path]],
    spec_of: Callable[[list[str]], SpecOf],
    boxes: Boxes,
    focus: Box | None,
) -> list[PictureItem]:
    chosen = spec_of([name for name, _, _ in found])
    items: list[PictureItem] = []
    for name, source, target in found:
        box, problem = boxes.get(name, (focus, ""))
        items.append(
            PictureItem(
                name=name, source=source, target=target, spec=chosen(name), focus=box,
                problem=problem,
            )
        )  # fmt: skip
    unknown = sorted(set(boxes) - {name for name, _, _ in found})
    if unknown and len(unknown) == len(boxes):
        raise UsageError(
            f"none of the {len(boxes)} names in the boxes file is among the pictures; "
            f"{unknown[0]!r} is not, {found[0][0]!r} is."
        )
    return items


def _suffixes() -> set[str]:
    from PIL import Image as pil

    pil.init()
    savable = {kind for kind in (*FORMATS, "MPO") if kind in pil.SAVE}
    return {end for end, kind in pil.registered_extensions().items() if kind in savable}
