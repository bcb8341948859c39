"""How the words of a reference are found in a reply: wordings, spelling, place and order."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

import numpy as np

from mmrag.judges.lexicon import STOPWORDS
from mmrag.judges.normalise import sentences
from mmrag.judges.numbers import is_number
from mmrag.judges.reading import Reading, read_short, stem
from mmrag.judges.vectors import Rows


class Wording:
    """One way to word a reference, taken apart."""

    def __init__(self, text: str, *, aside: bool = False) -> None:
        self.aside = aside
        """From brackets: no answer where it only repeats the question ("Utah (State)")."""
        self.reading = read_short(text)
        words = self.reading.words
        first = 0
        while first < len(words) - 1 and words[first] in STOPWORDS:
            first += 1
        self.words = words[first:]
        self.compact = "".join(self.words)
        self.content = [word for word in self.words if word not in STOPWORDS] or self.words
        self.stems = [stem(word) for word in self.content]

    @cached_property
    def trigrams(self) -> frozenset[str]:
        """Every run of three letters of `compact`."""
        text = self.compact
        return frozenset(text[i : i + 3] for i in range(max(1, len(text) - 2)))

    @cached_property
    def initials(self) -> str:
        """The first letters of the words that are not function words."""
        return "".join(word[0] for word in self.reading.words if word not in STOPWORDS)


@lru_cache(maxsize=20_000)
def wordings(reference: str) -> tuple[Wording, ...]:
    """The reference itself, without its brackets or its explanation, and each side of an "or"."""
    texts = [reference]
    outside, inside = _BRACKETS.sub(" ", reference), _BRACKETS.findall(reference)
    if inside:
        # "Pear (fruit)": what is said of a name in lower case is no other name.
        texts += [outside, *(p for p in inside if len(p) > 2 and not (p.islower() and p.isalpha()))]
    texts += [part for text in texts for part in _OR.split(text)] if _OR.search(reference) else []
    texts += _explained(reference)
    found: dict[str, Wording] = {}
    for text in texts:
        wording = Wording(text, aside=text in inside)
        if wording.compact:
            found.setdefault(wording.compact, wording)
    return tuple(found.values())


def _explained(reference: str) -> list[str]:
    """The answer of a reference that goes on to explain it: first sentence, first clause."""
    if len(reference) < 40:
        return []
    first = (sentences(reference) or [reference])[0]
    clause = first.split(", ", 1)[0]
    return [text for text in (first, clause) if text != reference and len(text.split()) > 1]


@lru_cache(maxsize=20_000)
def parts(reference: str) -> tuple[Wording, ...]:
    """The members of a reference that is a list ("Green, White and Orange"); else nothing."""
    pieces = [piece for piece in _LIST.split(_BRACKETS.sub(" ", reference)) if piece.strip()]
    found = tuple(w for w in (Wording(piece) for piece in pieces) if w.compact)
    return found if len(found) > 1 else ()


@lru_cache(maxsize=500_000)
def _alike(first: str, second: str) -> float:
    """Similarity of two words by shared letter pairs and a common beginning; 0 below a bar."""
    if is_number(first) or is_number(second) or abs(len(first) - len(second)) > 4:
        return 0.0
    a = {first[i : i + 2] for i in range(len(first) - 1)}
    b = {second[i : i + 2] for i in range(len(second) - 1)}
    dice = 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0
    shared = 0
    for x, y in zip(first, second, strict=False):
        if x != y:
            break
        shared += 1
    start = shared / min(len(first), len(second))
    score = max(dice, 0.9 * start if shared >= 4 else 0.0)
    return score if score >= 0.6 else 0.0


def closest(word: str, said: Reading) -> tuple[float, int]:
    """How nearly a word is spelled in a text, and where; 0 and -1 when nowhere near."""
    if len(word) < 4 or is_number(word):
        return 0.0, -1
    best, where = 0.0, -1
    head = word[0]
    for other, index in said.long_words.items():
        if other[0] == head or other[1] == word[1]:
            score = _alike(word, other)
            if score > best:
                best, where = score, index
    return best, where


def densest(matched: list[int], best: Wording, said: Reading) -> tuple[int, int, float]:
    """The stretch of the prediction that holds most of the reference's words."""
    wanted = set(best.content) | set(best.stems)
    hits = [
        i
        for i, (word, root) in enumerate(zip(said.words[:300], said.roots, strict=False))
        if word in wanted or root in wanted
    ] or sorted(matched)
    width = 2 * len(best.words) + 3
    top, start, end = 0, hits[0], hits[0] + 1
    left = 0
    for right, place in enumerate(hits):
        while place - hits[left] > width:
            left += 1
        distinct = len({said.words[i] for i in hits[left : right + 1]})
        if distinct > top:
            top, start, end = distinct, hits[left], place + 1
    return start, end, (end - start) / max(1, len(best.words)) + (len(best.content) - top)


def order(best: Wording, said: Reading) -> float:
    """Share of neighbouring word pairs of the reference that also stand in order in the text."""
    pairs = list(zip(best.words, best.words[1:], strict=False))
    if not pairs:
        return -1.0
    if sum(word in said.vocabulary for word in best.words) < 2:
        return 0.0
    told = set(zip(said.words, said.words[1:], strict=False))
    return sum(pair in told for pair in pairs) / len(pairs)


def acronym(best: Wording, said: Reading) -> bool:
    """Whether one side is the initials of the other."""
    if len(best.initials) > 1 and best.initials in said.vocabulary:
        return True
    if len(best.words) == 1 and 2 <= len(best.compact) <= 6 and best.reading.capital[0]:
        return best.compact in "".join(said.words[i][0] for i in said.places)
    return False


def windows(values: Rows, width: int) -> Rows:
    """Means of every run of `width` values."""
    width = min(width, len(values))
    if width <= 1:
        return values
    sums = np.zeros(len(values) + 1, np.float32)
    np.cumsum(values, out=sums[1:])
    return (sums[width:] - sums[:-width]) / np.float32(width)


_BRACKETS = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_OR = re.compile(r"(?i)\s+or\s+|\s*/\s*|;|\baka\b|\balso known as\b")
_LIST = re.compile(r"(?i)\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*|;|\n")
