"""What every kind of thing must hold, asked in one place."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.studio.solid.scene_types import Thing
from simulator.studio.things.kinds import build
from simulator.world.facts.look import KINDS, Look

Bounds = tuple[tuple[float, float, float], tuple[float, float, float]]


def look_of(
    kind: str, family: int, variant: int = 0, label: str | None = None, sublabel: str | None = None
) -> Look:
    domain = next(domain for domain, kinds in KINDS.items() if kind in kinds)
    return Look(
        domain=domain, kind=kind, family=family, variant=variant, label=label, sublabel=sublabel
    )


def made(kind: str, family: int, variant: int = 0) -> Thing:
    return build(look_of(kind, family, variant))


def bytes_of(thing: Thing) -> bytes:
    """Everything a picture of it can show."""
    return b"".join(
        part.mesh.vertices.tobytes()
        + part.mesh.faces.tobytes()
        + part.mesh.uv.tobytes()
        + repr(part.material._replace(sheet=None)).encode()
        + (b"" if part.material.sheet is None else part.material.sheet.tobytes())
        for part in thing.parts
    )


def faults_of_kind(
    kind: str,
    sizes: Bounds,
    label: str | None = None,
    sublabel: str | None = None,
    families: range = range(3),
    living: bool = False,
) -> list[str]:
    """What is not sound, not of a believable size, not the same again, or like its look-alikes."""
    found: list[str] = []
    for family in families:
        looks = [look_of(kind, family, variant, label, sublabel) for variant in (0, 1)]
        things = [build(look) for look in looks]
        for thing in things:
            found += faults_of(thing, sizes, living=living)
            found += faults_of_prints(thing, [t for t in (label, sublabel) if t])
        if bytes_of(build(looks[0])) != bytes_of(things[0]):
            found.append(f"family {family} is another the second time")
        if bytes_of(things[0]) == bytes_of(things[1]):
            found.append(f"variants 0 and 1 of family {family} are one")
    return found


def faults_of_variants(kind: str, family: int, *caches: Any) -> list[str]:
    """Unless a look gives the same bytes when it is made anew, and another variant others."""
    one, other = (made(kind, family, variant) for variant in (1, 2))
    for cache in caches:
        cache.cache_clear()
    same = made(kind, family, 1)
    found = ["it was not made anew"] if same is one else []
    found += ["it is another the second time"] if bytes_of(same) != bytes_of(one) else []
    return found + (["variants 1 and 2 are one"] if bytes_of(one) == bytes_of(other) else [])


def faults_of(thing: Thing, sizes: Bounds, *, living: bool = False) -> list[str]:
    """Unless it is finite, stands on the ground, is of a believable size, and not too dear."""
    faces = sum(len(part.mesh.faces) for part in thing.parts)
    low, high = thing.bounds
    size = high - low
    sound = {
        f"{len(thing.parts)} parts": 1 <= len(thing.parts) <= 25,
        f"{faces} faces": faces <= (60_000 if living else 40_000),
        f"its size is {size}": (size >= sizes[0]).all() and (size <= sizes[1]).all(),
        # a frame or a strip of tape reaches below its sheet
        f"its lowest point is at {low[2]}": -0.03 < low[2] < (0.03 if living else 0.006),
    }
    for number, part in enumerate(thing.parts):
        mesh, sheet = part.mesh, part.material.sheet
        sound |= {
            f"part {number} is not finite": np.isfinite(mesh.vertices).all()
            and np.isfinite(mesh.uv).all(),
            f"part {number} has a face without its points": mesh.faces.max() < len(mesh.vertices),
            f"part {number} has points without a place on the sheet": len(mesh.uv)
            == len(mesh.vertices),
            f"part {number} has no usable sheet": sheet is None
            or (max(sheet.shape[:2]) <= 1024 and sheet.dtype == np.uint8),
        }
    return [fault for fault, is_well in sound.items() if not is_well]


def faults_of_prints(thing: Thing, texts: list[str]) -> list[str]:
    """Unless the texts stand on it, each once, their corners within 3 mm of its surface."""
    there = [p.text for p in thing.prints]
    if there != texts:
        return [f"it says {there}, not {texts}"]
    triangles = np.concatenate([_triangles(part.mesh) for part in thing.parts])
    return [
        f"{found.text!r} does not lie on it"
        for found in thing.prints
        if found.cap <= 0
        or any(_distance(c.astype(np.float64), triangles) >= 0.003 for c in found.corners)
    ]


def _triangles(mesh) -> np.ndarray:
    return mesh.vertices[mesh.faces].astype(np.float64)


def _distance(point: np.ndarray, triangles: np.ndarray) -> float:
    """From a point to the nearest triangle: to its plane where it is above it, else its corners."""
    a, ab, ac = (
        triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    )  # fmt: skip
    normal = np.cross(ab, ac)
    area = (normal**2).sum(1)
    solid = area > 1e-18
    a, ab, ac, normal, area = a[solid], ab[solid], ac[solid], normal[solid], area[solid]
    to = point - a
    s = (np.cross(to, ac) * normal).sum(1) / area
    t = (np.cross(ab, to) * normal).sum(1) / area
    height = np.abs((to * normal).sum(1)) / np.sqrt(area)
    above = (s > -0.01) & (t > -0.01) & (s + t < 1.01)
    nearest = float(np.linalg.norm(triangles.reshape(-1, 3) - point, axis=1).min())
    return min(nearest, float(height[above].min())) if above.any() else nearest
