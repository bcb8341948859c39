"""Physical twins as tables: the same sessions, another picture, and how much has happened to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from mmrag.errors import ConflictError, SpecError
from mmrag.files.shards import Shard
from simulator.datasets import open_data
from simulator.world.build.twin_tables import Conditions, build_twins
from simulator.world.sessions import World, captured


@pytest.fixture(scope="module")
def asked(picture_world: Path) -> Conditions:
    return Conditions(picture_world, "multi-turn", ("low-light", "rotated"), (3,), 4)


@pytest.fixture(scope="module")
def tables(asked: Conditions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("twins") / "t"
    build_twins(asked, out)
    return out


def test_each_condition_has_the_same_sessions_and_its_own_pictures(
    asked: Conditions, tables: Path
) -> None:
    ego = [s for s in list(World(asked.world, pictures="clean"))[:4] if captured(s).is_ego]
    assert [p.name for p in sorted(tables.iterdir())] == [
        "clean.parquet", "low-light@3.parquet", "rotated@3.parquet",
    ]  # fmt: skip
    for name, quality in (
        ("clean", "normal"),
        ("low-light@3", "low-light"),
        ("rotated@3", "rotated"),
    ):
        source = open_data(f"twins:{tables / name}.parquet")
        sessions = list(source)
        assert len(source) == len(sessions) == len(ego) > 0
        for session, original in zip(sessions, ego, strict=True):
            assert session.id == original.id
            capture = captured(session)
            gazes = [turn.gaze for turn in original.turns]
            if name == "rotated@3":  # the wearer looks at the same thing, which lies elsewhere
                gazes = [turn.gaze for turn in session.turns]
                left, top, right, bottom = capture.focus or (0, 0, 0, 0)
                width, height = capture.image.pil().size
                assert all(left <= x * width <= right for x, _ in gazes)
                assert all(top <= y * height <= bottom for _, y in gazes)
            assert session.turns == tuple(
                replace(turn, gaze=gaze) for turn, gaze in zip(original.turns, gazes, strict=True)
            )
            assert capture.quality == quality
            assert capture.degradation == name
            same = capture.image.data == captured(original).image.data
            assert same == (name == "clean")
            if name != "clean":
                assert capture.degraded["physical"] is True
                assert capture.degraded["target"] in (0.66, 27.0)


def test_shards_make_the_bytes_of_one_machine(
    asked: Conditions, tables: Path, tmp_path: Path
) -> None:
    for number in (2, 1):
        assert build_twins(asked, tmp_path / "t", shard=Shard(number, 2)) == []
    for path in build_twins(asked, tmp_path / "t"):
        assert path.read_bytes() == (tables / path.name).read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["t"]


def test_what_cannot_be_is_refused(asked: Conditions, tables: Path, tmp_path: Path) -> None:
    for changed, words in (
        ({"kinds": ("fog",)}, "no physical twin 'fog'"),
        ({"severities": (6,)}, "severity of 6"),
        ({"split": "all"}, "no split 'all'"),
    ):
        with pytest.raises(SpecError, match=words):
            build_twins(asked._replace(**changed), tmp_path / "t")
    with pytest.raises(ConflictError, match="not empty"):
        build_twins(asked, tables)
    with pytest.raises(SpecError, match="no such file"):
        open_data(f"twins:{tmp_path / 'none.parquet'}")
    assert list(tmp_path.iterdir()) == []
