"""How many wearers an assistant bears: arrivals and percentiles by hand, the answer by trial."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from called_command import mmrag

from simulator.experiments.load import LoadAnswer, arrivals, borne, stage_of

AGENT = """
import asyncio

class Counter:
    '''One clerk who takes 40 ms.'''
    capacity = 1
    async def answer(self, query):
        await asyncio.sleep(0.04)
        return "I don't know."

class Broken:
    async def answer(self, query):
        raise ValueError("out of order")
"""


def test_arrivals_are_drawn_from_the_seed_and_have_the_rate() -> None:
    first = arrivals(5.0, 200.0, seed=1)
    assert first == arrivals(5.0, 200.0, seed=1) != arrivals(5.0, 200.0, seed=2)
    assert len(first) == pytest.approx(1000, rel=0.1)
    assert first == sorted(first)
    assert 0.0 <= first[0] <= first[-1] < 200.0


def test_a_stage_is_counted_by_hand() -> None:
    """Ten arrivals in 2 s: eight answered after 0.1 to 0.8 s, one failed, one never answered."""
    answers = [LoadAnswer(seconds=0.1 * n, status="answered") for n in range(1, 9)]
    answers += [
        LoadAnswer(seconds=0.3, status="agent_error"),
        LoadAnswer(seconds=None, status="timeout"),
    ]
    stage = stage_of(5.0, 2.0, answers, limit=0.75)
    assert (stage.offered, stage.asked) == (5.0, 10)
    assert stage.answered == 8
    assert stage.failed == 1
    assert stage.unanswered == 1
    assert stage.in_time == pytest.approx(0.7)  # seven of ten within 0.75 s
    assert stage.throughput == pytest.approx(4.0)
    assert stage.p50 == pytest.approx(0.45)


def test_what_is_borne_is_the_highest_rate_before_the_first_that_is_not() -> None:
    def stage(rate: float, in_time: float):
        answers = [LoadAnswer(0.1, "answered")] * round(in_time * 100)
        answers += [LoadAnswer(9.0, "answered")] * (100 - len(answers))
        return stage_of(rate, 10.0, answers, limit=1.0)

    stages = [stage(1, 1.0), stage(2, 1.0), stage(4, 0.5), stage(8, 1.0)]
    assert borne(stages, share=0.99) == 2
    assert borne([stage(1, 0.5)], share=0.99) is None


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "clerks.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_clerk_of_25_a_second_bears_5_and_not_200(place: Path) -> None:
    shown = mmrag(
        "lab", "load", "python:name=clerks/Counter", "--rates", "5,200", "--for", "1.5",
        "--limit", "1", "--pause", "20", "--search", "none", "--json",
    )  # fmt: skip
    found = json.loads(shown.stdout)
    few, many = found["stages"]
    assert few["in_time"] == 1.0
    assert few["p50"] >= 0.04
    assert many["in_time"] < 0.9
    assert many["throughput"] <= 26
    assert many["p95"] is None or many["p95"] > few["p95"]
    assert found["bears"] == 5.0
    assert found["wearers"] == 100  # who ask every 20 s


def test_its_words_fit_a_screen_and_say_how_far_was_looked(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    flags = ("--for", "0.3", "--limit", "1", "--search", "none", "--pause", "20")
    shown = mmrag("lab", "load", "python:name=clerks/Counter", "--rates", "2,4", *flags).stdout
    assert "bears at least 4 questions a second: at least 80 wearers" in shown
    assert "Its limit was not reached" in shown
    assert "That rests on" in shown
    assert "ask for longer with --for" in shown
    table = shown.partition("python:")[0].splitlines()
    assert len(table) == 3  # nothing is broken over lines
    assert max(map(len, table)) <= 80
    assert not any("…" in line for line in table)
    reached = mmrag("lab", "load", "python:name=clerks/Counter", "--rates", "2,400", *flags).stdout
    assert "bears 2 questions a second: 40 wearers" in reached
    assert "It does not bear 400/s: " in reached


def test_an_agent_that_always_fails_bears_nobody(place: Path) -> None:
    shown = mmrag(
        "lab",
        "load",
        "python:name=clerks/Broken",
        "--rates",
        "20",
        "--for",
        "0.5",
        "--search",
        "none",
    )
    assert "bears none of these rates" in shown.stdout
    done = mmrag("lab", "load", "random", "--rates", "0,x", code=2)
    assert "--rates '0,x': write numbers above 0" in done.stderr
