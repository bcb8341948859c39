"""What a chat model reads first: whole sentences, whatever is shown to it."""

from __future__ import annotations

import pytest

from mmrag.agents.templates import render

SOURCES = {
    (True, True): "on the picture, on facts you were given and on facts you are sure of.",
    (True, False): "on the picture and on facts you are sure of.",
    (False, True): "on facts you were given and on facts you are sure of.",
    (False, False): "on facts you are sure of.",
}


@pytest.mark.parametrize(("picture", "searches"), SOURCES)
def test_what_an_answer_must_rest_on(picture: bool, searches: bool) -> None:
    text = render(
        "baseline_system", multi_turn=False, searches=searches, picture=picture, may_ask=False
    )
    assert f"1. What you say must rest {SOURCES[picture, searches]}\n" in text
