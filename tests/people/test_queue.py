"""The queue: doubtful turns first in measure, fit to speak for the rest, the same for everybody."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from small_runs import ByNumber, Equality, make_session, run_all

from mmrag.judges.doubt import doubt_of
from mmrag.records import JudgeItem, Outcome, Verdict, Vote
from simulator.application.run_verdicts import Verdicts
from simulator.people.judged import JudgedTurn, judged_turns
from simulator.people.queue import draw
from simulator.store.run_store import RunReader


def turns(correct: int, wrong: int, doubtful: int, conditions: int = 1) -> list[JudgedTurn]:
    kinds = [("correct", "")] * correct + [("incorrect", "")] * wrong
    kinds += [("correct", "judge unsure")] * doubtful
    return [
        JudgedTurn((f"s{number:04d}", f"blur@{condition}", 0), outcome, doubt)
        for condition in range(conditions)
        for number, (outcome, doubt) in enumerate(kinds)
    ]


def kinds(found: list[JudgedTurn]) -> Counter[tuple[str, bool]]:
    return Counter((turn.outcome, bool(turn.doubt)) for turn in found)


def test_doubtful_turns_get_more_places_than_their_share() -> None:
    found = kinds(draw(turns(600, 300, 100)))
    # by hand: 600 × .25 = 150, 300 × .25 = 75, 100 × .5 = 50, of 275 in all, times 50
    assert found == {("correct", False): 27, ("incorrect", False): 14, ("correct", True): 9}


def test_a_small_stratum_is_not_forgotten() -> None:
    assert kinds(draw(turns(5000, 0, 3)))[("correct", True)] == 2


def test_every_beginning_is_shared_out_alike_and_a_longer_list_begins_with_the_shorter() -> None:
    every = turns(300, 100, 100)
    long = draw(every, 60)
    for size in (10, 20, 40):
        assert draw(every, size) == long[:size]
        shares = kinds(long[:size])
        assert abs(shares[("correct", False)] / size - 0.5) < 0.1
    assert len({turn.key for turn in long}) == 60


def test_conditions_and_conversations_are_spread_evenly() -> None:
    found = draw(turns(200, 0, 0, conditions=5))
    assert set(Counter(turn.key[1] for turn in found).values()) <= {9, 10, 11}


def test_another_seed_draws_others_and_every_turn_can_be_drawn() -> None:
    every = turns(40, 0, 0)
    seen = Counter(turn.key for seed in range(400) for turn in draw(every, 10, seed))
    assert len(seen) == 40
    assert all(70 < count < 130 for count in seen.values())  # 100 each, by chance
    assert draw(every, 10, 1) == draw(every, 10, 1) != draw(every, 10, 2)


def test_less_than_is_asked_for_and_nothing_at_all() -> None:
    assert len(draw(turns(3, 1, 1))) == 5
    assert draw([]) == []


class Unsure(Equality):
    id = "unsure"

    async def judge(self, item: JudgeItem) -> Verdict:
        found = await super().judge(item)
        if item.prediction.endswith("0-0"):
            return Verdict(outcome=Outcome.INCORRECT, judge=self.id)
        chance = "0.512" if item.prediction.endswith("1-0") else "0.999"
        return Verdict(outcome=found.outcome, judge=self.id, reason=f"model: p(correct) = {chance}")


def test_doubt_is_what_judges_say_and_where_they_differ(tmp_path: Path) -> None:

    from simulator.run.rejudge import rejudge_run
    from simulator.store.run_store import RunStore

    sessions = [make_session(n) for n in range(3)]
    run_all(tmp_path / "run", sessions, ByNumber(lambda *_: "c"), Equality())
    with RunStore(tmp_path / "run") as store:
        asyncio.run(rejudge_run(store, Unsure()))
    with RunReader(tmp_path / "run") as run:
        doubts = {turn.key: turn.doubt for turn in judged_turns(run) if turn.doubt}
    assert doubts == {
        ("s000", "clean", 0): "judges differ",
        ("s001", "clean", 0): "judge unsure, p(correct) = 0.512",
    }


def test_votes_that_differ_are_doubt() -> None:
    def verdict(*outcomes: Outcome) -> Verdict:
        votes = tuple(Vote(judge=str(n), outcome=one) for n, one in enumerate(outcomes))
        return Verdict(outcome=outcomes[0], judge="panel", votes=votes)

    assert doubt_of(verdict(Outcome.PERFECT, Outcome.INCORRECT)) == "votes differ"
    assert doubt_of(verdict(Outcome.PERFECT, Outcome.ACCEPTABLE, Outcome.UNSCORED)) == ""


def test_who_has_read_what(tmp_path: Path) -> None:
    run_all(tmp_path / "run", [make_session(n) for n in range(4)], ByNumber())
    verdicts = Verdicts(tmp_path / "run")
    every = verdicts.queue()
    assert len(every) == 16
    first, second = every[0], every[1]
    verdicts.say(*_place(first), "right", person="anna", drawn=True)
    verdicts.say(*_place(second), "unsure", person="ben", drawn=True)
    assert [one.key for one in verdicts.queue()] == [one.key for one in every]
    assert verdicts.queue()[0].read_by == ("anna",)
    assert [one.key for one in verdicts.queue(person="anna")] == [o.key for o in every[1:]]
    assert [one.key for one in verdicts.queue(person="anna", second=True)] == [second.key]
    assert [one.key for one in verdicts.queue(second=True)] == [first.key, second.key]


def _place(one):
    return one.session_id, one.turn_index
