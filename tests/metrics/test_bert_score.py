"""BERTScore by hand, and against the public package on the built-in encoder.

The golden file was made once by `bert_cos_score_idf` of bert-score 0.3.13 (no weights by rarity, no
rescaling, 32 bits) with the folder of all-MiniLM-L6-v2.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmrag.encoders import text_encoders
from mmrag.encoders.text import TextEncoder
from mmrag.errors import SpecError
from mmrag.judges.measure_registry import encoder_measurers
from mmrag.judges.papers.reference_measures import BERT, BertScore
from mmrag.metrics.bert_score import TokenVectors, bert_score
from mmrag.metrics.cases import Case

PAIRS = json.loads((Path(__file__).parent / "golden" / "bert_score.json").read_text("utf-8"))


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
    assert len(PAIRS) >= 20
    texts = [pair[side] for pair in PAIRS for side in ("text", "reference")]
    seen = encoder.token_vectors(texts)
    for number, pair in enumerate(PAIRS):
        found = bert_score(seen[2 * number], seen[2 * number + 1])
        wanted = (pair["precision"], pair["recall"], pair["f1"])
        assert found == pytest.approx(wanted, abs=2e-5), pair["text"]


def test_the_nearest_reference_counts(encoder: TextEncoder) -> None:
    case = Case(question="?", answer="42 volumes", references=("a kettle", "42 volumes", " "))
    rows = asyncio.run(BertScore(encoder).measure(case, ["bertscore_f1", "bertscore_recall"]))
    assert [row.measure for row in rows] == ["bertscore_f1", "bertscore_recall"]
    assert [row.value for row in rows] == pytest.approx([1.0, 1.0])
    assert rows[0].judge.startswith("bertscore/1:minilm@")
    [none] = asyncio.run(BertScore(encoder).measure(Case(question="?", answer="x"), BERT[:1]))
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
