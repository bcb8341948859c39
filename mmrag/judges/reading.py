"""A text taken apart once: words in canonical form, sentences, capitals, numbers, dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

from mmrag.judges.lexicon import SAME, STOPWORDS, SUFFIXES
from mmrag.judges.normalise import THOUSANDS, fold_case, plain, sentences
from mmrag.judges.numbers import CANONICAL, Date, Quantity, dates, quantities

MAX_TOKENS = 700
"""Tokens of a text that are looked at."""


class Reading:
    """A text as the judge sees it. `words` holds canonical forms; articles and symbols are out."""

    def __init__(self, text: str, *, is_plain: bool = False) -> None:
        self.text = _mend(fold_case(text if is_plain else plain(text)))
        self.tokens: list[str] = []
        self.words: list[str] = []
        self.capital: list[bool] = []
        self.sentence: list[int] = []
        tokens, words, capital, place = self.tokens, self.words, self.capital, self.sentence
        for number, sentence in enumerate(sentences(self.text)):
            for raw in _split(sentence):
                token = raw.lower()
                tokens.append(token)
                if token not in _SKIPPED:
                    words.append(CANONICAL.get(token, token))
                    capital.append(raw[0].isupper())
                    place.append(number)
            if len(tokens) > MAX_TOKENS:
                break

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """All words, and the stems of them."""
        return frozenset(self.words)

    @cached_property
    def stems(self) -> dict[str, int]:
        """Stem → first position."""
        found: dict[str, int] = {}
        for index, word in enumerate(self.words):
            found.setdefault(stem(word), index)
        return found

    @cached_property
    def compact(self) -> str:
        """The words run together, so that spacing and hyphens do not matter."""
        return "".join(self.words)

    @cached_property
    def offsets(self) -> dict[int, int]:
        """Offset in `compact` → index of the word that begins there (the end included)."""
        found: dict[int, int] = {}
        total = 0
        for index, word in enumerate(self.words):
            found[total] = index
            total += len(word)
        found[total] = len(self.words)
        return found

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Numbers and measures."""
        return quantities(self.tokens)

    @cached_property
    def dates(self) -> list[Date]:
        """Dates and years."""
        return dates(self.tokens)

    @cached_property
    def content(self) -> list[str]:
        """The words that are not function words; all of them where there are no others."""
        return [word for word in self.words if word not in STOPWORDS] or self.words

    def occurrences(self, compact: str) -> Iterator[tuple[int, int]]:
        """Word spans whose letters are exactly `compact`."""
        at = self.compact.find(compact) if compact else -1
        while at >= 0:
            start, end = self.offsets.get(at), self.offsets.get(at + len(compact))
            if start is not None and end is not None:
                yield start, end
            at = self.compact.find(compact, at + 1)


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """A crude stem: drivers and driving are one; so are French and France, Bob and Robert."""
    if word in SAME:
        return SAME[word]
    if len(word) <= 3 or word[0].isdigit():
        return word
    for suffix, least in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word[: -len(suffix)]
            break
    if word[-1] in "ey" and len(word) > 3:
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word


@lru_cache(maxsize=20_000)
def read_short(text: str) -> Reading:
    """A question or reference, remembered: many predictions are judged against the same ones."""
    return Reading(text)


_SKIPPED = frozenset({"a", "an", "the", "$", "€", "£", "¥", "₹", "%", "°"})
_GLUED = re.compile(r"(?<=[a-z]{2})(?=[A-Z][a-z])")
_LONG_NUMBER = re.compile(r"\d[\d,]\d{3}")
_YEAR_CITED = re.compile(r"(?<![\d.,])((?:1[5-9]|20)\d\d)\d{1,2}(?=[.,;)]?(?:\s|$))")
_THOUSANDS_CITED = re.compile(r"((?<!\d)\d{1,3}(?:,\d{3})+)\d{1,2}(?!\d)")
_POINT_ZERO = re.compile(r"(?<=\d)\.0+(?![\d.])")
_APOSTROPHE = re.compile(r"'s\b|(?<=\w)'(?=\w)")
_INITIALS = re.compile(r"\b(?:[A-Za-z]\. ?){2,}(?=\W|$|[A-Za-z])")
_TOKEN = re.compile(r"\d+\.\d+|\d+|[^\W\d_]+|[$€£¥₹%°]")


def _mend(text: str) -> str:
    """Undo what search assistants glue together: "byNorah Jones1", "in 20121", "$75,0001"."""
    if "'" in text:
        text = _APOSTROPHE.sub("", text)
    text = _GLUED.sub(" ", text)
    if _LONG_NUMBER.search(text):
        text = _YEAR_CITED.sub(r"\1", text)
        text = _THOUSANDS_CITED.sub(r"\1", text)
        text = THOUSANDS.sub("", text)
    return _POINT_ZERO.sub("", text) if ".0" in text else text


def _split(sentence: str) -> list[str]:
    if ". " in sentence or sentence.count(".") > 1:
        sentence = _INITIALS.sub(_join_initials, sentence)
    return _TOKEN.findall(sentence)


def _join_initials(match: re.Match[str]) -> str:
    return match.group().replace(".", "").replace(" ", "") + " "
