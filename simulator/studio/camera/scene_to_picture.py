"""From a scene to a picture: stage it, trace it, develop it, and say what can be seen in it."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import SpecError
from mmrag.records import Box, Polygon
from simulator.studio.camera.photo_development import develop
from simulator.studio.camera.product_shot import stage_product
from simulator.studio.camera.staging import Staged, place_of, prints_with_name, stage
from simulator.studio.camera.view_geometry import (
    PrintSight,
    corners,
    look_at_print,
    project,
    visible_shares,
)
from simulator.studio.camera.wearer_hands import HAND
from simulator.studio.solid.scene_types import View
from simulator.studio.things.kinds import KINDS, PLACES_BY_USE
from simulator.studio.tracing.tracer import Traced, glance, trace
from simulator.world.pictures.referents import is_attended
from simulator.world.pictures.scene import Rendered, Scene
from simulator.world.pictures.traits import Draws, hashed_number

RENDERER = "traced-8"
"""The renderer and its version, raised whenever a pixel changes: encoders are trained on a version,
and worlds name theirs."""

_TRIES = 5
_ENOUGH = 0.9
"""Of the main thing that is to be seen; of the others a little less."""
_UNATTENDED = 0.3
"""What it costs a view that nothing tells the main thing from the others."""
_PRINT = 8.0
"""Pixels of a capital letter from which on a print is said to be readable."""
_FACING = 0.25
"""How squarely it must then be seen (`PrintSight.facing`)."""
_RANGES = (
    ("entity_scale", 0.05, 20.0),
    ("clutter", 0.0, 1.0),
    ("turn", 0.0, 4.0),
    ("off_centre", 0.0, 4.0),
    ("light_swing", 0.0, 4.0),
    ("noise", 0.0, 20.0),
)
"""Lowest and highest of what a scene may say."""


def compose(scene: Scene) -> Rendered:
    """Take the picture of a scene. Equal scenes give equal bytes."""
    staged = stage_unhidden(scene)
    traced = trace(
        staged.placed, staged.light, staged.view, scene.width, scene.height, seed=seed_of(scene)
    )
    draws = Draws("develop", scene.key)
    noise, swing = scene.noise * (1.0 if scene.is_ego else 0.5), scene.light_swing
    white = None if scene.is_ego else traced.white
    image = develop(
        traced.light, draws, noise=noise, swing=swing, white=white, subject=traced.owner == 0
    )
    return described(image, scene, staged, traced)


@lru_cache(maxsize=2)
def stage_unhidden(scene: Scene) -> Staged:
    """A scene seen from where its things are not hidden.

    The last two stay: who looks again looks at a scene that was just settled, for up to half of
    what a picture costs.
    """
    _check(scene)
    if not scene.is_ego:
        return stage_product(scene)
    best: tuple[float, Staged] | None = None
    full: dict[str, SpecError] = {}
    w, h = (max(round(n * 240 / max(scene.width, scene.height)), 1)
            for n in (scene.width, scene.height))  # fmt: skip
    for attempt in range(_TRIES):
        place = place_of(scene, full)
        try:
            staged = stage(scene, attempt, place)
        except SpecError as error:  # no room for them there: they are met elsewhere
            full[place] = error
            continue
        seen = glance(staged.placed, staged.light, staged.view, w, h)
        shares = visible_shares(seen.owner, staged.placed[: staged.things], staged.view)
        held = len(staged.placed) > staged.things and staged.placed[1].name == HAND
        others = shares[1:] if scene.whole_others else ()
        good = min(shares[0] + (0.3 if held else 0.0), *(s + 0.1 for s in others), 1.0)
        if scene.attended and scene.others and not scene.pointed_at:
            owners = np.where(seen.owner < staged.things, seen.owner + 1, 0).astype(np.uint8)
            seen_all = len(np.unique(owners)) > staged.things
            good -= 0 if seen_all and is_attended(owners, staged.things) else _UNATTENDED
        if scene.legible:
            good = min(good, _name_shown(scene, staged, seen.owner))
        if best is None or good > best[0]:
            best = (good, staged)
        if good >= _ENOUGH:
            break
    if best is None and scene.place:  # the places of that use are all too full for it
        return stage_unhidden(msgspec.structs.replace(scene, place=""))
    if best is None:
        raise next(iter(full.values()))
    return best[1]


def _name_shown(scene: Scene, staged: Staged, owner: NDArray[np.int16]) -> float:
    """How much of the name of what is to be read is seen; none of it from behind."""
    main, (height, width) = staged.placed[0], owner.shape
    names = prints_with_name(main.thing, scene.main)
    sights = [look_at_print(p, main, staged.view, width, height) for p in names]
    return max((_shown(s, owner) for s in sights if s.facing > _FACING), default=0 if names else 1)


def _shown(sight: PrintSight, owner: NDArray[np.int16]) -> float:
    """The part of a print that nothing stands before and that lies in the frame."""
    import cv2

    area = np.zeros(owner.shape, np.uint8)
    cv2.fillConvexPoly(area, np.rint(sight.corners).astype(np.int32), 1)
    inside = owner[area.astype(bool)]
    low, high = sight.corners.min(0), sight.corners.max(0)
    frame = owner.shape[::-1]
    if not inside.size or (high - low).min() <= 0:
        return 0.0
    within = float(np.prod(np.clip(high, 0, frame) - np.clip(low, 0, frame)) / np.prod(high - low))
    return float((inside == 0).mean()) * within


def _check(scene: Scene) -> None:
    """Refuse in one line what no picture can be taken of."""
    for side in (scene.width, scene.height):
        if not (32 <= side <= 8192 and side % 1 == 0):
            raise SpecError(
                f"a picture of {scene.width} × {scene.height} is not possible; give whole numbers "
                "from 32 to 8192."
            )
    for name, low, high in _RANGES:
        if not low <= (value := getattr(scene, name)) <= high:  # neither does nan
            raise SpecError(f"{name}={value} is not possible; give {low:g} to {high:g}.")
    if scene.place not in ("", *PLACES_BY_USE):
        raise SpecError(
            f"place={scene.place!r} is not possible; give {', '.join(PLACES_BY_USE)}, or nothing "
            "for anywhere."
        )
    if not scene.key.isprintable():
        raise SpecError(f"the key {scene.key!r} holds what cannot be printed; give plain text.")
    for look in (scene.main, *scene.others):
        if look.kind not in KINDS:
            raise SpecError(
                f"no picture of a {look.kind!r} can be taken; there are {', '.join(sorted(KINDS))}."
            )
        for text in (look.label, look.sublabel):
            if text is not None and not _can_be_set(text):
                raise SpecError(
                    f"{text[:40]!r} cannot be printed on a {look.kind}; give Latin letters or "
                    "figures, at most 200, or None."
                )


def _can_be_set(text: str) -> bool:
    """Whether the fonts that ship have what a text needs."""
    letters = [c for c in text if c.isalpha()]
    return (
        len(text) <= 200
        and text.isprintable()
        and any(c.isalnum() for c in text)
        and all("LATIN" in unicodedata.name(c, "") for c in letters)
    )


def seed_of(scene: Scene) -> int:
    """Where a scene's light paths start."""
    return int(hashed_number("paths", scene.key, scene.main.kind) * (1 << 30))


