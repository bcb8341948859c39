"""Pictures in files: degrade a folder with several processes, resume, and keep every record.

What `mmrag lab degrade` does. A broken file becomes one `data_error` line in the sidecar and the
others go on. Files appear whole or not at all.
"""

from __future__ import annotations

import glob
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

import cv2
import msgspec
import numpy as np

from mmrag.errors import ConflictError, DataError, MmragError
from mmrag.files.atomic import write_bytes
from mmrag.files.images import LazyImage
from mmrag.files.shards import Shard
from mmrag.records import Box, Json, Polygon
from simulator.optics.light.tone import Image
from simulator.optics.pipeline import degrade
from simulator.optics.record import Degraded, OutOfReach
from simulator.optics.spec import DegradationSpec

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


@dataclass(frozen=True)
class Settings:
    """What is alike for all items."""

    seed: int = 0
    control: bool = False
    out_of_reach: Literal["clamp", "reject"] = "clamp"


@dataclass
class FolderSummary:
    """How it went."""

    done: int = 0
    skipped: int = 0
    rejected: int = 0
    failed: list[str] = field(default_factory=list[str])


def degrade_files(
    items: list[PictureItem],
    sidecar: Path,
    settings: Settings,
    *,
    workers: int = 1,
    overwrite: bool = False,
    shard: Shard | None = None,
    on_done: Callable[[], None] = lambda: None,
) -> FolderSummary:
    """Do all items that are not done already. The bytes do not depend on `workers` or order.

    Those of a shard have their records in a file of their own, which is taken in when no shard is
    given.
    """
    before, theirs = _read_sidecar(sidecar), list[Path]()
    if shard is not None:
        items = [item for place, item in enumerate(items) if shard.has(place)]
        sidecar = _of_shard(sidecar, shard.name)
        before |= _read_sidecar(sidecar)
    else:
        stem = sidecar.with_name(glob.escape(sidecar.name))
        theirs = sorted(sidecar.parent.glob(_of_shard(stem, "[0-9]*-of-*").name))
        for path in theirs:
            before |= _read_sidecar(path)
    names = {item.name for item in items} if shard is not None else before.keys()
    summary = FolderSummary()
    todo: list[PictureItem] = []
    lines: dict[str, Json] = {}
    for item in items:
        known = before.get(item.name)
        if known is not None and _is_done(item, known, settings):
            lines[item.name] = known
            summary.skipped += 1
            on_done()
        else:
            todo.append(item)
    if not overwrite:
        _refuse_overwriting(todo, before, settings)
    sidecar.parent.mkdir(parents=True, exist_ok=True)
    with sidecar.open("a", encoding="utf-8") as log:
        # A claim on what may be half done if this process dies: the next one may replace it.
        log.writelines(
            _dump({"file": i.name, "job": _job(i, settings), "status": _STARTED}) + "\n"
            for i in todo
        )
        log.flush()
        for line in _results(todo, settings, workers):
            lines[line["file"]] = line
            log.write(_dump(line) + "\n")
            log.flush()
            _count(summary, line)
            on_done()
    # Whole at last: in the order of names, without lines of earlier attempts.
    kept = {**{name: before[name] for name in names & before.keys()}, **lines}
    _write(sidecar, "".join(_dump(kept[name]) + "\n" for name in sorted(kept)).encode())
    for path in theirs:
        path.unlink()
    return summary


def encode(image: Image, suffix: str) -> bytes:
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


def control_path(target: Path) -> Path:
    """Where the unrotated control of a target goes."""
    return target.with_name(f"{target.stem}.control{target.suffix}")


def run_item(item: PictureItem, settings: Settings) -> Json:
    """Degrade one picture and write it. Returns its line of the sidecar; never raises for data."""
    line: Json = {"file": item.name, "job": _job(item, settings)}
    try:
        if item.problem:
            raise DataError(item.problem)
        data = item.read()
        line["source_sha256"] = hashlib.sha256(data).hexdigest()
        done = _degraded(item, data, settings)
        spec = DegradationSpec.parse(item.spec)
        # Nothing to do means the very same file, not a new encoding of it.
        out = data if spec.is_identity else encode(done.image, item.target.suffix)
        _write(item.target, out)
        line["sha256"] = hashlib.sha256(out).hexdigest()
        if done.control is not None:
            _write(control_path(item.target), encode(done.control, item.target.suffix))
            line["control"] = control_path(item.target).name
        line["record"] = msgspec.to_builtins(done.record)
    except OutOfReach as error:
        line |= {"status": "rejected", "error": str(error)}
        line["record"] = msgspec.to_builtins(error.record)
    except MmragError as error:
        text = str(error)
        line |= {
            "status": "data_error",
            "error": text if item.name in text else f"{item.name}: {text}",
        }
    except OSError as error:
        line |= {"status": "data_error", "error": f"{item.name}: {error}"}
    return line


