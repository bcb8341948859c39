"""One run has one headline: its ten figures are the same wherever they are shown.

The run has a stop, turns that were never asked, a failure, and a second condition, so that every
other way of counting gives other figures.
"""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag
from planted_runs import by_severity, plant

from simulator import load_run
from simulator.exchange.run_facts import facts_of
from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs
from simulator.reports.draw.markdown import comparison_markdown
from simulator.reports.draw.page import report_opening
from simulator.reports.draw.write import make_report
from simulator.store.run_reader import RunReader
from ui.home.summary import summarise
from ui.replay.conversation_list import ConversationList
from ui.replay.run_figures import RunFigures
from ui.views.robustness_view import RobustnessFigures

RATES = ("truthfulness", "accuracy", "missing", "hallucination")
KEYS = ("truthfulness_score", "accuracy", "missing", "hallucination_rate")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("same") / "run"
    conditions = ("clean", "low-light@5")
    return plant(folder, sessions=30, conditions=conditions, effect=by_severity, failures=0.04)


@pytest.fixture(scope="module")
def figures(run: Path) -> dict[str, float]:
    """By hand from the turns, as docs/scoring.md has it."""
    turns = load_run(run).turns()
    clean = turns[turns.degradation == "clean"]
    asked = clean[clean.outcome != "not_asked"]
    scored = asked[asked.outcome != "unscored"]
    right = scored.outcome.isin(["perfect", "acceptable"]).sum()
    wrong = (scored.outcome == "incorrect").sum()
    cut = len(clean) - len(asked)
    total = len(scored) + cut
    return {
        "truthfulness": (right - wrong) / total,
        "accuracy": right / total,
        "missing": ((scored.outcome == "missing").sum() + cut) / total,
        "hallucination": wrong / total,
        "coverage": len(scored) / len(asked),
        "turns": total,
        "conversations": clean.session_id.nunique(),
    }


def told(estimates: dict[str, Any]) -> dict[str, float]:
    """The rates of a view as report.json has them."""
    found = {name: estimates[key]["estimate"] for name, key in zip(RATES, KEYS, strict=True)}
    truth = estimates["truthfulness_score"]
    return {**found, "turns": truth["n"], "low": truth["low"], "high": truth["high"]}


def test_the_same_ten_figures_everywhere(
    run: Path, figures: dict[str, float], tmp_path: Path
) -> None:
    python = load_run(run).score()
    low, high = python["all"]["intervals"]["truthfulness_score"]
    mean = python["all"]["mean_multi_turn_conversation_score"]
    ten = {**figures, "low": low, "high": high, "multi-turn": mean}
    assert len(ten) == 10

    shown: dict[str, dict[str, Any]] = {}
    shown["Python"] = {name: getattr(python, name) for name in (*RATES, "coverage")}
    frame = python.to_frame().loc["all"]
    shown["a DataFrame"] = {
        **{name: frame[name] for name in (*RATES, "coverage", "turns", "conversations")},
        "low": frame["truthfulness.low"], "high": frame["truthfulness.high"],
        "multi-turn": frame["multi_turn_score"],
    }  # fmt: skip
    scored = json.loads(mmrag("score", str(run), "--json").stdout)["all"]
    ends = scored["intervals"]["truthfulness_score"]
    shown["score"] = {
        **{name: scored[key] for name, key in zip(RATES, KEYS, strict=True)},
        "coverage": scored["coverage"], "turns": scored["total"],
        "conversations": scored["sessions"], "low": ends[0], "high": ends[1],
        "multi-turn": scored["mean_multi_turn_conversation_score"],
    }  # fmt: skip
    mmrag("report", str(run), "--out", str(tmp_path / "report"), "--failures", "0")
    report = json.loads((tmp_path / "report" / "report.json").read_text())["runs"][0]
    (clean,) = (one for one in report["conditions"] if one["name"] == "clean")
    shown["report"] = {
        **told(clean["strict"]["as_experienced"]), "coverage": clean["coverage"],
        "conversations": clean["sessions"],
        "multi-turn": clean["strict"]["multi_turn_score"]["estimate"],
    }  # fmt: skip
    side = json.loads(mmrag("compare", str(run), f"{run}@low-light@5", "--json").stdout)["sides"][0]
    shown["compare"] = {
        **told(side["strict"]["as_experienced"]), "coverage": side["coverage"],
        "conversations": side["sessions"],
        "multi-turn": side["strict"]["multi_turn_score"]["estimate"],
    }  # fmt: skip
    home = summarise(run)
    shown["Home"] = {
        "truthfulness": home.truthfulness.estimate, "low": home.truthfulness.low,
        "high": home.truthfulness.high, "accuracy": home.right, "missing": home.missing,
        "hallucination": home.wrong, "turns": home.turns, "coverage": home.coverage,
        "conversations": home.sessions,
    }  # fmt: skip
    with RunReader(run) as reader:
        facts = facts_of(reader).figures
    shown["bundles and doors"] = {
        **{name: facts[name] for name in (*RATES, "coverage", "turns", "conversations")},
        "low": facts["truthfulness.low"], "high": facts["truthfulness.high"],
        "multi-turn": facts["multi_turn_score"],
    }  # fmt: skip
    page = RobustnessFigures(RunFigures({"run": ConversationList(RunReader(run))})).of("run")
    shown["Robustness"] = {
        "truthfulness": page.clean["estimate"], "low": page.clean["low"],
        "high": page.clean["high"], "turns": page.clean["n"], "conversations": page.sessions,
    }  # fmt: skip
    for place, found in shown.items():
        for name, value in found.items():
            assert value == pytest.approx(ten[name], abs=1e-12), (place, name)


