"""Runs that a person plays: kept, resumed, scored, compared and proved as others are."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from called_command import mmrag
from small_talks import FakeLooks, Says, agendas

from mmrag.errors import ConflictError, DataError, MmragError, StoreError, UsageError
from mmrag.records import JudgeItem, Outcome, Query, Reply, Session, Verdict
from simulator.application import person_run as playing_module
from simulator.application.execution import execute
from simulator.application.person_run import MOST_WORDS, PersonRuns, PersonRunState
from simulator.parts.run_parts import Parts
from simulator.run.rejudge import rejudge_run
from simulator.run.results.run_scoring import run_state
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore


@cache
def truths() -> dict[tuple[str, str], str]:
    return {(s.id, turn.query): turn.reference.text for s in agendas() for turn in s.turns}


def knowing(query: Query) -> Reply:
    """Knows the truth of "truth: QUESTION"; asks for a look where it is told LOOK."""
    if "LOOK" in query.text:
        return Reply(text="Could you go closer?", ask="look")
    if "wrong" in query.text:
        return Reply(text="quite another thing")
    if "break" in query.text:
        raise OSError("the agent broke")
    known = (query.session_id, query.text.removeprefix("truth: "))
    return Reply(text=truths().get(known, "I don't know"))


def playing(folder: Path, agent: object = None) -> PersonRuns:
    folder.mkdir(exist_ok=True)
    return PersonRuns(
        folder, lambda spec, data: agent or Says(knowing), ["mini"],
        lambda data: None, "none",
    )  # fmt: skip


def with_fake_looks(table: PersonRuns, name: str, looks: Any) -> None:
    now = table.standing(name)
    world = table._worlds[now.config.data]
    fake = world._replace(wearers=world.wearers._replace(looks=looks))
    table._worlds[now.config.data] = fake


async def to_the_end(table: PersonRuns, name: str) -> PersonRunState:
    """Ask for the truth of every goal, but of each conversation's last: that is let be."""
    now = table.standing(name)
    while not now.finished:
        if now.talk.over:
            now = await table.go_on(name)
        question = now.talk.agenda.turns[now.talk.goal].query
        if now.talk.goal + 1 < len(now.talk.agenda.turns):
            now = await table.say(name, now.known, f"truth: {question}")
        else:
            now = await table.say(name, now.known, "what is it?")
            now = await table.let_be(name, now.known)
    return now


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")

    async def play() -> str:
        table = playing(folder)
        name = table.begin("random", "mini", "none", 2)
        await to_the_end(table, name)
        return name

    return folder / asyncio.run(play())


def test_a_persons_run_is_a_run_like_any_other_and_says_whose_it_was(played: Path) -> None:
    with RunReader(played) as run:
        assert run_state(run).finished
        first, second = (run.session(*key) for key in run.session_keys())
        goals = len(first.turns)
        turns = run.turns(first.id)
    assert run_state(RunReader(played)).conversations == 2
    assert [t.query.startswith("truth: ") for t in turns] == [True] * (goals - 1) + [False]
    assert [t.wearer.stands_for for t in first.turns] == [t.query for t in agendas()[0].turns]
    assert first.extra["wearer"]["over"] == "done"
    shown = json.loads(mmrag("show", str(played), "--json").stdout)
    assert shown["config"]["wearer"] == "person"
    assert shown["language"] == "A person played the wearer, in their own words."
    assert "a person as wearer, clean: " in mmrag("show", str(played)).stdout
    scored = json.loads(mmrag("score", str(played), "--json").stdout)
    assert scored["language"] == shown["language"]
    asked = sum(len(s.turns) for s in agendas()[:2])
    assert scored["all"]["as_answered"]["total"] == asked
    assert scored["all"]["as_answered"]["accuracy"] == pytest.approx((asked - 2) / asked)
    assert second.id == agendas()[1].id


