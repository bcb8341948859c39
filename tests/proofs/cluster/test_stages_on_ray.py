"""Stages of truth, asked by workers of a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cluster_parts import Workplace, aggregate, records


def test_workers_hand_every_stage_over_as_one_process_does(cluster: Any, tmp_path: Path) -> None:
    """The agent's answers rest on every word and picture that it was given."""
    place = Workplace(tmp_path)
    staged = {"stages": "all", "degrade": "clean,rotated@3", "split": "single-turn", "limit": 2}
    on_ray = ("--backend", "ray", "--address", cluster.address, "--workers", "2")
    for out, more in (("one", ()), ("many", on_ray)):
        place.run("run", *place.flags(out, **staged), *more)
    one, many = tmp_path / "one", tmp_path / "many"
    assert {turn["degradation"] for turn in records(one)} == {
        "clean", "rotated@3", "pointed", "rotated@3/pointed", "named", "paged", "told",
    }  # fmt: skip
    assert records(many) == records(one)
    assert len({turn["reply"] for turn in records(one)}) == 2 * 7
    assert aggregate(many) == aggregate(one)
