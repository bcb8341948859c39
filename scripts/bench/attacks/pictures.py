"""Attack the decoding and degrading of pictures: 10,000 mutants of every format, and bombs.

A mutant has bytes flipped, cut, doubled or set to extremes, mostly where headers are. It must be a
picture or an `ImageError`. A bomb is a small file that claims or holds a large picture; it is read
and degraded in a child, which must stay below a gigabyte.
"""

from __future__ import annotations

import io
import itertools
import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.bench.attacks import Case

MUTANTS = 10_000
BOMB_EVERY = 500
"""Mutants between two bombs, which take seconds."""
MOST = 1 << 30
SECONDS = 300

CHILD = """
import sys
from mmrag.errors import ImageError
from mmrag.files.images import LazyImage
picture = LazyImage.from_path(sys.argv[1])
try:
    if sys.argv[2] == "decoded":
        picture.pil()
    elif sys.argv[2] == "the lab":
        from ui.views.lab_view import degrade_picture
        from pathlib import Path
        degrade_picture(Path(sys.argv[1]), "blurred", 3, 0)
    else:
        from simulator.optics import degrade
        degrade(picture, sys.argv[2], key="0")
except ImageError:
    pass
print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""

WAYS = ("decoded", "blurred:motion@3", "blurred:roll@4", "low-light@3", "the lab")


def cases(seed: int, work: Path) -> Iterator[Case]:
    """Mutants of every format in turn, a bomb now and then."""
    chance = random.Random(seed)
    wholes = _wholes(chance)
    bombs = itertools.cycle(_bombs(work))
    turns = itertools.cycle(wholes)
    left = len(BOMBS) * len(WAYS)
    for number in range(MUTANTS):
        kind = next(turns)
        how, data = _mutated(wholes[kind], chance)
        yield Case(f"{kind} {how}", _fault_of(data))
        if number % BOMB_EVERY == BOMB_EVERY - 1 or number == len(wholes):
            left -= 1
            yield _bomb(*next(bombs))
    for _ in range(left):
        yield _bomb(*next(bombs))


def _wholes(chance: random.Random) -> dict[str, bytes]:
    """A small picture in every format that Pillow writes, the refused ones too."""
    from PIL import Image

    Image.init()
    picture = Image.effect_noise((40, 30), 60).convert("RGB")
    found: dict[str, bytes] = {}
    for kind in sorted(Image.SAVE):
        for mode in ("RGB", "P", "L"):
            buffer = io.BytesIO()
            try:
                picture.convert(mode).save(buffer, kind)
            except Exception:
                continue
            found[kind] = buffer.getvalue()
            break
    extras = {
        "PNG 16": ("I;16", "PNG"), "PNG alpha": ("RGBA", "PNG"), "TIFF CMYK": ("CMYK", "TIFF"),
        "TIFF float": ("F", "TIFF"), "GIF": ("P", "GIF"),
    }  # fmt: skip
    for name, (mode, kind) in extras.items():
        buffer = io.BytesIO()
        picture.convert("I" if mode == "I;16" else mode).convert(mode).save(buffer, kind)
        found[name] = buffer.getvalue()
    buffer = io.BytesIO()
    frames = [picture.rotate(90 * i) for i in range(3)]
    frames[0].save(buffer, "WEBP", save_all=True, append_images=frames[1:])
    found["WEBP moving"] = buffer.getvalue()
    exif = Image.Exif()
    exif[0x0112], exif[0x8769] = 6, {0x9003: "2031:01:01"}
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", exif=exif)
    found["JPEG turned"] = buffer.getvalue()
    return found


def _mutated(whole: bytes, chance: random.Random) -> tuple[str, bytes]:
    data = bytearray(whole)
    near = min(len(data), chance.choice((32, 128, 1 << 20)))
    how = chance.choice(("flipped", "cut", "doubled", "extreme", "joined"))
    if how == "flipped":
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(near)] ^= 1 << chance.randrange(8)
    elif how == "cut":
        del data[chance.randrange(len(data)) :]
    elif how == "doubled":
        at = chance.randrange(near)
        data[at:at] = data[at : at + chance.randrange(1, 64)]
    elif how == "extreme":
        at = chance.randrange(near)
        value = chance.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF, 0x10000))
        data[at : at + 4] = struct.pack(chance.choice(("<I", ">I")), value)
    else:
        data += bytes(chance.randrange(256) for _ in range(chance.randrange(64)))
        del data[chance.randrange(near)]
    return how, bytes(data)


def _fault_of(data: bytes) -> str | None:
    from mmrag.errors import ImageError
    from mmrag.files.images import decode, size_of

    try:
        size = size_of(data)
        picture = decode(data)
    except ImageError:
        return None
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:200]
    if picture.mode != "RGB" or sorted(picture.size) != sorted(size):
        return f"decoded to {picture.mode} {picture.size}, its header says {size}"
    return None


def _png(width: int, height: int, *, colour: int = 0) -> bytes:
    """A flat picture; its bytes are packed as they are made, so none lies anywhere whole."""
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    row = bytes(1 + width * {0: 1, 2: 3, 6: 4}[colour])
    packer, packed = zlib.compressobj(9), bytearray()
    for _ in range(height):
        packed += packer.compress(row)
    packed += packer.flush()
    data = b"\x89PNG\r\n\x1a\n"
    for body in (b"IHDR" + head, b"IDAT" + bytes(packed), b"IEND"):
        data += struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return data


def _encoded(kind: str, size: tuple[int, int]) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, kind)
    return buffer.getvalue()


BOMBS: dict[str, Callable[[], bytes]] = {
    "100,000 x 1": lambda: _png(100_000, 1),
    "65,000 x 1": lambda: _png(65_000, 1),
    "1 x 64,000,000": lambda: _png(1, 64_000_000),
    "8,000 x 8,000 with alpha": lambda: _png(8_000, 8_000, colour=6),
    "6,000 x 6,000": lambda: _png(6_000, 6_000, colour=2),
    "12,000 x 3,000": lambda: _png(12_000, 3_000, colour=2),
    "12,000 x 30": lambda: _png(12_000, 30, colour=2),
    "6,000 x 6,000 WebP": lambda: _encoded("WEBP", (6_000, 6_000)),
    "6,000 x 6,000 JPEG 2000": lambda: _encoded("JPEG2000", (6_000, 6_000)),
    "100,000 x 100,000": lambda: _png(100_000, 1).replace(
        struct.pack(">II", 100_000, 1), struct.pack(">II", 100_000, 100_000)
    ),
    "/dev/zero": lambda: b"",
}


def _bombs(work: Path) -> Iterator[tuple[str, Path, str]]:
    for way, (name, make) in itertools.product(WAYS, BOMBS.items()):
        path = Path(name)
        if not path.is_absolute():
            path = work / f"bomb-{name.replace(' ', '-').replace(',', '')}"
            if not path.exists():
                path.write_bytes(make())
        yield name, path, way


def _bomb(name: str, path: Path, way: str) -> Case:
    what = f"bomb {name}, {way}"
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(path), way],
            capture_output=True, text=True, timeout=SECONDS, check=True,
        )  # fmt: skip
        peak = int(done.stdout) << 10
    except subprocess.TimeoutExpired:
        return Case(what, f"not done within {SECONDS} s")
    except (subprocess.CalledProcessError, ValueError) as error:
        said = getattr(error, "stderr", "") or str(error)
        return Case(what, said.strip().splitlines()[-1][:200] if said.strip() else "ended")
    return Case(what, None if peak <= MOST else f"took {peak >> 20:,} MiB")