def test_it_is_compared_with_the_simulated_wearer_goal_by_goal(
    played: Path, tmp_path: Path
) -> None:
    with RunReader(played) as run:
        config = msgspec.convert(run.meta("config"), dict[str, Any])
    from simulator.run.run_config import make_config

    simulated = make_config({**config, "wearer": "live"})
    parts = Parts(simulated, agent=Says(lambda q: "I don't know"), progress=False)
    execute(parts, tmp_path / "live")
    out = tmp_path / "out"
    mmrag("compare", str(tmp_path / "live"), str(played), "--out", str(out))
    found = json.loads((out / "compare.json").read_text())
    (pair,) = found["comparisons"]
    assert pair["settings"] == {"wearer": ["live", "person"]}
    assert "A person played the wearer" in found["language"]
    assert pair["turns"] > 2


def test_verify_says_in_a_line_that_a_persons_words_cannot_be_proved(played: Path) -> None:
    words = " ".join(mmrag("verify", str(played)).stdout.split())
    assert "a person played the wearer, and nothing can prove their" in words
    assert "No problem found." in words


def test_verify_finds_a_cost_that_was_not_paid(played: Path, tmp_path: Path) -> None:
    import shutil

    copy = shutil.copytree(played, tmp_path / "copy")
    with RunStore(copy) as store:
        session = store.session(*store.session_keys()[0])
        said = msgspec.structs.replace(session.turns[1].wearer, patience=99)
        turns = list(session.turns)
        turns[1] = msgspec.structs.replace(turns[1], wearer=said)
        store.commit(session=msgspec.structs.replace(session, turns=tuple(turns))).result()
    assert "follows from the replies" in mmrag("verify", str(copy), code=1).stdout


def test_no_program_holds_what_a_person_holds(played: Path) -> None:
    for words in (["resume", str(played)], ["run", "--wearer", "person", "--out", "x"]):
        assert "mmrag ui" in " ".join(mmrag(*words, code=2).stderr.split())


def test_a_goal_goes_on_with_another_picture(tmp_path: Path) -> None:
    async def play() -> None:
        table = playing(tmp_path)
        name = table.begin("random", "mini", "low-light@3", 1)
        looks = FakeLooks()
        with_fake_looks(table, name, looks)
        now = await table.say(name, (1, 0), "LOOK at this")
        assert now.talk.ways[0] == "brighter"
        left = now.talk.patience
        now = await table.say(name, now.known, "like this?", "brighter")
        assert looks.taken == [(agendas()[0].id, "brighter")]
        assert (now.talk.patience, [r.step for r in now.results]) == (left - 1, [True, False])
        with RunReader(now.folder) as run:
            held = run.session(agendas()[0].id, "low-light@3")
            assert held.turns[1].capture.image.data
            state = run_state(run)
        assert not state.finished
        assert state.missing_turns > 0

    asyncio.run(play())


class NoLooks:
    """A scene that can be pictured by its data, and cannot when it comes to it."""

    def can(self, _session: object) -> bool:
        return True

    def take(self, _session: object, _how: str) -> None:
        return None


def test_a_picture_that_cannot_be_taken_costs_nothing_and_is_told(tmp_path: Path) -> None:
    async def play() -> None:
        table = playing(tmp_path)
        name = table.begin("random", "mini", "none", 1)
        with_fake_looks(table, name, NoLooks())
        now = await table.say(name, (1, 0), "LOOK at this")
        with pytest.raises(UsageError, match="Say it without one"):
            await table.say(name, now.known, "closer", now.talk.ways[0])
        assert table.standing(name).talk.patience == now.talk.patience
        with_fake_looks(table, name, None)
        assert table.standing(name).talk.ways == ()

    asyncio.run(play())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Type what you say"), (" \n ", "Type what you say"), ("\u200b", "Type what you say"),
        ("x" * 10_000, "these are 10,000")
    ]
)  # fmt: skip
def test_words_that_are_none_or_too_many_are_refused_and_nothing_is_kept(
    tmp_path: Path, text: str, problem: str
) -> None:
    table = playing(tmp_path)
    name = table.begin("random", "mini", "none", 1)
    with pytest.raises(UsageError, match=problem):
        asyncio.run(table.say(name, (1, 0), text))
    assert table.standing(name).results == ()
    assert MOST_WORDS < 10_000


