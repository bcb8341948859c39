"""Where points of a scene lie in its picture, what of a thing is seen, and where the eye goes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.scene_types import Array, Placed, Print, View, cross


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


def scene_points(placed: Placed, points: Array) -> Array:
    """Points of a thing where it stands."""
    return points @ placed.pose[:3, :3].T + placed.pose[:3, 3]


def corners(placed: Placed) -> Array:
    """The eight corners of a thing's bounding box where it stands."""
    low, high = placed.thing.bounds
    box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1])
                    for z in (low[2], high[2])])  # fmt: skip
    return scene_points(placed, box)


def look_at_print(mark: Print, placed: Placed, view: View, width: int, height: int) -> PrintSight:
    """How large a print is in the picture, and how squarely it is seen."""
    at = scene_points(placed, mark.corners)
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
        seen = project(view, width, height, scene_points(placed, part.mesh.vertices))
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


_MARGIN = 0.025
"""Of the frame's sides; nothing that is asked about comes nearer to the edge."""
_NEAREST = 0.14
"""Metres: no eye and no lens is nearer to a thing."""


def usual_share(size: float) -> float:
    """A thing's larger side as a part of the picture's width when one looks at it: a mug takes a
    third, a tower three quarters.

    >>> round(usual_share(0.1), 2), round(usual_share(60.0), 2)
    (0.34, 0.73)
    """
    return min(0.38 * (size / 0.25) ** 0.12, 0.8)


def eye_at(path: Sequence[Array], target: Array, distance: float) -> Array:
    """The point of a path, walked from far to near, from which the target is so far away."""
    points = [np.asarray(p, float) for p in path]
    for start, end in pairwise(points):
        if np.linalg.norm(end - target) > distance:
            continue
        low, high = 0.0, 1.0
        if np.linalg.norm(start - target) <= distance:
            return start
        for _ in range(40):
            middle = (low + high) / 2
            near = np.linalg.norm(start + (end - start) * middle - target) <= distance
            low, high = (low, middle) if near else (middle, high)
        return start + (end - start) * high
    return points[-1]


def aim_view(view: View, point: Array, width: int, height: int, at: tuple[float, float]) -> View:
    """The same eye turned until a point lies at a place of the picture (parts of its sides)."""
    wanted = np.array([at[0] * width, at[1] * height])
    forward = _towards(np.asarray(view.eye), point)
    for _ in range(6):
        view = view._replace(target=tuple((np.asarray(view.eye) + forward).tolist()))
        missed = (project(view, width, height, point[None])[0, :2] - wanted) / focal(
            view, width, height
        )
        right, down, ahead = axes(view)
        forward = ahead + right * missed[0] + down * missed[1]
        forward /= np.linalg.norm(forward)
        forward[2] = float(np.clip(forward[2], -0.97, 0.7))
        forward /= np.linalg.norm(forward)
    return view._replace(target=tuple((np.asarray(view.eye) + forward).tolist()))


def frame_view(
    view: View, things: Sequence[Placed], width: int, height: int, at: tuple[float, float]
) -> View | None:
    """The eye turned so that the first thing lies at `at`, or as near to it as lets all things be
    in the frame; none if they do not fit."""
    middle = corners(things[0]).mean(0)
    every = np.concatenate([corners(t) for t in things])
    if found := _pushed_in(view, middle, every, (width, height), at):
        return found
    # from far beside them a row looks longer than it is: begin with all of it in the middle
    amid = aim_view(view, (every.min(0) + every.max(0)) / 2, width, height, (0.5, 0.5))
    u, v = (project(amid, width, height, middle[None])[0, :2] / (width, height)).tolist()
    return _pushed_in(view, middle, every, (width, height), (u, v))


def _pushed_in(
    view: View, middle: Array, every: Array, frame: tuple[int, int], at: tuple[float, float]
) -> View | None:
    """A gaze moved on until nothing is beyond the frame."""
    u, v = at
    for _ in range(12):
        found = aim_view(view, middle, *frame, (u, v))
        seen = project(found, *frame, every)
        if (seen[:, 2] <= 0.02).any():
            return None
        low, high = seen[:, :2].min(0) / frame, seen[:, :2].max(0) / frame
        if (high - low > 1 - 2 * _MARGIN).any():
            return None
        over = np.maximum(_MARGIN - low, 0) - np.maximum(high - (1 - _MARGIN), 0)
        if (np.abs(over) < 0.002).all():
            return found
        u, v = u + float(over[0]), v + float(over[1])
    return None


def approach_view(
    view: View,
    path: Sequence[Array],
    things: Sequence[Placed],
    pixels: float,
    width: int,
    height: int,
    at: tuple[float, float],
) -> View | None:
    """An eye on a path from which the first thing's larger side covers so many pixels, or farther
    off if else not all things are in the frame."""
    box = corners(things[0])
    middle, size = box.mean(0), larger_side(things[0])
    farthest = max(float(np.linalg.norm(np.asarray(p) - middle)) for p in path)
    distance = size * focal(view, width, height) / pixels
    for _ in range(24):
        eye = eye_at([*path, middle], middle, max(distance, _NEAREST + size / 2))
        reached = float(np.linalg.norm(eye - middle))
        angle = view.angle
        if reached < 0.9 * distance or reached > 1.1 * distance:  # the lens does the rest
            tangent = math.tan(math.radians(angle) / 2) * distance / reached
            angle = float(np.clip(2 * math.degrees(math.atan(tangent)), 40.0, 84.0))
        tried = view._replace(eye=tuple(eye.tolist()), angle=angle)
        if found := frame_view(tried, things, width, height, at):
            return found
        if distance > 2.2 * farthest:
            return None
        distance *= 1.12
    return None


def larger_side(placed: Placed) -> float:
    """The larger side of what one sees of a thing: its width or its height."""
    low, high = placed.thing.bounds
    return float(max(high - low))


def _towards(eye: Array, point: Array) -> Array:
    away = point - eye
    return away / np.linalg.norm(away)
