"""What an agent is given at each stage, and that searches and resumed runs know it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from called_command import mmrag
from PIL import Image
from small_runs import interrupted, make_session
from staged_runs import BOX, AllTruth, diagnosed, dues_of, hold_staged, some, without

from mmrag.agents.fakes import ORACLES, Oracle, ScriptedAgent
from mmrag.cache import Cache, CachedWebSearch
from mmrag.errors import DataError, SpecError
from mmrag.files.images import LazyImage
from mmrag.records import Capture, Evidence, Query, Reply, Session
from mmrag.search.session_passages import HandedSearch, SessionSearch, search_in
from simulator.reports.draw.page import look_up
from simulator.reports.draw.write import make_report
from simulator.reports.figures.diagnosis import IGNORES, in_words
from simulator.reports.figures.report import ReportOptions, load_runs
from simulator.run.captures import CaptureOptics
from simulator.run.config import RunConfig
from simulator.run.engine import Rules, query_of
from simulator.stages.handing import box_in
from simulator.stages.spec import LOSSES, stages
from simulator.stages.truth import Known, OwnTruth
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
    assert ([p.id for p in told.passages], told.handed) == (["fact-1", "page-1"], 2)
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


# -- diagnosis


@pytest.mark.parametrize("needs", ORACLES[1:])
def test_an_oracle_is_right_from_its_stage_on_and_never_before(needs: str, tmp_path: Path) -> None:
    sessions = some(3)
    hold_staged(tmp_path / "run", sessions, Oracle(dues_of(sessions), needs))
    with RunReader(tmp_path / "run") as run:
        for at, stage in enumerate(ORACLES[1:], 1):
            condition = "clean" if stage == "whole" else stage
            for session in sessions:
                right = [t.verdict.outcome.is_correct for t in run.turns(session.id, condition)]
                assert right == [at >= ORACLES.index(needs)] * 3, (stage, right)


@pytest.mark.parametrize(("needs", "lost"), list(zip(ORACLES[2:], LOSSES.values(), strict=False)))
def test_all_points_are_lost_at_the_one_stage(needs: str, lost: str, tmp_path: Path) -> None:
    sessions = some(4)
    hold_staged(tmp_path / "run", sessions, Oracle(dues_of(sessions), needs))
    (fall,) = diagnosed(tmp_path / "run", resamples=0)["falls"]
    losses = {one["loss"]: one["estimate"] for one in fall["losses"]}
    assert fall["score"]["estimate"] == 0
    if needs == "pointed" or "finding" in losses:
        assert losses == {name: float(name == lost) for name in losses}
    else:  # it says the same with a box as without
        assert losses["finding and recognising"] == float(lost in ("finding", "recognising"))
        assert sum(losses.values()) == pytest.approx(1)
        assert losses[lost if lost in losses else "finding and recognising"] == 1


def test_what_darkness_costs_is_told_by_stage(tmp_path: Path) -> None:
    sessions = some(4)
    dues = dues_of(sessions)

    class Lost:
        """Finds nothing in the dark, and half of it in the light."""

        async def answer(self, query: Query) -> Reply:
            due = dues[query.session_id, query.turn_index]
            dark = query.image is not None and "low-light" in query.image.name
            lost = dark or query.turn_index == 0
            return Reply(text="?" if lost and query.image and not query.gaze else due.answer)

    hold_staged(tmp_path / "run", sessions, Lost(), degradations=("clean", "low-light@3"))
    found = diagnosed(tmp_path / "run", resamples=0)
    clean, dark = found["falls"]
    assert [one["loss"] for one in clean["losses"]] == list(LOSSES.values())[::-1]
    assert clean["losses"][-1]["estimate"] == pytest.approx(2 / 3)  # a wrong reply costs two
    assert dark["losses"][-1]["estimate"] == pytest.approx(2)
    (cost,) = found["costs"]
    parts = {part["loss"]: part["estimate"] for part in cost["parts"]}
    assert cost["whole"]["estimate"] == pytest.approx(4 / 3)
    assert parts == {"finding": pytest.approx(4 / 3), "recognising": 0}
    assert in_words(found)[0].startswith("Of what low-light@3 costs (133.3), 133.3 to finding, 0.0")
    for fall in (clean, dark):  # the losses and the score are a hundred points
        assert sum(x["estimate"] for x in fall["losses"]) + fall["score"]["estimate"] == 1


def test_stages_without_a_picture_are_asked_once(tmp_path: Path) -> None:
    sessions = some(2)
    asked: list[Query] = []

    class Listens:
        async def answer(self, query: Query) -> Reply:
            asked.append(query)
            return Reply(text="?")

    conditions = ("clean", "low-light@3", "rotated@3")
    hold_staged(tmp_path / "run", sessions, Listens(), degradations=conditions)
    seen = sum(query.image is not None for query in asked)
    assert (seen, len(asked) - seen) == (2 * 3 * 2 * 3, 2 * 3 * 3)
    with RunReader(tmp_path / "run") as run:
        assert run.conditions() == [
            "clean", "low-light@3", "low-light@3/pointed", "named", "paged", "pointed",
            "rotated@3", "rotated@3/pointed", "told",
        ]  # fmt: skip
    before = len(asked)
    hold_staged(tmp_path / "run", sessions, Listens(), degradations=conditions)
    assert len(asked) == before  # resumed, nothing is asked again


def test_an_agent_that_makes_nothing_of_boxes_is_told_of(tmp_path: Path) -> None:
    class Deaf:
        async def answer(self, query: Query) -> Reply:
            return Reply(text="the same" if query.image else "something else")

    hold_staged(tmp_path / "run", some(2), Deaf())
    found = diagnosed(tmp_path / "run", resamples=0)
    assert [one["stage"] for one in found["stages"]] == ["whole", "named", "paged", "told"]
    assert found["left_out"] == [{"stage": "pointed", "why": IGNORES, "sessions": 2}]
    losses = [one["loss"] for one in found["falls"][0]["losses"]]
    assert losses[-1] == "finding and recognising"


def test_a_stage_that_the_data_cannot_give_is_left_out(tmp_path: Path) -> None:
    """Own data with a name and no box, no passages and no facts."""
    sessions = [
        without(
            session,
            turns=tuple(
                without(turn, extra={"entity_name": "Alder Kettle"}) for turn in session.turns
            ),
        )
        for session in some(2)
    ]

    class Names:
        async def answer(self, query: Query) -> Reply:
            return Reply(text="I don't know" if query.image else query.text, abstained=False)

    why = CaptureOptics(OwnTruth()).lacking(sessions[0], ("pointed", "named", "paged", "told"))
    assert why == {
        "pointed": "no box",
        "paged": "no passages that are known to answer",
        "told": "no passages that are known to answer",
    }
    hold_staged(tmp_path / "run", sessions, Names(), truth=OwnTruth())
    with RunReader(tmp_path / "run") as run:
        assert run.conditions() == ["clean", "named"]
        assert run.turns("s000", "named")[0].query == "question 0 of 0? (This is Alder Kettle.)"
    (fall,) = diagnosed(tmp_path / "run", resamples=0)["falls"]
    assert [one["loss"] for one in fall["losses"]] == [
        "searching and reading and reasoning", "finding and recognising",
    ]  # fmt: skip


def test_where_few_sessions_have_a_stage_those_are_compared(tmp_path: Path) -> None:
    class HalfTruth(AllTruth):
        def of(self, session: Session) -> list[Known]:
            known = super().of(session)
            return [one._replace(box=None) for one in known] if session.id == "s000" else known

    sessions = some(3)
    hold_staged(tmp_path / "run", sessions, Oracle(dues_of(sessions), "pointed"), truth=HalfTruth())
    (fall,) = diagnosed(tmp_path / "run", resamples=0)["falls"]
    assert fall["sessions"] == 2


def test_other_figures_know_nothing_of_stages(tmp_path: Path) -> None:
    sessions = some(3)
    hold_staged(tmp_path / "run", sessions, Oracle(dues_of(sessions), "named"))
    with RunReader(tmp_path / "run") as reader:
        (loaded,), _, _ = load_runs([reader], ReportOptions())
        assert (loaded.frame.conditions, len(loaded.frame)) == (["clean"], 9)
        assert loaded.frame.starts.tolist() == [0, 3, 6]
        assert loaded.staged is not None
        assert len(loaded.staged) == 45


@pytest.mark.proof("time")
@pytest.mark.parametrize(("needs", "lost"), [("named", "recognising"), ("paged", "searching"),
                                             ("told", "reading")])  # fmt: skip
def test_blind_forgetful_and_illiterate_agents_are_found_out(
    needs: str, lost: str, tmp_path: Path
) -> None:
    """Each fails at its stage in every other turn, and answers one of ten wrongly anyhow."""
    sessions, found_out = some(40), 0
    for seed in range(20):
        agent = Oracle(dues_of(sessions), needs, share=0.5, noise=0.1, seed=str(seed))
        hold_staged(tmp_path / str(seed), sessions, agent)
        (fall,) = diagnosed(tmp_path / str(seed), resamples=0)["falls"]
        sure = [one["loss"] for one in fall["losses"] if (one["p_holm"] or 1) <= 0.05]
        found_out += sure == [lost]
    assert found_out >= 19