def test_half_a_character_is_kept_as_a_question_mark(tmp_path: Path) -> None:
    table = playing(tmp_path)
    name = table.begin("random", "mini", "none", 1)
    said = asyncio.run(table.say(name, (1, 0), "what \ud800 is it"))
    assert [r.query for r in said.results] == ["what ? is it"]


def test_a_picture_that_is_gone_is_told_and_nothing_is_written_over(tmp_path: Path) -> None:
    table = playing(tmp_path)
    name = table.begin("random", "mini", "none", 1)
    asyncio.run(table.say(name, (1, 0), "my own words, wrong"))
    for picture in (tmp_path / name / "images").rglob("*"):
        if picture.is_file():
            picture.unlink()
    with pytest.raises(StoreError, match="conversation 1 is gone or changed"):
        asyncio.run(table.say(name, (1, 1), "again, wrong"))
    with RunReader(tmp_path / name) as run:
        [said] = [r.query for key in run.session_keys() for r in run.turns(*key)]
    assert said == "my own words, wrong"


def test_a_run_ends_where_the_pictures_that_are_left_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = playing(tmp_path)
    name = table.begin("random", "mini", "none", 2)
    first = table.standing(name).talk.agenda.id
    whole = playing_module.seen_under

    def seen_under(agenda: Session, *more: Any) -> Session:
        if agenda.id != first:
            raise DataError("its picture is torn")
        return whole(agenda, *more)

    monkeypatch.setattr(playing_module, "seen_under", seen_under)
    asyncio.run(table.leave(name, (1, 0)))
    assert asyncio.run(table.go_on(name)).finished
    with RunReader(tmp_path / name) as run:
        assert run.meta("finished") is True


def test_two_tabs_say_nothing_twice(tmp_path: Path) -> None:
    async def play() -> None:
        table = playing(tmp_path)
        name = table.begin("random", "mini", "none", 1)
        first = asyncio.create_task(table.say(name, (1, 0), "what is it?"))
        await asyncio.sleep(0)
        with pytest.raises(ConflictError, match="still answering"):
            await table.say(name, (1, 0), "what is that?")
        await first
        with pytest.raises(ConflictError, match="gone on elsewhere"):
            await table.say(name, (1, 0), "what is that?")
        with pytest.raises(ConflictError, match="gone on elsewhere"):
            await table.leave(name, (1, 0))
        assert [r.query for r in table.standing(name).results] == ["what is it?"]

    asyncio.run(play())


def test_who_goes_away_while_the_agent_works_finds_its_answer_when_they_are_back(
    tmp_path: Path,
) -> None:
    async def play() -> None:
        table = playing(tmp_path)
        name = table.begin("random", "mini", "none", 1)
        page = asyncio.create_task(table.say(name, (1, 0), "what is it?"))
        await asyncio.sleep(0)
        page.cancel()
        now = await table.settled(name)
        assert [r.query for r in now.results] == ["what is it?"]
        assert not table.is_working(name)
        other = playing(tmp_path)  # and so it is when the server was started again
        assert other.standing(name).known == now.known

    asyncio.run(play())


def test_an_agent_that_fails_or_hangs_costs_its_goal_only(tmp_path: Path) -> None:
    async def slow(query: Query) -> Reply:
        await asyncio.sleep(3600)
        return Reply(text="late")

    async def play() -> None:
        table = playing(tmp_path)
        name = table.begin("random", "mini", "none", 1)
        now = await table.say(name, (1, 0), "break")
        assert (str(now.results[0].status), now.talk.goal) == ("agent_error", 1)
        with RunStore(now.folder) as store:
            hasty = msgspec.structs.replace(now.config, seconds=0.05)
            store.set_meta("config", hasty)
        hangs = Says(knowing)
        hangs.answer = slow  # type: ignore[method-assign]
        now = await playing(tmp_path, hangs).say(name, now.known, "what?")
        assert (str(now.results[1].status), now.talk.goal) == ("timeout", 2)

    asyncio.run(play())


