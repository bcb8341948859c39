"""What the planner and reader are trained on besides the voices."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from reader import training
from reader.crag import crag
from reader.needs import Asked, Author
from reader.pages import KINDS
from reader.wordings import Wordings, asked_about, superlative, ways

from mmrag.agents.grounded.contextual_vectors import BuiltinSentenceEncoder, WordVectorCache
from mmrag.agents.grounded.trained_heads import (
    Weights,
    analyse_question,
    encode_line,
    read_weights,
    score_lines,
)
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


def test_what_is_trained_is_what_runs() -> None:
    """The layers in torch and what the agent computes with their weights in numpy."""
    states = WordVectorCache(BuiltinSentenceEncoder())
    to = read_weights().arrays["word.to"]
    torch.manual_seed(0)
    heads = training.Heads(4, 384).eval()
    torch.nn.init.normal_(heads.shares.weight, std=0.3)
    texts = ["how heavy is it", "who founded the firm that made the Weston over there", "when"]
    asked = [
        Asked(text, tuple(reversed(texts[:i])), "", (), "") for i, text in enumerate(texts)
    ]  # fmt: skip
    lines = ["It weighs 420 g.", "Founded " + "by Ada Pine and others " * 8 + "in 1999.", "Yes"]
    seen = states.of(lines)
    weights = Weights(training.arrays(heads) | {"word.to": to}, ())
    questions = training.Questions(dict(zip(texts, states.of(texts), strict=True)), to)
    with torch.no_grad():
        said = questions.of(asked)
        logits, slots = heads(training.SCALE * said.context, said.bags)
        page = training.Page(
            asked=[0, 1, 2], rows=torch.tensor(np.stack([one.whole for one in seen])),
            kinds=torch.tensor([0, 1, 2]), words=training.line_pieces(seen, to),
            mask=torch.zeros(3, 3), right=torch.zeros(3),
        )  # fmt: skip
        for k in range(3):
            fits = heads.fits(k, said, slots[:, k], page)[:, 1:].numpy()
            for i, q in enumerate(asked):
                runs = analyse_question(states, q.text, q.before, weights)
                encoded = [encode_line(one, weights) for one in seen]
                got = score_lines(runs.slots[k], encoded, [0, 1, 2], weights)
                assert got == pytest.approx(fits[i], abs=5e-3)
                assert runs.slots[k].worth.sum() == pytest.approx(weights.arrays["word.worth"][k])
                assert runs.programs == pytest.approx(torch.softmax(logits, 1)[i].numpy(), abs=1e-5)
