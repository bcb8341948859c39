"""A picture from outside: loaded when first needed, decoded at most once, bounded.

Decoders are the part of any pipeline that strangers' bytes reach first, so every picture of the
project, whatever its origin, goes through `LazyImage`, which checks size before it decodes.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
from collections.abc import Callable, Generator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmrag.errors import ImageError, Unavailable

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 64 * 1024 * 1024
"""Largest encoded picture that is read."""

MAX_PIXELS = 64_000_000
"""Largest picture that is decoded: 8,000 × 8,000 passes, a decompression bomb does not."""

HEAVY_PIXELS = 36_000_000
"""The same for those formats whose decoders hold several copies of the picture as they work."""

MAX_SIDE = 12_000
MAX_RATIO = 400
"""Longest side, and how many times as long as the other one it may be. What resizes by the shorter
side or draws about the middle would else make gigabytes of a strip of a few hundred bytes."""

FORMATS = ("JPEG", "PNG", "WEBP", "AVIF", "GIF", "TIFF", "BMP", "JPEG2000", "PPM", "QOI")
"""What is read, by Pillow's names. EPS and its like call programs, and others nobody's camera
writes: their readers are seldom tried and often broken."""

_HEAVY = ("WEBP", "AVIF", "JPEG2000")
_STRIP = 256


class LazyImage:
    """An encoded picture with a name for error messages.

    >>> LazyImage.from_bytes(b"...", name="a.png").sha256[:8]
    'ab5df625'
    """

    __slots__ = ("_data", "_decoded", "_load", "_sha256", "name")

    def __init__(
        self, load: Callable[[], bytes], *, name: str = "picture", sha256: str | None = None
    ) -> None:
        self.name = name
        """What error messages call this picture: its path, URL or id."""
        self._load = load
        self._data: bytes | None = None
        self._sha256 = sha256
        self._decoded: Image | None = None

    @classmethod
    def from_bytes(cls, data: bytes, *, name: str = "picture") -> LazyImage:
        """Wrap bytes that are already here."""
        image = cls(lambda: data, name=name)
        image._data = data
        return image

    @classmethod
    def from_path(cls, path: str | Path) -> LazyImage:
        """Read from a file when first needed."""
        path = Path(path)

        def load() -> bytes:
            try:
                with path.open("rb") as file:  # a device says that it has no bytes, and never ends
                    data = file.read(MAX_BYTES + 1)
            except (OSError, ValueError) as error:  # a name may hold a null byte
                why = getattr(error, "strerror", None) or error
                raise ImageError(f"{path}: cannot be read ({why}).") from error
            return _bounded(data, str(path))

        return cls(load, name=str(path))

    @classmethod
    def from_pil(cls, image: Image, *, name: str = "picture") -> LazyImage:
        """Wrap a decoded picture; its bytes are its PNG."""
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
        return cls.from_bytes(buffer.getvalue(), name=name)

    @property
    def data(self) -> bytes:
        """The encoded bytes. Raises `ImageError` when they cannot be had."""
        if self._data is None:
            self._data = _bounded(self._load(), self.name)
        return self._data

    @property
    def is_here(self) -> bool:
        """Whether its bytes are in memory, so that nobody has to wait for them."""
        return self._data is not None

    @property
    def sha256(self) -> str:
        """Content hash; known without loading where the store or data set recorded it."""
        if self._sha256 is None:
            self._sha256 = hashlib.sha256(self.data).hexdigest()
        return self._sha256

    def pil(self) -> Image:
        """The decoded picture: RGB, upright by its EXIF orientation.

        Every call gives a copy: what an agent does to its own must not change what others see.
        """
        if self._decoded is None:
            self._decoded = decode(self.data, name=self.name)
        return self._decoded.copy()

    def __repr__(self) -> str:
        return f"LazyImage({self.name!r})"


def decode(data: bytes, *, name: str = "picture") -> Image:
    """Decode bytes to an upright RGB picture, or raise `ImageError` naming the cure."""
    from PIL import ImageOps

    with _opened(data, name) as opened:
        opened.load()
        ImageOps.exif_transpose(opened, in_place=True)
        return _to_rgb(opened)


def size_of(data: bytes, *, name: str = "picture") -> tuple[int, int]:
    """Width and height by the header of a picture that may be decoded, else `ImageError`."""
    with _opened(data, name) as opened:
        return opened.size


def jpeg(picture: Image, quality: int, *, side: int | None = None, **more: Any) -> bytes:
    """A picture as a JPEG, at most `side` long."""
    if side is not None and max(picture.size) > side:
        picture = picture.copy()
        picture.thumbnail((side, side))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality, **more)
    return buffer.getvalue()


def media_type(data: bytes) -> str:
    """Of a picture by its first bytes; empty for what browsers do not show.

    >>> media_type(b"GIF89a"), media_type(b"II*")
    ('image/gif', '')
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    known = {b"\xff\xd8": "image/jpeg", b"\x89P": "image/png", b"GI": "image/gif"}
    return known.get(data[:2], "")


