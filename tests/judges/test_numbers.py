"""Numbers, units and dates as people write them."""

from __future__ import annotations

import pytest

from mmrag.judges.builtin.parsed_text import Reading
from mmrag.judges.builtin.trees import Forest, Tree, Trees
from mmrag.text.numbers import Quantity, same_date, same_quantity


def quantity(text: str) -> Quantity:
    found = Reading(text).quantities
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("324 m", 324.0, "length"),
        ("5 miles", 8046.72, "length"),
        ("6 feet 2 inches", 1.8796, "length"),
        ("twenty-one", 21.0, ""),
        ("one hundred and two", 102.0, ""),
        ("two thousand five hundred", 2500.0, ""),
        ("$2.3 billion", 2.3e9, "money:$"),
        ("1,234,567", 1234567.0, ""),
        ("71 per cent", 71.0, "percent"),
        ("212 °F", 100.0, "temperature"),
        ("1 hour 30 minutes", 5400.0, "time"),
        ("62 mph", 27.71648, "speed"),
        ("36.0", 36.0, ""),
        ("3rd", 3.0, ""),
    ],
)
def test_quantities(text: str, value: float, kind: str) -> None:
    found = quantity(text)
    assert found.value == pytest.approx(value)
    assert found.kind == kind


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("324 metres", "1063 feet", True),
        ("10 feet", "3 metres", True),
        ("10 feet", "3.5 metres", False),
        ("8,336,817", "8.3 million", True),
        ("8,336,817", "9 million", False),
        ("1889", "1890", False),
        ("42", "43", False),
        ("100 °C", "212 °F", True),
        ("3rd", "4th", False),
        ("$5", "5 euros", False),
        ("12 kg", "13 kg", False),
        ("4", "4 strings", True),
    ],
)
def test_same_quantity(first: str, second: str, same: bool) -> None:
    assert same_quantity(quantity(first), quantity(second)) is same
    assert same_quantity(quantity(second), quantity(first)) is same


def test_a_decade_is_no_duration() -> None:
    assert quantity("1980s").kind == ""


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("June 11, 1954", "11 June 1954", True),
        ("11th of June 1954", "June 1954", True),
        ("June 11, 1954", "July 11, 1954", False),
        ("1954", "June 1954", True),
        ("the 1930s", "1934", True),
        ("the 1930s", "1944", False),
        ("June 11", "1954", None),
    ],
)
def test_dates(first: str, second: str, same: bool | None) -> None:
    one, two = Reading(first).dates[0], Reading(second).dates[0]
    assert same_date(one, two) is same


def test_glued_words_of_search_assistants_come_apart() -> None:
    assert Reading("It was sung byNorah Jones1.").words[-3:] == ["norah", "jones", "1"]
    assert Reading("It opened on September 13, 20121.").words[-1] == "2012"
    assert Reading("at least $75,0001.").words[-1] == "75000"


def test_trees_are_evaluated_as_written() -> None:
    #        x ≤ 0.5 ─► −1      else y ≤ 2 ─► +2, else +5
    tree = Tree(
        feature=(0, 1), threshold=(0.5, 2.0), left=(-1, -2), right=(1, -3), leaf=(-1.0, 2.0, 5.0)
    )
    stump = Tree(feature=(), threshold=(), left=(), right=(), leaf=(0.25,))
    forest = Forest(Trees(names=("x", "y"), base=0.5, trees=(tree, stump)), ["x", "y"])
    import numpy as np

    rows = np.array([[0.5, 9.0], [0.6, 2.0], [0.6, 2.1]])
    assert forest.log_odds(rows).tolist() == [-0.25, 2.75, 5.75]
