"""What the planner and reader are trained on besides the voices."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from reader.crag import crag
from reader.needs import Author
from reader.pages import KINDS
from reader.wordings import Wordings, asked_about, superlative, ways

from simulator.world.facts.domain_schema import attributes_of
from simulator.world.facts.generate import generate_facts


def test_every_attribute_can_be_asked_for_in_words_of_its_own() -> None:
    mute = [f"{k}.{a.key}" for k in KINDS for a in attributes_of(k) if not ways(k, a.key).asks]
    assert mute == []


@pytest.mark.parametrize(
    ("phrase", "question", "most"),
    [
        ("is lighter", "is this lighter", "is the lightest"),
        ("has less sugar", "does this have less sugar", "has the least sugar"),
        ("costs more", "does this cost more", "costs the most"),
        ("goes further", "does this go further", "goes the furthest"),
        ("can stand closer", "can this stand closer", "can stand the closest"),
    ],
)
def test_what_has_more_or_less_is_asked_for(phrase: str, question: str, most: str) -> None:
    assert asked_about(phrase, "this") == question
    assert superlative(phrase) == most


def test_the_same_seed_asks_the_same_and_says_each_slot() -> None:
    facts = generate_facts(500_100, 200)
    asked = Author(Wordings(3, kinds=("mug",)), facts, 3).questions()
    assert asked == Author(Wordings(3, kinds=("mug",)), facts, 3).questions()
    assert len({q.program for q in asked}) > 20
    assert not [q.text for q in asked if "{" in q.text or not q.text]


def test_what_crag_asks_stands_in_the_lines_beside_it() -> None:
    asked, bank = crag(60)
    programs = {json.loads(q.program)[0] for q in asked}
    assert {"get", "most"} <= programs
    assert all(q.keys[0] in bank for q in asked)
    assert all(s.text[s.start : s.end] for lines in bank.values() for s in lines)
