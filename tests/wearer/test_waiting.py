"""A wearer's time: how long they wait for a word and listen to one reply, and that it is proved."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_talks import FakeLooks, Says, agenda, agendas, facts, heard, talk_of, wearers

from mmrag import turn_clock
from mmrag.errors import AgentError, Unavailable
from mmrag.judges.simple import ExactJudge
from mmrag.records import Outcome, Query, Reply, Session, Status, TurnResult
from simulator.ears.speech_pipeline import SpokenQuestion
from simulator.faults.current_fault import DELAYS, ActiveFault, simulated_delay
from simulator.reports.figures.costs import latency_by_condition
from simulator.reports.figures.wearers import wearers as figures_of
from simulator.reports.read.turn_frame import load_turn_frame
from simulator.run.engine import Rules, history_of, one_turn
from simulator.run.live_conversation import Wearers, break_off
from simulator.run.run_config import make_config
from simulator.run.runner import Plan, run_sessions, under_condition
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from simulator.store.run_table import write_table
from simulator.wearer.proof import prove, prove_record
from simulator.wearer.talk import KEY, Talk, TalkBounds
from simulator.wearer.waiting import Waiting, cut_off, hear
from simulator.wearer.wearer_view import sight_of

USUAL = Waiting.of(5)
assert USUAL is not None
MISSING, PERFECT = Outcome.MISSING, Outcome.PERFECT


def waiting_talk(waiting: Waiting | None = USUAL, **more) -> Talk:
    return talk_of(agenda(lambda s: len(s.turns) > 3), bounds=TalkBounds(waiting=waiting), **more)


def late(talk: Talk, seconds: float, text: str = "I don't know", outcome=MISSING) -> str:
    """Reply after so long, as the engine would have it heard; what the wearer did about it."""
    result = msgspec.structs.replace(heard(talk, text, outcome), seconds=seconds)
    talk.say(talk.hear(cut_off(talk.waiting, talk.turns, result) if talk.waiting else result))
    return talk.over or talk.turn.wearer.move


def test_into_silence_they_ask_once_a_goal_and_then_leave() -> None:
    talk = waiting_talk()
    before, question = talk.patience, talk.turn.query
    assert late(talk, 5.1) == "hello"
    assert talk.turn.query != question
    assert talk.turn.query.endswith(question)
    assert talk.patience == before - 1
    assert late(talk, 9.9, "right", PERFECT) == "ask"  # after a hello they wait twice as long
    assert talk.goal == 1
    assert late(talk, 5.1) == "hello"
    assert (late(talk, 10.1), len(talk.turns)) == ("waiting", 4)


def test_a_request_without_words_that_comes_too_late_is_not_heard() -> None:
    talk = waiting_talk()
    for seconds, ask in ((4.9, "look"), (5.1, None)):
        asked = msgspec.structs.replace(heard(talk, "", MISSING, ask="look"), seconds=seconds)
        result = cut_off(USUAL, talk.turns, asked)
        assert result.reply is not None
        assert result.reply.ask == ask
        assert result.is_unheard is (ask is None)
        session = msgspec.structs.replace(talk.agenda, turns=tuple(talk.turns))
        assert len(history_of(session, [result], Rules())) == (ask is not None)
    assert cut_off(USUAL, talk.turns, result) == result


def test_a_turn_that_timed_out_is_silence_and_an_early_failure_is_as_it_was() -> None:
    talk = waiting_talk()
    failed = msgspec.structs.replace(
        heard(talk, "", MISSING), status=Status.TIMEOUT, reply=None, verdict=None, seconds=60.0
    )
    talk.say(talk.hear(failed))
    assert talk.turn.wearer.move == "hello"
    quick = msgspec.structs.replace(failed, status=Status.AGENT_ERROR, seconds=1.0)
    talk.say(talk.hear(quick))
    assert (talk.turn.wearer.move, talk.goal) == ("ask", 1)


def test_time_below_patience_costs_whole_seconds_of_the_clock_and_nothing_else() -> None:
    clocks = []
    for seconds in (0.0, 0.9, 1.0, 4.9):
        talk = waiting_talk()
        assert late(talk, seconds, "right", PERFECT) == "ask"
        clocks.append(talk.seconds)
    assert [round(c - clocks[0], 1) for c in clocks] == [0, 0, 1, 4]
    patient = waiting_talk(None)
    assert (late(patient, 50.0, "right", PERFECT), patient.seconds) == ("ask", clocks[0])


def test_who_goes_on_for_too_long_is_talked_over_and_judged_by_what_was_heard() -> None:
    talk, long = waiting_talk(), " ".join(f"w{n}" for n in range(60))
    assert late(talk, 1.0, long) == "interrupt"
    assert late(talk, 1.0, long) != "interrupt"  # once a goal
    talk = waiting_talk()
    assert late(talk, 1.0, long, Outcome.INCORRECT) == "interrupt"
    assert late(waiting_talk(), 1.0, long, PERFECT) == "ask"
    either = talk_of(
        agenda(lambda s: s.turns[0].extra.get("choice")), bounds=TalkBounds(waiting=USUAL)
    )
    assert late(either, 1.0, long, Outcome.INCORRECT) == "ask"  # of two, it would tell the other


def test_a_picture_that_is_sent_is_waited_for_once() -> None:
    plain = agenda(lambda s: len(s.turns) > 2 and s.capture is not None)
    assert plain.capture is not None
    sent = msgspec.structs.replace(plain.capture, degraded={"link": {"seconds": 4.5}})
    later = msgspec.structs.replace(plain.turns[1], capture=plain.capture)  # arrives unsent
    session = msgspec.structs.replace(
        plain, capture=sent, turns=(plain.turns[0], later, *plain.turns[2:])
    )
    assert [simulated_delay(session, turn, None) for turn in session.turns[:3]] == [4.5, 0, 0]
    same = msgspec.structs.replace(session, turns=plain.turns)
    assert [simulated_delay(same, turn, None) for turn in same.turns[:3]] == [4.5, 0, 0]
    anew = msgspec.structs.replace(later, capture=sent)
    assert simulated_delay(session, anew, None) == 4.5
    late = ActiveFault(kind="delay-9", draw=0.0)
    assert simulated_delay(session, session.turns[0], late) == 13.5
    assert late.is_felt


@given(
    st.text("ab \n", max_size=40), *(st.floats(low, 9) for low in (0, 0, 0.1, 0.1)),
)  # fmt: skip
def test_what_is_heard_begins_the_text_and_takes_no_longer_than_they_listen(
    text: str, first: float, more: float, limit: float, listen: float
) -> None:
    got = hear(text, first, first + more, limit, listen)
    assert got.text + got.unheard == text
    assert (got.text == "") or first <= limit
    assert got.seconds <= max(first, limit) + max(listen, 0.4, more) + 1e-6
    twice = hear(text, first, first + more, limit, 2 * listen)
    assert len(twice.text) >= len(got.text)


# -- whole runs, in which no time passes but what is declared


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_clock, "time", SimpleNamespace(perf_counter=lambda: 0.0))


def held(folder: Path, waiting: Waiting | None, faults: tuple[str, ...] = ()) -> None:
    answers = {turn.query: turn.reference.text for s in agendas() for turn in s.turns}

    def says(query: Query) -> Reply:
        known = [text for asked, text in answers.items() if query.text.endswith(asked)]
        assert not any(e.reply == "" for e in query.history)
        return Reply(text=known[0] if known and len(known[0]) % 3 else "I don't know")

    with RunStore(folder) as store:
        store.set_meta("judge", ExactJudge.id)
        plan = Plan(concurrency=4, faults=faults, stop=StopPolicy.parse("never"))
        work = run_sessions(
            iter(list(enumerate(agendas()[:2]))), Says(says), ExactJudge(), store, plan,
            wearers=of(waiting),
        )  # fmt: skip
        asyncio.run(work)


def of(waiting: Waiting | None) -> Wearers:
    return wearers(FakeLooks())._replace(bounds=TalkBounds(waiting=waiting))


def problems(held: Session, kept: list[TurnResult], waiting: Waiting | None) -> list[str]:
    whole = next(a for a in agendas() if a.id == held.id)
    asked = [r for r in kept if r.status is not Status.SKIPPED_AFTER_STOP]
    rule = StopPolicy.parse("never").rule
    talk = of(waiting).talk(whole, held.degradation, stop=rule, seed=0)
    found = prove(talk, sight_of(whole, facts()), held, asked).problems
    return found + prove_record(talk, under_condition(whole, held.degradation), held, kept)


def told(folder: Path) -> dict[str, list[tuple[Session, list[TurnResult]]]]:
    found: dict[str, list[tuple[Session, list[TurnResult]]]] = {}
    with RunReader(folder) as run:
        for session in run.sessions():
            kept = run.turns(session.id, session.degradation)
            found.setdefault(session.degradation, []).append((session, kept))
    return found


def whole_replies(talks: list[tuple[Session, list[TurnResult]]]) -> dict[tuple[str, str], str]:
    return {
        (s.id, t.query.rpartition("? ")[2] + str(t.wearer.goal)): r.reply.text + r.unheard
        for s, kept in talks
        for t, r in zip(s.turns, kept, strict=True)
        if r.reply is not None and t.wearer.move == "ask"
    }


@pytest.mark.parametrize("patience", [2.5, 5.0, 10.0, 0.0])
def test_delays_leave_replies_equal_and_change_what_the_rule_says_alone(
    tmp_path: Path, patience: float
) -> None:
    waiting = Waiting.of(patience)
    held(tmp_path / "run", waiting, tuple(f"{kind}@5" for kind in DELAYS))
    talks = told(tmp_path / "run")
    replies = {name: whole_replies(found) for name, found in talks.items()}
    for name, found in talks.items():
        assert replies[name].items() <= replies["clean"].items()
        moves = {t.wearer.move for s, _ in found for t in s.turns}
        ends = {s.extra[KEY]["over"] for s, _ in found}
        seconds = DELAYS.get(name.removesuffix("@5"), 0.0)
        assert ("hello" in moves) is (waiting is not None and seconds > waiting.hello)
        assert ("waiting" in ends) is (waiting is not None and seconds > waiting.leave)
        for session, kept in found:
            assert problems(session, kept, waiting) == []
            assert {r.delay for r in kept if r.reply is not None} == {seconds}
    with RunReader(tmp_path / "run") as run:
        figures = {row["name"]: row for row in figures_of(run) or []}
        times = latency_by_condition(load_turn_frame(run, stop=StopPolicy()))
    for row in times:
        declared = DELAYS.get(row["condition"].removesuffix("@5"), 0.0)
        assert row["first"]["p50"] == row["p50"] == declared
    if waiting is not None:
        rates = [figures[n]["solved_per_minute"] for n in ("clean", "delay-1@5", "delay-3@5")]
        assert rates == sorted(rates, reverse=True)
        assert figures["delay-3@5"]["seconds"] > figures["clean"]["seconds"]
    else:
        assert len({row["seconds"] for row in figures.values()}) == 1


def test_times_that_do_not_bear_out_what_was_said_are_found(tmp_path: Path) -> None:
    held(tmp_path / "run", USUAL, ("delay-9@5",))
    session, kept = told(tmp_path / "run")["delay-9@5"][0]
    assert session.turns[1].wearer.move == "hello"
    for change, says in (
        ({"delay": 3.0}, "follows from its times"),
        ({"first_word": 20.0, "seconds": 21.0}, "where"),
        ({"unheard": ""}, None),
        ({"reply": Reply(text="heard"), "unheard": " a part"}, "follows from its times"),
        ({"reply": Reply(text="", ask="look")}, "has a request"),
    ):
        place = 1 if "first_word" in change else 0
        changed = list(kept)
        changed[place] = msgspec.structs.replace(kept[place], **change)
        found = problems(session, changed, USUAL)
        assert bool(found) is (says is not None)
        assert says is None or any(says in problem for problem in found)
    for status in (kept[0].status, Status.TIMEOUT, Status.AGENT_ERROR, Status.EAR_ERROR):
        reply = kept[0].reply if status is kept[0].status else None
        later = msgspec.structs.replace(kept[0], delay=8.0, status=status, reply=reply)
        found = problems(session, [later, *kept[1:]], USUAL)
        assert any("its delay is" in problem for problem in found)
    assert problems(session, kept, None)


def test_a_turn_that_was_never_asked_has_nothing_but_its_question(tmp_path: Path) -> None:
    held(tmp_path / "run", Waiting.of(2.5), ("delay-9@5",))
    session, kept = told(tmp_path / "run")["delay-9@5"][0]
    assert kept[-1].status is Status.SKIPPED_AFTER_STOP
    assert problems(session, kept, Waiting.of(2.5)) == []
    changes = ({"delay": -1.5}, {"seconds": 3.0}, {"unheard": "more"}, {"reply": Reply(text="a")})
    for change in changes:
        changed = [*kept[:-1], msgspec.structs.replace(kept[-1], **change)]
        (problem,) = problems(session, changed, Waiting.of(2.5))
        assert "never asked" in problem


def test_exported_turns_tell_what_was_not_heard_and_by_which_times(tmp_path: Path) -> None:
    held(tmp_path / "run", Waiting.of(2.5), ("delay-9@5",))
    with RunReader(tmp_path / "run") as run:
        write_table(run, tmp_path / "turns.jsonl", "jsonl")
        write_table(run, tmp_path / "turns.parquet", "parquet")
    rows = [json.loads(line) for line in (tmp_path / "turns.jsonl").read_text().splitlines()]
    late = [r for r in rows if r["degradation"] == "delay-9@5" and r["reply"] is not None]
    assert {(r["reply"], r["first_word"], r["delay"]) for r in late} == {("", None, 9.0)}
    assert all(r["unheard"] for r in late)
    assert {(r["unheard"], r["delay"]) for r in rows if r["degradation"] == "clean"} == {("", 0.0)}
    assert max(pq.read_table(tmp_path / "turns.parquet")["delay"].to_pylist()) == 9.0


def test_who_cannot_be_asked_or_heard_is_waited_for_as_any_other() -> None:
    whole, kept = agendas()[0], []
    seen = under_condition(whole, "delay-9@5")

    async def commit(*results: TurnResult, session: Session) -> None:
        kept.extend(results)
        kept_session[:] = [session]

    async def deaf(_turn: object, _condition: str) -> SpokenQuestion:
        raise Unavailable("nothing was written down")

    kept_session: list[Session] = []
    asyncio.run(
        break_off(
            of(USUAL), whole, seen, AgentError("gone"), ExactJudge.id, commit,
            stop=StopPolicy.parse("never").rule, seed=0, done=(),
        )
    )  # fmt: skip
    assert "hello" in {turn.wearer.move for turn in kept_session[0].turns}
    assert problems(kept_session[0], kept, USUAL) == []
    spoken = msgspec.structs.replace(seen, spoken="quiet")
    lost = asyncio.run(
        one_turn(
            spoken, seen.turns[0], Query(text=""), Says(str), ExactJudge(), Rules(),
            contextlib.nullcontext, deaf,
        )
    )  # fmt: skip
    assert (lost.status, lost.delay) == (Status.EAR_ERROR, 9.0)


def test_a_wearer_has_patience_only_where_it_is_asked_for() -> None:
    assert make_config({"wearer": "live", "patience": 5}).patience == 5
    assert make_config({"wearer": "live"}).patience == 0
