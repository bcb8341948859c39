"""What an agent is given at each stage, and that searches and resumed runs know it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PIL import Image
from small_runs import interrupted, make_session
from staged_runs import BOX, AllTruth, hold_staged, some, without

from mmrag.agents.fakes import ScriptedAgent
from mmrag.cache import Cache, CachedWebSearch
from mmrag.errors import DataError
from mmrag.files.images import LazyImage
from mmrag.records import Capture, Evidence, Query, Session
from mmrag.search.session_passages import HandedSearch, SessionSearch, set_searched_passages
from simulator.run.capture_optics import CaptureOptics
from simulator.run.engine import Rules, query_of
from simulator.stages.handed_truth import box_in
from simulator.stages.truth_stage_names import parse_stages
from simulator.store.run_reader import RunReader


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
        set_searched_passages(passages, handed)
        assert [hit.id for hit in search.search_text(["about thing"])[0]] == ids
    set_searched_passages(())
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


def test_a_stage_can_be_named_alone() -> None:
    assert parse_stages("whole") == ("whole",)


def test_a_thing_of_which_hardly_anything_is_left_is_shown_as_it_is() -> None:
    session = make_session(1)
    picture = LazyImage.from_pil(Image.new("RGB", (3, 3)))
    small = without(session, capture=Capture(image=picture))
    assert given("pointed", session=small).image.pil().size == (3, 3)
