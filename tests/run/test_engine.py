from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_runs import ByNumber, Equality, make_session, run_all

from mmrag.errors import DataError, JudgeError, SpecError
from mmrag.metrics.scoring_protocols import strike_rule
from mmrag.records import (
    JudgeItem,
    Outcome,
    Query,
    Reference,
    Reply,
    Status,
    TurnResult,
    Verdict,
    outcome_of,
)
from simulator.run.engine import Rules, hold_conversation, reply_status
from simulator.run.rejudge import rejudge_run
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_store import RunStore


def converse(agent, judge=None, *, turns=6, stop=None, rules=Rules(), done=()):
    committed: list[TurnResult] = []

    async def commit(*results: TurnResult) -> None:
        committed.extend(results)

    results = asyncio.run(
        hold_conversation(
            make_session(1, turns=turns), agent, judge or Equality(), commit,
            stop=stop or strike_rule(2), rules=rules, done=done
        )
    )  # fmt: skip
    return results, committed


def letters(text: str) -> ByNumber:
    return ByNumber(lambda sid, turn: text[turn])


def test_history_is_the_agents_own_replies() -> None:
    agent = letters("cic")
    converse(agent, turns=3)
    last = agent.seen[-1]
    assert [e.reply for e in last.history] == ["answer 1-0", "something else"]
    assert [e.query for e in last.history] == ["question 0 of 1?", "question 1 of 1?"]


def test_data_that_an_agent_cannot_use_are_no_fault_of_the_agent() -> None:
    """A retry would read the same broken data: the turn ends at once, under its own name."""

    class Unreadable(ByNumber):
        async def answer(self, query: Query) -> Reply:
            self.seen.append(query)
            raise DataError("the picture's file ends in the middle")

    agent = Unreadable()
    results, _ = converse(agent, turns=1, rules=Rules(retries=2))
    assert [r.status for r in results] == [Status.DATA_ERROR]
    assert results[0].error is not None
    assert "ends in the middle" in results[0].error
    assert len(agent.seen) == 1


def test_a_turn_is_asked_again_as_often_as_the_rules_say_and_all_its_time_counts() -> None:
    class Breaks(ByNumber):
        mended = 9

        async def answer(self, query: Query) -> Reply:
            self.seen.append(query)
            await asyncio.sleep(0.1)
            if len(self.seen) < self.mended:
                raise ValueError("boom")
            return Reply(text="answer 1-0")

    agent = Breaks()
    results, _ = converse(agent, turns=1, rules=Rules(retries=2))
    assert (len(agent.seen), results[0].status) == (3, Status.AGENT_ERROR)
    assert results[0].seconds >= 0.29  # three times what it slept
    once = Breaks()
    converse(once, turns=1)
    assert len(once.seen) == 1
    passing = Breaks()
    passing.mended = 2
    results, _ = converse(passing, turns=1, rules=Rules(retries=1))
    assert (results[0].status, len(passing.seen)) == (Status.ANSWERED, 2)


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("abstained", [True, False])
def test_who_said_so_or_was_judged_so_abstained(abstained: bool, outcome: Outcome) -> None:
    verdict = Verdict(outcome=outcome, judge="hand")
    status = reply_status(Reply(text="x", abstained=abstained), verdict)
    if outcome is Outcome.UNSCORED:
        assert status is Status.JUDGE_ERROR
    elif abstained or outcome is Outcome.MISSING:
        assert status is Status.ABSTAINED
    else:
        assert status is Status.ANSWERED


