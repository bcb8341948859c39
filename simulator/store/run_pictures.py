"""A run's pictures and sounds, each kept once under its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mmrag.errors import ImageError, StoreError
from mmrag.files.atomic import write_all
from mmrag.files.images import LazyImage
from mmrag.records import Session


class ImageFolder:
    """Pictures by content hash, each kept once, written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Where a picture lies. Only a hash is accepted, so no name can lead outside."""
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise StoreError(f"{digest!r} is not a picture of this run.")
        return self.folder / digest[:2] / digest

    def get(self, digest: str) -> LazyImage:
        """A picture of this run, loaded when needed."""
        if not digest:
            return LazyImage(_no_picture, name="picture that was never read", sha256="")
        return LazyImage(lambda: self._read(digest), name=str(self.path(digest)), sha256=digest)

    def _read(self, digest: str) -> bytes:
        path = self.path(digest)
        data = LazyImage.from_path(path).data
        if hashlib.sha256(data).hexdigest() != digest:
            raise ImageError(
                f"{path}: not the picture that the run was made with; restore it from a copy."
            )
        return data

    def put(self, pictures: Mapping[str, bytes]) -> None:
        """Keep pictures by their hash, unless they are here already."""
        new: dict[Path, bytes] = {}
        for digest, data in pictures.items():
            path = self.path(digest)
            if path.exists() and path.read_bytes() == data:
                continue
            if not path.parent.is_dir():
                self.folder.mkdir(exist_ok=True)  # not its parents: a moved run is not made anew
                path.parent.mkdir(exist_ok=True)
            new[path] = data
        write_all(new)


def without_picture(session: Session) -> Session:
    """A session whose picture cannot be had, as it can be written down all the same."""
    if session.capture is None:
        return session
    capture = msgspec.structs.replace(session.capture, image=LazyImage(bytes, sha256=""))
    return msgspec.structs.replace(session, capture=capture)


def _no_picture() -> bytes:
    raise StoreError("This session's picture could not be read when the run was made.")
