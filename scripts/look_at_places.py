"""A sheet of places as the renderer shows them, with grey boxes for the things asked about.

python scripts/look_at_places.py OUT.png kitchen street --stands surface --size .1 .1 .2 --seeds 4
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from PIL import Image

from simulator.studio.places.kinds import PLACES
from simulator.studio.places.setting import Need, Setting
from simulator.studio.solid.forms import Material, Part, Placed, Thing, View, moved
from simulator.studio.solid.meshes import box
from simulator.studio.tracing.tracer import develop, trace
from simulator.world.pictures.traits import Draws

GREY = Material((150, 150, 150), rough=0.5)


def main() -> None:
    """One row per place, one column per seed; `--at` goes from the near eye (0) to the far one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("places", nargs="+")
    parser.add_argument("--stands", default="surface")
    parser.add_argument("--size", type=float, nargs=3, default=[0.1, 0.1, 0.2])
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--clutter", type=float, default=0.6)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--at", type=float, default=0.3)
    parser.add_argument("--width", type=int, default=480)
    args = parser.parse_args()
    need = Need((tuple(args.size),) * args.count, args.stands, args.clutter)
    rows = [
        np.concatenate(
            [
                shown(name, s, need, args.at, args.width)
                for s in range(args.first, args.first + args.seeds)
            ],
            1,
        )
        for name in args.places
    ]
    Image.fromarray(np.concatenate(rows)).save(args.out)


def shown(name: str, seed: int, need: Need, at: float, width: int) -> np.ndarray:
    """A place with its boxes, as a phone held upright would take it."""
    began = time.process_time()
    setting = PLACES[name].make(Draws("look", name, seed), need)
    built = time.process_time()
    placed = [*setting.placed, *boxes(setting, need)]
    spot = np.add(setting.spots[0].at, (0, 0, need.sizes[0][2] / 2))
    middle = np.mean([s.at for s in setting.spots], axis=0) + np.array((0, 0, need.sizes[0][2] / 2))
    eye = np.array(setting.near) * (1 - at) + np.array(setting.far) * at
    target = spot * (1 - at) + middle * at
    view = View(tuple(eye), tuple(target), roll=2.0)
    image = develop(trace(placed, setting.light, view, width, width * 4 // 3).light)
    parts = [p for item in setting.placed for p in item.thing.parts]
    print(
        f"{name} {seed}: built {built - began:.2f} s, traced {time.process_time() - built:.2f} s,"
        f" {len(parts)} parts, {sum(len(p.mesh.faces) for p in parts)} triangles,"
        f" near {np.round(setting.near, 2)} far {np.round(setting.far, 2)} sky {setting.light.sky}"
    )
    return image


def boxes(setting: Setting, need: Need) -> list[Placed]:
    """A grey box on each spot."""
    return [
        Placed(
            Thing((Part(box(*size, bevel=0.08 * min(size)), GREY),)),
            moved(*spot.at, turn=spot.turn),
            "thing",
        )
        for spot, size in zip(setting.spots, need.sizes, strict=True)
    ]


if __name__ == "__main__":
    main()