def test_the_shares_add_up_and_make_the_headline(figures: dict[str, float]) -> None:
    assert sum(figures[name] for name in RATES[1:]) == pytest.approx(1)
    assert figures["truthfulness"] == pytest.approx(figures["accuracy"] - figures["hallucination"])
    assert figures["coverage"] < 1  # of what was asked: turns never asked do not lower it


def test_one_change_is_the_same_on_every_page(run: Path) -> None:
    analysis = RunFigures({"run": ConversationList(RunReader(run))})
    sides = [ComparedRun(folder=str(run), condition=name) for name in ("clean", "low-light@5")]
    (compared,) = compare_runs(sides)["comparisons"]
    change = compared["as_experienced"]["truthfulness_score"]["estimate"]
    app = analysis.compare(("run", "clean"), ("run", "low-light@5")).main
    assert app.estimate == pytest.approx(change)
    worst = RobustnessFigures(analysis).of("run").worst
    assert worst is not None
    assert worst.points == pytest.approx(100 * change)
    first = analysis.overview("run")["first"]
    lost = first["robustness"]["points"][first["robustness"]["largest_loss"]]
    assert lost["change"]["estimate"] == pytest.approx(change)
    assert "The largest loss beyond chance" in report_opening(first)
    assert report_opening(first).count("Holm</abbr>") == 1


def test_the_map_has_one_order(tmp_path: Path) -> None:
    conditions = ("clean", "low-light@1", "blurred@1")
    folder = plant(tmp_path / "run", sessions=12, conditions=conditions, effect=by_severity)
    analysis = RunFigures({"run": ConversationList(RunReader(folder))})
    found = re.findall(
        '<th scope="row">(.*?)</th>', report_opening(analysis.overview("run")["first"])
    )
    assert found == [kind.name for kind in RobustnessFigures(analysis).of("run").kinds]
    assert found == ["low-light", "blurred"]


def test_report_home_and_pull_request_begin_with_the_same_sentences(
    run: Path, tmp_path: Path
) -> None:
    def words(page: str) -> str:
        return " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())

    analysis = RunFigures({"run": ConversationList(RunReader(run))})
    first = report_opening(analysis.overview("run")["first"])
    sentences = [words(one) for one in re.findall("<li>(.*?)</li>", first, re.S)]
    for wanted in (
        "Truthfulness is ",
        "The largest loss beyond chance is under low-light@5",
        "Fix",
    ):
        assert any(one.startswith(wanted) for one in sentences)
    make_report([run], tmp_path / "report")
    report = words((tmp_path / "report" / "report.html").read_text())
    request = comparison_markdown(compare_runs([ComparedRun(folder=str(run))] * 2))
    plain = " ".join(re.sub(r"[*\\]", "", request).split())
    assert "-  " not in request
    (change,) = re.findall(r"[▼▽] −[\d.]+", words(first))
    for one in [*sentences, change]:
        assert one in report
        assert one in plain
    assert request.index("Fix first") < request.index("<details>") < request.index("accuracy")


def test_slices_average_to_the_headline(run: Path, figures: dict[str, float]) -> None:
    from simulator.reports.figures.report import HOW, ReportOptions, load_report_runs
    from simulator.reports.figures.slices import slice_table

    with RunReader(run) as reader:
        frame = load_report_runs([reader], ReportOptions())[0][0].frame
    table = slice_table(frame, frame.condition("clean"), HOW)
    turns = [one for one in table if one["dimension"] == "turn"]
    assert sum(one["truthfulness"]["n"] for one in turns) == figures["turns"]
    whole = sum(one["truthfulness"]["estimate"] * one["truthfulness"]["n"] for one in turns)
    assert whole / figures["turns"] == pytest.approx(figures["truthfulness"])


def test_turns_never_asked_have_a_word_of_their_own(tmp_path: Path) -> None:
    """They lower no coverage, in the run as in what it exports."""
    folder = plant(tmp_path / "run", sessions=15, failures=0.1, base=0.4)
    turns = load_run(folder).turns()
    skipped = turns[turns.status == "skipped_after_stop"]
    assert len(skipped)
    assert set(skipped.outcome) == {"not_asked"}
    assert "not_asked" not in set(turns[turns.status != "skipped_after_stop"].outcome)
    asked = turns[turns.outcome != "not_asked"]
    unscored = (asked.outcome == "unscored").mean()
    scores = load_run(folder).score()
    assert unscored > 0
    assert scores.coverage == pytest.approx(1 - unscored)
    load_run(folder).export(tmp_path / "turns.jsonl")
    again = json.loads(mmrag("score", str(tmp_path / "turns.jsonl"), "--json").stdout)["all"]
    assert again == scores["all"]


def test_a_slice_is_the_worst_only_beyond_chance_and_never_all_there_is(tmp_path: Path) -> None:
    def harder(turn: Any, session: Any, condition: str) -> float:
        return 0.5 if turn.query_type == "multi-hop" else 0.0

    plant(tmp_path / "planted", sessions=80, effect=harder, failures=0)
    plant(tmp_path / "flat", sessions=12, base=9.0, failures=0)
    names = ("planted", "flat")
    analysis = RunFigures({name: ConversationList(RunReader(tmp_path / name)) for name in names})
    (worst, *_), none = (
        analysis.overview(name)["first"]["slices"]["standouts"]["found"] for name in names
    )
    assert (worst["dimension"], worst["slice"]) == ("query_type", "multi-hop")
    assert worst["here"] < worst["rest"]
    assert worst["n"] < len(analysis.frame("planted"))
    assert not none
