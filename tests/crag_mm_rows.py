"""CRAG-MM in both published layouts, a few rows of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets

DOMAINS = ["animal", "other", "shopping", "book", "general object recognition"]
TYPES = ["reasoning", "simple-knowledge", "comparison"]
DYNAMISM = ["fast-changing", "static"]
QUALITY = ["rotated", "truncated", "occluded", "low light", "blurred", "normal"]


def label(names: list[str]) -> datasets.ClassLabel:
    return datasets.ClassLabel(names=names)


V2 = datasets.Features(
    {
        "session_id": datasets.Value("string"),
        "image": datasets.Image(),
        "image_url": datasets.Value("string"),
        "turns": {
            "interaction_id": datasets.List(datasets.Value("string")),
            "domain": datasets.List(label(DOMAINS)),
            "query_category": datasets.List(label(TYPES)),
            "dynamism": datasets.List(label(DYNAMISM)),
            "query": datasets.List(datasets.Value("string")),
            "image_quality": datasets.List(label(QUALITY)),
        },
        "answers": {
            "interaction_id": datasets.List(datasets.Value("string")),
            "ans_full": datasets.List(datasets.Value("string")),
        },
    }
)


def v2_row(sid: str = "a", *, url: str = "", data: bytes | None = None) -> dict[str, Any]:
    return {
        "session_id": sid, "image": {"bytes": data, "path": None} if data else None,
        "image_url": url,
        "turns": {
            "interaction_id": [f"{sid}0", f"{sid}1"], "domain": [0, 4], "query_category": [2, 1],
            "dynamism": [0, 1], "query": ["what is it?", "and the other one?"],
            "image_quality": [3, 3]
        },
        "answers": {"interaction_id": [f"{sid}1", f"{sid}0"], "ans_full": ["second", "first"]}
    }  # fmt: skip


def v1_row(sid: str = "a", *, url: str = "", data: bytes | None = None) -> dict[str, Any]:
    return {
        "session_id": sid,
        "image": {"bytes": data, "path": None} if data else None,
        "image_url": url,
        "image_quality": "low light",
        "turns": [
            {
                "interaction_id": f"{sid}{i}", "domain": DOMAINS[d], "query_category": TYPES[t],
                "dynamism": DYNAMISM[i], "query": q,
            }
            for i, (d, t, q) in enumerate([(0, 2, "what is it?"), (4, 1, "and the other one?")])
        ],
        "answers": [
            {"interaction_id": f"{sid}1", "ans_full": "second"},
            {"interaction_id": f"{sid}0", "ans_full": "first"},
        ],
    }  # fmt: skip


def write(rows: list[dict[str, Any]], folder: Path, layout: str) -> str:
    if layout.startswith("v2"):
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        data = datasets.Dataset.from_dict(columns, features=V2)
    else:
        data = datasets.Dataset.from_list(rows)
    if layout.endswith("parquet"):
        folder.mkdir(parents=True)
        data.to_parquet(folder / "train-00000-of-00001.parquet")
    else:
        data.save_to_disk(str(folder))
    return str(folder)
