"""The waterfall in a report and in the app, and a turn at every stage in Replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from called_command import mmrag
from crag_mm_rows import v1_row, v2_row, write
from PIL import Image
from small_runs import make_session, picture
from staged_runs import dues_of, hold_staged, some

from mmrag.agents.fakes import Oracle
from simulator.reports.draw.page import look_up
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.store.run_reader import RunReader
from ui.pages.replay import Replay
from ui.pages.robustness import Robustness
from ui.replay.conversation_list import ConversationList
from ui.replay.run_figures import RunFigures


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("staged") / "run"
    sessions = some(6)
    agent = Oracle(dues_of(sessions), "named", share=0.5, noise=0.2)
    hold_staged(folder, sessions, agent, degradations=("clean", "rotated@3"))
    return folder


def test_the_report_draws_the_waterfall(run: Path, tmp_path: Path) -> None:
    made = make_report([run], tmp_path / "out", ReportOptions(resamples=50))
    page = (tmp_path / "out" / "report.html").read_text()
    (one,) = made["runs"]
    assert [c["name"] for c in one["conditions"]] == ["clean", "rotated@3"]
    assert 'id="diagnosis0"' in page
    for at in range(len(one["diagnosis"]["falls"][0]["losses"])):
        path = f"runs.0.diagnosis.falls.0.losses.{at}.estimate"
        assert page.count(f'data-path="{path}"') >= 2  # chart, table; the largest on top
        assert look_up(json.loads((tmp_path / "out" / "report.json").read_text()), path) is not None
    assert "costs at which" not in page
    assert "rotated@3/pointed" not in page


def test_the_app_shows_the_waterfall_and_every_stage_of_a_turn(run: Path) -> None:
    runs = {"run": ConversationList(RunReader(run))}
    page = Robustness(RunFigures(runs)).open_robustness({"run": "run"})["view"]
    assert page.count('class="chart"') >= 2
    assert "Where it breaks" in page
    assert "Of what rotated&#64;3 costs" in page
    shown = Replay(runs).open_replay({"run": "run", "session": "s001", "condition": "rotated@3"})
    view = shown["view"]
    assert view.count("At every stage") == 3
    at = view.index("At every stage")
    first = view[at : view.index("</table>", at)]
    places = [first.index(f">{name}</a>") for name in ("whole", "pointed", "named", "told")]
    assert places == sorted(places)
    assert "condition=rotated%403%2Fpointed" in first or "rotated&#64;3%2Fpointed" in first
    assert "(This is Thing s001.)" in first
    assert first.count("What is pointed at") == 1
    assert first.index("+ 1 handed over") < first.index("+ 2 handed over")  # paged, told
    blind = Replay(runs).open_replay({"run": "run", "session": "s001", "condition": "named"})
    assert "A conversation without a picture" in blind["view"]


def test_stages_alone_are_something_to_look_at(tmp_path: Path) -> None:
    sessions = some(2)
    hold_staged(tmp_path / "run", sessions, Oracle(dues_of(sessions), "named"))
    runs = {"run": ConversationList(RunReader(tmp_path / "run"))}
    page = Robustness(RunFigures(runs)).open_robustness({"run": "run"})["view"]
    assert "Where it breaks" in page
    assert "Only one condition was run" not in page


def test_the_command_tells_where_a_run_breaks(run: Path) -> None:
    said = mmrag("diagnose", str(run), "--resamples", "50").stdout
    assert "Of what rotated@3 costs" in said
    found = json.loads(mmrag("diagnose", str(run), "--resamples", "0", "--json").stdout)
    assert next(one["loss"] for one in found["falls"][0]["losses"]) == "reasoning"


def test_a_run_without_stages_is_told_how_to_get_some(tmp_path: Path) -> None:
    sessions = [make_session(0)]
    hold_staged(tmp_path / "run", sessions, Oracle({}, "whole"), text="whole")
    done = mmrag("diagnose", str(tmp_path / "run"), code=2)
    assert "mmrag run --stages all" in done.stderr


def test_own_data_gives_what_its_columns_say(tmp_path: Path) -> None:
    """A box in one row of three, one outside the picture, names in all, no passages or facts."""
    Image.new("RGB", (32, 32)).save(tmp_path / "a.png")
    rows = (
        'image,question,answer,box,entity\na.png,What?,x,"2,2,20,20",Alder\na.png,Who?,y,,Ash\n'
        'a.png,How?,z,"40,2,60,20",Elm'
    )
    (tmp_path / "q.csv").write_text(rows)
    out = tmp_path / "run"
    said = mmrag("run", "--data", str(tmp_path / "q.csv"), "--agent", "random", "--out", str(out),
                 "--stages", "all", "--degrade", "clean,rotated@3")  # fmt: skip
    assert "stage pointed is left out of 2 of 3 conversations: no box." in said.stderr
    assert "stage told is left out of 3 of 3 conversations: no passages that are" in said.stderr
    with RunReader(out) as run:
        plan = run.meta("plan")
        assert plan["conversations"] == len(run.session_keys()) == 3 * 2 + 2 + 3
        assert run.meta("finished")
    found = json.loads(mmrag("diagnose", str(out), "--resamples", "0", "--json").stdout)
    assert {one["stage"] for one in found["left_out"]} >= {"paged", "told"}


def test_data_without_any_truth_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question,answer\nWhat?,x\n")
    out = tmp_path / "run"
    mmrag("run", "--data", str(tmp_path / "q.csv"), "--agent", "random", "--out", str(out),
          "--stages", "all")  # fmt: skip
    said = mmrag("diagnose", str(out), code=2).stderr
    assert "its data gives none (pointed: no picture; named: no name; paged: no name" in said


@pytest.mark.parametrize("layout", ["v1-parquet", "v2-parquet"])
def test_crag_mm_as_published_gives_the_whole_question_alone(tmp_path: Path, layout: str) -> None:
    """Its rows have a picture, questions and answers, and neither boxes nor names nor pages."""
    row = v1_row if layout.startswith("v1") else v2_row
    data = f"crag-mm:{write([row('a', data=picture())], tmp_path / 'set', layout)}"
    out = tmp_path / "run"
    said = mmrag("run", "--data", data, "--agent", "random", "--out", out, "--stages", "all",
                 "--degrade", "clean,low-light@3").stderr  # fmt: skip
    for stage, why in (("pointed", "box"), ("named", "name"), ("paged", "name"), ("told", "name")):
        assert f"stage {stage} is left out of 1 of 1 conversation: no {why}." in said
    with RunReader(out) as run:
        assert run.conditions() == ["clean", "low-light@3"]
        assert run.meta("finished")
    assert (
        "its data gives none (pointed: no box; named: no name"
        in mmrag("diagnose", out, code=2).stderr
    )
    assert "Where it breaks" not in page_of(out, tmp_path)
    assert "has no truth for --task identify" in mmrag(
        "run", "--data", data, "--agent", "random", "--out", tmp_path / "t", "--task", "identify",
        code=2,
    ).stderr  # fmt: skip


def page_of(run: Path, folder: Path) -> str:
    make_report([run], folder / "page", ReportOptions(resamples=20))
    return (folder / "page" / "report.html").read_text()


def test_own_passages_are_handed_over_where_they_are_labelled(tmp_path: Path) -> None:
    Image.new("RGB", (32, 32)).save(tmp_path / "a.png")
    passages = [{"id": "p1", "text": "Ash is a tree."}, {"id": "p2", "text": "Alder weighs 900 g."}]
    lines = [
        {"entity": "Alder", "passages": [passages[0], {**passages[1], "label": "answers"}]},
        {"entity": "Ash", "passages": passages},
    ]
    rows = [{"image": "a.png", "question": "What?", "answer": "x", **line} for line in lines]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    out = tmp_path / "run"
    said = mmrag("run", "--data", tmp_path / "q.jsonl", "--agent", "random", "--out", out,
                 "--stages", "all").stderr  # fmt: skip
    assert "stage paged is left out of 1 of 2 conversations: no passages that are" in said
    assert "stage told is left out of 2 of 2 conversations: no facts." in said
    with RunReader(out) as run:
        (session,) = [s for s in run.sessions() if s.stage == "paged"]
        assert [passage.id for passage in session.turns[0].handed] == ["p2"]


def test_a_single_task_is_run_by_its_own_judge(tmp_path: Path) -> None:
    Image.new("RGB", (32, 32)).save(tmp_path / "a.png")
    (tmp_path / "q.csv").write_text(
        'image,question,answer,box,entity\na.png,What?,x,"2,2,20,20",Alder\n'
    )
    for task, reply, judge in (
        ("grounding", "[2, 2, 20, 18]", "boxes/1"),
        ("identify", "target_object: [alder]", "names/1+builtin"),
    ):
        script = tmp_path / f"{task}.jsonl"
        script.write_text(json.dumps({"session_id": "row-2", "turn_index": 0, "reply": reply}))
        out = tmp_path / task
        mmrag("run", "--data", str(tmp_path / "q.csv"), "--task", task, "--out", str(out),
              "--agent", f"scripted:file={script}")  # fmt: skip
        with RunReader(out) as run:
            assert run.meta("judge").startswith(judge)
            (turn,) = run.turns("row-2")
            assert turn.verdict is not None
            assert turn.verdict.outcome.is_correct, turn
