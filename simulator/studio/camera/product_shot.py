"""Catalogue pictures: a thing on a sweep of paper under soft light; a big one out of doors."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.camera.staging import Staged, hide_names, thing_of
from simulator.studio.camera.view_geometry import corners, frame_view
from simulator.studio.solid.meshes import box, skin
from simulator.studio.solid.scene_types import (
    Lamp,
    Light,
    Material,
    Part,
    Placed,
    Stands,
    Thing,
    View,
    moved,
)
from simulator.studio.solid.surfaces import asphalt, concrete, grass, laid, slabs
from simulator.studio.things.kinds import KINDS
from simulator.world.pictures.scene import Scene
from simulator.world.pictures.traits import Draws, oklch

_BIG = 1.3
"""Metres from which on a thing is photographed where it stands."""
_VAST = 8.0
"""Metres from which on no stone or blade of the ground is seen."""
_GAP = 0.12


def stage_product(scene: Scene) -> Staged:
    """A catalogue picture: other light and another side than any wearer's."""
    draw = Draws("catalogue", scene.key, scene.main.kind)
    kind = KINDS[scene.main.kind]
    things = [thing_of(look) for look in (scene.main, *scene.others)]
    yaw = draw.pick("side", (-1.0, 1.0)) * draw("yaw", 4, 62) * scene.turn
    if scene.legible:
        yaw *= 0.45
    elif kind.stands in ("surface", "ground") and draw.chance("back", 0.2):
        yaw = math.copysign(180 - abs(yaw), yaw)
    pitch = draw("pitch", 52, 76) if kind.stands == "flat" else draw("pitch", 4, 30)
    pitch = draw("wall-pitch", -4, 8) if kind.stands == "wall" else pitch
    placed = _row(things, yaw if kind.stands not in ("wall", "flat") else 0.0)
    size = float(max(np.ptp(np.concatenate([corners(p) for p in placed]), axis=0)))
    outdoors = size > _BIG and kind.stands == "ground"
    view = _view(scene, placed, draw, pitch, size, yaw if kind.stands in ("wall", "flat") else 0.0)
    placed = hide_names(scene, placed, view, turning=kind.stands in ("surface", "ground"))
    around, light = _outdoors(draw, size) if outdoors else _indoors(draw, size, kind.stands)
    return Staged((*placed, *around), len(things), light, view)


def _row(things: list[Thing], yaw: float) -> tuple[Placed, ...]:
    """Things side by side, a little apart."""
    poses = [moved(turn=yaw) for _ in things]
    items = [Placed(t, p, f"thing_{n}") for n, (t, p) in enumerate(zip(things, poses, strict=True))]
    widths = [float(np.ptp(corners(item)[:, 0])) for item in items]
    gap = _GAP * max(widths)
    left = -(sum(widths) + gap * (len(widths) - 1)) / 2
    placed: list[Placed] = []
    for item, width in zip(items, widths, strict=True):
        low = float(corners(item)[:, 0].min())
        placed.append(item._replace(pose=moved(left - low) @ item.pose))
        left += width + gap
    return tuple(placed)


def _view(
    scene: Scene, placed: tuple[Placed, ...], draw: Draws, pitch: float, size: float, aside: float
) -> View:
    every = np.concatenate([corners(p) for p in placed])
    middle = (every.min(0) + every.max(0)) / 2
    angle = draw("lens", 30, 46)
    distance = (
        size
        / 2
        / math.tan(math.radians(angle) / 2)
        / min(0.86 * draw("size", 0.86, 1.0) * min(scene.entity_scale, 1.2), 0.92)
    )
    a, b = math.radians(pitch), math.radians(aside * 0.5)
    away = np.array([math.sin(b) * math.cos(a), -math.cos(b) * math.cos(a), math.sin(a)])
    while True:  # ends: far enough away all things are small
        eye = middle + away * distance
        eye[2] = max(eye[2], 0.05 * size)
        view = View(
            tuple(eye.tolist()), tuple(middle.tolist()), roll=draw("roll", -1.5, 1.5), angle=angle,
            aperture=0.0015 * min(size, 1.0), focus=float(np.linalg.norm(eye - middle)),
        )  # fmt: skip
        if found := frame_view(view, placed, scene.width, scene.height, (0.5, 0.52)):
            return found
        distance *= 1.08


