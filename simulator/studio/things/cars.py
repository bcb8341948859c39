"""Cars and vans."""

from __future__ import annotations

import string
from typing import NamedTuple

import numpy as np

from simulator.studio.solid.meshes import box, joined, posed, sheet, shifted
from simulator.studio.solid.prints import FACES, Sheet, prints_on
from simulator.studio.solid.scene_types import Material, Mesh, Print, Thing, moved, turned
from simulator.studio.things.shared_shapes import (
    AMBER,
    BLACK,
    CHROME,
    DARK_GLASS,
    RED_LENS,
    STEEL,
    Tray,
    both,
    laid,
    rod,
    seam,
    wire,
)
from simulator.studio.things.vehicle_bodies import Shell, drawn_wheel, put_wheels, wells
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Draws, Traits, luma, mix, oklch

UNDER = Material((18, 18, 19), rough=0.9)
LAMP_WHITE = Material((214, 218, 224), rough=0.1, metal=0.7, coat=1.0)


class CarMeasures(NamedTuple):
    """The measures of a car, metres; x = 0 is the middle."""

    length: float
    width: float
    height: float
    wheel: float
    """Radius."""
    front_axle: float
    rear_axle: float
    ground: float
    nose: float
    """Height of the bonnet's front edge."""
    cowl: float
    """Where the windscreen's foot stands."""
    belt: float
    deck: float
    """Where the rear glass's foot stands."""
    deck_height: float
    rake: float
    """How far the windscreen leans back."""
    fall: float
    """How far the rear glass leans forward."""
    doors: int


def car(_look: Look, traits: Traits) -> Thing:
    """Hatchback, saloon, estate or off-roader: the family's numbers say which."""
    f = traits.family
    tall = f("tall")
    stretch = f("stretch")
    length = 3.75 + 0.95 * stretch + traits.variant("length", -0.02, 0.02)
    height = 1.40 + 0.24 * tall**1.5
    tail = f.pick("tail", ("hatch", "saloon", "estate", "hatch"))
    nose_share = f("bonnet", 0.26, 0.31) if tail != "saloon" else 0.3
    half = length / 2
    wheel = 0.30 + 0.055 * tall
    deck = {"hatch": 0.06, "saloon": 0.62 + 0.2 * stretch, "estate": 0.04}[tail]
    build = CarMeasures(length, 1.70 + 0.12 * stretch + 0.06 * tall, height, wheel,
        half - 0.78 - 0.06 * stretch, -half + 0.70 + 0.16 * stretch, 0.17 + 0.07 * tall,
        0.71 + 0.15 * tall, half - nose_share * length, 0.90 + 0.13 * tall, -half + deck,
        0.96 + 0.13 * tall, 0.62 - 0.2 * tall, {"hatch": 0.34, "saloon": 0.62, "estate": 0.2}[tail],
        f.pick("doors", (2, 4, 4)))  # fmt: skip
    tray = Tray()
    paint = lacquer(traits)
    shell, cabin = _shells(build, f)
    painted(tray, shell, cabin, paint)
    _glazing(tray, cabin, build)
    trim = Material((30, 31, 33), rough=0.6)
    cladding(tray, shell, build, trim if tall > 0.55 else paint, trim)
    lights(tray, shell, f)
    grille_and_plates(tray, shell, traits, trim)
    _doors(tray, shell, build, paint)
    mirrors(tray, build, BLACK if traits.variant.chance("mirror", 0.3) else paint)
    wheels_and_exhaust(tray, build, traits)
    _own_trim(tray, shell, cabin, build, traits)
    if tall > 0.5 and traits.variant.chance("rails", 0.6):
        y, z = build.width * 0.36, build.height + 0.035
        rail = wire([(build.cowl - 0.9, y, z - 0.05), (build.cowl - 1.0, y, z),
            (build.deck + 0.7, y, z), (build.deck + 0.6, y, z - 0.05)], 0.014)  # fmt: skip
        tray.add(STEEL if traits.variant.chance("steel") else BLACK, both(rail))
    return Thing(tray.parts())


