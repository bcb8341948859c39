"""From a scene to a picture: paint the entities, set them into a place, take the photograph."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import SpecError
from mmrag.records import Box, Polygon
from simulator.world.facts.look import Look
from simulator.world.pictures import (
    animals,
    home,
    landmarks,
    packed,
    plants,
    play,
    printed,
    science,
    vehicles,
    wear,
)
from simulator.world.pictures.camera import Camera, add_noise
from simulator.world.pictures.light import Light
from simulator.world.pictures.scene import Scene
from simulator.world.pictures.settings import PLACES, Easel, Setting
from simulator.world.pictures.shapes import Array, Points
from simulator.world.pictures.stage import Painter, Sprite, View, paint
from simulator.world.pictures.traits import Draws, oklch

PAINTERS: dict[str, Painter] = {
    **animals.PAINTERS,
    **home.PAINTERS,
    **packed.PAINTERS,
    **landmarks.PAINTERS,
    **plants.PAINTERS,
    **play.PAINTERS,
    **printed.PAINTERS,
    **science.PAINTERS,
    **vehicles.PAINTERS,
    **wear.PAINTERS,
}
"""Kind → how it is painted."""

_BIG = {
    "tower": 0.7,
    "bridge": 0.86,
    "shopfront": 0.74,
    "statue": 0.6,
    "tree": 0.62,
    "car": 0.52,
    "van": 0.54,
    "motorcycle": 0.46,
    "bicycle": 0.5,
    "poster": 0.46,
    "textbook_page": 0.6,
    "flag": 0.5,
    "guitar": 0.62,
    "sign": 0.42,
    "board_game": 0.44,
    "flower": 0.46,
    "coin": 0.2,
    "watch": 0.28,
    "butterfly": 0.3,
    "houseplant": 0.46,
    "lamp": 0.5,
}
"""Usual size of the larger side as a part of the picture's width; 0.38 for the others."""

_FLOATING = {"fish", "butterfly"}
_FLAT = {"textbook_page", "ticket", "coin", "watch"}
_READABLE = 21.0
"""Height in pixels of a line that is meant to be read."""

_GAP = 0.025
"""Between the things of a row, in parts of the picture's width: all of them fit in."""


class Rendered(NamedTuple):
    """A picture and what is known about it."""

    image: NDArray[np.uint8]
    """Height × width × 3, RGB."""
    polygon: Polygon
    """Outline of the main entity in pixels."""
    other_polygons: tuple[Polygon, ...]
    """Outlines of `Scene.others`, in their order."""
    text_boxes: tuple[tuple[str, Box], ...]
    """Texts that can be read, and where."""


class Placed(NamedTuple):
    """A sprite with its upper left corner in the picture."""

    sprite: Sprite
    x: float
    y: float


def compose(scene: Scene) -> Rendered:
    """Render a scene. Equal scenes give equal bytes."""
    for look in (scene.main, *scene.others):
        if look.kind not in PAINTERS:
            raise SpecError(f"no picture of a {look.kind!r} can be painted; see KINDS in look.py.")
    if not (32 <= scene.width <= 8192 and 32 <= scene.height <= 8192):
        raise SpecError(
            f"a picture of {scene.width} × {scene.height} is not possible; use 32–8192."
        )
    draw = Draws("scene", scene.key, scene.main.kind, scene.is_ego)
    return _ego(scene, draw) if scene.is_ego else _catalogue(scene, draw)


