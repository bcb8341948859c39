"""`world.json`: what a world folder holds, what made it, and the hash of every file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import DataError, SpecError
from mmrag.files.atomic import file_sha256, write_bytes
from simulator.world.build.table_columns import MANIFEST, SCHEMA_VERSION

_BESIDE = ("README.md", "ladder.json")

LIBRARIES = ("numpy", "opencv-python-headless", "pillow", "pyarrow", "jinja2")
"""Libraries whose version can change the bytes of a world."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """`world.json`, checked for a version that this reader knows."""
    path = folder / MANIFEST
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError as error:
        raise SpecError(
            f"{folder} is no world: it has no {MANIFEST}. Write one with `mmrag world new`."
        ) from error
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); write the world again.") from error
    if manifest.get("schema_version") != SCHEMA_VERSION:
        raise DataError(
            f"{path}: layout version {manifest.get('schema_version')!r}, and this program reads "
            f"version {SCHEMA_VERSION}; write the world again from its seed."
        )
    return manifest


def write_manifest(folder: Path, about: dict[str, Any], rows: dict[str, int]) -> dict[str, Any]:
    """Hash the files of a finished folder and write `world.json`, the last file of a build.

    Nothing in it depends on when or how it was built, so two builds of a seed give equal bytes.
    """
    files = {
        path.name: _entry(path, rows.get(path.name))
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != MANIFEST and not path.name.startswith(".")
    }
    manifest = {
        "schema_version": SCHEMA_VERSION,
        **about,
        "libraries": library_versions(),
        "files": files,
    }
    manifest["fingerprint"] = fingerprint(manifest)
    _write(folder, manifest)
    return manifest


def replace_files(folder: Path, manifest: dict[str, Any], names: Sequence[str]) -> None:
    """Hash files of a world that were written anew, beside its content."""
    known = manifest["files"]
    changed = {name: _entry(folder / name, known.get(name, {}).get("rows")) for name in names}
    _write(folder, {**manifest, "files": dict(sorted({**known, **changed}.items()))})


def _entry(path: Path, rows: int | None) -> dict[str, Any]:
    return {"rows": rows, "bytes": path.stat().st_size, "sha256": file_sha256(path)}


def _write(folder: Path, manifest: dict[str, Any]) -> None:
    data = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    write_bytes(folder / MANIFEST, data)


def fingerprint(manifest: dict[str, Any]) -> str:
    """One hash over the files of a world that are its content: not what was measured of it, and
    not the card that says so."""
    digest = hashlib.sha256()
    for name, entry in sorted(manifest["files"].items()):
        if name in _BESIDE:
            continue
        digest.update(f"{name}\x00{entry['sha256']}\x00".encode())
    return digest.hexdigest()


def damaged_files(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """What is missing or differs from its recorded hash, in words."""
    problems: list[str] = []
    for name, entry in sorted(manifest["files"].items()):
        path = folder / name
        if not path.is_file():
            problems.append(f"{name} is missing")
        elif path.stat().st_size != entry["bytes"]:
            problems.append(f"{name} has {path.stat().st_size:,} bytes, not {entry['bytes']:,}")
        elif file_sha256(path) != entry["sha256"]:
            problems.append(f"{name} differs from its recorded hash")
    return problems


def generator_revision() -> str:
    """Hash of the program text that makes worlds and their pictures: another may make others."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]
    texts = [path for room in ("studio", "world") for path in (root / room).rglob("*")]
    for path in sorted(texts):
        if path.suffix in (".py", ".j2", ".txt", ".yaml"):
            digest.update(f"{path.relative_to(root).as_posix()}\x00".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def library_versions() -> dict[str, str]:
    """The versions of the libraries that matter to the bytes."""
    from importlib.metadata import version

    return {name: version(name) for name in LIBRARIES}
