"""YAML from outside ends in a value or one error of YAML, soon and in little memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from called_command import mmrag

from mmrag.errors import DataError
from mmrag.files.bounded_yaml import MOST, compose, parse, read
from simulator.run.run_config import load_config

ROOT = Path(__file__).parents[2]

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
"""Hundreds of bytes that stand for a thousand million texts."""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "alias"),
        ("ask: &a [*a, b, c]", "alias"),
        ("[" * 900 + "]" * 900, "nested"),
        ("a: " * 30_000, "mapping values|nested"),
        ("- " * 5_000 + "x", "nested"),
        ("x" * (MOST + 1), "larger"),
        ("2031-02-31", "not a YAML value"),
        ("9" * 5_000, "not a YAML value"),
        ("!!python/object/apply:os.system [ls]", "tag"),
        ("\x07", "unacceptable"),
        ("? {a: b}\n: c", "unhashable"),
    ],
)
def test_what_has_no_bounded_value_is_an_error_of_yaml(text: str, says: str) -> None:
    with pytest.raises(yaml.YAMLError, match=says):
        parse(text)


def test_a_file_of_long_letters_is_not_cut_unsaid(tmp_path: Path) -> None:
    """Bytes were read up to the bound and letters counted: the end was lost, and nothing said."""
    (tmp_path / "a.yaml").write_text("a: [" + "'é', " * (MOST // 6) + "'last']", "utf-8")
    with pytest.raises(yaml.YAMLError, match="larger"):
        read(tmp_path / "a.yaml")


def test_what_people_write_is_read_as_ever() -> None:
    text = "a: &unused 1\nb: [x, {c: 2.5}, null, true]\n<<: {d: 2031-02-03}\n"
    assert parse(text) == yaml.safe_load(text)
    assert parse("") is None
    assert compose("") is None


@pytest.mark.parametrize("text", ["1e12", "1.5e3", "-2E-3", ".5e1", "1.e+2", "1e400"])
def test_numbers_are_read_as_in_json(text: str) -> None:
    assert parse(f"a: {text}") == {"a": float(text)}
    assert parse(f"a: '{text}'\nb: {text}x") == {"a": text, "b": f"{text}x"}


def test_a_file_is_read_to_the_bound_and_no_further(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: " + b"x" * MOST)
    with pytest.raises(yaml.YAMLError, match="larger"):
        read(tmp_path / "a.yaml")
    with pytest.raises(yaml.YAMLError, match="larger"):
        read(Path("/dev/zero"))


def test_a_bomb_as_a_runs_settings_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(BOMB)
    with pytest.raises(DataError, match=r"not YAML .*alias"):
        load_config(tmp_path / "run.yaml")
    shown = mmrag("run", "--config", str(tmp_path / "run.yaml"), code=1)
    assert "alias" in shown.stderr


def test_nothing_else_reads_yaml() -> None:
    """Every other door would have to be bounded again."""
    pattern = re.compile(
        r"(?<!bounded_)yaml\.(?:\w*load\w*|parse|scan|compose\w*|\w*Loader)|omegaconf|ruamel",
        re.IGNORECASE,
    )
    doors = [
        str(path.relative_to(ROOT))
        for package in ("mmrag", "simulator", "ui", "scripts")
        for path in sorted((ROOT / package).rglob("*.py"))
        if pattern.search(path.read_text()) and path.name != "bounded_yaml.py"
    ]
    assert doors == []
