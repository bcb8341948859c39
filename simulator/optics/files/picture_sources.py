"""Which pictures a command is about: a file, a folder, a glob or a data set, and their boxes."""

from __future__ import annotations

import csv
import glob
import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

from mmrag.errors import ConflictError, DataError, MmragError, UsageError
from mmrag.files.images import FORMATS, MAX_BYTES
from mmrag.records import Box, Polygon, Session
from simulator.optics.files.folders import SIDECAR, PictureItem

Boxes = dict[str, tuple[Box | None, Polygon | None, str]]
"""Picture's name → box, polygon, and what is wrong with them."""

SpecOf = Callable[[str], str]


def items_from_path(
    source: str,
    target: Path,
    spec_of: Callable[[list[str]], SpecOf],
    boxes: Boxes,
    focus: Box | None,
) -> tuple[list[PictureItem], Path]:
    """Items of a file, a folder (with its subfolders) or a glob, and the sidecar's path."""
    path = Path(source)
    if path.is_file():
        into_file = bool(target.suffix) and not target.is_dir()
        out = target if into_file else target / path.name
        if into_file and target.suffix.lower() != path.suffix.lower():
            raise UsageError(
                f"{target}: formats are kept; give it the ending {path.suffix} or name a folder."
            )
        _not_inside(target if not into_file else target.parent, None, [path], out)
        sidecar = target.with_name(f"{target.name}.jsonl") if into_file else target / SIDECAR
        return _items([(path.name, path, out)], spec_of, boxes, focus), sidecar
    if path.is_dir():
        root, files = path, sorted(p for p in path.rglob("*") if p.is_file())
    else:
        root = _glob_root(source)
        files = sorted(p for p in map(Path, glob.glob(source, recursive=True)) if p.is_file())  # noqa: PTH207
    suffixes = _suffixes()
    files = [p for p in files if p.suffix.lower() in suffixes]
    if not files:
        raise UsageError(
            f"{source}: no pictures there; give a file, a folder, a glob or a data set."
        )
    _not_inside(target, root, files, None)
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
    """Boxes of many pictures: `.json` {name: box}, `.jsonl` {file, box, polygon}, `.csv`.

    A CSV has the columns file, x0, y0, x1, y1. A box that is inverted or no box spoils its own
    picture only.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path}: larger than {MAX_BYTES >> 20} MiB.")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text ({error}).") from error
    rows: list[tuple[int, Any, Any, Any]] = []
    if path.suffix.lower() == ".csv":
        reader = csv.DictReader(text.splitlines())
        if not {"file", "x0", "y0", "x1", "y1"} <= set(reader.fieldnames or ()):
            raise DataError(f"{path}: line 1: the columns have to be file,x0,y0,x1,y1.")
        for n, row in enumerate(reader, 2):
            rows.append((n, row["file"], [row[c] for c in ("x0", "y0", "x1", "y1")], None))
    elif path.suffix.lower() == ".jsonl":
        for n, line in enumerate(text.splitlines(), 1):
            if line.strip():
                entry = _json(line, path, n)
                if not isinstance(entry, dict) or "file" not in entry:
                    raise DataError(f'{path}: line {n}: write {{"file": …, "box": […]}}.')
                rows.append((n, entry["file"], entry.get("box"), entry.get("polygon")))
    else:
        whole = _json(text, path, 1)
        if not isinstance(whole, dict):
            raise DataError(
                f"{path}: line 1: write one object of name → [left, top, right, bottom]."
            )
        rows = [(1, name, box, None) for name, box in cast("dict[str, Any]", whole).items()]
    return {str(name): _checked(path, n, name, box, polygon) for n, name, box, polygon in rows}


def _checked(
    path: Path, line: int, name: Any, box: Any, polygon: Any
) -> tuple[Box | None, Polygon | None, str]:
    try:
        focus = None if box is None else _box([float(v) for v in box])
        outline = None
        if polygon is not None:
            outline = tuple((float(x), float(y)) for x, y in polygon[:4096])
            if not all(math.isfinite(v) for point in outline for v in point):
                raise ValueError("not finite")
    except (TypeError, ValueError):
        return None, None, f"{name}: {path}, line {line}: {box!r} is no box of four finite numbers."
    if focus is not None and (focus[0] > focus[2] or focus[1] > focus[3]):
        return None, None, (
            f"{name}: {path}, line {line}: the box {list(focus)} is inverted; write left, top, "
            "right, bottom."
        )  # fmt: skip
    return focus, outline, ""


def _box(values: list[float]) -> Box:
    if len(values) != 4 or not all(math.isfinite(v) for v in values):
        raise ValueError("a box is four finite numbers")
    return values[0], values[1], values[2], values[3]


def _json(text: str, path: Path, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: line {line}: not JSON ({error}).") from error


def _items(
    found: list[tuple[str, Path, Path]],
    spec_of: Callable[[list[str]], SpecOf],
    boxes: Boxes,
    focus: Box | None,
) -> list[PictureItem]:
    chosen = spec_of([name for name, _, _ in found])
    items: list[PictureItem] = []
    for name, source, target in found:
        box, polygon, problem = boxes.get(name, (focus, None, ""))
        items.append(
            PictureItem(
                name=name, source=source, target=target, spec=chosen(name), focus=box,
                polygon=polygon, problem=problem,
            )
        )  # fmt: skip
    unknown = sorted(set(boxes) - {name for name, _, _ in found})
    if unknown and len(unknown) == len(boxes):
        raise UsageError(
            f"none of the {len(boxes)} names in the boxes file is among the pictures; "
            f"{unknown[0]!r} is not, {found[0][0]!r} is."
        )
    return items


def _not_inside(target: Path, root: Path | None, files: list[Path], out: Path | None) -> None:
    """Writing into the source would make outputs into inputs of the next time."""
    there = target.resolve()
    if root is not None and there.is_relative_to(root.resolve()):
        raise ConflictError(f"{target} lies inside {root}; choose a DST outside of SRC.")
    for path in files:
        if out is not None and out.resolve() == path.resolve():
            raise ConflictError(f"{out} is the source itself; choose another DST.")
        if there == path.resolve():
            raise ConflictError(f"{target} is one of the sources; choose another DST.")


def _glob_root(pattern: str) -> Path:
    """The folder above the first part with a wildcard."""
    parts: list[str] = []
    for part in Path(pattern).parts[:-1]:
        if any(c in part for c in "*?["):
            break
        parts.append(part)
    return Path(*parts) if parts else Path()


def _suffixes() -> set[str]:
    from PIL import Image as pil

    pil.init()
    savable = {kind for kind in (*FORMATS, "MPO") if kind in pil.SAVE}
    return {end for end, kind in pil.registered_extensions().items() if kind in savable}
