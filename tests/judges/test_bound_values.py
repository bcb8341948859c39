"""Of several values in a reply, each belongs to its own clause."""

from __future__ import annotations

import pytest

from mmrag.judges.builtin.parsed_text import Reading, read_short
from mmrag.judges.builtin.value_rules import bound_value
from mmrag.text.normalise import plain

LEEDS = "Which platform does the train to Leeds leave from?"
SEATS = "How many seats does the car have?"


def ruled(question: str, reference: str, reply: str) -> bool | None:
    found = bound_value(
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
