"""A model's files: what identifies its weights, and an error that says how to get them."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Generator
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from mmrag.errors import Unavailable


@contextlib.contextmanager
def hub_errors(kind: str, name: str, instead: str) -> Generator[None]:
    """Turn what the hub's client raises into `Unavailable` with the cure."""
    import httpx
    from safetensors import SafetensorError

    broken = (EOFError, UnpicklingError, SafetensorError)
    try:
        yield
    except (OSError, ValueError, RuntimeError, KeyError, httpx.HTTPError, *broken) as error:
        first = str(error).strip().splitlines()[0][:300] if str(error).strip() else ""
        raise Unavailable(
            f"The {kind} {name!r} cannot be loaded ({type(error).__name__}: {first}). If this "
            f"machine has no hub access, run `hf download {name}` on one that has, copy the folder "
            f"and give its path instead of the name; or use {instead}, which needs no download."
        ) from error


def check_tokenizer(tokenizer: Any) -> None:
    """Refuse one that knows no words: transformers makes such a one where its files are missing."""
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        raise ValueError("its tokenizer knows no words; tokenizer.json is missing or broken")


def revision_of(place: str, revision: str) -> str:
    """What identifies a model's weights: the hash of a folder's weights, or a hub revision. A hub
    name keeps the resolved commit where the hub's cache tells it."""
    folder = Path(place)
    if folder.is_file():
        return short_file_hash(folder)
    if folder.is_dir():
        weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
        digest = hashlib.sha256("".join(short_file_hash(path) for path in weights).encode())
        return digest.hexdigest()[:12]
    with contextlib.suppress(Exception):  # only a better name for the revision hangs on it
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(place, "config.json", revision=revision)
        match = re.search(r"snapshots/([0-9a-f]{12})", found) if isinstance(found, str) else None
        if match:
            return match.group(1)
    return revision


def short_file_hash(path: Path) -> str:
    """The first digits of a file's content hash, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()[:12]
