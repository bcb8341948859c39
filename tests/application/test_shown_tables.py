"""What `measure` and `compare` give in Python shows itself as a table, and is one in pandas."""

from __future__ import annotations

from pathlib import Path

from planted_runs import plant

from simulator import Measured, load_run

CELL = {"estimate": 0.5, "low": 0.25, "high": 0.75, "n": 8, "failed": 1, "turns": 9, "why": "",
        "unit": "share"}  # fmt: skip
NONE = {"estimate": None, "low": None, "high": None, "n": 0, "failed": 2, "turns": 2, "why": "mute",
        "unit": "share"}  # fmt: skip
FOUND = Measured(
    folder="runs/a", rows=11, cost=0.0, condition="clean",
    tables=(
        {
            "title": "Ragas",
            "measures": ["faithfulness", "answer_relevance", "context_relevance"],
            "rows": [{"judge": "encoder", "approximate": True, "cells": [CELL, None, NONE]}]
        },
    )
)  # fmt: skip


def test_measures_print_as_a_table() -> None:
    lines = repr(FOUND).splitlines()
    assert lines[0] == "Ragas"
    (row,) = (line for line in lines if "faithfulness" in line)
    for words in ("encoder (approximate)", "0.500  [0.250, 0.750]", "8, 1 failed"):
        assert words in row
    assert any("context_relevance" in line and "0, 2 failed: mute" in line for line in lines)
    assert "answer_relevance" not in repr(FOUND)
    assert "<pre" in FOUND._repr_html_()


def test_measures_are_a_data_frame() -> None:
    frame = FOUND.to_frame()
    assert list(frame["measure"]) == ["faithfulness", "context_relevance"]
    assert (list(frame["estimate"][:1]), list(frame["judge"])) == ([0.5], ["encoder", "encoder"])


def test_a_comparison_is_a_data_frame(tmp_path: Path) -> None:
    first, second = (
        load_run(plant(tmp_path / name, sessions=6, run_seed=seed))
        for seed, name in enumerate(("a", "b"))
    )
    found = first.compare(second)
    frame = found.to_frame().set_index("figure")
    told = found["comparisons"][0]["as_experienced"]["truthfulness_score"]
    assert frame.loc["truthfulness", "estimate"] == told["estimate"]
    assert list(frame.index) == ["accuracy", "missing", "hallucination", "truthfulness"]
