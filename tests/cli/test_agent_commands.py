"""`mmrag agent` and `mmrag ask` as a user types them."""

from __future__ import annotations

import json

import pytest
from PIL import Image
from typer.testing import CliRunner

from mmrag.agents import agents
from mmrag.errors import AgentError, ImageError, SpecError, UsageError
from mmrag.records import Evidence, Reply, Step
from simulator.cli import build
from simulator.cli.agents import print_reply
from simulator.run.trials import risk_coverage


def run(*arguments):
    return CliRunner().invoke(build(), list(arguments))


def test_every_agent_is_listed_with_a_line():
    found = json.loads(run("agent", "list", "--json").stdout)
    assert {"grounded", "task3", "kit", "command", "http", "python", "random"} <= set(found)
    assert all(found.values())


def test_describe_shows_what_a_spec_switches_off():
    shown = json.loads(run("agent", "describe", "grounded:ocr=off", "--json").stdout)
    assert shown["parts"]["ocr"]["chosen"] == "off"
    assert shown["parts"]["kg"]["chosen"] == "on"
    assert isinstance(run("agent", "describe", "grounde").exception, SpecError)


def test_ask_answers_one_turn(tmp_path):
    Image.new("RGB", (64, 64), "white").save(tmp_path / "a.png")
    result = run("ask", str(tmp_path / "a.png"), "What's this?", "--search", "none", "--agent", "grounded:ocr=off",
                 "--explain")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "I don't know"
    for part in ("picture", "planner", "reader", "abstention"):
        assert part in result.stdout


def test_a_broken_picture_is_reported(tmp_path):
    (tmp_path / "a.png").write_bytes(b"no picture")
    assert isinstance(run("ask", str(tmp_path / "a.png"), "What's this?").exception, ImageError)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("\u200b", "the question says nothing that can be read"),
        (" \u2060\ufeff", "the question says nothing that can be read"),
        ("what is \udcff", "sign 9 of it is half a character"),
        ("\ud800", "the question says nothing"),
    ],
)
def test_a_question_that_is_none_is_the_questions_fault(tmp_path, question, told):
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    error = run("ask", str(tmp_path / "a.png"), question).exception
    assert isinstance(error, UsageError)
    assert told in str(error)
    assert "\n" not in str(error)


def ask_at(picture, when):
    return run("ask", str(picture), "Which is older?", "--search", "none", "--agent", "random",
               "--query-time", when)  # fmt: skip


@pytest.mark.parametrize("when", ["yesterday", "", "2026-13-01", "10:00"])
def test_a_time_that_is_none_is_refused(tmp_path, when):
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    error = ask_at(tmp_path / "a.png", when).exception
    assert isinstance(error, UsageError)
    assert "ISO date or time" in str(error)


class Echo:
    """Says when it was asked."""

    def __init__(self, **_):
        self.capacity = 1

    async def answer(self, query):
        if query.text == "fail":
            raise LookupError("nothing there")
        return Reply(text=str(query.query_time))


@pytest.fixture
def echo(monkeypatch):
    monkeypatch.setitem(agents._targets, "echo", Echo)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("2026-03-01", "2026-03-01"),
        ("20260301", "2026-03-01"),
        ("2026-03-01 10:00", "2026-03-01T10:00:00"),
    ],
)
def test_an_agent_gets_the_time_in_one_form(tmp_path, echo, given, told):
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    shown = run("ask", str(tmp_path / "a.png"), "when?", "--search", "none", "--agent", "echo",
                "--query-time", given)  # fmt: skip
    assert shown.stdout.strip() == told


def test_an_agent_that_raises_is_told_in_a_line(tmp_path, echo):
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    done = run("ask", str(tmp_path / "a.png"), "fail", "--search", "none", "--agent", "echo")
    assert isinstance(done.exception, AgentError)
    assert str(done.exception) == "agent echo: LookupError: nothing there"