def _own_trim(tray: Tray, shell: Shell, cabin: Shell, b: CarMeasures, traits: Traits) -> None:
    """By what look-alikes are told apart: a line along the side, a roof of another colour."""
    v = traits.variant
    if v.chance("roof", 0.3):
        colour = Material(
            v.pick("roof-colour", ((30, 31, 33), (228, 227, 223))), rough=0.3, coat=1.0
        )
        u, inward = np.meshgrid(np.linspace(-1, 1, 90), 1 + np.linspace(0.04, 1, 8), indexing="ij")
        tray.add(colour, laid(cabin.at, u, inward, lift=0.003))
    if v.chance("line", 0.45):
        accent = traits.palette().accent
        paint = v.pick(
            "line-colour", ((226, 225, 220), (34, 34, 36), accent, mix(accent, (40, 40, 44), 0.4))
        )
        colour = Material(paint, rough=0.35, coat=0.6)
        at, wide = v("line-at", 0.2, 0.5), v("line-wide", 0.03, 0.12)
        free = b.wheel + 0.12
        ends = (shell.u_of(b.front_axle - free), shell.u_of(b.rear_axle + free))
        for s in (1, -1):
            tray.add(colour, shell.panel((s * ends[0], s * ends[1]), (at, at + wide), 0.002))


def lacquer(traits: Traits, *, white: float = 0.0) -> Material:
    """Half of all cars are white, grey, silver or black; vans are white more often than not."""
    f, v = traits.family, traits.variant
    if f.chance("white", white):
        return Material(oklch(0.95 + v("level", -0.02, 0.02), 0.006, 90), rough=0.3, coat=1.0)
    if f.chance("grey", 0.4):
        level = f("grey-level", 0.22, 0.97)
        colour = oklch(level + v("level", -0.04, 0.04), 0.008, f("grey-hue", 0, 360))
        metal = 0.5 if 0.4 < level < 0.85 else 0.0
    else:
        colour = traits.palette(vivid=0.7, light=(0.28, 0.55)).base
        metal = 0.35 if f.chance("metallic") else 0.0
    return Material(colour, rough=0.3, metal=metal, coat=1.0)


def _shells(b: CarMeasures, f: Draws) -> tuple[Shell, Shell]:
    """The body below the windows, and the cabin above."""
    half = b.length / 2
    tuck, lean, square = f("tuck", 0.05, 0.08), f("lean", 0.12, 0.2), f("square", 3.6, 4.8)
    low = Shell(-half, half, b.width, floor=((-half, b.ground + 0.12),
        (b.rear_axle - 0.3, b.ground), (b.front_axle + 0.3, b.ground), (half, b.ground + 0.06)),
        top=((-half, b.deck_height - 0.06), (b.deck - 0.02, b.deck_height), (b.cowl, b.belt),
        (b.cowl + 0.25, b.belt - 0.03), (half - 0.35, b.nose + 0.08), (half, b.nose - 0.02)),
        side=((0, tuck), (0.12, 0.04), (0.3, 0.02), (0.6, f("waist", 0.015, 0.035)), (0.72, 0.0),
        (0.8, 0.005), (0.86, 0.035), (0.95, 0.05), (1, 0.09)),
        front=((0, 0.14), (0.15, 0.03), (0.4, 0.0), (0.6, 0.02), (0.8, 0.06), (1, lean)),
        back=((0, 0.16), (0.15, 0.05), (0.4, 0.0), (0.6, 0.03), (0.85, 0.06), (1, 0.13)),
        square=square, crown=0.03, arches=((b.front_axle, b.wheel, b.wheel + 0.05),
        (b.rear_axle, b.wheel, b.wheel + 0.05)))  # fmt: skip
    up, drop = f("hip", 0.1, 0.15), f("drop", 0.02, 0.07)
    cabin = Shell(b.deck + 0.05, b.cowl + 0.06, b.width - 0.14,
        floor=((b.deck, b.deck_height - 0.02), (b.cowl, b.belt - 0.02)),
        top=((b.deck, b.height - drop), (0.1 * half, b.height), (b.cowl, b.height - 0.05)),
        side=((0, 0.0), (0.5, up * 0.55), (0.9, up * 1.15), (1, up * 1.6)),
        front=((0, 0.0), (0.5, b.rake * 0.46), (0.9, b.rake * 0.92), (1, b.rake * 1.12)),
        back=((0, 0.0), (0.5, b.fall * 0.42), (0.9, b.fall * 0.92), (1, b.fall * 1.2)),
        square=square + 0.8, crown=0.03, ease=3.0)  # fmt: skip
    return low, cabin


