"""The fictional world in GaRAGe's form: answers whose labels are true by construction."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mmrag.judges.measure_registry import label_measurers
from mmrag.metrics.grounding import GARAGE
from simulator.datasets.papers.answers import read_answers
from simulator.world.language.graded_answers import FORMS, graded_answers
from simulator.world.sessions import mini_folder


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    return list(graded_answers(mini_folder(), count=200, seed=3))


def test_the_same_seed_gives_the_same_lines(lines: list[dict[str, Any]]) -> None:
    again = list(graded_answers(mini_folder(), count=20, seed=3))
    assert again == lines[:20]
    assert list(graded_answers(mini_folder(), count=20, seed=4)) != again


def test_every_form_and_label_is_there(lines: list[dict[str, Any]]) -> None:
    assert {line["meta"]["form"] for line in lines} == set(FORMS)
    labels = {p["label"] for line in lines for p in line["passages"]}
    assert labels == {"answers", "related", "outdated", "irrelevant", "unknown"}


def test_labels_fit_the_passages(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        form, notes = line["meta"]["form"], line["annotations"]
        there = {p["label"] for p in line["passages"]}
        assert notes["should_deflect"] == ("answers" not in there)
        assert notes["deflects"] == form.endswith("declining")
        assert len(notes["support"]) == len(notes["relevant_support"]) >= 1
        places = {p["id"]: p["label"] for p in line["passages"]}
        cited = [places[i] for i in re.findall(r"\[(\d+)\]", line["answer"])]
        if form == "right":
            assert cited == ["answers"]
        if form == "out of date":
            assert cited == ["outdated"]
        if form == "padded":
            assert cited[0] == "answers"
            assert cited[1] not in ("answers", "related")


def test_the_forms_get_the_figures_that_they_must(tmp_path: Path, lines: Any) -> None:
    path = tmp_path / "world.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    expected = {  # eligibility, unadjusted factuality, factuality, uRAF, RAF
        "right": (1, 1, 1, 1, 1),
        "right and related": (1, 1, 1, 1, 1),
        "out of date": (1, 1, 1, 0, 0),
        "wrong": (1, 0, 0, 0, 0),
        "beside the point": (0, 1, 0, 1, 0),
        "padded": (1, 1, 1, 0, 0),
        "unfounded": (1, 0, 0, 0, 0),
        "denied": (1, 0, 0, 0, 0),
        "swapped": (1, 0, 0, 0, 0),
        "needless declining": (0, 1, 0, 1, 0),
    }
    garage = label_measurers()[1]
    for answered, line in zip(read_answers(path), lines, strict=True):
        found = {m.measure: m.value for m in asyncio.run(garage.measure(answered.case, GARAGE))}
        form = line["meta"]["form"]
        if form in ("rightly declining", "invented"):
            assert found["deflection_true_positive"] == float(form == "rightly declining")
            assert found["raf"] is None
        else:
            assert tuple(found[name] for name in GARAGE[:5]) == expected[form], form
            assert found["deflection_false_positive"] == float(form == "needless declining")
