"""The curves of a report and of the app's Robustness page."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from called_command import mmrag
from planted_runs import plant

from simulator.reports.draw.charts import severity_curves
from simulator.reports.draw.page import replay_link
from simulator.reports.draw.svg import svg

CLEAN = {"estimate": 0.5, "low": 0.4, "high": 0.6, "n": 9}


def point(kind: str, change: float, p: float = 1.0) -> dict[str, Any]:
    estimate = 0.5 + change
    found = {"estimate": estimate, "low": estimate - 0.1, "high": estimate + 0.1, "n": 9}
    return {"kind": kind, "severity": 3, "condition": f"{kind}@3", "truthfulness": found,
            "change": {"estimate": change, "p_holm": p}}  # fmt: skip


def drawn(*points: dict[str, Any], chosen: bool = False) -> list[str]:
    found = severity_curves({"clean": CLEAN, "points": points}, "points")
    return [svg(chart, chosen=chosen) for chart in found]


def test_curves_side_by_side_have_one_scale() -> None:
    axes = [re.findall(r">([+−]\d+)</text>", one)
            for one in drawn(point("blurred", -0.9), point("rotated", -0.05))]  # fmt: skip
    assert axes[0] == axes[1]
    assert axes[0] != re.findall(r">([+−]\d+)</text>", *drawn(point("rotated", -0.05)))


@pytest.mark.parametrize(
    ("change", "p", "classes"),
    [
        (-0.2, 0.01, "f-bad"),
        (0.2, 0.01, "f-good"),
        (-0.2, 0.5, "f-surface s-bad"),  # hollow: this could be chance
        (0.0, 1.0, "f-surface s-series-1"),
    ],
)
def test_points_have_the_colours_of_the_map(change: float, p: float, classes: str) -> None:
    (curve,) = drawn(point("blurred", change, p))
    assert re.findall('<circle[^>]*class="([^"]*)"', curve) == [classes]


def test_a_line_over_what_was_not_measured_is_dashed() -> None:
    (curve,) = drawn({**point("blurred", -0.2), "severity": 1}, point("blurred", -0.4))
    lines = re.findall('<polyline[^>]*s-series-1"[^>]*>', curve)
    assert ["dasharray" in line for line in lines] == [False, True]
    assert len(re.findall("<polygon", curve)) == 1  # nor has it a band there


def test_points_are_buttons_where_somebody_answers() -> None:
    (asked,) = drawn(point("blurred", -0.2, 0.01), chosen=True)
    assert 'data-condition="blurred@3"' in asked
    assert 'role="button"' in asked
    assert 'role="group"' in asked
    (still,) = drawn(point("blurred", -0.2, 0.01))
    assert "button" not in still


# -- replay links

HOSTILE = {"session": '"><script>/#&?', "degradation": "fog:thick@3+blur@1", "turn": 3}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("planted") / "run", sessions=20)


def links(page: Path) -> list[str]:
    text = page.read_text().partition('id="failures0"')[2].partition("</section>")[0]
    return [html.unescape(found) for found in re.findall(r'<dd><a href="([^"]*)">', text)]


@pytest.mark.parametrize("replay", ["http://127.0.0.1:7860", "https://lab.example/app/"])
def test_to_the_app(run: Path, replay: str, tmp_path: Path) -> None:
    options = [] if "7860" in replay else ["--replay", replay]
    mmrag(
        "report", str(run), "--out", str(tmp_path), "--resamples", "0", "--failures", "3", *options
    )
    found = links(tmp_path / "report.html")
    assert len(found) == 3
    for link in found:
        assert link.startswith(f"{replay.rstrip('/')}/?")
        asked = parse_qs(urlsplit(link).query)
        assert asked["run"] == ["run"]
        assert int(asked["turn"][0]) >= 1
        assert asked["session"][0] in (tmp_path / "report.json").read_text()


def test_to_a_bundle(run: Path, tmp_path: Path) -> None:
    mmrag(
        "report", str(run), "--out", str(tmp_path), "--resamples", "0", "--failures", "3",
        "--replay", "../index.html",
    )  # fmt: skip
    assert all(link.startswith("../index.html#") for link in links(tmp_path / "report.html"))
    assert "while <code>mmrag ui</code>" not in (tmp_path / "report.html").read_text()


def test_no_name_leaves_its_place() -> None:
    bundled = replay_link("index.html", "r", HOSTILE)
    assert [unquote(part) for part in bundled.partition("#")[2].split("/")] == [
        HOSTILE["session"], HOSTILE["degradation"], "3",
    ]  # fmt: skip
    asked = parse_qs(urlsplit(replay_link("http://h:1", "a&b", HOSTILE)).query)
    assert asked["session"] == [HOSTILE["session"]]
    assert (asked["condition"], asked["run"]) == ([HOSTILE["degradation"]], ["a&b"])
