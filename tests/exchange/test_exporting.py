"""What holds for every door: one line where it cannot be, nothing over anything or by half."""

from __future__ import annotations

from pathlib import Path

import pytest
from called_command import mmrag
from exchange_parts import write_run

from mmrag.errors import ConflictError, SpecError, StoreError
from simulator.application.stored_run import load_run
from simulator.exchange import otel
from simulator.exchange.exports import DOORS, export_run
from simulator.exchange.inspect import write_log
from simulator.store.run_reader import RunReader

FILES = {"inspect": "log.eval", "otel": "spans.jsonl", "parquet": "a.parquet"}


@pytest.fixture
def run(tmp_path: Path) -> RunReader:
    return RunReader(write_run(tmp_path / "run"))


def test_the_name_decides_where_nothing_else_is_said(tmp_path: Path, run: RunReader) -> None:
    for name, first in (("a.eval", b"PK"), ("a.parquet", b"PAR1"), ("a.jsonl", b"{")):
        assert export_run(run, tmp_path / name) == 12
        assert (tmp_path / name).read_bytes().startswith(first)
    with pytest.raises(SpecError, match="inspect, mlflow, otel"):
        export_run(run, tmp_path / "a.txt")


@pytest.mark.parametrize("to", DOORS)
def test_nothing_is_written_over(to: str, tmp_path: Path, run: RunReader) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "mine").write_text("mine")
    with pytest.raises(ConflictError, match="exists already"):
        export_run(run, there, to)
    assert [path.name for path in there.iterdir()] == ["mine"]


@pytest.mark.parametrize("to", DOORS)
def test_a_place_that_cannot_be_written_is_one_line(
    to: str, tmp_path: Path, run: RunReader
) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be written"):
        export_run(run, tmp_path / "file" / "out", to)
    assert (tmp_path / "file").read_text() == "x"


def test_only_spans_go_to_an_address(run: RunReader) -> None:
    with pytest.raises(SpecError, match="only --to otel sends to an address"):
        export_run(run, "http://localhost:4318", "inspect")


@pytest.mark.parametrize(("to", "module"), [("inspect", write_log), ("otel", otel)])
def test_what_fails_half_way_leaves_nothing(
    to: str, module: object, tmp_path: Path, run: RunReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    talks = module.talks

    def failing(*arguments: object) -> object:
        yield next(talks(*arguments))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "talks", failing)
    with pytest.raises(StoreError, match="No space left"):
        export_run(run, tmp_path / "deep" / FILES[to], to)
    assert not list((tmp_path / "deep").iterdir())


@pytest.mark.parametrize("to", ["inspect", "otel"])
def test_the_same_run_gives_the_same_bytes(to: str, tmp_path: Path, run: RunReader) -> None:
    for name in "ab":
        export_run(run, tmp_path / f"{name}{FILES[to]}", to)
    one, other = (tmp_path / f"{name}{FILES[to]}" for name in "ab")
    assert one.read_bytes() == other.read_bytes()


def test_the_command_and_python_are_one(tmp_path: Path, run: RunReader) -> None:
    said = mmrag("export", str(run.folder), str(tmp_path / "a.eval")).stderr
    assert "12 turns written" in said
    assert load_run(run.folder).export(tmp_path / "b.eval") == 12
    assert (tmp_path / "a.eval").read_bytes() == (tmp_path / "b.eval").read_bytes()


def test_an_unfinished_run_and_answers_without_settings_leave_too(tmp_path: Path) -> None:
    open_run = write_run(tmp_path / "open", finished=False)
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"question": "Who?", "answer": "Nobody."}\n')
    mmrag("import", str(answers), "--out", str(tmp_path / "brought"))
    for folder, count in ((open_run, 12), (tmp_path / "brought", 1)):
        with RunReader(folder) as reader:
            assert export_run(reader, tmp_path / f"{folder.name}.eval") == count
            assert export_run(reader, tmp_path / f"{folder.name}.spans", "otel") == count