def test_an_agent_that_cannot_be_made_is_told_in_a_line(tmp_path, monkeypatch):
    (tmp_path / "breaking.py").write_text("class Bad:\n    def __init__(self): {}['model']\n")
    monkeypatch.syspath_prepend(tmp_path)
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    spec = "python:name=breaking/Bad"
    done = run("ask", str(tmp_path / "a.png"), "what?", "--search", "none", "--agent", spec)
    assert isinstance(done.exception, AgentError)
    assert str(done.exception) == f"agent {spec} cannot be made: KeyError: 'model'"


def test_the_trace_is_printed_with_times_and_without_control_characters(capsys):
    item = Evidence(source="web", id="1", score=0.5, title="A page", url="https://a.example")
    inner = Step(name="ocr", seconds=0.25, info={"lines": ["\x1b[31mred"]})
    print_reply(
        Reply(
            text="x",
            confidence=0.5,
            trace=(Step(name="picture", seconds=1.0, evidence=(item,), steps=(inner,)),),
        )
    )
    shown = capsys.readouterr().out
    assert "picture  1000 ms" in shown
    assert "ocr  250 ms" in shown
    assert "A page" in shown
    assert "\x1b" not in shown


def test_risk_and_coverage():
    from mmrag.agents.grounded.abstain import Calibration

    made = Calibration(bias=-5.0, weights={"x": 10.0})
    points = risk_coverage(made, [{"x": 0.0}, {"x": 1.0}], [False, True], 4)
    assert (points[0].coverage, points[0].risk) == (0.5, 0.5)
    assert (points[10].coverage, points[10].risk) == (0.25, 0.0)


@pytest.mark.parametrize("kind", ["light", "likeness"])
def test_the_word_of_the_wearer_sifts_likenesses(kind):
    from mmrag.agents.grounded.entities import prefer_kind, resolve

    hits = [
        Evidence(source="image-kg", id="1", score=0.9, text="Foo Bar Belfry", attributes={"type": "tower"}),
        Evidence(source="image-kg", id="2", score=0.8, text="Alder Brook Boil", attributes={"type": "kettle"}),
    ]  # fmt: skip
    scene = resolve([], hits, None, size=(8, 8))
    chosen = prefer_kind(scene, "kettle" if kind == "likeness" else "sofa")
    assert chosen.main is not None
    assert chosen.main.name == ("Alder Brook Boil" if kind == "likeness" else "Foo Bar Belfry")
    assert chosen.main.confidence <= 0.85


class Knowing:
    """Answers every second question rightly, and knows a feature that tells which."""

    def __init__(self, sessions):
        self.answers = {
            (s.id, n): t.reference.text for s in sessions for n, t in enumerate(s.turns)
        }

    async def answer(self, query):
        knows = query.turn_index % 2 == 0
        text = self.answers[query.session_id, query.turn_index] if knows else "forty-two giraffes"
        features = {"recognition": 1.0, "match": 1.0 if knows else 0.1}
        return Reply(text=text, trace=(Step(name="verifier", info={"features": features}),))


def test_calibrate_holds_every_session_under_each_condition(tmp_path, monkeypatch):
    import itertools

    from mmrag.agents.grounded.abstain import read_calibration
    from simulator.datasets import open_data

    sessions = list(itertools.islice(iter(open_data("mini")), 6))
    monkeypatch.setattr("simulator.parts.run_parts.make_agent", lambda *_, **__: Knowing(sessions))
    out = tmp_path / "made.json"
    done = run("agent", "calibrate", "--data", "mini", "--search", "none", "--limit", "6",
               "--degrade", "clean,truncated@2", "--out", str(out))  # fmt: skip
    assert done.exit_code == 0, done.output
    made = read_calibration(out)
    assert made.samples == 2 * sum(len(s.turns) for s in sessions)
    assert made.made_on.endswith("clean, truncated@2")
    assert made.probability({"recognition": 1.0, "match": 1.0}) > made.bar(0)
    assert made.probability({"recognition": 1.0, "match": 0.1}) < made.bar(0)
    assert "0.0% wrong" in done.output


def test_calibrate_refuses_a_condition_that_is_none(tmp_path):
    done = run("agent", "calibrate", "--data", "mini", "--search", "none", "--degrade", "foggy@2",
               "--out", str(tmp_path / "made.json"))  # fmt: skip
    assert isinstance(done.exception, SpecError)
