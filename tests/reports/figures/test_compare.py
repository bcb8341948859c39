"""mmrag compare: differences, refusals, flips, the command line."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from called_command import mmrag
from planted_runs import by_severity, make_session, plant
from small_runs import done, write

from mmrag.errors import ConflictError, SpecError
from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs
from simulator.reports.draw.markdown import comparison_markdown
from simulator.reports.draw.page import comparison_page
from simulator.reports.figures.report import ReportOptions
from simulator.store.run_store import RunStore

FAST = ReportOptions(resamples=100)


def worse(turn, session, condition: str) -> float:
    return 0.35


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    plant(folder / "good", sessions=60, run_seed=1)
    plant(folder / "again", sessions=60, run_seed=1)
    plant(folder / "bad", sessions=60, run_seed=2, effect=worse, agent="closed-book")
    return folder


def compared(*folders: Path | str, options: ReportOptions = FAST) -> dict:
    return compare_runs([ComparedRun.parse(str(folder)) for folder in folders], options)


def test_a_loss_is_found(runs: Path) -> None:
    found = compared(runs / "good", runs / "bad")["comparisons"][0]
    change = found["as_experienced"]["truthfulness_score"]
    assert change["estimate"] < -0.2
    assert change["high"] < 0
    assert change["p"] < 0.01
    assert 0 < change["detectable"] < 0.4
    assert found["settings"]["agent"] == ["grounded", "closed-book"]
    flips = found["flips"]
    assert flips["lost"] > flips["won"]
    assert flips["lost"] + flips["won"] + flips["both_right"] + flips["neither"] == flips["pairs"]
    listed = {(f["session"], f["turn"]) for f in found["flipped"]}
    assert len(listed) == len(found["flipped"]) > 10
    lost = next(f for f in found["flipped"] if f["flip"] == "lost")
    assert lost["baseline"] == lost["reference"] != lost["other"]


def test_equal_runs_do_not_differ(runs: Path) -> None:
    found = compared(runs / "good", runs / "again")["comparisons"][0]
    assert all(f["estimate"] == 0 and f["p"] == 1 for f in found["as_experienced"].values())
    assert found["flips"]["lost"] == found["flips"]["won"] == 0
    assert found["standouts"]["found"] == []
    assert all(entry["p_holm"] in (None, 1.0) for entry in found["slices"])


def test_several_runs_share_the_baseline(runs: Path) -> None:
    found = compared(runs / "good", runs / "again", runs / "bad")
    assert [c["baseline"] for c in found["comparisons"]] == ["good", "good"]


def test_conditions_of_one_run(sweep: Path) -> None:
    found = compared(f"{sweep}@clean", f"{sweep}@low-light@5")["comparisons"][0]
    assert found["other"] == "sweep@low-light@5"
    assert found["as_experienced"]["truthfulness_score"]["estimate"] < -0.2
    whole = compared(sweep, f"{sweep}@low-light@5")["comparisons"][0]
    assert whole["baseline"] == "sweep@clean"  # a run stands for its headline's condition
    assert whole["as_experienced"] == found["as_experienced"]
    with pytest.raises(SpecError, match=r"no condition 'fog@1'; there is clean, low-light@1"):
        compared(f"{sweep}@clean", f"{sweep}@fog@1")


def test_runs_of_different_lengths_are_paired_over_the_sessions_that_both_have(
    runs: Path, tmp_path: Path
) -> None:
    few = plant(tmp_path / "few", sessions=58, run_seed=1)
    found = compared(runs / "good", few)
    one = found["comparisons"][0]
    assert one["left_out"] == {"baseline": 2, "other": 0}
    assert one["sessions"] == 58
    said = "Compared over the 58 conversations that both have; left out: 2 conversations only in"
    assert f"{said} good." in found["warnings"]
    assert said in comparison_markdown(found)


def test_the_table_of_runs_of_different_lengths_adds_up(runs: Path, tmp_path: Path) -> None:
    """Both columns are of what both have, as the difference between them is."""
    few = plant(tmp_path / "few", sessions=20, run_seed=1)
    lines = comparison_markdown(compared(runs / "good", few)).splitlines()
    rates = [line.split("|")[2:5] for line in lines if line.startswith(("| truth", "| missing"))]
    assert len(rates) == 2
    for row in rates:
        first, second, change = (
            float(cell.strip(" *%").replace("−", "-").replace("+", "")) for cell in row
        )
        assert second - first == pytest.approx(change, abs=0.11)


def test_runs_that_share_nothing_are_refused_by_name(runs: Path, tmp_path: Path) -> None:
    session = msgspec.structs.replace(make_session(0), id="elsewhere")
    turns = [done(session, turn.index, "c") for turn in session.turns]
    other = write(tmp_path / "elsewhere", (session, turns), judge="planted-1")
    with pytest.raises(ConflictError, match=r"share no session: 60 only in good \(such as s00000"):
        compared(runs / "good", other)


def test_other_questions_are_refused(runs: Path, tmp_path: Path) -> None:
    other = plant(tmp_path / "other", sessions=60, seed=9)
    with pytest.raises(ConflictError, match="other questions or references in other than in good"):
        compared(runs / "good", other)


def test_other_judges_are_refused(runs: Path, tmp_path: Path) -> None:
    other = plant(tmp_path / "other", sessions=60)
    with RunStore(other) as store:
        store.set_meta("judge", "another-judge")
    with pytest.raises(ConflictError, match=r"different judges.*mmrag judge run"):
        compared(runs / "good", other)


def test_one_run_is_no_comparison(runs: Path) -> None:
    with pytest.raises(SpecError, match="at least one other run"):
        compared(runs / "good")


def test_markdown_holds_hostile_names(runs: Path) -> None:
    found = compared(
        runs / "good", runs / "bad", options=ReportOptions(resamples=50, title="<b>|`x`\n# y")
    )
    text = comparison_markdown(found)
    assert text.startswith("### \\<b\\>\\|\\`x\\` \\# y\n")
    rows = [line for line in text.splitlines() if line.startswith("| truthfulness")]
    assert all(line.count("|") == 8 for line in rows)


def test_the_command_line(runs: Path, tmp_path: Path) -> None:
    good, bad, out = str(runs / "good"), str(runs / "bad"), tmp_path / "out"
    done = mmrag("compare", good, bad, "--out", str(out), "--resamples", "50")
    assert (out / "compare.md").read_text() in done.stdout
    assert json.loads((out / "compare.json").read_text())["gates"] == []
    assert "<h2>bad − good</h2>" in (out / "compare.html").read_text()
    fine = mmrag("compare", good, bad, "--resamples", "50", "--json")
    assert json.loads(fine.stdout)["kind"] == "comparison"


def test_a_share_is_won_back_only_of_what_is_surely_lost(runs: Path, tmp_path: Path) -> None:
    conditions = ("clean", "low-light@5", "rotated@3")

    def kinder(turn, session, condition: str) -> float:
        return by_severity(turn, session, condition) / 3

    for name, effect in (("plain", by_severity), ("kinder", kinder)):
        plant(tmp_path / name, sessions=60, run_seed=1, conditions=conditions, effect=effect)
    found = compared(tmp_path / "plain", tmp_path / "kinder")
    dark, turned = found["comparisons"][0]["won_back"]
    assert 0.3 < dark["share"]["estimate"] < 1
    assert dark["share"]["low"] < dark["share"]["estimate"] < dark["share"]["high"]
    assert 0 < turned["lost"] < turned["won"]  # of a loss that may be none a share would be 433 %
    assert turned["share"] == {"estimate": None, "low": None, "high": None}
    words = comparison_markdown(found)
    assert " points; there the other run differs from it by +" in words
    assert " % of the loss" not in words
    page = comparison_page(found)
    assert "won back" not in words + page  # nobody asked back in these
    assert "Share" not in page
    found["comparisons"][0]["asked_back"] = True
    words = comparison_markdown(found)
    assert words.count("won back (") == words.count(" % of the loss).") == 1
    assert "what is won back" in comparison_page(found)


def test_report_on_the_command_line(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = mmrag("report", str(runs / "good"), str(runs / "bad"), "--out", str(out), "--json")
    assert [run["name"] for run in json.loads(done.stdout)["runs"]] == ["good", "bad"]
    assert (out / "figures" / "1-survival.svg").exists()
    nowhere = mmrag("report", str(tmp_path / "nowhere"), code=1)
    assert "is not a run" in nowhere.stderr


def test_reference_history_tells_inherited_from_intrinsic(tmp_path: Path) -> None:
    """Turns that need the history fail with one's own and are right with the true one."""

    def own(turn, session, condition: str) -> float:
        return 0.9 if turn.needs_history else -0.35

    def true(turn, session, condition: str) -> float:
        return -0.35

    one = plant(
        tmp_path / "own", sessions=60, effect=own, after_stop="generate", failures=0, spread=0
    )
    two = plant(
        tmp_path / "true", sessions=60, effect=true, after_stop="generate", failures=0,
        reference_history=True,
    )  # fmt: skip
    from simulator.reports.draw.write import make_report

    report = make_report([one, two], tmp_path / "out", ReportOptions(resamples=20, failures=0))
    assert len(report["runs"]) == 1
    found = report["runs"][0]["history"]
    assert found["inherited"] + found["intrinsic"] == found["failed"]
    assert found["inherited_share"]["estimate"] > 0.8
    assert found["inherited_where_history_needed"] > 0.9 * found["inherited"]
