"""The ladder: what is handed at each stage, and what stands on the world's card."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from called_command import mmrag

from mmrag.agents.fakes import Due, Oracle
from mmrag.errors import UsageError
from mmrag.judges import make_judge
from mmrag.records import Session
from mmrag.search.session_passages import SessionSearch, search_in
from simulator.application.ladder import BLIND, STAGES, climb, measure_ladder, query_at
from simulator.world.build.world_manifest import (
    LADDER,
    Ladder,
    Rung,
    damaged_files,
    keep_ladder,
    read_manifest,
)
from simulator.world.checks.verify import verify_world
from simulator.world.sessions import read_world
from simulator.world.turn_truth import WorldTruth


@pytest.fixture(scope="module")
def sessions(text_world: Path) -> list[Session]:
    return list(read_world(text_world))[:3]


@pytest.fixture(scope="module")
def truth(text_world: Path) -> WorldTruth:
    return WorldTruth(text_world)


def oracle(sessions: list[Session], truth: WorldTruth, needs: str) -> Oracle:
    dues: dict[tuple[str, int], Due] = {}
    for session in sessions:
        for turn, known in zip(session.turns, truth.of(session), strict=True):
            texts = [[p.text for p in of or ()] for of in (known.passages, known.facts)]
            name = known.names[0] if known.names else turn.query
            dues[session.id, turn.index] = Due(turn.reference.text, name, *map(tuple, texts))
    return Oracle(dues, needs)


def test_an_oracle_that_is_handed_the_facts_is_always_right_and_without_never(
    sessions: list[Session], truth: WorldTruth
) -> None:
    """Where no fact is needed, as of a name, it knows as much one stage before."""
    asked = climb(sessions, oracle(sessions, truth, "told"), make_judge("builtin"), truth, BLIND)
    rungs = asyncio.run(asked)
    right = {rung.stage: rung.right for rung in rungs}
    turns = sum(len(s.turns) for s in sessions)
    assert [rung.stage for rung in rungs] == list(BLIND)
    assert all(rung.turns == turns for rung in rungs)
    assert right["nothing"] == 0
    assert right["told"] == turns
    assert right["named"] <= right["paged"] < turns


def test_nothing_is_found_without_a_book(sessions: list[Session], truth: WorldTruth) -> None:
    query = query_at("nothing", sessions[0], sessions[0].turns[0], truth)
    assert query.image is None
    search_in(query.passages)
    assert SessionSearch(None).search_text([query.text, "the name of it"]) == [(), ()]
    search_in(())


def test_the_name_of_what_is_meant_is_in_the_question(
    sessions: list[Session], truth: WorldTruth
) -> None:
    for session in sessions:
        for turn in session.turns:
            query = query_at("named", session, turn, truth)
            assert query.image is None
            assert query.text.startswith(turn.query)
            for name in turn.extra["means"]:
                assert truth.facts.entity(name).name in query.text


def test_passages_that_answer_are_handed_and_no_others(
    sessions: list[Session], truth: WorldTruth
) -> None:
    for session in sessions:
        for turn in session.turns:
            query = query_at("paged", session, turn, truth)
            right = {url for url, label in turn.reference.grounding.items() if label == "answers"}
            assert {p.url for p in query.passages} == right
            assert query.handed == len(query.passages)


LIFE = Ladder(
    agent="grounded",
    judge="builtin",
    conversations=2,
    rungs=(Rung(stage="named", handed=STAGES["named"], right=3, wrong=1, turns=8),),
)


def test_a_ladder_stands_on_the_card_and_changes_nothing_else(
    text_world: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "w"
    shutil.copytree(text_world, folder)
    before = read_manifest(folder)
    assert "Not measured: `mmrag world ladder FOLDER`" in (folder / "README.md").read_text()
    keep_ladder(folder, LIFE)
    card = (folder / "README.md").read_text()
    assert "| the thing's name in the question, no picture | 37.5% | 12.5% |" in card
    assert "Life: 2 or 3 look-alikes of a thing" in card
    assert json.loads((folder / LADDER).read_bytes())["rungs"][0]["right"] == 3
    after = read_manifest(folder)
    assert after["fingerprint"] == before["fingerprint"]
    assert damaged_files(folder, after) == []
    assert not verify_world(folder).problems
    keep_ladder(folder, LIFE)
    assert (folder / "README.md").read_text() == card


def test_stages_that_are_not_there_are_refused(text_world: Path) -> None:
    with pytest.raises(UsageError, match="no stage is called 'luck'; there is nothing, whole"):
        measure_ladder(text_world, stages=("named", "luck"))
    with pytest.raises(UsageError, match="has no pictures; leave out the stages whole and pointed"):
        measure_ladder(text_world, stages=("whole",))


@pytest.mark.proof("time")
def test_the_command_measures_and_keeps_a_ladder(text_world: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(text_world, folder)
    said = mmrag("world", "ladder", str(folder), "--limit", "1", "--stages", "nothing,told").stdout
    assert "over 1 conversation (" in said
    assert STAGES["told"] in (folder / "README.md").read_text()
