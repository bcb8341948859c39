"""Rooms: floor, walls, windows, doors, what is screwed to walls, and the light indoors.

A room has its back wall at y = `back`; it is open behind the wearer, where the environment shows
and shines, so that reflections have something to reflect.
"""

from __future__ import annotations

import cv2
import numpy as np

from simulator.studio.places.place_materials import (
    BLACK,
    CHROME,
    IRON,
    WHITE,
    paint,
    seed,
    timber,
    tint,
)
from simulator.studio.places.place_stage import Stage, own
from simulator.studio.solid.meshes import (
    ball,
    box,
    joined,
    lathe,
    posed,
    scaled,
    sheet,
    shifted,
    skin,
    tube,
)
from simulator.studio.solid.scene_types import (
    Lamp,
    Light,
    Material,
    Mesh,
    Part,
    Thing,
    moved,
    turned,
)
from simulator.studio.solid.surfaces import Surface, cloth, laid, plaster, spread, wood
from simulator.world.pictures.randomness import generator
from simulator.world.pictures.traits import Colour, Draws

DAYS: tuple[tuple[str, Colour, float], ...] = (("morning", (255, 244, 230), 7.0),
    ("noon", (250, 250, 255), 9.0), ("overcast", (226, 236, 255), 5.0),
    ("afternoon", (255, 236, 212), 7.0), ("evening", (150, 170, 214), 0.7))  # fmt: skip
"""Hour, colour of a window, how strongly it shines."""


def shell(
    stage: Stage, *, floor: Surface, wall: Surface, back: float, half: float = 2.6,
    height: float = 2.7, front: float = 3.2,
    window: tuple[float, float, float, float] | None = None,
) -> None:  # fmt: skip
    """Floor, three walls, the ceiling's far part; `window` is x, z, width, height in the back."""
    t = 0.15
    stage.room(spread((-half, half), (-front, back), floor))
    for x0, x1, z0, z1 in _around(half, height, window):
        piece = shifted(box(x1 - x0, t, z1 - z0), (x0 + x1) / 2, back + t / 2, z0)
        stage.room(laid(piece, wall))
    side = box(t, front * 0.7 + back, height)
    for s in (-1, 1):
        stage.room(laid(shifted(side, s * (half + t / 2), (back - front * 0.7) / 2), wall))
    lid = shifted(box(2 * half, 2.0, t), 0, back - 1.0, height)
    stage.room(laid(lid, plaster((238, 236, 230), 0)))
    along, skirting = (back - front * 0.7) / 2, box(0.015, front * 0.7 + back, 0.09, bevel=0.004)
    boards = [shifted(box(2 * half, 0.015, 0.09, bevel=0.004), 0, back - 0.007)]
    boards += [shifted(skirting, s * half, along) for s in (-1, 1)]
    stage.room(Part(joined(boards), WHITE))
    if window is not None:
        _window(stage, back, *window)


def _around(
    half: float, height: float, window: tuple[float, float, float, float] | None
) -> list[tuple[float, float, float, float]]:
    """The pieces of a wall about its window, as (x0, x1, z0, z1)."""
    if window is None:
        return [(-half, half, 0.0, height)]
    x, z, w, h = window
    return [
        (-half, x - w / 2, 0.0, height), (x + w / 2, half, 0.0, height),
        (x - w / 2, x + w / 2, 0.0, z), (x - w / 2, x + w / 2, z + h, height),
    ]  # fmt: skip


