"""Pictures and files of somebody's own, for tests."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image

TURNS = [{"query": "What is this?", "references": ["a kettle"]}]


def photo(path: Path, size: tuple[int, int] = (40, 30)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (200, 90, 20)).save(path)
    return path


def write(folder: Path, *lines: object, name: str = "my.jsonl") -> Path:
    path = folder / name
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path
