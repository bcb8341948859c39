"""What a world knows of its turns, by hand from the shipped one's rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmrag.records import Session
from simulator.stages.truth import missing_truth
from simulator.world.sessions import mini_folder, read_world
from simulator.world.turn_truth import WorldTruth


@pytest.fixture(scope="module")
def truth() -> WorldTruth:
    return WorldTruth(mini_folder())


@pytest.fixture(scope="module")
def sessions() -> list[Session]:
    return list(read_world(mini_folder(), pictures="clean"))[:12]


def test_every_stage_can_be_handed_over(sessions: list[Session], truth: WorldTruth) -> None:
    for session in sessions:
        known = truth.of(session)
        assert not [
            s for s in ("pointed", "named", "paged", "told") if missing_truth(s, session, known)
        ]


def test_boxes_hold_what_is_meant_and_no_less(sessions: list[Session], truth: WorldTruth) -> None:
    seen = set[int]()
    for session in sessions:
        for turn, known in zip(session.turns, truth.of(session), strict=True):
            means = turn.extra["means"]
            seen.add(len(means))
            if not means:
                assert known.box is None  # about what the turn before was answered with
                assert known.named == turn.query
            elif means == session.extra["visible"][:1]:
                assert known.box == session.capture.focus
            else:
                outlines = [session.capture.polygon, *session.extra["other_polygons"]]
                places = [session.extra["visible"].index(name) for name in means]
                points = [point for place in places for point in outlines[place]]
                left, top, right, bottom = known.box
                assert all(left - 1 <= x <= right and top - 1 <= y <= bottom for x, y in points)
    assert {0, 1, 4} <= seen


def test_a_turn_by_hand(sessions: list[Session], truth: WorldTruth) -> None:
    known = truth.of(sessions[0])[0]
    name = "Jaguar Horizon Field Treasure Alarm"
    assert (known.box, known.names) == ((224, 366, 420, 619), (name,))
    assert known.named == f"This clock is playing up. is there a recall? (This is {name}.)"
    assert len(known.passages or ()) == 1
    assert [fact.text for fact in known.facts or ()] == [
        f"The recall of {name} is called back for a loose handle."
    ]


def test_a_world_without_pictures_points_at_nothing(text_world: Path) -> None:
    session = next(iter(read_world(text_world)))
    known = WorldTruth(text_world).of(session)
    assert missing_truth("pointed", session, known) == "no box"
    assert not missing_truth("told", session, known)
