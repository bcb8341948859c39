"""Light traced through a scene by Mitsuba, cleaned by Open Image Denoise.

Two paths a pixel and a denoiser that is told albedo and direction of every surface: the same pass
says which thing each pixel shows, and how far it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import Unavailable
from simulator.studio import INSTALL
from simulator.studio.solid.scene_types import Array, Light, Placed, View
from simulator.studio.tracing.loaded_scene import (
    LoadedScene,
    brightest_direction,
    capacity_for,
    horizon,
    opaque,
    scene_for,
)
from simulator.studio.tracing.merged_meshes import sort_pieces
from simulator.studio.tracing.mitsuba_variant import mitsuba
from simulator.studio.tracing.surface_structure import structured
from simulator.world.pictures.noise_tiles import TILE, patch

_GUIDES = 4
"""Looks a pixel at what a surface is, spread over it: cheap, for no light is followed."""

_COARSE = 0.64
"""Of a picture's sides: light is followed and cleaned at this size, colours are as fine as it."""
_BLACK = np.float32(0.05)
"""Added to a surface's colour before light is divided by it."""
_SOFT, _BLURRED = 0.0008, 0.0017
"""Radius of a point that is out of focus, as a part of the picture's larger side: from the first on
colours are no finer than light, from the second on surfaces are looked at more often."""
_SPARK = 40.0
"""Light as a multiple of the picture's mean from which on it is a spark."""


class Seen(NamedTuple):
    """What each pixel shows."""

    owner: NDArray[np.int16]
    """Which of the placed things; -1 is none."""
    depth: NDArray[np.float32]
    """Metres from the eye; 0 where nothing is."""


class Traced(NamedTuple):
    """A picture before it is developed, and what its pixels show."""

    light: NDArray[np.float32]
    """Height × width × 3, linear, without bounds."""
    owner: NDArray[np.int16]
    """Which of the placed things a pixel shows; -1 is none."""
    depth: NDArray[np.float32]
    """Metres from the eye; 0 where nothing is."""
    white: NDArray[np.float32]
    """Red, green, blue of what would be white: the light on all that has a colour."""


def trace(placed: Sequence[Placed], light: Light, view: View, width: int, height: int, *,
    paths: int = 2, seed: int = 0) -> Traced:  # fmt: skip
    """What an eye sees of a scene. Equal scenes give equal bytes on one machine."""
    try:
        return _traced(placed, light, view, (width, height), paths, seed)
    except MemoryError as error:
        raise Unavailable(
            f"memory is too short for a picture of {width} × {height}: leave 3 GB to each worker, "
            "use fewer workers, or ask for smaller pictures."
        ) from error


def _traced(placed: Sequence[Placed], light: Light, view: View, frame: tuple[int, int], paths: int,
    seed: int) -> Traced:  # fmt: skip
    with _ALONE:
        stage = _staged(placed, light, view)
        wide, high = (max(round(n * _COARSE), 1) for n in frame)
        coarse = _eye(view, wide, high)
        raw = _rendered(stage, "light", sensor=coarse, seed=seed, spp=paths)[..., :3]
        seen, coloured, grain, at = _seen(stage, _eye(view, *frame), seed)
        blur = _blur(view, seen.depth)
        sharp = float((blur < _BLURRED).mean()) > 0.5
        looks = _GUIDES if sharp else 4 * _GUIDES
        even = _eye(view, *frame, "stratified")
        guides = _rendered(stage, "guides", sensor=even, seed=seed, spp=looks)[..., -6:]
    crisp = coloured & (blur < _SOFT)
    clean, white = _cleaned(_clipped(raw), guides, crisp, sharp)
    wide = _pixel(view, at, guides[..., 3:], crisp & _inside(seen.owner), frame)
    clean = structured(clean, grain, at, guides[..., 3:], wide, _sun(light))
    if light.air:
        clean = _wisps(clean, seen.depth, view)
        air = (1 - np.exp(-seen.depth / light.air))[..., None]
        clean += ((horizon(light.sky) * light.strength - clean) * air).astype(np.float32)
    return Traced(clean, *seen, white)


