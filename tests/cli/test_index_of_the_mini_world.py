"""The mini world's vectors come with the project: to index it takes no encoder of text."""

from __future__ import annotations

from pathlib import Path

import pytest
from called_command import mmrag

from simulator.world.sessions import mini_folder


@pytest.mark.proof("time")
def test_the_mini_world_is_indexed_with_the_vectors_that_ship(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def encode(self, items) -> None:
        raise AssertionError(f"{len(items)} passages are encoded anew")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("mmrag.encoders.text.TextEncoder.encode", encode)
    done = mmrag("index", "build", str(mini_folder()), "--out", str(tmp_path / "index"))
    assert "web: 2,822 rows" in done.stdout
