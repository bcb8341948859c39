"""What an agent is given at each stage, and that searches and resumed runs know it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from called_command import mmrag
from PIL import Image
from small_runs import interrupted, make_session
from staged_runs import BOX, AllTruth, dues_of, hold_staged, some, without

from mmrag.agents.fakes import Oracle, ScriptedAgent
from mmrag.cache import Cache, CachedWebSearch
from mmrag.errors import DataError, SpecError
from mmrag.files.images import LazyImage
from mmrag.records import Capture, Evidence, Query, Session
from mmrag.search.session_passages import HandedSearch, SessionSearch, search_in
from simulator.reports.draw.page import look_up
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.run.captures import CaptureOptics
from simulator.run.config import RunConfig
from simulator.run.engine import Rules, query_of
from simulator.stages.handing import box_in
from simulator.stages.spec import stages
from simulator.store.run_store import RunReader
from ui.pages.replay import Replay
from ui.pages.robustness import Robustness
from ui.replay.analysis import Analysis
from ui.replay.catalogue import Catalogue


def given(condition: str, rules: Rules = Rules(), session: Session | None = None) -> Query:
    seen = CaptureOptics(AllTruth()).apply(session or make_session(1), condition, 0)
    assert seen.degradation == condition
    return query_of(seen, seen.turns[1], (), rules)


@pytest.mark.parametrize("way", ["", ":crop", ":drawn", ":gaze"])
def test_a_thing_is_pointed_at(way: str) -> None:
    whole = make_session(1).capture.image.pil()
    query = given(f"pointed{way}")
    shown = query.image.pil()
    if way in ("", ":crop"):
        assert shown.tobytes() == whole.crop(BOX).tobytes()
        assert query.gaze == (0.5, 0.5)
    else:
        assert query.gaze == (7 / 16, 9 / 16)
        assert (shown.getpixel((2, 4)) == (0, 255, 0)) == (way == ":drawn")
        assert shown.getpixel((7, 9)) == whole.getpixel((7, 9))


def test_a_box_goes_with_what_was_done_to_the_picture() -> None:
    """A quarter turn and a cut, by hand: (x, y) lands at (16 - y, x)."""
    capture = make_session(1).capture
    record = {"matrix": [0, -1, 16, 1, 0, 0, 0, 0, 1], "size": [16, 16]}
    assert box_in(without(capture, degraded=record), BOX) == (2, 2, 12, 12)
    gone = {"matrix": [1, 0, 50, 0, 1, 0, 0, 0, 1], "size": [16, 16]}
    assert box_in(without(capture, degraded=gone), BOX) is None
    assert box_in(None, BOX) is None


def test_stages_without_a_picture_hand_over_ever_more() -> None:
    named, paged, told = (given(stage) for stage in ("named", "paged", "told"))
    assert {q.image for q in (named, paged, told)} == {None}
    assert named.text == "question 1 of 1? (This is Thing s001.)"
    assert (named.handed, [p.id for p in paged.passages]) == (0, ["page-1"])
    assert [p.id for p in told.passages] == ["fact-1", "page-1"]
    assert told.handed == 2
    assert len({q.scope for q in (named, paged, told)}) == 3  # nothing is remembered across them


def test_who_searches_nothing_reads_it_beneath_the_question() -> None:
    query = given("told", Rules(in_words=True))
    assert query.text == (
        "question 1 of 1? (This is Thing s001.)\n\nThis is known:\n"
        "- The 1 of Thing s001 is so.\n- A page about Thing s001, turn 1."
    )


class Counted:
    """A search that says how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def search_text(self, queries: list[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        self.asked += len(queries)
        return [(Evidence(source="web", id="found", score=0.5, text="found"),)] * len(queries)


def test_what_is_handed_is_found_first_and_the_rest_is_cached() -> None:
    behind = Counted()
    search = HandedSearch(CachedWebSearch(SessionSearch(behind), "x", Cache()))
    query = given("paged")
    for passages, handed, ids in (
        ((), 0, ["found"]),
        (query.passages, query.handed, ["page-1", "found"]),
        (query.passages, 0, ["page-1"]),  # brought by the session: these alone
        ((), 0, ["found"]),
    ):
        search_in(passages, handed)
        assert [hit.id for hit in search.search_text(["about thing"])[0]] == ids
    search_in(())
    assert behind.asked == 1


def test_a_picture_that_cannot_be_had_costs_no_stage_without_one(tmp_path: Path) -> None:
    def refuse() -> bytes:
        raise DataError("gone")

    broken = without(make_session(0), capture=Capture(image=LazyImage(refuse, name="gone")))
    hold_staged(tmp_path / "run", [broken], ScriptedAgent({}))
    with RunReader(tmp_path / "run") as run:
        statuses = {c: str(run.turns("s000", c)[0].status) for c in run.conditions()}
    assert statuses == {
        "clean": "data_error", "pointed": "data_error",
        "named": "abstained", "paged": "abstained", "told": "abstained",
    }  # fmt: skip


def test_an_interrupted_run_goes_on_with_what_was_handed_over(tmp_path: Path) -> None:
    """Whatever the data would hand over by now: a conversation is of one piece."""
    sessions, asked = some(1, turns=3), list[Query]()

    class Listens:
        def __init__(self, most: int) -> None:
            self.most = most

        async def answer(self, query: Query) -> object:
            if len(asked) == self.most:
                await interrupted()
            asked.append(query)
            return await ScriptedAgent({}).answer(query)

    with pytest.raises(asyncio.CancelledError):
        hold_staged(tmp_path / "run", sessions, Listens(7), text="named,told")
    with RunReader(tmp_path / "run") as run:
        assert len(run.turns("s000", "told")) < 3
    hold_staged(tmp_path / "run", sessions, Listens(99), text="named,told")
    told = [query.text for query in asked if query.handed]
    assert len(asked) == 9
    assert told == [f"question {i} of 0? (This is Thing s000.)" for i in range(3)]


def test_settings_that_make_no_sense_are_refused() -> None:
    assert stages("whole") == ("whole",)
    for text, words in (
        ("named,luck", "no stage is called 'luck'"),
        ("named:crop", "only pointed has ways"),
        ("pointed,pointed:drawn", "point in one way"),
        (",", "names no stage"),
    ):
        with pytest.raises(SpecError, match=words):
            RunConfig(stages=text)
    for more in ({"wearer": "live"}, {"degrade": "mix"}):
        with pytest.raises(SpecError, match="leave --stages and --task"):
            RunConfig(stages="all", **more)


def test_a_thing_of_which_hardly_anything_is_left_is_shown_as_it_is() -> None:
    session = make_session(1)
    picture = LazyImage.from_pil(Image.new("RGB", (3, 3)))
    small = without(session, capture=Capture(image=picture))
    assert given("pointed", session=small).image.pil().size == (3, 3)


# -- shown


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
    runs = {"run": Catalogue(RunReader(run))}
    page = Robustness(Analysis(runs)).open_robustness({"run": "run"})["view"]
    assert page.count('class="chart"') >= 2
    assert "Where it breaks" in page
    assert "Of what rotated&#64;3 costs" in page
    shown = Replay(runs).open_replay({"run": "run", "session": "s001", "condition": "rotated@3"})
    view = shown["view"]
    assert view.count("At every stage") == 3
    at = view.index("At every stage")
    head = view[at : view.index("</tr>", at)]
    assert [head.index(f">{name}</a>") for name in ("whole", "pointed", "named", "told")]
    assert "(This is Thing s001.)" in view
    assert "condition=rotated%403%2Fpointed" in head or "rotated&#64;3%2Fpointed" in head
    blind = Replay(runs).open_replay({"run": "run", "session": "s001", "condition": "named"})
    assert "A conversation without a picture" in blind["view"]


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
    """A box in one row of two, a name in both, and no passages or facts."""
    Image.new("RGB", (32, 32)).save(tmp_path / "a.png")
    rows = 'image,question,answer,box,entity\na.png,What?,x,"2,2,20,20",Alder\na.png,Who?,y,,Ash'
    (tmp_path / "q.csv").write_text(rows)
    out = tmp_path / "run"
    said = mmrag("run", "--data", str(tmp_path / "q.csv"), "--agent", "random", "--out", str(out),
                 "--stages", "all", "--degrade", "clean,rotated@3")  # fmt: skip
    assert "stage pointed is left out of 1 of 2 conversations: no box." in said.stderr
    assert "stage told is left out of 2 of 2 conversations: no passages that are" in said.stderr
    with RunReader(out) as run:
        plan = run.meta("plan")
        assert plan["conversations"] == len(run.session_keys()) == 2 * 2 + 2 + 2
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
