"""`mmrag score` on files, good and bad."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from called_command import mmrag

GOLDEN = json.loads((Path(__file__).parent.parent / "data/official_scores.json").read_text())


def write(path: Path, turns: list[tuple]) -> Path:
    lines = [
        {"session_id": s, "turn_index": i, "outcome": o, "exact_match": e, "is_ego": g}
        for s, i, o, e, g in turns
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("protocol", ["crag-mm", "kddcup25"])
def test_golden_file_through_the_command(tmp_path: Path, protocol: str) -> None:
    case = GOLDEN["cases"][1]
    file = write(tmp_path / "o.jsonl", case["turns"])
    shown = json.loads(mmrag("score", str(file), "--protocol", protocol, "--json").stdout)
    for view, figures in case["expected"][protocol].items():
        for name, value in figures.items():
            assert shown[view][name] == pytest.approx(value, abs=1e-12)


def test_strict_prints_the_headline_a_second_view_and_intervals(tmp_path: Path) -> None:
    file = write(tmp_path / "o.jsonl", GOLDEN["cases"][7]["turns"])
    shown = json.loads(mmrag("score", str(file), "--json").stdout)["all"]
    for name in ("as_answered", "early_stop_rate", "two_strike_rate",
                 "successful_turns", "coverage", "intervals"):  # fmt: skip
        assert name in shown
    assert "truthfulness" in mmrag("score", str(file)).stdout
    unlike = write(tmp_path / "unlike.jsonl", GOLDEN["cases"][1]["turns"])
    assert "As answered, over the" in mmrag("score", str(unlike)).stdout  # where it differs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no outcomes"),
        ("\n\n", "no outcomes"),
        ("not json\n", "line 1: not JSON"),
        ('{"session_id": "a"}\n', "line 1"),
        ('{"session_id": "a", "turn_index": 0, "outcome": "right"}\n', "unknown outcome 'right'"),
        ('{"session_id": "a", "turn_index": "0", "outcome": "correct"}\n', "line 1"),
        ('{"session_id": "a", "turn_index": -1, "outcome": "correct"}\n', "below 0"),
        (
            '{"session_id": "a", "turn_index": 0, "outcome": "correct"}\n' * 2,
            "line 2: turn 0 of session 'a' stands on line 1",
        ),
        (
            '{"session_id": "a", "turn_index": 0, "outcome": "correct"}\n'
            '{"session_id": "a", "turn_index": 2, "outcome": "correct"}\n',
            "line 2: session 'a' jumps from turn 0 to 2",
        ),
        ('{"session_id": "a", "turn_index": 3, "outcome": "correct"}\n', "begins with turn 3"),
        ("\xff\xfe", "not JSON"),
    ],
)
def test_bad_files_are_refused_in_one_paragraph(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "o.jsonl"
    file.write_bytes(text.encode("latin-1"))
    done = mmrag("score", str(file), "--json", code=1)
    assert done.stdout == ""
    assert words in done.stderr
    assert "o.jsonl" in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_is_asked_wrongly_exits_with_2(tmp_path: Path) -> None:
    file = write(tmp_path / "o.jsonl", [("a", 0, "correct", False, True)])
    assert "crag-mm" in mmrag("score", str(file), "--protocol", "trec", code=2).stderr
    assert "strikes(n)" in mmrag("score", str(file), "--stop", "two", code=2).stderr
    assert "no such run or file" in mmrag("score", str(tmp_path / "none"), code=1).stderr
    assert "is not a run" in mmrag("score", str(tmp_path), code=1).stderr
    for flag in ("--agent-errors", "--condition"):
        assert "are for runs" in mmrag("score", str(file), flag, "missing", code=2).stderr


def outcomes(path: Path, *ego: str) -> Path:
    """One session of correct turns; each has the given text where its `is_ego` would be."""
    lines = [
        f'{{"session_id": "a", "turn_index": {n}, "outcome": "correct"{text}}}\n'
        for n, text in enumerate(ego)
    ]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("at", [0, 1, 2])
def test_one_line_says_for_its_session_whether_it_is_egocentric(tmp_path: Path, at: int) -> None:
    said = [', "is_ego": true' if n == at else "" for n in range(3)]
    file = outcomes(tmp_path / "o.jsonl", *said)
    shown = json.loads(mmrag("score", str(file), "--json").stdout)
    assert shown["ego"]["as_answered"]["total"] == 3


def test_a_session_that_is_egocentric_and_is_not_is_refused(tmp_path: Path) -> None:
    file = outcomes(tmp_path / "o.jsonl", ', "is_ego": true', "", ', "is_ego": false')
    assert "line 3: is_ego" in mmrag("score", str(file), code=1).stderr