def _ego(scene: Scene, draw: Draws) -> Rendered:
    w, h = scene.width, scene.height
    place, outdoor = draw.pick("place", PLACES[scene.main.kind])
    side = draw.pick("side", (-1.0, 1.0)) * draw("side-by", 0.5, 1.0)
    light = Light(
        round(side, 1),
        round(draw("high", 0.3, 0.9), 1),
        round(draw("ambient", 0.3, 0.5), 2),
        round(draw("warm", -0.6, 0.8) * scene.light_swing, 1),
        outdoor,
    )
    setting = place(Easel(w, h, Draws("place", scene.key), light))
    image = setting.image
    sprites = _paint_all(scene, draw, light, setting)
    spots = _arrange(scene, draw, setting, sprites)
    taken = [(p.x, p.y, p.x + p.sprite.size[0], p.y + p.sprite.size[1]) for p in spots]
    behind, before = _props(scene, draw, setting, light, spots[0], taken)
    for placed in behind:
        _cast(image, placed, light, setting.how, soft=True)
        _lay(image, placed)
    for placed in spots[::-1]:
        _cast(image, placed, light, setting.how)
        _lay(image, placed)
    for placed in before:
        _cast(image, placed, light, setting.how, soft=True)
        _lay(image, placed)
    camera = Camera(w, h, draw)
    final = camera.shoot(image, scene.noise, scene.light_swing)
    return _record(final, spots, camera.see)


def _catalogue(scene: Scene, draw: Draws) -> Rendered:
    w, h = scene.width, scene.height
    light = Light(round(draw("side", -0.8, 0.8), 1), round(draw("high", 0.6, 1.0), 1), 0.52, 0.0)
    hue, tint = draw("hue", 0, 360), draw("tint", 0.0, 0.025)
    top, low = oklch(draw("top", 0.93, 0.99), tint, hue), oklch(draw("low", 0.84, 0.93), tint, hue)
    t = np.linspace(0, 1, h, dtype=np.float32)[:, None, None]
    x = np.linspace(-1, 1, w, dtype=np.float32)[None, :, None]
    base = np.asarray(top, np.float32) * (1 - t) + np.asarray(low, np.float32) * t
    image = np.clip(base * (1.0 - 0.05 * x * x - 0.05 * (2 * t - 1) ** 2), 0, 255).astype(np.uint8)
    kind = scene.main.kind
    how = "float" if kind in _FLOATING or kind in _FLAT else "hang" if kind == "poster" else "stand"
    setting = Setting(image, 0.86, how, (), ())
    sprites = _paint_all(scene, draw, light, setting)
    total = sum(s.size[0] for s in sprites)
    gap = _GAP * w
    left = (w - total - gap * (len(sprites) - 1)) / 2
    spots: list[Placed] = []
    for sprite in sprites:
        high = sprite.size[1]
        y = (h - high) / 2 if how != "stand" else min((h + high) / 2 + 0.02 * h, 0.93 * h) - high
        spots.append(Placed(sprite, left, y))
        left += sprite.size[0] + gap
    for placed in spots:
        _cast(image, placed, light, how, strength=0.75)
        _lay(image, placed)
    if scene.noise > 0:
        image = add_noise(image, 0.35 * scene.noise, draw)
    return _record(image, spots, lambda points: points)


def _paint_all(scene: Scene, draw: Draws, light: Light, setting: Setting) -> list[Sprite]:
    w, h = scene.width, scene.height
    looks = (scene.main, *scene.others)
    span = draw("size", 0.86, 1.12) * scene.entity_scale
    sprites: list[Sprite] = []
    nearer = 1.0  # print is held closer, and what stands beside it comes along
    for number, look in enumerate(looks):
        painter = PAINTERS[look.kind]
        x0, y0, x1, y1 = painter.extent
        if scene.is_ego:
            wanted = _BIG.get(look.kind, 0.38) * w * 1.12 * span
            if setting.how == "lie" and look.kind not in _FLAT:
                wanted *= 0.8
        else:
            wanted = 0.74 * min(w, h) * min(draw("size", 0.92, 1.08) * scene.entity_scale, 1.2)
        wanted = wanted / (1 + 0.35 * (len(looks) - 1) ** 0.8) * nearer
        turn = (
            draw(f"yaw{number}", 0.12, 0.6)
            * draw.pick(f"yaw-side{number}", (-1.0, 1.0))
            * scene.turn
        )
        legible = scene.legible and number == 0
        if legible:
            turn *= 0.6
        flip = draw.chance(f"flip{number}") and look.kind != "textbook_page"
        view = View(
            turn,
            draw("pitch", 0.1, 0.3) * max(scene.turn, 0.3),
            flip,
            legible,
            f"{scene.key}/{scene.is_ego}/{number}",
        )
        unit = wanted / max(x1 - x0, y1 - y0) * 1.12
        sprite = paint(painter, look, unit, light, view)
        across, room_h = (1 - 2 * _edge(looks), 0.72 * h) if scene.is_ego else (0.86, 0.86 * h)
        room_w = (across - _GAP * (len(looks) - 1)) * w / len(looks)
        lines = [t.line for t in sprite.texts if t.is_label]
        grow = 1.0
        if legible and look.label and lines and min(lines) < _READABLE:
            grow = min(_READABLE / min(lines), 3.0)
        grow = min(grow, room_w / sprite.size[0], room_h / sprite.size[1])
        if legible:
            nearer = max(grow, 1.0)
        if abs(grow - 1) > 0.02 and (grow < 1 or (legible and lines)):
            sprite = paint(painter, look, unit * grow, light, view)
        if setting.how == "lie" and look.kind in _FLAT:
            sprite = _tilted(
                sprite, draw(f"spin{number}", -0.22, 0.22) * (0.5 if legible else 1.0) * scene.turn
            )
        sprites.append(sprite)
    return sprites