def test_who_leaves_ends_it_cleanly_and_the_next_run_has_other_conversations(
    tmp_path: Path,
) -> None:
    async def play() -> None:
        table = playing(tmp_path)
        name = table.begin("random", "mini", "none", 1)
        now = await table.say(name, (1, 0), "wrong")
        if now.talk.can_let_be:
            assert now.talk.may == ("correct", "object")
        now = await table.leave(name, now.known)
        assert (now.talk.over, now.finished) == ("left", True)
        with RunReader(now.folder) as run:
            assert run_state(run).finished
        again = table.begin("random", "mini", "none", 2)
        assert again != name
        ids = table.standing(again).config.sample_ids
        assert ids == tuple(s.id for s in agendas()[1:3])

    asyncio.run(play())


class Kind:
    """Another version of the judge, to which every answer is right."""

    id = "builtin/kind"

    async def judge(self, item: JudgeItem) -> Verdict:
        return Verdict(outcome=Outcome.PERFECT, judge=self.id)


def test_a_judge_that_changes_meanwhile_loses_no_verdict(tmp_path: Path) -> None:
    async def play() -> None:
        table = playing(tmp_path)
        name = table.begin("random", "mini", "none", 1)
        now = await table.say(name, (1, 0), "what is it?")
        assert (now.talk.goal, now.talk.may) == (0, ("again",))

        newer = playing(tmp_path)
        newer._judges["builtin"] = Kind()
        with pytest.raises(ConflictError, match="mmrag judge run"):
            await newer.say(name, now.known, "once more, what is it?")
        assert newer.standing(name).known == now.known

        with RunStore(now.folder) as store:
            await rejudge_run(store, Kind())
        again = newer.standing(name)  # what was heard was heard
        assert (again.goal, again.talk.patience) == (now.goal, now.talk.patience)
        assert again.results == now.results
        now = await newer.say(name, now.known, "once more, what is it?")
        assert now.talk.goal == 1
        now = await newer.leave(name, now.known)
        with RunReader(now.folder) as run:
            turns = run.turns(now.seen.id)
        asked = [turn for turn in turns if turn.reply is not None]
        assert [turn.step for turn in asked] == [True, False]
        assert {turn.verdict.judge for turn in asked if turn.verdict} == {Kind.id}
        assert all(turn.verdict for turn in asked)
        assert "No problem found." in " ".join(mmrag("verify", str(now.folder)).stdout.split())

    asyncio.run(play())


def test_a_comparison_says_what_finishes_a_persons_run(tmp_path: Path, played: Path) -> None:
    table = playing(tmp_path)
    name = table.begin("random", "mini", "none", 1)
    compared = ("compare", str(played), str(tmp_path / name), "--out", str(tmp_path / "out"))
    assert f"go on playing {tmp_path / name} in the app" in _words(mmrag(*compared, code=1).stderr)
    asyncio.run(table.say(name, (1, 0), "what is it?"))
    said = _words(mmrag(*compared).stdout)
    assert f"{name} is not finished" in said.replace("\\", "")
    assert "Who played it completes it in the app" in said
    assert "mmrag resume" not in said


def _words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", ["../up", "..", ".", "", "no-such-run", "a/b", "x" * 500])
def test_a_run_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="There is no run"):
        playing(tmp_path).standing(name)


def test_a_run_that_no_person_plays_is_refused(played: Path, tmp_path: Path) -> None:
    table = playing(tmp_path)
    with RunStore(tmp_path / "other") as store:
        from simulator.run.run_config import RunConfig

        store.set_meta("config", RunConfig())
    with pytest.raises(UsageError, match="no person plays"):
        table.standing("other")
    for given in (("random", "else", "none", 1), ("random", "mini", "odd", 1),
                  ("random", "mini", "none", 0), ("random", "mini", "none", 99)):  # fmt: skip
        with pytest.raises(MmragError):
            table.begin(*given)
