"""What every kind of thing must hold, asked in one place."""

from __future__ import annotations

import numpy as np

from simulator.world.facts.look import KINDS, Look
from simulator.world.solid.forms import Thing
from simulator.world.things.kinds import build

Bounds = tuple[tuple[float, float, float], tuple[float, float, float]]


def look_of(
    kind: str, family: int, variant: int = 0, label: str | None = None, sublabel: str | None = None
) -> Look:
    domain = next(domain for domain, kinds in KINDS.items() if kind in kinds)
    return Look(
        domain=domain, kind=kind, family=family, variant=variant, label=label, sublabel=sublabel
    )


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


def check_build(
    kind: str, sizes: Bounds, label: str | None, sublabel: str | None, families: range = range(3)
) -> None:
    """Sound, of a believable size, the same again, and told apart from its look-alikes."""
    for family in families:
        looks = [look_of(kind, family, variant, label, sublabel) for variant in (0, 1)]
        things = [build(look) for look in looks]
        for thing in things:
            check_sound(thing, sizes)
            check_prints(thing, [t for t in (label, sublabel) if t])
        assert bytes_of(build(looks[0])) == bytes_of(things[0])
        assert bytes_of(things[0]) != bytes_of(things[1])


def check_sound(thing: Thing, sizes: Bounds) -> None:
    """Finite, standing on the ground, of a believable size, and not too dear."""
    assert 1 <= len(thing.parts) <= 25
    assert sum(len(part.mesh.faces) for part in thing.parts) <= 30_000
    for part in thing.parts:
        assert np.isfinite(part.mesh.vertices).all()
        assert np.isfinite(part.mesh.uv).all()
        assert part.mesh.faces.max() < len(part.mesh.vertices)
        assert len(part.mesh.uv) == len(part.mesh.vertices)
        sheet = part.material.sheet
        assert sheet is None or (max(sheet.shape[:2]) <= 1024 and sheet.dtype == np.uint8)
    low, high = thing.bounds
    least, most = np.array(sizes)
    size = high - low
    assert (size >= least).all(), size
    assert (size <= most).all(), size
    assert abs(low[2]) < 0.005, low


def check_prints(thing: Thing, texts: list[str]) -> None:
    """The texts stand on the thing, each once, their corners within 3 mm of its surface."""
    assert [p.text for p in thing.prints] == texts
    corners = np.concatenate([_triangles(part.mesh) for part in thing.parts])
    for found in thing.prints:
        assert found.cap > 0
        for corner in found.corners:
            assert _distance(corner.astype(np.float64), corners) < 0.003


def _triangles(mesh) -> np.ndarray:
    return mesh.vertices[mesh.faces].astype(np.float64)


def _distance(point: np.ndarray, triangles: np.ndarray) -> float:
    """From a point to the nearest triangle: to its plane where it is above it, else its corners."""
    a, ab, ac = (
        triangles[:, 0],
        triangles[:, 1] - triangles[:, 0],
        triangles[:, 2] - triangles[:, 0],
    )
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
