"""A tiny image encoder with known vectors, a small source, and an index built of it once."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image, ImageDraw

from mmrag.encoders import image_encoders, text_encoders
from mmrag.files.images import LazyImage
from mmrag.passages import Chunker
from mmrag.search.index.build import build_index
from mmrag.search.index.open import Index, open_index
from mmrag.search.index.sources import open_source
from simulator import cli
from simulator.world.sessions import mini_folder

COLOURS = {
    "Alder Kettle": (200, 30, 30), "Birch Lamp": (30, 180, 40), "Cedar Clock": (40, 60, 210),
    "Dogwood Mug": (220, 200, 30), "Elm Speaker": (160, 40, 180), "Fir Flag": (30, 190, 190),
}  # fmt: skip


class ColourEncoder:
    """Mean colour of a picture's middle: exact, fast, and enough to tell the colours apart."""

    image_size = 16
    dim = 4
    id = "colours@1"

    def encode(self, items: Sequence[LazyImage]) -> np.ndarray:
        return self.encode_crops([item.pil() for item in items])

    def encode_crops(self, crops: Sequence[Any]) -> np.ndarray:
        found = [np.asarray(c.convert("RGB").resize((8, 8)), np.float32)[2:6, 2:6].mean((0, 1))
                 for c in crops]  # fmt: skip
        rows = np.concatenate([np.stack(found) - 100, np.full((len(found), 1), 20.0)], axis=1)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class WordEncoder:
    """A bag of hashed words: no model, and passages that share words are near."""

    dim = 64
    id = "words@1"

    def encode(self, items: Sequence[str]) -> np.ndarray:
        from zlib import crc32

        from mmrag.search.web.words import words

        rows = np.full((len(items), self.dim), 1e-3, np.float32)
        for row, text in zip(rows, items, strict=True):
            for word in words(text):
                row[crc32(word.encode()) % self.dim] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    encode_queries = encode


for registry, name, made in (
    (image_encoders, "test-colours", ColourEncoder),
    (text_encoders, "test-words", WordEncoder),
):
    if name not in registry.names():
        registry.register(name, made)


def coloured(colour: tuple[int, int, int], size: tuple[int, int] = (96, 96)) -> Image.Image:
    return Image.new("RGB", size, colour)


def scene(colour: tuple[int, int, int]) -> Image.Image:
    """A small coloured square somewhere in a large grey picture."""
    image = Image.new("RGB", (360, 480), (128, 128, 128))
    ImageDraw.Draw(image).rectangle((190, 250, 310, 370), fill=colour)
    return image


def png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="session")
def source_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    for name, colour in COLOURS.items():
        coloured(colour).save(folder / f"{name}.png")
    for name in COLOURS:
        filler = " ".join(f"Sentence number {i} says nothing at all." for i in range(40))
        (folder / f"{name}.html").write_text(
            f"<html><head><title>{name}</title></head><body><nav><a href=/>Home</a></nav>"
            f"<article><h1>{name}</h1><p>The {name} is made in Tessaly Bridge.</p><p>{filler}</p>"
            f"<p>Its warranty lasts {len(name)} years and covers the {name.split()[1].lower()}.</p>"
            "</article></body></html>"
        )
    (folder / "broken.png").write_bytes(b"\x89PNG not really")
    return folder


def build(source: Path, out: Path) -> Path:
    build_index(open_source(str(source)), out, image_encoder="test-colours",
                text_encoder="test-words", chunker=Chunker(tokens=64, overlap=8))  # fmt: skip
    return out


@pytest.fixture(scope="session")
def index_folder(source_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(source_folder, tmp_path_factory.mktemp("index") / "ix")


@pytest.fixture(scope="session")
def index(index_folder: Path) -> Index:
    return open_index(index_folder)


def mini_part(folder: Path, *, kg: Any, pages: Any) -> Path:
    """The mini world with these of its pictures and pages; None leaves a table out."""
    for path in mini_folder().iterdir():
        if path.name not in ("pages.parquet", "kg.parquet"):
            (folder / path.name).symlink_to(path)
    for name, table in (("kg", kg), ("pages", pages)):
        if table is not None:
            pq.write_table(table, folder / f"{name}.parquet")
    return folder


def run_eval(*arguments: str) -> int:
    """The exit status of `mmrag index eval`."""
    try:
        cli.build()(["index", "eval", *arguments])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0