def _window(stage: Stage, back: float, x: float, z: float, w: float, h: float) -> None:
    """A frame with bars, a sill, what is outside, and sometimes blinds or curtains."""
    draws = own(stage.draws, "window")
    bar, y = 0.05, back + 0.06
    posts = [shifted(box(bar, 0.06, h, bevel=0.005), x + s * (w - bar) / 2, y, z) for s in (-1, 1)]
    rails = [shifted(box(w, 0.06, bar, bevel=0.005), x, y, q) for q in (z, z + h - bar)]
    if draws.chance("mullion", 0.7):
        posts.append(shifted(box(bar * 0.8, 0.05, h, bevel=0.005), x, y, z))
    sill = shifted(box(w + 0.1, 0.22, 0.03, bevel=0.006), x, back + 0.02, z - 0.03)
    stage.room(Part(joined([*posts, *rails, sill]), WHITE))
    hour, colour, power = _hour(stage)
    sky = Material(colour, glow=max(power * 0.5, 0.05))
    land = Material((176, 186, 160) if power > 1 else (60, 64, 80), glow=max(power * 0.3, 0.03))
    level = z + h * draws("horizon", 0.15, 0.5)
    wide = w + 1.6
    stage.room(Part(_pane(x, back + 1.3, z - 0.3, wide, h + 0.9), sky))
    trees = [_pane(x, back + 1.1, z - 0.3, wide, level - z + 0.3)]
    for k in range(40):
        crown = scaled(
            ball(0.5, around=8), draws(f"w{k}", 0.05, 0.3), 0.02, draws(f"h{k}", 0.05, 0.35)
        )
        trees.append(shifted(crown, x + wide * (k / 39 - 0.5), back + 1.1, level))
    stage.room(Part(joined(trees, smooth=False), land))
    dress = draws.pick("dress", ("none", "blind", "curtains", "curtains"))
    dress = "blind" if hour == "evening" else dress
    if dress == "blind":
        low = z + h * (draws("drawn", 0.0, 0.55) if hour != "evening" else 0.02)
        count = int((z + h - low) / 0.034)
        slat = posed(box(w - 0.06, 0.03, 0.0015),
            turned((1, 0, 0), 78 if hour == "evening" else draws("tilt", 18, 50)))  # fmt: skip
        stage.room(
            Part(
                joined([shifted(slat, x, back + 0.02, low + k * 0.034) for k in range(count)]),
                WHITE,
            )
        )
    elif dress == "curtains":
        curtains(stage, back - 0.05, x, z - 0.25, w, h + 0.4)


def _pane(x: float, y: float, z: float, w: float, h: float) -> Mesh:
    return shifted(sheet(w, h), x, y, z)


def curtains(stage: Stage, y: float, x: float, z: float, w: float, h: float) -> None:
    """A pair of curtains on a rod."""
    draws = own(stage.draws, "curtains")
    surface = cloth(
        tint(draws, "a", level=(0.5, 0.9), chroma=(0.01, 0.09)), seed(draws, "c"),
        second=tint(draws, "b", level=(0.5, 0.9)),
        pattern=draws.pick("p", ("plain", "plain", "stripes")),
    )  # fmt: skip
    for s in (-1, 1):
        wide = draws(f"wide{s}", 0.28, 0.45)
        stage.room(laid(shifted(_folds(wide, h), x + s * (w / 2 + 0.02), y, z), surface))
    rod = tube([(x - w / 2 - 0.4, y, z + h + 0.02), (x + w / 2 + 0.4, y, z + h + 0.02)], 0.012)
    stage.room(Part(rod, draws.pick("rod", (BLACK, CHROME))))


def _folds(width: float, height: float) -> Mesh:
    u = np.linspace(0, 1, 60)
    x = (u - 0.5) * width
    y = 0.028 * np.sin(u * width * 95) + 0.01 * np.sin(u * 17)
    rows = [
        np.stack([x * (1 + 0.1 * (1 - t)), y * (0.6 + 0.5 * (1 - t)), np.full(60, t * height)], -1)
        for t in (0.0, 0.5, 1.0)
    ]
    uv = np.stack([np.stack([u, np.full(60, t)], -1) for t in (0.0, 0.5, 1.0)], 1)
    return skin(np.stack(rows, 1), uv)


