"""The official figures to 1e-12, and `strict` where it agrees and where it departs."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmrag.errors import SpecError
from mmrag.metrics.scoring_protocols import (
    TurnScore,
    has_two_strikes,
    kept_turns,
    score,
    strike_rule,
    two_strikes,
)
from mmrag.records import Outcome

GOLDEN = json.loads((Path(__file__).parent.parent / "data/official_scores.json").read_text())
BY_LETTER = {
    "c": Outcome.PERFECT, "a": Outcome.ACCEPTABLE, "m": Outcome.MISSING, "i": Outcome.INCORRECT,
    "u": Outcome.UNSCORED
}  # fmt: skip


def golden_turns(case: dict) -> list[TurnScore]:
    return [
        TurnScore(
            session_id=session, turn_index=index,
            outcome=Outcome.PERFECT if outcome == "correct" else Outcome(outcome), exact=exact,
            is_ego=ego
        ) for session,
        index, outcome, exact, ego in case["turns"]
    ]  # fmt: skip


def session(letters: str, sid: str = "s", **more) -> list[TurnScore]:
    return [
        TurnScore(session_id=sid, turn_index=i, outcome=BY_LETTER[c], **more)
        for i, c in enumerate(letters)
    ]


@pytest.mark.parametrize("protocol", ["crag-mm", "kddcup25"])
def test_every_official_number(protocol: str) -> None:
    compared = 0
    for case in GOLDEN["cases"]:
        ours = score(golden_turns(case), protocol)
        theirs = case["expected"][protocol]
        assert set(ours) == set(theirs)
        for view, figures in theirs.items():
            for name, value in figures.items():
                assert ours[view][name] == pytest.approx(value, abs=1e-12), (case["seed"], name)
                compared += 1
    assert compared > 2000


def test_strict_agrees_with_crag_mm_where_the_definitions_agree() -> None:
    for case in GOLDEN["cases"]:
        found = score(golden_turns(case), "strict", resamples=0)["all"]
        strict = {**found, **found["as_answered"]}
        for name, value in case["expected"]["crag-mm"]["all"].items():
            if name == "truthfulness_score" and strict["total"] == 1:
                continue  # the kits print 0 for a single turn
            assert strict[name] == pytest.approx(value, abs=1e-12), name


def test_the_two_views_of_strict_by_hand() -> None:
    # c i m | c c   the pair (i, m) cuts two correct turns; second session is whole
    turns = session("cimcc", "a") + session("ca", "b")
    figures = score(turns, "strict", resamples=0)["all"]
    assert (figures["as_answered"]["accuracy"], figures["correct"]) == (pytest.approx(5 / 7), 3)
    assert (figures["miss"], figures["truthfulness_score"]) == (3, pytest.approx((3 - 1) / 7))
    assert figures["mean_multi_turn_conversation_score"] == pytest.approx((0 / 5 + 1) / 2)
    assert (figures["early_stop_rate"], figures["two_strike_rate"]) == (0.5, 0.5)
    assert figures["successful_turns"] == pytest.approx((1 + 2) / 2)


@pytest.mark.parametrize(
    ("letters", "kept", "struck"),
    [
        ("", 0, False),
        ("ii", 2, True),  # the pair is last: nothing is cut, yet the session has two strikes
        ("mic", 2, True),
        ("cic", 3, False),
        ("iuic", 3, True),  # looks past the unscored turn
        ("iuci", 4, False),
        ("cammc", 4, True),
    ],
)
def test_two_strikes(letters: str, kept: int, struck: bool) -> None:
    rows = session(letters)
    if rows:
        assert kept_turns(rows, two_strikes) == kept
        assert has_two_strikes(rows) is struck
    else:
        assert two_strikes("s", []) is None


def test_turns_without_a_reply_lower_coverage_and_nothing_else() -> None:
    failed = [
        msgspec.structs.replace(row, failed=row.outcome is Outcome.UNSCORED)
        for row in session("cuc", "a")
    ]
    with_gap = score(failed, "strict", resamples=0)["all"]
    without = score(session("cc", "a"), "strict", resamples=0)["all"]
    assert with_gap["coverage"] == pytest.approx(2 / 3)
    for name in ("total", "accuracy", "truthfulness_score", "mean_multi_turn_conversation_score"):
        assert with_gap[name] == without[name]
    for protocol in ("crag-mm", "kddcup25"):
        assert score(failed, protocol)["all"]["hallucination_rate"] == 0


def test_missing_verdicts_make_the_headline_bounds_by_hand() -> None:
    """Every wrong reply lacks its verdict: 2 right of 2 judged, and 2 of 4 replies unknown."""
    turns = [*session("cu", "a"), *session("uc", "b")]
    for protocol in ("strict", "crag-mm", "kddcup25"):
        figures = score(turns, protocol)["all"]
        assert (next(iter(figures)), figures["unjudged"]) == ("bounds", 2)
        assert figures["bounds"] == {
            "accuracy": [0.5, 1.0], "missing": [0.0, 0.5], "hallucination_rate": [0.0, 0.5],
            "truthfulness_score": [0.0, 1.0], "mean_multi_turn_conversation_score": [0.0, 1.0]
        }  # fmt: skip
        for name in figures["bounds"]:
            assert figures[name] is None


def test_a_turn_after_a_stop_needs_no_verdict_in_the_headline() -> None:
    figures = score(session("iiu", "a"), resamples=0)["all"]
    assert figures["truthfulness_score"] == pytest.approx(-2 / 3)
    assert figures["as_answered"]["bounds"]["truthfulness_score"] == pytest.approx([-1, -1 / 3])


def test_few_missing_verdicts_leave_the_figures_and_lower_the_coverage() -> None:
    turns = [t for i in range(50) for t in session("ci", f"s{i}")]
    figures = score([*turns, *session("cu", "last")])["all"]
    assert "bounds" not in figures
    assert figures["accuracy"] == pytest.approx(51 / 101)
    assert figures["coverage"] == pytest.approx(101 / 102)


@given(st.lists(st.lists(st.sampled_from("camiu"), min_size=1, max_size=5), min_size=1, max_size=6))
def test_whatever_a_judge_would_say_lies_between_the_bounds(sessions: list[list[str]]) -> None:
    """A verdict that comes later ends no conversation that was held on without it."""
    never = strike_rule(99)
    turns = [t for i, letters in enumerate(sessions) for t in session("".join(letters), f"s{i}")]
    limits = score(turns, stop=never)["all"].get("bounds")
    for outcome in (Outcome.PERFECT, Outcome.MISSING, Outcome.INCORRECT) if limits else ():
        judged = [
            msgspec.structs.replace(t, outcome=outcome) if t.outcome is Outcome.UNSCORED else t
            for t in turns
        ]
        found = score(judged, stop=never)["all"]
        for name, (low, high) in limits.items():
            assert low - 1e-9 <= found[name] <= high + 1e-9


def test_turns_that_were_never_asked_are_missing_as_experienced_only() -> None:
    rows = session("im", "a")
    rows.append(TurnScore(session_id="a", turn_index=2, outcome=Outcome.UNSCORED, skipped=True))
    strict = score(rows, "strict", resamples=0)["all"]
    assert (strict["as_answered"]["total"], strict["coverage"], strict["total"]) == (2, 1.0, 3)
    assert strict["early_stop_rate"] == 1.0
    official = score(rows, "crag-mm")["all"]
    assert official["not_asked"] == 1
    assert official["mean_multi_turn_conversation_score"] == pytest.approx(-1 / 3)


def test_nothing_at_all_is_zeros_not_nan() -> None:
    for protocol in ("strict", "crag-mm", "kddcup25"):
        figures = score([], protocol)["all"]
        assert (figures["total"], figures["truthfulness_score"]) == (0, 0.0)


def test_an_unknown_protocol_names_the_known_ones() -> None:
    with pytest.raises(SpecError, match="crag-mm"):
        score([], "trec")


OUTCOMES = st.sampled_from([Outcome.PERFECT, Outcome.MISSING, Outcome.INCORRECT])


@given(st.lists(st.lists(OUTCOMES, min_size=1, max_size=6), min_size=1, max_size=8))
def test_order_of_rows_does_not_matter_and_rates_add_up(sessions: list[list[Outcome]]) -> None:
    turns = [
        TurnScore(session_id=f"s{i}", turn_index=j, outcome=outcome)
        for i, outcomes in enumerate(sessions)
        for j, outcome in enumerate(outcomes)
    ]
    for protocol in ("strict", "crag-mm", "kddcup25"):
        forward = score(turns, protocol, resamples=0)["all"]
        shuffled = score(turns[::-1], protocol, resamples=0)["all"]
        for name, value in forward.items():
            if isinstance(value, float):
                assert shuffled[name] == pytest.approx(value)
        rates = forward["accuracy"] + forward["missing"] + forward["hallucination_rate"]
        assert rates == pytest.approx(1.0)
        assert -1.0 <= forward["mean_multi_turn_conversation_score"] <= 1.0


def test_two_conversations_have_intervals_and_one_has_none() -> None:
    assert "intervals" not in score(session("cic"))["all"]
    assert "intervals" in score([*session("cic", "a"), *session("mcc", "b")])["all"]


def test_intervals_hold_the_figure_and_shrink_with_more_sessions() -> None:
    def width(n: int) -> float:
        turns = [t for i in range(n) for t in session("cimc" if i % 2 else "ccac", f"s{i}")]
        figures = score(turns, "strict", resamples=500)["all"]
        low, high = figures["intervals"]["truthfulness_score"]
        assert low <= figures["truthfulness_score"] <= high
        low, high = figures["intervals"]["mean_multi_turn_conversation_score"]
        assert low <= figures["mean_multi_turn_conversation_score"] <= high
        return high - low

    assert width(400) < width(40) / 2


def test_one_session_under_many_degradations_is_one_cluster() -> None:
    def turns(copies: int) -> list[TurnScore]:
        return [
            turn
            for i in range(40)
            for copy in range(copies)
            for turn in session("cimc" if i % 2 else "ccac", f"s{i}@{copy}", cluster=f"s{i}")
        ]

    def width(copies: int) -> float:
        figures = score(turns(copies), "strict", resamples=800)["all"]
        low, high = figures["intervals"]["truthfulness_score"]
        return high - low

    assert width(9) == pytest.approx(width(1), rel=0.05)  # copies bring no certainty


def test_patience_draws_by_the_session_whatever_its_degradation() -> None:
    from simulator.run.stop_policies import StopPolicy

    rule = StopPolicy.parse("patience(0.5)", seed=3).rule
    for i in range(50):
        plain = session("iiic", f"s{i}")
        degraded = session("iiic", f"s{i}@low-light@3", cluster=f"s{i}")
        assert kept_turns(plain, rule) == kept_turns(degraded, rule)


def test_a_panel_averages_every_rate_over_its_judges() -> None:
    """CRAG reports each figure's mean over the judges: perfect beside incorrect is worth 0."""
    split = (Outcome.PERFECT, Outcome.INCORRECT)
    rows = [
        TurnScore(session_id="a", turn_index=0, outcome=Outcome.INCORRECT, votes=split),
        TurnScore(session_id="a", turn_index=1, outcome=Outcome.PERFECT, votes=(split[0],) * 2),
    ]
    for protocol in ("strict", "crag-mm", "kddcup25"):
        figures = score(rows, protocol, resamples=0)["all"]
        assert (figures["accuracy"], figures["hallucination_rate"]) == (0.75, 0.25)
        assert figures["truthfulness_score"] == 0.5
        assert figures["mean_multi_turn_conversation_score"] == 0.5
        assert score(rows[:1] * 1, protocol, resamples=0)["all"]["truthfulness_score"] == 0.0


def test_a_judge_that_did_not_vote_counts_for_nothing() -> None:
    votes = (Outcome.UNSCORED, Outcome.ACCEPTABLE)
    row = TurnScore(session_id="a", turn_index=0, outcome=Outcome.ACCEPTABLE, votes=votes)
    assert score([row], resamples=0)["all"]["truthfulness_score"] == 1.0


def test_a_reply_can_be_exact_and_missing_at_once() -> None:
    """Both kits, where the reference itself is "I don't know": correct 1, missing 1, wrong −1."""
    both = TurnScore(
        session_id="a", turn_index=0, outcome=Outcome.PERFECT, exact=True, missing=True
    )
    wrong = TurnScore(session_id="a", turn_index=1, outcome=Outcome.INCORRECT)
    figures = score([both, wrong], "crag-mm")["all"]
    assert [figures[k] for k in ("correct", "miss", "hallucination")] == [1, 1, 0]
    assert figures["truthfulness_score"] == (2 + 1) / 2 - 1
    assert figures["mean_multi_turn_conversation_score"] == 0.0
    alone = score([both], "kddcup25")["all"]
    assert (alone["hallucination"], alone["mean_multi_turn_conversation_score"]) == (-1, 1.0)
