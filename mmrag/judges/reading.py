"""A text taken apart once: words in canonical form, sentences, capitals, numbers, dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import compress

from mmrag.judges.lexicon import NEGATIONS, SAME, STOPWORDS, SUFFIXES
from mmrag.judges.normalise import THOUSANDS, fold_case, plain, sentences
from mmrag.judges.numbers import CANONICAL, COUNTS, MONTHS, Date, Quantity, dates, quantities

MAX_TOKENS = 700
"""Tokens of a text that are looked at."""


class Reading:
    """A text as the judge sees it. `words` holds canonical forms; articles and symbols are out."""

    def __init__(self, text: str, *, is_plain: bool = False) -> None:
        self.raw = text if is_plain else plain(text)
        """The text before spelling is mended; it still has its apostrophes and accents."""
        self.text = _mend(fold_case(self.raw))
        self.tokens: list[str] = []
        self.words: list[str] = []
        self.capital: list[bool] = []
        self.sentence: list[int] = []
        self.roots: list[str] = []
        """The stem of each word."""
        told: list[bool] = []
        for number, sentence in enumerate(sentences(self.text)):
            forms = [_FORMS[raw] for raw in _split(sentence)]
            kept = [form for form in forms if form[1]]
            self.tokens += [form[0] for form in forms]
            self.words += [form[1] for form in kept]
            self.roots += [form[2] for form in kept]
            self.capital += [form[3] for form in kept]
            told += [form[4] for form in kept]
            self.sentence += [number] * len(kept)
            if len(self.tokens) > MAX_TOKENS:
                break
        self.compact = "".join(self.words)
        """The words run together, so that spacing and hyphens do not matter."""
        self.vocabulary = frozenset(self.words)
        """All words."""
        self.places = [*compress(range(len(told)), told)]
        """Where the words stand that are not function words."""

    @cached_property
    def stems(self) -> dict[str, int]:
        """Stem → first position."""
        last = len(self.roots) - 1
        return {root: last - back for back, root in enumerate(reversed(self.roots))}

    @cached_property
    def denials(self) -> list[int]:
        """Where words such as "not" and "never" stand."""
        if not self.vocabulary & NEGATIONS:
            return []
        return [i for i, word in enumerate(self.words) if word in NEGATIONS]

    @cached_property
    def trigrams(self) -> frozenset[str]:
        """Every run of three letters of `compact`, whose beginning is looked at."""
        text = self.compact[:600]
        runs = frozenset(map("".join, zip(text, text[1:], text[2:], strict=False)))
        return runs or frozenset({text})

    @cached_property
    def long_words(self) -> dict[str, int]:
        """Words of four letters and more near the beginning → where they first stand."""
        return {w: i for i, w in reversed([*enumerate(self.words[:150])]) if len(w) > 3}

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
        if self.compact.isalpha() and COUNTS.isdisjoint(self.vocabulary):
            return []  # a number is written in digits in `words`, however it is spelled
        return quantities(self.tokens)

    @cached_property
    def dates(self) -> list[Date]:
        """Dates and years."""
        if self.compact.isalpha() and self.vocabulary.isdisjoint(MONTHS):
            return []
        return dates(self.tokens)

    @cached_property
    def content(self) -> list[str]:
        """The words that are not function words; all of them where there are no others."""
        return [self.words[i] for i in self.places] or self.words

    def holds(self, compact: str) -> bool:
        """Whether the words stand there; long ones may be part of another ("gannets")."""
        return compact in self.compact and (
            len(compact) >= 7 or next(self.occurrences(compact), None) is not None
        )

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
    for suffix, least in _ENDINGS.get(word[-1], ()):
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


_ENDINGS = {
    last: [ending for ending in SUFFIXES if ending[0][-1] == last]
    for last in {suffix[-1] for suffix, _ in SUFFIXES}
}


class _Forms(dict[str, tuple[str, str, str, bool, bool]]):
    """Token as written → in lower case, as a word (none for articles and signs), its stem, whether
    it has a capital, whether it is more than a function word."""

    def __missing__(self, raw: str) -> tuple[str, str, str, bool, bool]:
        token = raw.lower()
        word = "" if token in _SKIPPED else CANONICAL.get(token, token)
        form = (token, word, stem(word), raw[0].isupper(), word not in STOPWORDS)
        if len(self) < _MAX_FORMS:
            self[raw] = form
        return form


_FORMS = _Forms()
_MAX_FORMS = 200_000
_SKIPPED = frozenset({"a", "an", "the", "$", "€", "£", "¥", "₹", "%", "°"})
_GLUED = re.compile(r"(?<=[a-z]{2})([A-Z])(?=[a-z])")
_LONG_NUMBER = re.compile(r"\d[\d,]\d{3}")
_YEAR_CITED = re.compile(r"(?<![\d.,])((?:1[5-9]|20)\d\d)\d{1,2}(?=[.,;)]?(?:\s|$))")
_THOUSANDS_CITED = re.compile(r"((?<!\d)\d{1,3}(?:,\d{3})+)\d{1,2}(?!\d)")
_POINT_APART = re.compile(r"(?<=[^\n][ ($£€¥₹/-])(\d{1,3}(?:,\d{3})*)\. (?=\d)")
_AND_A_HALF = re.compile(
    r"(?i)\b(?:an?\s+)?(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty"
    r"|ninety)[-\s])?(\w+) and a half\b"
)
_POINT_ZERO = re.compile(r"(?<=\d)\.0+(?![\d.])")
_APOSTROPHE = re.compile(r"'s\b|(?<=\w)'(?=\w)")
_INITIALS = re.compile(r"\b(?:[A-Za-z]\. ?){2,}(?=\W|$|[A-Za-z])")
_TOKEN = re.compile(r"\d+\.\d+|\d+|[^\W\d_]+|[$€£¥₹%°]")


def _mend(text: str) -> str:
    """Undo what search assistants glue and cut: "byNorah Jones1", "in 20121", "4. 22 seconds"."""
    if "'" in text:
        text = _APOSTROPHE.sub("", text)
    text = _GLUED.sub(r" \1", text)
    if " and a half" in text:
        text = _AND_A_HALF.sub(_halved, text)
    if ". " in text:
        text = _POINT_APART.sub(r"\1.", text)
    if _LONG_NUMBER.search(text):
        text = _YEAR_CITED.sub(r"\1", text)
        text = _THOUSANDS_CITED.sub(r"\1", text)
        text = THOUSANDS.sub("", text)
    return _POINT_ZERO.sub("", text) if ".0" in text else text


def _halved(match: re.Match[str]) -> str:
    tens, ones = (CANONICAL.get(word.lower(), word) for word in (match[1] or "0", match[2]))
    if not (tens.isdigit() and ones.isdigit()):
        return match.group()
    if ones == "12":
        return "18"
    return f"{int(tens) + int(ones)}.5"


def _split(sentence: str) -> list[str]:
    if ". " in sentence or sentence.count(".") > 1:
        sentence = _INITIALS.sub(_join_initials, sentence)
    return _TOKEN.findall(sentence)


def _join_initials(match: re.Match[str]) -> str:
    return match.group().replace(".", "").replace(" ", "") + " "