def _wisps(
    light: NDArray[np.float32], depth: NDArray[np.float32], view: View
) -> NDArray[np.float32]:
    """The open sky with clouds as finely torn as clouds are: its map is coarser than a picture."""
    import cv2

    sky = cv2.erode((depth <= 0).astype(np.uint8), np.ones((9, 9), np.uint8)).astype(bool)
    if not sky.any():
        return light
    side, (height, width) = max(depth.shape), depth.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    for noise, part, reach in (("cloud", 0.5, 0.012), ("cloud", 0.13, 0.006), ("fine", 0.2, 0.002)):
        tile = patch(noise, TILE, TILE)
        scale = np.float32(TILE / (part * side))
        at = (x * scale % TILE, y * scale % TILE)
        for axis, lag in ((x, 0), (y, 211)):
            found = cv2.remap(
                np.roll(tile, lag, 0), *at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP
            )
            axis += reach * side * math.radians(view.angle) * found
    torn = cv2.remap(light, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    from_sky = cv2.remap(sky.astype(np.float32), x, y, cv2.INTER_LINEAR) > 0.999
    return np.where((sky & from_sky)[..., None], torn, light).astype(np.float32)


def _inside(owner: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Where a pixel shows one thing alone."""
    import cv2

    around = np.ones((3, 3), np.uint8)
    return np.asarray(cv2.erode(owner, around) == cv2.dilate(owner, around))


def _pixel(
    view: View, at: Array, normal: Array, known: NDArray[np.bool_], frame: tuple[int, int]
) -> NDArray[np.float32]:
    """Metres of a surface that a pixel covers; infinite where that is not known."""
    away = np.asarray(view.eye, np.float32) - at
    distance = np.linalg.norm(away, axis=-1)
    slant = np.abs((away * normal).sum(-1)) / np.maximum(distance, 1e-6)
    across = 2 * math.tan(math.radians(view.angle) / 2) / max(frame)
    return np.where(known, distance * across / np.clip(slant, 0.12, 1), np.inf).astype(np.float32)


def _sun(light: Light) -> Array:
    """The strongest lamp as a point (x, y, z, 1), or the sky's brightest part as a direction."""
    if light.lamps:
        lamp = max(light.lamps, key=lambda lamp: lamp.power * lamp.width * lamp.height)
        return np.array((*lamp.at, 1.0), np.float32)
    x, y, z = brightest_direction(light.sky)
    c, s = math.cos(math.radians(light.turn)), math.sin(math.radians(light.turn))
    return np.array((c * x - s * y, s * x + c * y, z, 0.0), np.float32)


def _blur(view: View, depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """Radius of each pixel's point on the film, as a part of its larger side."""
    focus = view.focus or math.dist(view.eye, view.target)
    away = np.where(depth > 0, depth, 1e6)
    lens = view.aperture / (2 * math.tan(math.radians(view.angle) / 2))
    return (lens * np.abs(1 / focus - 1 / away)).astype(np.float32)


def _cleaned(
    light: Array, guides: Array, coloured: NDArray[np.bool_], sharp: bool
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Light without noise, as large as its guides, and how white looks in it.

    Shades are smooth, and may be stretched; what is `coloured` by what it falls on alone has its
    colours as fine as they are known.
    """
    import cv2

    frame, small = guides.shape[1::-1], light.shape[1::-1]
    albedo, normal = np.clip(guides[..., :3], 0, 1), guides[..., 3:]
    less, across = (cv2.resize(g, small, interpolation=cv2.INTER_AREA) for g in (albedo, normal))
    clean = _denoised(light, less, across, sharp)
    wide = np.asarray(cv2.resize(clean, frame), np.float32)
    shade = cv2.resize(clean / (less + _BLACK), frame)
    white = np.median(shade[coloured], axis=0) if coloured.any() else np.ones(3, np.float32)
    if sharp and coloured.any():  # the sky's light smeared on a leaf is many times the leaf's own
        inside = cv2.erode(coloured.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
        fine, around = shade * (albedo + _BLACK), np.ones((3, 3), np.uint8)
        # where two lights meet in a pixel their mean fits neither side: none shines beyond both
        fine = np.clip(fine, 0.85 * cv2.erode(wide, around), 1.15 * cv2.dilate(wide, around))
        wide[inside] = fine[inside]
    return wide, white.astype(np.float32)


def glance(placed: Sequence[Placed], light: Light, view: View, width: int, height: int) -> Seen:
    """What each pixel would show, without any light: a hundred times as fast as `trace`."""
    with _ALONE:
        stage = _staged(placed, light, view, fine=False)
        return _seen(stage, _eye(view, width, height), 0).seen


_ALONE = RLock()
_shown: tuple[Sequence[Placed], Light, View, LoadedScene] | None = None
"""What stands on the stage now, and for which eye: another look at the same scene need not set it
up again."""


def _staged(
    placed: Sequence[Placed], light: Light, view: View, *, fine: bool = True
) -> LoadedScene:
    """A scene on the stage; a glance need not be `fine`, with its sheets as sharp as an eye needs
    them."""
    global _shown
    if (
        _shown is not None
        and _same(_shown[0], placed)
        and _shown[1] is light
        and (not fine or _shown[2].eye == view.eye)
    ):
        return _shown[3]
    _shown = None
    sorts = sort_pieces(placed, view.eye)
    stage = scene_for(capacity_for(sorts, light.lamps))
    if not stage.is_warm:  # else the first picture has a kernel of its own
        stage.show(sorts, light)
        eye = _eye(View((0, 0, 1), (0, 1, 1)), 8, 8)
        _rendered(stage, "light", sensor=eye, spp=1, seed=0)
        stage.is_warm = True
    stage.show(sorts, light)
    if isinstance(placed, tuple):  # a list may be changed behind our back
        _shown = (placed, light, view, stage)
    return stage


def _same(one: Sequence[Placed], two: Sequence[Placed]) -> bool:
    """Whether the same things stand in the same places."""
    return len(one) == len(two) and all(
        a.thing is b.thing and np.array_equal(a.pose, b.pose) for a, b in zip(one, two, strict=True)
    )


@lru_cache(maxsize=3)
def _integrator(what: str) -> Any:
    return mitsuba().load_dict(
        {
            "light": {"type": "path", "max_depth": 4, "rr_depth": 1},
            "guides": {"type": "aov", "aovs": "al:albedo,nn:sh_normal"},
            "owners": {"type": "aov", "aovs": "id:shape_index,pi:prim_index,de:depth,po:position"},
        }[what]
    )


def _rendered(stage: LoadedScene, what: str, **how: Any) -> NDArray[np.float32]:
    image = mitsuba().render(stage.scene, integrator=_integrator(what), **how)
    return np.nan_to_num(np.array(image), posinf=0, neginf=0)


def _clipped(light: NDArray[np.float32]) -> NDArray[np.float32]:
    """Light without sparks: a path that hits the sun by chance, and the sun itself, are white
    anyway, and more than a denoiser can hold."""
    light = np.maximum(light, 0)
    luma = light.mean(-1)
    most = _SPARK * float(np.exp(np.log(luma + 1e-4).mean()))
    return light * np.minimum(most / np.maximum(luma, 1e-9), 1)[..., None]


class _Found(NamedTuple):
    """What one look a pixel finds."""

    seen: Seen
    coloured: NDArray[np.bool_]
    """Where something has a colour of its own: neither sky nor glass nor lamp."""
    grain: NDArray[np.int8]
    """What it is made of."""
    at: NDArray[np.float32]
    """Where that is, metres."""


def _seen(stage: LoadedScene, eye: Any, seed: int) -> _Found:
    found = _rendered(stage, "owners", sensor=eye, spp=1, seed=seed)
    depth = found[..., -4]
    shape, triangle = (np.rint(found[..., k]).astype(np.int64) for k in (-6, -5))
    shape = np.where(depth > 0, shape, -1)
    owner, grain = stage.owners(shape, triangle)
    seen = Seen(owner, np.where(owner >= 0, depth, 0).astype(np.float32))
    return _Found(seen, shape == stage.plain, grain, found[..., -3:])


def _eye(view: View, width: int, height: int, sampler: str = "independent") -> Any:
    """A camera whose lens is no part of the kernel."""
    mi = mitsuba()
    eye = mi.load_dict(_camera(view, width, height, sampler))
    numbers = mi.traverse(eye)
    for name in ("aperture_radius", "focus_distance"):
        numbers[name] = opaque(mi.Float(numbers[name]))
    numbers.update()
    return eye


def _camera(view: View, width: int, height: int, sampler: str) -> dict[str, Any]:
    mi = mitsuba()
    away = np.asarray(view.target, np.float64) - np.asarray(view.eye)
    distance = float(np.linalg.norm(away))
    a = math.radians(view.roll)
    right = np.cross(away / distance, (0, 0, 1))
    right /= max(float(np.linalg.norm(right)), 1e-9)
    up = np.cross(right, away / distance) * math.cos(a) - right * math.sin(a)
    return {
        "type": "thinlens",
        "fov": view.angle,
        "fov_axis": "larger",
        "aperture_radius": max(view.aperture, 1e-5),
        "focus_distance": view.focus or distance,
        "to_world": mi.ScalarTransform4f().look_at(list(view.eye), list(view.target), up.tolist()),
        "film": {
            "type": "hdrfilm",
            "width": width,
            "height": height,
            "rfilter": {"type": "box"},
            "pixel_format": "rgb",
        },
        "sampler": {"type": sampler, "sample_count": 1},
    }


def _denoised(light: Array, albedo: Array, normal: Array, sharp: bool) -> NDArray[np.float32]:
    try:
        from pyoidn.denoise import denoise  # type: ignore[import-untyped]

        images = (np.ascontiguousarray(a, np.float32) for a in (light, albedo, normal))
        clean = denoise(*images, hdr=True, clean_aux=sharp, quality="fast")
    except (ImportError, OSError, RuntimeError) as error:
        why = " ".join(str(error).split())[:200]
        raise Unavailable(
            f"Open Image Denoise, which cleans pictures, does not run here ({why}): run "
            f"`{INSTALL}`, and leave 3 GB of memory to each worker or use fewer workers."
        ) from error
    return np.asarray(clean, np.float32)
