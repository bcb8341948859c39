"""Twenty cases for each measure of Ragas and GaRAGe, worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mmrag.metrics.grounding import (
    GARAGE,
    GroundedAnswer,
    Support,
    answer_relevance,
    context_relevance,
    faithfulness,
    garage_figures,
)

LETTERS = {
    "s": Support.SUPPORTED, "u": Support.UNSUPPORTED, "c": Support.CONTRADICTED,
    "n": Support.NOT_NEEDED
}  # fmt: skip


def labels(letters: str) -> tuple[Support, ...]:
    return tuple(LETTERS[letter] for letter in letters if letter != "-")


def number(text: str) -> float | None:
    return None if text == "-" else float(Fraction(text))


@pytest.mark.parametrize(
    ("letters", "value"),
    [
        ("s", "1"), ("u", "0"), ("c", "0"), ("n", "-"), ("", "-"),
        ("ss", "1"), ("su", "1/2"), ("sc", "1/2"), ("uc", "0"), ("sn", "1"),
        ("un", "0"), ("ssu", "2/3"), ("suu", "1/3"), ("scn", "1/2"), ("sssu", "3/4"),
        ("sucn", "1/3"), ("nnnn", "-"), ("nnns", "1"), ("sssssssu", "7/8"), ("sucsucsuc", "1/3"),
    ],
)  # fmt: skip
def test_faithfulness(letters: str, value: str) -> None:
    assert faithfulness(labels(letters)) == number(value)


@pytest.mark.parametrize(
    ("cosines", "value"),
    [
        ("1", "1"), ("0", "0"), ("-1", "-1"), ("", "-"), ("1/2", "1/2"),
        ("1 1", "1"), ("1 0", "1/2"), ("1 -1", "0"), ("1/2 1/4", "3/8"), ("-1/2 -1/4", "-3/8"),
        ("1 1 1", "1"), ("1 1 0", "2/3"), ("1/2 1/2 1/2", "1/2"), ("3/4 1/2 1/4", "1/2"),
        ("1 1/2 0", "1/2"), ("0 0 0 1", "1/4"), ("1/8 1/8 1/4 1/2", "1/4"), ("1 1 1 -1", "1/2"),
        ("1/16 3/16", "1/8"), ("1 1/2 1/2 1/2 1/2", "3/5"),
    ],
)  # fmt: skip
def test_answer_relevance(cosines: str, value: str) -> None:
    found = answer_relevance([float(Fraction(c)) for c in cosines.split()])
    assert found == (None if value == "-" else pytest.approx(number(value)))


@pytest.mark.parametrize(
    ("kept", "total", "value"),
    [
        (0, 0, "-"), (0, 1, "0"), (1, 1, "1"), (1, 2, "1/2"), (2, 2, "1"),
        (1, 3, "1/3"), (2, 3, "2/3"), (0, 9, "0"), (9, 9, "1"), (1, 10, ".1"),
        (3, 12, ".25"), (1, 40, ".025"), (1, 41, "1/41"), (1, 100, ".01"), (40, 100, ".4"),
        (41, 100, ".41"), (99, 100, ".99"), (1, 1000, ".001"), (50, 5000, ".01"), (7, 8, ".875"),
    ],
)  # fmt: skip
def test_context_relevance(kept: int, total: int, value: str) -> None:
    assert context_relevance(kept, total) == number(value)


# deflects, should deflect, eligible; support by all, by relevant passages; cited / expected; then
# eligibility, unadjusted factuality, factuality, uRAF, RAF, deflection TP, FP, attribution P R F1.
# `.` is no, `y` yes, `?` unknown, `-` nothing (no sentence, no citation, no value).
ANSWERS = """
. . y  s    s    a/a      1 1 1 1 1 - 0  1   1   1
. . y  s    u    a/a      1 1 1 0 0 - 0  1   1   1
. . y  u    u    a/b      1 0 0 0 0 - 0  0   0   0
. . .  s    s    ab/a     0 1 0 1 0 - 0  1/2 1   2/3
. . .  u    u    a/ab     0 0 0 0 0 - 0  1   1/2 2/3
. . ?  s    s    ab/bc    - 1 - 1 - - 0  1/2 1/2 1/2
. . ?  c    c    -/a      - 0 - 0 - - 0  -   0   0
. . y  sn   sn   a/-      1 1 1 1 1 - 0  -   -   -
. . y  ss   su   abc/abc  1 1 1 0 0 - 0  1   1   1
. . y  ssc  ssc  abc/d    1 0 0 0 0 - 0  0   0   0
. . y  nnn  nnn  -/-      1 1 1 1 1 - 0  -   -   -
. . y  -    -    -/ab     1 0 0 0 0 - 0  -   0   0
. . y  s    ?    a/abcd   1 1 1 - - - 0  1   1/4 2/5
y . .  n    n    -/a      0 1 0 1 0 - 1  -   0   0
y . y  ns   nu   abcd/a   1 1 1 0 0 - 1  1/4 1   2/5
y y ?  n    n    -/-      - - - - - 1 -  -   -   -
. y y  s    s    a/-      - - - - - 0 -  -   -   -
. y ?  u    u    a/a      - - - - - 0 -  1   1   1
y ? y  s    s    ab/abc   - - - - - - -  1   2/3 4/5
. ? y  s    ?    a/b      - - - - - - -  0   0   0
"""

CASES = [line.split() for line in ANSWERS.strip().splitlines()]


def grounded_answer(row: list[str]) -> GroundedAnswer:
    yes = {"y": True, ".": False, "?": None}
    cited, expected = row[5].split("/")
    return GroundedAnswer(
        deflects=bool(yes[row[0]]), should_deflect=yes[row[1]], eligible=yes[row[2]],
        support=labels(row[3]), relevant_support=None if row[4] == "?" else labels(row[4]),
        cited=frozenset(cited.strip("-")), expected=frozenset(expected.strip("-"))
    )  # fmt: skip


@pytest.mark.parametrize("column", range(len(GARAGE)), ids=GARAGE)
def test_garage(column: int) -> None:
    assert len(CASES) == 20
    for row in CASES:
        found = garage_figures([grounded_answer(row)])[GARAGE[column]]
        wanted = number(row[6 + column])
        assert found == (None if wanted is None else pytest.approx(wanted)), row


def test_garage_pools_attribution_and_averages_the_rest() -> None:
    found = garage_figures([grounded_answer(row) for row in CASES])
    # asked: the fifteen rows whose second column is a dot; judged: those without `?` in the third
    assert found["eligibility"] == pytest.approx(10 / 13)
    assert found["unadjusted_factuality"] == pytest.approx(10 / 15)
    assert found["factuality"] == pytest.approx(7 / 13)
    assert (found["unadjusted_raf"], found["raf"]) == (pytest.approx(6 / 14), pytest.approx(3 / 12))
    assert found["deflection_true_positive"] == pytest.approx(1 / 3)
    assert found["deflection_false_positive"] == pytest.approx(2 / 15)
    # common: 1 1 0 1 1 1 0 . 3 0 . 0 1 0 1 . . 1 2 0 = 13; cited: 1 1 1 2 1 2 0 . 3 3 . 0 1 0 4
    # . . 1 2 1 = 23; expected: 1 1 1 1 2 2 1 . 3 1 . 2 4 1 1 . . 1 3 1 = 26
    assert found["attribution_precision"] == pytest.approx(13 / 23)
    assert found["attribution_recall"] == pytest.approx(13 / 26)
    assert found["attribution_f1"] == pytest.approx(26 / 49)