def daylight(stage: Stage, half: float, *, skies: tuple[str, ...]) -> None:
    """A window in a side wall, the rest of the room as environment, sometimes the sun."""
    draws = own(stage.draws, "daylight")
    hour, colour, power = _hour(stage)
    s = draws.pick("side", (-1.0, 1.0))
    at = (s * (half - 0.05), draws("y", -1.3, 0.0), draws("z", 1.4, 1.8))
    lamps = [Lamp(at, (0, at[1] * 0.6, 1.0), draws("w", 0.9, 1.7), draws("h", 1.1, 1.5), colour,
        power * half / 2)]  # fmt: skip
    if hour in ("morning", "noon", "afternoon") and draws.chance("sun", 0.45):
        sun = (s * draws("sx", 1.2, 2.4), draws("sy", -3.6, -2.6), draws("sz", 2.6, 4.2))
        lamps.append(
            Lamp(sun, (0, 0, 0.9), 0.14, 0.14, (255, 232, 196), draws("strong", 1200, 2600))
        )
    elif hour == "evening" or draws.chance("lit", 0.6):
        bulb = (draws("lx", -0.9, 0.9), draws("ly", -1.0, -0.1), 2.45)
        warm = 26.0 if hour == "evening" else 15.0
        lamps.append(
            Lamp(bulb, (bulb[0] * 0.7, bulb[1] * 0.7, 0), 0.45, 0.45, (255, 198, 134), warm)
        )
    fill = 0.08 if hour == "evening" else draws("fill", 0.06, 0.2)
    stage.light = Light(draws.pick("sky", skies), fill, draws("turn", 0, 360), tuple(lamps))


def _hour(stage: Stage) -> tuple[str, Colour, float]:
    return own(stage.draws, "hour").pick("hour", DAYS)


def ceiling_panels(
    stage: Stage, half: float, *, skies: tuple[str, ...], nearer: float = 0.0, strength: float = 1.0
) -> None:
    """Panels or spots above, as in shops, gyms and museums. Those of an aisle hang `nearer` to the
    wearer, in metres, and are so many times as strong: their light falls into the shelves."""
    draws = own(stage.draws, "panels")
    colours = draws.pick("colours", (((255, 250, 240), (255, 206, 150)),
        ((232, 242, 255), (255, 232, 200)), ((255, 226, 186), (214, 230, 255))))  # fmt: skip
    size, power = draws.pick("size", ((1.2, 8.0), (0.6, 26.0), (0.25, 110.0)))
    z = draws("z", 2.6, 3.4)
    at = [(half * draws("x", -0.7, -0.15), draws("y", -1.4, -0.3) - nearer),
        (half * draws("x2", 0.2, 0.8), draws("y2", -2.0, -0.2) - nearer)]  # fmt: skip
    lamps = tuple(
        Lamp((x, y, z), (x * 0.6, 0, 0), size, size * 0.6, colour, power * strength)
        for (x, y), colour in zip(at, colours, strict=True)
    )
    fill = draws("fill", 0.05, 0.18)
    stage.light = Light(draws.pick("sky", skies), fill, draws("turn", 0, 360), lamps)


# ------------------------------------------------------------------------------- on walls


def socket(draws: Draws) -> Thing:
    """A socket or a switch, one or two of them."""
    n = draws.count("n", 1, 2)
    plate = shifted(box(0.078 * n, 0.009, 0.08, bevel=0.003), 0, -0.0045)
    switch = draws.chance("switch", 0.4)
    inner: list[Mesh] = []
    for k in range(n):
        x = (k - (n - 1) / 2) * 0.074
        if switch:
            inner.append(shifted(box(0.054, 0.006, 0.054, bevel=0.002), x, -0.0095, 0.013))
        else:
            hole = lathe([(0.0205, 0), (0.019, 0.002), (1e-4, 0.001)], around=24, smooth=False)
            inner.append(shifted(posed(hole, turned((1, 0, 0), 90)), x, -0.009, 0.04))
    return Thing.of(
        Part(plate, WHITE), Part(joined(inner), WHITE if switch else paint((176, 174, 168)))
    )


def frame(draws: Draws) -> Thing:
    """A framed picture: colour fields or a landscape, no text."""
    w, h = draws("w", 0.22, 0.6), draws("h", 0.22, 0.6)
    b = draws("border", 0.012, 0.03)
    edge = [shifted(box(w, 0.022, b, bevel=0.003), 0, -0.011, z) for z in (0, h - b)]
    edge += [shifted(box(b, 0.022, h, bevel=0.003), s * (w - b) / 2, -0.011) for s in (-1, 1)]
    rim = (
        laid(joined(edge), wood(timber(draws, "rim"), seed(draws, "rim")))
        if draws.chance("wooden", 0.6)
        else Part(joined(edge), draws.pick("rim", (BLACK, WHITE)))
    )
    mount = shifted(box(w - b, 0.008, h - b), 0, -0.004, b / 2)
    return Thing.of(
        rim,
        Part(mount, paint((232, 230, 224), 0.4, 0, 0.3)),
        _picture(draws, w - 2 * b, h - 2 * b, b),
    )


