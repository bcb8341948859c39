"""Measures of grounding and retrieval on hand-made cases, with the arithmetic beside them."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmrag.encoders import text_encoders
from mmrag.encoders.text import TextEncoder
from mmrag.errors import SpecError, UsageError
from mmrag.judges.measure_registry import encoder_measurers
from mmrag.judges.papers.ragas_reference import MEASURES as REFERENCE
from mmrag.judges.papers.reference_measures import BERT, BertScoreMeasurer
from mmrag.judges.papers.reference_measures import MEASURES as CRUD
from mmrag.metrics.bert_score import TokenVectors, bert_score
from mmrag.metrics.crag_scores import grades, mean_of_judges, traffic_weighted
from mmrag.metrics.grounding import (
    Support,
    answer_relevance,
    context_relevance,
    garage_figures,
    grounded,
)
from mmrag.metrics.measure_records import Case
from mmrag.metrics.measures import MEASURES, RANKED, measure
from mmrag.metrics.retrieval import Ranking, ranking_measure
from mmrag.metrics.word_overlap import (
    UNKNOWN,
    bleu,
    jieba_words,
    ngram_precision,
    quest_scores,
    rouge_l,
    token_f1,
    uses_jieba,
    words_of,
)
from mmrag.records import Outcome

YES, NO, AGAINST, FREE = (
    Support.SUPPORTED, Support.UNSUPPORTED, Support.CONTRADICTED, Support.NOT_NEEDED
)  # fmt: skip


def test_every_measure_has_a_computation() -> None:
    computed = set(garage_figures([])) | {"faithfulness", "answer_relevance", "context_relevance"}
    computed |= {name.partition("@")[0] for name in CRUD} | set(REFERENCE)
    assert set(MEASURES) == computed | RANKED
    assert all(m.formula and m.meaning and m.source for m in MEASURES.values())


@pytest.mark.parametrize("name", ["recall@5", "ndcg@10", "faithfulness", "raf"])
def test_names_parse_back(name: str) -> None:
    assert str(measure(name)) == name


@pytest.mark.parametrize("name", ["recall", "recall@0", "raf@3", "nothing", "", "recall@-1"])
def test_names_that_are_no_measure(name: str) -> None:
    with pytest.raises(SpecError):
        measure(name)


RANKING = Ranking(
    found=("x", "a", "r", "a", "b"), gains={"a": 2.0, "b": 2.0, "c": 2.0, "r": 1.0, "x": 0.0}
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recall@1", 0.0),
        ("recall@2", 1 / 3),  # a of {a, b, c}
        ("recall@4", 2 / 3),  # the second a does not count, so b is fourth
        ("precision@4", 2 / 4),
        ("precision@10", 2 / 10),
        ("hit@1", 0.0),
        ("hit@2", 1.0),
        ("mrr@1", 0.0),
        ("mrr@5", 1 / 2),
        # gains 0 2 1 2; ideal 2 2 2 1
        (
            "ndcg@4",
            (2 / math.log2(3) + 1 / 2 + 2 / math.log2(5))
            / (2 + 2 / math.log2(3) + 2 / 2 + 1 / math.log2(5)),
        ),
    ],
)
def test_rankings_by_hand(name: str, value: float) -> None:
    assert ranking_measure(measure(name), RANKING) == pytest.approx(value)


def test_a_query_without_relevant_items_has_no_score() -> None:
    nothing = Ranking(found=("a",), gains={"a": 1.0})
    assert (
        ranking_measure(measure("recall@4"), nothing)
        is ranking_measure(measure("mrr@3"), nothing)
        is None
    )
    with pytest.raises(UsageError):
        ranking_measure(measure("faithfulness"), RANKING)


def test_what_is_no_share_and_no_cosine_is_refused() -> None:
    with pytest.raises(UsageError):
        context_relevance(2, 1)
    with pytest.raises(UsageError):
        answer_relevance([math.nan])


def test_grounded_needs_every_sentence() -> None:
    assert grounded([YES, FREE])
    assert not grounded([YES, NO])
    assert not grounded([YES, AGAINST])
    assert not grounded([])


def test_shares_of_nothing_are_none() -> None:
    assert set(garage_figures([]).values()) == {None}


def test_crag_grades_by_hand() -> None:
    outcomes = [Outcome.PERFECT] * 4 + [Outcome.ACCEPTABLE] * 2 + [Outcome.MISSING] * 2
    outcomes += [Outcome.INCORRECT] * 2 + [Outcome.UNSCORED] * 2
    found = grades(outcomes)
    assert found.truthfulness == pytest.approx((4 + 1 - 2) / 10)
    assert found.automatic == pytest.approx((6 - 2) / 10)
    assert found.coverage == pytest.approx(10 / 12)
    assert grades([Outcome.UNSCORED]).truthfulness is None


def test_the_mean_of_two_judges() -> None:
    kind = grades([Outcome.PERFECT, Outcome.PERFECT])
    harsh = grades([Outcome.PERFECT, Outcome.INCORRECT])
    found = mean_of_judges([kind, harsh])
    assert (found.truthfulness, found.perfect) == (pytest.approx((1 + 0) / 2), pytest.approx(0.75))
    assert mean_of_judges([kind, grades([])]).truthfulness is None
    with pytest.raises(UsageError):
        mean_of_judges([])


def test_traffic_weights_by_hand() -> None:
    figures = {"food": {"simple": 0.5, "hard": -0.5, "new": None}, "cars": {"simple": 1.0}}
    weights = {"food": {"simple": 3.0, "hard": 1.0}, "cars": {"simple": 10.0}}
    # food: (3·.5 − .5)/4 = .25; cars: 1; macro mean .625
    assert traffic_weighted(figures, weights) == pytest.approx(0.625)
    with pytest.raises(UsageError, match="no traffic weight"):
        traffic_weighted({"sky": {"simple": 1.0}}, weights)
    assert traffic_weighted({}, {}) is None


# -- overlap

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


@pytest.mark.skipif(not uses_jieba(), reason="the extra zh (jieba) is not installed")
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


# -- bert score

PAIRS_SCORE = json.loads((Path(__file__).parent / "golden" / "bert_score.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def encoder() -> TextEncoder:
    return text_encoders.create("minilm:precision=full")


def tokens(*angles: float, added: int = 0) -> TokenVectors:
    """Tokens as directions in a plane, in degrees; the first and last `added` weigh nothing."""
    turned = np.radians(angles)
    rows = np.stack([np.cos(turned), np.sin(turned)], axis=1)
    counted = np.ones(len(angles), bool)
    counted[:added] = counted[len(angles) - added :] = False
    return TokenVectors(rows, counted)


def test_each_token_counts_with_its_nearest() -> None:
    precision, recall, f1 = bert_score(tokens(0, 60), tokens(0, 90, 180))
    assert precision == pytest.approx((1 + np.cos(np.radians(30))) / 2)
    assert recall == pytest.approx((1 + np.cos(np.radians(30)) + -0.5) / 3)
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))


def test_added_tokens_are_matched_and_weigh_nothing() -> None:
    said, true = tokens(45, 0, 45, added=1), tokens(10, 90, 10, added=1)
    precision, recall, _ = bert_score(said, true)
    assert precision == pytest.approx(np.cos(np.radians(10)))
    assert recall == pytest.approx(np.cos(np.radians(45)))


@pytest.mark.parametrize("pair", [(tokens(0, 1, added=1), tokens(0)), (tokens(0), tokens())])
def test_of_nothing_it_is_nothing(pair: tuple[TokenVectors, TokenVectors]) -> None:
    assert bert_score(*pair) == (0.0, 0.0, 0.0)
    assert bert_score(tokens(0), tokens(180)) == (-1.0, -1.0, 0.0)


def test_it_is_the_public_package_s(encoder: TextEncoder) -> None:
    assert len(PAIRS_SCORE) >= 20
    texts = [pair[side] for pair in PAIRS_SCORE for side in ("text", "reference")]
    seen = encoder.token_vectors(texts)
    for number, pair in enumerate(PAIRS_SCORE):
        found = bert_score(seen[2 * number], seen[2 * number + 1])
        wanted = (pair["precision"], pair["recall"], pair["f1"])
        assert found == pytest.approx(wanted, abs=2e-5), pair["text"]


def test_the_nearest_reference_counts(encoder: TextEncoder) -> None:
    case = Case(question="?", answer="42 volumes", references=("a kettle", "42 volumes", " "))
    rows = asyncio.run(
        BertScoreMeasurer(encoder).measure(case, ["bertscore_f1", "bertscore_recall"])
    )
    assert [row.measure for row in rows] == ["bertscore_f1", "bertscore_recall"]
    assert [row.value for row in rows] == pytest.approx([1.0, 1.0])
    assert rows[0].judge.startswith("bertscore/1:minilm@")
    [none] = asyncio.run(
        BertScoreMeasurer(encoder).measure(Case(question="?", answer="x"), BERT[:1])
    )
    assert (none.value, none.reason) == (None, "there is no reference")


def test_a_layer_can_be_chosen(encoder: TextEncoder) -> None:
    from mmrag.encoders.text import minilm_folder

    spec = f"transformers:model={minilm_folder()},pooling=mean,precision=full"
    third: Any = text_encoders.create(f"{spec},layer=3")
    [inner], [outer] = third.token_vectors(["a kettle"]), encoder.token_vectors(["a kettle"])
    assert inner.rows.shape == outer.rows.shape == (4, 384)
    assert outer.counted.tolist() == [False, True, True, False]
    assert np.abs(inner.rows - outer.rows).max() > 0.05
    np.testing.assert_allclose(third.encode(["a kettle"]), encoder.encode(["a kettle"]), atol=1e-5)
    assert "layer 3" in third.token_id
    for layer in ("7", "-1", "x"):
        with pytest.raises(SpecError, match="choose 1 to 6"):
            text_encoders.create(f"{spec},layer={layer}")


def test_an_encoder_without_vectors_of_tokens_measures_the_rest(encoder: TextEncoder) -> None:
    class Whole:
        id = "whole"

        def encode(self, items: Any) -> Any:
            return np.ones((len(items), 1), np.float32)

    def taken(by: Any) -> set[str]:
        return {name for taker in encoder_measurers(by) for name in taker.measures}

    assert not taken(Whole()) & set(BERT)
    assert taken(encoder) == taken(Whole()) | set(BERT)
