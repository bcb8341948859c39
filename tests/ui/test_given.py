"""What an assistant was given is shown as such, and the box of truth as what it was not given."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from small_runs import write
from ui_parts import result, session

from mmrag.records import Step
from simulator.run.config import RunConfig
from simulator.store.run_reader import RunReader
from ui.render import render
from ui.replay.traceview import NOT_GIVEN, plan_of
from ui.replay.viewmodel import ConversationView, conversation


def shown(folder: Path, gaze: str) -> ConversationView:
    one = session(0, turns=2)
    first = msgspec.structs.replace(one.turns[0], gaze=(0.5, 0.25))
    one = msgspec.structs.replace(one, turns=(first, one.turns[1]))
    turns = [result(one, 0, "c"), result(one, 1, "c")]
    write(folder, (one, turns), judge="rules/1", config=RunConfig(gaze=gaze))
    return conversation(RunReader(folder), "run", one.id, "clean")


@pytest.mark.parametrize("gaze", ["on", "off"])
def test_the_gaze_is_shown_where_it_was_given(tmp_path: Path, gaze: str) -> None:
    """The picture has 240 × 320 pixels: the ring about (120, 80) is wider than high in per cent."""
    view = shown(tmp_path / "run", gaze)
    rings = [[o for o in turn.overlays if o.kind == "gaze"] for turn in view.turns]
    assert [len(some) for some in rings] == ([1, 0] if gaze == "on" else [0, 0])
    for ring in rings[0]:
        assert ring.left + ring.width / 2 == pytest.approx(50)
        assert ring.top + ring.height / 2 == pytest.approx(25)
        assert ring.width / ring.height == pytest.approx(320 / 240)


def test_the_box_of_truth_says_that_nobody_was_given_it(tmp_path: Path) -> None:
    view = shown(tmp_path / "run", "on")
    (box,) = view.overlays
    assert (box.kind, box.label) == ("focus", NOT_GIVEN)
    page = render(
        "conversation.html.j2", view=view, rows=[], current=0, kinds={"focus", "gaze"},
        thumbnails={},
    )  # fmt: skip
    assert "truth: not given to the assistant" in page
    assert page.index("gaze given") < page.index("truth: not given")


def test_a_reports_head_says_that_gaze_was_on(tmp_path: Path) -> None:
    from simulator.reports.draw.write import make_report
    from simulator.reports.figures.report import ReportOptions

    for gaze in ("on", "off"):
        shown(tmp_path / gaze, gaze)
        make_report([tmp_path / gaze], tmp_path / f"{gaze}-report", ReportOptions(resamples=20))
        page = (tmp_path / f"{gaze}-report" / "report.html").read_text()
        assert ("was given the wearer’s gaze" in page) is (gaze == "on")


def test_the_built_in_planner_is_shown_in_words() -> None:
    program = '["at_least",["number"],["get","it",0]]'
    info = {"by": "on", "question": "Is it over 30 g?", "program": program, "p": 0.8769}
    assert plan_of([(Step(name="planner", info=info), 0)]) == (
        ("question", "Is it over 30 g?"),
        ("comes to", "at least · the number that is said · look up · the thing in view"),
        ("sure", "88 %"),
    )
    assert plan_of([(Step(name="plan", info={"goal": "x"}), 0)]) == (("goal", "x"),)