def described(image: NDArray[np.uint8], scene: Scene, staged: Staged, traced: Traced) -> Rendered:
    """A picture with the outlines of its things and what can be read in it."""
    things = staged.placed[: staged.things]
    masks = tuple(traced.owner == n for n in range(staged.things))
    outlines = [outline(mask) or _box(staged, n, scene) for n, mask in enumerate(masks)]
    shares = visible_shares(traced.owner, things, staged.view)
    texts = _texts(scene, staged, traced) if scene.legible else ()
    hands = [n for n, item in enumerate(staged.placed) if item.name == HAND]
    hand = np.isin(traced.owner, hands)
    return Rendered(
        image, outlines[0], tuple(outlines[1:]), texts, shares, masks, hand, traced.depth
    )


def outline(mask: NDArray[np.bool_]) -> Polygon:
    """The contour of a mask's largest piece, of at most 64 points; of crumbs, their hull."""
    import cv2

    rows = np.ascontiguousarray(mask, np.uint8)
    side = 2 * (max(*mask.shape) // 300) + 1
    whole = cv2.morphologyEx(rows, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))
    contours, _ = cv2.findContours(whole, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    if not contours:
        return ()
    largest = max(contours, key=cv2.contourArea)
    if cv2.contourArea(largest) < 0.6 * int(mask.sum()):
        largest = cv2.convexHull(np.concatenate(contours))
    coarse = 0.6
    while len(near := cv2.approxPolyDP(largest, coarse, True)) > 64:
        coarse *= 1.3
    if len(near) < 3:
        x, y, w, h = cv2.boundingRect(largest)
        return ((x, y), (x + w, y), (x + w, y + h), (x, y + h))
    return tuple((round(float(x), 1), round(float(y), 1)) for x, y in near[:, 0])


def _box(staged: Staged, number: int, scene: Scene) -> Polygon:
    """Where a thing that cannot be seen would be."""
    seen = project(staged.view, scene.width, scene.height, corners(staged.placed[number]))[:, :2]
    seen = np.clip(seen, 0, (scene.width, scene.height))
    (x0, y0), (x1, y1) = seen.min(0).tolist(), seen.max(0).tolist()
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def _texts(scene: Scene, staged: Staged, traced: Traced) -> tuple[tuple[str, Box], ...]:
    """The main thing's prints that are large enough, face the eye and are not covered."""
    main, found = staged.placed[0], list[tuple[str, Box]]()
    view: View = staged.view
    for mark in main.thing.prints:
        sight = look_at_print(mark, main, view, scene.width, scene.height)
        if sight.cap < _PRINT * max(scene.width, 240) / 720 or sight.facing < _FACING:
            continue
        if _shown(sight, traced.owner) >= 0.6:
            points = np.clip(sight.corners, 0, (scene.width, scene.height))
            (x0, y0), (x1, y1) = np.round(points.min(0), 1), np.round(points.max(0), 1)
            found.append((mark.text, (float(x0), float(y0), float(x1), float(y1))))
    return tuple(found)
