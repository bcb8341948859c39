"""Machines that share a command, each its own shard, make what one machine makes."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag
from measuring_parts import rows_of, write_run
from small_index import source_folder
from small_runs import ByNumber, make_session, run_all

from mmrag.errors import ConflictError, SpecError
from mmrag.files.atomic import owning
from mmrag.files.shards import Shard
from mmrag.search.index import build as building
from simulator.store.run_shard import RunShard
from simulator.store.run_store import RunStore
from simulator.store.tally import Ledger

__all__ = ["source_folder"]

COUNT = 3


def every_shard(*command: str) -> None:
    """Side by side, as the machines of an array job call them; not all of them at once."""
    for number in range(1, COUNT + 1):
        said = mmrag(*command, "--shard", f"{number}/{COUNT}").stderr
        assert "call the same command without --shard" in said


def files_of(folder: Path, *but: str) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(path.match(name) for name in but)
    }


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("one", "many"):
        write_run(tmp_path / name, sessions=9)
    return tmp_path / "one", tmp_path / "many"


def test_what_belongs_to_a_shard_belongs_to_no_other() -> None:
    shards = [Shard.read(f"{n}/4") for n in range(1, 5)]
    assert sorted(p for s in shards for p in range(30) if s.has(p)) == [*range(30)]
    for count in (0, 1, 3, 4, 30):
        assert [p for s in shards for p in s.run_of(count)] == [*range(count)]


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/0", "-1/4", "a/b", "1/2/3", "1/99999"])
def test_no_shard(text: str) -> None:
    with pytest.raises(SpecError, match="write i/n"):
        Shard.read(text)


def test_measuring(runs: tuple[Path, Path]) -> None:
    one, many = runs
    flags = ("--judge", "labels", "--measures", "raf,attribution_precision")
    alone = mmrag("measure", str(one), *flags, "--json").stdout
    every_shard("measure", str(many), *flags)
    assert len(list((many / "shards").iterdir())) == COUNT
    joined = mmrag("measure", str(many), *flags, "--json").stdout
    assert rows_of(many) == rows_of(one)
    assert '"rows": 0' in joined  # nothing was left to measure
    assert joined.partition('"cost"')[2] == alone.partition('"cost"')[2]


def test_judging_again(runs: tuple[Path, Path]) -> None:
    one, many = runs
    alone = mmrag("judge", "run", str(one), "--judge", "exact", "--json")
    every_shard("judge", "run", str(many), "--judge", "exact")
    joined = mmrag("judge", "run", str(many), "--judge", "exact", "--json")
    assert rows_of(many) == rows_of(one)
    assert "0 replies judged" in joined.stderr
    assert joined.stdout == alone.stdout


def test_a_shard_that_nobody_did_is_done_in_the_end(runs: tuple[Path, Path]) -> None:
    one, many = runs
    mmrag("judge", "run", str(one), "--judge", "exact")
    mmrag("judge", "run", str(many), "--judge", "exact", "--shard", "2/3")
    mmrag(
        "judge", "run", str(many), "--judge", "exact", "--shard", "2/3"
    )  # goes on: nothing is left
    mmrag("judge", "run", str(many), "--judge", "exact")
    assert rows_of(many) == rows_of(one)


def test_the_judge_that_the_run_has_judges_again_in_shards(tmp_path: Path) -> None:
    """Statuses follow as soon as the shards are taken in, whoever does it."""

    class Silent:
        id = "exact/1"

        async def judge(self, item: object) -> None: ...

    folder = tmp_path / "run"
    run_all(folder, [make_session(n) for n in range(4)], ByNumber(), judge=Silent())
    every_shard("judge", "run", str(folder), "--judge", "exact")
    with RunStore(folder) as store:
        assert "judge_error" not in store.turn_counts()


def test_nobody_shares_a_run_that_is_written_and_nobody_writes_one_that_is_shared(
    runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, many = runs
    with RunStore(one), pytest.raises(ConflictError, match="another process is writing this run"):
        RunShard(one, Shard(1, 2), "measure")
    monkeypatch.setattr("simulator.store.shard_files.PATIENCE", 0.0)
    with (
        RunShard(many, Shard(1, 2), "measure"),
        pytest.raises(ConflictError, match="one with --shard, are still at work"),
    ):
        RunStore(many)
    RunStore(many).close()


def test_degrading(tmp_path: Path, source_folder: Path) -> None:
    """The broken picture is told of by its shard, and once more in the end."""
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for path in source_folder.glob("*.png"):
        (pictures / path.name).write_bytes(path.read_bytes())
    (pictures / "broken.png").unlink()
    flags = ("--spec", "mix", "--seed", "3")
    mmrag("lab", "degrade", str(pictures), str(tmp_path / "one"), *flags)
    every_shard("lab", "degrade", str(pictures), str(tmp_path / "many"), *flags)
    assert not (tmp_path / "many" / "degradations.jsonl").exists()
    said = mmrag("lab", "degrade", str(pictures), str(tmp_path / "many"), *flags).stdout
    assert said.startswith("0 degraded, 6 done before")
    assert files_of(tmp_path / "many") == files_of(tmp_path / "one")


def test_building_an_index(
    tmp_path: Path, source_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "PICTURES_PER_PART", 2)
    monkeypatch.setattr(building, "PAGES_PER_PART", 2)
    build = ("index", "build", str(source_folder))
    flags = ("--image-encoder", "test-colours", "--text-encoder", "test-words")
    mmrag(*build, "--out", str(tmp_path / "one"), *flags)
    every_shard(*build, "--out", str(tmp_path / "many"), *flags)
    assert not (tmp_path / "many" / "web" / "manifest.json").exists()

    def nothing_left(*_: object) -> None:
        raise AssertionError("this part was made by a shard")

    monkeypatch.setattr(building, "write_part", nothing_left)
    mmrag(*build, "--out", str(tmp_path / "many"), *flags)
    but = ("chroma/**", "chroma.sqlite3", ".lock", "*.bin", "*.pickle")
    assert files_of(tmp_path / "many", *but) == files_of(tmp_path / "one", *but)
    every_shard(*build, "--out", str(tmp_path / "many"), *flags)  # too late: nothing to do


def test_an_index_is_not_joined_while_a_shard_is_built(tmp_path: Path) -> None:
    with (
        owning(tmp_path / "ix", shared=True),
        owning(tmp_path / "ix", shared=True),
        pytest.raises(ConflictError, match="is building here"),
        owning(tmp_path / "ix"),
    ):
        pass
    with (
        owning(tmp_path / "ix"),
        pytest.raises(ConflictError, match="is building here"),
        owning(tmp_path / "ix", shared=True),
    ):
        pass


def test_a_full_disk_under_a_shard(
    runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Ledger.commit

    @contextlib.contextmanager
    def full(self: Ledger, **how: Any) -> Iterator[None]:
        with commit(self, **how):
            yield
            raise sqlite3.OperationalError("database or disk is full")

    flags = ("judge", "run", str(runs[1]), "--judge", "exact")
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "commit", full)
        said = " ".join(mmrag(*flags, "--shard", "1/1", code=1).stderr.split())
    assert "disk is full" in said
    assert "then call the same command again" in said
    mmrag(*flags, "--shard", "1/1")
    mmrag(*flags)
    mmrag("judge", "run", str(runs[0]), "--judge", "exact")
    assert rows_of(runs[1]) == rows_of(runs[0])


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--shard", "1/2", "--backend", "ray"), "--backend ray hands out all of them"),
        (("--shard", "3/2"), "write i/n"),
        (("--address", "auto"), "add --backend ray"),
    ],
)
def test_flags_that_do_not_go_together(
    runs: tuple[Path, Path], flags: tuple[str, ...], said: str
) -> None:
    before = files_of(runs[0])
    assert said in " ".join(mmrag("judge", "run", str(runs[0]), *flags, code=2).stderr.split())
    assert files_of(runs[0]) == before


def test_a_file_of_answers_is_no_run_yet(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"question": "what?", "answer": "that"}\n')
    said = mmrag("measure", str(file), "--shard", "1/2", code=2).stderr
    assert "brings the file into" in said
