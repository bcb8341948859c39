"""Pictures to test the image encoder on, of things that nobody here modelled.

    python scripts/foreign_pictures.py MODELS TEST [--count 60]

MODELS is a folder of OBJ files with their materials, such as the CC-0 ones of the package
`sweethome3d-furniture`. Each model stands, 30 cm long, where a world's loudspeaker would: once in a
lived-in place, which is asked about, and twice in a studio, which is searched. Files lie beside
those of `encoder_pictures.py test`, and `scripts/bench/encoder.py TEST` tells them apart.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import cv2
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.encoder_pictures import QUERY, SIZES, TESTED
from simulator.studio.camera import catalogue as studio
from simulator.studio.camera import staging
from simulator.studio.camera.taking import compose
from simulator.studio.solid.forms import Material, Mesh, Part, Thing
from simulator.world.facts.look import Look
from simulator.world.pictures.scene import Scene
from simulator.world.pictures.shoot import CLUTTER, NEARNESS
from simulator.world.pictures.traits import Draws

LONG = 0.3
"""Metres of a model's longest side."""
HEAVY = 300_000
"""Triangles from which on a model is left out."""
STAND_IN = ("shopping", "speaker")


def materials(path: Path) -> dict[str, Material]:
    """A material file; what a picture would say of a surface is left out where there is none."""
    found: dict[str, dict[str, Any]] = {}
    now: dict[str, Any] = {}
    for line in path.read_text(errors="replace").splitlines():
        words = line.split()
        match words:
            case ["newmtl", name, *_]:
                now = found[name] = {}
            case ["Kd", *rgb] if len(rgb) >= 3:
                now["colour"] = tuple(255 * float(v) ** (1 / 2.2) for v in rgb[:3])
            case ["Ns", gloss]:
                now["rough"] = float(np.clip(1 - float(gloss) / 300, 0.15, 0.9))
            case ["map_Kd", *name]:
                sheet = cv2.imread(str(path.parent / " ".join(name)))
                if sheet is not None:
                    now["sheet"] = np.ascontiguousarray(sheet[:, :, ::-1])
            case _:
                pass
    return {name: Material(**of) for name, of in found.items()}


def model(path: Path) -> Thing | None:
    """An OBJ file as a thing that stands on z = 0; None where it is too heavy or empty."""
    known: dict[str, Material] = {}
    at: list[list[float]] = []
    sheet_at: list[list[float]] = [[0.0, 0.0]]
    faces: dict[str, list[list[tuple[int, int]]]] = defaultdict(list)
    using = ""
    for line in path.read_text(errors="replace").splitlines():
        words = line.split()
        match words:
            case ["v", x, y, z, *_]:
                at.append([float(x), -float(z), float(y)])
            case ["vt", u, v, *_]:
                sheet_at.append([float(u), float(v)])
            case ["mtllib", *name]:
                place = path.parent / " ".join(name)
                known |= materials(place) if place.exists() else {}
            case ["usemtl", name, *_]:
                using = name
            case ["f", *corners]:
                ends = [_corner(corner, len(at), len(sheet_at)) for corner in corners]
                faces[using] += [[ends[0], ends[i], ends[i + 1]] for i in range(1, len(ends) - 1)]
            case _:
                pass
    if not 0 < sum(map(len, faces.values())) <= HEAVY:
        return None
    points, uv = np.array(at), np.array(sheet_at)
    low, high = points.min(0), points.max(0)
    middle = [*((low + high) / 2)[:2], low[2]]
    points = (points - middle) * (LONG / (high - low).max())
    parts: list[Part] = []
    for name, triangles in faces.items():
        ends = np.array(triangles).reshape(-1, 2)
        order = np.arange(len(ends), dtype=np.int32).reshape(-1, 3)
        mesh = Mesh(points[ends[:, 0]].astype(np.float32), order, uv[ends[:, 1]].astype(np.float32))
        parts.append(Part(mesh, known.get(name, Material())))
    return Thing(tuple(parts))


def _corner(text: str, points: int, sheets: int) -> tuple[int, int]:
    point, _, rest = text.partition("/")
    sheet = rest.partition("/")[0]
    p, s = int(point), int(sheet or 0)
    return (p - 1 if p > 0 else points + p), (s if s >= 0 else sheets + s)


def pictures(name: str, thing: Thing) -> dict[str, Any]:
    """What the test keeps of a thing: one query and two pictures to find."""

    def stands_in(_look: Look) -> Thing:
        return thing

    staging.thing_of = studio.thing_of = stands_in
    draw = Draws("foreign", name)
    look = Look(domain=STAND_IN[0], kind=STAND_IN[1], family=TESTED, variant=QUERY, label=None)
    scene = Scene(main=look, width=SIZES[0][0], height=SIZES[0][1], is_ego=True, key=f"f{name}",
                  clutter=CLUTTER, entity_scale=round(draw("near", *NEARNESS), 3))  # fmt: skip
    shot = compose(scene)
    ys, xs = np.nonzero(shot.masks[0]) if shot.masks[0].any() else ([0, 1], [0, 1])
    plain = [
        compose(Scene(main=look, width=SIZES[1], height=SIZES[1], is_ego=False, key=f"s{name}{n}"))
        for n in range(2)
    ]
    return {
        "ego": np.array([shot.image]), "ego_of": np.array([QUERY], np.int16),
        "box": np.array([(min(xs), min(ys), max(xs) + 1, max(ys) + 1)], np.int16),
        "plain": np.array([one.image for one in plain]),
        "plain_of": np.array([QUERY, QUERY], np.int16),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--count", type=int, default=60)
    given = parser.parse_args()
    paths = sorted(given.models.rglob("*.obj"), key=lambda path: path.stem)
    random.Random("foreign").shuffle(paths)
    made = 0
    for path in paths:
        out = given.test / f"foreign {path.stem}-{TESTED}.npz"
        if made == given.count:
            break
        if not out.exists():
            thing = model(path)
            if thing is None:
                continue
            with out.with_suffix(".part").open("wb") as file:
                np.savez(file, **pictures(path.stem, thing))
            out.with_suffix(".part").rename(out)
        made += 1
    print(f"{made} models in {given.test}")


if __name__ == "__main__":
    main()
