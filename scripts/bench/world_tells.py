"""Whether a world gives away what it asks about: naming a thing with a thumb on the scale.

    python scripts/bench/world_tells.py WORLD --index INDEX [--limit 200]

Things of the right kind are ranked by likeness to each egocentric picture, then again with a bonus
for the number of their KG pictures or of their web pages. Whoever gains by that need not look.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from mmrag.search.image.image_kg import entities_of
from mmrag.search.index.open import open_index
from simulator.world.sessions import read_world

Bonus = Callable[[int, int], float]
"""Of an entity's KG pictures and pages."""

THUMBS: dict[str, Bonus] = {
    "likeness alone": lambda pictures, pages: 0.0,
    "few KG pictures preferred": lambda pictures, pages: -0.02 * pictures,
    "few KG pictures, strongly": lambda pictures, pages: -0.1 * pictures,
    "many KG pictures preferred": lambda pictures, pages: 0.02 * pictures,
    "many web pages preferred": lambda pictures, pages: 0.02 * math.log1p(pages),
    "only those with five pages": lambda pictures, pages: 0.0 if pages >= 5 else -1.0,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("world", type=Path)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=200)
    arguments = parser.parse_args()
    world = arguments.world
    table = pq.read_table(world / "entities.parquet", columns=["entity_id", "kind", "name"])
    kinds = {row["name"]: row["kind"] for row in table.to_pylist()}
    ids = {row["name"]: row["entity_id"] for row in table.to_pylist()}
    pictures, pages = (
        Counter(pq.read_table(world / f"{name}.parquet", columns=["entity_id"])[0].to_pylist())
        for name in ("kg", "pages")
    )
    names = {entity_id: name for name, entity_id in ids.items()}
    kg = open_index(arguments.index).images
    assert kg is not None
    ranks: dict[str, list[int]] = {name: [] for name in THUMBS}
    asked: set[str] = set()
    for split in ("multi-turn", "single-turn"):
        for session in read_world(world, split, pictures="clean"):
            subject = str(session.extra["subject"])
            asked.add(subject)
            wanted = names[subject]
            if not session.capture.is_ego or not pictures[subject]:
                continue
            if len(ranks["likeness alone"]) >= arguments.limit:
                continue
            (hits,) = kg.search_regions([session.capture.image], 300)
            alike = [e for e in entities_of(hits) if kinds.get(e.name) == kinds[wanted]]
            for thumb, bonus in THUMBS.items():
                scores = {e.name: e.score + bonus(pictures[ids[e.name]], pages[ids[e.name]])
                          for e in alike}  # fmt: skip
                own = scores.get(wanted, -math.inf)
                ranks[thumb].append(sum(score > own for score in scores.values()))
    visible = [i for name, i in ids.items() if pictures[i]]
    print(json.dumps({
        "pictures": len(ranks["likeness alone"]),
        "first": {n: round(sum(r < 1 for r in of) / len(of), 3) for n, of in ranks.items()},
        "among five": {n: round(sum(r < 5 for r in of) / len(of), 3) for n, of in ranks.items()},
        "KG pictures of a thing": _means(pictures, asked, visible),
        "pages of a thing": _means(pages, asked, visible),
    }, indent=1))  # fmt: skip


def _means(counts: Counter[str], asked: set[str], held: list[str]) -> dict[str, float]:
    """Per thing that the KG holds."""
    groups = {"asked about": [i for i in held if i in asked],
              "not": [i for i in held if i not in asked]}  # fmt: skip
    return {n: round(sum(counts[i] for i in of) / len(of), 2) for n, of in groups.items()}


if __name__ == "__main__":
    main()
