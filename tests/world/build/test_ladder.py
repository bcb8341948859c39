"""The ladder: what is handed at each stage, and what stands on the world's card."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from called_command import mmrag

from mmrag.errors import UsageError
from mmrag.judges import make_judge
from mmrag.records import Query, Reply, Session
from mmrag.search.session_passages import SessionSearch, search_in
from simulator.application.ladder import (
    BLIND,
    STAGES,
    WorldTruth,
    climb,
    handed,
    measure_ladder,
    read_truth,
)
from simulator.run.engine import Rules, query_of
from simulator.world.build.card import LADDER, Ladder, Rung, keep_ladder
from simulator.world.build.world_manifest import damaged_files, read_manifest
from simulator.world.checks.verify import verify_world
from simulator.world.facts.wording import say_fact
from simulator.world.sessions import read_world


@pytest.fixture(scope="module")
def sessions(text_world: Path) -> list[Session]:
    return list(read_world(text_world))[:3]


@pytest.fixture(scope="module")
def truth(text_world: Path) -> WorldTruth:
    return read_truth(text_world)


class Oracle:
    """Right if it is handed all facts of a turn, or the name of its thing and no facts are needed;
    else it says nothing."""

    def __init__(self, sessions: list[Session], truth: WorldTruth) -> None:
        self._truth = truth
        self._turns = {(s.id, t.index): t for s in sessions for t in s.turns}

    async def answer(self, query: Query) -> Reply:
        turn = self._turns[query.session_id, query.turn_index]
        facts = self._truth.facts
        told = " ".join(passage.text for passage in query.passages)
        needs = turn.extra["needs"]
        knows = all(
            say_fact(facts.fact(n["entity_id"], n["attribute"], n["at"]), facts) in told
            for n in needs
        )
        named = query.image is not None and self._truth.cards.search_images([query.image])[0]
        if knows if needs else named:
            return Reply(text=turn.reference.text)
        return Reply(text="I don't know", abstained=True)


def test_an_oracle_that_is_handed_the_facts_is_always_right_and_without_never(
    sessions: list[Session], truth: WorldTruth
) -> None:
    oracle = Oracle(sessions, truth)
    rungs = asyncio.run(climb(sessions, oracle, make_judge("builtin"), truth, BLIND))
    right = {rung.stage: rung.right for rung in rungs}
    turns = sum(len(s.turns) for s in sessions)
    assert [rung.stage for rung in rungs] == list(BLIND)
    assert all(rung.turns == turns for rung in rungs)
    assert right["nothing"] == 0
    assert right["fact"] == turns
    assert right["name"] < turns


def test_nothing_is_found_without_a_book(sessions: list[Session], truth: WorldTruth) -> None:
    session = sessions[0]
    given = query_of(session, session.turns[0], (), Rules())
    query = handed("nothing", given, session, session.turns[0], truth)
    assert query.image is None
    search_in(query.passages)
    assert SessionSearch(None).search_text([query.text, "the name of it"]) == [(), ()]
    search_in(())


def test_a_card_names_what_is_in_view_and_first_what_is_asked_about(
    sessions: list[Session], truth: WorldTruth
) -> None:
    for session in sessions:
        turn = session.turns[0]
        query = handed("name", query_of(session, turn, (), Rules()), session, turn, truth)
        assert query.image is not None
        found = truth.cards.search_images([query.image])[0]
        names = [truth.facts.entity(i).name for i in session.extra["visible"]]
        assert [hit.text for hit in found] == names
        assert query.text == turn.query


def test_passages_that_answer_are_handed_and_no_others(
    sessions: list[Session], truth: WorldTruth
) -> None:
    for session in sessions:
        for turn in session.turns:
            given = query_of(session, turn, (), Rules())
            urls = {p.url for p in handed("page", given, session, turn, truth).passages if p.url}
            assert urls == {url for url, label in turn.reference.grounding.items()
                            if label == "answers"}  # fmt: skip


LIFE = Ladder(
    agent="grounded",
    judge="builtin",
    conversations=2,
    rungs=(Rung(stage="name", handed=STAGES["name"], right=3, wrong=1, turns=8),),
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
    assert "| its name in the question, no picture | 37.5% | 12.5% |" in card
    assert "Life: 2 or 3 look-alikes of a thing" in card
    assert json.loads((folder / LADDER).read_bytes())["rungs"][0]["right"] == 3
    after = read_manifest(folder)
    assert after["fingerprint"] == before["fingerprint"]
    assert damaged_files(folder, after) == []
    assert not verify_world(folder).problems
    keep_ladder(folder, LIFE)
    assert (folder / "README.md").read_text() == card


def test_stages_that_are_not_there_are_refused(text_world: Path) -> None:
    with pytest.raises(UsageError, match="no stage is called 'luck'; there is nothing, picture"):
        measure_ladder(text_world, stages=("name", "luck"))
    with pytest.raises(UsageError, match="has no pictures; leave out the stages picture and box"):
        measure_ladder(text_world, stages=("picture",))


@pytest.mark.proof("time")
def test_the_command_measures_and_keeps_a_ladder(text_world: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(text_world, folder)
    said = mmrag("world", "ladder", str(folder), "--limit", "1", "--stages", "nothing,fact").stdout
    assert "over 1 conversation (" in said
    assert STAGES["fact"] in (folder / "README.md").read_text()
