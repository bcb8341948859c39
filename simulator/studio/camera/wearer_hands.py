"""The wearer's hands: one holds the thing up, or comes in from below."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.camera.view_geometry import axes, corners, focal, project
from simulator.studio.solid.scene_types import Array, Placed, View, moved, turned
from simulator.studio.things.people import hand
from simulator.world.pictures.traits import Draws

HAND = "hand"
"""What a hand is called among what is placed."""
_REACH = (0.26, 0.6)
"""Metres from the eye to what a hand holds up."""
_POINTS = 0.58
"""Metres from the eye to a finger tip that points."""
_RAISED = 40.0
"""Least degrees between a pointing finger and the line of sight: along it one would see a fist. It
is never lowered."""
_BROAD = 0.085
"""What a hand can reach around; broader things are held at their side."""


def held_thing(
    item: Placed,
    view: View,
    pixels: float,
    frame: tuple[int, int],
    tried: Draws,
    *,
    flat: bool,
    swing: float = 1.0,
) -> Placed:
    """A thing before the wearer's eyes, its front towards them but for a `swing`."""
    low, high = item.thing.bounds
    size = float(max(high - low))
    distance = size * focal(view, *frame) / pixels
    # what is large covers the picture when it is held near
    distance = min(max(distance, _REACH[0], 0.9 * size), max(_REACH[1], 1.1 * size))
    at = _before(view, frame, (tried("held-u", 0.38, 0.56), tried("held-v", 0.42, 0.58)), distance)
    yaw = _heading(view) + swing * tried("held-turn", -24, 24)
    upright = turned((1, 0, 0), 72 + swing * tried("held-lean", -8, 8)) if flat else np.eye(4)
    tilt = turned((0, 1, 0), swing * tried("held-tilt", -9, 9))
    pose = moved(turn=yaw) @ tilt @ upright
    middle = pose[:3, :3] @ ((low + high) / 2)
    pose[:3, 3] = at - middle
    return item._replace(pose=pose)


def holding_hand(item: Placed, view: View, key: str, *, flat: bool) -> Placed:
    """The hand that holds a thing."""
    low, high = item.thing.bounds
    wide, deep, tall = (float(x) for x in high - low)
    if flat:  # pinched at its right edge: as it lies, its height is along y
        grip, inside = max(tall, 0.004), min(0.02, wide / 3)
        spot = np.array([high[0] - inside, low[1] + 0.32 * deep, (low[2] + high[2]) / 2])
    else:
        grip = min(deep, _BROAD)
        aside = max(wide / 2 - _BROAD / 2, 0.0)
        middle = (low + high) / 2
        spot = np.array([middle[0] + aside, middle[1], low[2] + 0.4 * tall])
    at = item.pose[:3, :3] @ spot + item.pose[:3, 3]
    pose = moved(*at.tolist(), turn=_heading(view))
    return Placed(hand(Draws("hands", key), "hold", grip=grip), pose, HAND)


def reaching_hand(key: str, view: View, tried: Draws) -> tuple[Placed, ...]:
    """Now and then a hand that comes in from below, at the frame's edge."""
    if not tried.chance("reaches", 0.15):
        return ()
    left = tried.chance("left", 0.3)
    u = tried("reach-u", 0.62, 0.9)
    how = "point" if tried.chance("points", 0.35) else "reach"
    at = _before(view, (720, 960), (1 - u if left else u, tried("reach-v", 0.8, 0.95)), 0.4)
    pose = moved(*at.tolist(), turn=_heading(view) + tried("reach-turn", -12, 12))
    return (Placed(hand(Draws("hands", key), how, left=left), pose, HAND),)


def pointing_hand(key: str, view: View, item: Placed, frame: tuple[int, int]) -> Placed:
    """A hand that points at a thing: its finger ends before the thing's lower edge."""
    seen = project(view, *frame, corners(item))
    low, high = seen[:, :2].min(0), seen[:, :2].max(0)
    x, y = (low[0] + high[0]) / 2, high[1] - 0.08 * (high[1] - low[1])
    distance = min(_POINTS, 0.9 * float(seen[:, 2].min()))
    at = _before(view, frame, (float(x) / frame[0], float(y) / frame[1]), distance)
    line = (at - np.asarray(view.eye)) / distance
    rise = max(math.degrees(math.asin(float(line[2]))) + _RAISED, 0.0)
    pose = moved(*at.tolist(), turn=_heading(view)) @ turned((1, 0, 0), rise)
    return Placed(hand(Draws("hands", key), "point"), pose, HAND)


def _before(view: View, frame: tuple[int, int], at: tuple[float, float], distance: float) -> Array:
    """A point so far from the eye, at a place of the picture."""
    right, down, ahead = axes(view)
    f = focal(view, *frame)
    ray = ahead + right * (at[0] - 0.5) * frame[0] / f + down * (at[1] - 0.5) * frame[1] / f
    return np.asarray(view.eye) + ray / np.linalg.norm(ray) * distance


def _heading(view: View) -> float:
    """Degrees about z by which the wearer is turned; 0 looks along y."""
    x, y = (view.target[k] - view.eye[k] for k in (0, 1))
    return math.degrees(math.atan2(-x, y))
