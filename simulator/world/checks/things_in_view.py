"""What a world's pictures leave to tell: rivals in view, and how it is settled what is meant."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from simulator.world.build.table_columns import SPLITS
from simulator.world.checks.verify import stream
from simulator.world.pictures.ground_truth import decode_owners
from simulator.world.pictures.referents import IN_VIEW, sight_of

LARGE = 0.04
"""Of the picture: the box of what is asked about, if it is to be seen well."""


def things_in_view(folder: Path) -> dict[str, float]:
    """Shares in per cent, of egocentric pictures and of turns that mean something in view.

    A rival is another thing of the kind that is asked about.
    """
    ego = rivalled = nearest = largest = large = 0
    ways: Counter[str] = Counter()
    columns = ["is_ego", "focus", "clean_focus", "owner_image", "scene", "extra"]
    for split in SPLITS:
        for row in stream(folder / f"{split}.parquet", columns):
            ways.update(way for way in row["extra"].get("settled_by") or () if way)
            if not row["is_ego"] or not row["owner_image"]:
                continue
            visible = msgspec.json.decode(row["scene"])["visible"]
            kinds = [str(name).rpartition("-")[0] for name in visible]
            owners = decode_owners(row["owner_image"]["bytes"])
            sight = sight_of(owners, len(visible))
            rivals = [
                n for n, kind in enumerate(kinds, 1)
                if n > 1 and kind == kinds[0] and sight.areas[n - 1] >= IN_VIEW
            ]  # fmt: skip
            ego += 1
            rivalled += bool(rivals)
            nearest += bool(rivals) and all(sight.off(1) < sight.off(n) for n in rivals)
            largest += bool(rivals) and all(sight.areas[0] > sight.areas[n - 1] for n in rivals)
            left, top, right, bottom = row["clean_focus"] or row["focus"] or (0, 0, 0, 0)
            large += (right - left) * (bottom - top) >= LARGE * owners.size
    found = {"egocentric with a rival in view": _percent(rivalled, ego)}
    found["of these, the thing meant is nearest the middle"] = _percent(nearest, rivalled)
    found["of these, the thing meant is the largest"] = _percent(largest, rivalled)
    found[f"egocentric, the thing's box at least {LARGE:g} of the picture"] = _percent(large, ego)
    turns = ways.total()
    return found | {
        f"turns settled by {way}": _percent(n, turns) for way, n in sorted(ways.items())
    }


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
