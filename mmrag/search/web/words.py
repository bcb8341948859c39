"""Words of a text as lexical search sees them: one definition for indexing and for queries."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_FUNCTION_WORDS = """
a about after all also an and any are as at be been before being but by can could did do does
doing for from had has have having he her here hers him his how i if in into is it its itself
just me more most my no nor not of off on once only or other our ours out over own same she
should so some such than that the their theirs them then there these they this those through to
too under until up very was we were what when where which while who whom why will with would you
your yours
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""English function words; they say nothing about what a page is about."""

_UNSPACED = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)")
_WORD = re.compile(r"[^\W_]+(?:[.,](?=\d)\d+)*")


def words(text: str) -> list[str]:
    """Lower-case words and numbers without accents, function words left out, endings folded.

    >>> words("Where were the Müller kettles bottled in 1,250 ml?")
    ['muller', 'kettl', 'bottl', '1250', 'ml']

    Chinese and Japanese have no blanks: their characters go in overlapping pairs.

    >>> words("青石镇2030年")
    ['青石', '石镇', '2030', '年']
    """
    found: list[str] = []
    for match in _WORD.finditer(_plain(text)):
        word = match.group()
        if not word.isascii() and _UNSPACED.search(word):
            found += _pairs(word)
        elif word not in STOP_WORDS:
            found.append(stem(word.replace(",", "")))
    return found


def _pairs(run: str) -> list[str]:
    found: list[str] = []
    for part in _UNSPACED.split(run):
        if part and _UNSPACED.fullmatch(part):
            found += [part[i : i + 2] for i in range(max(1, len(part) - 1))]
        elif part and part not in STOP_WORDS:
            found.append(stem(part.replace(",", "")))
    return found


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A word without its commonest English endings, so that "bottled" finds "bottles". Much weaker
    than Porter's stemmer on purpose: fictional names must not be cut into each other."""
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + replacement
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


_ENDINGS = (
    ("sses", "ss"), ("ies", "y"), ("ing", ""), ("ed", ""), ("ss", "ss"), ("us", "us"), ("s", ""),
)  # fmt: skip


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    split = unicodedata.normalize("NFKD", text).lower()
    return "".join(char for char in split if not unicodedata.combining(char))
