"""The same question in other words: what stands in the slots is what was asked about."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from small_talks import agendas

from mmrag.agents.grounded.asking import hear
from mmrag.records import Exchange, Query
from simulator.wearer import wordings
from simulator.wearer.sight import kind_of
from simulator.world.language.questions.asking import Draft, Template
from simulator.world.language.questions.operations_by_attribute import wordings as ways
from simulator.world.language.questions.phrases import noun_of
from simulator.world.language.voices.reading import voice


@pytest.mark.parametrize(
    ("way", "text", "slots"),
    [
        ("how many stars did {x} have {when}", "How many stars did this lamp have in June 2026?",
         {"x": "this lamp", "when": "in June 2026"}),
        ("how high was {x} {when}", "how high was that town on 16 August 2025?",
         {"x": "that town", "when": "on 16 August 2025"}),
        ("is {x} {way} than {when}", "Is this toaster higher than on 16 August at 3 pm?",
         {"x": "this toaster", "way": "higher", "when": "on 16 August at 3 pm"}),
        ("will {x} {state} at {hour}", "will this shop already be closed at nine?",
         {"x": "this shop", "state": "already be closed", "hour": "nine"}),
    ],
)  # fmt: skip
def test_slots_that_stand_side_by_side_are_told_apart(
    way: str, text: str, slots: dict[str, str]
) -> None:
    assert wordings._filled(way, text) == slots


def test_what_stands_for_the_subject_is_one_in_every_question_of_the_mini_world() -> None:
    found = 0
    for session in agendas():
        for turn in session.turns:
            template = wordings._template(turn)
            noun = noun_of(kind_of(str(turn.extra["entity_id"])))
            for way in ways_of(template, str(session.extra["voice"])) if template else ():
                slots = wordings._filled(way, turn.query)
                if slots is not None:
                    assert wordings._is_subject(slots, noun), (way, turn.query, slots)
                    found += 1
    assert found > 200


def ways_of(template: Template, voice_name: str) -> Iterator[str]:
    for larger in (True, False):
        yield from ways(template, Draft(program=[], larger=larger), voice(voice_name))


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
