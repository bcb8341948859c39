"""Which words, names and numbers a recogniser lost of what was said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from mmrag.records import Record
from mmrag.text.normalise import fold
from mmrag.text.number_words import NUMBER_WORDS

_WORD = re.compile(r"[^\W\d_]+(?:['’.:][^\W_]+)*|[$£€]?\d+(?:[.,:]\d+)*|[&%]")
_HUSHED = frozenset(
    re.findall(
        r"\w+",
        "a an and at be but can do does did for from have has how i in is it its me my of on or so "
        "than that the there these this to was were what when where which who whose with you your",
    )
)
_SPELT = {
    "grey": "gray", "okay": "ok", "mum": "mom", "tyre": "tire", "tyres": "tires", "flyer": "flier",
    "kerb": "curb", "storey": "story", "cheque": "check", "plough": "plow", "jewellery": "jewelry",
    "programme": "program", "aluminium": "aluminum", "&": "and", "%": "percent",
    "$": "dollar", "dollars": "dollar", "£": "pound", "pounds": "pound", "€": "euro",
    "euros": "euro", "meter": "m", "meters": "m", "liter": "l", "liters": "l",
    "centimeter": "cm", "centimeters": "cm", "millimeter": "mm", "millimeters": "mm",
    "kilometer": "km", "kilometers": "km", "gram": "g", "grams": "g", "kilogram": "kg",
    "kilograms": "kg", "kilo": "kg", "kilos": "kg", "milliliter": "ml", "milliliters": "ml",
}  # fmt: skip
_AMERICAN = (
    (re.compile(r"(?<=[a-z]{3})our(?=$|s$|ed$|ite|ing$)"), "or"),
    (re.compile(r"(?<=[a-z]{3})ogue(?=s?$)"), "og"),
    (re.compile(r"(?<=[a-z]{2}[bt])re(?=s?$)"), "er"),
    (re.compile(r"(?<=[a-z]{3})is(?=(e|es|ed|ing|ation)$)"), "iz"),
)
"""Spellings of one word, the same for both sides; a recogniser writes as its teachers did."""

_SHORT = {
    "s": ("is", "has"), "m": ("am",), "re": ("are",), "ve": ("have",), "ll": ("will",),
    "d": ("would", "had"),
}  # fmt: skip
"""What stands after an apostrophe, written out."""


class RecognitionErrors(Record, frozen=True, kw_only=True):
    """Of one question, counts."""

    words: int
    errors: int
    """Words replaced, left out or added: over `words` the word error rate."""
    names: int
    names_lost: int
    numbers: int
    numbers_lost: int


class MarkedPiece(NamedTuple):
    """A piece of what was said."""

    text: str
    is_lost: bool


def recognition_errors(said: str, heard: str) -> RecognitionErrors:
    """What became of a question.

    >>> said = "What's the toll for the Arn Bridge?"
    >>> recognition_errors(said, "what is the toll for the barn bridge").errors
    1
    """
    words, (kept, errors) = _words(said), _aligned(said, heard)
    names = [[n for n, word in enumerate(words) if word.name == at] for at in _names(words)]
    numbers = [n for n, word in enumerate(words) if word.key[0].isdecimal()]
    return RecognitionErrors(
        words=len(words),
        errors=errors,
        names=len(names),
        names_lost=sum(not all(kept[n] for n in name) for name in names),
        numbers=len(numbers),
        numbers_lost=sum(not kept[n] for n in numbers),
    )


def mark_heard(said: str, heard: str) -> list[MarkedPiece]:
    """All of what was said, in pieces that were heard and pieces that were not."""
    kept, _ = _aligned(said, heard)
    found: list[MarkedPiece] = []
    at = 0
    for word, is_kept in zip(_words(said), kept, strict=True):
        if not is_kept and word.start >= at:
            found += [MarkedPiece(said[at : word.start], False)] if word.start > at else []
            found.append(MarkedPiece(said[word.start : word.end], True))
            at = word.end
    return [*found, MarkedPiece(said[at:], False)] if at < len(said) else found


def unheard_words(said: str, heard: str) -> list[str]:
    """The words that carry a question and were heard nowhere, as they were said."""
    there = {word.key for word in _words(heard)}
    return [
        said[word.start : word.end]
        for word, is_kept in zip(_words(said), _aligned(said, heard)[0], strict=True)
        if not is_kept and word.key not in there and word.key not in _HUSHED
    ]


class _Word(NamedTuple):
    key: str
    start: int
    end: int
    name: int
    """Which name it is part of; −1 for none."""
    long: frozenset[str]
    """`what's` without a space as `whatis` and `whathas`."""


@lru_cache(maxsize=4096)
def _words(text: str) -> list[_Word]:
    """Words in one form: case, accents, spelling and numbers alike, `twenty-five` one word."""
    found: list[_Word] = []
    name, before = -1, 0
    for at in _WORD.finditer(text):
        bare = fold(at[0]).replace("’", "'")
        if not (key := bare and _key(bare)):  # a mark that stands for no sound, as U+FF9E alone
            continue
        gap = text[before : at.start()]
        starts = not found or re.search(r"[.!?…]\s*$", gap) is not None
        is_name = at[0][0].isupper() and not starts and not re.fullmatch(r"I(['’]\w+)?", at[0])
        goes_on = bool(found) and found[-1].name >= 0 and gap.strip() in ("", "-")
        name += is_name and not goes_on
        before = at.end()
        if found and gap.strip() in ("", "-") and (number := _counted(found[-1].key, key)):
            found[-1] = found[-1]._replace(key=number, end=at.end(), name=-1)
            continue
        found.append(_Word(key, at.start(), at.end(), name if is_name else -1, _long(bare)))
    return found


def _key(word: str) -> str:
    if word[-1].isdecimal():
        return word.lstrip("$£€").replace(",", "") + _SPELT.get(word[0], "")
    key = word.replace("'", "").replace(".", "")
    for british, american in _AMERICAN:
        key = british.sub(american, key)
    return str(NUMBER_WORDS.get(key, _SPELT.get(key, key)))


def _counted(before: str, key: str) -> str:
    """Two words of one number as one: `twenty` `five`, `7` `hundred`; else nothing."""
    if not before.isdecimal() or len(before) > 6:
        return ""
    if key in ("hundred", "thousand"):
        return f"{before}{'00' if key == 'hundred' else '000'}"
    if not key.isdecimal() or not 0 < int(key) < 100 or before == "10":
        return ""
    zeros = len(before) - len(before.rstrip("0"))
    return str(int(before) + int(key)) if len(key) <= zeros < len(before) else ""


def _long(word: str) -> frozenset[str]:
    stem, mark, rest = word.rpartition("'")
    if mark and rest == "t" and stem.endswith("n"):
        whole = {"can": "can", "won": "will"}.get(stem, stem[:-1])
        return frozenset((f"{whole}not",))
    return frozenset(_key(stem) + more for more in _SHORT.get(rest, ())) if stem else frozenset()


def _names(words: list[_Word]) -> list[int]:
    return sorted({word.name for word in words if word.name >= 0})


@lru_cache(maxsize=4096)
def _aligned(said: str, heard: str) -> tuple[tuple[bool, ...], int]:
    """Which words of what was said were heard, and how many edits lie between the two."""
    one, two = _words(said), _words(heard)
    costs = [list(range(len(two) + 1))]
    for i in range(1, len(one) + 1):
        costs.append([i])
        for j in range(1, len(two) + 1):
            costs[i].append(min(costs[i - m][j - n] + c for m, n, c in _moves(one, two, i, j)))
    kept = [False] * len(one)
    i, j = len(one), len(two)
    while i and j:
        m, n, cost = next(
            move for move in _moves(one, two, i, j)
            if costs[i][j] == costs[i - move[0]][j - move[1]] + move[2]
        )  # fmt: skip
        kept[i - m : i] = [not cost] * m
        i, j = i - m, j - n
    return tuple(kept), costs[-1][-1]


def _moves(one: list[_Word], two: list[_Word], i: int, j: int) -> Iterator[tuple[int, int, int]]:
    """How the first `i` words said and the first `j` heard may end: words of each, and edits.
    `motorbike` is no other word than `motor bike`, nor `what's` than `what is`."""
    a, b = one[i - 1], two[j - 1]
    yield 1, 1, int(a.key != b.key and a.key not in b.long and b.key not in a.long)
    if j > 1 and _together(two[j - 2], b) in (a.key, *a.long):
        yield 1, 2, 0
    if i > 1 and _together(one[i - 2], a) in (b.key, *b.long):
        yield 2, 1, 0
    yield 1, 0, 1
    yield 0, 1, 1


def _together(one: _Word, two: _Word) -> str:
    return one.key + two.key
