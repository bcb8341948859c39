"""`mmrag agent` and `mmrag ask` as a user types them."""

from __future__ import annotations

import json

import pytest
from called_command import mmrag
from PIL import Image

from mmrag.agents import agents
from mmrag.records import Evidence, Reply, Step
from simulator.cli.agents import print_reply


@pytest.fixture
def white(tmp_path):
    Image.new("RGB", (64, 64), "white").save(tmp_path / "a.png")
    return tmp_path / "a.png"


def test_every_agent_is_listed_with_a_line():
    found = json.loads(mmrag("agent", "list", "--json").stdout)
    assert {"grounded", "task3", "kit", "command", "http", "python", "random"} <= set(found)
    assert all(found.values())


def test_describe_shows_what_a_spec_switches_off():
    shown = json.loads(mmrag("agent", "describe", "grounded:ocr=off", "--json").stdout)
    assert shown["parts"]["ocr"]["chosen"] == "off"
    assert shown["parts"]["kg"]["chosen"] == "on"
    assert "grounded" in mmrag("agent", "describe", "grounde", code=2).stderr


def test_ask_answers_one_turn(white):
    result = mmrag("ask", white, "What's this?", "--search", "none", "--agent", "grounded:ocr=off",
                   "--explain")  # fmt: skip
    assert result.stdout.splitlines()[0] == "I don't know"
    for part in ("picture", "planner", "reader", "abstention"):
        assert part in result.stdout


def test_a_broken_picture_is_reported(tmp_path):
    (tmp_path / "a.png").write_bytes(b"no picture")
    assert "a.png" in mmrag("ask", tmp_path / "a.png", "What's this?", code=1).stderr


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("\u200b", "the question says nothing that can be read"),
        (" \u2060\ufeff", "the question says nothing that can be read"),
        ("what is \udcff", "character 9 of it is half of a pair"),
        ("\ud800", "the question says nothing"),
    ],
)
def test_a_question_that_is_none_is_the_questions_fault(white, question, told):
    error = mmrag("ask", white, question, code=2).stderr
    assert told in error
    assert "\n" not in error.rstrip("\n")


@pytest.mark.parametrize("when", ["yesterday", "", "2026-13-01", "10:00"])
def test_a_time_that_is_none_is_refused(white, when):
    told = mmrag("ask", white, "Which is older?", "--search", "none", "--agent", "random",
                 "--query-time", when, code=2)  # fmt: skip
    assert "ISO date or time" in told.stderr


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
def test_an_agent_gets_the_time_in_one_form(white, echo, given, told):
    shown = mmrag("ask", white, "when?", "--search", "none", "--agent", "echo",
                  "--query-time", given)  # fmt: skip
    assert shown.stdout.strip() == told


def test_an_agent_that_raises_is_told_in_a_line(white, echo):
    told = mmrag("ask", white, "fail", "--search", "none", "--agent", "echo", code=1).stderr
    assert told.endswith("error: agent echo: LookupError: nothing there\n")


def test_an_agent_that_cannot_be_made_is_told_in_a_line(tmp_path, monkeypatch, white):
    (tmp_path / "breaking.py").write_text("class Bad:\n    def __init__(self): {}['model']\n")
    monkeypatch.syspath_prepend(tmp_path)
    spec = "python:name=breaking/Bad"
    told = mmrag("ask", white, "what?", "--search", "none", "--agent", spec, code=1).stderr
    assert told.endswith(f"error: agent {spec} cannot be made: KeyError: 'model'\n")


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


@pytest.mark.parametrize("kind", ["light", "likeness"])
def test_the_word_of_the_wearer_sifts_likenesses(kind):
    from mmrag.agents.grounded.entities_in_view import prefer_kind, resolve

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


def test_calibrate_fits_on_runs_and_sets_bars_where_nothing_was_handed_over(tmp_path):
    import itertools

    from mmrag.agents.grounded.abstain import read_calibration
    from simulator import evaluate
    from simulator.datasets import open_data

    sessions = list(itertools.islice(iter(open_data("mini")), 6))
    runs = [tmp_path / "seen", tmp_path / "named"]
    for folder, stages in zip(runs, ("whole", "named"), strict=True):
        evaluate(Knowing(sessions), data="mini", limit=6, after_stop="generate", stages=stages,
                 degrade="clean,truncated@2", out=folder)  # fmt: skip
    out = tmp_path / "made.json"
    done = mmrag("agent", "calibrate", *runs, "--out", out)
    made = read_calibration(out)
    turns = sum(len(s.turns) for s in sessions)
    assert 4 * turns < made.samples <= 5 * turns  # whole twice in both runs, and named once
    assert made.made_on.count("world-") == 2
    assert made.made_on.endswith("(clean, named, truncated@2)")
    assert made.probability({"recognition": 1.0, "match": 1.0}) > made.bar(0)
    assert made.probability({"recognition": 1.0, "match": 0.1}) < made.bar(0)
    assert "0.0% wrong" in done.stdout


def test_calibrate_refuses_a_run_of_another_agent(tmp_path):
    from simulator import evaluate

    for name, stop in (("stopped", "skip"), ("silent", "generate")):
        evaluate("random", data="mini", limit=4, after_stop=stop, out=tmp_path / name)
        told = mmrag("agent", "calibrate", tmp_path / name, "--out", tmp_path / "c.json", code=1)
        assert "--agent grounded:abstain=off" in told.stderr
