"""Agreement of judges, by hand."""

from __future__ import annotations

import pytest

from mmrag.metrics.agreement import cohen_kappa, compare


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
