"""Pictures from outside: every form is read upright and RGB, every broken one is refused."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmrag.errors import ImageError
from mmrag.files import images
from mmrag.files.images import LazyImage, decode


def encoded(image: Image.Image, kind: str = "PNG", **more: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **more)
    return buffer.getvalue()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"])
def test_every_mode_becomes_rgb(mode: str) -> None:
    image = Image.new(mode, (9, 7))
    data = encoded(image, "TIFF" if mode == "CMYK" else "PNG")
    read = decode(data)
    assert read.mode == "RGB"
    assert read.size == (9, 7)


def test_sixteen_bit_grey_is_scaled_not_clipped() -> None:
    wide = Image.fromarray(np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16))
    grey = np.asarray(decode(encoded(wide)))[..., 0]
    assert grey.min() == 0
    assert grey.max() == 255
    assert abs(float(grey.mean()) - 127.5) < 1.5


def test_exif_orientation_is_applied() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    read = decode(encoded(Image.new("RGB", (40, 20)), "JPEG", exif=exif))
    assert read.size == (20, 40)


def test_transparency_is_laid_on_white() -> None:
    assert decode(encoded(Image.new("RGBA", (2, 2), (0, 0, 0, 0)))).getpixel((0, 0)) == (255,) * 3


def bomb() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "0 bytes"),
        (b"just a text", "not a picture"),
        (bomb(), "above the limit|bomb"),
        (encoded(Image.effect_noise((64, 64), 50), "PNG")[:400], "broken or cut short"),
        (encoded(Image.effect_noise((64, 64), 50), "JPEG")[:700], "broken or cut short"),
    ],
)  # fmt: skip
def test_broken_pictures_are_refused_by_name(data: bytes, words: str) -> None:
    with pytest.raises(ImageError, match=rf"photo\.png: .*({words})"):
        LazyImage.from_bytes(data, name="photo.png").pil()


def test_too_large_a_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_BYTES", 100)
    (tmp_path / "big.jpg").write_bytes(b"x" * 101)
    with pytest.raises(ImageError, match=r"big\.jpg"):
        _ = LazyImage.from_path(tmp_path / "big.jpg").data
    with pytest.raises(ImageError):
        _ = LazyImage(lambda: b"x" * 101).data
    with pytest.raises(ImageError, match="cannot be read"):
        _ = LazyImage.from_path(tmp_path / "none.jpg").data


def test_loaded_when_needed_and_once() -> None:
    calls: list[int] = []

    def load() -> bytes:
        calls.append(1)
        return encoded(Image.new("RGB", (3, 3)))

    image = LazyImage(load)
    assert calls == []
    assert image.pil() is not image.pil()
    assert len(image.sha256) == 64
    assert calls == [1]


def test_what_is_done_to_a_picture_changes_nobody_elses() -> None:
    from PIL import ImageDraw

    noise = np.random.Generator(np.random.Philox(7)).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    image = LazyImage.from_pil(Image.fromarray(noise))
    before = np.asarray(image.pil()).tobytes()
    image.pil().thumbnail((8, 8))
    image.pil().paste((0, 0, 0), (0, 0, 60, 40))
    image.pil().putpixel((3, 3), (1, 2, 3))
    image.pil().load()[4, 4] = (9, 9, 9)
    image.pil().info["note"] = "mine"
    ImageDraw.Draw(image.pil()).rectangle((0, 0, 30, 30), fill=0)
    assert image.pil().size == (60, 40)
    assert np.asarray(image.pil()).tobytes() == before
    assert "note" not in image.pil().info
