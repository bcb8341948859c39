"""What the lab does, without Gradio: degrade one picture and say what happened."""

from __future__ import annotations

import io
import json
import re
import shutil
import tempfile
import threading
import weakref
import zipfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import UsageError
from mmrag.files.images import LazyImage, data_uri, jpeg
from mmrag.records import Box
from ui.offered_pictures import OfferedPicture
from ui.replay.traceview import flat
from ui.views.box_from_tap import box_at

SHOWN = 1280
"""Longest side of what is sent to the browser; the download has the full size."""


class StepView(msgspec.Struct, frozen=True):
    """One kind: what was wanted of it and what came of it."""

    name: str
    severity: int
    measure: str
    """What is compared; empty where a step is fixed by its angle."""
    target: float | None
    reached: float | None
    clamped: bool


class LabPicture(msgspec.Struct, frozen=True, kw_only=True):
    """What the lab shows and packs."""

    spec: str
    before: str
    after: str
    """Both as data URLs, so that nothing of an upload lies where another visitor could ask."""
    size: tuple[int, int]
    box: Box | None
    """Focus in per cent of the picture before: left, top, width, height."""
    box_after: Box | None
    """Where it is in the degraded picture, which may be turned or cut."""
    matrix: tuple[float, ...]
    """Pixels of the picture before → of the degraded one, row by row."""
    note: str = ""
    """What was not done as it was asked; empty where all was."""
    figures: tuple[tuple[str, str], ...]
    steps: tuple[StepView, ...]
    record: tuple[tuple[str, str], ...]
    png: bytes
    sidecar: str
    file_name: str


def kinds() -> dict[str, tuple[str, ...]]:
    """Every kind with its variants, in the order of CRAG-MM."""
    from simulator.optics.degradation_spec import VARIANTS

    return VARIANTS


def degrade_picture(
    source: Path | OfferedPicture, spec: str, seed: int, focus: str = ""
) -> LabPicture:
    """Degrade a file or a sample about its focus, by a kind or by several at once."""
    from simulator.optics import DegradationSpec, degrade

    path = source.path if isinstance(source, OfferedPicture) else source
    image = LazyImage.from_path(path)
    before = image.pil()
    box = parse_box(focus) or (source.focus if isinstance(source, OfferedPicture) else None)
    spec = str(DegradationSpec.parse(spec or "clean"))
    done = degrade(image, spec, focus=box, key=f"lab/{seed}")
    record: dict[str, Any] = msgspec.to_builtins(done.record)
    from PIL import Image

    after = Image.fromarray(done.image)
    buffer = io.BytesIO()
    after.save(buffer, "PNG")
    name = re.sub(r"[^a-z0-9]+", "-", f"{spec}-seed-{seed}")
    return LabPicture(
        spec=spec,
        before=data_url(before),
        after=data_url(after),
        size=before.size,
        box=_percent(box, before.size),
        box_after=_percent(done.record.box, before.size) if box else None,
        matrix=done.record.matrix,
        note=_outside(box, before.size),
        figures=_figures(record),
        steps=tuple(_steps(record)),
        record=flat(record),
        png=buffer.getvalue(),
        sidecar=json.dumps(record, indent=2),
        file_name=name,
    )


class DownloadCache:
    """The latest downloads, each a picture with its record in one file.

    They lie in a temporary folder of their own, which goes when the app ends. Gradio copies a file
    when it offers it, so a few are enough.
    """

    def __init__(self, limit: int = 8) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mmrag-lab-"))
        self._limit = limit
        self._made: deque[Path] = deque()
        self._lock = threading.Lock()
        self._number = 0
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def put(self, done: LabPicture) -> Path:
        """Write one; the oldest makes room."""
        with self._lock:
            self._number += 1
            folder = self.folder / str(self._number)
            self._made.append(folder)
            gone = [self._made.popleft() for _ in range(len(self._made) - self._limit)]
        for old in gone:
            shutil.rmtree(old, ignore_errors=True)
        folder.mkdir()
        path = folder / f"{done.file_name}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{done.file_name}.png", done.png)
            archive.writestr(f"{done.file_name}.json", done.sidecar)
        return path


