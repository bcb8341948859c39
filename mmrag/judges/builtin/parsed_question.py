"""A question with its references, taken apart once for all the replies to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import dropwhile, repeat
from typing import NamedTuple

from mmrag.judges.builtin.parsed_text import Parsed, parse_short
from mmrag.judges.builtin.vectors import WordVectors
from mmrag.text.lexicon import AUXILIARIES, MEASURED, STOPWORDS, phrases, stem
from mmrag.text.normalise import sentences
from mmrag.text.numbers import Date, is_number, same_quantity

QUESTION_TYPES = ("who", "when", "where", "how many", "how", "why", "which", "what", "name", "yes")


class Wording:
    """One way to word a reference, taken apart."""

    def __init__(self, text: str, *, aside: bool = False) -> None:
        self.aside = aside
        """From brackets: no answer where it only repeats the question ("Utah (State)")."""
        self.reading = parse_short(text)
        words = self.reading.words
        self.words = [*dropwhile(STOPWORDS.__contains__, words)] or words[-1:]
        self.compact = "".join(self.words)
        self.content = [word for word in self.words if word not in STOPWORDS] or self.words
        self.stems = [stem(word) for word in self.content]

    @cached_property
    def trigrams(self) -> frozenset[str]:
        """Every run of three letters of `compact`."""
        text = self.compact
        return frozenset(text[i : i + 3] for i in range(max(1, len(text) - 2)))


@lru_cache(maxsize=500)
def wordings(reference: str) -> tuple[Wording, ...]:
    """The reference itself, without its brackets or its explanation, and each side of an "or"."""
    texts = [reference]
    outside, inside = _BRACKETS.sub(" ", reference), _BRACKETS.findall(reference)
    if inside:
        # "Pear (fruit)": what is said of a name in lower case is no other name.
        texts += [outside, *(p for p in inside if len(p) > 2 and not (p.islower() and p.isalpha()))]
    texts += [part for text in texts for part in _OR.split(text)] if _OR.search(reference) else []
    if len(reference) >= 40:  # it may go on to explain: first sentence, first clause
        first = (sentences(reference) or [reference])[0]
        texts += [t for t in (first, first.split(", ", 1)[0]) if t != reference and " " in t]
    found: dict[str, Wording] = {}
    for text in texts:
        wording = Wording(text, aside=text in inside)
        if wording.compact:
            found.setdefault(wording.compact, wording)
    return tuple(found.values())


class Ruling(NamedTuple):
    """What a rule says of a reply, and why."""

    correct: bool
    reason: str
    exactly: bool = True
    """False where a right reply is rougher than the reference, so that it is acceptable only."""
    declines: bool = False
    """Whether a reply that is not right is missing instead of wrong."""


Check = Callable[[Parsed, Sequence[Parsed], Parsed], Ruling | None]
"""A rule: the question, the references that hold a word, and the reply."""


class Word:
    """A content word of a wording."""

    __slots__ = ("fresh", "root", "value", "weight", "word")

    def __init__(self, word: str, root: str, weight: float, asked: Parsed) -> None:
        self.word, self.root, self.weight = word, root, weight
        self.fresh = word not in asked.vocabulary and root not in asked.stems
        """Whether the question does not say it."""
        self.value = weight * (0.35 if word in asked.vocabulary else 1.0)


class Target:
    """What a reply is compared with."""

    def __init__(self, question: str, references: tuple[str, ...], vectors: WordVectors) -> None:
        self.asked = asked = parse_short(question)
        self.kind = QUESTION_TYPES.index(question_type(asked))
        """The type of question, as a place in `QUESTION_TYPES`."""
        self.readings = [reading for reading in map(parse_short, references) if reading.words]
        """The references that hold a word."""
        self.checks: list[tuple[int, Check]] | None = None
        """The rules that may speak on it, once they were asked for (see `rules`)."""
        texts: dict[str, str] = {}
        for text in references:  # those that differ in capitals only are one
            texts.setdefault(text.lower(), text)
        self.known = [
            w
            for text in texts.values()
            for w in wordings(text)
            if not (w.aside and asked.stems.keys() >= set(w.stems))
        ]
        self.words = [
            [*map(Word, w.content, w.stems, vectors.weights(w.content), repeat(asked))]
            for w in self.known
        ]
        self.quantities = [q for w in self.known for q in w.reading.quantities]
        dates = [d for w in self.known for d in w.reading.dates]
        self.date_depth = max(map(date_depth, dates), default=0)
        """How many of day, month and year the references give."""
        self.dates = [date for date in dates if date_depth(date) == self.date_depth]
        """The dates that are given most exactly."""
        self.asked_values = {q.raw for q in asked.quantities}
        self.asked_roots = set(map(stem, asked.content))
        share: dict[str, float] = {}
        weight: dict[str, float] = {}
        for words in self.words:
            for word in {word.root: word for word in words if word.fresh}.values():
                share[word.root] = share.get(word.root, 0.0) + 1 / len(self.words)
                weight[word.root] = word.weight
        self.core = {root: part * part * weight[root] for root, part in share.items()}
        """Root → weight, of the words that most wordings share and the question does not say."""
        self.core_total = sum(self.core.values())

    @cached_property
    def compares(self) -> bool:
        """Whether the question puts one side above another; not where it asks for the lower one."""
        text = self.asked.text
        return bool(_COMPARES.search(text)) and not _ASKS_LOSER.search(text)


def question_type(question: Parsed) -> str:
    """What kind of answer a question asks for, from its first question word."""
    words = question.words
    for index, word in enumerate(words):
        if word in ("who", "whom", "whose"):
            return "who"
        if word in ("when", "where", "why", "which", "what", "name"):
            after = words[index + 1 : index + 3]
            if word in ("what", "which") and {"year", "date", "day", "month"} & set(after):
                return "when"
            if word in ("what", "which") and {"city", "country", "state"} & set(after):
                return "where"
            return word
        if word == "how":
            many = words[index + 1 : index + 2]
            return "how many" if many and many[0] in MEASURED else "how"
    return "yes" if words and words[0] in AUXILIARIES else "what"


def date_depth(date: Date) -> int:
    """How many of day, month and year are given."""
    return 3 - (date.year, date.month, date.day).count(None)


def loose_matches(ranked: Sequence[Wording], asked: Parsed, said: Parsed) -> list[Wording]:
    """The wordings that stand in the reply by the words that are not asked."""
    return [wording for wording in ranked[:12] if _loosely(wording, asked, said)][:3]


def _loosely(wording: Wording, asked: Parsed, said: Parsed) -> bool:
    fresh = {s for s in wording.stems if s not in asked.stems}
    if fresh and fresh <= said.stems.keys():
        return True
    last, wanted = wording.stems[-1], wording.reading.quantities
    if len(wording.stems) > 1 and wording.reading.capital[-1] and last in fresh & said.stems.keys():
        return True
    bare = len(wanted) == 1 and len(wording.words) <= 3
    return bare and any(same_quantity(q, wanted[0]) for q in said.quantities)


def tells(reading: Parsed, truth: Sequence[Wording]) -> bool:
    """Whether a text tells any of the wordings, whole or by the name they end on."""
    told = reading.stems.keys()
    for wording in truth:
        if reading.holds(wording.compact) or told >= {*wording.stems}:
            return True
        last, wanted, capital = (
            wording.stems[-1],
            wording.reading.quantities,
            wording.reading.capital,
        )
        if len(wording.stems) > 1 and capital[-1] and last in told and not is_number(last):
            return True
        bare = len(wanted) == 1 and not any(capital)
        if bare and any(same_quantity(q, wanted[0]) for q in reading.quantities):
            return True
    return False


_BRACKETS = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_OR = phrases(r" or |\s*/\s*|;|\baka\b|\balso known as\b")
_COMPARES = re.compile(
    r"(?i)\b(?:w[io]ns?|winner|beats?|more|less|older|younger|taller|shorter|bigger|larger|smaller"
    r"|longer|faster|slower|heavier|lighter|cheaper|dearer|earlier|later|higher|lower)\b"
)
_ASKS_LOSER = phrases(r"\bwhom?\b.*\b(?:did|does|do)\b.*\b(?:beat|defeat|win against)\b")
