"""The same question in other words: those that its author wrote, and no others."""

from __future__ import annotations

from itertools import pairwise

from small_talks import agendas

from mmrag.agents.grounded.look_requests import hear
from mmrag.records import Exchange, Query, Reference, Turn
from simulator.wearer.wordings import other_wordings


def turn(**extra: object) -> Turn:
    return Turn(
        index=0, id="t", query="How much is this?", reference=Reference(text="$4"), extra=extra
    )


def test_other_wordings_are_those_that_stand_beside_the_question() -> None:
    ways = ("What's this go for?", "How much is this?", "What's this go for?", "")
    assert other_wordings(turn(ways=ways)) == ("What's this go for?",)
    assert other_wordings(turn(ways=None)) == other_wordings(turn()) == ()


def test_no_question_of_the_mini_world_is_heard_as_the_one_before_it() -> None:
    pairs = [p for session in agendas() for p in pairwise(turn.query for turn in session.turns)]
    assert len(pairs) > 200
    for first, second in pairs:
        for may_ask in (True, False):
            history = (Exchange(query=first, reply="I don't know"),)
            heard = hear(Query(text=second, history=history, may_ask=may_ask))
            assert heard.query.text == second
            assert len(heard.query.history) == 1


def test_what_nobody_asks_live_is_taken_as_it_is() -> None:
    history = (Exchange(query="How old is it?", reply="I don't know"),)
    text = "In other words: what is its age?"
    assert hear(Query(text=text, history=history)).query.text == text
    assert hear(Query(text=text, history=history, may_ask=True)).query.text == "what is its age?"
