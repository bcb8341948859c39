"""CRAG's scores by hand: acceptable as half, judges averaged, traffic, false premises, tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag

from mmrag.errors import DataError
from mmrag.metrics.crag_scores import crag_figures, outcomes_by_judge, traffic_figures
from mmrag.metrics.scoring_protocols import TurnScore
from mmrag.records import Outcome
from simulator.experiments.crag_tables import agreement, counts, read_weights

P, A, M, W = Outcome.PERFECT, Outcome.ACCEPTABLE, Outcome.MISSING, Outcome.INCORRECT

GRADED = ["perfect"] * 3 + ["acceptable", "missing", "incorrect", "incorrect"]
"""Seven answers: (3 + ½ − 2)/7 = .214, and merged (4 − 2)/7 = .286."""


def turns(*outcomes: Outcome, **more: Any) -> list[TurnScore]:
    return [
        TurnScore(session_id=f"s{i}", turn_index=0, outcome=outcome, **more)
        for i, outcome in enumerate(outcomes)
    ]


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_hand_graded_file_scores_with_and_without_acceptable(tmp_path: Path) -> None:
    file = written(tmp_path / "graded.jsonl", *(
        {"session_id": f"q{i}", "turn_index": 0, "outcome": outcome}
        for i, outcome in enumerate(GRADED)
    ))  # fmt: skip
    figures = json.loads(mmrag("score", str(file), "--protocol", "crag", "--json").stdout)["all"]
    assert (round(figures["truthfulness"], 3), round(figures["automatic"], 3)) == (0.214, 0.286)
    shares = [figures[name] for name in ("perfect", "acceptable", "missing", "incorrect")]
    assert shares == pytest.approx([3 / 7, 1 / 7, 1 / 7, 2 / 7])
    shown = mmrag("score", str(file), "--protocol", "crag").stdout
    for label, value in (("acceptable ½", "21.4%"), ("acceptable 1", "28.6%"),
                         ("perfect", "42.9%"), ("incorrect", "28.6%")):  # fmt: skip
        assert any(label in line and value in line for line in shown.splitlines()), (label, shown)


@pytest.mark.parametrize(
    ("system", "shares", "truth"),
    [
        ("Copilot Pro", (62.6, 11.7, 17.9, 7.8), 50.6),
        ("Gemini Advanced", (60.8, 10.1, 16.6, 12.5), 49.3),
        ("ChatGPT Plus", (59.8, 13.3, 25.0, 1.9), 41.5),
        ("Meta SG", (52.5, 9.7, 16.0, 21.8), 41.4),
        ("Perplexity.ai", (55.8, 8.8, 25.3, 10.1), 34.9),
    ],
)
def test_table_6_follows_from_its_shares(system: str, shares: Any, truth: float) -> None:
    """Of a thousand answers in the printed shares, the printed truthfulness comes out."""
    perfect, acceptable, wrong, missing = (round(10 * share) for share in shares)
    assert perfect + acceptable + wrong + missing == 1000
    figures = crag_figures(turns(*[P] * perfect, *[A] * acceptable, *[W] * wrong, *[M] * missing))
    assert 100 * figures["truthfulness"] == pytest.approx(truth, abs=0.0501), system


def test_two_judges_are_averaged_each_by_itself() -> None:
    rows = [
        TurnScore(session_id="a", turn_index=0, outcome=P, votes=(P, W)),
        TurnScore(session_id="b", turn_index=0, outcome=M, votes=(M, M)),
        TurnScore(session_id="c", turn_index=0, outcome=P, exact=True),  # nobody had to vote
        TurnScore(session_id="d", turn_index=0, outcome=W, votes=(A, W)),
    ]
    assert outcomes_by_judge(rows) == [[P, M, P, A], [W, M, P, W]]
    figures = crag_figures(rows)
    assert (figures["judges"], figures["perfect"]) == (2, pytest.approx((2 / 4 + 1 / 4) / 2))
    assert figures["incorrect"] == pytest.approx((0 + 2 / 4) / 2)
    assert figures["truthfulness"] == pytest.approx((2.5 / 4 + (1 - 2) / 4) / 2)
    assert figures["automatic"] == pytest.approx((3 / 4 + (1 - 2) / 4) / 2)


def test_unscored_answers_lower_coverage_and_nothing_else() -> None:
    figures = crag_figures(turns(P, W, Outcome.UNSCORED))
    assert (figures["truthfulness"], figures["coverage"], figures["total"]) == (0.0, 2 / 3, 2)


def test_intervals_hold_their_figures() -> None:
    figures = crag_figures(turns(*[P] * 30, *[A] * 10, *[W] * 20, *[M] * 40), 500)
    for name, (low, high) in figures["intervals"].items():
        assert low < figures[name] < high, name


def test_traffic_weights_question_types_and_counts_domains_alike() -> None:
    rows = [
        *turns(P, W, domain="movie", query_type="simple"),  # 0
        *turns(P, domain="movie", query_type="set"),  # 1
        *turns(W, domain="music", query_type="simple"),  # −1; no set in music
    ]
    weights = {"simple": 0.8, "set": 0.2}
    found = traffic_figures(rows, {"movie": weights, "music": weights})
    assert found["truthfulness"] == pytest.approx(((0.8 * 0 + 0.2 * 1) / 1.0 + -1) / 2)
    assert found["perfect"] == pytest.approx((0.8 * 0.5 + 0.2 * 1 + 0) / 2)


def test_traffic_weights_are_read_for_all_domains_or_each(tmp_path: Path) -> None:
    rows = turns(P, domain="movie", query_type="simple")
    for given in ({"simple": 1}, {"movie": {"simple": 1}}):
        place = tmp_path / "weights.json"
        place.write_text(json.dumps(given))
        assert read_weights(place, rows) == {"movie": {"simple": 1}}
    for bad in ("{", "[1]", "{}", '{"simple": "much"}', '{"movie": {"simple": -1}}'):
        place.write_text(bad)
        with pytest.raises(DataError, match="Write"):
            read_weights(place, rows)
    for bad, says in (
        ('{"simple_w_condition": 1}', "Did you mean 'simple-w-condition'"),
        ('{"simpel": 1, "set": 2}', "Did you mean 'simple'"),
        ('{"movies": {"simple": 1}}', "no domain is called 'movies'. Did you mean 'movie'"),
        ('{"movie": {"sets": 1}}', "no question type is called 'sets'. Did you mean 'set'"),
    ):
        place.write_text(bad)
        with pytest.raises(DataError, match=says):
            read_weights(place, rows)


FALSE = {"question": "Who sang it?", "references": ["invalid question", "Nobody sang it."]}


@pytest.mark.parametrize(
    ("prediction", "outcome", "printed"),
    [
        ("invalid question", "perfect", 1.0), ("Invalid Question", "perfect", 1.0),
        ("Nobody sang it: it has no words.", "perfect", -1.0), ("I don't know", "missing", 0.0),
        ("Ann sang it.", "incorrect", -1.0)
    ]
)  # fmt: skip
def test_false_premises_both_ways(
    tmp_path: Path, prediction: str, outcome: str, printed: float
) -> None:
    """As the judge has it, and by the printed rule: only "invalid question" is right."""
    row = {"session_id": "a", "turn_index": 0, **FALSE, "prediction": prediction,
           "outcome": outcome}  # fmt: skip
    file = written(tmp_path / "one.jsonl", row)
    figures = json.loads(mmrag("score", str(file), "--protocol", "crag", "--json").stdout)["all"]
    ours = {"perfect": 1.0, "missing": 0.0, "incorrect": -1.0}[outcome]
    assert (figures["automatic"], figures["printed"]) == (ours, printed)
    assert figures["false_premises"] == 1


def test_the_printed_rule_concerns_no_other_question(tmp_path: Path) -> None:
    row = {"session_id": "a", "turn_index": 0, "question": "Who?", "references": ["Ann"],
           "prediction": "invalid question", "outcome": "incorrect"}  # fmt: skip
    figures = json.loads(
        mmrag("score", str(written(tmp_path / "one.jsonl", row)), "--protocol", "crag",
              "--json").stdout
    )["all"]  # fmt: skip
    assert (figures["false_premises"], figures["printed"]) == (0, -1.0)


def test_traffic_is_cragss_alone(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl",
                   {"session_id": "a", "turn_index": 0, "outcome": "perfect"})  # fmt: skip
    done = mmrag("score", str(file), "--traffic", str(file), code=2)
    assert "--protocol crag" in done.stderr


def test_tables_3_and_4_count_questions() -> None:
    rows = [
        *turns(P, P, domain="movie", query_type="set", dynamism="static"),
        *turns(P, domain="finance", query_type="simple", dynamism="real-time"),
    ]
    by_speed = counts(rows, "dynamism", ("real-time", "static"))
    assert by_speed["static"]["movie"] == 2
    assert by_speed["real-time"] == {"finance": 1, "sports": 0, "music": 0, "movie": 0, "open": 0,
                                     "total": 1}  # fmt: skip
    assert by_speed["all"]["total"] == 3


def test_table_10_compares_each_judge_with_people() -> None:
    human = turns(P, A, W, M)
    judged = [
        TurnScore(session_id=f"s{i}", turn_index=0, outcome=P, votes=votes)
        for i, votes in enumerate(((P, P), (P, W), (W, W), (M, M)))
    ]
    first, second = agreement(judged, human)
    assert first["classes"]["average"] == {"accuracy": 1, "precision": 1, "recall": 1, "f1": 1}
    accurate = second["classes"]["accurate"]
    assert accurate == {"accuracy": 0.75, "precision": 1.0, "recall": 0.5,
                        "f1": pytest.approx(2 / 3)}  # fmt: skip
    assert second["classes"]["incorrect"]["precision"] == 0.5


def test_the_tables_of_two_files(tmp_path: Path) -> None:
    def rows(name: str, outcomes: list[str]) -> Path:
        return written(tmp_path / name, *(
            {"session_id": f"q{i}", "turn_index": 0, "outcome": outcome, "domain": "movie",
             "query_type": "simple", "dynamism": "static"}
            for i, outcome in enumerate(outcomes)
        ))  # fmt: skip

    one, two = rows("one.jsonl", GRADED), rows("two.jsonl", ["perfect"] * 7)
    weights = tmp_path / "weights.json"
    weights.write_text('{"simple": 1.0}')
    printed = mmrag("lab", "crag-tables", str(one), str(two), "--traffic", str(weights),
                    "--human", str(two)).stdout  # fmt: skip
    assert "| one.jsonl | 57.1 | 28.6 | 14.3 | 28.6 | 28.6 |" in printed
    assert "| one.jsonl, equal weights | 42.9 | 14.3 | 28.6 | 14.3 | 21.4 | – |" in printed
    assert "| two.jsonl, traffic weights | 100.0 | 0.0 | 0.0 | 0.0 | 100.0 | – |" in printed
    assert "| static | 0 | 0 | 0 | 7 (100) | 0 | 7 (100) |" in printed
    assert "## Table 10" in printed
    found = json.loads(mmrag("lab", "crag-tables", str(one), "--json").stdout)
    assert set(found) == {"table3", "table4", "table5", "table6"}


def test_tables_of_other_data_say_what_they_are(tmp_path: Path) -> None:
    own = {"turn_index": 0, "outcome": "perfect", "domain": "kitchen", "query_type": "simple",
           "dynamism": "static"}  # fmt: skip
    rows = ({**own, "session_id": "a"}, {**own, "session_id": "b", "domain": "movie"})
    printed = mmrag("lab", "crag-tables", str(written(tmp_path / "own.jsonl", *rows))).stdout
    assert printed.startswith("Note: 1 of 2 turns are not CRAG's")
    assert "| kitchen |" in printed
    crag = written(tmp_path / "crag.jsonl", rows[1])
    assert "Note" not in mmrag("lab", "crag-tables", str(crag)).stdout
