"""How the app shows conversations in which the wearer answered back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from small_talks import FakeLooks, Says, agendas, wearers

from mmrag.judges.simple import ExactJudge
from mmrag.records import Query, Reply
from simulator.run.run_config import RunConfig
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from simulator.wearer.talk import TalkBounds
from simulator.wearer.waiting import Waiting
from ui.replay.conversation_view import ConversationView, conversation


def looks_once_then_is_silent(query: Query) -> Reply:
    if not query.earlier:
        return Reply(text="Closer, please?", ask="look")
    return Reply(text="I don't know")


def shown(tmp_path: Path, says: Callable[[Query], Reply], bounds: TalkBounds) -> ConversationView:
    with RunStore(tmp_path / "run") as store:
        store.set_all_meta({"judge": ExactJudge.id, "config": RunConfig(wearer="live")})
        work = run_sessions(
            iter([(0, agendas()[0])]), Says(says), ExactJudge(), store, Plan(),
            wearers=wearers(FakeLooks())._replace(bounds=bounds),
        )  # fmt: skip
        asyncio.run(work)
    with RunReader(tmp_path / "run") as run:
        return conversation(run, "run", agendas()[0].id, "clean")


@pytest.fixture
def view(tmp_path: Path) -> ConversationView:
    return shown(tmp_path, looks_once_then_is_silent, TalkBounds())


def test_what_the_wearer_talked_over_stands_beside_what_they_heard(tmp_path: Path) -> None:
    from ui.render import render

    bounds = TalkBounds(waiting=Waiting(hello=60, leave=60, listen=1))
    view = shown(tmp_path, lambda query: Reply(text="well well well at last"), bounds)
    assert (view.turns[0].reply, view.turns[0].unheard) == ("well well", "well at last")
    assert view.turns[1].move.startswith("goal 1: interrupt")
    page = render("conversation.html.j2", view=view, rows=[], current=0, kinds=[], thumbnails=False)
    assert "not heard: well at last" in page


def test_a_turn_has_its_move_its_request_and_its_picture(view: ConversationView) -> None:
    first, second = view.turns[:2]
    assert first.move.startswith("goal 1: ask, patience")
    assert (first.asks, first.picture) == ("look", "")
    assert "look (closer)" in second.move
    assert second.picture
    assert second.picture != view.picture
    assert not any(turn.overlays for turn in view.turns[1:])


def test_a_strike_is_a_goal_and_not_a_turn(view: ConversationView) -> None:
    struck = [turn.index for turn in view.turns if turn.strike]
    asked = [turn for turn in view.turns if not turn.skipped]
    assert len(struck) == 2
    assert len(asked) > 4
    assert [turn.index for turn in view.turns if turn.stops_here] == [asked[-1].index]


def test_the_page_shows_them(view: ConversationView) -> None:
    from ui.render import render

    page = render("conversation.html.j2", view=view, rows=[], current=0, kinds=[], thumbnails=False)
    assert view.turns[1].picture in page
    assert "Another picture, taken for this turn" in page
    assert "asks: look" in page
    assert "goal 1: look (closer)" in page
