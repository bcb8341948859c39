"""What an index says about itself, so that it is never searched with the wrong encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import ConflictError, StoreError
from mmrag.files.atomic import file_sha256, write_json
from mmrag.passages import Chunker
from mmrag.records import Record

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
PLAN = "build.json"
"""What a build was asked for; an index that was taken over has none."""


class Manifest(Record, frozen=True, kw_only=True):
    """One part (images or web) of an index. Written last: a folder without it is half built."""

    part: str
    """images or web."""
    encoder: str
    """The encoder's id: name, revision, pooling, instruction."""
    encoder_spec: str
    """How to make that encoder again."""
    dim: int
    rows: int
    pages: int = 0
    metric: str = "cosine"
    chunker: Chunker | None = None
    collection: str = ""
    """Name of the Chroma collection."""
    chroma_url: str | None = None
    """Of a server; None: the folder `chroma` beside this file."""
    source: str = ""
    """What was indexed, by name and fingerprint."""
    views: str = ""
    """Views that a picture's vector is the mean of; empty: the picture as it is."""
    files: Mapping[str, str] = {}
    """Derived file → content hash."""
    versions: Mapping[str, str] = {}
    schema_version: int = SCHEMA_VERSION

    @property
    def fingerprint(self) -> str:
        """Identifies what a search can return: content, vectors and their encoder."""
        steer: dict[str, Any] = {
            "encoder": self.encoder, "metric": self.metric, "rows": self.rows,
            "chunker": self.chunker, "files": {k: v for k, v in self.files.items() if "/" not in k},
        }  # fmt: skip
        data = msgspec.json.encode(steer, order="deterministic")
        return f"{self.part}-{hashlib.sha256(data).hexdigest()[:16]}"

    def check_encoder(self, encoder_id: str) -> None:
        """Refuse another encoder, naming both."""
        if encoder_id != self.encoder:
            raise ConflictError(
                f"This index of {self.part} was built with the encoder {self.encoder!r}; it cannot "
                f"be searched with {encoder_id!r}: the two do not speak of the same space. Open it "
                f"with {self.encoder_spec!r}, or build it again."
            )


def read_manifest(folder: Path) -> Manifest:
    """The manifest of one part of an index."""
    path = folder / MANIFEST
    built = (folder / PLAN).exists()
    try:
        return _read(path)
    except FileNotFoundError as error:
        raise StoreError(
            f"{folder}: "
            + ("a build that was not finished; run the same `mmrag index build` again."
               if built else "no index here; make one with `mmrag index build`.")
        ) from error  # fmt: skip
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(
            f"{path}: cannot be read ({error}); "
            + ("run the same `mmrag index build` again." if built else
               f"delete {folder} and run the same `mmrag index import` again.")
        ) from error  # fmt: skip


def manifest_if_whole(folder: Path) -> Manifest | None:
    """The manifest of a part that is whole by it: there, readable, all files as it says."""
    try:
        manifest = _read(folder / MANIFEST)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return None if check_files(folder, manifest) else manifest


def _read(path: Path) -> Manifest:
    manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    if manifest.schema_version > SCHEMA_VERSION:
        raise StoreError(
            f"{path}: written by a newer version (schema {manifest.schema_version}, known is "
            f"{SCHEMA_VERSION}). Update mmrag, or build the index again."
        )
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest; from then on the part can be opened."""
    write_json(folder / MANIFEST, manifest)


def check_files(folder: Path, manifest: Manifest) -> list[str]:
    """Derived files that are missing or changed since the build."""
    return [
        name
        for name, digest in manifest.files.items()
        if not (folder / name).is_file() or file_sha256(folder / name) != digest
    ]