def _edge(things: Sequence[object]) -> float:
    """What stays free at the sides; the lens and its roll take some, and more of a wide row."""
    return 0.05 if len(things) == 1 else 0.09


def _tilted(sprite: Sprite, spin: float) -> Sprite:
    """A flat thing as it lies on a table: turned a little, and seen at a slant."""
    w, h = sprite.size
    c, s = math.cos(spin), math.sin(spin)
    corners = np.array([(-w / 2, -h / 2), (w / 2, -h / 2), (w / 2, h / 2), (-w / 2, h / 2)])
    turned = corners @ np.array([[c, s], [-s, c]])
    depth = turned[:, 1:2] / max(h, w)
    target = turned * (1 + 0.16 * depth) * (1.0, 0.84)
    low = target.min(0)
    target -= low
    size = np.ceil(target.max(0)).astype(int) + 1
    source = np.array([(0, 0), (w, 0), (w, h), (0, h)], np.float32)
    matrix = cv2.getPerspectiveTransform(source, target.astype(np.float32))
    shape = (int(size[0]), int(size[1]))
    rgb = cv2.warpPerspective(sprite.rgb, matrix, shape, flags=cv2.INTER_LINEAR)
    alpha = cv2.warpPerspective(sprite.alpha, matrix, shape, flags=cv2.INTER_LINEAR)
    texts = tuple(
        t._replace(corners=cv2.perspectiveTransform(t.corners[None], matrix)[0])
        for t in sprite.texts
    )
    return Sprite(rgb, alpha, texts, 0.0, (0.0, float(size[0])))


def _arrange(scene: Scene, draw: Draws, setting: Setting, sprites: list[Sprite]) -> list[Placed]:
    w, h = scene.width, scene.height
    away = scene.off_centre
    ground = setting.ground * h + (draw("y", -0.03, 0.05) * h * away if setting.depth else 0)
    width = sum(s.size[0] for s in sprites) + _GAP * w * (len(sprites) - 1)
    edge = _edge(sprites) * 0.8
    free = max(w * (1 - 2 * edge) - width, 0)
    left = w * edge + free * (0.5 + (draw("x") - 0.5) * min(away, 1.4) * 0.86)
    order = list(range(len(sprites)))
    shift = draw.count("order", 0, len(sprites) - 1)
    order = order[shift:] + order[:shift]
    spots: dict[int, Placed] = {}
    for index in order:
        sprite = sprites[index]
        sw, sh = sprite.size
        if setting.how in ("stand", "water"):
            y = ground - sh + sprite.foot
            if index:
                y -= draw(f"back{index}", 0, setting.depth * 0.4) * h
        elif setting.how == "hang":
            y = h * draw(f"hang{index}", 0.44, 0.54) - sh / 2
        else:
            y = h * (0.5 + draw(f"float{index}", -0.1, 0.12) * away) - sh / 2
        y = min(max(y, 0.04 * h), 0.95 * h - sh)
        spots[index] = Placed(sprite, left, y)
        left += sw + _GAP * w
    return [spots[k] for k in range(len(sprites))]


