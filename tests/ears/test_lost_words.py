"""What was lost of a question: expected values by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmrag.errors import SpecError
from mmrag.records import spoken_condition
from simulator.ears.recognition_losses import (
    RecognitionErrors,
    mark_heard,
    recognition_errors,
    unheard_words,
)
from simulator.ears.spoken_conditions import parse_spoken, split_spoken


@pytest.mark.parametrize(
    ("said", "heard", "words", "errors"),
    [
        ("Any milk in this jar?", "any milk in this jar.", 5, 0),
        ("What's the toll for this bridge?", "What's the toll for this break?", 6, 1),
        ("for my two kids, seven and nine", "for my 2 kids 7 and 9", 7, 0),
        ("a shelf of 80 centimetres", "a shelf of eighty centimeters", 5, 0),
        ("twenty-five of these", "25 of these", 3, 0), ("who wrote this", "", 3, 3),
        ("who wrote this", "and who wrote this book", 3, 2), ("", "thank you", 0, 2),
        ("How far's the lake, it's dry?", "How far is the lake? It is dry.", 6, 0),
        ("I can't, won't and I'd say", "I cannot will not and I would say", 6, 0),
        ("two motorbikes of ash wood", "two motor bikes of Ashwood", 5, 0),
        ("catalogue, tyres & favourite colour", "catalog tires and favorite color", 5, 0),
        ("a shelf 60 cm wide", "a shelf 60CM wide", 5, 0),
        ("under $1,000 or 5%", "under one thousand dollars or 5 percent", 5, 0),
        ("in 2022", "in two thousand twenty-two", 2, 0), ("in 2019", "in twenty nineteen", 2, 0),
        ("ten five", "fifteen", 2, 2), ("four for our hour", "for four hour our", 4, 3)
    ]
)  # fmt: skip
def test_word_errors(said, heard, words, errors) -> None:
    found = recognition_errors(said, heard)
    assert (found.words, found.errors) == (words, errors)


def test_names_and_numbers() -> None:
    said = "Is the Arn Bridge older than Mill Lane 12, I mean in Porto? Yes, Porto."
    heard = "Is the barn bridge older than Mill Lane 20, I mean in Porto? Yes, Porto."
    found = recognition_errors(said, heard)
    assert (found.names, found.names_lost) == (4, 1), "sentences begin with no name"
    assert (found.numbers, found.numbers_lost) == (1, 1)


def test_lost_words_are_marked_and_everything_else_is_there() -> None:
    found = mark_heard("What's the toll, for this bridge?", "what's the call for this bridge")
    assert [piece.text for piece in found if piece.is_lost] == ["toll"]
    assert "".join(piece.text for piece in found) == "What's the toll, for this bridge?"


def test_a_word_that_carries_nothing_is_not_said_again() -> None:
    assert unheard_words("What is the toll for this bridge?", "What was a call for bridge") == [
        "toll"
    ]


@given(st.text(max_size=60), st.text(max_size=60))
def test_whatever_is_heard(said, heard) -> None:
    found = recognition_errors(said, heard)
    assert isinstance(found, RecognitionErrors)
    assert 0 <= found.names_lost <= found.names
    assert 0 <= found.numbers_lost <= found.numbers
    assert "".join(piece.text for piece in mark_heard(said, heard)) == said
    assert recognition_errors(said, said).errors == 0


def test_specs() -> None:
    assert parse_spoken("none") == ()
    assert parse_spoken("clean, street@3,wind,street@0") == ("quiet", "street@3", "wind@3")
    for picture in ("clean", "low-light@3", "low-light@3+blurred@1"):
        for said in ("", "quiet", "clipped-start@5"):
            assert split_spoken(spoken_condition(picture, said)) == (picture, said)


@pytest.mark.parametrize(
    "text", ["", ",", "street@6", "street@", "rain@1", "clean@3", "low-light@3"]
)
def test_what_is_no_spec_is_refused(text) -> None:
    with pytest.raises(SpecError):
        parse_spoken(text)


def test_a_mark_that_stands_for_no_sound_is_no_word() -> None:
    assert unheard_words("which kettle", "\uff9e which") == ["kettle"]
    assert recognition_errors("what is \uff9e", "what is").words == 2