def _degraded(item: PictureItem, data: bytes, settings: Settings) -> Degraded:
    spec = DegradationSpec.parse(item.spec)
    rotated = any(step.kind == "rotated" and step.severity for step in spec.steps)
    return degrade(
        LazyImage.from_bytes(data, name=item.name),
        spec,
        item.focus,
        polygon=item.polygon,
        key=f"{settings.seed}/{item.name}",
        control=settings.control and rotated,
        out_of_reach=settings.out_of_reach,
    )


def _results(todo: list[PictureItem], settings: Settings, workers: int) -> Iterator[Json]:
    """Lines in the order in which they are finished. One process is one thread of OpenCV."""
    threads = cv2.getNumThreads()
    _prepare()
    try:
        if workers <= 1 or len(todo) <= 1:
            for item in todo:
                yield run_item(item, settings)
        else:
            yield from _shared(todo, settings, min(workers, len(todo)) - 1)
    finally:
        cv2.setNumThreads(threads)


def _shared(todo: list[PictureItem], settings: Settings, helpers: int) -> Iterator[Json]:
    """This process degrades too: it has started already, and would only wait for the others."""
    left = iter(todo)
    ready: SimpleQueue[Future[Json]] = SimpleQueue()

    def hand_out(_: object = None) -> None:
        # Also called in a thread of the pool, as soon as a helper has finished one. A pool that
        # takes no more is one that is ending, or broken, which the main thread learns by itself.
        with suppress(RuntimeError):
            if (item := next(left, None)) is not None:
                future = pool.submit(run_item, item, settings)
                future.add_done_callback(ready.put)
                future.add_done_callback(hand_out)

    with ProcessPoolExecutor(helpers, get_context("spawn"), _prepare) as pool:
        for _ in range(2 * helpers):  # one in work and one at hand
            hand_out()
        missing = len(todo)
        for item in left:
            yield run_item(item, settings)
            missing -= 1
            while not ready.empty():
                yield ready.get().result()
                missing -= 1
        for _ in range(missing):
            yield ready.get().result()


def _prepare() -> None:
    cv2.setNumThreads(1)
    # glibc keeps freed memory of sizes that it has seen freed before. Else every picture's planes
    # go back to the kernel and come again, page by page, which takes a fifth of the time.
    np.empty(31 << 20, np.uint8)


def _job(item: PictureItem, settings: Settings) -> str:
    """Everything but the source's bytes that decides what comes out."""
    from simulator.optics.streams import VERSION

    parts = [
        item.spec, item.focus, item.polygon, settings.seed, settings.control,
        settings.out_of_reach, VERSION, cv2.__version__, np.__version__, item.problem,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _is_done(item: PictureItem, line: Json, settings: Settings) -> bool:
    """Same job, same source, and the output is there as it was written."""
    if line.get("job") != _job(item, settings) or line.get("status") in (
        "data_error",
        _STARTED,
    ):
        return False
    try:
        if hashlib.sha256(item.read()).hexdigest() != line.get("source_sha256"):
            return False
        if line.get("status") == "rejected":
            return True
        if "control" in line and not control_path(item.target).is_file():
            return False
        return hashlib.sha256(item.target.read_bytes()).hexdigest() == line.get("sha256")
    except (OSError, MmragError):
        return False


def _refuse_overwriting(
    todo: list[PictureItem], before: dict[str, Json], settings: Settings
) -> None:
    for item in todo:
        line = before.get(item.name, {})
        if line.get("status") == _STARTED and line.get("job") == _job(item, settings):
            continue
        outputs = [item.target, *([control_path(item.target)] if settings.control else [])]
        for path in outputs:
            if path.exists():
                was = line.get("record", {}).get("spec")
                how = f" (made with {was})" if was else ""
                raise ConflictError(
                    f"{path} exists already{how} and is not what this command would keep. Choose "
                    "another DST, or say --overwrite. Nothing was written."
                )


def _of_shard(sidecar: Path, name: str) -> Path:
    return sidecar.with_name(f"{sidecar.stem}.{name}{sidecar.suffix}")


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
    elif line.get("status") == "rejected":
        summary.rejected += 1
    else:
        summary.done += 1


def _dump(line: Json) -> str:
    return json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, data, lasting=False)