def painted(tray: Tray, shell: Shell, cabin: Shell, paint: Material) -> None:
    """The lacquered skin, and what is dark below and inside it."""
    tray.add(paint, shell.mesh(), cabin.mesh())
    wells(tray, shell, paint, UNDER)
    under = box(shell.nose - shell.tail - 0.5, shell.width * 0.6, 0.45, bevel=0.05)
    tray.add(UNDER, shifted(under, (shell.nose + shell.tail) / 2, 0, 0.2))


def _glazing(tray: Tray, cabin: Shell, b: CarMeasures) -> None:
    """Windscreen, rear glass and side windows, each in a black frame."""
    corner, rear = cabin.u_of(cabin.nose - 0.13, 0), cabin.u_of(cabin.tail + 0.12, 0)
    post = b.cowl - 0.42 - 0.5 * (b.cowl - 0.42 - b.rear_axle - 0.1) if b.doors == 4 else None
    last = max(b.rear_axle - 0.02, cabin.tail + b.fall * 0.7 + 0.1)
    panes = [((-corner + 0.01, corner - 0.01), (0.05, 0.9), 0.0)]
    panes += [((rear + 0.012, 1.0), (0.16, 0.88), 0.0)]
    stops = [post or b.rear_axle + 0.75, last]
    if last - cabin.tail > 0.75:  # an estate's third window
        stops.append(cabin.tail + 0.24)
    at = [cabin.u_of(x) for x in stops]
    starts, ends = [corner + 0.02, *(u + 0.01 for u in at)], [u - 0.01 for u in at]
    for i, (front, back) in enumerate(zip(starts, ends, strict=False)):
        slant = -0.02 if i == len(ends) - 1 else 0.0
        panes.append(((front, back), (0.07, 0.86), slant))
    for (u0, u1), (v0, v1), lean in panes:
        for s in (1, -1) if u0 > 0 else (1,):
            pane(tray, cabin, s, (u0, u1), (v0, v1), lean)


def pane(tray: Tray, shell: Shell, s: int, u: tuple[float, float], v: tuple[float, float],
    lean: float = 0.0) -> None:  # fmt: skip
    """Glass in a black frame on the near (1) or far (-1) side."""
    for grow, material in ((0.005, BLACK), (0.0, DARK_GLASS)):
        wide = (s * (u[0] - grow), s * min(u[1] + grow, 1.0))
        high = (v[0] - 6 * grow, v[1] + 5 * grow)
        tray.add(material, shell.panel(wide, high, 0.002 if grow else 0.004, lean=lean))


def cladding(tray: Tray, shell: Shell, b: CarMeasures, sill: Material, trim: Material) -> None:
    """The strips along the sills, and the bumpers' lower lips."""
    reach = b.wheel + 0.06
    ahead, behind = shell.u_of(b.front_axle + reach), shell.u_of(b.front_axle - reach)
    near, far = shell.u_of(b.rear_axle + reach), shell.u_of(b.rear_axle - reach)
    tray.add(trim, shell.panel((-ahead, ahead), (0.0, 0.14), 0.006))
    for s in (1, -1):
        tray.add(sill, shell.panel((s * behind, s * near), (0.0, 0.13), 0.01))
        tray.add(trim, shell.panel((s * far, s), (0.0, 0.2), 0.006))


def lights(tray: Tray, shell: Shell, f: Draws) -> None:
    """Headlamps with their indicators, fog lamps, and red lamps around the rear corners."""
    corner, rear = shell.u_of(shell.nose - 0.3), shell.u_of(shell.tail + 0.16)
    tall, top, band = f("lamp-height", 0.12, 0.2), 0.86, f("rear-height", 0.16, 0.3)
    inner, outer = f("lamp-in", 0.4, 0.62) * corner, corner * f("lamp-out", 1.05, 1.3)
    share = f("rear-wide", 0.3, 0.55)
    for s in (1, -1):
        tray.add(BLACK, shell.panel((s * inner, s * outer), (top - tall, top), 0.003))
        lens = (s * (inner + 0.006), s * (outer - 0.012))
        tray.add(LAMP_WHITE, shell.panel(lens, (top - tall * 0.9, top - tall * 0.15), 0.006))
        blink = (s * (outer - 0.012), s * (outer - 0.004))
        tray.add(AMBER, shell.panel(blink, (top - tall * 0.9, top - tall * 0.15), 0.006))
        fog = (s * inner, s * (inner + 0.02))
        tray.add(LAMP_WHITE, shell.panel(fog, (0.2, 0.27), 0.008))
        tail = (s * rear, s * (rear + share * (1 - rear)))
        tray.add(RED_LENS, shell.panel(tail, (0.82 - band, 0.83), 0.005))


