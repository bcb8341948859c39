"""Constrained reading: the best of all spans, compared with trying every one."""

from __future__ import annotations

import asyncio
import re

import pytest
import torch

from mmrag.models.smollm2 import spans
from mmrag.models.smollm2.decoding import Prefixes
from mmrag.models.smollm2.network import Memory, Network
from mmrag.models.smollm2.spans import best_spans, paths
from mmrag.models.smollm2.weights import read_weights
from mmrag.protocols import GenerateOptions, Message

TEXTS = (
    "The Kells (a “Sleffolt” ale) is 40.5 km long.",
    "Bottled in Kells,\nin 1987; café Ågren’s 3 € – well-known.",
)


@pytest.fixture(scope="module")
def read(tiny):
    weights = read_weights(tiny)
    return Network(weights), weights.words


def every_span(read, prompt, texts):
    """Each span between two word limits, scored token by token with nothing kept."""
    network, words = read
    found = {}
    with torch.inference_mode():
        for source, text in enumerate(texts):
            limits = [m.span() for m in re.finditer(r"40\.5|well-known|Ågren’s|[^\W_]+|€|–", text)]
            for first, (start, _) in enumerate(limits):
                for _, end in limits[first:]:
                    tokens = words.tokens(text[start:end])
                    if len(tokens) > spans.LONGEST or text[start:end] in found:
                        continue
                    whole = [*prompt, *tokens, words.ends[0]]
                    logprob = 0.0
                    for place in range(len(prompt), len(whole)):
                        scores = network.read(whole[:place], Memory(network, 1, place))
                        logprob += float(scores[whole[place]])
                    found[text[start:end]] = (logprob, source, start, end)
    return found


@pytest.mark.parametrize("prompt", [[1, 50, 60, 70], list(range(3, 30))])
def test_the_likeliest_spans_are_found(read, prompt):
    network, words = read
    with torch.inference_mode():
        found = best_spans(
            network, Prefixes(network), prompt, paths(TEXTS, words), TEXTS,
            end=words.ends[0], count=4,
        )  # fmt: skip
    wanted = sorted(every_span(read, prompt, TEXTS).items(), key=lambda item: -item[1][0])[:4]
    assert [one.span.text for one in found] == [text for text, _ in wanted]
    for one, (_, (logprob, *place)) in zip(found, wanted, strict=True):
        assert one.span.logprob == pytest.approx(logprob, abs=1e-4)
        assert [one.span.source, one.span.start, one.span.end] == place
        assert sum(one.logprobs) == pytest.approx(one.span.logprob)
        assert len(one.logprobs) == len(one.tokens) + 1  # and the end


def test_a_search_that_is_broken_off_gives_what_it_found(read, monkeypatch):
    network, words = read
    monkeypatch.setattr(spans, "TRIED", 8)
    with torch.inference_mode():
        found = best_spans(
            network, Prefixes(network), [1, 99], paths(TEXTS, words), TEXTS,
            end=words.ends[0], count=9,
        )  # fmt: skip
    texts = [one.span.text for one in found]
    assert len(set(texts)) == len(texts)
    assert all(any(text in whole for whole in TEXTS) for text in texts)
    assert [one.span.logprob for one in found] == sorted(
        (one.span.logprob for one in found), reverse=True
    )


def test_a_span_begins_and_ends_at_words(read):
    """No 40 of 40.5, no punctuation around, no half of a character, none across two texts."""
    _, words = read
    there = {
        TEXTS[path.source][path.start : end]
        for path in paths(TEXTS, words)
        for end in path.ends.values()
    }
    assert {"40.5 km", "Sleffolt", "well-known", "café Ågren’s", "3 €", "Kells,\nin 1987"} <= there
    assert not {"40", "5 km", "(a", "“Sleffolt”", "known", "long.", "1", "caf", ""} & there


def test_a_span_costs_no_more_than_its_tokens(make):
    """The span of one text is its words; what the model would rather say does not matter."""
    options = GenerateOptions(span_of=("Kells",))
    [done] = [asyncio.run(make().generate([Message(role="user", text="?")], options))]
    assert done.text == "Kells"
    assert [(s.source, s.start, s.end) for s in done.spans] == [(0, 0, 5)]
    assert done.usage.output_tokens == 2  # K, ells
    assert [token for token, _ in done.logprobs] == ["K", "ells"]
