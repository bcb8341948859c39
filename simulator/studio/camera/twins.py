"""The same scene taken again: with the lamp off, a hand in front, out of focus, or better.

A physical twin changes what happened before the lens, not the pixels: so it can be asked whether
the optics' ladder, which changes pixels, predicts what a loss of light or focus costs. A severity
therefore means what it means there: as much similarity lost, as much covered, as much beyond the
frame, as far turned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import SpecError
from simulator.optics.calibrate import LADDER, CleanView, corrected
from simulator.optics.shape.geometry import ANGLES, bounds
from simulator.optics.shape.occlusion import COVERED
from simulator.optics.shape.truncation import VISIBLE
from simulator.studio.camera.developing import develop
from simulator.studio.camera.hands_in import HAND
from simulator.studio.camera.seeing import (
    axes,
    corners,
    focal,
    gazing,
    largest,
    project,
    visible_shares,
)
from simulator.studio.camera.staging import Staged, focused
from simulator.studio.camera.taking import described, seed_of, settled
from simulator.studio.solid.forms import Placed, View, moved
from simulator.studio.things.people import hand
from simulator.studio.tracing.tracer import Traced, glance, trace
from simulator.world.pictures.scene import Rendered, Scene, Twin
from simulator.world.pictures.traits import Draws

_NIGHT = 24.0
"""The most that ISO may rise above 100 in the dark."""
_GLANCE = 240
"""Pixels of the longer side at which shares are measured while the place of a hand is sought."""


def again(scene: Scene, how: str) -> Rendered:
    """The picture of a wearer who looks again: `closer`, `brighter`, `level`, or from the
    `other side`."""
    if how not in AGAIN:
        raise SpecError(f"nobody looks again {how!r}; there are {', '.join(sorted(AGAIN))}.")
    sitting = TwinSitting(scene)
    return sitting.taken(AGAIN[how](sitting.staged, scene))


class TwinSitting:
    """A scene on the stage, its clean picture, and what is done to it."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.staged = settled(scene)

    def twin(self, kind: str, severity: int) -> Twin:
        """What has happened to the picture; 1 is hardly seen, 5 is hard.

        Of several, the clean picture is traced once.

        >>> sorted(TWINS)
        ['blurred', 'low-light', 'occluded', 'out-of-focus', 'rotated', 'truncated']
        """
        if kind not in TWINS:
            raise SpecError(f"no physical twin {kind!r}; there are {', '.join(sorted(TWINS))}.")
        if severity not in range(1, 6):
            raise SpecError(f"a severity of {severity} does not exist; give 1 to 5.")
        return TWINS[kind](self, severity, Draws("twin", self.scene.key, kind))

    @cached_property
    def traced(self) -> Traced:
        """The light of the clean picture."""
        return self.trace(self.staged)

    @cached_property
    def clean(self) -> Rendered:
        """The picture to which nothing has happened."""
        return self.described(self.traced.light)

    @cached_property
    def reference(self) -> CleanView:
        """The clean thing, as the optics' ladder looks at it."""
        return CleanView(self.clean.image, bounds(self.clean.polygon))

    def trace(self, staged: Staged) -> Traced:
        """The light of a state of the stage."""
        scene = self.scene
        return trace(
            staged.placed, staged.light, staged.view, scene.width, scene.height, seed=seed_of(scene)
        )

    def taken(self, staged: Staged) -> Rendered:
        """Trace and develop another state of the stage."""
        traced = self.trace(staged)
        return described(self.developed(traced.light), self.scene, staged, traced)

    def described(self, light: NDArray[np.float32], limit: float = 32.0) -> Rendered:
        """A picture by other light, of things where they were."""
        image = self.developed(light, limit)
        return described(image, self.scene, self.staged, self.traced)

    def developed(self, light: NDArray[np.float32], limit: float = 32.0) -> NDArray[np.uint8]:
        """Light as this scene's phone shows it, always with the same grain."""
        scene = self.scene
        noise, draws = scene.noise * (1.0 if scene.is_ego else 0.5), Draws("develop", scene.key)
        subject = self.traced.owner == 0
        return develop(
            light, draws, noise=noise, swing=scene.light_swing, limit=limit, subject=subject
        )

    def glanced(self, staged: Staged) -> tuple[int, float]:
        """Pixels of the main thing at a glance, and the share of it that nothing covers."""
        w, h = self.scene.width, self.scene.height
        w, h = (max(round(n * _GLANCE / max(w, h)), 1) for n in (w, h))
        owner = glance(staged.placed, staged.light, staged.view, w, h).owner
        shares = visible_shares(owner, staged.placed[:1], staged.view)
        return int((owner == 0).sum()), shares[0]

    def until_alike(
        self, shown: Callable[[float], NDArray[np.float32]], severity: int, start: float,
        most: float, *, limit: float = 32.0, gain_matched: bool = False,
    ) -> Twin:  # fmt: skip
        """Change the light more or less until it is as unlike the clean picture as the ladder
        says. `shown` is the light at a strength from 0 to `most`."""

        def attempt(strength: float) -> tuple[float, NDArray[np.uint8]]:
            image = self.developed(shown(strength), limit)
            return self.reference.similarity(image, gain_matched=gain_matched), image

        target = LADDER[severity]
        _, reached, image = corrected(attempt, start, target, (most / 200, most))
        return Twin(self.clean._replace(image=image), target, reached)


