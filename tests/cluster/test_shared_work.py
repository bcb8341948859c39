"""Machines that share a command, each its own shard, make what one machine makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from called_command import mmrag
from small_index import source_folder

from mmrag.errors import ConflictError, SpecError
from mmrag.files.atomic import lock_folder
from mmrag.files.shards import Shard
from mmrag.search.index import build as building

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


def test_what_belongs_to_a_shard_belongs_to_no_other() -> None:
    shards = [Shard.read(f"{n}/4") for n in range(1, 5)]
    assert sorted(p for s in shards for p in range(30) if s.has(p)) == [*range(30)]
    for count in (0, 1, 3, 4, 30):
        assert [p for s in shards for p in s.run_of(count)] == [*range(count)]


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/0", "-1/4", "a/b", "1/2/3", "1/99999"])
def test_no_shard(text: str) -> None:
    with pytest.raises(SpecError, match="write i/n"):
        Shard.read(text)


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
        lock_folder(tmp_path / "ix", shared=True),
        lock_folder(tmp_path / "ix", shared=True),
        pytest.raises(ConflictError, match="is building here"),
        lock_folder(tmp_path / "ix"),
    ):
        pass
    with (
        lock_folder(tmp_path / "ix"),
        pytest.raises(ConflictError, match="is building here"),
        lock_folder(tmp_path / "ix", shared=True),
    ):
        pass
