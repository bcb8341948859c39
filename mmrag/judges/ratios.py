"""Ratios: 1:2 is not 2:1, 4:2 is where a ratio is asked for, and of two one may be the larger."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import gcd

from mmrag.judges.attributes import opposed
from mmrag.judges.clock import times
from mmrag.judges.reading import Reading
from mmrag.judges.ruling import Ruling
from mmrag.number_words import NUMBER_WORDS

Pair = tuple[int, int]


def ratio(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A short reply that is one ratio, or compares two of which the question asks for one."""
    if len(said.words) > 12 or (times(said.text) and not _LOWEST.search(asked.text)):
        return None  # "ten to two" is a time
    told = _pairs(said.text, asked.text)
    wanted = [_pairs(reading.text, asked.text) for reading in known]
    if not told or not all(len(pairs) == 1 for pairs in wanted):
        return None
    if len(told) == 2 and "than" in said.vocabulary and set(told) <= set(_pairs(asked.text, "")):
        told = told[1:] if opposed(asked.stems, said.stems) else told[:1]
    if len(told) != 1:
        return None
    good = any(told == pairs for pairs in wanted)
    return Ruling(good, "the same ratio" if good else "another ratio")


def _pairs(text: str, asked: str) -> list[Pair]:
    """Every ratio of a text; in lowest terms, and in the order asked for, if ratios are."""
    found: list[Pair] = []
    for first, one, second, other in _PAIR.findall(text.lower()):
        a, b = _number(first), _number(second)
        if _LOWEST.search(asked):
            divisor = gcd(a, b) or 1
            a, b = a // divisor, b // divisor
        places = [asked.lower().find(word) for word in (one, other) if word]
        if len(places) == 2 and 0 <= places[1] < places[0]:
            a, b = b, a  # "2 girls to 3 boys", of boys to girls
        found.append((a, b))
    return found


def _number(text: str) -> int:
    return NUMBER_WORDS[text] if text in NUMBER_WORDS else int(re.sub(r"\s", "", text))


_WORD = "|".join(word for word, value in NUMBER_WORDS.items() if 1 <= value <= 20)
_N = rf"(\d{{1,3}}(?: \d{{3}})+|\d{{1,9}}|\b(?:{_WORD})\b)"
_PAIR = re.compile(
    rf"(?<![\d.,:]){_N}(?:\s+(?!to\b)([a-z]+))?\s*(?::|\bto\b)\s*{_N}(?![\d:]|[.,]\d)(?:\s+([a-z]+))?"
)
_LOWEST = re.compile(r"(?i)\b(?:ratios?|proportions?|scale|odds|aspect|gradient|slope|mix)\b")
