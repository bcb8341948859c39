"""mmrag gate: what passes and fails, its Markdown, the fixture of pytest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from called_command import mmrag
from planted_runs import plant

from mmrag.errors import SpecError
from simulator.reports.comparison.gate import Gate, gate_run
from simulator.reports.figures.report import ReportOptions

FAST = ReportOptions(resamples=100)


def worse(turn, session, condition: str) -> float:
    return 0.35


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gated")
    plant(folder / "good", sessions=60, run_seed=1)
    plant(folder / "again", sessions=60, run_seed=1)
    plant(folder / "half", sessions=30, run_seed=1)
    plant(folder / "bad", sessions=60, run_seed=2, effect=worse)
    plant(folder / "crashed", sessions=60, run_seed=1, failures=0.5)
    return folder


def gated(runs: Path, run: str, *fail_if: str, max_loss: float = 2.0) -> dict:
    return gate_run(str(runs / run), str(runs / "good"), max_loss, fail_if, FAST)


def test_a_loss_fails_and_an_equal_run_passes(runs: Path) -> None:
    assert not gated(runs, "bad")["passed"]
    assert gated(runs, "again", max_loss=0)["passed"]
    assert gated(runs, "bad", max_loss=100)["passed"]


def test_the_loss_that_may_be_is_counted_in_points(runs: Path) -> None:
    (one,) = gated(runs, "bad")["comparisons"]
    lost = -one["as_experienced"]["truthfulness_score"]["estimate"] * 100
    assert lost > 2
    assert gated(runs, "bad", max_loss=lost + 0.01)["passed"]
    assert not gated(runs, "bad", max_loss=lost - 0.01)["passed"]


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("truthfulness < -0.02", True),
        ("truthfulness.high < -0.9", False),
        ("truthfulness.p<0.01", True),
        ("hallucination > 0.05", True),
        ("multi_turn_score.p >= 0.05", False),
        ("cost > 0.01", False),
    ],
)
def test_other_conditions(runs: Path, text: str, fails: bool) -> None:
    assert gated(runs, "bad", text, max_loss=100)["passed"] is not fails


def test_a_run_that_broke_off_does_not_pass_by_what_it_did_not_ask(runs: Path) -> None:
    found = gated(runs, "half", max_loss=100)
    assert [gate["failed"] for gate in found["gates"]] == [True, False, False]
    assert found["gates"][0]["value"] == 30


def test_a_run_that_crashed_does_not_pass_by_what_was_not_scored(runs: Path) -> None:
    found = gated(runs, "crashed", max_loss=100)
    assert [gate["failed"] for gate in found["gates"]] == [False, False, True]
    assert found["gates"][-1]["value"] == pytest.approx(-0.49, abs=0.08)


def test_too_few_conversations_are_told(runs: Path) -> None:
    assert any("may pass" in warning for warning in gated(runs, "bad")["warnings"])
    assert not any("may pass" in w for w in gated(runs, "bad", max_loss=90)["warnings"])


@pytest.mark.parametrize(
    "text", ["truthfulness", "truth < 1", "truthfulness.mean < 0", "cost.p < 1", "accuracy < x", ""]
)
def test_gates_that_make_no_sense(text: str) -> None:
    with pytest.raises(SpecError, match="--fail-if"):
        Gate.parse(text)


@pytest.mark.parametrize("loss", [-1.0, float("nan"), float("inf")])
def test_a_loss_that_makes_no_sense(runs: Path, loss: float) -> None:
    with pytest.raises(SpecError, match="--max-loss"):
        gated(runs, "bad", max_loss=loss)


def test_a_gate_parses_back() -> None:
    for text in ("truthfulness < -0.02", "accuracy.low >= 0", "seconds > 1.5"):
        assert str(Gate.parse(text)) == text


def test_an_unknown_figure_fails_its_gate() -> None:
    comparison = {"other": "x", "costs": {"seconds": {"difference": None}}}
    assert Gate.parse("seconds > 100").fails(comparison)


def test_the_command_line(runs: Path, tmp_path: Path) -> None:
    good, bad, out = str(runs / "good"), str(runs / "bad"), tmp_path / "out"
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    done = mmrag(
        "gate", bad, "--baseline", good, "--resamples", "50", "--max-loss", "2",
        "--summary", str(summary), "--out", str(out), code=1,
    )  # fmt: skip
    assert "### ❌ bad against good" in done.stdout
    assert "❌ `truthfulness < -0.02`" in done.stdout
    assert summary.read_text() == "before\n" + done.stdout
    assert (out / "compare.md").read_text() in done.stdout
    assert json.loads((out / "compare.json").read_text())["passed"] is False
    fine = mmrag("gate", str(runs / "again"), "--baseline", good, "--resamples", "50")
    assert "### ✅ again against good" in fine.stdout
    wrong = mmrag("gate", bad, "--baseline", good, "--fail-if", "nonsense", code=2)
    assert "write METRIC[.PART] OP NUMBER" in wrong.stderr


def test_what_cannot_be_told_is_no_lost_gate(runs: Path, tmp_path: Path) -> None:
    good, broken = str(runs / "good"), tmp_path / "broken"
    broken.mkdir()
    (broken / "run.sqlite").write_text("no database")
    for arguments, why in (
        ((good, "--baseline", str(tmp_path / "none")), "none"),
        ((str(broken), "--baseline", good), "broken"),
        ((good, "--baseline", f"{good}@fog@9"), "fog@9"),
        ((good, "--baseline", good, "--summary", str(tmp_path)), "Choose another --summary"),
        ((good, "--baseline", good, "--out", str(broken / "run.sqlite")), "Choose another --out"),
    ):
        told = mmrag("gate", *arguments, "--resamples", "0", code=2).stderr
        assert told.startswith("error: ")
        assert why in told
        assert told.count("\n") == 1


pytest_plugins = ["pytester"]

SUITE = """
def test_same(mmrag_gate):
    assert mmrag_gate({again!r}, baseline={good!r})["passed"]

def test_worse(mmrag_gate):
    mmrag_gate({bad!r}, baseline={good!r}, max_loss=2)

def test_worse_but_allowed(mmrag_gate):
    mmrag_gate({bad!r}, {good!r}, max_loss=100)
"""


def test_the_fixture_fails_a_test(runs: Path, pytester: pytest.Pytester) -> None:
    folders = {name: str(runs / name) for name in ("good", "again", "bad")}
    pytester.makepyfile(SUITE.format(**folders))
    plugin = "simulator.reports.comparison.pytest_plugin"
    done = pytester.runpytest_inprocess("-p", plugin, "--mmrag-summary", "all.md")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(["*❌ bad against good*"])
    assert (pytester.path / "all.md").read_text().count("### ") == 3
