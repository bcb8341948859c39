"""Every failure of a report leads to where it can be replayed."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from called_command import mmrag
from planted_runs import plant

from simulator.reports.draw.page import replay_link

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
    assert asked["condition"] == [HOSTILE["degradation"]]
    assert asked["run"] == ["a&b"]
