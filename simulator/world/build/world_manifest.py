"""`world.json`: what a world folder holds, what made it, and its hashes; and the data-set card.

The card is what `datasets.load_dataset(folder, "multi-turn")` reads.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import DataError, SpecError
from mmrag.files.atomic import file_sha256, write_bytes
from mmrag.records import Record
from simulator.message_text import counted
from simulator.world.build.table_parts import MANIFEST, SCHEMA_VERSION, TABLES
from simulator.world.build.world_request import difficulty_of
from simulator.world.language.voices.voice_reader import describe_voices

LADDER = "ladder.json"
_BESIDE = ("README.md", LADDER)

LIBRARIES = ("numpy", "opencv-python-headless", "pillow", "pyarrow", "jinja2")
"""Libraries whose version can change the bytes of a world."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """`world.json`, checked for a version that this reader knows."""
    path = folder / MANIFEST
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError as error:
        raise SpecError(
            f"{folder} is not a world: it has no {MANIFEST}. Write one with `mmrag world new`."
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
    """Hash the files of a finished folder and write `world.json`, the last file of a build. Nothing
    in it depends on when or how it was built, so two builds of a seed give equal bytes."""
    files = {
        path.name: _entry(path, rows.get(path.name))
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != MANIFEST and not path.name.startswith(".")
    }
    manifest = {
        "schema_version": SCHEMA_VERSION,
        **about,
        "libraries": {name: version(name) for name in LIBRARIES},
        "files": files,
    }
    manifest["fingerprint"] = fingerprint(manifest)
    _write(folder, manifest)
    return manifest


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


class Rung(Record, frozen=True, kw_only=True):
    """One stage: what an agent was handed, and how often it was right."""

    stage: str
    handed: str
    right: int
    wrong: int
    turns: int
    unscored: int = 0
    """Turns on which the agent or the judge failed; no share counts them."""


class Ladder(Record, frozen=True, kw_only=True):
    """How often an agent is right when it is handed truth stage by stage."""

    agent: str
    judge: str
    conversations: int
    rungs: tuple[Rung, ...]

    def as_text(self) -> str:
        """A table in Markdown."""
        lines = "".join(
            f"| {r.handed} | {r.right / scored:.1%} | {r.wrong / scored:.1%} |\n"
            for r in self.rungs
            if (scored := r.turns - r.unscored)
        )
        failed, turns = sum(r.unscored for r in self.rungs), sum(r.turns for r in self.rungs)
        left_out = f"\n{failed:,} of {turns:,} answers could not be scored and are left out.\n"
        return (
            f"`{self.agent}` over {counted(self.conversations, 'conversation')} "
            f"({self.rungs[0].turns:,} turns), judged by {self.judge}:\n\n"
            f"| handed | right | wrong |\n|---|---|---|\n{lines}{left_out if failed else ''}"
        )


def keep_ladder(folder: Path, ladder: Ladder) -> None:
    """Write a ladder into its world, and onto the world's card."""
    data = msgspec.json.format(msgspec.json.encode(ladder), indent=2) + b"\n"
    manifest = read_manifest(folder)
    rows = {name: of["rows"] for name, of in manifest["files"].items() if of["rows"] is not None}
    write_bytes(folder / LADDER, data)
    write_bytes(folder / "README.md", dataset_card(manifest, rows, ladder).encode())
    known = manifest["files"]
    changed = {name: _entry(folder / name, known.get(name, {}).get("rows")) for name in _BESIDE}
    _write(folder, {**manifest, "files": dict(sorted({**known, **changed}.items()))})


def dataset_card(about: dict[str, Any], rows: dict[str, int], ladder: Ladder | None = None) -> str:
    """README.md with the configurations in its head."""
    configs = "\n".join(
        f"- config_name: {table}\n  data_files:\n  - split: validation\n    path: {table}.parquet"
        for table in TABLES
    )
    lines = "\n".join(f"| {name} | {count:,} |" for name, count in sorted(rows.items()))
    dial = difficulty_of(about)
    difficulty = dial.in_words() if dial else "unknown"
    climbed = ladder.as_text() if ladder else "Not measured: `mmrag world ladder FOLDER`.\n"
    return (
        f"---\nlicense: apache-2.0\nconfigs:\n{configs}\n---\n\n"
        f"# A fictional world (seed {about['seed']}, size {about['request']['size']})\n\n"
        "Every name and every fact in it is invented; nothing here is true of the real world. "
        f"Questions and pages are in the {describe_voices(about['request']['voices'])}. "
        "A small share of the pages carries instructions addressed to assistants, on purpose and "
        "labelled as `hostile`. Pictures, pages and facts are made by mmrag and under its licence, "
        "Apache 2.0.\n\n"
        f"| table | rows |\n|---|---|\n{lines}\n\n"
        f"## Difficulty\n\n{difficulty[0].upper()}{difficulty[1:]}.\n\n{climbed}"
    )
