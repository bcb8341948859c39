"""From a scene in words to things in metres: the place, where each thing stands, light and eye."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np

from mmrag.errors import SpecError
from simulator.studio.camera.view_geometry import (
    approach_view,
    corners,
    frame_view,
    larger_side,
    look_at_print,
    project,
    usual_share,
)
from simulator.studio.camera.wearer_hands import (
    held_thing,
    holding_hand,
    pointing_hand,
    reaching_hand,
)
from simulator.studio.places.place_kinds import PLACES
from simulator.studio.places.place_stage import Setting, Spot, Subject
from simulator.studio.solid.scene_types import (
    Array,
    Light,
    Placed,
    Print,
    Stands,
    Thing,
    View,
    moved,
)
from simulator.studio.things.kinds import KINDS, build, places_of
from simulator.world.facts.look import Look
from simulator.world.pictures.scene import Scene
from simulator.world.pictures.traits import Draws

READABLE = 22.0
"""Pixels of a capital letter that is meant to be read, before it is seen askew."""
UNREAD = 4.5
"""Pixels of a capital letter that nobody reads."""
_LENS = (60.0, 72.0)
"""Fields of view along the larger side, degrees."""
_APERTURE = 0.0012
_SHALLOW = 0.6
"""Metres nearer than which all but a thin slice would be out of focus."""
_HELD_TRIES = 2
"""A table may hide what is held, wherever it is held up: then it stands."""
_TINY = 0.06
"""Metres below which nothing is held up to be read: one bends over it, which is nearer."""
_ATTENDED = 0.25
"""Of the usual: how far from the middle a thing is to which one turns, when others are in view."""
_AMID = 0.16
"""Of the shorter side: nearer to the middle than this it then is."""
_EDGE, _TURNED = 0.1, 0.12
"""Of the sides: where the middles of others have to lie, and how far one turns for that."""
_THIN = 0.35
"""Of its width: what is less deep, as a sign, shows nothing but its edge when it is turned away."""
_BENT = (48.0, 66.0)
"""Degrees by which one looks down who reads what lies flat."""


class Staged(NamedTuple):
    """All that is to be traced."""

    placed: tuple[Placed, ...]
    """What is asked about first, then `Scene.others`, then all else."""
    things: int
    """How many of them are of the world."""
    light: Light
    view: View


def place_of(scene: Scene, full: Collection[str] = ()) -> str:
    """Where a thing is met: one of its places, another one if that is too `full` for it."""
    places = places_of(scene.main.kind, scene.place)
    draw = Draws("scene", scene.key, scene.main.kind, True)
    return draw.pick("place", [p for p in places if p not in full] or places)


def stage(scene: Scene, attempt: int = 0, place: str | None = None) -> Staged:
    """A first-person scene. Another attempt is another eye in the same place."""
    draw = Draws("scene", scene.key, scene.main.kind, True)
    tried = Draws("view", scene.key, scene.main.kind, attempt)
    looks = (scene.main, *scene.others)
    things = tuple(thing_of(look) for look in looks)
    kind = KINDS[scene.main.kind]
    place = place or place_of(scene)
    attended = scene.attended and bool(scene.others)
    order = list(range(len(looks)))  # named first to the place is what is asked about, if told
    if not attended:
        order.sort(key=lambda i: draw(f"order{i}"))
    sizes = tuple(_size(things[i]) for i in order)
    setting = _setting(place, scene.key, Subject(sizes, kind.stands, scene.clutter, attended))
    spots = [setting.spots[order.index(i)] for i in range(len(looks))]
    light = setting.light
    held = kind.held and draw.chance("held", 0.3)
    held = held and not (scene.legible and max(_size(things[0])) < _TINY)
    if held and not scene.others and attempt < _HELD_TRIES:
        held, view = _held(scene, things[0], setting, tried)
        return Staged((*held, *setting.placed), 1, light, view)
    placed = tuple(
        Placed(thing, _pose(scene, look, kind.stands, spot, setting, draw, n), f"thing_{n}")
        for n, (thing, look, spot) in enumerate(zip(things, looks, spots, strict=True))
    )
    view = _view(scene, placed, setting, draw, tried)
    placed = hide_names(scene, placed, view, turning=kind.stands in ("surface", "ground"))
    if scene.pointed_at:
        hand = (pointing_hand(scene.key, view, placed[0], (scene.width, scene.height)),)
    else:
        hand = reaching_hand(scene.key, view, tried) if len(looks) == 1 else ()
    return Staged((*placed, *hand, *setting.placed), len(looks), light, view)


@lru_cache(maxsize=8)
def thing_of(look: Look) -> Thing:
    """The thing that a look describes."""
    return build(look)


def prints_with_name(thing: Thing, look: Look) -> list[Print]:
    """The prints of a thing that say its name."""
    words = (look.label or "").lower().split()
    return [p for p in thing.prints if any(w in words for w in p.text.lower().split())]


def hide_names(
    scene: Scene, placed: tuple[Placed, ...], view: View, *, turning: bool
) -> tuple[Placed, ...]:
    """The same things with names that cannot be read, but for what is meant to be: turned away
    where that is possible, else without a name."""
    looks = (scene.main, *scene.others)
    return tuple(
        item if (n == 0 and scene.legible) else _unread(item, look, view, scene, turning)
        for n, (item, look) in enumerate(zip(placed, looks, strict=True))
    )


def _unread(item: Placed, look: Look, view: View, scene: Scene, turning: bool) -> Placed:
    if not can_be_read(item, view, scene.width, scene.height):
        return item
    draws = Draws("unread", scene.key, look.kind, look.variant)
    side = 1 if draws.chance("side") else -1
    thin = _is_thin(item.thing)
    turning = turning and look.kind != "shopfront"  # its back is a wall
    turning = turning and not (thin and draws.chance("front", 0.6))
    for degrees in (75, 100, 130, 165) if turning else ():
        turned = item._replace(pose=item.pose @ moved(turn=side * degrees))
        if thin and _edge_on(turned, view):
            continue
        if not can_be_read(turned, view, scene.width, scene.height):
            return turned
    bare = msgspec.structs.replace(look, label=None, sublabel=None)
    return item._replace(thing=thing_of(bare))


def _is_thin(thing: Thing) -> bool:
    """Whether its upper half, a sign without its foot, is a board."""
    at = np.concatenate([part.mesh.vertices for part in thing.parts])
    wide, deep = np.ptp(at[at[:, 2] > at[:, 2].max() / 2], axis=0)[:2]
    return bool(deep < _THIN * wide)


def _edge_on(item: Placed, view: View) -> bool:
    """Whether of a thin thing little but its edge is seen."""
    towards = np.asarray(view.eye)[:2] - item.pose[:2, 3]
    ahead = item.pose[:2, 1] / np.linalg.norm(item.pose[:2, 1])
    return abs(float(ahead @ towards)) < 0.5 * float(np.linalg.norm(towards))


def can_be_read(item: Placed, view: View, width: int, height: int) -> bool:
    """Whether any print of a thing is large enough and turned to the eye."""
    sights = [look_at_print(p, item, view, width, height) for p in item.thing.prints]
    return any(s.cap * min(max(s.facing, 0) * 1.6, 1) > UNREAD and s.facing > 0.12 for s in sights)


def _size(thing: Thing) -> tuple[float, float, float]:
    low, high = thing.bounds
    wide, deep = (max(2 * float(max(high[k], -low[k])), 1e-3) for k in (0, 1))
    return wide, deep, max(float(high[2]), 1e-3)


@lru_cache(maxsize=2)
def _setting(place: str, key: str, need: Subject) -> Setting:
    return PLACES[place](Draws("place", place, key), need)


def _pose(
    scene: Scene, look: Look, stands: Stands, spot: Spot, setting: Setting, draw: Draws, number: int
) -> Array:
    """Where a thing stands, turned as one would find it, or to the eye if it is to be read."""
    legible = scene.legible and number == 0
    side = draw.pick(f"side{number}", (-1.0, 1.0))
    turn = side * draw(f"turn{number}", 6, 48) * scene.turn * (0.2 if legible else 1.0)
    at = spot.at
    if stands == "wall":
        angle = spot.turn
    elif stands == "flat" and not legible:
        angle = spot.turn + turn * 0.5
    elif look.kind in ("tower", "bridge", "shopfront"):
        angle = spot.turn + turn * 0.2
    else:
        middle = (np.asarray(setting.near) + np.asarray(setting.far)) / 2
        angle = math.degrees(math.atan2(middle[0] - at[0], at[1] - middle[1])) + turn
    return moved(*at, turn=angle)


def _view(
    scene: Scene, placed: tuple[Placed, ...], setting: Setting, draw: Draws, tried: Draws
) -> View:
    w, h = scene.width, scene.height
    span = draw("size", 0.88, 1.12) * scene.entity_scale
    pixels = usual_share(larger_side(placed[0])) * w * span
    if not scene.attended:
        pixels /= 1 + 0.15 * (len(placed) - 1) ** 0.8
    lens = tried("lens", *_LENS)
    view = View(
        setting.far, setting.near, roll=tried("roll", -3.5, 3.5), angle=lens, aperture=_APERTURE
    )
    if scene.legible:
        pixels = max(pixels, _readable_size(placed[0], scene))
    away = min(scene.off_centre, 1.3)
    attended = scene.attended and bool(scene.others)
    if attended:
        away *= _ATTENDED
    at = (0.5 + (tried("u") - 0.5) * 0.62 * away, 0.54 + (tried("v") - 0.5) * 0.4 * away)
    path = [np.asarray(setting.far), np.asarray(setting.near)]
    if scene.legible and KINDS[scene.main.kind].stands == "flat":
        path = _bent_over(placed[0].pose[:3, 3], path, tried("bent", *_BENT))
    shown = placed if scene.whole_others else placed[:1]
    while pixels > 8:
        found = approach_view(view, path, shown, pixels, w, h, at)
        if found and (not attended or pixels < 0.2 * w or _is_amid(found, placed[0], w, h)):
            if not scene.whole_others:
                found = _aside(found, placed, w, h, at)
            return focus_view(found, placed[0])
        pixels *= 0.85
    raise SpecError(
        f"a {scene.main.kind} and {len(placed) - 1} others do not fit into one picture of "
        f"{w} × {h}; ask for fewer `others`."
    )


def _aside(
    view: View, placed: Sequence[Placed], width: int, height: int, at: tuple[float, float]
) -> View:
    """The same eye turned a little towards the others, so that they are in view if need not be
    whole."""
    middles = np.stack([corners(item).mean(0) for item in placed[1:]])
    seen = project(view, width, height, middles)[:, :2] / (width, height)
    over = np.maximum(_EDGE - seen.min(0), 0) - np.maximum(seen.max(0) - (1 - _EDGE), 0)
    u, v = np.asarray(at) + np.clip(over, -_TURNED, _TURNED)
    return frame_view(view, placed[:1], width, height, (float(u), float(v))) or view


def _is_amid(view: View, item: Placed, width: int, height: int) -> bool:
    """Whether a thing is near the middle: the frame was not moved for what stands beside it."""
    middle = corners(item).mean(0)
    x, y = project(view, width, height, middle[None])[0, :2]
    return bool(math.hypot(x - width / 2, y - height / 2) < _AMID * min(width, height))


def focus_view(view: View, item: Placed) -> View:
    """The same eye with a thing in focus; what is near is seen through a smaller lens."""
    away = float(np.linalg.norm(corners(item).mean(0) - np.asarray(view.eye)))
    return view._replace(focus=away, aperture=_APERTURE * min(away / _SHALLOW, 1.0))


def _bent_over(at: Array, path: Sequence[Array], degrees: float) -> list[Array]:
    """A path down to what lies flat, from where those stand who walk the other one."""
    aside = path[-1] - at
    aside[2] = 0
    a = math.radians(degrees)
    away = aside / max(float(np.linalg.norm(aside)), 1e-9) * math.cos(a) + (0, 0, math.sin(a))
    return [at + away * distance for distance in (1.6, 0.1)]


def _readable_size(placed: Placed, scene: Scene) -> float:
    """Pixels of the larger side at which the name can be read."""
    prints = prints_with_name(placed.thing, scene.main) or list(placed.thing.prints)
    if not prints:
        return 0.0
    cap = max(p.cap for p in prints)
    scale = READABLE * max(scene.width, 480) / 720
    return min(scale / cap * larger_side(placed), 0.86 * max(scene.width, scene.height))


def _held(
    scene: Scene, thing: Thing, setting: Setting, tried: Draws
) -> tuple[tuple[Placed, ...], View]:
    """A thing that the wearer holds up, the place behind it, and the hand."""
    view = View(
        setting.near, setting.spots[0].at, roll=tried("roll", -3.5, 3.5),
        angle=tried("lens", *_LENS), aperture=_APERTURE,
    )  # fmt: skip
    pixels = usual_share(float(np.ptp(thing.bounds, axis=0).max())) * scene.width
    pixels *= max(scene.entity_scale, 0.3)
    at = Placed(thing, np.eye(4), "thing_0")
    if scene.legible:
        pixels = max(pixels, _readable_size(at, scene))
    flat = KINDS[scene.main.kind].stands == "flat"
    swing = 0.35 if scene.legible else 1.0
    item = held_thing(at, view, pixels, (scene.width, scene.height), tried, flat=flat, swing=swing)
    (item,) = hide_names(scene, (item,), view, turning=not flat)
    view = focus_view(view, item)
    return (item, holding_hand(item, view, scene.key, flat=flat)), view
