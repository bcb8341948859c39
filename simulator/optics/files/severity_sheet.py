"""A contact sheet: one picture under every kind and severity, with what was reached."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image as pil
from PIL import ImageDraw, ImageFont

from mmrag.records import Box
from simulator.optics.light.tone import Image
from simulator.optics.pipeline import degrade
from simulator.optics.record import DegradationRecord, Degraded
from simulator.optics.spec import VARIANTS

ROWS = tuple(
    f"{kind}:{variant}" if variant else kind
    for kind, variants in VARIANTS.items()
    for variant in (variants or ("",))
)
"""Every kind with every variant."""

_GROUND, _INK, _FAINT, _MARK = (18, 20, 24), (232, 234, 238), (150, 156, 166), (255, 196, 64)


def contact_sheet(
    image: Image,
    focus: Box | None = None,
    *,
    key: str = "sheet",
    rows: Sequence[str] = ROWS,
    severities: Sequence[int] = (0, 1, 2, 3, 4, 5),
    cell: int = 220,
) -> Image:
    """Rows are kinds, columns severities; a caption under each says what was measured."""
    h, w = image.shape[:2]
    scale = cell / max(w, h)
    cw, ch = max(1, round(w * scale)), max(1, round(h * scale))
    left, top, caption, gap = 150, 40, 20, 6
    width = left + len(severities) * (cw + gap) + gap
    height = top + len(rows) * (ch + caption + gap) + gap
    sheet = pil.new("RGB", (width, height), _GROUND)
    draw = ImageDraw.Draw(sheet)
    title, small = ImageFont.load_default(15), ImageFont.load_default(12)
    for column, level in enumerate(severities):
        x = left + column * (cw + gap)
        draw.text((x, 14), f"severity {level}" if level else "clean", _INK, title)
    for row, kind in enumerate(rows):
        y = top + row * (ch + caption + gap)
        name, _, variant = kind.partition(":")
        draw.text((12, y + 4), name, _INK, title)
        draw.text((12, y + 24), variant, _FAINT, title)
        for column, level in enumerate(severities):
            done = degrade(image, f"{kind}@{level}", focus, key=key)
            x = left + column * (cw + gap)
            sheet.paste(_thumbnail(done, cw, ch), (x, y))
            flagged = done.record.clamped
            draw.text((x, y + ch + 2), _caption(done.record), _MARK if flagged else _FAINT, small)
    return np.asarray(sheet, np.uint8)


def _thumbnail(done: Degraded, width: int, height: int) -> pil.Image:
    small = pil.fromarray(done.image).resize((width, height), pil.Resampling.BOX)
    if done.record.box is not None and not done.record.steps:
        x0, y0, x1, y1 = done.record.box
        sx, sy = width / done.record.size[0], height / done.record.size[1]
        ImageDraw.Draw(small).rectangle(
            (x0 * sx, y0 * sy, x1 * sx - 1, y1 * sy - 1), outline=_MARK, width=1
        )
    return small


def _caption(record: DegradationRecord) -> str:
    if not record.steps:
        return "entity marked"
    step = record.steps[0]
    flag = " (clamped)" if record.clamped else ""
    if step.kind == "rotated":
        return f"{abs(step.parameters['degrees']):.0f}°, zoom {record.zoom:.2f}{flag}"
    if step.kind == "truncated":
        return f"visible {record.visible:.0%}{flag}"
    if step.kind == "occluded":
        return f"covered {record.covered:.0%}, SSIM {record.ssim_crop or 0:.2f}{flag}"
    return f"SSIM {record.ssim_crop or 0:.2f}{flag}"
