"""Where an artefact comes from: everything needed to make it again."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mmrag.records import SCHEMA_VERSION

_LIBRARIES = (
    "mmrag", "torch", "torchvision", "transformers", "open-clip-torch", "numpy",
    "pillow", "opencv-python-headless", "albumentations", "tokenizers", "rapidocr-onnxruntime",
)  # fmt: skip


def provenance(**more: Any) -> dict[str, Any]:
    """Versions, code revision and whatever the caller adds (seeds, fingerprints)."""
    return {
        "schema_version": SCHEMA_VERSION,
        "revision": revision(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "libraries": {name: found for name in _LIBRARIES if (found := installed_version(name))},
        **more,
    }


def revision() -> str | None:
    """The code's git revision, with `+changes` when the tree differs from it; None outside git."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    try:
        head = _git(root, "rev-parse", "HEAD")
        return head + ("+changes" if _git(root, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout.strip()


def installed_version(name: str) -> str | None:
    """The version of a package, if it is there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
