"""Card and paper with large pictures: boxes of board games, posters, tickets."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from simulator.studio.solid.meshes import box, joined, lathe, posed, shifted, skin
from simulator.studio.solid.motifs import illustrate, pattern, star
from simulator.studio.solid.prints import BOLD, CLAIMS, Box, Font, Sheet, prints_on
from simulator.studio.solid.scene_types import Material, Mesh, Part, Thing, turned
from simulator.studio.things.containers import STEEL
from simulator.studio.things.pack_design import Design, design
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, brighten, luma, mix

_GAME = "A game for all the family"
_HEAVY = (Font("DejaVuSans-Bold.ttf", 0.78, True, 0.02, 0.02),
    Font("DejaVuSerif-Bold.ttf", 0.84, False, 0.02), Font("cmb10.ttf", 0.95, True, 0.03, 0.03),
    Font("STIXGeneralBolIta.ttf", 1.1, False, 0.03),
    Font("DejaVuSans-BoldOblique.ttf", 0.86, False, 0.015))  # fmt: skip


def board_game(look: Look, traits: Traits) -> Thing:
    """The box of a board game, lying face up: a lid over a tray."""
    f, made = traits.family, design(look, traits)
    wide = traits.near("wide", 0.22, 0.3, 0.05)
    deep = wide * f.pick("format", (1.0, 1.0, 0.7, 1.35))
    tall = traits.near("tall", 0.045, 0.075, 0.1)
    art = Sheet(wide, deep, made.paper, side=960)
    f.pick("art", (_landscape, _landscape, _tiled, _emblazoned))(art, made)
    _game_title(art, made)
    rim = Sheet(0.3, 0.07, mix(made.paper, made.dark, 0.35), side=384)
    rim.box((0, 0.86, 1, 1), made.accent)
    rim.small_print((0.3, 0.36, 0.7, 0.62), 1, made.ink(mix(made.paper, made.dark, 0.35)), f)
    for x in (0.1, 0.9):
        illustrate(rim, f, made.motif(made.dark), x, 0.45, 0.3)
    x, y = np.meshgrid(
        (-wide / 2 + 0.002, wide / 2 - 0.002), (-deep / 2 + 0.002, deep / 2 - 0.002), indexing="ij"
    )
    top = skin(np.stack([x, y, np.full_like(x, tall + 0.0003)], -1))
    lid = shifted(box(wide, deep, tall * 0.86, bevel=0.0018), z=tall * 0.14)
    tray = box(wide - 0.005, deep - 0.005, tall * 0.5, bevel=0.001)
    lacquer = Material(sheet=art.rgb, rough=f.pick("lacquer", (0.25, 0.45)), coat=0.2)
    parts = (
        Part(top, lacquer),
        Part(lid, lacquer._replace(sheet=rim.rgb)),
        Part(tray, Material(made.light, rough=0.7)),
    )
    return Thing(parts, prints_on(top, art))


def _game_title(page: Sheet, made: Design) -> None:
    """The name in heavy letters with a dark edge, the number of players in a corner."""
    f = made.draw
    face = f.pick("game-face", _HEAVY)
    high = f.chance("title-high", 0.65)
    box = (0.07, 0.05, 0.93, 0.4) if high else (0.07, 0.54, 0.93, 0.86)
    pale = mix(made.light, made.accent, f("title-tint", 0.0, 0.25))
    if f.chance("ribbon", 0.45):
        y0, y1 = box[1], box[3]
        page.fill([(0, y0), (1, y0 - 0.02), (1, y1), (0, y1 + 0.02)], made.dark)
        page.line([(0, y0 + 0.02), (1, y0)], 0.006, made.accent)
        page.line([(0, y1), (1, y1 - 0.02)], 0.006, made.accent)
        box = (0.09, y0 + 0.05, 0.91, y1 - 0.04)
        page.text(made.look.label, box, pale, face, lines=3, instead=_GAME)
    else:
        edge = brighten(made.dark, 0.7)
        page.text(made.look.label, box, pale, face, lines=3, edge=edge, instead=_GAME)
    if made.look.sublabel:
        page.box((0.58, 0.885, 0.97, 0.975), made.light, round_by=0.05)
        page.text(made.look.sublabel, (0.62, 0.9, 0.93, 0.96), made.dark, BOLD)
    for k in range(made.variant.count("stars", 2, 5)):
        page.figure(star(5, 0.45), 0.06 + 0.06 * k, 0.93, 0.026, made.accent)


def _landscape(page: Sheet, d: Design) -> None:
    """Ranges of hills under a tall sky, with towers, trees or sails upon them."""
    f, v = d.draw, d.variant
    sky = mix(d.field, d.light, 0.2)
    page.fade(mix(sky, d.dark, f("dusk", 0.0, 0.6)), mix(d.accent, d.light, 0.45))
    page.disc(
        f("sun-x", 0.2, 0.8),
        f("sun-y", 0.3, 0.5),
        f("sun-r", 0.1, 0.2),
        mix(d.accent, d.light, 0.7),
    )
    x = np.linspace(0, 1, 90)
    ranges = f.count("ranges", 3, 5)
    for k in range(ranges):
        near = (k + 1) / ranges
        base = 0.46 + 0.4 * near
        waves = sum(
            np.sin(x * f(f"w{k}{m}", 3, 9) * m + f(f"p{k}{m}", 0, 6)) / m for m in (1, 2, 4)
        )
        line = base + 0.05 * (1.3 - near) * waves
        colour = mix(mix(d.paper, sky, 0.6 * (1 - near)), d.dark, 0.75 * near)
        page.fill(np.concatenate([np.stack([x, line], 1), [(1, 1), (0, 1)]]), colour)
        for i in range(v.count(f"things{k}", 2, 6)):
            at = v(f"x{k}{i}", 0.05, 0.95)
            foot = float(np.interp(at, x, line)) + 0.01
            _landmark(
                page,
                f.pick(f"thing{k}", ("tree", "tower", "tent", "sail")),
                at,
                foot,
                0.03 + 0.07 * near,
                brighten(colour, 0.75),
            )


def _landmark(page: Sheet, what: str, x: float, y: float, size: float, colour: Colour) -> None:
    if what == "tree":
        for k in range(3):
            w, top = size * (0.42 - 0.1 * k), y - size * (0.5 + 0.38 * k)
            page.fill(
                [(x - w, top + 0.5 * size), (x, top - 0.25 * size), (x + w, top + 0.5 * size)],
                colour,
            )
    elif what == "tower":
        w = size * 0.22
        page.box((x - w, y - 1.5 * size, x + w, y), colour)
        page.fill(
            [(x - 1.5 * w, y - 1.5 * size), (x, y - 2.2 * size), (x + 1.5 * w, y - 1.5 * size)],
            colour,
        )
    elif what == "tent":
        page.fill([(x - size * 0.7, y), (x, y - size * 0.9), (x + size * 0.7, y)], colour)
    else:
        page.fill(
            [(x, y - 1.6 * size), (x + 0.8 * size, y - 0.2 * size), (x, y - 0.2 * size)], colour
        )
        page.fill(
            [
                (x - 0.6 * size, y - 0.15 * size),
                (x + 0.8 * size, y - 0.15 * size),
                (x + 0.5 * size, y + 0.1 * size),
                (x - 0.4 * size, y + 0.1 * size),
            ],
            colour,
        )


def _tiled(page: Sheet, d: Design) -> None:
    """A map of hexagons."""
    f = d.draw
    page.fade(d.field, mix(d.field, d.dark, 0.5))
    size = f("hex", 0.08, 0.13)
    hexagon = star(6, math.cos(math.pi / 6), turn=math.pi / 6)[::2]
    lands = (d.paper, d.accent, d.light, mix(d.paper, d.dark, 0.4), mix(d.accent, d.light, 0.5))
    for row in range(int(1.6 / size)):
        for col in range(int(1.2 / size)):
            x, y = size * (1.74 * col + 0.87 * (row % 2)), size * 1.5 * row
            if not f.chance(f"{row}-{col}", 0.82):
                continue
            across, down = x * page.unit / page.rgb.shape[1], y * page.unit / page.rgb.shape[0]
            colour = f.pick(f"land{row}-{col}", lands)
            page.figure(hexagon, across, down, size * 0.97, brighten(colour, 0.72))
            page.figure(hexagon, across, down - 0.006, size * 0.93, colour)


def _emblazoned(page: Sheet, d: Design) -> None:
    """One large emblem before a pattern."""
    pattern(page, d.draw, mix(d.paper, d.field, 0.5))
    page.disc(0.5, 0.56, 0.36, d.dark)
    page.disc(0.5, 0.56, 0.34, d.accent)
    illustrate(page, d.draw, d.motif(d.accent), 0.5, 0.58, 0.29)


def poster(look: Look, traits: Traits) -> Thing:
    """A poster on a wall: in a frame, on pins, or taped at its corners."""
    f, v, made = traits.family, traits.variant, design(look, traits)
    wide = traits.near("wide", 0.42, 0.62, 0.05)
    tall = wide * math.sqrt(2)
    page = Sheet(wide, tall, made.paper, side=1024)
    f.pick("poster", _POSTERS)(page, made)
    hung = f.pick("hung", ("frame", "frame", "pins", "tape"))
    out = 0.006 if hung == "frame" else 0.002
    u, w = np.meshgrid(np.linspace(0, 1, 25), np.linspace(0, 1, 25), indexing="ij")
    free = 0.0 if hung == "frame" else v("curl", 0.004, 0.014)
    curl = free * (np.abs(2 * u - 1) ** 4 * (1 - w) ** 3 + 0.25 * np.sin(u * 5) ** 2 * (1 - w))
    paper = skin(np.stack([(u - 0.5) * wide, -out - curl, w * tall], -1))
    parts = [Part(paper, Material(sheet=page.rgb, rough=0.35 if hung == "frame" else 0.5))]
    if hung == "frame":
        bar = f("bar", 0.014, 0.03)
        stuff = f.pick(
            "frame",
            (
                Material((32, 32, 34), rough=0.4),
                Material((226, 222, 214), rough=0.5),
                Material((168, 118, 70), rough=0.5),
                STEEL,
            ),
        )
        parts.append(Part(_frame(wide, tall, bar, 0.02), stuff))
        plain = shifted(box(wide, 0.004, tall), y=-0.002)
        parts.append(Part(plain, Material((120, 100, 80), rough=0.9)))
    else:
        spots = [
            (x * (wide / 2 - 0.014), -0.003 - (free if z < 0.1 else 0.0), z)
            for x in (-1, 1)
            for z in (0.014, tall - 0.014)
        ]
        parts.append(_fixed(hung, spots, made))
    return Thing(tuple(parts), prints_on(paper, page))


def _fixed(how: str, spots: list[tuple[float, float, float]], made: Design) -> Part:
    """Pins or strips of tape at the corners of a sheet."""
    if how == "pins":
        profile = [(1e-4, 0.010), (0.0045, 0.009), (0.0048, 0.004), (0.002, 0.001),
            (0.0012, -0.002)]  # fmt: skip
        head = posed(lathe(profile[::-1], around=16), turned((1, 0, 0), 90))
        pins = joined([shifted(head, *spot) for spot in spots])
        return Part(pins, Material(made.accent, rough=0.3, coat=0.4))
    strip = shifted(box(0.05, 0.0004, 0.02), z=-0.01)
    strips: list[Mesh] = []
    for x, y, z in spots:
        slant = 45 if x * (z - 0.1) < 0 else -45
        strips.append(shifted(posed(strip, turned((0, 1, 0), slant)), x, y, z))
    return Part(joined(strips), Material((226, 214, 178), rough=0.4))


def _frame(wide: float, tall: float, bar: float, deep: float) -> Mesh:
    upright = box(bar, deep, tall + bar * 2, bevel=0.002)
    level = box(wide, deep, bar, bevel=0.002)
    return joined(
        [
            shifted(upright, -wide / 2 - bar / 2 + 0.002, -deep / 2, -bar),
            shifted(upright, wide / 2 + bar / 2 - 0.002, -deep / 2, -bar),
            shifted(level, 0, -deep / 2, -bar + 0.002),
            shifted(level, 0, -deep / 2, tall - 0.002),
        ]
    )


def _words(page: Sheet, d: Design, box: Box, ground: Colour, align: str = "left") -> None:
    """Name and date in one field, the date in a plainer face."""
    x0, y0, x1, y1 = box
    cut = y0 + (y1 - y0) * 0.72
    seat = page.text(d.look.label, (x0, y0, x1, cut), d.ink(ground), d.face, lines=3, align=align,
                     instead=d.draw.pick("instead", CLAIMS))  # fmt: skip
    low = (seat[3] if seat else cut) + 0.025
    bright = abs(luma(d.accent) - luma(ground)) > 100
    ink = d.accent if bright else d.ink(ground)
    page.text(d.look.sublabel, (x0, low, x1, min(low + 0.06, y1)), ink, BOLD, align=align)


def _round(page: Sheet, d: Design) -> None:
    """Large discs that overlap, type below."""
    for i in range(d.draw.count("discs", 2, 4)):
        x, y = d.draw(f"x{i}", 0.15, 0.85), d.draw(f"y{i}", 0.12, 0.5)
        colour = (d.field, d.accent, d.light, d.dark)[i % 4]
        page.disc(x, y, d.draw(f"r{i}", 0.2, 0.42), colour)
    illustrate(page, d.draw, d.motif(d.paper), 0.5, 0.33, 0.26, d.variant("turn", -0.3, 0.3))
    page.part((0, 0.66, 1, 1), d.paper)
    _words(page, d, (0.07, 0.68, 0.93, 0.95), d.paper)


def _grid(page: Sheet, d: Design) -> None:
    """A field of tiles above a plain field."""
    top = page.part((0, 0, 1, 0.64), d.field)
    pattern(top, d.draw, d.paper, name="tiles")
    if d.draw.chance("second"):
        pattern(top.part((0, 0.5, 1, 1), d.accent), d.draw, d.dark, name="tiles-2")
    page.part((0, 0.64, 1, 1), d.light)
    _words(page, d, (0.07, 0.67, 0.93, 0.95), d.light)


def _burst(page: Sheet, d: Design) -> None:
    """Rays from a picture, type in a box at the foot."""
    h, w = page.rgb.shape[:2]
    y, x = np.mgrid[0:h, 0:w] / w
    angle = np.arctan2(y - 0.52, x - 0.5) / (2 * math.pi) * d.draw.count("rays", 9, 22)
    page.blend(np.clip((np.abs(angle % 1 - 0.5) - 0.25) * 40 + 0.5, 0, 1), d.field)
    page.disc(0.5, 0.37, 0.31, d.light)
    illustrate(page, d.draw, d.motif(d.light), 0.5, 0.37, 0.26)
    page.box((0.05, 0.63, 0.95, 0.965), d.dark)
    _words(page, d, (0.1, 0.655, 0.9, 0.945), d.dark, "centre")


def _type(page: Sheet, d: Design) -> None:
    """The name from edge to edge above slanting stripes."""
    foot = page.part((0, 0.6, 1, 1), d.field)
    pattern(foot, Draws("stripes", d.draw("slant")), d.accent, name="stripe")
    illustrate(page, d.draw, d.motif(d.field), 0.74, 0.8, 0.22)
    page.line([(0.07, 0.05), (0.93, 0.05)], 0.008, d.ink(d.paper))
    _words(page, d, (0.07, 0.075, 0.93, 0.57), d.paper)


def _view(page: Sheet, d: Design) -> None:
    """A landscape like the travel posters of old, in a light border."""
    _landscape(page.part((0.045, 0.03, 0.955, 0.7)), d)
    for edge in ((0, 0, 1, 0.03), (0, 0.7, 1, 1), (0, 0, 0.045, 1), (0.955, 0, 1, 1)):
        page.part(edge, d.light)
    _words(page, d, (0.06, 0.72, 0.94, 0.96), d.light, "centre")


_POSTERS: tuple[Callable[[Sheet, Design], None], ...] = (_round, _grid, _burst, _type, _view)


def ticket(look: Look, traits: Traits) -> Thing:
    """A ticket of thin card with a stub to tear off, lying face up."""
    f, v, made = traits.family, traits.variant, design(look, traits)
    wide, tall = traits.near("wide", 0.14, 0.19, 0.05), traits.near("tall", 0.062, 0.08, 0.05)
    ground = mix(made.light, made.paper, f("tint", 0.0, 0.35))
    page = Sheet(wide, tall, ground, side=1024)
    stub = f("stub", 0.74, 0.8)
    security = page.part((0, 0, 1, 1))
    pattern(security, f, mix(ground, made.field, 0.22), name="security")
    page.box((0, 0, stub, 0.15), made.field)
    page.box((stub, 0, 1, 1), mix(made.field, ground, 0.55))
    page.small_print((0.03, 0.05, 0.3, 0.11), 1, made.ink(made.field), f)
    illustrate(page, f, made.motif(made.field), stub - 0.05, 0.075, 0.06)
    ink = made.ink(ground)
    page.box((0.03, 0.2, stub - 0.03, 0.66), ground)
    page.text(look.label, (0.04, 0.22, stub - 0.04, 0.64), ink, made.face, lines=2, align="left",
              instead="Admit one")  # fmt: skip
    page.box((0.03, 0.71, 0.36, 0.93), made.accent, round_by=0.04)
    page.text(look.sublabel, (0.05, 0.75, 0.34, 0.89), made.ink(made.accent), BOLD,
              instead="Please keep")  # fmt: skip
    page.small_print((0.41, 0.73, stub - 0.04, 0.92), 3, ink, v)
    _stub(page, made, stub)
    across, down = np.meshgrid(np.linspace(0, 1, 33), np.linspace(0, 1, 3), indexing="ij")
    curl = v("curl", 0.001, 0.006)
    z = 0.0005 + curl * (2 * across - v("flat", 0.6, 1.2)) ** 2
    at = np.stack([(across - 0.5) * wide, (down - 0.5) * tall, z - z.min() + 0.0005], -1)
    face = skin(at)
    rear = skin(np.add(at, (0, 0, -0.0004))[::-1])
    behind = Sheet(wide, tall, made.light, side=384)
    behind.small_print((0.06, 0.12, 0.7, 0.88), 9, ink, f)
    parts = (
        Part(face, Material(sheet=page.rgb, rough=0.55)),
        Part(rear, Material(sheet=behind.rgb, rough=0.6)),
    )
    return Thing(parts, prints_on(face, page))


def _stub(page: Sheet, made: Design, x: float) -> None:
    """The part that is torn off: a row of holes, a code, a punch."""
    for k in range(17):
        page.disc(x, 0.03 + k * 0.059, 0.016, (70, 66, 60))
    page.barcode((x + 0.03, 0.5, 0.97, 0.93), made.variant)
    illustrate(page, made.draw, made.motif(made.field), (x + 1) / 2, 0.26, 0.17)
    if made.variant.chance("punched", 0.4):
        page.disc(x - made.variant("punch", 0.04, 0.12), 0.82, 0.045, (84, 78, 70))
