"""A sheet of things as the renderer shows them, to be looked at while they are built.

python scripts/look_at_things.py OUT.png jar bottle --variants 3 --family 2 --turn -25 --side 360
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

from simulator.studio.solid.forms import Lamp, Light, Material, Part, Placed, Thing, View, moved
from simulator.studio.solid.meshes import box, sheet
from simulator.studio.things.kinds import build
from simulator.studio.tracing.tracer import develop, trace
from simulator.world.facts.look import KINDS as DOMAINS
from simulator.world.facts.look import Look


def main() -> None:
    """One row per kind, one column per variant (and per turn)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("kinds", nargs="+")
    parser.add_argument("--family", type=int, default=1)
    parser.add_argument("--variants", type=int, default=3)
    parser.add_argument("--turn", type=float, nargs="+", default=[-25.0])
    parser.add_argument("--side", type=int, default=360)
    parser.add_argument("--label", default="Marrel Torvick")
    parser.add_argument("--sublabel", default="Oat Drink 500 ml")
    args = parser.parse_args()
    rows = [
        np.concatenate(
            [
                shown(build(_look(kind, v, args)), turn, args.side)
                for v in range(args.variants)
                for turn in args.turn
            ],
            1,
        )
        for kind in args.kinds
    ]
    Image.fromarray(np.concatenate(rows)).save(args.out)


def shown(thing: Thing, turn: float, side: int) -> np.ndarray:
    """A thing on a grey floor before a grey wall, in proportion to its size."""
    low, high = thing.bounds
    size = float(np.linalg.norm(high - low))
    middle = float((low[2] + high[2]) / 2)
    floor = Thing(
        (Part(box(12 * size, 12 * size, 0.1 * size), Material((150, 146, 140), rough=0.6)),)
    )
    wall = Thing((Part(sheet(16 * size, 8 * size), Material((190, 188, 184), rough=0.8)),))
    ground = min(0.0, float(low[2]))
    placed = [
        Placed(floor, moved(0, 0, ground - 0.1 * size), "room"),
        Placed(wall, moved(0, 2.5 * size, ground - 1e-3), "room"),
        Placed(thing, moved(turn=turn), "thing"),
    ]
    lamp = Lamp((-1.2 * size, -1.4 * size, 2.2 * size), (0, 0, 0), size, size, (255, 236, 214), 9)
    view = View((0.1 * size, -1.75 * size, middle + 0.7 * size), (0, 0, middle), angle=48)
    return develop(trace(placed, Light("studio", lamps=(lamp,)), view, side, side).light)


def _look(kind: str, variant: int, args: argparse.Namespace) -> Look:
    domain = next(d for d, kinds in DOMAINS.items() if kind in kinds)
    return Look(
        domain=domain,
        kind=kind,
        family=args.family,
        variant=variant,
        label=args.label,
        sublabel=args.sublabel,
    )


if __name__ == "__main__":
    main()
