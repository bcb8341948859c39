"""Live conversations below the browser."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from ui_agents import Watched
from ui_parts import picture

from mmrag.errors import UsageError
from mmrag.images import LazyImage
from mmrag.protocols import Resources
from mmrag.records import Status
from simulator.store import RunReader
from ui.livework import AgentShelf, LiveTalk, ask, next_query, save


def talk(text: str, before: LiveTalk | None = None) -> LiveTalk:
    image = LazyImage.from_bytes(picture(1))
    going = before or LiveTalk("watched", image=image)
    return asyncio.run(ask(going, Watched(), next_query(going, text)))


def test_the_history_is_the_agents_own() -> None:
    second = talk("and this?", talk("what is it?"))
    assert second.exchanges[1].reply is not None
    assert second.exchanges[1].reply.text == "reply 2, after what is it?"


def test_a_failure_is_told_and_is_no_history() -> None:
    failed = talk("please fail")
    assert failed.exchanges[0].status is Status.AGENT_ERROR
    assert failed.history == ()
    assert talk("go on", failed).exchanges[1].status is Status.ANSWERED


def test_what_cannot_be_asked() -> None:
    with pytest.raises(UsageError, match="Type a question"):
        talk("   ")
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


@pytest.mark.parametrize("spec", ["command:run=touch x", "python:name=os:system", "random:seed=1"])
def test_a_visitor_cannot_name_a_program(spec: str) -> None:
    with pytest.raises(UsageError, match="not offered"):
        AgentShelf(Resources, ["random"]).get(spec)
