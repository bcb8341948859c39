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
from simulator.optics.files.severity_sheet import ROWS, contact_sheet
from simulator.optics.shape.geometry import bounds
from simulator.run.captures import KINDS
from simulator.studio.camera.taking import compose
from simulator.world.facts.look import Look
from simulator.world.pictures.scene import Scene

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    args = parser.parse_args()
    image, box = scene(960, 1280)
    rows = [row for row in ROWS if row.partition(":")[0] in KINDS]
    sheet = contact_sheet(image, box, key="gallery", rows=rows, cell=240)
    save(sheet, args.out / "optics-sheet.jpg")
    save(chains(image, box), args.out / "optics-chains.jpg")


if __name__ == "__main__":
    main()
