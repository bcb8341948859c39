"""Agents with a planted weakness each, and an audit that finds it and blames nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag

from simulator import evaluate
from simulator.experiments.audit import audit
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.store.run_store import RunReader

AGENTS = '''
import asyncio, itertools

class Same:
    """Says the same whenever it is asked the same, its own history included."""
    async def answer(self, query):
        return f"{query.session_id} {query.turn_index} {[e.reply for e in query.history]}"

class Moody(Same):
    """Says that it does not know two times in five."""
    count = itertools.count()
    async def answer(self, query):
        return "I don't know." if next(self.count) % 5 < 2 else await super().answer(query)

class Crowded(Same):
    """Gives up when others are asked at the same time."""
    now = 0
    async def answer(self, query):
        Crowded.now += 1
        await asyncio.sleep(0.002)
        crowd, Crowded.now = Crowded.now, Crowded.now - 1
        return "I don't know." if crowd > 1 else await super().answer(query)
'''


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "weak_agents.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def held(name: str) -> Path:
        return evaluate(
            f"python:name=weak_agents/{name}", limit=8, judge="exact", search="none",
            stop="never", out=name, concurrency=1, progress=False,
        ).folder  # fmt: skip

    return held


def flips(found: dict[str, Any]) -> dict[str, float]:
    return {cause["cause"]: cause["flips"]["estimate"] for cause in found["causes"]}


def test_who_says_the_same_again_flips_for_no_cause(run: Any) -> None:
    found = audit(run("Same"), turns=12, repeats=2, progress=False)
    assert flips(found) == {
        "asked again": 0.0, "another order": 0.0, "16 at once": 0.0, "batches of 8": 0.0,
        "judged again": 0.0,
    }  # fmt: skip
    assert found["turns"] == 12
    assert found["judge_variance"] == 0.0
    for cause in found["causes"][:4]:
        assert cause["words"]["estimate"] == 0.0  # the history that it had was the same, too


def test_chance_is_not_put_down_to_concurrency(run: Any) -> None:
    found = audit(run("Moody"), turns=12, repeats=3, progress=False, concurrency=(1, 4), batch=(1,))
    rates = flips(found)
    assert rates["asked again"] > 0.2
    assert rates["judged again"] == 0.0
    beyond = {cause["cause"]: cause["beyond"] for cause in found["causes"]}
    assert beyond["asked again"] is None
    assert beyond["4 at once"]["low"] <= 0.1
    assert "batches of 8" not in rates


def test_what_company_does_is_found_and_told_in_the_report(run: Any, tmp_path: Path) -> None:
    folder = run("Crowded")
    with RunReader(folder) as reader:
        before = list(reader.results())
    shown = mmrag(
        "audit", str(folder), "--turns", "12", "--repeats", "2", "--concurrency", "1,6",
        "--batch", "1,4", "--json",
    )  # fmt: skip
    rates = flips(json.loads(shown.stdout))
    assert rates["asked again"] == 0.0
    assert rates["6 at once"] > 0.6  # whoever is last has no company
    assert rates["batches of 4"] > 0.6
    with RunReader(folder) as reader:
        assert flips(reader.meta("audit")) == rates
        assert list(reader.results()) == before  # the run itself is as it was
    make_report([folder], tmp_path / "report", ReportOptions(resamples=0))
    page = (tmp_path / "report" / "report.html").read_text()
    assert "batches of 4" in page


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--concurrency", "x"), "--concurrency 'x': write whole numbers, as in 1,16"),
        (("--batch", "0,8"), "--batch '0,8': write whole numbers"),
        (("--repeats", "1"), "2"),
    ],
)
def test_what_cannot_be_audited(run: Any, flags: tuple[str, ...], said: str) -> None:
    done = mmrag("audit", str(run("Same")), *flags, code=2)
    assert said in " ".join(done.stderr.split())