def _props(
    scene: Scene,
    draw: Draws,
    setting: Setting,
    light: Light,
    main: Placed,
    taken: list[tuple[float, float, float, float]],
) -> tuple[list[Placed], list[Placed]]:
    w, h = scene.width, scene.height
    behind: list[Placed] = []
    before: list[Placed] = []
    count = round(
        scene.clutter
        * draw("clutter", 0.7, 1.3)
        * (9 if setting.rows and len(setting.rows) > 6 else 5)
    )
    # "this shoe" has to be one: of its kind there is only what the scene names, or far behind it
    mine = scene.main.kind
    kinds = [k for k in setting.props or _SHELF_MATES if k != mine or k in _SMALLER_BEHIND]
    metres = PAINTERS[scene.main.kind].metres
    room = list(taken)
    for number in range(min(count, 12)):
        if not setting.rows:
            break
        kind = draw.pick(f"prop{number}", kinds)
        row, size = setting.rows[number % len(setting.rows)]
        rel = min(max(PAINTERS[kind].metres / metres, 0.55), 1.5) ** 0.6
        main_size = max(main.sprite.size) / max(scene.entity_scale, 0.3) ** 0.5
        target = max(min(main_size * size * rel, 0.5 * w), 36.0)
        if kind == mine:
            target = min(target, _SMALLER_BEHIND[kind] * max(main.sprite.size))
        sprite = _prop(kind, draw.count(f"which{number}", 0, _POOL - 1), light.outdoor)
        sprite = _resized(sprite, target / max(sprite.size), flip=light.side < 0)
        if setting.how == "lie" and kind in _FLAT:
            sprite = _tilted(sprite, draw(f"prop-spin{number}", -0.5, 0.5))
        sw, sh = sprite.size
        on_shelf = len(setting.rows) > 6
        found = None
        for attempt in range(8):
            x = draw(f"prop-x{number}-{attempt}", -0.3 * sw, w - 0.7 * sw)
            y = (
                row * h - sh + sprite.foot
                if setting.how in ("stand", "water")
                else row * h - sh / 2
            )
            box = (x, y, x + sw, y + sh)
            worst = max(
                (
                    _overlap(box, other)
                    for other in (room if on_shelf or setting.how != "stand" else taken)
                ),
                default=0.0,
            )
            limit = (
                0.04
                if row * h > main.y + main.sprite.size[1] * 0.98
                or on_shelf
                or setting.how != "stand"
                else 0.35
            )
            if worst <= limit:
                found = Placed(sprite, x, y)
                break
        if found is None:
            continue
        room.append((found.x, found.y, found.x + sw, found.y + sh))
        bottom = main.y + main.sprite.size[1] - main.sprite.foot
        (before if row * h > bottom + 0.01 * h else behind).append(found)
    behind.sort(key=lambda p: p.y + p.sprite.size[1])
    return behind, before


_SMALLER_BEHIND = {"fish": 0.45, "flower": 0.5, "tree": 0.5, "butterfly": 0.4}
"""Kinds that come in numbers: how large others of them may be, in parts of the one asked about."""

_POOL = 6
_SHELF_MATES = (
    "bottle",
    "jar",
    "carton",
    "packet",
    "mug",
    "book",
    "clock",
    "speaker",
    "headphones",
    "board_game",
)


@lru_cache(maxsize=600)
def _prop(kind: str, index: int, outdoor: bool) -> Sprite:
    """A thing that is no entity of any world: families of the world are far below this number."""
    look = Look(domain="", kind=kind, family=2_000_000_000 + index, variant=index)
    painter = PAINTERS[kind]
    x0, y0, x1, y1 = painter.extent
    light = Light(0.7, 0.6, 0.4, 0.0, outdoor)
    view = View((0.35, -0.3)[index % 2], 0.2, False, False, f"prop-{index}")
    return paint(painter, look, 300 / max(x1 - x0, y1 - y0), light, view)


