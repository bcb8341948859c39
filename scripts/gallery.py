"""Draw the gallery of docs/optics.md: one picture of the world under CRAG-MM's kinds, every level.

    python scripts/gallery.py [--out docs/pictures]

The captions give what was reached: SSIM on the entity, share visible or covered, angle and zoom.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mmrag.records import Box
from simulator.optics import degrade
from simulator.optics.degradation_record import DegradationRecord, Degraded
from simulator.optics.shape.geometry import bounds
from simulator.optics.spec import VARIANTS
from simulator.run.captures import KINDS
from simulator.studio.camera.scene_to_picture import compose
from simulator.world.facts.look import Look
from simulator.world.pictures.scene import Scene

ROWS = tuple(
    f"{kind}:{variant}" if variant else kind
    for kind, variants in VARIANTS.items()
    for variant in (variants or ("",))
    if kind in KINDS
)
_GROUND, _INK, _FAINT, _MARK = (18, 20, 24), (232, 234, 238), (150, 156, 166), (255, 196, 64)

CHAINS = (
    "low-light@2+blurred:motion@2",
    "occluded:finger@3",
    "occluded:fence@2+blurred:defocus@1",
    "occluded:strap@3",
    "truncated@3+rotated@2",
    "low-light@4+jpeg@40",
)
"""What the second picture shows larger."""


def scene(width: int, height: int) -> tuple[np.ndarray, Box]:
    """An egocentric picture of the world and its entity's box."""
    look = Look(domain="food", kind="jar", family=3, variant=1, label="Marrow Honey",
                sublabel="350 g")  # fmt: skip
    done = compose(
        Scene(
            main=look,
            key="gallery-2",
            width=width,
            height=height,
            legible=True,
            clutter=0.5,
            entity_scale=1.3,
            off_centre=0.3,
        )
    )
    box = bounds(done.polygon)
    assert box is not None
    return np.asarray(done.image, np.uint8), box


def save(image: np.ndarray, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, "JPEG", quality=80, progressive=True)
    print(f"{path}: {path.stat().st_size >> 10} KiB")


def chains(image: np.ndarray, box: Box) -> np.ndarray:
    """Some chains side by side, each under its name."""
    h, w = image.shape[:2]
    size, strip = (360, round(360 * h / w)), 26
    cells = []
    for spec in CHAINS:
        cell = Image.new("RGB", (size[0], size[1] + strip), (18, 20, 24))
        done = Image.fromarray(degrade(image, spec, box, key="gallery").image)
        cell.paste(done.resize(size, Image.Resampling.LANCZOS), (0, strip))
        font = ImageFont.load_default(14)
        ImageDraw.Draw(cell).text((6, 5), spec, (232, 234, 238), font)
        cells.append(np.asarray(cell))
    rows = [np.hstack(cells[i : i + 3]) for i in range(0, len(cells), 3)]
    return np.vstack(rows)


def contact_sheet(image: np.ndarray, focus: Box, key: str, cell: int) -> np.ndarray:
    """Rows are kinds, columns severities; a caption under each says what was measured."""
    h, w = image.shape[:2]
    scale = cell / max(w, h)
    cw, ch = max(1, round(w * scale)), max(1, round(h * scale))
    left, top, caption, gap = 150, 40, 20, 6
    width = left + 6 * (cw + gap) + gap
    height = top + len(ROWS) * (ch + caption + gap) + gap
    sheet = Image.new("RGB", (width, height), _GROUND)
    draw = ImageDraw.Draw(sheet)
    title, small = ImageFont.load_default(15), ImageFont.load_default(12)
    for column, level in enumerate(range(6)):
        x = left + column * (cw + gap)
        draw.text((x, 14), f"severity {level}" if level else "clean", _INK, title)
    for row, kind in enumerate(ROWS):
        y = top + row * (ch + caption + gap)
        name, _, variant = kind.partition(":")
        draw.text((12, y + 4), name, _INK, title)
        draw.text((12, y + 24), variant, _FAINT, title)
        for column, level in enumerate(range(6)):
            done = degrade(image, f"{kind}@{level}", focus, key=key)
            x = left + column * (cw + gap)
            sheet.paste(_thumbnail(done, cw, ch), (x, y))
            flagged = done.record.clamped
            draw.text((x, y + ch + 2), _caption(done.record), _MARK if flagged else _FAINT, small)
    return np.asarray(sheet, np.uint8)


def _thumbnail(done: Degraded, width: int, height: int) -> Image.Image:
    small = Image.fromarray(done.image).resize((width, height), Image.Resampling.BOX)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    args = parser.parse_args()
    image, box = scene(960, 1280)
    sheet = contact_sheet(image, box, "gallery", 240)
    save(sheet, args.out / "optics-sheet.jpg")
    save(chains(image, box), args.out / "optics-chains.jpg")


if __name__ == "__main__":
    main()