def test_a_query_tells_where_and_when_it_is_asked() -> None:
    agent, committed = letters("cc"), []

    async def commit(*results: TurnResult) -> None:
        committed.extend(results)

    session = msgspec.structs.replace(make_session(1, turns=2), query_time="2030-06-02T10:00")
    capture = msgspec.structs.replace(session.capture, degradation="low-light@3")
    session = msgspec.structs.replace(session, capture=capture)
    asyncio.run(hold_conversation(session, agent, Equality(), commit, stop=strike_rule(2)))
    assert [r.degradation for r in committed] == ["low-light@3"] * 2
    assert [q.query_time for q in agent.seen] == ["2030-06-02T10:00"] * 2
    assert [q.session_id for q in agent.seen] == ["s001"] * 2
    assert [q.turn_index for q in agent.seen] == [0, 1]


def test_two_strikes_end_it_and_the_rest_is_not_asked() -> None:
    agent = letters("cimccc")
    results, committed = converse(agent)
    assert len(agent.seen) == 3
    assert [r.status for r in results[3:]] == [Status.SKIPPED_AFTER_STOP] * 3
    assert committed == results
    assert [outcome_of(r) for r in results[:3]] == [
        Outcome.PERFECT, Outcome.INCORRECT, Outcome.MISSING,
    ]  # fmt: skip


def test_generate_after_stop_asks_them_all() -> None:
    agent = letters("imcccc")
    results, _ = converse(agent, rules=Rules(ask_after_stop=True))
    assert len(agent.seen) == 6
    assert all(r.reply is not None for r in results)


def test_never_and_patience_are_obeyed() -> None:
    assert len(converse(letters("iiiiii"), stop=StopPolicy.parse("never").rule)[1]) == 6
    agent = letters("iiiiii")
    converse(agent, stop=StopPolicy.parse("patience(0)").rule)
    assert len(agent.seen) == 1


def test_a_failure_is_unscored_never_in_the_history_and_no_strike() -> None:
    agent = letters("ixicc")
    results, _ = converse(agent, turns=5)
    assert [r.status for r in results] == [
        Status.ANSWERED, Status.AGENT_ERROR, Status.ANSWERED,
        Status.SKIPPED_AFTER_STOP, Status.SKIPPED_AFTER_STOP,
    ]  # fmt: skip
    assert results[1].reply is None
    assert "boom" in (results[1].error or "")
    assert "boom" not in str(agent.seen[-1].history)
    assert [e.reply for e in agent.seen[-1].history] == ["something else"]


def test_a_slow_turn_times_out_and_the_next_one_is_asked() -> None:
    results, _ = converse(letters("ctc"), turns=3, rules=Rules(seconds=0.05))
    assert [r.status for r in results] == [Status.ANSWERED, Status.TIMEOUT, Status.ANSWERED]


def test_only_the_engines_own_limit_is_a_timeout() -> None:
    class Impatient:
        async def answer(self, query: Query) -> Reply:
            raise TimeoutError("the agent's own search gave up")

    results, _ = converse(Impatient(), turns=1)
    assert results[0].status is Status.AGENT_ERROR
    assert "own search" in (results[0].error or "")


