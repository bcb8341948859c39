"""Contact sheets: many small pictures on one page, so that a person can look at a world."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mmrag.errors import UsageError
from mmrag.files.atomic import write_bytes
from mmrag.files.images import LazyImage
from mmrag.records import Session
from simulator.world.build.table_parts import SPLITS
from simulator.world.build.world_manifest import read_manifest
from simulator.world.sessions import captured, read_world

if TYPE_CHECKING:
    from PIL.Image import Image

_COLUMNS = 6
_CELL = 240
_CAPTION = 46


def write_sheets(folder: Path, target: Path, *, count: int = 24) -> list[Path]:
    """Write a sheet of every domain, one of the degraded captures with their clean originals, and
    one of the KG."""
    if not 1 <= count <= 400:
        raise UsageError(f"{count} pictures on a sheet; give --count 1 to 400.")
    manifest = read_manifest(folder)
    if not manifest["request"]["pictures"]:
        raise UsageError(f"{folder} was written with --text-only: there is nothing to look at.")
    target.mkdir(parents=True, exist_ok=True)
    by_domain: dict[str, list[tuple[LazyImage, str]]] = defaultdict(list)
    pairs: list[tuple[LazyImage, str]] = []
    for split in SPLITS:
        clean = read_world(folder, split, pictures="clean")
        for seen, original in zip(read_world(folder, split), clean, strict=True):
            shelf = by_domain[seen.turns[0].domain]
            if len(shelf) < count:
                shelf.append((captured(seen).image, _caption(seen)))
            if seen.degradation != "clean" and len(pairs) < count:
                pairs += [
                    (captured(original).image, f"{seen.id}\nclean"),
                    (captured(seen).image, f"{seen.id}\n{seen.degradation}"),
                ]
    sheets = {f"domain-{name.replace(' ', '-')}": cells for name, cells in by_domain.items()}
    if pairs:
        sheets["quality-pairs"] = pairs
    sheets["kg"] = list(_kg_cells(folder, count))
    written: list[Path] = []
    for name, cells in sorted(sheets.items()):
        path = target / f"{name}.png"
        write_bytes(path, LazyImage.from_pil(_sheet(cells)).data)
        written.append(path)
    return written


def _kg_cells(folder: Path, count: int) -> Iterable[tuple[LazyImage, str]]:
    from simulator.world.checks.verify import stream

    for n, row in enumerate(stream(folder / "kg.parquet", ["image", "entities"])):
        if n >= count:
            return
        name = msgspec.json.decode(row["entities"])[0]["entity_name"]
        yield LazyImage.from_bytes(row["image"]["bytes"], name=name), name


def _caption(session: Session) -> str:
    turn = session.turns[0]
    return f"{session.id} · {session.quality}\n{turn.query}"


def _sheet(cells: list[tuple[LazyImage, str]]) -> Image:
    from PIL import Image as pil
    from PIL import ImageDraw, ImageFont

    rows = -(-len(cells) // _COLUMNS)
    tallest = max(c.pil().height / c.pil().width for c, _ in cells)
    height = min(_CELL * 4 // 3, round(_CELL * tallest))
    sheet = pil.new("RGB", (_COLUMNS * _CELL, rows * (height + _CAPTION)), (245, 244, 240))
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=13)
    for n, (image, caption) in enumerate(cells):
        x, y = n % _COLUMNS * _CELL, n // _COLUMNS * (height + _CAPTION)
        small = image.pil()
        small.thumbnail((_CELL - 8, height - 8))
        sheet.paste(small, (x + (_CELL - small.width) // 2, y + (height - small.height) // 2))
        for i, line in enumerate(caption.split("\n")[:2]):
            draw.text((x + 6, y + height + 3 + 19 * i), _fit(line, font, draw), (40, 40, 40), font)
    return sheet


def _fit(line: str, font: Any, draw: Any) -> str:
    """A line cut to the width of a cell."""
    while line and draw.textlength(line, font=font) > _CELL - 12:
        line = line[:-2]
    return line
