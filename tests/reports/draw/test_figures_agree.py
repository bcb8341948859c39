"""Every figure in the page is the one in report.json, which follows from the Parquet by pandas."""

from __future__ import annotations

import csv
import json
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mmrag.errors import StoreError
from simulator.reports.draw.page import format_figure, look_up


class Figures(HTMLParser):
    """Collects <data data-path> with its text, and marks of charts with their values."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[tuple[str, str, str, str]] = []
        self.marks: list[tuple[str, str]] = []
        self._open: tuple[str, str, str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "data":
            self._open = (values["data-path"], values["data-kind"], values["value"])
        elif "data-path" in values:
            self.marks.append((values["data-path"], values["data-value"]))

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.shown.append((*self._open, data))
            self._open = None


def test_page_equals_json(sweep_report: Path) -> None:
    report = json.loads((sweep_report / "report.json").read_text())
    found = Figures()
    found.feed((sweep_report / "report.html").read_text())
    assert len(found.shown) > 1000
    assert len(found.marks) > 70
    for path, kind, value, words in found.shown:
        assert float(value) == look_up(report, path), path
        assert words == format_figure(look_up(report, path), kind), path
    for path, value in found.marks:
        assert float(value) == look_up(report, path), path


def test_every_number_of_the_page_is_tied_to_the_report(sweep_report: Path) -> None:
    """A table's cell holds no percentage that does not come with its path (or is published)."""
    text = (sweep_report / "report.html").read_text()
    for row in text.split("<tr")[1:]:
        if 'class="published"' in row.split(">")[0] or "<thead>" in row:
            continue
        for cell in row.split("</tr>")[0].split("<td")[1:]:
            body = cell.partition(">")[2]
            bare = body.replace("<data", "\x00<data").split("\x00")[0]
            assert " %" not in bare.partition("<")[0], cell[:200]


def recompute(turns: pd.DataFrame, condition: str) -> dict[str, Any]:
    """The figures of one condition, from the exported columns alone."""
    rows = turns[turns.condition == condition]
    answered = rows[rows.scored]
    lived = rows[~rows.kept | rows.scored].copy()
    lived.loc[~lived.kept, "score"] = 0
    per_session = lived.groupby("session_id", observed=True).score.mean()
    ends = rows.groupby("session_id", observed=True).kept.agg(["sum", "size"])
    found = {"coverage": rows.scored.sum() / rows.asked.sum()}
    for view, table in (("as_answered", answered), ("as_experienced", lived)):
        found[f"strict.{view}.accuracy.estimate"] = (table.score > 0).mean()
        found[f"strict.{view}.missing.estimate"] = (table.score == 0).mean()
        found[f"strict.{view}.hallucination_rate.estimate"] = (table.score < 0).mean()
        found[f"strict.{view}.truthfulness_score.estimate"] = table.score.mean()
    found["crag-mm.truthfulness_score"] = answered.score.mean()
    found["kddcup25.truthfulness_score"] = lived.score.mean()
    found["strict.multi_turn_score.estimate"] = per_session.mean()
    found["strict.early_stop_rate.estimate"] = (ends["sum"] < ends["size"]).mean()
    good = rows[rows.kept & rows.scored & (rows.score > 0)]
    found["strict.successful_turns.estimate"] = len(good) / rows.session_id.nunique()
    return found


def test_json_equals_pandas(sweep_report: Path) -> None:
    report = json.loads((sweep_report / "report.json").read_text())
    turns = pd.read_parquet(sweep_report / "turns.parquet")
    run = report["runs"][0]
    for entry in run["conditions"]:
        for path, value in recompute(turns, entry["name"]).items():
            assert look_up(entry, path) == pytest.approx(value, abs=1e-12), path
    clean = turns[turns.condition == "clean"]
    keys = ["session_id", "turn"]
    for point in run["robustness"]["points"]:
        pair = clean.merge(turns[turns.condition == point["condition"]], on=keys)
        both = pair[(~pair.kept_x | pair.scored_x) & (~pair.kept_y | pair.scored_y)]
        change = (both.score_y * both.kept_y - both.score_x * both.kept_x).mean()
        assert point["change"]["estimate"] == pytest.approx(change, abs=1e-12)
    for group in run["retrieval"]["main"]["groups"]:
        kg = clean.entity_found.fillna(False).astype(bool)
        web = clean.passage_found.fillna(False).astype(bool)
        known = clean.scored & (clean.entity_found.notna() | clean.passage_found.notna())
        hit = {"both": kg & web, "image KG only": kg & ~web, "web only": web & ~kg}
        rows = clean[known & hit.get(group["found"], ~kg & ~web)]
        assert group["n"] == len(rows)
        if len(rows):
            assert group["correct"] == pytest.approx((rows.score > 0).mean())
    for entry in run["stages"]:
        rows = turns[(turns.condition == entry["condition"]) & turns.scored]
        for stage, count in entry["counts"].items():
            assert count == (rows.stage == stage).sum()
    seconds = turns[turns.asked].seconds
    assert run["costs"]["latency"]["p95"] == pytest.approx(seconds.quantile(0.95))
    first = turns[turns.asked].first_word
    assert run["costs"]["latency"]["first"]["p99"] == pytest.approx(first.quantile(0.99))
    assert run["costs"]["cost"] == pytest.approx(turns[turns.asked].cost.sum())