def _dimmed(sitting: TwinSitting, severity: int, _: Draws) -> Twin:
    """Every lamp, and the sky, weaker by some stops: what a sensor then adds is noise, and from a
    point on the picture stays dark. Light adds up, so the scene need not be traced again."""
    light, start = sitting.traced.light, (2.0, 4.0, 5.5, 7.0, 8.5)[severity - 1]

    def weaker(stops: float) -> NDArray[np.float32]:
        return light * np.float32(2.0**-stops)

    return sitting.until_alike(weaker, severity, start, 14.0, limit=_NIGHT, gain_matched=True)


def _turning(sitting: TwinSitting, severity: int, draws: Draws) -> Twin:
    """The head turns while the shutter is open."""
    angle = draws("way", -0.5, 0.5) + (math.pi if draws.chance("back") else 0.0)
    light, view, width = sitting.traced.light, sitting.staged.view, sitting.scene.width

    def swept(length: float) -> NDArray[np.float32]:
        return _swept(light, (length * math.cos(angle), length * math.sin(angle)), view)

    start = (0.006, 0.014, 0.027, 0.045, 0.07)[severity - 1] * width
    return sitting.until_alike(swept, severity, start, 0.25 * width)


def _unfocused(sitting: TwinSitting, severity: int, _: Draws) -> Twin:
    """The lens looks at another distance: a point becomes a disc."""
    staged, scene = sitting.staged, sitting.scene
    view, middle = staged.view, corners(staged.placed[0]).mean(0)
    depth = float(project(view, scene.width, scene.height, middle[None])[0, 2])
    focus = 0.45 * depth
    # a disc of radius r pixels is aperture × focal × |1/focus − 1/depth|
    unit = focal(view, scene.width, scene.height) * abs(1 / focus - 1 / depth)

    def blurred(radius: float) -> NDArray[np.float32]:
        lens = view._replace(aperture=radius / unit, focus=focus)
        return sitting.trace(staged._replace(view=lens)).light

    start = (0.002, 0.0045, 0.0085, 0.0145, 0.0225)[severity - 1] * scene.width
    return sitting.until_alike(blurred, severity, start, 0.08 * scene.width)


def _covered(sitting: TwinSitting, severity: int, draws: Draws) -> Twin:
    """A hand before the lens: beside the thing, before its middle, at last nearer to the eye."""
    side = draws.pick("side", (-1.0, 1.0))
    before = sitting.glanced(sitting.staged)[1]

    def attempt(strength: float) -> tuple[float, Staged]:
        staged = _handed(sitting.staged, sitting.scene, side, strength)
        return sitting.glanced(staged)[1] / max(before, 1e-6), staged

    target = 1 - COVERED[severity]
    _, reached, staged = corrected(attempt, 0.6 + 0.09 * severity, target, (0.02, 2.5))
    return Twin(sitting.taken(staged), target, reached)