def _picture(draws: Draws, w: float, h: float, z: float) -> Part:
    rng = generator("framed", draws("picture"))
    n = 96
    image = np.tile(np.array(tint(draws, "p0", level=(0.6, 0.9))), (n, n, 1))
    for k in range(draws.count("fields", 2, 5)):
        colour = np.array(tint(draws, f"p{k + 1}", chroma=(0.02, 0.14)))
        y = np.linspace(0, 1, n)[:, None]
        x = np.linspace(0, 1, n)[None]
        if draws.chance("land", 0.6):
            ridge = cv2.GaussianBlur(rng.standard_normal((1, n * 2)), (0, 0), 9)[0, :n] * 1.2
            mask = y > 0.3 + 0.13 * k + ridge[None] * 0.4
        else:
            cx, cy, r = rng.uniform(0.1, 0.9, 3)
            mask = (x - cx) ** 2 + (y - cy) ** 2 < (0.1 + 0.25 * r) ** 2
        image = np.where(mask[..., None], colour, image)
    m = min(w, h) * draws("mount", 0.06, 0.2)
    pane = shifted(box(w - 2 * m, 0.002, h - 2 * m), 0, -0.009, z + m)
    return Part(pane, Material(sheet=image.astype(np.uint8), rough=0.25, coat=0.3))


def wall_shelf(draws: Draws, width: float) -> Thing:
    """A board on two brackets."""
    board = laid(
        shifted(box(width, 0.2, 0.025, bevel=0.003), 0, -0.1),
        wood(timber(draws, "wood"), seed(draws, "wood")),
    )
    irons = [tube([(s * width * 0.38, -0.005, -0.12), (s * width * 0.38, -0.005, -0.002),
        (s * width * 0.38, -0.17, -0.002)], 0.006, around=8) for s in (-1, 1)]  # fmt: skip
    return Thing.of(board, Part(joined(irons, smooth=True), IRON))


def pendant(draws: Draws, drop: float) -> Thing:
    """A shade on a cord; hangs from z = 0 downwards."""
    r = draws("r", 0.1, 0.22)
    shade = lathe(
        [(r, -drop - r * 0.9), (r * 0.7, -drop - r * 0.35), (0.03, -drop), (0.025, -drop + 0.03)]
    )
    cord = tube([(0, 0, 0), (0, 0, -drop)], 0.004, around=8)
    bulb = shifted(ball(0.035, around=20), z=-drop - r * 0.6)
    return Thing.of(
        Part(
            shade, paint(tint(draws, "shade", level=(0.25, 0.9)), 0.35, draws.pick("m", (0.0, 1.0)))
        ),
        Part(cord, BLACK),
        Part(bulb, paint((250, 240, 220), 0.3)),
    )


def door(stage: Stage, x: float, back: float, *, turn: float = 0.0) -> None:
    """A door in its frame on the back wall."""
    draws = own(stage.draws, "door")
    leaf = shifted(box(0.82, 0.04, 2.02, bevel=0.004), 0, 0)
    panels = [
        shifted(box(0.56, 0.012, h, bevel=0.006), 0, -0.022, z)
        for z, h in ((0.2, 0.75), (1.1, 0.75))
    ]
    trim = [shifted(box(0.08, 0.05, 2.1, bevel=0.006), s * 0.45, -0.01) for s in (-1, 1)]
    trim.append(shifted(box(0.98, 0.05, 0.08, bevel=0.006), 0, -0.01, 2.04))
    knob = joined(
        [tube([(0.34, -0.02, 1.0), (0.34, -0.06, 1.0), (0.24, -0.06, 1.0)], 0.009, around=10)]
    )
    colour = (
        WHITE if draws.chance("white", 0.6) else paint(tint(draws, "door", level=(0.3, 0.7)), 0.4)
    )
    stage.room(
        Part(joined([leaf, *panels]), colour), Part(joined(trim), WHITE), Part(knob, CHROME),
        pose=moved(x, back - 0.02, 0, turn=turn),
    )  # fmt: skip
