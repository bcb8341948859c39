"""Agreement of judges and the correction of rates, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mmrag.errors import DataError, UsageError
from mmrag.metrics.agreement import base_rates, cohen_kappa, compare, krippendorff_alpha
from mmrag.metrics.correction import (
    Calibration,
    calibrate,
    correct_rates,
    load_calibration,
    prediction_powered,
    rogan_gladen,
    save_calibration,
)


def test_confusion_precision_recall_by_hand() -> None:
    human = ["c", "c", "c", "i", "i", "m"]
    judged = ["c", "c", "i", "i", "c", "m"]
    found = compare(human, judged)
    assert found.accuracy == pytest.approx(4 / 6)
    assert found.classes["c"].precision == pytest.approx(2 / 3)
    assert found.classes["c"].recall == pytest.approx(2 / 3)
    assert found.classes["i"].precision == pytest.approx(1 / 2)
    assert found.classes["m"].f1 == 1.0
    assert found.confusion["c"] == {"c": 2, "i": 1, "m": 0}


def test_nothing_to_compare() -> None:
    found = compare([], [])
    assert (found.accuracy, found.kappa, found.n) == (None, None, 0)
    never_said = compare(["a", "b"], ["a", "a"]).classes["b"]
    assert (never_said.precision, never_said.recall) == (None, 0.0)


def test_kappa_by_hand() -> None:
    # 50 items: yes/yes 20, yes/no 5, no/yes 10, no/no 15: agreed .7, chance .5·.6 + .5·.4 = .5
    first = ["y"] * 25 + ["n"] * 25
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert cohen_kappa(["y"], ["y"]) is None


def test_alpha_by_hand() -> None:
    # Krippendorff's own example with two observers and two values, α = 0.095: 4 of 10 items
    # differ (8 ordered pairs), 14 zeros and 6 ones: α = 1 − 19·8/(2·14·6)
    a, b = "0100000010", "1110010000"
    assert krippendorff_alpha(list(zip(a, b, strict=True))) == pytest.approx(1 - 19 * 8 / 168)
    assert krippendorff_alpha([["x", "x", None], ["y", None, "y"]]) == 1.0
    assert krippendorff_alpha([["x", None]]) is None
    assert krippendorff_alpha([["x", "x"]]) is None


def test_base_rates() -> None:
    assert base_rates(["a", "b", "a", "a"]) == {"a": 0.75, "b": 0.25}


def test_rogan_gladen_by_hand() -> None:
    # (0.6 + 0.95 − 1)/(0.9 + 0.95 − 1) = 0.55/0.85
    found = rogan_gladen(
        60, 100, true_positives=90, positives=100, true_negatives=95, negatives=100
    )
    assert found.estimate == pytest.approx(0.55 / 0.85)
    sure = rogan_gladen(
        60, 100, true_positives=9_000, positives=10_000, true_negatives=9_500, negatives=10_000
    )
    assert found.high - found.low > sure.high - sure.low  # what is not known widens


def test_rogan_gladen_of_a_useless_judge_knows_nothing() -> None:
    found = rogan_gladen(6, 10, true_positives=5, positives=10, true_negatives=5, negatives=10)
    assert (found.estimate, found.low, found.high) == (None, 0.0, 1.0)
    with pytest.raises(UsageError):
        rogan_gladen(6, 10, true_positives=0, positives=0, true_negatives=5, negatives=10)


CALIBRATION = Calibration(
    judge="j", outcomes=("correct", "incorrect"), counts=((900, 100), (50, 950))
)


def test_correction_of_two_outcomes_is_rogan_gladen() -> None:
    found = correct_rates({"correct": 600, "incorrect": 400}, CALIBRATION)
    assert found["correct"].estimate == pytest.approx(0.55 / 0.85)
    assert found["incorrect"].estimate == pytest.approx(1 - 0.55 / 0.85)
    low, high = found["correct"].low, found["correct"].high
    assert low < 0.55 / 0.85 < high
    plain = 2 * 1.96 * (0.6 * 0.4 / 1000) ** 0.5
    assert high - low > plain / 0.85  # sampling alone, stretched by the slope


def test_correction_undoes_three_outcomes() -> None:
    table = np.array([[90, 0, 10], [0, 50, 0], [20, 0, 80]])
    truth = np.array([0.5, 0.2, 0.3])
    judged = truth @ (table / table.sum(axis=1, keepdims=True))
    found = correct_rates(
        {n: round(10_000 * j) for n, j in zip(("c", "m", "x"), judged, strict=True)},
        Calibration(judge="j", outcomes=("c", "m", "x"), counts=tuple(map(tuple, table.tolist()))),
    )
    assert [found[n].estimate for n in "cmx"] == pytest.approx(truth.tolist(), abs=1e-6)


@settings(deadline=None, max_examples=60)
@example(1, 0)
@given(st.integers(0, 500), st.integers(0, 500))
def test_corrected_shares_are_shares(correct: int, incorrect: int) -> None:
    found = correct_rates({"correct": correct, "incorrect": incorrect}, CALIBRATION, resamples=50)
    if correct + incorrect == 0:
        assert found["correct"].estimate is None
        return
    assert sum(f.estimate for f in found.values()) == pytest.approx(1)
    assert all(0 <= f.low <= f.estimate <= f.high <= 1 for f in found.values())


def test_an_outcome_without_calibration_is_an_error() -> None:
    with pytest.raises(UsageError, match="does not know missing"):
        correct_rates({"correct": 5, "missing": 1}, CALIBRATION)


def test_prediction_powered_by_hand() -> None:
    # A perfect judge: λ = cov/(var·(1 + n/N)); with N → ∞ the estimate is the judge's own mean.
    every = [1.0, 0.0] * 5_000
    seen = [1.0, 1.0, 1.0, 0.0]
    found = prediction_powered(every, seen, seen)
    assert found.estimate == pytest.approx(0.5, abs=0.06)
    useless = prediction_powered(every, [1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0])
    assert useless.estimate == pytest.approx(0.5)  # λ = 0: people's own mean
    assert prediction_powered([1.0], [1.0], [1.0]).estimate is None


def test_prediction_powered_is_unbiased_for_a_biased_judge() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(20_000) < 0.4
    judged = np.where(rng.random(20_000) < 0.1, 1.0, truth)  # too kind
    found = prediction_powered(judged[1_000:], judged[:1_000], truth[:1_000].astype(float))
    assert found.low < 0.4 < found.high
    assert found.high - found.low < 2 * 1.96 * (0.24 / 1_000) ** 0.5  # better than people alone


def test_calibration_is_stored_and_checked(tmp_path: Path) -> None:
    made = calibrate(["c", "i", "i"], ["c", "c", "i"], judge="j", source="abc")
    assert made.counts == ((1, 0), (1, 1))
    path = tmp_path / "c.json"
    save_calibration(made, path)
    assert load_calibration(path) == made
    path.write_text('{"judge": "j", "outcomes": ["a"], "counts": [[1, 2]]}')
    with pytest.raises(DataError, match="does not fit"):
        load_calibration(path)
    with pytest.raises(DataError, match="no calibration"):
        load_calibration(tmp_path / "none.json")
