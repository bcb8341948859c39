"""What was said beside what was heard: which words, names and numbers were lost."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mmrag.records import Record
from mmrag.text.normalise import fold
from mmrag.text.number_words import NUMBER_WORDS

_WORD = re.compile(r"[^\W_]+(?:['’.,:][^\W_]+)*")
_HUSHED = frozenset(
    re.findall(
        r"\w+",
        "a an and at be but can do does did for from have has how i in is it its me my of on or so "
        "than that the there these this to was were what when where which who whose with you your",
    )
)
_SPELT = {
    "colour": "color", "favourite": "favorite", "grey": "gray", "okay": "ok", "centre": "center",
    "litre": "liter", "litres": "liters", "metre": "meter", "metres": "meters",
    "centimetres": "cm", "centimeters": "cm", "kilometres": "km", "kilometers": "km",
    "mum": "mom", "kilos": "kg", "grams": "g",
}  # fmt: skip
"""Spellings of one word; a recogniser writes as its teachers did."""


class Loss(Record, frozen=True, kw_only=True):
    """Of one question, counts."""

    words: int
    errors: int
    """Words replaced, left out or added: over `words` the word error rate."""
    names: int
    names_lost: int
    numbers: int
    numbers_lost: int


class Marked(NamedTuple):
    """A piece of what was said."""

    text: str
    is_lost: bool


def loss(said: str, heard: str) -> Loss:
    """What became of a question.

    >>> loss("What's the toll for the Arn Bridge?", "What's the toll for the barn bridge?").errors
    1
    """
    words, (kept, errors) = _words(said), _aligned(said, heard)
    names = [[n for n, word in enumerate(words) if word.name == at] for at in _names(words)]
    numbers = [n for n, word in enumerate(words) if word.key.isdecimal()]
    return Loss(
        words=len(words),
        errors=errors,
        names=len(names),
        names_lost=sum(not all(kept[n] for n in name) for name in names),
        numbers=len(numbers),
        numbers_lost=sum(not kept[n] for n in numbers),
    )


def marked(said: str, heard: str) -> list[Marked]:
    """All of what was said, in pieces that were heard and pieces that were not."""
    kept, _ = _aligned(said, heard)
    found: list[Marked] = []
    at = 0
    for word, is_kept in zip(_words(said), kept, strict=True):
        if not is_kept and word.start >= at:
            found += [Marked(said[at : word.start], False)] if word.start > at else []
            found.append(Marked(said[word.start : word.end], True))
            at = word.end
    return [*found, Marked(said[at:], False)] if at < len(said) else found


def misheard(said: str, heard: str) -> list[str]:
    """The words that carry a question and were heard nowhere, as they were said."""
    there = {word.key for word in _words(heard)}
    return [
        said[word.start : word.end]
        for word in _words(said)
        if word.key not in there and word.key not in _HUSHED
    ]


class _Word(NamedTuple):
    key: str
    start: int
    end: int
    name: int
    """Which name it is part of; −1 for none."""


@lru_cache(maxsize=4096)
def _words(text: str) -> list[_Word]:
    """Words in one form: case, accents, spelling and numbers alike, `twenty-five` one word."""
    found: list[_Word] = []
    name, before = -1, ""
    for at in _WORD.finditer(text):
        key = fold(at[0]).replace("'", "").replace("’", "").replace(",", "")
        key = str(NUMBER_WORDS.get(key, _SPELT.get(key, key)))
        gap = text[len(before) : at.start()]
        starts = not found or re.search(r"[.!?…]\s*$", gap) is not None
        is_name = at[0][0].isupper() and not starts and not re.fullmatch(r"I(['’]\w+)?", at[0])
        goes_on = bool(found) and found[-1].name >= 0 and gap.strip() in ("", "-")
        name += is_name and not goes_on
        tens = found[-1].key if found and gap.strip() in ("", "-") else ""
        before = text[: at.end()]
        if key.isdecimal() and tens.isdecimal() and 20 <= int(tens) <= 90 and 0 < int(key) < 10:
            last = found.pop()
            found.append(_Word(str(int(tens) + int(key)), last.start, at.end(), -1))
            continue
        found.append(_Word(key, at.start(), at.end(), name if is_name else -1))
    return found


def _names(words: list[_Word]) -> list[int]:
    return sorted({word.name for word in words if word.name >= 0})


@lru_cache(maxsize=4096)
def _aligned(said: str, heard: str) -> tuple[tuple[bool, ...], int]:
    """Which words of what was said were heard, and how many edits lie between the two."""
    one, two = ([word.key for word in _words(text)] for text in (said, heard))
    costs = [list(range(len(two) + 1))]
    for i, word in enumerate(one, 1):
        row = [i]
        for j, other in enumerate(two, 1):
            row.append(min(costs[-1][j - 1] + (word != other), costs[-1][j] + 1, row[-1] + 1))
        costs.append(row)
    kept = [False] * len(one)
    i, j = len(one), len(two)
    while i and j:
        if costs[i][j] == costs[i - 1][j - 1] + (one[i - 1] != two[j - 1]):
            i, j = i - 1, j - 1
            kept[i] = one[i] == two[j]
        elif costs[i][j] == costs[i - 1][j] + 1:
            i -= 1
        else:
            j -= 1
    return tuple(kept), costs[-1][-1]
