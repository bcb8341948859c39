"""Voices' questions and pages as the sentence encoder sees them: what the heads are trained on."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mmrag.agents.grounded.learned.fitting import _by_word, _unit
from mmrag.agents.grounded.learned.planner import LAYERS
from mmrag.agents.grounded.learned.spans import KINDS, joined, propose
from mmrag.agents.grounded.learned.states import States
from reader.data import Asked, Maker, Pages, attributes, domain_of
from simulator.world.language.voices.reading import Voice

ABOUT = 4
JOINTS = (", and ", "; ", " and ", ", while ", ", but ", "; it ")


class Question(NamedTuple):
    """A question and a row per word."""

    asked: Asked
    rows: np.ndarray


class Place(NamedTuple):
    """One span of a thing's pages."""

    line: np.ndarray
    about: np.ndarray
    inside: np.ndarray
    kind: int
    key: str


class Thing(NamedTuple):
    """What the pages of one thing hold, and the words of some of its lines with what is a value."""

    voice: str
    kind: str
    places: list[Place]
    words: list[tuple[np.ndarray, np.ndarray]]
    asked: Mapping[str, Sequence[str]] = {}
    """Of a page by others, how each key is asked for; else voices say it."""
    beside: Mapping[str, np.ndarray] = {}
    """Of such a page, what a question's own words add to each place's fit, by key."""


def questions(
    states: States, voice: Voice, n: int, seed: int, *, with_own: bool = True
) -> list[Question]:
    """n questions of a voice."""
    made = list(Maker([voice], seed, with_own=with_own).make(n))
    found: list[Question] = []
    for q, seen in zip(made, states.of([q.text for q in made], LAYERS, rows=32), strict=True):
        first = [
            int(at[0]) if len(at) else 0
            for at in ((seen.word == i).nonzero()[0] for i in range(len(q.words)))
        ]
        found.append(Question(q, seen.rows[first].astype(np.float16)))
    return found


def things(states: States, voice: Voice, n: int, seed: int) -> list[Thing]:
    """n things with pages in a voice."""
    pages = Pages([voice], seed)
    found: list[Thing] = []
    for _ in range(n):
        kind, noun, name, said = pages.entity()
        lines = [*_sentences(pages, said), *_chatter(pages, voice, noun)]
        lines = [_without_name(text, spans, name) for text, spans in lines]
        places: list[Place] = []
        words: list[tuple[np.ndarray, np.ndarray]] = []
        for (text, gold), state in zip(
            lines, states.of([t for t, _ in lines], (6,), rows=16), strict=True
        ):
            rows, at = _by_word(state, text)
            if zlib.crc32(text.encode()) % 4 == 0:
                values = np.array(
                    [any(a <= x < b for a, b, _, _ in gold) for x, _ in at], np.float32
                )
                words.append((rows.astype(np.float16), values))
            for start, end, span_kind, key in _candidates(text, gold):
                made = place(rows, at, state.whole, start, end, span_kind, [key])
                if made:
                    places.append(made)
        found.append(Thing(voice.name, kind, places, words))
    return found


def place(
    rows: np.ndarray, at: Sequence[tuple[int, int]], whole: np.ndarray,
    start: int, end: int, kind: str, keys: Sequence[str],
) -> Place | None:  # fmt: skip
    """A span of a line as it is compared with questions."""
    inside = [i for i, (a, b) in enumerate(at) if a < end and b > start]
    if not inside:
        return None
    low, high = inside[0], inside[-1] + 1
    about = [*rows[max(0, low - ABOUT) : low], *rows[high : high + ABOUT]]
    return Place(
        whole,
        _unit(np.mean(about or rows[low:high], axis=0)),
        _unit(rows[low:high].mean(0)),
        KINDS.index(kind),
        keys[0] if keys else "",
    )


def _sentences(pages: Pages, said: list[Any]) -> list[tuple[str, list[tuple[int, int, str, str]]]]:
    """Sentences, one in four joined with the next: real pages say several things in one."""
    pages.r.shuffle(said)
    found: list[tuple[str, list[tuple[int, int, str, str]]]] = []
    i = 0
    while i < len(said):
        s = said[i]
        spans = [(s.start, s.end, s.key, s.shape)]
        text = s.text
        if i + 1 < len(said) and pages.r.random() < 0.25:
            i += 1
            u, head = said[i], text.rstrip(".") + pages.r.choice(JOINTS)
            spans.append((len(head) + u.start, len(head) + u.end, u.key, u.shape))
            text = head + u.text
        found.append((text, spans))
        i += 1
    return found


def _chatter(pages: Pages, voice: Voice, noun: str) -> list[tuple[str, list[Any]]]:
    style = pages.r.choice(list(voice.pages.values()))
    leads = [
        t.replace("{noun}", noun).replace("{x}", "It")
        for t in pages.r.sample(list(style["leads"]), 2)
    ]
    return [(t, []) for t in (*pages.r.sample(list(style["chatter"]), 5), *leads)]


def _without_name(
    text: str, spans: list[tuple[int, int, str, str]], name: str
) -> tuple[str, list[tuple[int, int, str, str]]]:
    """The thing is called "It", as the reader calls it."""
    less = 0
    for match in re.finditer(re.escape(name), text):
        at, size = match.start() - less, len(name) - 2
        text = text[:at] + "It" + text[at + len(name) :]
        spans = [(a - size * (a > at), b - size * (b > at), k, s) for a, b, k, s in spans]
        less += size
    return text, spans


def _candidates(
    text: str, gold: list[tuple[int, int, str, str]]
) -> list[tuple[int, int, str, str]]:
    """Spans as they are proposed, the true ones with their keys and in their true bounds."""
    proposed = propose(text)
    found = [(s.start, s.end, s.kind, "") for s in (*proposed, *joined(proposed, text))]
    for a, b, key, shape in gold:
        exact = [
            c for c in found if abs(c[0] - a) <= 4 and abs(c[1] - b) <= 2 and shape != "some_of"
        ]
        if exact:
            found = [(*c[:3], key) if c in exact else c for c in found]
        else:
            kind = {"some_of": "list", "to": "name"}.get(shape, "text")
            found = [c for c in found if c[1] <= a or c[0] >= b] + [(a, b, kind, key)]
    return found


def bare(text: str) -> str:
    """A wording without its slots: what of a question is asked for."""
    text = re.sub(r"\{(?:x|xs|other|when|bound|v|count|amount|plural|noun)\}", " ", text)
    return " ".join(text.split()).strip(" ,.:;?")


def askings(voice: Voice, kind: str, key: str) -> list[str]:
    """Every way in which a voice asks for an attribute, or speaks of it in an operation."""
    w = voice.wording(domain_of(kind), key)
    said: Sequence[str] = (
        *w.ask,
        *w.ask,
        *w.short,
        w.noun,
        *w.past,
        w.claim,
        w.who,
        w.who,
        w.same,
        *w.than.values(),
        *w.comp.values(),
        *w.rank.values(),
        w.over,
        w.times,
        w.budget,
    )
    return [b for t in said if (b := bare(t))]


def nouns(kind: str) -> dict[str, str]:
    """Key → the catalogue's noun."""
    return {k: a["noun"] for k, a in attributes(kind).items()}
