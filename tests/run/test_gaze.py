"""Where a wearer looks: given to an assistant when a run says so, as it lies in its picture."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from small_runs import ByNumber, Equality, make_session, picture

from mmrag.agents.own.adapters import request_of
from mmrag.agents.paper.baselines import Straightforward
from mmrag.files.images import LazyImage
from mmrag.metrics.scoring_protocols import strikes
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Resources
from mmrag.records import Capture, Query, Session
from simulator.run.captures import CaptureOptics
from simulator.run.config import RunConfig, make_config
from simulator.run.engine import Rules, hold_conversation, query_of
from simulator.run.gaze import gaze_of


def looking(*gazes: tuple[float, float] | None) -> Session:
    session = make_session(1, turns=len(gazes))
    turns = (
        msgspec.structs.replace(turn, gaze=gaze)
        for turn, gaze in zip(session.turns, gazes, strict=True)
    )
    return msgspec.structs.replace(session, turns=tuple(turns))


async def _kept(*_: object) -> None: ...


def seen_by_an_agent(session: Session, rules: Rules) -> list[Query]:
    agent = ByNumber(lambda *_: "c")
    talk = hold_conversation(session, agent, Equality(), _kept, stop=strikes(2), rules=rules)
    asyncio.run(talk)
    return agent.seen


def test_an_agent_is_given_the_gaze_only_where_the_run_says_so() -> None:
    session = looking((0.25, 0.5), None)
    assert [query.gaze for query in seen_by_an_agent(session, Rules())] == [None, None]
    given = seen_by_an_agent(session, Rules(gaze=True))
    assert [query.gaze for query in given] == [(0.25, 0.5), None]


def test_the_gaze_follows_what_was_done_to_the_picture() -> None:
    """A matrix takes 16 pixels twice as large about the left upper corner: (4, 2) becomes (8, 4),
    and what was on the right is out of the picture."""
    session = looking((0.25, 0.125), (0.75, 0.5))
    assert session.capture is not None
    zoomed = msgspec.structs.replace(
        session.capture,
        degradation="truncated@3",
        degraded={"size": [16, 16], "matrix": [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]},
    )
    session = msgspec.structs.replace(session, capture=zoomed)
    assert [gaze_of(session, turn) for turn in session.turns] == [(0.5, 0.25), None]


def test_a_picture_that_was_turned_keeps_the_gaze_on_the_same_pixels() -> None:
    import numpy as np
    from PIL import Image

    pixels = np.zeros((96, 128, 3), np.uint8)
    pixels[40:56, 56:72] = 255
    image = LazyImage.from_pil(Image.fromarray(pixels), name="a square")
    session = msgspec.structs.replace(
        looking((0.5, 0.5)), capture=Capture(image=image, focus=(56, 40, 72, 56))
    )
    turned = CaptureOptics().apply(session, "rotated@2", 3)
    gaze = gaze_of(turned, turned.turns[0])
    assert gaze is not None
    assert turned.capture is not None
    shown = np.asarray(turned.capture.image.pil())
    assert shown[int(gaze[1] * shown.shape[0]), int(gaze[0] * shown.shape[1])].min() > 200


def test_another_picture_has_no_gaze() -> None:
    """A live wearer took it: what was looked at in the first one stands elsewhere."""
    session = looking((0.25, 0.5), (0.25, 0.5))
    other = Capture(image=LazyImage.from_bytes(picture(7)))
    second = msgspec.structs.replace(session.turns[1], capture=other)
    session = msgspec.structs.replace(session, turns=(session.turns[0], second))
    assert query_of(session, second, (), Rules(gaze=True)).gaze is None


def test_the_wire_carries_it_and_stays_as_it_was_without() -> None:
    image = LazyImage.from_bytes(picture())
    assert request_of(Query(text="?", image=image, gaze=(0.25, 0.5)), "1")["gaze"] == (0.25, 0.5)
    assert "gaze" not in request_of(Query(text="?", image=image), "1")


@pytest.mark.parametrize("gaze", [(0.25, 0.5), None])
def test_a_model_is_told_where_the_wearer_looks(gaze: tuple[float, float] | None) -> None:
    model = ScriptedModel("x")
    agent = Straightforward(Resources(), model=model, images=False, web=False, history=False)
    asyncio.run(agent.answer(Query(text="?", image=LazyImage.from_bytes(picture()), gaze=gaze)))
    told = "looks at a point 25 % from the left and 50 % from the top" in model.calls[0][0].text
    assert told is (gaze is not None)


def test_it_is_on_or_off() -> None:
    assert not RunConfig().rules.gaze
    assert make_config({"gaze": "on"}).rules.gaze
