"""How much of a reference's wording a text shares: BLEU, ROUGE-L, token F1, in any script.

As CRUD-RAG counts them. They say little about truth (a text may share every word and turn it
round); they are here because its tables are in them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec

from mmrag.text.chinese import CHINESE

Words = Callable[[str], list[str]]

_PIECE = re.compile(
    r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[^\w\s]"
)


_UNCUT = re.compile(
    r"[a-zA-Z0-9]+(?:\.\d+)?%?|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|\s|[+#&._%-]+|[^\w\s]|\w"
)
"""What jieba leaves whole where nothing is Chinese, and each Chinese character."""


def words_of(text: str) -> list[str]:
    """Words as CRUD-RAG takes them: by jieba where Chinese is written, else by space and signs.
    Without jieba (`pip install "mmrag[zh]"`) every Chinese character is a word."""
    if CHINESE.search(text) and (cut := _jieba()) is not None:
        return cut(text)
    return _PIECE.findall(text)


def jieba_words(text: str) -> list[str]:
    """Words as CRUD-RAG's own code cuts whatever it compares: by jieba, Chinese or not.

    Where jieba is not installed Chinese characters are words, and all else is cut as jieba does.

    >>> jieba_words("Orlan 1.68%")
    ['Orlan', ' ', '1.68%']
    """
    cut = _jieba()
    return _UNCUT.findall(text) if cut is None else cut(text)


def uses_jieba() -> bool:
    """Whether Chinese is cut by jieba here: part of a measure's provenance."""
    return find_spec("jieba") is not None


@cache
def _jieba() -> Words | None:
    if not uses_jieba():
        return None
    import logging
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it still uses pkg_resources
        import jieba  # type: ignore[import-untyped]

    jieba.setLogLevel(logging.WARNING)
    return lambda text: list(jieba.cut(text))


def bleu(text: str, reference: str, *, order: int = 4, words: Words = words_of) -> float:
    """Geometric mean of the shares of a text's n-grams (1 to `order`) that the reference has.

    Without the brevity penalty, as CRUD-RAG's evaluator divides it out again.

    >>> bleu("the kettle boils fast", "the kettle boils fast")
    1.0
    """
    shares = [ngram_precision(text, reference, n, words=words) for n in range(1, order + 1)]
    return math.exp(math.fsum(map(math.log, shares)) / order) if all(shares) else 0.0


def ngram_precision(text: str, reference: str, n: int, *, words: Words = words_of) -> float:
    """The share of a text's n-grams that the reference has: CRUD-RAG's BLEU-1 to BLEU-4.

    >>> ngram_precision("the kettle boils fast", "the kettle boils", 2)
    0.6666666666666666
    """
    said, true = words(text), words(reference)
    possible = len(said) - n + 1
    return (_grams(said, n) & _grams(true, n)).total() / possible if possible > 0 else 0.0


def rouge_l(text: str, reference: str, *, words: Words = words_of) -> float:
    """F-measure of the longest common subsequence of words.

    >>> round(rouge_l("the fast kettle boils", "the kettle boils fast"), 2)
    0.75
    """
    said, true = words(text), words(reference)
    if not said or not true:
        return 0.0
    common = _longest(said, true)
    precision, recall = common / len(said), common / len(true)
    return 2 * precision * recall / (precision + recall) if common else 0.0


def token_f1(text: str, reference: str, *, words: Words = words_of) -> float:
    """F-measure of the words that both have, counted as often as both have them."""
    said, true = Counter(words(text)), Counter(words(reference))
    if not said or not true:
        return float(said == true)
    shared = (said & true).total()
    if not shared:
        return 0.0
    precision, recall = shared / said.total(), shared / true.total()
    return 2 * precision * recall / (precision + recall)


UNKNOWN = "无法推断"
"""What CRUD-RAG's judge answers where a text does not say."""


def quest_scores(truths: Sequence[str], answers: Sequence[str]) -> tuple[float, float]:
    """RAGQuestEval of a text: (precision, recall), from questions made from the reference.

    `truths` are the answers that the reference itself gives, `answers` those of the text.
    Questions that the reference cannot answer are dropped; recall is the share of the others
    that the text answers at all, precision the mean token F1 of these.
    """
    asked = [(t, a) for t, a in zip(truths, answers, strict=True) if t != UNKNOWN]
    given = [(t, a) for t, a in asked if a != UNKNOWN]
    if not given:
        return 0.0, 0.0
    precision = sum(token_f1(a, t, words=jieba_words) for t, a in given) / len(given)
    return precision, len(given) / len(asked)


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _longest(one: Sequence[str], two: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(two) + 1)
    for a in one:
        before = 0
        for j, b in enumerate(two, 1):
            here = row[j]
            row[j] = before + 1 if a == b else max(row[j], row[j - 1])
            before = here
    return row[-1]
