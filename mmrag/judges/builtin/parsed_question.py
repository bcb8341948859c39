"""A question with its references, taken apart once for all the replies to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from mmrag.judges.builtin.claims import DENIAL
from mmrag.judges.builtin.parsed_text import Reading, read_short
from mmrag.judges.builtin.vectors import WordVectors
from mmrag.text.lexicon import AUXILIARIES, MEASURED, NEGATIONS, PLURALS, STOPWORDS, phrases, stem
from mmrag.text.normalise import sentences
from mmrag.text.numbers import Date, is_number, same_quantity
from mmrag.text.opposites import has_opposites

MAX_REFERENCES = 64
"""Distinct references that are looked at."""

QUESTION_TYPES = (
    "who",
    "when",
    "where",
    "how many",
    "how",
    "why",
    "which",
    "what",
    "name",
    "yes/no",
)


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


@lru_cache(maxsize=2_000)
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


@lru_cache(maxsize=2_000)
def parts(reference: str) -> tuple[Wording, ...]:
    """The members of a reference that is a list ("Green, White and Orange"); else nothing."""
    pieces = [piece for piece in _LIST.split(_BRACKETS.sub(" ", reference)) if piece.strip()]
    found = tuple(w for w in (Wording(piece) for piece in pieces) if w.compact)
    return found if len(found) > 1 else ()


class Ruling(NamedTuple):
    """What a rule says of a reply, and why."""

    correct: bool
    reason: str
    exactly: bool = True
    """False where a right reply is rougher than the reference, so that it is acceptable only."""


Check = Callable[[Reading, Sequence[Reading], Reading], Ruling | None]
"""A rule: the question, the references that hold a word, and the reply."""


class Word:
    """A content word of a wording."""

    __slots__ = ("fresh", "root", "value", "weight", "word")

    def __init__(self, word: str, root: str, weight: float, asked: Reading) -> None:
        self.word, self.root, self.weight = word, root, weight
        self.fresh = word not in asked.vocabulary and root not in asked.stems
        """Whether the question does not say it."""
        self.value = weight * (0.35 if word in asked.vocabulary else 1.0)


class Target:
    """What a reply is compared with."""

    def __init__(self, question: str, references: tuple[str, ...], vectors: WordVectors) -> None:
        self.asked = asked = read_short(question)
        self.references = references
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
            [
                Word(word, root, weight, asked)
                for word, root, weight in zip(
                    w.content, w.stems, vectors.weights(w.content), strict=True
                )
            ]
            for w in self.known
        ]
        self.roots = {root for w in self.known for root in w.stems}
        self.lists = [members for text in references[:8] if (members := parts(text))]
        self.quantities = [q for w in self.known for q in w.reading.quantities]
        self.dates = [d for w in self.known for d in w.reading.dates]
        self.asked_values = {q.raw for q in asked.quantities}
        self.asked_roots = set(map(stem, asked.content))
        self.core = self._core()
        """Root → weight, of the words that most wordings share and the question does not say."""

    @cached_property
    def kind(self) -> int:
        """The type of question, as a place in `QUESTION_TYPES`."""
        return QUESTION_TYPES.index(question_type(self.asked))

    @cached_property
    def readings(self) -> list[Reading]:
        """The references that hold a word."""
        return [reading for reading in map(read_short, self.references) if reading.words]

    @cached_property
    def wants_many(self) -> float:
        """Whether several answers may stand in one reply."""
        return float(bool(_WANTS_MANY.search(self.asked.text)))

    @cached_property
    def asks_or(self) -> float:
        """Whether the question offers answers itself: "Ada or Bela?"."""
        return float("or" in self.asked.vocabulary)

    @cached_property
    def denies(self) -> bool:
        """Whether the question denies something, so that an answer may do so too."""
        return bool(self.asked.vocabulary & NEGATIONS or DENIAL.search(self.asked.text))

    @cached_property
    def compares(self) -> bool:
        """Whether the question puts one side above another; not where it asks for the lower one."""
        text = self.asked.text
        return bool(_COMPARES.search(text)) and not _ASKS_LOSER.search(text)

    @cached_property
    def swappable(self) -> bool:
        """Whether the question names an attribute or a side that a reply may swap."""
        return self.compares or has_opposites(self.asked_roots)

    @cached_property
    def named(self) -> bool:
        """Whether one of the first wordings is a name."""
        return any(any(w.reading.capital) for w in self.known[:4])

    @cached_property
    def asked_count(self) -> float:
        """How many things are asked for ("the two prime ministers"), where that is said."""
        told = (q.raw for q in self.asked.quantities if 2 <= q.raw <= 12 and not q.ordinal)
        return max(told, default=0.0)

    @cached_property
    def asked_plural(self) -> float:
        """Whether the question asks for several things."""
        return float(any(word in PLURALS for word in self.asked.words[:6]))

    @cached_property
    def finest(self) -> list[Date]:
        """The dates that are given most exactly."""
        depth = max(map(date_depth, self.dates), default=0)
        return [date for date in self.dates if date_depth(date) == depth]

    def _core(self) -> dict[str, float]:
        share: dict[str, float] = {}
        weight: dict[str, float] = {}
        for words in self.words:
            for word in {word.root: word for word in words if word.fresh}.values():
                share[word.root] = share.get(word.root, 0.0) + 1 / len(self.words)
                weight[word.root] = word.weight
        return {root: part * part * weight[root] for root, part in share.items()}


def question_type(question: Reading) -> str:
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
    return "yes/no" if words and words[0] in AUXILIARIES else "what"


def date_depth(date: Date) -> int:
    """How many of day, month and year are given."""
    return 3 - (date.year, date.month, date.day).count(None)


def present(known: Sequence[Wording], target: Target, said: Reading) -> list[Wording]:
    """The wordings that stand in the reply, at least by the words that are not asked."""
    exact = [w for w in known if said.holds(w.compact)][:6]
    if exact:
        return exact
    return [w for w in known[:12] if _loosely(w, target, said)][:3]


def _loosely(wording: Wording, target: Target, said: Reading) -> bool:
    fresh = [s for s in wording.stems if s not in target.asked.stems]
    found = [s for s in fresh if s in said.stems]
    if fresh and len(found) == len(fresh):
        return True
    if len(wording.stems) > 1 and wording.reading.capital[-1] and wording.stems[-1] in found:
        return True
    wanted = wording.reading.quantities
    return (
        len(wanted) == 1
        and len(wording.words) <= 3
        and any(same_quantity(q, wanted[0]) for q in said.quantities)
    )


def tells(reading: Reading, truth: Sequence[Wording]) -> bool:
    """Whether a text tells any of the wordings, whole or by the name they end on."""
    for wording in truth:
        if reading.holds(wording.compact):
            return True
        stems = reading.stems
        hit = sum(s in stems for s in wording.stems)
        if hit and hit == len(wording.stems):
            return True
        named = len(wording.stems) > 1 and wording.reading.capital[-1]
        if named and wording.stems[-1] in stems and not is_number(wording.stems[-1]):
            return True
        wanted = wording.reading.quantities
        if (
            len(wanted) == 1
            and not any(wording.reading.capital)
            and any(same_quantity(q, wanted[0]) for q in reading.quantities)
        ):
            return True
    return False


_BRACKETS = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_OR = phrases(r" or |\s*/\s*|;|\baka\b|\balso known as\b")
_LIST = phrases(r"\s*,\s*(?:and )?| and |\s*&\s*|;|\n")
_COMPARES = re.compile(
    r"(?i)\b(?:w[io]ns?|winner|beats?|more|less|older|younger|taller|shorter|bigger|larger|smaller"
    r"|longer|faster|slower|heavier|lighter|cheaper|dearer|earlier|later|higher|lower)\b"
)
_WANTS_MANY = re.compile(
    r"(?i)\b(?:where|are|were|include|in (?:which|what)|two|three|four|five|six|seven|eight"
    r"|nine|ten|list|examples?|all|some|types|kinds?|names|members|cast|both|starred|stars?"
    r"|countries|cities|colou?rs|people|actors|ingredients|planets|states|things|brothers|sisters|daughters|sons|do|characters|bands)\b|^\s*name\b"
)
_ASKS_LOSER = phrases(r"\bwhom?\b.*\b(?:did|does|do)\b.*\b(?:beat|defeat|win against)\b")