def _handed(staged: Staged, scene: Scene, side: float, strength: float) -> Staged:
    view = staged.view
    middle, size = corners(staged.placed[0]).mean(0), largest(staged.placed[0])
    right, down, ahead = axes(view)
    f = focal(view, scene.width, scene.height)
    seen = project(view, scene.width, scene.height, middle[None])[0]
    span = size * f / seen[2]
    aside = side * 2.0 * max(1 - strength, 0.0) * span
    at = (seen[0] + aside - scene.width / 2, seen[1] + 0.1 * span - scene.height / 2)
    # about as large as what it hides, and so near that its arm leaves the frame
    distance = float(np.clip(0.11 * f / max(0.55 * span, 1), 0.16, 0.3))
    distance = min(distance, 0.8 * float(seen[2])) / max(strength, 1.0)
    point = np.asarray(view.eye) + (ahead + right * at[0] / f + down * at[1] / f) * distance
    heading = math.degrees(math.atan2(-ahead[0], ahead[1]))
    pose = moved(*point.tolist(), turn=heading)
    palm = Placed(hand(Draws("hands", scene.key), "cover", left=side < 0), pose, HAND)
    n = staged.things
    return staged._replace(placed=(*staged.placed[:n], palm, *staged.placed[n:]))


def _aside(sitting: TwinSitting, severity: int, draws: Draws) -> Twin:
    """The wearer looks past the thing: a part of it is beyond the frame."""
    side = draws.pick("side", ("left", "right", "bottom"))
    before = sitting.glanced(sitting.staged)[0]

    def attempt(gone: float) -> tuple[float, Staged]:
        staged = _looking_past(sitting.staged, sitting.scene, side, gone)
        return sitting.glanced(staged)[0] / max(before, 1), staged

    target = VISIBLE[severity]
    _, reached, staged = corrected(attempt, 1 - target, target, (0.01, 1.2))
    return Twin(sitting.taken(staged), target, reached)


def _looking_past(staged: Staged, scene: Scene, side: str, gone: float) -> Staged:
    view, w, h = staged.view, scene.width, scene.height
    middle = corners(staged.placed[0]).mean(0)
    seen = project(view, w, h, corners(staged.placed[0]))[:, :2]
    low, high = seen.min(0), seen.max(0)
    centre, half = (low + high) / 2, (high - low) / 2
    u, v = centre / (w, h)
    beyond = (1 - 2 * gone) * half / (w, h)  # how far inside the frame the middle stays
    at = {"left": (beyond[0], v), "right": (1 - beyond[0], v), "bottom": (u, 1 - beyond[1])}[side]
    target = project(view, w, h, middle[None])[0, :2] / (w, h)
    shift = np.asarray(at) - (u, v)
    return staged._replace(view=gazing(view, middle, w, h, tuple((target + shift).tolist())))


def _rolled(sitting: TwinSitting, severity: int, draws: Draws) -> Twin:
    """The head lies on its side."""
    angle, view = ANGLES[severity], sitting.staged.view
    roll = view.roll + angle * draws.pick("side", (-1.0, 1.0))
    return Twin(sitting.taken(sitting.staged._replace(view=view._replace(roll=roll))), angle, angle)


TWINS: dict[str, Callable[[TwinSitting, int, Draws], Twin]] = {
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
    view = gazing(view._replace(eye=tuple(near.tolist())), middle, w, h, (0.5, 0.5))
    return staged._replace(view=focused(view, staged.placed[0]))


def _brighter(staged: Staged, _: Scene) -> Staged:
    lamps = tuple(lamp._replace(power=lamp.power * 2) for lamp in staged.light.lamps)
    strength = max(staged.light.strength * 1.6, 0.6)
    return staged._replace(light=staged.light._replace(strength=strength, lamps=lamps))


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
    "level": lambda staged, _: staged._replace(view=staged.view._replace(roll=0.0)),
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
