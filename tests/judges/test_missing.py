"""Replies that give no answer, in every typography, and those that only look like it."""

from __future__ import annotations

import pytest
from compared_times import times_as_long
from hypothesis import given, settings
from hypothesis import strategies as st

from mmrag.text.normalise import MAX_CHARS, is_missing, missing_reason, official_missing

DONT_KNOW = [
    "I don't know", "I don’t know", "I don‘t know", "I don´t know", "I don`t know",
    "I donʼt know", "I don′t know", "I don＇t know", "I dont know", "I do not know",
    "i don't know.", "I DON'T KNOW!", "I Don’t Know…", "i dont know...", "I don' t know",
    "I don 't know", "  I don't know  ", "\n\tI don't know\n", "\"I don't know\"",
    "“I don’t know.”",
    "**I don't know**", "*I don’t know.*", "<p>I don&#39;t know</p>", "<b>I don&rsquo;t know</b>",
    "`I don't know`", "I don\u200b't know", "Ｉ don't know", "I\u00a0don't\u00a0know",
    "I don't know the answer.", "I don't know the answer to that question, sorry.",
    "I really don't know", "Sorry, I don't know", "I'm sorry, but I don’t know.",
    "Well, I dont know",
    "I don't know, sorry!", "Hmm, I don't know...", "idk", "IDK.", "dunno", "Don't know",
    "# I don't know", "> I don't know", "I honestly do not know.", "I don't actually know that.",
]  # fmt: skip

REFUSALS = [
    "", "   ", "\n", "\u200b", "…", "...", "-", "**", "<br>", "N/A", "n/a", "unknown", "Not sure.",
    "I'm sorry, I can't find the price of this car.",
    "I’m sorry, but I couldn’t find any information about that.",
    "I'm not sure.", "I am not certain about that.", "I have no idea.", "No idea",
    "I cannot answer this question.", "I can't tell from the picture.",
    "I'm unable to determine this.",
    "Unfortunately, I do not have that information.", "I don't have access to real-time data.",
    "As an AI language model, I don't have access to current prices.",
    "The answer is not available.", "That information is not provided in the context.",
    "There is no information about this in the image.", "It is unclear from the picture.",
    "I don't know. You could check the museum's website.",
    "I'm sorry, I can't help with that. Please contact the store.",
    "I don't know, but you can look it up online.", "I would rather not answer that.",
]  # fmt: skip

CLARIFICATIONS = [
    "Could you please clarify which car you mean?", "Which building are you referring to?",
    "Can you be more specific?", "Please provide more context.", "What do you mean?",
    "Please specify the year.", "Did you mean the red one or the blue one?",
    "I need more information. Could you show me the label?", "Could you take another picture? "
    "Please retake it closer to the label.",
]  # fmt: skip

ANSWERS = [
    "I don't know, but it is X", "I don't know, but it is 4",
    "I don’t know, but I think it's Paris.",
    "I'm not sure, but the answer is probably Mount Fuji.", "I don't know. It was built in 1889.",
    "I dont know - 42", "I don't know... Paris?",
    "Sorry, I don't know exactly; however, it is red.",
    "As an AI language model, I don't have access to live data. However, it was 21 in 2016.",
    "I Don't Know How to Love Him was sung by Yvonne Elliman.", '"I don\'t know" is by Lisa.',
    "Nobody knows: the case is open.",
    "Paris", "4", "no", "Yes.", "Unknown Mortal Orchestra", "π", "$5", "Don't Look Now",
    "The Unknown Soldier", "It is an apple.", "None of them.", "It is not a cat.",
]  # fmt: skip


def test_there_are_thirty_typographies() -> None:
    assert len(set(DONT_KNOW)) >= 30


@pytest.mark.parametrize("reply", DONT_KNOW)
def test_dont_know_in_every_typography(reply: str) -> None:
    assert (missing_reason(reply) or "").startswith('refusal: "')


@pytest.mark.parametrize("reply", REFUSALS)
def test_refusals(reply: str) -> None:
    assert (missing_reason(reply) or "").startswith(("refusal", "empty"))


@pytest.mark.parametrize("reply", CLARIFICATIONS)
def test_clarifying_questions(reply: str) -> None:
    assert (missing_reason(reply) or "").startswith(("clarification", "refusal"))


@pytest.mark.parametrize("reply", ANSWERS)
def test_answers_are_not_missing(reply: str) -> None:
    assert missing_reason(reply) is None


def test_the_official_rule_is_a_literal_substring() -> None:
    assert official_missing("I DON'T KNOW, but it is X")
    assert not official_missing("I don’t know")
    assert not official_missing("I do not know")
    assert not is_missing("I don't know, but it is X")


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    why = missing_reason(text)
    assert why in (None, "empty") or why.startswith(("refusal", "clarification"))


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("Hmm, no idea, sorry.", 'refusal: "no idea"'),
        ("Je ne sais pas.", 'refusal: "Je ne sais pas"'),
        ("Unknown.", 'refusal: "Unknown"'),
    ],
)
def test_the_reason_names_the_words(reply: str, why: str) -> None:
    assert missing_reason(reply) == why


@pytest.mark.parametrize(
    "unit", ["I don't know ", "<b>", "a.", "I'm sorry, ", "((((", "\u0301", "[1](", "but "]
)
def test_enormous_replies_take_no_longer_than_long_ones(unit: str) -> None:
    enormous, long = (unit * (n * MAX_CHARS // len(unit)) for n in (200, 4))
    assert times_as_long(lambda: missing_reason(enormous), lambda: missing_reason(long)) < 5
