"""Wrong input: what the assistant gets, in its bytes and in words."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from small_runs import make_session

from mmrag.files.images import LazyImage
from mmrag.records import Exchange, Query
from simulator.faults.current_fault import ActiveFault
from simulator.faults.wrong_inputs import POOL, apply_input_fault, other_conversations
from simulator.parts.run_parts import Parts
from simulator.run.run_config import RunConfig

SESSIONS = [make_session(n) for n in range(12)]
OTHERS = other_conversations(SESSIONS)
RED, BLUE = (220, 20, 20), (20, 20, 220)


def asked(text: str = "What does the red mug cost?", turn: int = 0, **more: object) -> Query:
    image = SESSIONS[0].capture.image
    return Query(text=text, image=image, session_id="s000", turn_index=turn, **more)


def met(kind: str, query: Query, draw: float = 0.4) -> tuple[Query, ActiveFault]:
    fault = ActiveFault(kind=kind, draw=draw)
    return apply_input_fault(query, fault, OTHERS, (0.0, 0.0, 8.0, 16.0)), fault


def test_half_of_the_question_comes() -> None:
    query, fault = met("cut-question", asked())
    assert query.text == "What does the"
    assert fault.got == "“What does the”"


def test_the_question_before_is_glued_to_it() -> None:
    before = Exchange(query="Who made it?", reply="Somebody.")
    query, fault = met("glued-question", asked(turn=1, history=(before,)))
    assert query.text == "Who made it? What does the red mug cost?"
    assert fault.is_felt
    first, _ = met("glued-question", asked())
    assert first.text.endswith(" What does the red mug cost?")
    assert first.text.startswith("question 0 of ")


def test_somebody_elses_picture_changes_with_the_turn_and_the_one_before_does_not() -> None:
    streams = {met("other-stream", asked(), d / 10)[0].image.sha256 for d in range(10)}
    before = {met("previous-picture", asked(), d / 10)[0].image.sha256 for d in range(10)}
    own = SESSIONS[0].capture.image.sha256
    assert len(streams) == POOL - 1
    assert own not in streams | before
    assert len(before) == 1
    query, fault = met("other-stream", asked(), 0.0)
    assert query.image.sha256 == OTHERS[1].image.sha256
    assert fault.got == "the picture of s001"


def test_a_picture_taken_before_in_the_conversation_is_the_previous_one() -> None:
    older = SESSIONS[5].capture.image
    query, fault = met("previous-picture", asked(earlier=(older,)))
    assert query.image.sha256 == older.sha256
    assert fault.got == "the picture taken before"


def test_the_view_of_before_does_not_show_the_thing() -> None:
    pixels = np.full((60, 100, 3), BLUE, np.uint8)
    pixels[10:50, 60:100] = RED
    image = LazyImage.from_pil(Image.fromarray(pixels))
    fault = ActiveFault(kind="stale-picture", draw=0.5)
    query = apply_input_fault(asked(), fault, (), None)
    assert fault.is_felt  # also where nobody says what the thing is
    query = apply_input_fault(Query(text="?", image=image), fault, (), (60.0, 10.0, 100.0, 50.0))
    shown = np.asarray(query.image.pil())
    assert shown.shape == pixels.shape
    assert (shown[:, :, 0] < 80).all()


@pytest.mark.parametrize("kind", ["other-stream", "previous-picture", "stale-picture"])
def test_without_a_picture_or_anybody_else_nothing_is_felt(kind: str) -> None:
    fault = ActiveFault(kind=kind, draw=0.5)
    query = Query(text="?")
    assert apply_input_fault(query, fault, OTHERS) is query
    if kind != "stale-picture":
        assert apply_input_fault(asked(), fault, OTHERS[:1]) == asked()
    assert not fault.is_felt


def test_a_run_has_others_pictures_only_where_a_fault_needs_them() -> None:
    assert Parts(RunConfig(faults="web")).plan(1).rules.strangers == ()
    found = Parts(RunConfig(faults="input", limit=1)).plan(1).rules.strangers
    assert len({one.session_id for one in found}) == POOL
