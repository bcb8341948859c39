"""Reading what is printed in a picture: RapidOCR, whose models come with its package."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mmrag.errors import Unavailable
from mmrag.records import Box, Record

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SIDE = 960
"""Pictures are scaled down to this before they are read."""

_GLANCE = 480
"""Longer side of the copy on which it is seen where there may be print at all: a seventh of the
work of reading, and many pictures hold none."""

_MARGIN = 48
"""Pixels about that part: the detector needs to see what print stands on."""

_PRINT = 0.3
"""The detector's own threshold for a pixel of print."""

_LOCK = threading.Lock()


class PrintedLine(Record, frozen=True, kw_only=True):
    """One printed line."""

    text: str
    box: Box
    confidence: float


class TextRecogniser(Protocol):
    """Anything that reads a picture."""

    def read(self, image: Image) -> list[PrintedLine]:
        """The lines of a picture, top to bottom."""
        ...


class RapidOcr:
    """RapidOCR on the CPU, loaded once per process and used by one thread at a time."""

    def read(self, image: Image) -> list[PrintedLine]:
        """The lines of a picture, top to bottom."""
        scale = min(1.0, MAX_SIDE / max(image.size))
        if scale < 1.0:
            image = image.resize(
                (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
            )
        if min(image.size) < 16:
            return []
        with _LOCK:
            place = printed_part(image)
            if place is None:
                return []
            part = np.asarray(image.crop(place))
            found, _ = _engine()(part[:, :, ::-1].copy(), use_cls=False)
        lines: list[PrintedLine] = []
        for corners, text, score in found or []:
            xs, ys = (
                [(p[0] + place[0]) / scale for p in corners],
                [(p[1] + place[1]) / scale for p in corners],
            )
            box = (float(min(xs)), float(min(ys)), float(max(xs)), float(max(ys)))
            lines.append(PrintedLine(text=str(text)[:200], box=box, confidence=float(score)))
        return sorted(lines, key=lambda line: (line.box[1], line.box[0], line.text))


def printed_part(image: Image) -> tuple[int, int, int, int] | None:
    """The part of a picture in which the detector sees anything like print in a small copy."""
    scale = min(1.0, _GLANCE / max(image.size))
    wide, high = (max(32, 32 * round(side * scale / 32)) for side in image.size)
    small = np.asarray(image.resize((wide, high), reducing_gap=2.0), np.float32)
    planes = np.ascontiguousarray((small[:, :, ::-1] / 127.5 - 1).transpose(2, 0, 1)[None])
    ys, xs = np.nonzero(_engine().text_det.infer(planes)[0][0, 0] >= _PRINT)
    if not len(xs):
        return None
    across, down = image.width / wide, image.height / high
    return (
        max(0, int(xs.min() * across) - _MARGIN),
        max(0, int(ys.min() * down) - _MARGIN),
        min(image.width, int((xs.max() + 1) * across) + _MARGIN),
        min(image.height, int((ys.max() + 1) * down) + _MARGIN),
    )


def blocks(lines: list[PrintedLine]) -> list[list[PrintedLine]]:
    """Lines that stand together (one sign, one label), the block with the largest print first."""
    groups: list[list[PrintedLine]] = []
    for line in lines:
        home = next((g for g in groups if any(_touch(line, other) for other in g)), None)
        if home is None:
            groups.append([line])
        else:
            home.append(line)
    return sorted(groups, key=lambda g: -max(x.box[3] - x.box[1] for x in g))


def _touch(a: PrintedLine, b: PrintedLine) -> bool:
    height = max(a.box[3] - a.box[1], b.box[3] - b.box[1])
    gap = max(a.box[1], b.box[1]) - min(a.box[3], b.box[3])
    overlap = min(a.box[2], b.box[2]) - max(a.box[0], b.box[0])
    return gap < 0.9 * height and overlap > 0


@cache
def _engine() -> Any:
    try:
        from rapidocr_onnxruntime import RapidOCR
    except ImportError as error:
        raise Unavailable(
            "RapidOCR is not installed: run `scripts/_env`, or switch the part off (ocr=off)."
        ) from error
    # no enlarging: print that is too small at `MAX_SIDE` cannot be read enlarged either
    return RapidOCR(intra_op_num_threads=1, det_limit_type="max", det_limit_side_len=MAX_SIDE)