def data_uri(data: bytes, kind: str = "image/jpeg") -> str:
    """A picture inside of text."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def check_size(width: int, height: int, *, name: str = "picture", most: int = MAX_PIXELS) -> None:
    """Raise `ImageError` for a picture that is too large, too long or nothing at all."""
    if width * height > most:
        raise ImageError(
            f"{name}: {width} × {height} pixels is above the limit of {most:,}; "
            "scale it down first."
        )
    shorter, longer = sorted((width, height))
    if shorter < 1 or longer > MAX_SIDE or longer > MAX_RATIO * shorter:
        raise ImageError(
            f"{name}: {width} × {height} pixels, where a side has between 1 and {MAX_SIDE:,} and "
            f"at most {MAX_RATIO} times the other's; crop or scale it first."
        )


def upright_rgb(image: Image) -> Image:
    """A picture of any mode as RGB, upright by its EXIF orientation."""
    from PIL import ImageOps

    return _to_rgb(ImageOps.exif_transpose(image))


def check_can_write(kind: str) -> None:
    """Raise `Unavailable` for a format that this Pillow was built without."""
    from PIL import Image as pil

    pil.init()
    if kind.upper() not in pil.SAVE:
        raise Unavailable(
            f"this Pillow cannot write {kind}: `pip install --force-reinstall pillow` brings one "
            "that can; or take jpeg."
        )


@contextlib.contextmanager
def _opened(data: bytes, name: str) -> Generator[Image]:
    """A picture whose header is read and whose size is good; whatever goes wrong, `ImageError`."""
    from PIL import Image as pil
    from PIL import UnidentifiedImageError

    if not data:
        raise ImageError(f"{name}: empty file (0 bytes); fetch or export it again.")
    try:
        with pil.open(io.BytesIO(data), formats=_formats()) as opened:
            most = HEAVY_PIXELS if opened.format in _HEAVY else MAX_PIXELS
            check_size(*opened.size, name=name, most=most)
            yield opened
    except ImageError:
        raise
    except UnidentifiedImageError as error:
        known = ", ".join(_formats())
        raise ImageError(f"{name}: not a picture in any format that is read ({known}).") from error
    except pil.DecompressionBombError as error:
        raise ImageError(f"{name}: a decompression bomb ({error}).") from error
    except Exception as error:  # Pillow's readers raise whatever the bytes drive them to
        raise ImageError(f"{name}: broken or cut short ({error}); fetch it again.") from error


@cache
def _formats() -> tuple[str, ...]:
    """Those of the formats that this Pillow was built with."""
    from PIL import Image as pil

    pil.init()
    return tuple(kind for kind in FORMATS if kind in pil.OPEN)


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MAX_BYTES:
        raise ImageError(f"{name}: larger than {MAX_BYTES >> 20} MiB; make it smaller first.")
    return data


def _to_rgb(image: Image) -> Image:
    if image.mode.startswith("I"):  # 16- and 32-bit grey: Pillow clips instead of scaling
        return _from_wide(image)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        return _on_white(image)
    return image if image.mode == "RGB" else image.convert("RGB")


def _from_wide(image: Image) -> Image:
    import numpy as np
    from PIL import Image as pil

    wide = np.asarray(image)
    factor = 255.0 / (65535.0 if wide.max(initial=0) > 255 else 255.0)
    grey = np.empty(wide.shape, np.uint8)
    for top in range(0, len(wide), _STRIP):
        strip = wide[top : top + _STRIP].astype(np.float64)
        grey[top : top + _STRIP] = (strip * factor).clip(0, 255).astype(np.uint8)
    return pil.fromarray(grey).convert("RGB")


def _on_white(image: Image) -> Image:
    from PIL import Image as pil

    rgba = image if image.mode == "RGBA" else image.convert("RGBA")
    laid = pil.new("RGB", rgba.size)
    for top in range(0, rgba.height, _STRIP):
        strip = rgba.crop((0, top, rgba.width, min(top + _STRIP, rgba.height)))
        ground = pil.new("RGBA", strip.size, (255, 255, 255, 255))
        laid.paste(pil.alpha_composite(ground, strip).convert("RGB"), (0, top))
    return laid