def test_slices_equal_pandas(sweep_report: Path) -> None:
    report = json.loads((sweep_report / "report.json").read_text())
    turns = pd.read_parquet(sweep_report / "turns.parquet")
    slices = pd.read_parquet(sweep_report / "slices.parquet")
    for entry in report["runs"][0]["slices"]["main"]:
        row = slices[
            (slices.condition == "clean")
            & (slices.dimension == entry["dimension"])
            & (slices["slice"] == entry["slice"])
        ]
        assert len(row) == 1
        estimate = entry["truthfulness"]["estimate"]
        assert row.truthfulness.iloc[0] == estimate or (estimate is None and row.n.iloc[0] == 0)
        assert row.n.iloc[0] == entry["truthfulness"]["n"]
        if entry["dimension"] in ("domain", "query_type", "popularity", "dynamism", "quality"):
            name = entry["dimension"]
            mine = turns[(turns.condition == "clean") & (turns[name] == entry["slice"])]
            mine = mine[~mine.kept | mine.scored]
            score = mine.score * mine.kept  # as the headline counts
            assert entry["truthfulness"]["n"] == len(mine)
            assert estimate == pytest.approx(score.mean())
            assert entry["accuracy"] == pytest.approx((score > 0).mean())


def test_csv_equals_parquet(sweep_report: Path) -> None:
    slices = pd.read_parquet(sweep_report / "slices.parquet")
    with (sweep_report / "slices.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(slices)
    for row, (_, known) in zip(rows, slices.iterrows(), strict=True):
        assert row["slice"] == known["slice"]
        if row["truthfulness"]:
            assert float(row["truthfulness"]) == known["truthfulness"]
        else:
            assert math.isnan(known["truthfulness"])


def test_no_cell_of_a_table_is_a_formula_and_numbers_stay_numbers(tmp_path: Path) -> None:
    from simulator.reports.draw.table_files import SLICE_COLUMNS, write_slices

    given = ["=1+1", "+x", "-x", "@x", "\t=1", "-1.5", "plain", "'quoted"]
    blank = dict.fromkeys(SLICE_COLUMNS)
    write_slices([{**blank, "slice": name, "truthfulness": -1.5} for name in given], tmp_path)
    with (tmp_path / "slices.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["slice"] for row in rows] == [
        "'=1+1", "'+x", "'-x", "'@x", "'\t=1", "-1.5", "plain", "'quoted",
    ]  # fmt: skip
    assert {float(row["truthfulness"]) for row in rows} == {-1.5}
    assert list(pd.read_parquet(tmp_path / "slices.parquet")["slice"]) == given


def test_a_report_that_fails_leaves_no_folder(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulator.reports.draw import write

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write, "_write_json", full)
    with pytest.raises(StoreError, match="No space left"):
        write.make_report([sweep], tmp_path / "new", write.ReportOptions(resamples=0))
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "mine.txt").write_text("kept")
    with pytest.raises(StoreError, match="No space left"):
        write.make_report([sweep], tmp_path / "old", write.ReportOptions(resamples=0))
    assert (tmp_path / "old" / "mine.txt").exists()


def test_the_same_run_gives_the_same_report(
    sweep: Path, sweep_report: Path, tmp_path: Path
) -> None:
    from simulator.reports.draw.write import make_report
    from simulator.reports.figures.report import ReportOptions

    make_report([sweep], tmp_path, ReportOptions(resamples=200, failures=6))
    assert {path.name for path in tmp_path.iterdir()} == {
        "report.html", "report.json", "turns.parquet", "slices.parquet", "slices.csv", "figures",
    }  # fmt: skip
    for name in ("report.html", "report.json", "slices.csv"):
        assert (tmp_path / name).read_bytes() == (sweep_report / name).read_bytes(), name


def test_every_figure_is_a_whole_svg_and_nothing_else(sweep_report: Path) -> None:
    from xml.etree import ElementTree

    names = {path.stem for path in (sweep_report / "figures").iterdir()}
    assert {"severity-low-light", "stages-rotated", "survival", "slices"} <= names
    assert {path.suffix for path in (sweep_report / "figures").iterdir()} == {".svg"}
    for name in names:
        root = ElementTree.parse(sweep_report / "figures" / f"{name}.svg").getroot()
        assert len(list(root.iter())) > 8
