"""A question with its references, taken apart once for all the replies to it."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from mmrag.judges.lexicon import AUXILIARIES, MEASURED, PLURALS
from mmrag.judges.matching import parts, wordings
from mmrag.judges.numbers import Date
from mmrag.judges.reading import Reading, read_short, stem
from mmrag.judges.vectors import Rows, Vectors, unit

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


class Word:
    """A content word of a wording."""

    __slots__ = ("fresh", "root", "value", "weight", "word")

    def __init__(self, word: str, root: str, weight: float, asked: Reading) -> None:
        self.word, self.root, self.weight = word, root, weight
        self.fresh = word not in asked.vocabulary and root not in asked.stems
        """Whether the question does not say it."""
        self.value = weight * (0.35 if word in asked.vocabulary else 1.0)


class Aim(NamedTuple):
    """What a wording means, as unit vectors."""

    words: Rows
    """The words that the question does not say."""
    needs: Rows
    """How much each of them counts; sums to one."""
    fresh: Rows
    """All of these together."""
    mean: Rows
    """The whole wording."""
    question: float
    """Cosine with the question."""


class Target:
    """What a reply is compared with."""

    def __init__(self, question: str, references: tuple[str, ...], vectors: Vectors) -> None:
        self.asked = asked = read_short(question)
        texts: dict[str, str] = {}
        for text in references[:MAX_REFERENCES]:  # those that differ in capitals only are one
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
        self._question: Rows | None = None
        self._means: dict[int, Rows] = {}
        self._aims: dict[int, Aim] = {}
        self.core = self._core()
        """Root → weight, of the words that most wordings share and the question does not say."""

    @cached_property
    def kind(self) -> int:
        """The type of question, as a place in `QUESTION_TYPES`."""
        return QUESTION_TYPES.index(question_type(self.asked))

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

    def aim(self, number: int, vectors: Vectors) -> Aim:
        """The meaning of a wording, worked out when it is first asked for."""
        if number not in self._aims:
            content, said = self.known[number].content, self.asked.vocabulary
            words, needs = vectors.take([w for w in content if w not in said] or content)
            needs = np.maximum(needs, np.float32(1e-3))
            mean = self.mean(number, vectors)
            question = float(mean @ self.question(vectors))
            self._aims[number] = Aim(
                words, needs / needs.sum(), unit(needs @ words), mean, question
            )
        return self._aims[number]

    def mean(self, number: int, vectors: Vectors) -> Rows:
        """The meaning of a whole wording."""
        if number not in self._means:
            self._means[number] = vectors.mean(self.known[number].content)
        return self._means[number]

    def question(self, vectors: Vectors) -> Rows:
        """The meaning of the question."""
        if self._question is None:
            self._question = vectors.mean(self.asked.content or ["?"])
        return self._question

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
