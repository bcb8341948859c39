"""Single tasks, and the figures that CRAG-MM-Diagnostics' `evaluate.py` gives on rows by hand.

The expected figures are what its functions returned for these rows and replies (commit be27355,
2026-11-24), without its model judge: then a reply is right if it is the very answer.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from PIL import Image
from small_runs import run_all

from mmrag.agents.fakes import ScriptedAgent
from mmrag.errors import SpecError, UsageError
from mmrag.judges.location_judges import BoxJudge, NameJudge
from mmrag.judges.simple import ExactJudge
from mmrag.records import JudgeItem, Session
from simulator.datasets import open_data
from simulator.parts.run_parts import Parts
from simulator.run.engine import Rules, query_of
from simulator.run.run_config import RunConfig
from simulator.stages.single_tasks import as_tasks
from simulator.stages.truth import OwnTruth
from simulator.stages.truth_stage_names import TASKS
from simulator.store.run_reader import RunReader

CLEAR, VAGUE = "enough cue", "not enough cue (ambiguous)"
ROWS = [
    # id, box in a picture of 480 × 640, name, label, answer
    ("a", [100, 100, 300, 400], "Subaru WRX", CLEAR, "268 hp"),
    ("b", [0, 0, 480, 400], "Kia K5", VAGUE, "2000"),
    ("c", [10, 20, 30, 40], "Alder Tower", VAGUE, "Anna Alder"),
    ("d", [200, 200, 400, 600], "KIA Optima", CLEAR, "No"),
]
REPLIES = {
    "grounding": ["[200, 200, 600, 800]", "I cannot say.", "[20,40,70,80]", "[400, 400, 700, 900]"],
    "identify": ["target_object: [Subaru WRX]", "[KIA K5]", "target_object: Alder Towers",
                 "kia optima "],
    "knowledge": ["268 HP", "In 2000", "Anna Alder", "I don't know"],
}  # fmt: skip
EXPECTED = {"grounding": (4, 3, 3), "identify": (4, 3, 3), "knowledge": (4, 2, 2)}
"""Task → total, exact, correct."""


def write_rows(folder: Path) -> Path:
    Image.new("RGB", (480, 640), (40, 90, 120)).save(folder / "a.png")
    lines = [
        {
            "id": name,
            "image": "a.png",
            "question": f"What of this, {name}?",
            "answer": answer,
            "metadata": {
                "referring_expression_category": label,
                "target_roi_bbox": box,
                "image_size": [480, 640],
                "target_object_name": thing,
                "textual_only_question": f"What of {thing}?",
                "disambiguated_question": f"What of the blue one, {name}?",
            },
        }
        for name, box, thing, label, answer in ROWS
    ]
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


@pytest.fixture
def rows(tmp_path: Path) -> list[Session]:
    return list(open_data(f"crag-mm-diagnostics:{write_rows(tmp_path)}"))


def tasks(sessions: list[Session], task: str) -> list[Session]:
    return [session for _, session in as_tasks(enumerate(sessions), task, OwnTruth())]


def test_rows_are_read_as_its_loader_reads_them(rows: list[Session]) -> None:
    first = rows[0]
    assert [session.id for session in rows] == ["a", "b", "c", "d"]
    assert first.capture is not None
    assert first.capture.image.pil().size == (960, 1280)
    assert first.capture.focus == (200, 200, 600, 800)
    assert first.turns[0].query == "What of this, a?"
    assert first.turns[0].meta == {"referring expression": CLEAR}
    known = OwnTruth().of(first)[0]
    assert (known.names, known.named) == (("Subaru WRX",), "What of Subaru WRX?")


def test_the_ambiguous_ones_are_a_split_with_questions_that_say_which(tmp_path: Path) -> None:
    found = list(open_data(f"crag-mm-diagnostics:{write_rows(tmp_path)}", split="ambiguous"))
    assert [s.turns[0].query for s in found] == ["What of the blue one, b?",
                                                 "What of the blue one, c?"]  # fmt: skip


def test_a_row_that_is_none_costs_itself_alone(tmp_path: Path) -> None:
    path = write_rows(tmp_path)
    path.write_text('{"id": "x", "metadata": 7}\n[1]\n' + path.read_text())
    found = list(open_data(f"crag-mm-diagnostics:{path}"))
    assert [session.id for session in found][2:] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("task", REPLIES)
def test_figures_are_those_of_its_evaluation(
    task: str, rows: list[Session], tmp_path: Path
) -> None:
    made = tasks(rows, task)
    script = {(s.id, 0): text for s, text in zip(made, REPLIES[task], strict=True)}
    judge = BoxJudge() if task == "grounding" else NameJudge(ExactJudge())
    run_all(tmp_path / "run", made, ScriptedAgent(script), judge)
    with RunReader(tmp_path / "run") as run:
        verdicts = [run.turns(s.id)[0].verdict for s in made]
    exact = sum(v is not None and v.exact for v in verdicts)
    right = sum(v is not None and v.outcome.is_correct for v in verdicts)
    assert (len(verdicts), exact, right) == EXPECTED[task]


def test_each_task_is_given_what_it_is_about(rows: list[Session]) -> None:
    given = {}
    for task in TASKS:
        session = tasks(rows, task)[0]
        given[task] = query_of(session, session.turns[0], (), Rules())
    whole = rows[0].capture.image.pil()
    assert given["knowledge"].image is None
    assert given["knowledge"].text == "What of Subaru WRX?"
    for task in ("grounding", "identify", "identify-alone"):
        assert given[task].image.pil().tobytes() == whole.tobytes()
    for task in ("identify-pointed", "identify-pointed-alone"):
        boxed = given[task].image.pil()
        assert boxed.size == whole.size
        assert boxed.getpixel((203, 500)) == (0, 255, 0)  # eight pixels wide, within the box
        assert boxed.getpixel((300, 500)) == whole.getpixel((300, 500))
    assert given["identify-alone"].text == given["identify-pointed-alone"].text
    assert given["identify"].text.endswith("What of this, a?")
    assert "[left, top, right, bottom]" in given["grounding"].text


@pytest.mark.parametrize(("reply", "right"), [("[2, 2]", True), ("[8.5, 8]", False),
    ("here: [0, 0, 10, 5]", True), ("[0,0,10,4]", False), ("no idea", True)])  # fmt: skip
def test_a_point_counts_in_the_outline_and_a_box_from_half_an_overlap_on(
    reply: str, right: bool
) -> None:
    references = ("[0, 0, 10, 10] of 10 x 10", "0,0 10,0 0,10")
    item = JudgeItem(question="?", references=references, prediction=reply)
    assert asyncio.run(BoxJudge().judge(item)).outcome.is_correct == right


def test_what_has_no_truth_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text('{"query": "What?", "references": ["a"]}')
    parts = Parts(RunConfig(data=str(tmp_path / "own.jsonl"), task="identify", agent="random"))
    with pytest.raises(UsageError, match="has no truth for --task identify"):
        parts.count()
    with pytest.raises(SpecError, match=r"no task is called 'luck'\. Known: grounding, identify-"):
        RunConfig(task="luck")
    with pytest.raises(SpecError, match="the thing stays where it is"):
        RunConfig(task="grounding", degrade="clean,rotated@3")
    with pytest.raises(SpecError, match="a single task has no stages"):
        RunConfig(task="identify", stages="all")