def _indoors(draw: Draws, size: float, stands: Stands) -> tuple[tuple[Placed, ...], Light]:
    """A sweep of coloured paper, or a wall, under a soft lamp."""
    hue, tint = draw("hue", 0, 360), draw("tint", 0.0, 0.035)
    paper = Material(oklch(draw("paper", 0.72, 0.96), tint, hue), rough=0.85)
    s = size
    if stands == "wall":
        back = np.array([[(x, 0.0, z) for z in (-4 * s, 6 * s)] for x in (-6 * s, 6 * s)])
        room = Thing.of(Part(skin(back), paper))
    else:
        bend = [(0.5 * s * math.sin(t), 0.5 * s * (1 - math.cos(t)))
                for t in np.linspace(0, math.pi / 2, 10)]  # fmt: skip
        profile = [(-6 * s, 0.0), *((1.6 * s + y, z) for y, z in bend), (2.1 * s, 7 * s)]
        sweep = np.array([[(x, y, z - 1e-3 * s) for y, z in profile] for x in (-7 * s, 7 * s)])
        room = Thing.of(Part(skin(sweep), paper))
    side = draw.pick("lamp-side", (-1.0, 1.0))
    at = (
        side * draw("lamp-x", 0.9, 1.9) * s,
        -draw("lamp-y", 0.8, 1.8) * s,
        draw("lamp-z", 1.4, 2.6) * s,
    )
    wide = draw("lamp-size", 0.5, 1.3) * s
    warm = (255.0, draw("green", 236, 252), draw("blue", 214, 250))
    lamp = Lamp(at, (0.0, 0.0, 0.3 * s), wide, wide, warm, draw("power", 4, 9) * (1.3 * s / wide))
    sky = draw.pick("sky", ("studio", "lab", "apartment", "lobby", "warehouse"))
    light = Light(sky, draw("strength", 0.5, 1.0), draw("sky-turn", 0, 360), (lamp,))
    return (Placed(room, np.eye(4), "room"),), light


def _outdoors(draw: Draws, size: float) -> tuple[tuple[Placed, ...], Light]:
    """Open ground under the sky."""
    ground = draw.pick("ground", (asphalt, grass, slabs))
    colours = {
        asphalt: (96.0, 96.0, 98.0),
        grass: (92.0, 116.0, 58.0),
        slabs: (168.0, 164.0, 156.0),
    }
    wide = 30 * max(size, 2.0)
    vast = size > _VAST
    cover = (concrete if vast else ground)(colours[ground], draw.count("ground-seed", 0, 2))
    if vast:  # from so far away a pattern of metres is a grid: only stains as large as fields show
        cover = cover._replace(width=wide / 4, height=wide / 4)
    floor = laid(box(wide, wide, 0.02), cover)
    sky = draw.pick("sky", ("park", "sky", "esplanade", "city", "sunrise", "venice"))
    x, y, z = draw("sun-x", -60, 60), draw("sun-y", 20, 60), draw("sun-z", 50, 90)
    sun = Lamp(
        (x * size, -y * size, z * size),
        (0.0, 0.0, 0.0), 6 * size, 6 * size, (255.0, 244.0, 226.0), draw("sun", 90, 260),
    )  # fmt: skip
    light = Light(sky, 1.0, draw("sky-turn", 0, 360), (sun,) if draw.chance("sunny", 0.6) else ())
    return (Placed(Thing.of(floor), moved(0, 0, -0.021), "room"),), light