def grille_and_plates(tray: Tray, shell: Shell, traits: Traits, trim: Material) -> None:
    """Grille, and the number plates: every car has its own number."""
    f = traits.family
    wide = shell.u_of(shell.nose - 0.3) * f("grille-wide", 0.3, 0.5)
    low, high = f("grille-low", 0.5, 0.62), 0.8
    tray.add(trim, shell.panel((-wide, wide), (low, high), 0.004))
    bright = CHROME if f.chance("chrome") else BLACK
    for k in range(bars := f.count("bars", 2, 5)):
        at = low + (high - low) * (k + 0.5) / bars
        tray.add(bright, seam(shell.at, [(-wide, at), (0, at), (wide, at)], 0.008, sink=-0.9))
    tray.add(trim, shell.panel((-wide * 1.4, wide * 1.4), (0.17, 0.33), 0.004))
    text = _registration(f, traits.variant)
    for u, turn, at in ((0.0, 90, 0.42), (1.0, -90, 0.5)):
        x, _, z = shell.at(np.array(u), np.array(at))
        pose = moved(x + turn / 90 * 0.024, 0, z, turn=turn)
        tray.add(text, posed(shifted(sheet(0.52, 0.115), z=-0.057), pose))
        tray.add(BLACK, posed(shifted(box(0.54, 0.012, 0.13, bevel=0.004), 0, 0.008, -0.065), pose))


def _registration(f: Draws, v: Draws) -> Material:
    letters = "".join(v.pick(f"plate-{i}", string.ascii_uppercase) for i in range(3))
    page = Sheet(0.52, 0.115, f.pick("plate-ground", ((236, 236, 232), (232, 196, 60))), side=288)
    page.text(
        f"{letters} {v.count('plate', 100, 999)}", (0.05, 0.15, 0.95, 0.85), (24, 24, 26), lines=2
    )
    return Material(sheet=page.rgb, rough=0.4)


