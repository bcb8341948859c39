"""What closes bottles, jars and cartons."""

from __future__ import annotations

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part
from simulator.studio.solid.meshes import box, joined, lathe, shifted, smooth_path, tube
from simulator.studio.solid.prints import Sheet
from simulator.studio.things.making import crisp
from simulator.studio.things.packaging import Design
from simulator.world.pictures.traits import Draws, mix

FINE = 0.0006
"""Metres by which edges of small turned pieces are cut."""
GLASS = Material(glass=True)
STEEL = Material((186, 188, 192), rough=0.28, metal=1.0)

_SHAPES: dict[str, list[tuple[float, float]]] = {"crown": [(1.32, -5), (1.2, 0), (1.12, 4),
    (0.9, 6.2), (0, 6.4)], "cork": [(0.9, -20), (0.95, 0), (1, 14), (0.92, 18), (0, 18.2)],
    "swing": [(0.9, 0), (1.15, 3), (1.1, 13), (0.7, 19), (0, 20)], "foil": [(1.12, -55), (1.1, -20),
    (1.18, -16), (1.18, -2), (1, 1), (0, 1.2)], "flip": [(1.28, -7), (1.3, 11), (1.24, 12),
    (1.24, 13), (1.28, 14), (1.1, 21), (0, 21.5)], "screw": [(1.18, -4), (1.22, -3), (1.22, 10),
    (1.14, 12), (0, 12.3)], "tall": [(1.18, -4), (1.22, -3), (1.22, 24), (1.14, 26), (0, 26.3)],
    "lip": [(1, -13), (1.15, -11), (1.15, -4), (1, -2)], "ring": [(1.1, -8.5), (1.22, -8),
    (1.22, -5.2), (1.1, -5)], "seal": [(1.02, -4), (1.12, -2), (1.02, 1)], "pour": [(1, -4),
    (1.03, 2), (1.01, 11), (0.9, 12.8), (0, 13)]}  # fmt: skip
"""Profiles: radius in necks, height above the mouth in millimetres."""


def closed(f: Draws, made: Design, neck: float, mouth: float, *, plastic: bool) -> list[Part]:
    """A cap on a bottle whose neck ends at a height."""
    kinds = ("screw", "flip") if plastic else ("screw", "crown", "cork", "swing", "foil", "tall")
    kind = f.pick("cap", kinds)

    def put(name: str, material: Material, ribs: int = 0, depth: float = 0.05) -> Part:
        return Part(shifted(turning(name, neck * 0.94, ribs, depth), z=mouth), material)

    paint = Material(made.accent, rough=0.32, coat=0.1)
    if kind == "crown":
        steel = Material(mix(made.accent, (190, 190, 190), 0.3), rough=0.3, metal=1.0)
        return [put("crown", steel, 21, 0.06), put("lip", GLASS)]
    if kind == "cork":
        return [put("cork", Material(sheet=_cork(), rough=0.85)), put("lip", GLASS)]
    if kind == "swing":
        wire = joined([_wire(neck * 0.94, side) for side in (-1.0, 1.0)])
        china = Material((236, 232, 224), rough=0.15, coat=0.6)
        rubber = Material((190, 70, 48), rough=0.7)
        return [put("swing", china), put("seal", rubber), Part(shifted(wire, z=mouth), STEEL)]
    if kind == "foil":
        return [put("foil", Material(made.accent, rough=0.35, metal=1.0))]
    if kind == "flip":
        thumb = shifted(box(neck * 0.7, 0.004, 0.005, bevel=0.001), y=-neck * 1.18, z=mouth + 0.01)
        return [put("flip", paint), Part(thumb, paint)]
    if kind == "tall":
        return [put("tall", Material(made.accent, rough=0.3, metal=1.0)), put("ring", paint)]
    return [put("screw", paint, 30), put("ring", paint)]


def lid(f: Draws, made: Design, mouth: float, low: float, high: float) -> list[Part]:
    """A jar's lid of metal or plastic, smooth or grooved."""
    r, tall = mouth * 1.06, high - low
    skirt = [
        (r, low), (r * 1.015, low + 0.001), (r * 1.005, low + tall * 0.8),
        (r * 0.97, high - 0.0008),
        (r * 0.88, high), (r * 0.84, high - 0.0012), (1e-4, high - 0.0012),
    ]  # fmt: skip
    finish = f.pick(
        "lid",
        (
            Material((206, 164, 92), rough=0.3, metal=1.0),
            Material((34, 34, 36), rough=0.4, coat=0.3),
            Material((232, 230, 224), rough=0.35, coat=0.3),
            Material(made.accent, rough=0.35, coat=0.3),
            Material(made.accent, rough=0.35, coat=0.3),
            STEEL,
        ),
    )
    ribs = f.pick("ribs", (0, 24, 60))
    return [Part(ribbed(skirt, ribs, 0.03) if ribs else lathe(crisp(skirt, FINE)), finish)]


def turning(name: str, radius: float, ribs: int = 0, depth: float = 0.05) -> Mesh:
    """A closure of the table on a neck of a radius, grooved by `ribs`."""
    profile = [(max(r * radius, 1e-4), z / 1000) for r, z in _SHAPES[name]]
    return ribbed(profile, ribs, depth) if ribs else lathe(crisp(profile, FINE), around=48)


def ribbed(profile: list[tuple[float, float]], ribs: int, depth: float) -> Mesh:
    """A turned shape with grooves from top to bottom, like a screw cap."""
    mesh = lathe(crisp(profile, FINE), around=ribs * 4)
    at = mesh.vertices.copy()
    groove = 1 - depth * (0.5 + 0.5 * np.cos(np.arctan2(at[:, 1], at[:, 0]) * ribs))
    at[:, :2] *= groove[:, None]
    return mesh._replace(vertices=at.astype(np.float32))


def _wire(r: float, side: float) -> Mesh:
    """One arm of a swing top."""
    path = [
        (0.2, 0, 12), (1.25, 0, 8), (1.3, 0, -6), (1.2, -0.6, -22), (0.7, -1.15, -34),
    ]  # fmt: skip
    at = [(side * r * x, r * y, z / 1000) for x, y, z in path]
    return tube(smooth_path(at, 5), 0.0011, around=8)


def _cork() -> Array:
    page = Sheet(0.04, 0.04, (198, 158, 110), side=128)
    page.grain(0.08, "cloud")
    page.blend(np.clip(page.noise("speckle") * 0.3, 0, 0.6), (120, 84, 52))
    return page.rgb
