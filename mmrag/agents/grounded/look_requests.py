"""When another picture is worth asking for, and what a live wearer's repeated words come to.

A live wearer puts a question again, with a word before it, where the last reply did not help. The
rest of the agent is to see that as one question, asked once.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from mmrag.agents.grounded.abstain import LUCK, RECOGNITION, Calibration
from mmrag.agents.grounded.scene_records import Finding, Scene
from mmrag.agents.reply_format import ABSTAIN, is_refusal
from mmrag.records import Exchange, Query

REQUEST = "Could you give me a better look at it?"

MOST_LOOKS = 3
"""In one conversation: patience is short, and a third picture seldom shows what two did not."""

_GAIN = 0.5
"""How often another picture shows what the thing is, where this one did not."""

_COST = 0.06
"""What a request is worth of a right answer: the wearer's patience and time."""

_READS = 0.8
"""How often reading goes well once the thing is known, where nothing could be read yet."""

_AGAIN = re.compile(
    r"[^:?.]{0,40}\b(?:(?:once|ask\w*|try|say\w*|put\w*) (?:it )?again|once more|rephrase"
    r"|(?:other|different) words|(?:an|some)other way|(?:was|am|I'm) asking|asked|like this"
    r"|I mean|I meant)\b[^:?.]{0,20}: (?P<question>.+)",
    re.DOTALL | re.IGNORECASE,
)
"""Words that say of themselves that a question is put again: others with a colon are a part of it,
as in "Compare all the bottles here: which one contains the most?"."""


class QueryWithoutRepeats(NamedTuple):
    """A turn as the other parts see it."""

    query: Query
    """The question in its own words; of the history, each question once."""
    requests: int
    """How often this question was answered by a request."""
    in_vain: bool
    """Whether a request for a look brought no picture: then no other will."""


def split_repeated_query(query: Query) -> QueryWithoutRepeats:
    """Take the words before a repeated question away, and what led to it out of the history.

    Only a live wearer puts a question again; what anybody else says is taken as it is.
    """
    if not query.may_ask:
        return QueryWithoutRepeats(query, 0, False)
    kept: list[Exchange] = []
    requests, looks = 0, 0
    for exchange in (*query.history, Exchange(query=query.text, reply="")):
        text = _question(exchange.query, kept)
        if text != exchange.query and kept:
            requests += kept.pop().ask is not None
        else:
            requests = 0
        looks += exchange.ask == "look"
        kept.append(msgspec.structs.replace(exchange, query=text))
    asked = kept.pop()
    history = tuple(Exchange(query=e.query, reply=ABSTAIN if e.ask else e.reply) for e in kept)
    same = msgspec.structs.replace(query, text=asked.query, history=history)
    return QueryWithoutRepeats(same, requests, looks > len(query.earlier))


def wants_look(
    heard: QueryWithoutRepeats,
    finding: Finding | None,
    scene: Scene,
    calibration: Calibration,
    bar: float,
) -> bool:
    """Whether another picture is worth more than what can be said now.

    An answer is worth its chance of being right less that of being wrong, silence nothing. A
    picture helps only where the thing was not known, and then as far as reading goes well.
    """
    query = heard.query
    if not query.may_ask or query.image is None or heard.requests or heard.in_vain:
        return False
    if len(query.earlier) >= MOST_LOOKS:
        return False
    features = {} if finding is None else finding.features()
    if finding is None:
        features[RECOGNITION] = scene.main.confidence if scene.main else 0.0
    known = features.get(RECOGNITION, 1.0)
    luck = max(calibration.luck, features.get(LUCK, 0.0)) if finding is not None else 0.0
    p = calibration.probability(features) if finding is not None else 0.0
    reads = p / max(known + (1 - known) * luck, 1e-6) if finding is not None else _READS
    return (1 - known) * _GAIN * (_worth(reads, bar) - _worth(p, bar)) > _COST


def _worth(p: float, bar: float) -> float:
    return 2 * p - 1 if p > bar else 0.0


def _question(text: str, before: list[Exchange]) -> str:
    """The question proper, where the wearer puts one again; else the text as it is."""
    if not before:
        return text
    last = before[-1]
    if text != last.query and text.endswith(last.query):
        return last.query
    if last.ask is None and not is_refusal(last.reply):
        return text
    match = _AGAIN.fullmatch(text)
    return match["question"] if match else text
