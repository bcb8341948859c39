"""The world that ships with the project is whole, small enough, and proven."""

from __future__ import annotations

import pytest

from simulator.studio.camera.scene_to_picture import RENDERER
from simulator.world.build.table_parts import SPLITS
from simulator.world.build.world_manifest import damaged_files, fingerprint, read_manifest
from simulator.world.sessions import World, mini_folder

_VERSION = int(RENDERER.rpartition("-")[2])

pytestmark = pytest.mark.skipif(
    not (mini_folder() / "world.json").exists(), reason="assets/mini was left out of this checkout"
)


def test_every_byte_is_the_recorded_one() -> None:
    manifest = read_manifest(mini_folder())
    assert damaged_files(mini_folder(), manifest) == []
    assert fingerprint(manifest) == manifest["fingerprint"]
    there = {p.name for p in mini_folder().iterdir()} - {"world.json"}
    assert there == set(manifest["files"])


def test_it_names_the_renderer_that_took_its_pictures() -> None:
    """Which may be an earlier one than the present: pictures are taken anew with a new world."""
    assert read_manifest(mini_folder())["renderer"] in [
        f"traced-{n}" for n in range(4, _VERSION + 1)
    ]


def test_it_is_small_and_holds_enough() -> None:
    assert sum(p.stat().st_size for p in mini_folder().iterdir()) <= 40_000_000
    counts = read_manifest(mini_folder())["counts"]
    assert counts["conversations"] >= 60
    assert counts["single_turn_questions"] >= 150
    assert counts["kg_pictures"] >= 400
    assert counts["pages"] >= 1500


def test_it_shows_every_domain_type_and_quality() -> None:
    sessions = [s for split in SPLITS for s in World(mini_folder(), split=split)]
    turns = [t for s in sessions for t in s.turns]
    assert (len({t.domain for t in turns}), len({t.query_type for t in turns})) == (13, 6)
    assert (len({t.dynamism for t in turns}), len({s.capture.quality for s in sessions})) == (4, 6)
    assert {len(s.turns) for s in World(mini_folder())} == {2, 3, 4, 5, 6}


def test_its_pictures_decode() -> None:
    for session in list(World(mini_folder()))[::20]:
        assert session.capture.image.pil().size in ((720, 960), (512, 512))


def test_it_says_its_licence() -> None:
    card = (mini_folder() / "README.md").read_text()
    assert "license: apache-2.0\n" in card.split("---")[1]
    assert "Apache 2.0" in card.split("---")[2]
