"""The same scene taken again by a wearer who looks again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mmrag.errors import SpecError
from mmrag.registry import unknown_name_message
from simulator.studio.camera.photo_development import develop
from simulator.studio.camera.scene_to_picture import described, seed_of, stage_unhidden
from simulator.studio.camera.staging import Staged, focus_view
from simulator.studio.camera.view_geometry import aim_view, corners, focal, larger_side
from simulator.studio.solid.scene_types import View, moved
from simulator.studio.tracing.tracer import trace
from simulator.world.pictures.scene import Rendered, Scene
from simulator.world.pictures.traits import Draws


def retake(scene: Scene, how: str) -> Rendered:
    """The picture of a wearer who looks again: `closer`, `brighter`, `level`, or from the
    `other side`."""
    if how not in AGAIN:
        raise SpecError(unknown_name_message("second look", how, sorted(AGAIN)))
    staged = AGAIN[how](stage_unhidden(scene), scene)
    traced = trace(
        staged.placed, staged.light, staged.view, scene.width, scene.height, seed=seed_of(scene)
    )
    image = develop(
        traced.light, Draws("develop", scene.key), swing=scene.light_swing,
        noise=scene.noise * (1.0 if scene.is_ego else 0.5), subject=traced.owner == 0,
    )  # fmt: skip
    return described(image, scene, staged, traced)


def _closer(staged: Staged, scene: Scene) -> Staged:
    """A step towards the thing, so that it fills the picture."""
    view, w, h = staged.view, scene.width, scene.height
    middle, size = corners(staged.placed[0]).mean(0), larger_side(staged.placed[0])
    away = np.asarray(view.eye) - middle
    wanted = max(size * focal(view, w, h) / (0.7 * w), 0.16 + size / 2)
    near = middle + away * min(wanted / float(np.linalg.norm(away)), 1.0)
    view = aim_view(view._replace(eye=tuple(near.tolist())), middle, w, h, (0.5, 0.5))
    return staged._replace(view=focus_view(view, staged.placed[0]))


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
    return staged._replace(
        view=aim_view(moved_view, middle, scene.width, scene.height, (0.5, 0.52))
    )


AGAIN: dict[str, Callable[[Staged, Scene], Staged]] = {
    "closer": _closer,
    "brighter": _brighter,
    "level": lambda staged, _: staged._replace(view=staged.view._replace(roll=0.0)),
    "other side": _other_side,
}
"""How a wearer can look again."""
