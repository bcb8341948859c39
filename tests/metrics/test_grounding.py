"""Measures of grounding and retrieval on hand-made cases, with the arithmetic beside them."""

from __future__ import annotations

import math

import pytest

from mmrag.errors import SpecError, UsageError
from mmrag.judges.papers.ragas_reference import MEASURES as REFERENCE
from mmrag.judges.papers.reference_measures import MEASURES as CRUD
from mmrag.metrics.crag_scores import grades, mean_of_judges, traffic_weighted
from mmrag.metrics.grounding import (
    Support,
    answer_relevance,
    context_relevance,
    garage,
    grounded,
)
from mmrag.metrics.measures import MEASURES, RANKED, measure
from mmrag.metrics.retrieval import Ranking, score
from mmrag.records import Outcome

YES, NO, AGAINST, FREE = (
    Support.SUPPORTED,
    Support.UNSUPPORTED,
    Support.CONTRADICTED,
    Support.NOT_NEEDED,
)


def test_every_measure_has_a_computation() -> None:
    computed = set(garage([])) | {"faithfulness", "answer_relevance", "context_relevance"}
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
    assert score(measure(name), RANKING) == pytest.approx(value)


def test_a_query_without_relevant_items_has_no_score() -> None:
    nothing = Ranking(found=("a",), gains={"a": 1.0})
    assert score(measure("recall@4"), nothing) is score(measure("mrr@3"), nothing) is None
    with pytest.raises(UsageError):
        score(measure("faithfulness"), RANKING)


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
    assert set(garage([]).values()) == {None}


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
    assert found.truthfulness == pytest.approx((1 + 0) / 2)
    assert found.perfect == pytest.approx(0.75)
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
