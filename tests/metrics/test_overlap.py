"""Overlap of words against CRUD-RAG's own evaluator, and by hand.

The golden files were made once by running its bleu, ROUGE, word F1 and RAGQuestEval functions
(commit 1aace38, with rouge-score and jieba 0.42.1) on invented pairs; the words they cut go along,
so that the arithmetic is held to theirs without jieba.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mmrag.metrics.overlap import (
    UNKNOWN,
    bleu,
    jieba_words,
    ngram_precision,
    quest_scores,
    rouge_l,
    token_f1,
    words_are_jiebas,
    words_of,
)

GOLDEN = Path(__file__).parent / "golden"
PAIRS = json.loads((GOLDEN / "crud_overlap.json").read_text(encoding="utf-8"))
QUESTS = json.loads((GOLDEN / "crud_quest.json").read_text(encoding="utf-8"))


def test_scores_are_those_of_the_official_evaluator() -> None:
    assert len(PAIRS) >= 60
    assert sum(pair["bleu"] > 0 for pair in PAIRS) >= 50
    for pair in PAIRS:
        said, true = pair["words"]
        cut = {pair["text"]: said, pair["reference"]: true}.__getitem__
        texts = (pair["text"], pair["reference"])
        assert bleu(*texts, words=cut) == pytest.approx(pair["bleu"], abs=1e-12)
        assert rouge_l(*texts, words=cut) == pytest.approx(pair["rouge_l"], abs=1e-12)
        assert token_f1(*texts, words=cut) == pytest.approx(pair["token_f1"], abs=1e-12)


@pytest.mark.skipif(not words_are_jiebas(), reason="the extra zh (jieba) is not installed")
def test_words_are_cut_as_the_official_evaluator_cuts_them() -> None:
    for pair in PAIRS:
        assert words_of(pair["text"]) == pair["words"][0]
    for row in QUESTS:
        found = quest_scores(row["truths"], row["answers"])
        assert found == pytest.approx((row["precision"], row["recall"]), abs=1e-12)


def test_questions_that_the_reference_cannot_answer_are_dropped() -> None:
    assert quest_scores([UNKNOWN, "图书馆"], ["c", "图书馆"]) == (1.0, 1.0)
    assert quest_scores(["a", "b", "c", UNKNOWN], ["a", UNKNOWN, "d", "e"]) == (0.5, 2 / 3)
    assert quest_scores([UNKNOWN], ["a"]) == quest_scores(["a"], [UNKNOWN]) == (0.0, 0.0)


@pytest.mark.parametrize(("text", "reference"), [("", "a b"), ("a b", ""), ("x", "a b c d")])
def test_what_shares_nothing_scores_nothing(text: str, reference: str) -> None:
    assert bleu(text, reference) == rouge_l(text, reference) == token_f1(text, reference) == 0.0


def test_a_clipped_word_counts_as_often_as_the_reference_has_it() -> None:
    assert bleu("the the the", "the cat", order=1) == pytest.approx(1 / 3)
    assert token_f1("the the the", "the cat") == pytest.approx(2 * (1 / 3) * (1 / 2) / (5 / 6))


def test_each_order_of_bleu_is_a_share_of_its_own() -> None:
    said, true = "a b c d e", "a b c x e"
    shares = [ngram_precision(said, true, n) for n in range(1, 6)]
    assert shares == [4 / 5, 2 / 4, 1 / 3, 0.0, 0.0]
    assert bleu(said, true, order=3) == pytest.approx((4 / 5 * 2 / 4 * 1 / 3) ** (1 / 3))
    assert ngram_precision("a", "a", 2) == 0.0, "there is no pair of words"


@pytest.mark.parametrize(
    ("truth", "answer", "f1"),
    [("1.68%", "49.3%", 0.0), ("10.5", "10.5", 1.0), ("Orlan Works", "Orlan", 1 / 2),
     ("4.2万", "4.2", 2 / 3)],
)  # fmt: skip
def test_answers_of_quest_eval_are_always_cut_by_jieba(truth: str, answer: str, f1: float) -> None:
    """As CRUD-RAG's code does: a figure is a word, and so is the blank between two. What is not
    Chinese is cut so without jieba too."""
    assert jieba_words("1.68%") == ["1.68%"]
    assert jieba_words("Orlan Works") == ["Orlan", " ", "Works"]
    assert quest_scores([truth], [answer]) == (pytest.approx(f1), 1.0)
