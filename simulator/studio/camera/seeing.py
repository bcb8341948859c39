"""Where points of a scene lie in its picture, and what of a thing can be seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.forms import Array, Placed, Print, View, cross


class PrintSight(NamedTuple):
    """How an eye sees a print."""

    corners: Array
    """(4, 2) pixels, as `Print.corners`."""
    cap: float
    """Height of a capital letter, pixels."""
    facing: float
    """1: seen from straight in front; 0: along the surface; below 0: from behind."""


def axes(view: View) -> Array:
    """Right, down and forward of the picture, as rows."""
    forward = np.asarray(view.target, float) - np.asarray(view.eye, float)
    forward /= np.linalg.norm(forward)
    level = cross(forward, (0, 0, 1))
    level /= max(float(np.linalg.norm(level)), 1e-9)
    a = math.radians(view.roll)
    up = cross(level, forward) * math.cos(a) - level * math.sin(a)
    return np.stack([cross(forward, up), -up, forward])


def focal(view: View, width: int, height: int) -> float:
    """Pixels that a thing of one metre covers at a distance of one metre."""
    return max(width, height) / 2 / math.tan(math.radians(view.angle) / 2)


def project(view: View, width: int, height: int, points: Array) -> Array:
    """Pixels (x, y) of points, and their distance along the gaze; behind the eye it is negative."""
    seen = (np.asarray(points, float) - np.asarray(view.eye)) @ axes(view).T
    depth = np.where(np.abs(seen[:, 2]) < 1e-6, 1e-6, seen[:, 2])
    scale = focal(view, width, height) / depth
    return np.stack([seen[:, 0] * scale + width / 2, seen[:, 1] * scale + height / 2, depth], 1)


def in_scene(placed: Placed, points: Array) -> Array:
    """Points of a thing where it stands."""
    return points @ placed.pose[:3, :3].T + placed.pose[:3, 3]


def corners(placed: Placed) -> Array:
    """The eight corners of a thing's bounding box where it stands."""
    low, high = placed.thing.bounds
    box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1])
                    for z in (low[2], high[2])])  # fmt: skip
    return in_scene(placed, box)


def look_at_print(mark: Print, placed: Placed, view: View, width: int, height: int) -> PrintSight:
    """How large a print is in the picture, and how squarely it is seen."""
    at = in_scene(placed, mark.corners)
    seen = project(view, width, height, at)
    middle = at.mean(0)
    outward = cross(at[1] - at[0], at[3] - at[0])
    towards = np.asarray(view.eye) - middle
    lengths = float(np.linalg.norm(outward) * np.linalg.norm(towards))
    facing = float(outward @ towards) / max(lengths, 1e-12)
    distance = float(np.linalg.norm(towards))
    size = float(np.linalg.norm(placed.pose[:3, 0]))
    return PrintSight(seen[:, :2], focal(view, width, height) * mark.cap * size / distance, facing)


def silhouette(placed: Placed, view: View, width: int, height: int) -> NDArray[np.bool_]:
    """The pixels that a thing would cover if nothing stood before it."""
    import cv2

    mask = np.zeros((height, width), np.uint8)
    for part in placed.thing.parts:
        seen = project(view, width, height, in_scene(placed, part.mesh.vertices))
        faces = part.mesh.faces[(seen[part.mesh.faces, 2] > 0.01).all(1)]
        if not len(faces):
            continue
        triangles = np.clip(seen[faces, :2], -4 * width, 5 * width)
        middles = np.rint(triangles.mean(1)).astype(int)
        inside = ((middles >= 0) & (middles < (width, height))).all(1)
        mask[middles[inside, 1], middles[inside, 0]] = 1
        large = np.ptp(triangles, axis=1).max(1) > 1.5
        for corners_of in np.rint(triangles[large] * 16).astype(np.int32):
            cv2.fillConvexPoly(mask, corners_of, 1, shift=4)
    return mask.astype(bool)


def visible_shares(
    owner: NDArray[np.int16], things: Sequence[Placed], view: View
) -> tuple[float, ...]:
    """How much of each of the first placed things is seen, of all that lies in the frame."""
    height, width = owner.shape
    shares: list[float] = []
    for number, placed in enumerate(things):
        whole = silhouette(placed, view, width, height)
        covered = int((whole | (owner == number)).sum())
        shares.append(int((owner == number).sum()) / covered if covered else 0.0)
    return tuple(shares)
