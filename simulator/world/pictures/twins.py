"""The same scene taken again: with the lamp off, a hand in front, out of focus, or better.

A physical twin changes what happened before the lens, not the pixels: so it can be asked whether
the optics' ladder, which changes pixels, predicts what a loss of light or focus costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import SpecError
from simulator.world.pictures.developing import develop
from simulator.world.pictures.framing import gazing, largest
from simulator.world.pictures.scene import Scene
from simulator.world.pictures.seeing import axes, corners, focal, project
from simulator.world.pictures.staging import Staged
from simulator.world.pictures.taking import Rendered, described, seed_of, settled
from simulator.world.pictures.traits import Draws
from simulator.world.solid.forms import Placed, View, moved
from simulator.world.solid.tracer import Traced, trace
from simulator.world.things.hands import hand


class Taken(NamedTuple):
    """How a twin is taken: what is changed on the stage, and how it is exposed."""

    staged: Staged
    sweep: tuple[float, float] = (0.0, 0.0)
    """Pixels by which the head turns to the right and down while the shutter is open."""
    limit: float = 32.0
    """The most that ISO may rise above 100."""


def twin(scene: Scene, kind: str, severity: int) -> Rendered:
    """The picture of a scene to which something has happened; 1 is hardly seen, 5 is hard.

    >>> sorted(TWINS)
    ['blurred', 'low-light', 'occluded', 'out-of-focus', 'rotated', 'truncated']
    """
    if kind not in TWINS:
        raise SpecError(f"no physical twin {kind!r}; there are {', '.join(sorted(TWINS))}.")
    if severity not in range(1, 6):
        raise SpecError(f"a severity of {severity} does not exist; give 1 to 5.")
    draws = Draws("twin", scene.key, kind)
    return _take(scene, TWINS[kind](settled(scene), scene, severity, draws))


def again(scene: Scene, how: str) -> Rendered:
    """The picture of a wearer who looks again: `closer`, `brighter`, `level`, or from the
    `other side`."""
    if how not in AGAIN:
        raise SpecError(f"nobody looks again {how!r}; there are {', '.join(sorted(AGAIN))}.")
    return _take(scene, Taken(AGAIN[how](settled(scene), scene)))


def _take(scene: Scene, taken: Taken) -> Rendered:
    staged = taken.staged
    traced = trace(
        staged.placed, staged.light, staged.view, scene.width, scene.height, seed=seed_of(scene)
    )
    light = _swept(traced.light, taken.sweep, staged.view)
    image = develop(
        light, Draws("develop", scene.key), noise=scene.noise, swing=scene.light_swing,
        limit=taken.limit,
    )  # fmt: skip
    return described(image, scene, staged, Traced(light, traced.owner, traced.depth))


def _dimmed(staged: Staged, _: Scene, severity: int, draws: Draws) -> Taken:
    """The lamps off or nearly so: what a sensor then adds is noise, and at last nothing helps."""
    part = (0.25, 0.1, 0.04, 0.016, 0.006)[severity - 1] * draws("part", 0.9, 1.1)
    light = staged.light
    lamps = tuple(lamp._replace(power=lamp.power * part) for lamp in light.lamps)
    light = light._replace(strength=light.strength * part, lamps=lamps)
    return Taken(staged._replace(light=light), limit=24.0)


def _covered(staged: Staged, scene: Scene, severity: int, draws: Draws) -> Taken:
    """A hand before the lens, nearer to the middle of the thing the worse it is."""
    view = staged.view
    middle, size = corners(staged.placed[0]).mean(0), largest(staged.placed[0])
    right, down, ahead = axes(view)
    f = focal(view, scene.width, scene.height)
    seen = project(view, scene.width, scene.height, middle[None])[0]
    span = size * f / seen[2]
    side = draws.pick("side", (-1.0, 1.0))
    aside = side * (0.95 - 0.19 * severity) * span
    at = (seen[0] + aside - scene.width / 2, seen[1] + 0.1 * span - scene.height / 2)
    # so far away that the hand is about as large as what it hides
    distance = float(np.clip(0.11 * f / max(0.55 * span, 1), 0.16, 0.5))
    distance = min(distance, 0.8 * float(seen[2]))
    point = np.asarray(view.eye) + (ahead + right * at[0] / f + down * at[1] / f) * distance
    heading = math.degrees(math.atan2(-ahead[0], ahead[1]))
    pose = moved(*point.tolist(), turn=heading)
    palm = Placed(hand(Draws("hands", scene.key), "cover", left=side < 0), pose, "hand")
    n = staged.things
    return Taken(staged._replace(placed=(*staged.placed[:n], palm, *staged.placed[n:])))


def _turning(staged: Staged, scene: Scene, severity: int, draws: Draws) -> Taken:
    """The head turns while the shutter is open."""
    length = (0.006, 0.014, 0.027, 0.045, 0.07)[severity - 1] * scene.width
    angle = draws("way", -0.5, 0.5) + (math.pi if draws.chance("back") else 0.0)
    return Taken(staged, sweep=(length * math.cos(angle), length * math.sin(angle)))


def _unfocused(staged: Staged, scene: Scene, severity: int, _: Draws) -> Taken:
    """The lens looks at another distance: a point becomes a disc of so many parts of the width."""
    disc = (0.004, 0.009, 0.017, 0.029, 0.045)[severity - 1] * scene.width
    view = staged.view
    depth = float(
        project(view, scene.width, scene.height, corners(staged.placed[0]).mean(0)[None])[0, 2]
    )
    focus = 0.45 * depth
    # a disc of radius r pixels is aperture × focal × |1/focus − 1/depth|
    aperture = disc / 2 / focal(view, scene.width, scene.height) / abs(1 / focus - 1 / depth)
    return Taken(staged._replace(view=view._replace(aperture=aperture, focus=focus)))


def _aside(staged: Staged, scene: Scene, severity: int, draws: Draws) -> Taken:
    """The wearer looks past the thing: a part of it is beyond the frame."""
    gone = (0.1, 0.25, 0.4, 0.55, 0.7)[severity - 1]
    view, w, h = staged.view, scene.width, scene.height
    middle = corners(staged.placed[0]).mean(0)
    seen = project(view, w, h, corners(staged.placed[0]))[:, :2]
    low, high = seen.min(0), seen.max(0)
    centre, half = (low + high) / 2, (high - low) / 2
    side = draws.pick("side", ("left", "right", "bottom"))
    u, v = centre / (w, h)
    beyond = (1 - 2 * gone) * half / (w, h)  # how far inside the frame the middle stays
    at = {"left": (beyond[0], v), "right": (1 - beyond[0], v), "bottom": (u, 1 - beyond[1])}[side]
    target = project(view, w, h, middle[None])[0, :2] / (w, h)
    shift = np.asarray(at) - (u, v)
    return Taken(staged._replace(view=gazing(view, middle, w, h, tuple((target + shift).tolist()))))


def _rolled(staged: Staged, _: Scene, severity: int, draws: Draws) -> Taken:
    """The head lies on its side."""
    angle = (8, 18, 32, 50, 78)[severity - 1] * draws.pick("side", (-1.0, 1.0))
    return Taken(staged._replace(view=staged.view._replace(roll=staged.view.roll + angle)))


TWINS: dict[str, Callable[[Staged, Scene, int, Draws], Taken]] = {
    "low-light": _dimmed,
    "occluded": _covered,
    "blurred": _turning,
    "out-of-focus": _unfocused,
    "truncated": _aside,
    "rotated": _rolled,
}
"""What can happen to a picture, by the names that the optics give it."""


def _closer(staged: Staged, scene: Scene) -> Staged:
    """A step towards the thing, so that it fills the picture."""
    view, w, h = staged.view, scene.width, scene.height
    middle, size = corners(staged.placed[0]).mean(0), largest(staged.placed[0])
    away = np.asarray(view.eye) - middle
    wanted = max(size * focal(view, w, h) / (0.7 * w), 0.16 + size / 2)
    near = middle + away * min(wanted / float(np.linalg.norm(away)), 1.0)
    return staged._replace(
        view=gazing(view._replace(eye=tuple(near.tolist()), focus=None), middle, w, h, (0.5, 0.5))
    )


def _brighter(staged: Staged, _: Scene) -> Staged:
    lamps = tuple(lamp._replace(power=lamp.power * 2) for lamp in staged.light.lamps)
    strength = max(staged.light.strength * 1.6, 0.6)
    return staged._replace(light=staged.light._replace(strength=strength, lamps=lamps))


def _level(staged: Staged, _: Scene) -> Staged:
    return staged._replace(view=staged.view._replace(roll=0.0))


def _other_side(staged: Staged, scene: Scene) -> Staged:
    """Two steps around the thing."""
    view = staged.view
    middle = corners(staged.placed[0]).mean(0)
    turn = Draws("other side", scene.key).pick("way", (-40.0, 40.0))
    eye = moved(turn=turn)[:3, :3] @ (np.asarray(view.eye) - middle) + middle
    moved_view: View = view._replace(eye=tuple(eye.tolist()))
    return staged._replace(view=gazing(moved_view, middle, scene.width, scene.height, (0.5, 0.52)))


AGAIN: dict[str, Callable[[Staged, Scene], Staged]] = {
    "closer": _closer,
    "brighter": _brighter,
    "level": _level,
    "other side": _other_side,
}
"""How a wearer can look again."""


def _swept(light: NDArray[np.float32], sweep: Sequence[float], view: View) -> NDArray[np.float32]:
    """The light of an eye that turns: the mean of the picture as seen on its way.

    A turn changes no perspective, so each moment is a homography of the same light.
    """
    import cv2

    steps = math.ceil(math.hypot(*sweep))
    if steps < 2:
        return light
    h, w = light.shape[:2]
    f = focal(view, w, h)
    lens = np.array([[f, 0, w / 2], [0, f, h / 2], [0, 0, 1]])
    total = np.zeros_like(light)
    for t in np.linspace(-0.5, 0.5, steps):
        yaw, pitch = sweep[0] * t / f, sweep[1] * t / f
        turn, _ = cv2.Rodrigues(np.array([pitch, -yaw, 0.0]))
        matrix = lens @ turn @ np.linalg.inv(lens)
        total += cv2.warpPerspective(light, matrix, (w, h), borderMode=cv2.BORDER_REPLICATE)
    return total / np.float32(steps)