def _resized(sprite: Sprite, factor: float, *, flip: bool) -> Sprite:
    w, h = sprite.size
    size = (max(round(w * factor), 4), max(round(h * factor), 4))
    way = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    rgb, alpha = (
        cv2.resize(sprite.rgb, size, interpolation=way),
        cv2.resize(sprite.alpha, size, interpolation=way),
    )
    base = (sprite.base[0] * factor, sprite.base[1] * factor)
    if flip:
        rgb, alpha = cv2.flip(rgb, 1), cv2.flip(alpha, 1)
        base = (size[0] - base[1], size[0] - base[0])
    return Sprite(rgb, alpha, (), sprite.foot * factor, base)


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> float:
    """Share of b that a covers."""
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return 0.0
    return wide * high / max((b[2] - b[0]) * (b[3] - b[1]), 1)


def _cast(
    image: Array,
    placed: Placed,
    light: Light,
    how: str,
    *,
    soft: bool = False,
    strength: float = 1.0,
) -> None:
    """The shadow that a sprite throws on what is there already."""
    sprite, px, py = placed
    w, h = sprite.size
    factor = 4
    if how in ("hang", "float", "lie"):
        if how == "float" and strength > 0.9:
            return
        reach = {"hang": 0.025, "lie": 0.02, "float": 0.05}[how] * max(w, h)
        dx, dy = -light.side * reach, reach * 0.9
        pad = int(max(w, h) * 0.08) + factor
        small = _shrunk(sprite.alpha, factor, pad)
        small = (
            cv2.blur(cv2.blur(small, (5, 5)), (5, 5))
            if how != "float"
            else cv2.GaussianBlur(small, (0, 0), max(w, h) * 0.02 / factor * 2 + 1)
        )
        _darken(
            image,
            small,
            factor,
            px - pad + dx,
            py - pad + dy,
            0.5 * strength if how != "float" else 0.22,
        )
        return
    ground = py + h - sprite.foot
    left, right = sprite.base
    half = max((right - left) / 2, 3)
    deep = max(sprite.foot * 1.15, half * 0.1, 2.0)
    lean, lie = -light.side * (0.75 - 0.35 * light.height), 0.2 + 0.1 * (1 - light.height)
    pad = int(max(half * 0.5, 12))
    if not soft or h > 60:  # the long shadow: the outline laid down on the ground
        length = h * lie
        span = w + abs(lean) * h * 0.7 + 2 * pad
        sw, sh = int(span / factor) + 2, int((length + deep + 2 * pad) / factor) + 2
        off = pad + (abs(lean) * h * 0.7 if lean < 0 else 0)
        # Sprite (x, y) → ground: farther up throws farther back and to the side.
        up = lean * 0.7
        matrix = (
            np.array(
                [
                    [1, -up, off + up * (h - sprite.foot)],
                    [0, lie, length + pad - lie * (h - sprite.foot)],
                ]
            )
            / factor
        )
        mask = cv2.warpAffine(sprite.alpha, matrix, (sw, sh), flags=cv2.INTER_AREA)
        k = max(int(0.018 * max(w, h) / factor), 1) * 2 + 1
        mask = cv2.blur(cv2.blur(mask, (k, k)), (k, k))
        _darken(
            image,
            mask,
            factor,
            px - off,
            ground - length - pad,
            (0.34 if light.outdoor else 0.26) * strength,
        )
    cx = px + (left + right) / 2
    sw, sh = int((2 * half + 2 * pad) / factor) + 2, int((2 * deep + 2 * pad) / factor) + 2
    mask = np.zeros((sh, sw), np.uint8)
    centre = (int((half + pad) / factor * 16), int((deep + pad) / factor * 16))
    cv2.ellipse(
        mask,
        centre,
        (max(int(half * 1.06 / factor * 16), 1), max(int(deep * 1.1 / factor * 16), 1)),
        0,
        0,
        360,
        255,
        -1,
        cv2.LINE_AA,
        4,
    )
    k = max(int(min(pad, deep * 1.2 + 6) / factor / 2), 1) * 2 + 1
    mask = cv2.blur(cv2.blur(mask, (k, k)), (k, k))
    _darken(
        image, mask, factor, cx - half - pad, ground - deep - pad, 0.62 * min(strength * 1.1, 1)
    )


