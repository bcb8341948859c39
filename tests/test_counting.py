"""Lists of problems as people read them."""

from __future__ import annotations

from simulator.counting import problems_told


def test_a_few_problems_are_told_and_the_rest_is_counted() -> None:
    assert problems_told([]) == "No problem found."
    assert problems_told(["a.jpg: torn"]) == "1 problem:\n  a.jpg: torn"
    told = problems_told([f"{n}.jpg: torn" for n in range(1_022)]).splitlines()
    assert told[0] == "1,022 problems:"
    assert told[1:21] == [f"  {n}.jpg: torn" for n in range(20)]
    assert told[21:] == ["  … and 1,002 more"]
