"""Pictures in files: degrade a folder with several processes, resume, and keep every record.

What `mmrag lab degrade` does. A broken file becomes one `data_error` line in the sidecar and the
others go on. Files appear whole or not at all.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np

from mmrag.errors import ConflictError, DataError, MmragError
from mmrag.files.atomic import write_bytes
from mmrag.files.images import LazyImage
from mmrag.records import Box, Json, Polygon
from simulator.optics.degradation_spec import DegradationSpec
from simulator.optics.light.srgb import Image
from simulator.optics.pipeline import degrade

SIDECAR = "degradations.jsonl"
"""Name of the file of records in a target folder."""


_STARTED = "started"


@dataclass(frozen=True)
class PictureItem:
    """One picture to degrade."""

    name: str
    """Its id: the path below the source folder, or the session's id."""
    target: Path
    spec: str
    source: Path | None = None
    data: bytes | None = None
    """The picture's bytes where it comes from a data set."""
    focus: Box | None = None
    polygon: Polygon | None = None
    problem: str = ""
    """Why it cannot be done, where that is known before its bytes are read (a box that is none)."""

    def read(self) -> bytes:
        """The source's bytes."""
        if self.data is not None:
            return self.data
        assert self.source is not None
        return LazyImage.from_path(self.source).data


@dataclass
class FolderSummary:
    """How it went."""

    done: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list[str])


def degrade_files(
    items: list[PictureItem],
    sidecar: Path,
    seed: int = 0,
    *,
    workers: int = 1,
    overwrite: bool = False,
    on_done: Callable[[], None] = lambda: None,
) -> FolderSummary:
    """Do all items that are not done already. The bytes do not depend on `workers` or order."""
    before = _read_sidecar(sidecar)
    summary = FolderSummary()
    todo: list[PictureItem] = []
    lines: dict[str, Json] = {}
    for item in items:
        known = before.get(item.name)
        if known is not None and _is_done(item, known, seed):
            lines[item.name] = known
            summary.skipped += 1
            on_done()
        else:
            todo.append(item)
    if not overwrite:
        _refuse_overwriting(todo, before, seed)
    sidecar.parent.mkdir(parents=True, exist_ok=True)
    with sidecar.open("a", encoding="utf-8") as log:
        # A claim on what may be half done if this process dies: the next one may replace it.
        log.writelines(
            _dump({"file": i.name, "job": _job(i, seed), "status": _STARTED}) + "\n" for i in todo
        )
        log.flush()
        for line in _results(todo, seed, workers):
            lines[line["file"]] = line
            log.write(_dump(line) + "\n")
            log.flush()
            _count(summary, line)
            on_done()
    # Whole at last: in the order of names, without lines of earlier attempts.
    kept = before | lines
    _write(sidecar, "".join(_dump(kept[name]) + "\n" for name in sorted(kept)).encode())
    return summary


def _encoded(image: Image, suffix: str) -> bytes:
    """A picture in the format that a file's ending names; lossless where the format can be."""
    from PIL import Image as pil

    options: dict[str, Any] = {}
    kind = pil.registered_extensions().get(suffix.lower(), "PNG")
    if kind in ("JPEG", "MPO"):
        kind, options = "JPEG", {"quality": 95, "subsampling": 0}
    elif kind == "WEBP":
        options = {"lossless": True}
    elif kind == "PNG":
        options = {"compress_level": 3}
    buffer = io.BytesIO()
    picture = pil.fromarray(image)
    if kind == "GIF":
        picture = picture.quantize(256)
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def _run_item(item: PictureItem, seed: int) -> Json:
    """Degrade one picture and write it. Returns its line of the sidecar; never raises for data."""
    line: Json = {"file": item.name, "job": _job(item, seed)}
    try:
        if item.problem:
            raise DataError(item.problem)
        data = item.read()
        line["source_sha256"] = hashlib.sha256(data).hexdigest()
        image, spec = LazyImage.from_bytes(data, name=item.name), DegradationSpec.parse(item.spec)
        done = degrade(image, spec, item.focus, polygon=item.polygon, key=f"{seed}/{item.name}")
        # Nothing to do means the very same file, not a new encoding of it.
        out = data if spec.is_identity else _encoded(done.image, item.target.suffix)
        _write(item.target, out)
        line["sha256"] = hashlib.sha256(out).hexdigest()
        line["record"] = msgspec.to_builtins(done.record)
    except (MmragError, OSError) as error:
        text = str(error)
        named = text if item.name in text else f"{item.name}: {text}"
        line |= {"status": "data_error", "error": named}
    return line


def _results(todo: list[PictureItem], seed: int, workers: int) -> Iterator[Json]:
    """Lines in the order of the items. One process is one thread of OpenCV."""
    work = partial(_run_item, seed=seed)
    if workers > 1 and len(todo) > 1:
        with ProcessPoolExecutor(min(workers, len(todo)), get_context("spawn"), _prepare) as pool:
            yield from pool.map(work, todo)
        return
    threads = cv2.getNumThreads()
    _prepare()
    try:
        yield from map(work, todo)
    finally:
        cv2.setNumThreads(threads)


def _prepare() -> None:
    cv2.setNumThreads(1)
    # glibc keeps freed memory of sizes that it has seen freed before. Else every picture's planes
    # go back to the kernel and come again, page by page, which takes a fifth of the time.
    np.empty(31 << 20, np.uint8)


def _job(item: PictureItem, seed: int) -> str:
    """Everything but the source's bytes that decides what comes out."""
    from simulator.optics.random_streams import VERSION

    parts = [
        item.spec, item.focus, item.polygon, seed, VERSION, cv2.__version__, np.__version__,
        item.problem,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _is_done(item: PictureItem, line: Json, seed: int) -> bool:
    """Same job, same source, and the output is there as it was written."""
    if line.get("job") != _job(item, seed) or line.get("status") in ("data_error", _STARTED):
        return False
    try:
        return hashlib.sha256(item.read()).hexdigest() == line.get(
            "source_sha256"
        ) and hashlib.sha256(item.target.read_bytes()).hexdigest() == line.get("sha256")
    except (OSError, MmragError):
        return False


def _refuse_overwriting(todo: list[PictureItem], before: dict[str, Json], seed: int) -> None:
    for item in todo:
        line = before.get(item.name, {})
        is_ours = line.get("status") == _STARTED and line.get("job") == _job(item, seed)
        if item.target.exists() and not is_ours:
            was = line.get("record", {}).get("spec")
            how = f" (made with {was})" if was else ""
            raise ConflictError(
                f"{item.target} exists already{how} and is not what this command would keep. "
                "Choose another DST, or say --overwrite. Nothing was written."
            )


def _read_sidecar(path: Path) -> dict[str, Json]:
    """Lines by name; the last one counts. A line cut off by a crash is as if it were not there."""
    found: dict[str, Json] = {}
    if path.is_file():
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if isinstance(line, dict) and isinstance(line.get("file"), str):
                found[line["file"]] = line
    return found


def _count(summary: FolderSummary, line: Json) -> None:
    if line.get("status") == "data_error":
        summary.failed.append(line["error"])
    else:
        summary.done += 1


def _dump(line: Json) -> str:
    return json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, data, lasting=False)
