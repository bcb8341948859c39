"""Live conversations as they are held, kept, resumed and proved."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from small_talks import FakeLooks, Says, agendas, talk_of, wearers

from mmrag.errors import Denied, ServiceError, StoreError
from mmrag.judges.simple import ExactJudge, FixedJudge
from mmrag.metrics.scoring_protocols import two_strikes
from mmrag.protocols import Judge
from mmrag.records import JudgeItem, Query, Reply, Session, Status, TurnResult, Verdict
from simulator.run.live_conversation import as_heard
from simulator.run.rejudge import rejudge_run
from simulator.run.results.run_scoring import ScoreOptions, run_state, score_run
from simulator.run.runner import Plan, run_sessions
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from simulator.store.run_table import columns_of, turn_rows
from simulator.wearer.proof import prove
from simulator.wearer.talk import KEY
from simulator.wearer.wearer_view import sight_of


def hold(folder: Path, agent: object, looks: FakeLooks, *, count: int = 4, **plan) -> None:
    chosen = iter(list(enumerate(agendas()[:count])))
    with RunStore(folder) as store:
        store.set_meta("judge", ExactJudge.id)
        work = run_sessions(
            chosen, agent, ExactJudge(), store, Plan(concurrency=2, **plan), wearers=wearers(looks)
        )
        asyncio.run(work)
        store.set_meta("finished", True)


def kept(folder: Path) -> list[tuple[Session, list[TurnResult]]]:
    with RunReader(folder) as run:
        return [(s, run.turns(s.id, s.degradation)) for s in run.sessions()]


def bare(folder: Path) -> list[object]:
    return [
        (msgspec.to_builtins(s, enc_hook=lambda image: image.sha256),
         [msgspec.structs.replace(r, seconds=0) for r in results])
        for s, results in kept(folder)
    ]  # fmt: skip


def answers() -> dict[str, str]:
    return {turn.query: turn.reference.text for s in agendas() for turn in s.turns}


def mixed(query: Query) -> Reply:
    """Asks for a look first, answers every other goal rightly, and is silent about the rest."""
    known = answers()
    if query.history and query.history[-1].ask == "look":
        return Reply(text=known.get(query.text, "I don't know"))
    if query.turn_index % 3 == 0:
        return Reply(text="Could you go closer?", ask="look")
    return Reply(text=known.get(query.text, "I don't know"))


def test_a_live_run_keeps_what_was_said_and_every_picture(tmp_path: Path) -> None:
    looks = FakeLooks()
    agent = Says(mixed)
    hold(tmp_path / "run", agent, looks)
    assert looks.taken
    asked = [query for query in agent.seen if query.earlier]
    assert asked
    assert all(query.may_ask for query in agent.seen)
    assert asked[0].image.sha256 != asked[0].earlier[0].sha256
    for session, results in kept(tmp_path / "run"):
        assert len(session.turns) == len(results)
        assert [turn.query for turn in session.turns] == [result.query for result in results]
        for turn in session.turns:
            assert (turn.capture is not None) == (turn.wearer.move == "look")
            if turn.capture is not None:
                assert turn.capture.image.data


def test_of_a_goal_the_last_turn_counts(tmp_path: Path) -> None:
    hold(tmp_path / "run", Says(mixed), FakeLooks())
    with RunReader(tmp_path / "run") as run:
        figures = score_run(run, ScoreOptions(resamples=0))
        state = run_state(run)
    goals = sum(len(s.turns) for s in agendas()[:4])
    counted = [
        result for _, results in kept(tmp_path / "run") for result in results if not result.step
    ]
    assert len(counted) == goals
    assert figures["all"]["asked"] <= goals
    assert state.finished
    assert state.missing_turns == 0


def test_what_was_held_is_proved(tmp_path: Path) -> None:
    hold(tmp_path / "run", Says(mixed), FakeLooks(), count=8)
    for session, results in kept(tmp_path / "run"):
        agenda = next(a for a in agendas() if a.id == session.id)
        asked = [r for r in results if r.status is not Status.SKIPPED_AFTER_STOP]
        talk = talk_of(agenda)
        proof = prove(wearers(FakeLooks()).talk(agenda, "clean", stop=StopPolicy().rule, seed=0),
                      sight_of(agenda, wearers().facts), session, asked)  # fmt: skip
        assert (proof.problems, proof.utterances) == ([], len(session.turns))
        assert talk.turn.query == session.turns[0].query


@pytest.mark.parametrize("after", [1, 3, 6, 9])
def test_a_run_that_breaks_off_goes_on_with_the_words_that_were_to_come(
    tmp_path: Path, after: int
) -> None:
    hold(tmp_path / "whole", Says(mixed), FakeLooks(), count=2)
    left = after

    def failing(query: Query) -> Reply:
        nonlocal left
        left -= 1
        if left < 0:
            for task in asyncio.all_tasks():
                task.cancel()
        return mixed(query)

    with pytest.raises(asyncio.CancelledError):
        hold(tmp_path / "cut", Says(failing), FakeLooks(), count=2)
    with RunReader(tmp_path / "cut") as run:
        assert not run_state(run).finished
    hold(tmp_path / "cut", Says(mixed), FakeLooks(), count=2)
    assert bare(tmp_path / "cut") == bare(tmp_path / "whole")
    hold(tmp_path / "cut", Says(mixed), FakeLooks(), count=2)
    assert bare(tmp_path / "cut") == bare(tmp_path / "whole")


def test_words_of_another_version_are_not_gone_on_with(tmp_path: Path) -> None:
    hold(tmp_path / "run", Says(mixed), FakeLooks(), count=1)
    (session, results), *_ = kept(tmp_path / "run")
    with RunStore(tmp_path / "run") as store:
        other = msgspec.structs.replace(results[1], query="quite another question")
        store.commit(other).result()
        store.forget_turns(session.id, "clean", 3)
    with pytest.raises(StoreError, match="another version"):
        hold(tmp_path / "run", Says(mixed), FakeLooks(), count=1)


def test_a_run_is_the_same_whatever_goes_on_beside(tmp_path: Path) -> None:
    hold(tmp_path / "one", Says(mixed), FakeLooks(), count=6)
    chosen = iter(list(enumerate(agendas()[:6])))
    with RunStore(tmp_path / "many") as store:
        store.set_meta("judge", ExactJudge.id)
        asyncio.run(
            run_sessions(chosen, Says(mixed), ExactJudge(), store, Plan(concurrency=16),
                         wearers=wearers(FakeLooks()))
        )  # fmt: skip
    assert bare(tmp_path / "one") == bare(tmp_path / "many")


def test_a_request_that_makes_no_sense_is_an_agents_error(tmp_path: Path) -> None:
    hold(tmp_path / "run", Says(lambda q: Reply(text="?", ask="dance")), FakeLooks(), count=1)
    ((_, results), *_) = kept(tmp_path / "run")
    assert {r.status for r in results} == {Status.AGENT_ERROR}
    assert "ask is which, look, again" in results[0].error


def test_a_request_in_every_turn_ends_like_silence(tmp_path: Path) -> None:
    for ask in ("which", "look", "again"):
        hold(tmp_path / ask, Says(lambda q, ask=ask: Reply(text="Hm?", ask=ask)), FakeLooks())
        with RunReader(tmp_path / ask) as run:
            figures = score_run(run, ScoreOptions(resamples=0))["all"]
        assert figures["truthfulness_score"] == 0


def test_a_scripted_wearer_hears_no_request(tmp_path: Path) -> None:
    agent = Says(lambda q: Reply(text="Closer?", ask="look"))
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", ExactJudge.id)
        asyncio.run(run_sessions(iter([(0, agendas()[0])]), agent, ExactJudge(), store, Plan()))
    assert not any(query.may_ask for query in agent.seen)
    ((_, results), *_) = kept(tmp_path / "run")
    assert [str(r.verdict.outcome) for r in results if r.verdict] == ["missing", "missing"]


def test_lists_and_tables_have_goals_and_not_turns(tmp_path: Path) -> None:
    hold(tmp_path / "run", Says(mixed), FakeLooks())
    agenda = {session.id: session for session in agendas()}
    with RunReader(tmp_path / "run") as run:
        marks = next(run.changes_since()).marks
        rows = list(turn_rows(run, columns_of(run)))
    assert {key[0]: len(found) for key, found in marks.items()} == {
        name: len(agenda[name].turns) for name, _ in marks
    }
    pictures: dict[str, set[str]] = {}
    for row in rows:
        pictures.setdefault(row["session_id"], set()).add(row["image_sha256"])
    for name in pictures:
        indexes = [row["turn_index"] for row in rows if row["session_id"] == name]
        assert indexes == list(range(len(agenda[name].turns)))
    first = {name: {agenda[name].capture.image.sha256} for name in pictures}
    assert any(pictures[name] - first[name] for name in pictures)


def go_on(folder: Path, agenda: Session, says: Callable[[Query], str], judge: Judge) -> None:
    with RunStore(folder) as store:
        if store.meta("judge") is None:
            store.set_meta("judge", judge.id)
        held = run_sessions(
            iter([(0, agenda)]), Says(says), judge, store, Plan(concurrency=1),
            wearers=wearers(FakeLooks()),
        )  # fmt: skip
        asyncio.run(held)


def proved(folder: Path, agenda: Session) -> Session:
    """The one conversation of a run, in which nothing is wrong."""
    with RunReader(folder) as run:
        (held,) = run.sessions()
        ours = wearers(FakeLooks())
        talk = ours.talk(agenda, held.degradation, stop=two_strikes, seed=0)
        proof = prove(talk, sight_of(agenda, ours.facts), held, as_heard(run, held))
    assert proof.problems == []
    return held


def test_a_run_that_goes_on_under_another_judge_can_be_proved(tmp_path: Path) -> None:
    (agenda,) = [one for one in agendas() if len(one.turns) >= 4][:1]
    asked: list[str] = []

    def interrupted(query: Query) -> str:
        asked.append(query.text)
        if len(asked) == 2:
            raise Denied("the key is not accepted any more")
        return "forty-two"

    with pytest.raises(Denied):
        go_on(tmp_path / "run", agenda, interrupted, FixedJudge())
    stern = FixedJudge("incorrect")
    with RunStore(tmp_path / "run") as store:
        asyncio.run(rejudge_run(store, stern, 1))
    go_on(tmp_path / "run", agenda, interrupted, stern)
    assert proved(tmp_path / "run", agenda).extra[KEY]["over"]


@pytest.mark.parametrize("left", [1, 100])
def test_a_verdict_that_is_given_later_changes_nothing_that_was_heard(
    tmp_path: Path, left: int
) -> None:
    class Failing(ExactJudge):
        async def judge(self, item: JudgeItem) -> Verdict:
            raise ServiceError("the judge is not there")

    (agenda,) = agendas()[:1]

    def interrupted(query: Query) -> str:
        nonlocal left
        left -= 1
        if left < 0:
            raise Denied("the key is not accepted any more")
        return "I don't know"

    with contextlib.suppress(Denied):
        go_on(tmp_path / "run", agenda, interrupted, Failing())
    with RunStore(tmp_path / "run") as store:
        asyncio.run(rejudge_run(store, ExactJudge(), 1))
    left = 100
    go_on(tmp_path / "run", agenda, interrupted, ExactJudge())
    assert proved(tmp_path / "run", agenda).extra[KEY]["over"]
