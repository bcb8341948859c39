"""Of several statements, each value and name belongs to its own; a reply settles on one."""

from __future__ import annotations

import pytest

from mmrag.text.normalise import plain
from mmrag.judges.builtin.reading import Reading, read_short
from mmrag.judges.builtin.settling import settles

LEEDS = "Which platform does the train to Leeds leave from?"
SEATS = "How many seats does the car have?"
STATUE = "What stone is the statue carved from?"


def ruled(question: str, reference: str, reply: str) -> bool | None:
    found = settles(
        read_short(question), [read_short(reference)], Reading(plain(reply), is_plain=True)
    )
    return None if found is None else found.correct


@pytest.mark.parametrize(
    ("question", "reference", "reply", "right"),
    [
        (LEEDS, "Platform 9", "York goes from platform 4 and Leeds from platform 9.", True),
        (LEEDS, "Platform 9", "The Leeds train leaves from platform 4; 9 is for York.", False),
        (SEATS, "7", "Seven doors and five seats.", False),
        (SEATS, "7", "Five doors, seven seats.", True),
        ("When does it close on Saturday?", "1 pm", "Weekdays 6 pm, Saturday 1 pm.", True),
        ("How much is a large coffee?", "£3.80", "A small is £3.80, a large £4.40.", False),
    ],
)
def test_a_value_belongs_to_its_clause(
    question: str, reference: str, reply: str, right: bool
) -> None:
    assert ruled(question, reference, reply) is right


@pytest.mark.parametrize(
    ("question", "reference", "reply"),
    [
        (STATUE, "marble", "The plinth is of marble and the statue itself is limestone."),
        (
            "Which player won the match?",
            "Iga Świątek",
            "After a long third set against Iga Świątek it was Sabalenka who lifted the trophy.",
        ),
        (
            "What does this light mean?",
            "low tyre pressure",
            "The one beside it means low tyre pressure; this one says the engine needs a check.",
        ),
        ("Who is buried here?", "Copernicus", "Copernicus's uncle is buried there."),
        ("Which team did the home side beat?", "Arsenal", "Arsenal beat the home side."),
        (
            "Which language is on this sign?",
            "Catalan",
            "It resembles Catalan, given the dots, yet the spelling is Occitan.",
        ),
    ],
)
def test_the_truth_about_another_thing_is_no_answer(
    question: str, reference: str, reply: str
) -> None:
    assert ruled(question, reference, reply) is False


@pytest.mark.parametrize(
    ("question", "reference", "reply"),
    [
        (STATUE, "marble", "The plinth is limestone, the statue marble."),
        ("Who sang Friend in Me?", "Randy Newman", "It was written and performed by Randy Newman."),
        (
            "who was the grandfather on the cosby show",
            "Earle Hyman",
            "The grandfather on The Cosby Show was Russell Huxtable, played by actor Earle Hyman.",
        ),
        ("When was it released?", "2001", "It was released on October 23, 2001."),
        ("Which team did the home side beat?", "Arsenal", "The home side beat Arsenal, 2 to 1."),
        ("Which team did they beat?", "Arsenal", "Arsenal was beaten by the home side."),
        ("Who is the uncle of Hamlet?", "Claudius", "Claudius's brother was king before him."),
        ("Who was Ali?", "Cassius Clay", "Muhammad Ali. He was born Cassius Clay."),
    ],
)
def test_it_does_not_speak_where_the_reply_is_about_one_thing(
    question: str, reference: str, reply: str
) -> None:
    assert ruled(question, reference, reply) is not False
