"""Live conversations below the browser."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
from pathlib import Path

import pytest
from PIL import Image
from ui_agents import Watched
from ui_parts import picture

from mmrag.errors import Denied, UsageError
from mmrag.files.images import LazyImage
from mmrag.protocols import Resources
from mmrag.records import Query, Reply, Status, Step
from simulator.run.engine import Rules
from simulator.store.run_reader import RunReader
from ui.pages.app import VISITORS, LiveSetup, build
from ui.pages.live import Live
from ui.views.live_view import (
    MAX_PICTURES,
    AgentCache,
    LiveTalk,
    VisitorSession,
    ask,
    next_query,
    save,
)


def talk(text: str, before: LiveTalk | None = None) -> LiveTalk:
    image = LazyImage.from_bytes(picture(1))
    going = before or LiveTalk("watched", image=image)
    return asyncio.run(ask(going, Watched(), next_query(going, text)))


def test_a_talk_keeps_its_picture_encoded() -> None:
    """Fifty visitors with a phone's pictures would else hold gigabytes, long after they left."""
    buffer = io.BytesIO()
    Image.new("RGB", (311, 207)).save(buffer, "JPEG")
    page = Live({}, AgentCache(Resources, ["watched"]), ["watched"], Path("nowhere"))
    seat = VisitorSession(LiveTalk("watched"))
    page.begin(seat, "watched", LazyImage.from_bytes(buffer.getvalue()))
    query = next_query(seat.talk, "what is it?")
    assert query.image.pil().size == seat.talk.size == (311, 207)
    seat.talk = asyncio.run(ask(seat.talk, Watched(), query))
    page.page(seat.talk)
    page.begin_anew(seat)
    del query
    gc.collect()
    held = [
        o for o in gc.get_objects() if issubclass(type(o), Image.Image) and o.size == (311, 207)
    ]
    assert held == []


def test_the_visitors_whose_talks_are_kept_are_counted() -> None:
    live = LiveSetup(AgentCache(Resources, ["watched"]), ["watched"], Path("nowhere"))
    assert build({}, live).state_session_capacity == VISITORS


def test_the_history_is_the_agents_own() -> None:
    second = talk("and this?", talk("what is it?"))
    assert second.exchanges[1].reply is not None
    assert second.exchanges[1].reply.text == "reply 2, after what is it?"


def test_a_failure_is_told_and_is_no_history() -> None:
    failed = talk("please fail")
    assert failed.exchanges[0].status is Status.AGENT_ERROR
    assert failed.history == ()
    assert talk("go on", failed).exchanges[1].status is Status.ANSWERED


def test_a_reply_that_cannot_be_kept_is_a_failure_and_the_talk_can_be_saved(tmp_path: Path) -> None:
    class Careless:
        async def answer(self, query: Query) -> Reply:
            return Reply(text="a kettle", trace=(Step(name="seen", info={"what": object()}),))

    begun = LiveTalk("careless", image=LazyImage.from_bytes(picture(1)))
    held = asyncio.run(ask(begun, Careless(), next_query(begun, "what is it?")))
    assert held.exchanges[0].status is Status.AGENT_ERROR
    assert "cannot be kept" in (held.exchanges[0].error or "")
    assert save(held, tmp_path).is_dir()


def test_an_agent_that_will_not_end_does_not_keep_the_visitor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stubborn:
        async def answer(self, query: Query) -> Reply:
            for _ in range(100):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.05)
            return Reply(text="at last")

    async def hold() -> LiveTalk:
        begun = LiveTalk("stubborn", image=LazyImage.from_bytes(picture(1)))
        work = asyncio.create_task(ask(begun, Stubborn(), next_query(begun, "what is it?")))
        done, _ = await asyncio.wait([work], timeout=2)
        assert done, "the visitor still waits"
        return work.result()

    monkeypatch.setattr("ui.views.live_view.RULES", Rules(seconds=0.1))
    assert asyncio.run(hold()).exchanges[0].status is Status.TIMEOUT


def test_a_server_that_refuses_the_key_is_told() -> None:
    class Refused:
        async def answer(self, query: Query) -> Reply:
            raise Denied("no such key")

    begun = LiveTalk("refused", image=LazyImage.from_bytes(picture(1)))
    held = asyncio.run(ask(begun, Refused(), next_query(begun, "what is it?")))
    assert (held.exchanges[0].status, held.exchanges[0].error) == (
        Status.AGENT_ERROR,
        "no such key",
    )


def test_what_cannot_be_asked() -> None:
    for nothing in ("   ", "\u200b"):
        with pytest.raises(UsageError, match="Type a question"):
            talk(nothing)
    with pytest.raises(UsageError, match="Choose a picture"):
        talk("hello", LiveTalk("watched"))
    with pytest.raises(UsageError, match="nothing to save"):
        save(LiveTalk("watched"), Path("nowhere"))


def test_a_saved_talk_is_a_run(tmp_path: Path) -> None:
    place = save(talk("what is it?"), tmp_path)
    with RunReader(place) as run:
        (session,) = run.sessions()
        assert session.turns[0].query == "what is it?"
        assert run.turns(session.id)[0].reply is not None
    assert save(talk("what is it?"), tmp_path) != place


def test_looking_again_goes_on_with_the_conversation(tmp_path: Path) -> None:
    first = talk("what is it?")
    other = first.look_again(LazyImage.from_bytes(picture(2)))
    other = other.look_again(LazyImage.from_bytes(picture(3)))  # nothing was asked about the second
    query = next_query(other, "and now?")
    assert query.image is not None
    assert query.image.data == picture(3)
    assert [one.data for one in query.earlier] == [picture(1)]
    assert query.session_id == first.exchanges[0].session_id
    second = talk("and now?", other)
    assert second.exchanges[1].reply is not None
    assert second.exchanges[1].reply.text == "reply 2, after what is it?"
    with RunReader(save(talk("well?", second), tmp_path)) as run:
        (session,) = run.sessions()
        assert [turn.capture is not None for turn in session.turns] == [False, True, False]
        assert session.turns[1].capture is not None
        assert session.turns[1].capture.image is not None
        assert session.turns[1].capture.image.data == picture(3)


def test_a_conversation_has_so_many_pictures_and_no_more() -> None:
    going = talk("what is it?")
    for number in range(2, MAX_PICTURES + 1):
        going = talk("and now?", going.look_again(LazyImage.from_bytes(picture(number))))
    with pytest.raises(UsageError, match="at most 4 pictures"):
        going.look_again(LazyImage.from_bytes(picture(9)))


def test_a_picture_that_cannot_be_used_leaves_the_talk_as_it_was() -> None:
    page = Live({}, AgentCache(Resources, ["watched"]), ["watched"], Path("nowhere"))
    seat = VisitorSession(talk("what is it?"))
    before = seat.talk
    *_, said = page.look_again(seat, "watched", LazyImage.from_bytes(b"no picture"))
    assert "cannot be used" in said
    assert seat.talk is before
    page.look_again(seat, "watched", LazyImage.from_bytes(picture(2)))
    assert [one.query for one in seat.talk.exchanges] == ["what is it?"]


@pytest.mark.parametrize("spec", ["command:run=touch x", "python:name=os:system", "random:seed=1"])
def test_a_visitor_cannot_name_a_program(spec: str) -> None:
    with pytest.raises(UsageError, match="not offered"):
        AgentCache(Resources, ["random"]).get(spec)
