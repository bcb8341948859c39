"""Agreement of judges and the correction of rates, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mmrag.errors import DataError, UsageError
from mmrag.metrics.agreement import cohen_kappa, compare, krippendorff_alpha
from mmrag.metrics.correction import (
    JudgeCalibration,
    calibrate,
    correct_rates,
    load_calibration,
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


CALIBRATION = JudgeCalibration(
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
        JudgeCalibration(
            judge="j", outcomes=("c", "m", "x"), counts=tuple(map(tuple, table.tolist()))
        ),
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