def parse_box(text: str) -> Box | None:
    """`left, top, right, bottom`; empty means a sample's own box, else the whole frame."""
    if not text.strip():
        return None
    numbers = re.findall(r"-?\d+(?:\.\d+)?", text)
    if len(numbers) != 4:
        raise UsageError(
            f"{text!r} is not a box: write left, top, right, bottom, e.g. 100,80,400,500"
        )
    left, top, right, bottom = (float(n) for n in numbers)
    if right <= left or bottom <= top:
        raise UsageError(f"the box {text!r} is inverted: right and bottom come after left and top.")
    return (left, top, right, bottom)


def _figures(record: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The few numbers that matter first, wherever in the record they stand."""
    dark = any(step["kind"] == "low-light" for step in record.get("steps", ()))
    light = _EQUAL_LIGHT if dark else ""
    wanted = {
        "ssim_crop": f"{_SIMILARITY}{light}",
        "ssim_frame": f"SSIM of the frame{light}",
        "visible": "thing still visible",
        "covered": "thing covered",
        "zoom": "zoom",
    }
    rows: list[tuple[str, str]] = []
    for key, label in wanted.items():
        value = record.get(key)
        if isinstance(value, int | float):
            rows.append((label, f"{value:.2f}"))
    return tuple(rows)


_SIMILARITY = "SSIM of the thing"
_EQUAL_LIGHT = " at equal brightness"
_MEASURES = {
    "truncated": "visible",
    "occluded": "covered",
    "rotated": "angle",
    "jpeg": "quality",
    "wb": "colour temperature",
    "low-light": f"{_SIMILARITY}{_EQUAL_LIGHT}",
}
"""What a level is a level of, where it is not the ladder's similarity as it stands."""


def _steps(record: dict[str, Any]) -> Iterator[StepView]:
    for step in record.get("steps", ()):
        name = step["kind"] + (f":{step['variant']}" if step.get("variant") else "")
        yield StepView(
            name, step["severity"], _MEASURES.get(step["kind"], _SIMILARITY), step.get("target"),
            step.get("reached"), bool(step.get("clamped")),
        )  # fmt: skip


def find_thing(
    source: Path | OfferedPicture, x: float, y: float
) -> tuple[int, int, int, int] | None:
    """The box, in pixels, of what lies at a point given in shares of the picture's sides."""
    path = source.path if isinstance(source, OfferedPicture) else source
    picture = LazyImage.from_path(path).pil()
    x, y = (min(max(one, 0.0), 1.0) for one in (x, y))
    found = box_at(picture, x * picture.width, y * picture.height)
    if found is None:
        return None
    left, top, right, bottom = (round(edge) for edge in found)
    return left, top, right, bottom


def _outside(box: Box | None, size: tuple[int, int]) -> str:
    """Words for a box that lies outside the picture: the whole picture is degraded instead."""
    inside = _percent(box, size)
    if box is None or inside is None or (inside[2] > 0 and inside[3] > 0):
        return ""
    return (
        f"The focus box {', '.join(f'{v:g}' for v in box)} lies outside the picture of "
        f"{size[0]} × {size[1]} pixels, so the whole picture was taken for the thing."
    )


def _percent(box: Box | None, size: tuple[int, int]) -> Box | None:
    if box is None:
        return None
    width, height = size
    left, right = max(box[0], 0), min(box[2], width)
    top, bottom = max(box[1], 0), min(box[3], height)
    return (
        100 * left / width,
        100 * top / height,
        100 * max(right - left, 0) / width,
        100 * max(bottom - top, 0) / height,
    )


def data_url(image: Any) -> str:
    """A picture inside the page, scaled down to what a screen shows."""
    return data_uri(jpeg(image, 90, side=SHOWN))