def test_a_judge_that_hangs_leaves_the_turn_unscored(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging:
        id = "hanging"

        async def judge(self, item: JudgeItem) -> Verdict:
            await asyncio.sleep(60)
            raise AssertionError

    monkeypatch.setattr("simulator.run.engine.JUDGE_SECONDS", 0.02)
    results, _ = converse(letters("cc"), Hanging(), turns=2)
    assert [r.status for r in results] == [Status.JUDGE_ERROR] * 2
    assert results[0].error == "the judge gave no verdict within 0.02 s"


@pytest.mark.parametrize(
    "bad",
    [
        None, "a string", 42, Reply(text="x" * 1_000_001), Reply(text=None), Reply(text="\ud800"),
        Reply(text="fine", confidence="high")
    ]
)  # fmt: skip
def test_nonsense_from_an_agent_is_its_error(bad: object) -> None:
    class Nonsense:
        async def answer(self, query: Query) -> object:
            return bad

    results, _ = converse(Nonsense(), turns=1)
    assert results[0].status is Status.AGENT_ERROR


UNDECIDED = Verdict(outcome=Outcome.UNSCORED, judge="j", reason="cannot say")


@pytest.mark.parametrize("said", [JudgeError("out of order"), KeyError("oops"), None, UNDECIDED])
def test_a_judge_that_fails_leaves_the_reply_and_no_verdict(said: object) -> None:
    class Failing:
        id = "j"

        async def judge(self, item: JudgeItem) -> object:
            if isinstance(said, Exception):
                raise said
            return said

    results, _ = converse(letters("cccc"), Failing(), turns=4)
    assert [r.status for r in results] == [Status.JUDGE_ERROR] * 4
    assert all(r.reply is not None and r.error for r in results)
    assert [outcome_of(r) for r in results] == [Outcome.UNSCORED] * 4


def test_replies_are_cut_to_75_tokens_before_judge_and_history_see_them() -> None:
    class Wordy(ByNumber):
        async def answer(self, query: Query) -> Reply:
            self.seen.append(query)
            return Reply(text="word " * 200)

    agent = Wordy()
    results, _ = converse(agent, turns=2)
    assert results[0].reply is not None
    assert results[0].reply.text.split() == ["word"] * 75
    assert agent.seen[1].history[0].reply.split() == ["word"] * 75
    uncut, _ = converse(Wordy(), turns=1, rules=Rules(max_tokens=0))
    assert uncut[0].reply is not None
    assert len(uncut[0].reply.text.split()) == 200


def test_an_interrupted_conversation_goes_on_as_if_it_had_not_been() -> None:
    whole, _ = converse(letters("cicimc"))
    for cut in range(1, 6):
        agent = letters("cicimc")
        resumed, _ = converse(agent, done=tuple(whole[:cut]))
        strip = [(r.status, r.reply, r.verdict) for r in resumed]
        assert strip == [(r.status, r.reply, r.verdict) for r in whole]
        assert len(agent.seen) == 5 - cut  # the last turn comes after two strikes


def test_reference_history_replaces_the_agents_own() -> None:
    agent = letters("iic")
    converse(
        agent, turns=3, rules=Rules(reference_history=True), stop=StopPolicy.parse("never").rule
    )
    assert [e.reply for e in agent.seen[-1].history] == ["answer 1-0", "answer 1-1"]


def test_references_never_reach_the_agent() -> None:
    agent = letters("ii")
    converse(agent, turns=2)
    assert "answer" not in repr(agent.seen)


def test_a_turn_without_a_reference_is_a_fault_of_the_data_and_not_of_the_judge(
    tmp_path: Path,
) -> None:
    """Its reply is kept and shown to the agent as its own; nobody judges it, now or later."""
    judged: list[str] = []

    class Noting(Equality):
        id = "noting"

        async def judge(self, item: JudgeItem) -> Verdict:
            judged.append(item.id)
            return await super().judge(item)

    session = make_session(1, turns=3)
    bare = msgspec.structs.replace(session.turns[1], reference=Reference(text=" "))
    session = msgspec.structs.replace(session, turns=(session.turns[0], bare, session.turns[2]))
    agent = ByNumber(lambda _sid, _turn: "c")
    run_all(tmp_path / "run", [session], agent, Noting())
    assert judged == ["s001/0", "s001/2"]
    assert [e.reply for e in agent.seen[2].history] == ["answer 1-0", "answer 1-1"]
    with RunStore(tmp_path / "run") as store:
        lacking = store.turns("s001")[1]
        assert (lacking.status, lacking.verdict) == (Status.DATA_ERROR, None)
        assert lacking.reply is not None
        assert "no answer to compare with" in (lacking.error or "")
        asyncio.run(rejudge_run(store, Equality()))
        assert [r.status for r in store.turns("s001")] == [
            Status.ANSWERED, Status.DATA_ERROR, Status.ANSWERED,
        ]  # fmt: skip
        assert store.reply_count() == 2


def test_a_verdict_is_kept_under_the_judges_own_name_whoever_it_says_it_is_by(
    tmp_path: Path,
) -> None:
    """A server reports "m-2024-07-18" where the spec says "m"; the run looks for the judge."""
    asked: list[str] = []

    class Reported(Equality):
        id = "model/1:openai:name=m"

        async def judge(self, item: JudgeItem) -> Verdict:
            asked.append(item.id)
            found = await super().judge(item)
            return msgspec.structs.replace(found, judge="model/1:m-2024-07-18")

    run_all(tmp_path / "run", [make_session(1, turns=3)], ByNumber(lambda _s, _t: "c"))
    with RunStore(tmp_path / "run") as store:
        for _ in range(2):
            asyncio.run(rejudge_run(store, Reported()))
        assert len(asked) == 3  # what is judged is not paid again
        assert [r.status for r in store.turns("s001")] == [Status.ANSWERED] * 3
        assert {r.verdict.judge for r in store.turns("s001")} == {Reported.id}
        assert all("m-2024-07-18" in r.verdict.reason for r in store.turns("s001"))


# -- stopping

C, M, W, U = Outcome.PERFECT, Outcome.MISSING, Outcome.INCORRECT, Outcome.UNSCORED


@pytest.mark.parametrize(
    "text", ["never", "strikes(2)", "strikes(5)", "patience(0.7)", "patience(0)"]
)
def test_names_parse_back(text: str) -> None:
    policy = StopPolicy.parse(text)
    assert str(policy) == text
    assert StopPolicy.parse(str(policy)) == policy


@pytest.mark.parametrize(
    "text", ["", "strike(2)", "strikes", "strikes(0)", "strikes(1.5)", "patience(2)", "never(1)"]
)
def test_nonsense_is_refused_with_the_known_names(text: str) -> None:
    with pytest.raises(SpecError):
        StopPolicy.parse(text)


def test_strikes_count_consecutive_failures() -> None:
    rule = StopPolicy.parse("strikes(3)").rule
    assert rule("s", [W, M, C, W, M, W, C]) == 6
    assert rule("s", [W, M, C, W, M]) is None
    assert StopPolicy.parse("strikes(1)").rule("s", [U, C, M, C]) == 3


def test_never() -> None:
    assert StopPolicy.parse("never").rule("s", [W] * 6) is None


def test_patience_is_a_seeded_hazard() -> None:
    rule = StopPolicy.parse("patience(0.7)", seed=1).rule
    stays = [rule(f"s{i}", [W]) is None for i in range(4000)]
    assert 0.67 < sum(stays) / len(stays) < 0.73
    assert stays == [rule(f"s{i}", [W]) is None for i in range(4000)]
    other = StopPolicy.parse("patience(0.7)", seed=2).rule
    assert stays != [other(f"s{i}", [W]) is None for i in range(4000)]
    assert StopPolicy.parse("patience(1)").rule("s", [W] * 6) is None
    assert StopPolicy.parse("patience(0)").rule("s", [C, U, W, C]) == 3


@given(
    st.sampled_from(["never", "strikes(2)", "patience(0.5)"]),
    st.lists(st.sampled_from([C, M, W, U]), max_size=6),
)
def test_a_decision_once_made_stands_whatever_comes_after(
    name: str, outcomes: list[Outcome]
) -> None:
    """The engine asks after every turn, the scoring once: both must see the same stop."""
    rule = StopPolicy.parse(name).rule
    whole = rule("s", outcomes)
    first = next(
        (r for n in range(len(outcomes) + 1) if (r := rule("s", outcomes[:n])) is not None), None
    )
    assert whole == first


def test_a_policy_without_chance_is_the_same_under_every_seed() -> None:
    assert StopPolicy.parse("strikes(2)", seed=5) == StopPolicy.parse("strikes(2)", seed=0)
    assert StopPolicy.parse("patience(0.5)", seed=5) != StopPolicy.parse("patience(0.5)", seed=0)
