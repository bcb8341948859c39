"""`mmrag measure --prompts likelihood` end to end, with the small model's tiny sister."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_gguf import write_tiny
from typer.testing import CliRunner

from mmrag.models import models
from mmrag.models.smollm2.model import SmolLM2
from simulator.cli import build
from simulator.store.run_store import RunReader

LINES = [
    {
        "id": str(number),
        "question": "How long is the bridge?",
        "answer": answer,
        "passages": [
            {"id": "a", "text": "The bridge is 40 m long.", "label": "answers"},
            {"id": "b", "text": "Cats purr.", "label": "irrelevant"},
        ],
        "references": ["It is 40 m long."],
    }
    for number, answer in enumerate(["It is 40 m long [1].", "It is 7 m long.", "I don't know."])
]


@pytest.fixture
def tiny_model(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("gguf", reason="the package gguf is not installed (extra smollm2)")
    file = write_tiny(tmp_path / "tiny.gguf")
    made = SmolLM2(file, sha256=hashlib.sha256(file.read_bytes()).hexdigest(), max_tokens=8)
    models._targets["tiny"] = lambda: made  # pyright: ignore[reportPrivateUsage]
    yield "tiny"
    del models._targets["tiny"]  # pyright: ignore[reportPrivateUsage]


def test_every_measure_has_a_row_of_the_small_model(tiny_model: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    measures = "faithfulness,context_relevance,garage"  # a random network ends no question
    words = ["measure", str(path), "--measures", measures, "--model", tiny_model]
    words += ["--prompts", "likelihood", "--json"]
    done = CliRunner().invoke(build(), words)
    assert done.exit_code == 0, done.output
    with RunReader(path.with_suffix(".measured")) as run:
        rows = [
            row
            for session, condition in run.session_keys()
            for found in run.measurements(session, condition).values()
            for row in found
        ]
    assert len(rows) == 3 * (2 + 10)  # two of Ragas, GaRAGe's ten
    assert not [row.reason for row in rows if row.failed]
    judged = [row for row in rows if not row.measure.startswith("attribution")]
    assert all(row.approximate for row in judged)
    assert all("likelihood" in row.judge and "tiny" in row.judge for row in judged)
    assert {row.value for row in judged if row.measure == "deflection_false_positive"} == {0.0, 1.0}
