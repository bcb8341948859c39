"""A picture from outside: loaded when first needed, decoded at most once, bounded.

Decoders are the part of any pipeline that strangers' bytes reach first, so every picture of the
project, whatever its origin, goes through `LazyImage`, which checks size before it decodes.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import ImageError

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 64 * 1024 * 1024
"""Largest encoded picture that is read."""

MAX_PIXELS = 64_000_000
"""Largest picture that is decoded: 6,000 × 6,000 passes, a decompression bomb does not."""


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
    def from_path(cls, path: str | Path, *, sha256: str | None = None) -> LazyImage:
        """Read from a file when first needed."""
        path = Path(path)

        def load() -> bytes:
            try:
                if path.stat().st_size > MAX_BYTES:
                    raise ImageError(
                        f"{path}: larger than {MAX_BYTES >> 20} MiB; make it smaller first."
                    )
                return path.read_bytes()
            except (OSError, ValueError) as error:  # a name may hold a null byte
                why = getattr(error, "strerror", None) or error
                raise ImageError(f"{path}: cannot be read ({why}).") from error

        return cls(load, name=str(path), sha256=sha256)

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
            data = self._load()
            if len(data) > MAX_BYTES:
                raise ImageError(
                    f"{self.name}: larger than {MAX_BYTES >> 20} MiB; make it smaller first."
                )
            self._data = data
        return self._data

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
    from PIL import Image as pil
    from PIL import UnidentifiedImageError

    if not data:
        raise ImageError(f"{name}: empty file (0 bytes); fetch or export it again.")
    try:
        with pil.open(io.BytesIO(data)) as opened:
            width, height = opened.size
            if width * height > MAX_PIXELS:
                raise ImageError(
                    f"{name}: {width} × {height} pixels is above the limit of {MAX_PIXELS:,}; "
                    "scale it down first."
                )
            opened.load()
            return upright_rgb(opened)
    except UnidentifiedImageError as error:
        raise ImageError(f"{name}: not a picture in any format Pillow knows.") from error
    except pil.DecompressionBombError as error:
        raise ImageError(f"{name}: a decompression bomb ({error}).") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise ImageError(f"{name}: broken or cut short ({error}); fetch it again.") from error


def upright_rgb(image: Image) -> Image:
    """A picture of any mode as RGB, upright by its EXIF orientation."""
    from PIL import ImageOps

    return _to_rgb(ImageOps.exif_transpose(image))


def _to_rgb(image: Image) -> Image:
    if image.mode.startswith("I"):  # 16- and 32-bit grey: Pillow clips instead of scaling
        import numpy as np
        from PIL import Image as pil

        wide = np.asarray(image).astype(np.float64)
        top = 65535.0 if wide.max(initial=0) > 255 else 255.0
        return pil.fromarray((wide * (255.0 / top)).clip(0, 255).astype(np.uint8)).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        from PIL import Image as pil

        rgba = image.convert("RGBA")
        ground = pil.new("RGBA", rgba.size, (255, 255, 255, 255))
        return pil.alpha_composite(ground, rgba).convert("RGB")
    return image.convert("RGB")
