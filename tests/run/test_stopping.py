from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmrag.errors import SpecError
from mmrag.records import Outcome
from simulator.run.stop_policies import StopPolicy

C, M, W, U = Outcome.PERFECT, Outcome.MISSING, Outcome.INCORRECT, Outcome.UNSCORED


@pytest.mark.parametrize(
    "text", ["never", "strikes(2)", "strikes(5)", "patience(0.7)", "patience(0)"]
)
def test_names_parse_back(text: str) -> None:
    policy = StopPolicy.parse(text)
    assert str(policy) == text
    assert StopPolicy.parse(str(policy)) == policy


@pytest.mark.parametrize(
    "text", ["", "strike(2)", "strikes", "strikes(0)", "strikes(1.5)", "patience(2)", "never(1)"]
)
def test_nonsense_is_refused_with_the_known_names(text: str) -> None:
    with pytest.raises(SpecError):
        StopPolicy.parse(text)


def test_strikes_count_consecutive_failures() -> None:
    rule = StopPolicy.parse("strikes(3)").rule
    assert rule("s", [W, M, C, W, M, W, C]) == 6
    assert rule("s", [W, M, C, W, M]) is None
    assert StopPolicy.parse("strikes(1)").rule("s", [U, C, M, C]) == 3


def test_never() -> None:
    assert StopPolicy.parse("never").rule("s", [W] * 6) is None


def test_patience_is_a_seeded_hazard() -> None:
    rule = StopPolicy.parse("patience(0.7)", seed=1).rule
    stays = [rule(f"s{i}", [W]) is None for i in range(4000)]
    assert 0.67 < sum(stays) / len(stays) < 0.73
    assert stays == [rule(f"s{i}", [W]) is None for i in range(4000)]
    other = StopPolicy.parse("patience(0.7)", seed=2).rule
    assert stays != [other(f"s{i}", [W]) is None for i in range(4000)]
    assert StopPolicy.parse("patience(1)").rule("s", [W] * 6) is None
    assert StopPolicy.parse("patience(0)").rule("s", [C, U, W, C]) == 3


@given(
    st.sampled_from(["never", "strikes(2)", "patience(0.5)"]),
    st.lists(st.sampled_from([C, M, W, U]), max_size=6),
)
def test_a_decision_once_made_stands_whatever_comes_after(
    name: str, outcomes: list[Outcome]
) -> None:
    """The engine asks after every turn, the scoring once: both must see the same stop."""
    rule = StopPolicy.parse(name).rule
    whole = rule("s", outcomes)
    first = next(
        (r for n in range(len(outcomes) + 1) if (r := rule("s", outcomes[:n])) is not None), None
    )
    assert whole == first


def test_a_policy_without_chance_is_the_same_under_every_seed() -> None:
    assert StopPolicy.parse("strikes(2)", seed=5) == StopPolicy.parse("strikes(2)", seed=0)
    assert StopPolicy.parse("patience(0.5)", seed=5) != StopPolicy.parse("patience(0.5)", seed=0)
