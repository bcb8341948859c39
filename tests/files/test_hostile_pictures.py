"""Pictures made to do harm: whatever the bytes, an `ImageError`, in bounded memory."""

from __future__ import annotations

import contextlib
import io
import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmrag.errors import ImageError
from mmrag.files import images
from mmrag.files.images import LazyImage, decode, size_of, upright_rgb
from simulator.optics import degrade

GB = 1 << 30


def strip(width: int, height: int) -> bytes:
    """A flat PNG, which takes a few hundred bytes whatever its shape."""
    buffer = io.BytesIO()
    Image.new("L", (width, height)).save(buffer, "PNG")
    return buffer.getvalue()


def claiming(width: int, height: int) -> bytes:
    """A PNG whose header alone is there."""
    data = b"\x89PNG\r\n\x1a\n"
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    for body in (b"IHDR" + header, b"IDAT"):
        data += struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return data


@pytest.mark.parametrize(
    "shape", [(100_000, 1), (1, 100_000), (65_000, 1), (1, 64_000_000), (40_000, 900), (9_000, 20)]
)
def test_extreme_shapes_are_refused_everywhere(shape: tuple[int, int]) -> None:
    data = claiming(*shape)
    for read in (decode, size_of):
        with pytest.raises(ImageError, match=r"strip\.png: .*crop or scale it"):
            read(data, name="strip.png")
    if shape[0] * shape[1] < 1_000_000:
        with pytest.raises(ImageError, match="crop or scale it"):
            degrade(np.zeros((*shape[::-1], 3), np.uint8), "blurred@3")
        with pytest.raises(ImageError, match="crop or scale it"):
            degrade(Image.new("RGB", shape), "blurred@3")


@pytest.mark.parametrize("shape", [(1, 1), (64, 1), (3, 190), (16, 6_000), (12_000, 5_000)])
def test_long_pictures_are_read(shape: tuple[int, int]) -> None:
    assert decode(strip(*shape)).size == shape


@pytest.mark.parametrize("kind", ["QOI", "AVIF", "WEBP", "TIFF", "GIF", "PPM", "JPEG2000", "BMP"])
def test_mutated_pictures_of_every_format_are_no_surprise(kind: str) -> None:
    buffer = io.BytesIO()
    Image.effect_noise((24, 20), 60).convert("RGB").save(buffer, kind)
    whole, chance = buffer.getvalue(), random.Random(kind)
    assert decode(whole).size == (24, 20)
    for _ in range(60):
        data = bytearray(whole[: chance.randrange(len(whole))] if chance.random() < 0.3 else whole)
        for _ in range(chance.randrange(4)):
            if data:
                data[chance.randrange(min(len(data), 64))] = chance.randrange(256)
        for read in (decode, size_of):
            with contextlib.suppress(ImageError):
                read(bytes(data), name="mutant")


@pytest.mark.parametrize("kind", ["EPS", "BLP", "DDS", "ICO", "SGI", "TGA", "IM", "PCX"])
def test_formats_that_no_camera_writes_are_off(kind: str) -> None:
    """EPS is read by a program, and the others by code that hardly anybody has tried to break."""
    image, buffer = Image.effect_noise((16, 16), 60).convert("RGB"), io.BytesIO()
    (image.quantize(16) if kind == "BLP" else image).save(buffer, kind)
    with pytest.raises(ImageError, match=r"not a picture.*JPEG, PNG"):
        decode(buffer.getvalue())


def test_a_device_is_read_up_to_the_limit() -> None:
    with pytest.raises(ImageError, match="/dev/zero: larger than 64 MiB"):
        _ = LazyImage.from_path("/dev/zero").data


@pytest.mark.parametrize("mode", ["RGBA", "LA", "I", "I;16"])
def test_wide_pictures_are_laid_out_in_strips_with_the_same_pixels(mode: str) -> None:
    chance = np.random.default_rng(7)
    if mode.startswith("I"):
        kind = np.uint16 if mode == "I;16" else np.int32
        array = chance.integers(0, 65536, (700, 5), dtype=kind)
        image = Image.fromarray(array)
        grey = (array.astype(np.float64) * (255.0 / 65535.0)).clip(0, 255).astype(np.uint8)
        wanted = Image.fromarray(grey).convert("RGB")
    else:
        array = chance.integers(0, 256, (700, 5, len(mode)), dtype=np.uint8)
        image = Image.fromarray(array, mode) if mode == "LA" else Image.fromarray(array)
        rgba = image.convert("RGBA")
        ground = Image.new("RGBA", rgba.size, (255, 255, 255, 255))
        wanted = Image.alpha_composite(ground, rgba).convert("RGB")
    assert upright_rgb(image).tobytes() == wanted.tobytes()


MEMORY = """
import sys
from mmrag.errors import ImageError
from mmrag.files.images import LazyImage
from simulator.optics import degrade
picture = LazyImage.from_path(sys.argv[1])
try:
    degrade(picture, "blurred:motion@3", key="0") if sys.argv[2:] else picture.pil()
except ImageError:
    pass
print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""


@pytest.mark.proof("time")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("more", [(), ("degraded",)])
def test_a_picture_of_the_largest_size_takes_less_than_a_gigabyte(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    side = 8_000
    Image.new("LA", (side, side), (9, 90)).save(tmp_path / "flat.png", compress_level=1)
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "flat.png"), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) * 1024 < GB


# -- images


def encoded(image: Image.Image, kind: str = "PNG", **more: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **more)
    return buffer.getvalue()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"])
def test_every_mode_becomes_rgb(mode: str) -> None:
    image = Image.new(mode, (9, 7))
    data = encoded(image, "TIFF" if mode == "CMYK" else "PNG")
    read = decode(data)
    assert (read.mode, read.size) == ("RGB", (9, 7))


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
    assert (len(image.sha256), calls) == (64, [1])


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