def _shrunk(alpha: Array, factor: int, pad: int) -> Array:
    h, w = alpha.shape
    matrix = np.array([[1 / factor, 0, pad / factor], [0, 1 / factor, pad / factor]])
    return cv2.warpAffine(
        alpha,
        matrix,
        ((w + 2 * pad) // factor + 1, (h + 2 * pad) // factor + 1),
        flags=cv2.INTER_AREA,
    )


def _darken(
    image: Array,
    mask: Array,
    factor: int,
    x: float,
    y: float,
    strength: float,
) -> None:
    h, w = mask.shape[0] * factor, mask.shape[1] * factor
    x0, y0 = round(x), round(y)
    a, b, c, d = max(y0, 0), min(y0 + h, image.shape[0]), max(x0, 0), min(x0 + w, image.shape[1])
    if b <= a or d <= c:
        return
    full = cv2.resize(mask, (w, h), interpolation=cv2.INTER_LINEAR)[
        a - y0 : b - y0, c - x0 : d - x0
    ]
    part = image[a:b, c:d]
    weight = cv2.LUT(full, np.clip(255 - np.arange(256) * strength, 0, 255).astype(np.uint8))
    part[...] = cv2.multiply(part, cv2.merge([weight, weight, weight]), scale=1 / 255)


def _lay(image: Array, placed: Placed) -> None:
    sprite, x, y = placed
    w, h = sprite.size
    x0, y0 = round(x), round(y)
    a, b, c, d = max(y0, 0), min(y0 + h, image.shape[0]), max(x0, 0), min(x0 + w, image.shape[1])
    if b <= a or d <= c:
        return
    rgb = sprite.rgb[a - y0 : b - y0, c - x0 : d - x0]
    rest = 255 - sprite.alpha[a - y0 : b - y0, c - x0 : d - x0]
    part = image[a:b, c:d]
    dimmed = cv2.multiply(part, cv2.merge([rest, rest, rest]), scale=1 / 255)
    part[...] = cv2.add(dimmed, rgb)


def _outline(sprite: Sprite) -> Points:
    solid = (sprite.alpha > 110).astype(np.uint8)
    k = max(int(max(sprite.size) * 0.012), 1) * 2 + 1
    solid = cv2.morphologyEx(solid, cv2.MORPH_CLOSE, np.ones((k, k), np.uint8))
    contours, _ = cv2.findContours(solid, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    biggest = max(contours, key=cv2.contourArea)
    near = cv2.approxPolyDP(biggest, 0.006 * max(sprite.size), True)[:, 0].astype(np.float64)
    if len(near) < 3:
        w, h = sprite.size
        near = np.array([(0, 0), (w, 0), (w, h), (0, h)], np.float64)
    return near


def _record(image: Array, spots: list[Placed], see: Callable[[Points], Points]) -> Rendered:
    h, w = image.shape[:2]
    polygons: list[Polygon] = []
    for placed in spots:
        points = np.clip(see(_outline(placed.sprite) + np.array([placed.x, placed.y])), 0, (w, h))
        polygons.append(tuple((round(float(px), 1), round(float(py), 1)) for px, py in points))
    boxes: list[tuple[str, Box]] = []
    for placed in spots:
        for text in placed.sprite.texts:
            points = np.clip(see(text.corners + np.array([placed.x, placed.y])), 0, (w, h))
            (x0, y0), (x1, y1) = points.min(0), points.max(0)
            boxes.append(
                (
                    text.text,
                    (
                        round(float(x0), 1),
                        round(float(y0), 1),
                        round(float(x1), 1),
                        round(float(y1), 1),
                    ),
                )
            )
    return Rendered(image, polygons[0], tuple(polygons[1:]), tuple(boxes))