def _doors(tray: Tray, shell: Shell, b: CarMeasures, paint: Material) -> None:
    """Gaps around doors, bonnet and tailgate, and the handles."""
    front, rear = b.front_axle - b.wheel - 0.12, b.rear_axle + b.wheel * 0.2
    middle = (b.cowl - 0.32 + b.rear_axle) / 2 if b.doors == 4 else b.rear_axle + 0.75
    lines: list[list[tuple[float, float]]] = []
    for s in (1, -1):
        u = [s * shell.u_of(x) for x in (front, middle, rear)]
        lines += [[(u[0], 0.97), (u[0], 0.6), (u[0], 0.15), (u[1], 0.15), (u[1], 0.97)]]
        if b.doors == 4:
            hip = s * shell.u_of(b.rear_axle + b.wheel + 0.1)
            lines += [[(u[1], 0.15), (hip, 0.15), (hip, 0.42), (u[2], 0.72), (u[2], 0.97)]]
        for x in (middle + 0.16, rear + 0.16)[: b.doors // 2]:
            at = shell.at(np.array(s * shell.u_of(x)), np.array(0.8))
            grip = box(0.19, 0.03, 0.026, bevel=0.011)
            tray.add(paint, shifted(grip, at[0], at[1] - s * 0.016, at[2] - 0.013))
    side = shell.u_of(b.cowl + 0.1)
    corner = shell.u_of(shell.nose - 0.18)
    lines.append([(-corner, 0.9), (-corner / 2, 0.9), (corner / 2, 0.9), (corner, 0.9)])
    lines += [[(s * corner, 0.9), (s * side, 1.04)] for s in (1, -1)]
    for line in lines:
        tray.add(UNDER, seam(shell.at, line, 0.005, sink=0.3))


def mirrors(tray: Tray, b: CarMeasures, paint: Material) -> None:
    """One on each side, on short stalks."""
    x, y, z = b.cowl - 0.48, -b.width / 2, b.belt + 0.08
    head = posed(shifted(box(0.11, 0.2, 0.135, bevel=0.036), z=-0.067), turned((0, 0, 1), 10))
    glass = shifted(box(0.01, 0.15, 0.09, bevel=0.003), x - 0.056, y - 0.06, z - 0.045)
    stalk = rod((x, y + 0.06, z - 0.06), (x, y - 0.03, z - 0.03), 0.018)
    tray.add(paint, both(shifted(head, x, y - 0.06, z)))
    tray.add(BLACK, both(stalk))
    tray.add(CHROME, both(glass))


def wheels_and_exhaust(tray: Tray, b: CarMeasures, traits: Traits) -> None:
    """Four wheels and an exhaust."""
    wheel = drawn_wheel(traits.family, b.wheel, 0.2)
    dark = traits.variant.chance("dark-rim", 0.25)
    metal = Material((60, 61, 64) if dark else (188, 190, 194), rough=0.28, metal=0.9)
    y = b.width / 2 - 0.145
    axles = (b.front_axle, b.rear_axle)
    put_wheels(tray, wheel, metal, [(x, s * y, b.wheel) for x in axles for s in (-1, 1)])
    tail = -b.length / 2
    tray.add(CHROME, rod((tail + 0.3, 0.45, 0.26), (tail + 0.1, 0.45, 0.26), 0.03))


def van(look: Look, traits: Traits) -> Thing:
    """A panel van with its owner's name along both sides."""
    f = traits.family
    length = 4.9 + 1.0 * f("stretch") + traits.variant("length", -0.02, 0.02)
    half, height, wheel = length / 2, f("height", 1.95, 2.5), f("wheel", 0.33, 0.36)
    short = f("bonnet", 0.55, 1.0)
    build = CarMeasures(length, f("width", 1.85, 2.02), height, wheel, half - 0.85,
        -half + f("tail", 0.95, 1.2), 0.24, f("nose", 0.88, 1.02), half - short,
        f("belt", 1.12, 1.25), -half - 0.03, 1.2, f("rake", 0.5, 0.75), 0.05, 2)  # fmt: skip
    tray, paint, trim = Tray(), lacquer(traits, white=0.5), Material((38, 39, 41), rough=0.6)
    shell, hull = _van_shells(build, f)
    painted(tray, shell, hull, paint)
    cab = build.cowl - 0.95 - 0.3 * short
    for s in (1, -1):
        pane(tray, hull, s, (hull.u_of(hull.nose - 0.2, 0) + 0.02, hull.u_of(cab)), (0.05, 0.62))
        back = (hull.u_of(hull.tail + 0.1) + 0.02, 1.0 - 0.006)
        pane(tray, hull, s, back, (0.2, 0.62))
    screen = hull.u_of(hull.nose - 0.16, 0) - 0.008
    pane(tray, hull, 1, (-screen, screen), (0.04, 0.62))
    cladding(tray, shell, build, trim, trim)
    lights(tray, shell, f)
    grille_and_plates(tray, shell, traits, trim)
    for s in (1, -1):
        front, rear = (s * shell.u_of(x) for x in (build.front_axle - wheel - 0.12, cab - 0.05))
        top = (s * hull.u_of(cab - 0.05, 0.7), 0.7)
        tray.add(UNDER, seam(shell.at, [(front, 1), (front, 0.12), (rear, 0.12), (rear, 1)], 0.005))
        tray.add(UNDER, seam(hull.at, [(s * hull.u_of(cab - 0.05, 0), 0), top], 0.005))
        strip = (s * shell.u_of(build.front_axle - wheel - 0.1),
            s * shell.u_of(build.rear_axle + 0.5))  # fmt: skip
        tray.add(trim, shell.panel(strip, (0.42, 0.5), 0.012))
    tray.add(UNDER, seam(hull.at, [(1.0, 0.0), (1.0, 0.95)], 0.006))
    mirrors(tray, build, BLACK)
    wheels_and_exhaust(tray, build, traits)
    bands = _stripe(shell, traits)
    if bands:
        tray.add(*bands)
    prints = _lettering(tray, hull, cab, look, traits, paint)
    return Thing(tray.parts(), prints)


def _van_shells(b: CarMeasures, f: Draws) -> tuple[Shell, Shell]:
    half, square, tuck = b.length / 2, f("square", 6.0, 9.0), f("tuck", 0.05, 0.08)
    low = Shell(-half, half, b.width, floor=((-half, b.ground + 0.06), (b.rear_axle, b.ground),
        (half, b.ground)), top=((-half, b.belt), (b.cowl, b.belt), (half - 0.25, b.nose + 0.08),
        (half, b.nose)), side=((0, tuck), (0.1, 0.03), (0.3, 0.01), (0.8, 0.0), (1, 0.0)),
        front=((0, 0.12), (0.12, 0.02), (0.4, 0.0), (0.7, 0.03), (1, f("lean", 0.12, 0.26))),
        back=((0, 0.06), (0.15, 0.0), (1, 0.0)), square=square, crown=0.02, ease=10.0,
        arches=((b.front_axle, b.wheel, b.wheel + 0.06), (b.rear_axle, b.wheel,
        b.wheel + 0.06)))  # fmt: skip
    hip = f("hip", 0.1, 0.16)
    hull = Shell(-half, b.cowl + 0.12, b.width + 0.004, floor=((-half, b.belt - 0.01),
        (b.cowl, b.belt - 0.01)), top=((-half, b.height - 0.04), (-half + 0.5, b.height),
        (b.cowl - 1.0, b.height), (b.cowl - 0.3, b.height - 0.1)),
        side=((0, 0.0), (0.4, 0.01), (0.85, hip * 0.7), (1, hip * 1.3)),
        front=((0, 0.0), (0.6, b.rake), (0.85, b.rake * 1.45), (1, b.rake * 1.8)),
        back=((0, 0.0), (0.8, 0.02), (1, 0.09)), square=square, crown=0.04, ease=7.0)  # fmt: skip
    return low, hull


def _stripe(shell: Shell, traits: Traits) -> tuple[Material, Mesh] | None:
    """A band of the accent's colour, by which look-alikes are told apart."""
    if not traits.variant.chance("stripe", 0.7):
        return None
    colour = Material(traits.palette().accent, rough=0.35, coat=0.5)
    at = traits.variant("stripe-at", 0.62, 0.8)
    wide = traits.variant("stripe-wide", 0.05, 0.14)
    start = traits.variant("stripe-start", -0.4, 0.8)
    return colour, joined(
        [shell.panel((s * shell.u_of(start), s * 0.93), (at, at + wide), 0.003) for s in (1, -1)]
    )


def _lettering(
    tray: Tray, hull: Shell, cab: float, look: Look, traits: Traits, paint: Material
) -> tuple[Print, ...]:
    """The name along both sides, on the lacquer."""
    if not look.label:
        return ()
    rear, front, low, high = hull.tail + 0.3, cab - 0.3, 0.08, 0.8
    tall = (high - low) * (hull.top[1][1] - hull.floor[0][1])
    page = Sheet(front - rear, tall, paint.colour, side=1024)
    palette, f = traits.palette(), traits.family
    bright = luma(paint.colour) > 120
    ink = palette.dark if bright else palette.light
    second = mix(ink, palette.accent, 0.5)
    if f.chance("band", 0.4):
        page.box((0.0, 0.9, 1.0, 0.97), second)
    page.text(look.label, (0.01, 0.03, 0.99, 0.58), ink, f.pick("face", FACES), lines=2)
    page.text(look.sublabel, (0.04, 0.64, 0.96, 0.88), second, f.pick("small-face", FACES))
    lacquer = paint._replace(sheet=page.rgb)
    prints: list[Print] = []
    for s in (1, -1):
        ends = sorted((s * hull.u_of(rear), s * hull.u_of(front)))
        across = np.linspace(ends[1], ends[0], 24)  # as one reads, from left to right
        u, v = np.meshgrid(across, np.linspace(low, high, 8), indexing="ij")
        mesh = laid(hull.at, u, v, lift=0.002)
        tray.add(lacquer, mesh)
        prints += prints_on(mesh, page)
    return tuple(prints)
