"""The ladder: what is handed at each stage, and what stands on the world's card."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import msgspec
import pytest
from called_command import mmrag

from mmrag.agents.fakes import Oracle, OracleTruth
from mmrag.errors import SpecError, UsageError
from mmrag.judges import make_judge
from mmrag.records import JudgeItem, Query, Reply, Session, Verdict
from mmrag.search.session_passages import SessionSearch, set_searched_passages
from simulator.application.truth_ladder import (
    RUNGS,
    RUNGS_WITHOUT_PICTURE,
    ask_ladder,
    measure_ladder,
    query_at,
)
from simulator.world.build.world_manifest import (
    LADDER,
    Ladder,
    Rung,
    damaged_files,
    keep_ladder,
    read_manifest,
)
from simulator.world.build.world_request import (
    HARD,
    LIFE,
    PRESETS,
    WAYS,
    make_difficulty,
    make_request,
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
    dues: dict[tuple[str, int], OracleTruth] = {}
    for session in sessions:
        for turn, known in zip(session.turns, truth.of(session), strict=True):
            texts = [[p.text for p in of or ()] for of in (known.passages, known.facts)]
            name = known.names[0] if known.names else turn.query
            dues[session.id, turn.index] = OracleTruth(
                turn.reference.text, name, *map(tuple, texts)
            )
    return Oracle(dues, needs)


def test_an_oracle_that_is_handed_the_facts_is_always_right_and_without_never(
    sessions: list[Session], truth: WorldTruth
) -> None:
    """Where no fact is needed, as of a name, it knows as much one stage before."""
    asked = ask_ladder(
        sessions,
        oracle(sessions, truth, "told"),
        make_judge("builtin"),
        truth,
        RUNGS_WITHOUT_PICTURE,
    )
    rungs = asyncio.run(asked)
    right = {rung.stage: rung.right for rung in rungs}
    turns = sum(len(s.turns) for s in sessions)
    assert [rung.stage for rung in rungs] == list(RUNGS_WITHOUT_PICTURE)
    assert all(rung.turns == turns for rung in rungs)
    assert (right["nothing"], right["told"]) == (0, turns)
    assert right["named"] <= right["paged"] < turns


def test_a_failure_of_agent_or_judge_is_unscored(
    sessions: list[Session], truth: WorldTruth
) -> None:
    """A dead endpoint says nothing of what an agent knows."""

    class Dead:
        async def answer(self, query: Query) -> Reply:
            raise ConnectionError("refused")

    class NoJudge:
        id = "none"

        async def judge(self, item: JudgeItem) -> Verdict:
            raise ConnectionError("refused")

    alive, builtin = oracle(sessions, truth, "told"), make_judge("builtin")
    for agent, judge in ((Dead(), builtin), (alive, NoJudge())):
        (rung,) = asyncio.run(ask_ladder(sessions, agent, judge, truth, ["told"]))
        assert (rung.right, rung.wrong, rung.unscored) == (0, 0, rung.turns)
        text = msgspec.structs.replace(CLIMBED, rungs=(rung,)).as_text()
        assert "%" not in text
        assert f"{rung.turns} of {rung.turns} answers could not be scored" in text


def test_shares_are_of_what_was_scored() -> None:
    rung = Rung(stage="told", handed="all", right=3, wrong=1, turns=8, unscored=4)
    text = msgspec.structs.replace(CLIMBED, rungs=(rung,)).as_text()
    assert "| all | 75.0% | 25.0% |" in text
    assert "4 of 8 answers could not be scored and are left out." in text
    assert b"unscored" not in msgspec.json.encode(CLIMBED)
    assert "could not be scored" not in CLIMBED.as_text()


def test_nothing_is_found_without_a_book(sessions: list[Session], truth: WorldTruth) -> None:
    query = query_at("nothing", sessions[0], sessions[0].turns[0], truth)
    assert query.image is None
    set_searched_passages(query.passages)
    assert SessionSearch(None).search_text([query.text, "the name of it"]) == [(), ()]
    set_searched_passages(())


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
            assert ({p.url for p in query.passages}, query.handed) == (right, len(query.passages))


CLIMBED = Ladder(
    agent="grounded", judge="builtin", conversations=2,
    rungs=(Rung(stage="named", handed=RUNGS["named"], right=3, wrong=1, turns=8),)
)  # fmt: skip


def test_a_ladder_stands_on_the_card_and_changes_nothing_else(
    text_world: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "w"
    shutil.copytree(text_world, folder)
    before = read_manifest(folder)
    assert "Not measured: `mmrag world ladder FOLDER`" in (folder / "README.md").read_text()
    keep_ladder(folder, CLIMBED)
    card = (folder / "README.md").read_text()
    assert "| the thing's name in the question, no picture | 37.5% | 12.5% |" in card
    assert "Life: 2 or 3 look-alikes of a thing" in card
    assert json.loads((folder / LADDER).read_bytes())["rungs"][0]["right"] == 3
    after = read_manifest(folder)
    assert after["fingerprint"] == before["fingerprint"]
    assert damaged_files(folder, after) == []
    assert not verify_world(folder).problems
    keep_ladder(folder, CLIMBED)
    assert (folder / "README.md").read_text() == card


def test_stages_that_are_not_there_are_refused(text_world: Path) -> None:
    with pytest.raises(UsageError, match=r"no stage is called 'luck'\. Known: nothing, whole"):
        measure_ladder(text_world, stages=("named", "luck"))
    with pytest.raises(UsageError, match="has no pictures; leave out the stages whole and pointed"):
        measure_ladder(text_world, stages=("whole",))
    with pytest.raises(UsageError, match=r"name at least one stage\. Known: nothing, whole"):
        measure_ladder(text_world, stages=())


@pytest.mark.proof("time")
def test_the_command_measures_and_keeps_a_ladder(text_world: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(text_world, folder)
    said = mmrag("world", "ladder", str(folder), "--limit", "1", "--stages", "nothing,told").stdout
    assert "over 1 conversation (" in said
    assert RUNGS["told"] in (folder / "README.md").read_text()


# -- difficulty


def test_the_presets_are_whole() -> None:
    for preset in PRESETS.values():
        assert sum(preset.settled.values()) == pytest.approx(1)
        assert (sum(preset.look_alikes.values()), tuple(preset.settled)) == (pytest.approx(1), WAYS)
    assert (make_request(1).difficulty, set(HARD.look_alikes)) == (LIFE, {7})


def test_options_change_a_preset_and_its_name() -> None:
    found = make_difficulty("hard", rivals=0, look_alikes=2)
    assert (found.name, found.rivals, found.look_alikes) == ("own", 0, {2: 1.0})
    assert found.settled == HARD.settled
    assert make_difficulty("life", rivals=LIFE.rivals) == LIFE


def test_a_file_of_shares_is_read(tmp_path: Path) -> None:
    path = tmp_path / "shares.yaml"
    path.write_text("settled: {alone: 0.9, ambiguous: 0.1}\nlook_alikes: {0: 0.25, 3: 0.75}\n")
    found = make_difficulty(shares=path)
    assert found.settled == {"alone": 0.9, "ambiguous": 0.1}
    assert found.look_alikes == {0: 0.25, 3: 0.75}
    assert (found.legible, found.name) == (LIFE.legible, "own")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("legible: 0.5\nsettled: {alone: 0.5}\n", r":2: settled: the shares add up to 0.5; let"),
        ("look_alikes: {2: 0.5, 3: 0.6}\n", r":1: look_alikes: the shares add up to 1.1"),
        ("look_alikes: {many: 1}\n", r":1: .*settled, look_alikes, legible or own_traits"),
        ("look_alikes: {40: 1}\n", r":1: look_alikes: give numbers of look-alikes from 0 to 30"),
        ("settled: {luck: 1}\n", r":1: settled: nothing is settled by 'luck'; choose from alone"),
        ("settled: {alone: 1.5, words: -0.5}\n", r":1: settled: a share is 1.5; give"),
        ("\nlegible: most\n", r":2: .*write settled"),
        ("legible: .nan\n", r":1: legible: a share is nan; give one"),
        ("legible: 0.5\nrivals: 3\n", r":2: .*write settled"),
        ("legible: 0.5\nlegible: 0.6\n", r":2: legible is given twice"),
        ("legible:\n", r":1: .*write settled"), ("- 1\n", r":1: no shares; write settled"),
        ("", r":1: no shares; write settled"), ("a: [\n", r":2: no YAML, .*; write settled"),
        ("a: &b 1\nc: *b\n", r":2: no YAML, an alias \(\*b\).*; write settled"),
    ]
)  # fmt: skip
def test_a_file_of_shares_that_is_wrong_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "shares.yaml"
    path.write_text(text)
    with pytest.raises(SpecError, match=f"shares.yaml{words}"):
        make_difficulty(shares=path)


def test_no_file_of_shares(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"none.yaml: cannot be read .*give a file of shares"):
        make_difficulty(shares=tmp_path / "none.yaml")


def test_options_out_of_range_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="life, hard"):
        make_difficulty("easy")
    with pytest.raises(UsageError, match="--rivals -1 is out of range; give 0 to 8"):
        make_difficulty(rivals=-1)
    with pytest.raises(UsageError, match="--look-alikes 99 is out of range; give 0 to 30"):
        make_difficulty(look_alikes=99)
    both = tmp_path / "shares.yaml"
    both.write_text("look_alikes: {1: 1}\n")
    with pytest.raises(UsageError, match="both say it"):
        make_difficulty(look_alikes=2, shares=both)
