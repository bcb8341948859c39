"""Bicycles, a frame of tubes with wire wheels, and motorcycles, an engine between two wheels."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from simulator.studio.solid.meshes import (
    ball,
    box,
    joined,
    lathe,
    posed,
    shifted,
    skin,
    smooth_path,
    tube,
)
from simulator.studio.solid.scene_types import Material, Mesh, Point, Thing, turned
from simulator.studio.things.shared_shapes import (
    AMBER,
    BLACK,
    CHROME,
    DARK_GLASS,
    LENS,
    RED_LENS,
    RUBBER,
    STEEL,
    Tray,
    along_x,
    both,
    circle,
    facing,
    hoop,
    plate,
    repeated,
    rod,
    rounded,
    swell,
    turning,
    upright,
    wire,
)
from simulator.studio.things.vehicle_bodies import drawn_wheel, put_wheels
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Draws, Traits, oklch

ALLOY = Material((186, 188, 192), rough=0.3, metal=1.0)
TAN = Material((150, 116, 78), rough=0.7)


class BikeFrame(NamedTuple):
    """Where a bicycle's joints are, (x, z) in metres; the front is towards +x."""

    rear: tuple[float, float]
    front: tuple[float, float]
    crank: tuple[float, float]
    seat: tuple[float, float]
    """Top of the seat tube."""
    head: tuple[float, float]
    """Top of the head tube."""
    crown: tuple[float, float]
    """Its foot, where the fork begins."""
    wheel: float
    tyre: float
    """Radius of the tyre's section."""


def bicycle(_look: Look, traits: Traits) -> Thing:
    """A town, road or mountain bicycle: tyres, bars and guards follow the family's sportiness."""
    f, v = traits.family, traits.variant
    sport = f("sport")
    frame = _frame(traits, sport)
    tray = Tray()
    palette = traits.palette(vivid=0.75, light=(0.22, 0.66))
    paint = Material(palette.base, rough=0.3, coat=1.0, metal=0.3 if f.chance("metallic") else 0.0)
    bare = CHROME if sport < 0.4 else ALLOY
    dark = Material(oklch(0.28, 0.03, palette.hue), rough=0.6)
    leather = TAN if v.chance("tan") and sport < 0.7 else BLACK
    _tubes(tray, frame, paint, sport < 0.35 and f.chance("step", 0.65), f("tube", 0.015, 0.021))
    wall = TAN if f.chance("tan-wall", 0.3) else RUBBER
    for at in (frame.rear, frame.front):
        _wheel(tray, at, frame, wall, ALLOY if v.chance("bright-rim", 0.7) else BLACK)
    _drive(tray, frame, bare)
    _saddle(tray, frame, leather, sport)
    _bars(tray, frame, bare, leather, traits, sport)
    if sport < 0.55:
        guard = paint if f.chance("guard") else Material(palette.second, rough=0.35, coat=0.6)
        _guards(tray, frame, guard)
        _stand_and_lamp(tray, frame, bare)
        if f.chance("rack", 0.7):
            _rack(tray, frame, bare)
        if v.chance("basket", 0.4):
            _basket(tray, frame, Material((140, 104, 62), rough=0.8))
        if f.chance("case", 0.7):
            case = plate(rounded(0.52, 0.12, 0.06), 0.012, bevel=0.004)
            x = (frame.crank[0] + frame.rear[0]) / 2
            tray.add(dark, shifted(case, x, -0.062, (frame.crank[1] + frame.rear[1]) / 2))
    elif v.chance("bottle", 0.6):
        _bottle(tray, frame, Material(palette.accent, rough=0.4))
    return Thing(tray.parts())


def _frame(traits: Traits, sport: float) -> BikeFrame:
    f = traits.family
    wheel = f("wheel", 0.325, 0.35)
    base = f("base", 1.0, 1.1)
    rear, front = (-base / 2, wheel), (base / 2, wheel)
    crank = (rear[0] + f("stay", 0.42, 0.46), f("crank", 0.27, 0.3))
    lean = math.radians(f("seat-angle", 71, 75))
    tall = traits.near("tall", 0.46, 0.56, 0.1)
    seat = (crank[0] - tall * math.cos(lean), crank[1] + tall * math.sin(lean))
    angle = math.radians(f("head-angle", 68, 73))
    way = np.array([-math.cos(angle), math.sin(angle)])
    foot = np.array(front) - 0.05 * np.array((math.sin(angle), math.cos(angle)))
    crown = foot + way * (wheel + 0.05)
    head = crown + way * f("head", 0.11, 0.19)
    tyre = 0.014 + 0.012 * abs(sport - 0.7) / 0.7 + 0.004 * f("fat")
    return BikeFrame(rear, front, crank, seat, tuple(head), tuple(crown), wheel, tyre)  # type: ignore[arg-type]


def _tubes(tray: Tray, frame: BikeFrame, paint: Material, step: bool, r: float) -> None:
    """Frame and fork; `step` has the low tube that one steps over."""
    head, crown = np.array(frame.head), np.array(frame.crown)
    upper, lower = head + (crown - head) * 0.2, head + (crown - head) * 0.8
    seat, crank = np.array(frame.seat), np.array(frame.crank)
    post = crank + (seat - crank) * (0.45 if step else 0.93)
    low = upright(lower)
    pieces = [rod(upright(frame.crank), upright(frame.seat), r, around=14),
        rod(upright(frame.crown), upright(frame.head), r * 1.25, around=16),
        tube([low, upright(frame.crank)], [r * 1.15, r * 1.2], around=14)]  # fmt: skip
    if step:
        sag = (upper + post) / 2 + (0, -0.07)
        pieces.append(wire([upright(upper), upright(sag), upright(post)], r * 0.95))
    else:
        pieces.append(rod(upright(upper), upright(post), r * 0.95, around=14))
    for s in (-1, 1):
        axle = upright(frame.rear, s * 0.062)
        bend = upright((frame.crank[0] - 0.1, frame.crank[1] + 0.01), s * 0.035)
        pieces.append(wire([upright(frame.crank, s * 0.02), bend, axle], r * 0.6))
        top = upright((frame.seat[0] - 0.012, frame.seat[1] - 0.05), s * 0.018)
        mid = upright(
            ((frame.rear[0] + frame.seat[0]) / 2, (frame.rear[1] + frame.seat[1]) / 2), s * 0.05
        )
        pieces.append(wire([top, mid, axle], r * 0.5))
        knee = crown + (np.array(frame.front) - crown) * 0.7 + (-0.014, 0)
        fork = [upright(frame.crown, s * 0.03), upright(knee, s * 0.05),
            upright(frame.front, s * 0.05)]  # fmt: skip
        pieces.append(wire(fork, [r * 0.8, r * 0.75, r * 0.45]))
    crown_bar = rod(upright(frame.crown, -0.04), upright(frame.crown, 0.04), r * 0.95)
    shell = rod(upright(frame.crank, -0.037), upright(frame.crank, 0.037), 0.021, around=16)
    tray.add(paint, *pieces, crown_bar, shell)


def _wheel(
    tray: Tray, at: tuple[float, float], frame: BikeFrame, wall: Material, rim: Material
) -> None:
    r, t = frame.wheel, frame.tyre
    x, z = at
    tray.add(RUBBER, shifted(hoop(r - t * 0.8, t * 0.8, n=72, around=10), x, 0, z))
    tray.add(wall, shifted(hoop(r - t * 1.25, t * 0.93, n=60, around=10, flat=0.9), x, 0, z))
    tray.add(rim, shifted(hoop(r - t * 2 - 0.009, 0.012, n=60, around=8, flat=0.75), x, 0, z))
    hub = turning([(0.0, -0.05), (0.008, -0.05), (0.008, -0.036), (0.026, -0.034), (0.026, -0.029),
        (0.013, -0.02), (0.013, 0.02), (0.026, 0.029), (0.026, 0.034), (0.008, 0.036),
        (0.008, 0.05), (0.0, 0.05)], around=18)  # fmt: skip
    tray.add(ALLOY, shifted(facing(hub), x, 0, z))
    tray.add(STEEL, shifted(_spokes(r - t * 2 - 0.01), x, 0, z))


def _spokes(radius: float, count: int = 28) -> Mesh:
    """Wires from the hub's flanges to the rim, each leaning against the next."""
    out: list[Mesh] = []
    for i in range(count):
        a = 2 * math.pi * i / count
        lean = 0.9 if i % 4 < 2 else -0.9
        side = 0.03 if i % 2 else -0.03
        hub = (0.024 * math.cos(a + lean), side, 0.024 * math.sin(a + lean))
        out.append(rod(hub, (radius * math.cos(a), 0, radius * math.sin(a)), 0.0013, around=4))
    return joined(out)


def _drive(tray: Tray, frame: BikeFrame, bare: Material) -> None:
    """Chainring, cranks, pedals, sprocket and chain, on the viewer's side."""
    (x, z), (rx, rz) = frame.crank, frame.rear
    big, small, y = 0.088, 0.035, -0.05
    arm = plate([(-0.009, 0.0), (0.009, 0.0), (0.008, big), (-0.008, big)], 0.005)
    ring = joined([hoop(big, 0.006, n=44, around=6), *([repeated(arm, 5, axis=(0, 1, 0))])])
    tray.add(bare, shifted(ring._replace(smooth=False), x, y, z))
    cog = plate(circle(small, n=24), 0.006, (rx, y, rz))
    tray.add(STEEL, cog)
    tilt = math.atan2(rz - z, rx - x)
    half = math.asin((big - small) / math.hypot(rx - x, rz - z))
    path: list[Point] = []
    for (cx, cz), r, turn in (((x, z), big + 0.004, 0.0), ((rx, rz), small + 0.004, math.pi)):
        for k in np.linspace(-1, 1, 14):
            span = math.pi / 2 + (half if not turn else -half)
            a = tilt + math.pi + turn + k * span
            path.append((cx + r * math.cos(a), y, cz + r * math.sin(a)))
    tray.add(STEEL, tube(path, 0.0045, around=6, closed=True))
    for s, way in ((-1, 1), (1, -1)):
        a = math.radians(-20)
        tip = (x + way * 0.17 * math.cos(a), z + way * 0.17 * math.sin(a))
        y0 = s * 0.062
        tray.add(
            bare, tube([upright(frame.crank, y0), upright(tip, s * 0.075)], [0.014, 0.01], flat=0.6)
        )
        tray.add(bare, rod(upright(frame.crank, s * 0.03), upright(frame.crank, s * 0.07), 0.012))
        tray.add(
            BLACK, shifted(box(0.09, 0.085, 0.02, bevel=0.006), tip[0], s * 0.13, tip[1] - 0.01)
        )


def _saddle(tray: Tray, frame: BikeFrame, leather: Material, sport: float) -> None:
    seat, crank = np.array(frame.seat), np.array(frame.crank)
    up = (seat - crank) / np.linalg.norm(seat - crank)
    top = seat + up * 0.13
    wide = 0.095 - 0.025 * sport
    tray.add(ALLOY, rod(upright(frame.seat), upright(top), 0.0125))
    x, z = top[0] + 0.02, top[1] + 0.035
    path = [(x - 0.15, 0, z + 0.012), (x - 0.1, 0, z + 0.012), (x, 0, z), (x + 0.09, 0, z),
        (x + 0.14, 0, z - 0.01)]  # fmt: skip
    radii = [wide * 0.6, wide, wide * 0.85, wide * 0.42, wide * 0.3, wide * 0.2]
    tray.add(leather, swell(path, radii, 0.36))
    rails = [(x - 0.1, 0.02, z - 0.01), (x - 0.03, 0.022, z - 0.032), (x + 0.08, 0.012, z - 0.012)]
    tray.add(STEEL, both(wire(rails, 0.0035, around=6)))


def _bars(
    tray: Tray, frame: BikeFrame, bare: Material, grip: Material, traits: Traits, sport: float
) -> None:
    """Handlebar and stem: swept, straight or dropped."""
    head, crown = np.array(frame.head), np.array(frame.crown)
    up = (head - crown) / np.linalg.norm(head - crown)
    rise = 0.09 - 0.05 * sport
    x, z = head + up * rise + (0.02 + 0.07 * sport, 0.015)
    tray.add(bare, wire([upright(head), upright(tuple(head + up * rise)), (x, 0, z)], 0.0145))
    w = traits.family("bar", 0.26, 0.3)
    if sport < 0.45:
        half = [(x, 0, z), (x + 0.02, 0.1, z + 0.03), (x - 0.03, w * 0.9, z + 0.05),
            (x - 0.13, w, z + 0.04), (x - 0.22, w * 0.98, z + 0.03)]  # fmt: skip
        hold = half[-2:]
    elif sport < 0.72:
        half = [(x, 0, z), (x, 0.06, z), (x - 0.02, w + 0.04, z + 0.015)]
        hold = [(x - 0.01, w - 0.07, z + 0.011), (x - 0.02, w + 0.04, z + 0.015)]
    else:
        w *= 0.75
        half = [(x, 0, z), (x, w - 0.03, z), (x + 0.05, w, z - 0.005),
            (x + 0.085, w + 0.005, z - 0.05), (x + 0.045, w + 0.01, z - 0.12),
            (x - 0.03, w + 0.012, z - 0.125)]  # fmt: skip
        hold = half[1:]
    tray.add(bare, both(wire(half, 0.011)))
    tray.add(grip, both(wire(hold, 0.0165)))
    ahead = hold[0]
    lever = [(ahead[0] + 0.03, ahead[1] - 0.02, ahead[2]),
        (ahead[0] + 0.03, ahead[1], ahead[2] - 0.02), (ahead[0] - 0.05, ahead[1] + 0.02,
        ahead[2] - 0.035)]  # fmt: skip
    tray.add(ALLOY, both(wire(lever, 0.005, around=6)))
    cable = [(ahead[0] + 0.03, ahead[1] - 0.03, ahead[2]), (x + 0.09, 0.05, z - 0.03),
        (x + 0.03, 0.02, z - 0.16)]  # fmt: skip
    tray.add(BLACK, both(wire(cable, 0.0028, around=5)))
    tray.add(bare, shifted(turning([(0.022, 0), (0.02, 0.012), (0.0, 0.02)], around=16), x, 0.07,
        z + 0.012))  # fmt: skip


def _guards(tray: Tray, frame: BikeFrame, paint: Material) -> None:
    r = frame.wheel + 0.022
    for (x, z), start, stop in ((frame.rear, 20, 200), (frame.front, 35, 165)):
        a = np.radians(np.linspace(start, stop, 26))[:, None]
        y = np.linspace(-0.027, 0.027, 5)[None]
        out = r - 0.5 * y**2 / 0.027
        points = np.stack([x + out * np.cos(a), y + 0 * a, z + out * np.sin(a)], -1)
        tray.add(paint, skin(points))
        for k in (stop - 10, (start + stop) / 2):
            tip = (x + r * math.cos(math.radians(k)), z + r * math.sin(math.radians(k)))
            tray.add(
                STEEL, both(rod(upright((x, z), 0.055), upright(tip, 0.027), 0.0022, around=5))
            )
    x, z = frame.rear
    at = (x + r * math.cos(math.radians(172)) - 0.012, z + r * math.sin(math.radians(172)))
    tray.add(RED_LENS, shifted(ball(0.012, 0.028, 0.035, around=14), at[0], 0, at[1]))


def _stand_and_lamp(tray: Tray, frame: BikeFrame, bare: Material) -> None:
    x, z = frame.crank
    tray.add(STEEL, rod((x - 0.1, 0.03, z), (x - 0.17, 0.19, 0.005), 0.008))
    x, z = frame.crown
    bowl = [(0.0, -0.045), (0.02, -0.042), (0.036, -0.01), (0.04, 0.02), (0.037, 0.022)]
    tray.add(bare, shifted(along_x(lathe(bowl, around=22)), x + 0.09, 0, z + 0.06))
    tray.add(LENS, shifted(along_x(lathe([(0.038, 0.018), (0.02, 0.028), (0, 0.03)], around=22)),
        x + 0.09, 0, z + 0.06))  # fmt: skip
    tray.add(bare, rod((x, 0, z + 0.02), (x + 0.08, 0, z + 0.04), 0.006))


def _rack(tray: Tray, frame: BikeFrame, bare: Material) -> None:
    x, z = frame.rear
    top = z + frame.wheel + 0.06
    back, front = x - 0.2, frame.seat[0] - 0.03
    rail = [(front, 0.02, top + 0.01), (front - 0.08, 0.055, top), (back, 0.06, top),
        (back - 0.03, 0.0, top)]  # fmt: skip
    tray.add(bare, both(wire(rail, 0.005, around=7)))
    for k in (0.35, 0.6, 0.85):
        at = front + (back - front) * k
        tray.add(bare, rod((at, -0.057, top), (at, 0.057, top), 0.004, around=6))
    tray.add(bare, both(wire([(x, 0.065, z), (x - 0.03, 0.068, z + 0.2), (x - 0.02, 0.058, top)],
        0.0045, around=6)))  # fmt: skip


def _basket(tray: Tray, frame: BikeFrame, wicker: Material) -> None:
    x, z = frame.head[0] + 0.17, frame.head[1] - 0.13
    for k in range(11):
        t = k / 10
        shape = rounded(0.2 + 0.06 * t, 0.26 + 0.08 * t, 0.07, n=4)
        path = np.stack([shape[:, 0] + x, shape[:, 1], np.full(len(shape), z + 0.2 * t)], -1)
        tray.add(wicker, tube(path, 0.014 if k in (0, 10) else 0.0115, around=6, closed=True))
    foot, rim = rounded(0.2, 0.26, 0.07, n=7), rounded(0.26, 0.34, 0.07, n=7)
    for a, b in zip(foot, rim, strict=True):
        tray.add(wicker, rod((x + a[0], a[1], z), (x + b[0], b[1], z + 0.2), 0.014, around=5))
    tray.add(wicker, shifted(box(0.2, 0.26, 0.01), x, 0, z))


def _bottle(tray: Tray, frame: BikeFrame, colour: Material) -> None:
    head, crown, crank = (np.array(p) for p in (frame.head, frame.crown, frame.crank))
    start = head + (crown - head) * 0.8
    way = (start - crank) / np.linalg.norm(start - crank)
    off = np.array([-way[1], way[0]]) * 0.062
    at = crank + way * 0.17 + off
    path = [upright(tuple(at + way * k)) for k in (0, 0.01, 0.11, 0.12, 0.15, 0.165, 0.185, 0.2)]
    tray.add(colour, tube(path, [0.03, 0.036, 0.036, 0.036, 0.036, 0.03, 0.014, 0.012], around=18))


CAST = Material((126, 128, 130), rough=0.5, metal=0.8)


class MotorcycleFrame(NamedTuple):
    """Where a motorcycle's joints are, (x, z) in metres; the front is towards +x."""

    rear: tuple[float, float]
    front: tuple[float, float]
    yoke: tuple[float, float]
    """Top of the fork."""
    seat: float
    """Height."""
    sport: float
    cruiser: float


def motorcycle(_look: Look, traits: Traits) -> Thing:
    """From cruiser through classic to racer as the family's numbers run."""
    f, v = traits.family, traits.variant
    kind = f("kind")
    sport, cruiser = max(kind - 0.6, 0) / 0.4, max(0.4 - kind, 0) / 0.4
    base = 1.40 + 0.22 * cruiser
    small, big = 0.30 + 0.02 * f("big"), 0.31 + 0.03 * f("tall-front")
    rake = math.radians(25 + 10 * cruiser)
    reach = 0.66 + 0.06 * cruiser
    front = (base / 2, big)
    yoke = (front[0] - reach * math.sin(rake), big + reach * math.cos(rake))
    pose = MotorcycleFrame(
        (-base / 2, small), front, yoke, 0.78 - 0.1 * cruiser + 0.04 * sport, sport, cruiser
    )
    tray = Tray()
    palette = traits.palette(vivid=0.8, light=(0.2, 0.6))
    paint = Material(palette.base, rough=0.25, coat=1.0, metal=0.3 if f.chance("metallic") else 0)
    bright = CHROME if f.chance("chrome", 0.35 + 0.5 * cruiser) else BLACK
    leather = Material((92, 62, 40), rough=0.6) if v.chance("tan", 0.3) else BLACK
    _wheels(tray, pose, f, bright)
    _front(tray, pose, paint, bright, v.chance("mudguard"))
    _tank(tray, pose, paint, Material(palette.accent, rough=0.3, coat=1.0), bright, v)
    _seat(tray, pose, leather, paint)
    _engine(tray, pose, f, bright)
    _exhaust(tray, pose, bright, f.chance("high-pipe", 0.3))
    _motor_frame(tray, pose, paint if f.chance("frame", 0.25) else BLACK, bright)
    _motor_bars(tray, pose, f, bright)
    _lamps(tray, pose, paint, bright, f)
    return Thing(tray.parts())


def _wheels(tray: Tray, pose: MotorcycleFrame, f: Draws, bright: Material) -> None:
    wire_spoked = f.chance("wire", 0.7 - 0.7 * pose.sport)
    for (x, z), width in ((pose.rear, 0.15 + 0.04 * f("fat")), (pose.front, 0.105)):
        if not wire_spoked:
            metal = Material((70, 71, 74), rough=0.35, metal=0.9) if bright is BLACK else CAST
            put_wheels(tray, drawn_wheel(f, z, width), metal, [(x, 0, z)])
        else:
            t = width / 2
            tray.add(RUBBER, shifted(hoop(z - 0.7 * t, t, n=56, around=14, flat=0.7), x, 0, z))
            tray.add(
                bright, shifted(hoop(z - 1.4 * t, t * 0.5, n=48, around=10, flat=0.8), x, 0, z)
            )
            hub = turning([(0, -0.05), (0.05, -0.05), (0.05, 0.05), (0, 0.05)], around=18, by=0.008)
            tray.add(STEEL, shifted(facing(hub), x, 0, z))
            inner = z - 1.55 * t
            spokes = [rod((0.05 * math.cos(a + lean), y, 0.05 * math.sin(a + lean)),
                (inner * math.cos(a), 0, inner * math.sin(a)), 0.0025, around=4) for i in range(32)
                for a, lean, y in [(math.pi * i / 16, 0.8 - 1.6 * (i % 4 < 2),
                0.04 - 0.08 * (i % 2))]]  # fmt: skip
            tray.add(STEEL, shifted(joined(spokes), x, 0, z))
        disc = facing(turning([(0.075, 0), (0.135, 0), (0.135, 0.006), (0.075, 0.006)], around=32))
        for y in (-0.07, 0.07) if x > 0 else (0.085,):
            tray.add(STEEL, shifted(disc, x, y, z))


def _front(
    tray: Tray, pose: MotorcycleFrame, paint: Material, bright: Material, painted: bool
) -> None:
    foot, top = np.array(pose.front), np.array(pose.yoke)
    mid = foot + (top - foot) * 0.5
    for s in (-0.095, 0.095):
        tray.add(bright, rod(upright(mid, s), upright(top, s), 0.021, around=14))
        tray.add(CAST, rod(upright(foot, s), upright(mid, s), 0.029, around=14))
    for k in (0.72, 0.97):
        at = foot + (top - foot) * k
        tray.add(BLACK, shifted(box(0.07, 0.25, 0.035, bevel=0.012), at[0], 0, at[1]))
    _guard(tray, pose.front, pose.front[1] + 0.02, 0.062, (25, 150), paint if painted else bright)


def _guard(tray: Tray, at: tuple[float, float], r: float, half: float, arc: tuple[float, float],
    material: Material) -> None:  # fmt: skip
    a = np.radians(np.linspace(*arc, 24))[:, None]
    y = np.linspace(-half, half, 9)[None]
    out = r - 0.5 * half * (y / half) ** 2
    tray.add(
        material, skin(np.stack([at[0] + out * np.cos(a), y + 0 * a, at[1] + out * np.sin(a)], -1))
    )


def _tank(
    tray: Tray, pose: MotorcycleFrame, paint: Material, accent: Material, bright: Material, v: Draws
) -> None:
    x0, x1 = pose.yoke[0] - 0.06, -0.12
    z = pose.seat + 0.1 + 0.04 * pose.sport
    step = (x0 - x1) / 4
    path = [(x1 + i * step, 0, z + dz) for i, dz in enumerate((-0.06, -0.01, 0.03, 0.03, -0.01))]
    wide = 0.13 + 0.02 * v("tank")
    radii = [wide * 0.4, wide * 0.8, wide * 1.02, wide * 0.96, wide * 0.3]
    tray.add(paint, swell(path, radii, 0.78))
    cap = turning([(0.034, 0), (0.034, 0.014), (0.026, 0.02), (0, 0.02)], around=20)
    tray.add(bright, shifted(cap, (x0 + x1) / 2 + 0.06, 0, z + 0.03 + wide * 0.76))
    if v.chance("stripe", 0.75):  # a thinner tank that stands out above: a stripe along the top
        up = 0.006
        middle = [(x, y, zz + wide * 0.36 + up) for x, y, zz in path]
        slim = [r * v("stripe-wide", 0.4, 0.48) for r in radii]
        tray.add(accent, swell(middle, slim, 1.0))


def _seat(tray: Tray, pose: MotorcycleFrame, leather: Material, paint: Material) -> None:
    z, end = pose.seat, -0.62 + 0.12 * pose.sport
    kick = 0.06 + 0.1 * pose.sport
    path = [(-0.06, 0, z + 0.03), (-0.2, 0, z), (-0.38, 0, z + 0.005), (end, 0, z + kick)]
    tray.add(leather, swell(path, [0.07, 0.12, 0.125, 0.075 + 0.03 * pose.cruiser], 0.42))
    tail = [(-0.25, 0, z - 0.07), (-0.45, 0, z - 0.06), (end - 0.04, 0, z + kick - 0.06),
        (end - 0.12, 0, z + kick - 0.04)]  # fmt: skip
    tray.add(paint, swell(tail, [0.08, 0.1, 0.075, 0.03], 0.5))
    low, high = 60 - 30 * pose.cruiser, 165 + 15 * pose.cruiser
    _guard(
        tray, pose.rear, pose.rear[1] + 0.03, 0.09, (low, high), paint if pose.cruiser else BLACK
    )
    side = plate([(-0.14, 0.0), (0.1, 0.02), (0.13, 0.13), (-0.06, 0.15)], 0.045, bevel=0.018)
    tray.add(paint, both(shifted(side, -0.24, -0.12, z - 0.26)))


def _engine(tray: Tray, pose: MotorcycleFrame, f: Draws, bright: Material) -> None:
    """Crankcase, covers, and one to four finned cylinders."""
    z = 0.26
    case = [(-0.2, 0.0), (0.14, -0.03), (0.22, 0.06), (0.2, 0.17), (0.04, 0.22), (-0.22, 0.2),
        (-0.26, 0.1)]  # fmt: skip
    tray.add(CAST, plate(case, 0.26, (0.0, 0, z + 0.04), bevel=0.03))
    for x, r, zz in ((0.06, 0.095, z + 0.13), (-0.13, 0.075, z + 0.14)):
        cover = facing(
            turning([(r, 0), (r, 0.03), (r * 0.86, 0.05), (0, 0.055)], around=28, by=0.006)
        )
        tray.add(bright if bright is CHROME else STEEL, both(shifted(cover, x, -0.13, zz)))
    fins = f.count("fins", 7, 11)
    profile: list[tuple[float, float]] = [(0.0, 0.0)]
    for i in range(fins):
        low = 0.2 * i / fins
        profile += [(0.062, low), (0.098, low + 0.002), (0.098, low + 0.008), (0.062, low + 0.01)]
    profile += [(0.085, 0.205), (0.085, 0.25), (0.06, 0.275), (0.0, 0.28)]
    barrel = lathe(np.array(profile), around=24)._replace(smooth=False)
    lean, twin = f("lean", 5, 22), f.chance("vee", 0.3 + 0.6 * pose.cruiser)
    for tilt, x in ((24, 0.07), (-24, -0.06)) if twin else ((lean, 0.06),):
        for y in (0,) if twin else (-0.085, 0.085):
            cylinder = posed(barrel, turned((0, 1, 0), tilt))
            tray.add(CAST, shifted(cylinder, x, y, z + 0.2))
    air = posed(ball(0.07, 0.13, 0.06, around=20), turned((0, 1, 0), 10))
    tray.add(BLACK, shifted(air, -0.14, 0, z + 0.36))
    if pose.sport > 0.1:
        tray.add(BLACK, shifted(box(0.03, 0.3, 0.22, bevel=0.008), 0.3, 0, z + 0.18))


def _exhaust(tray: Tray, pose: MotorcycleFrame, bright: Material, high: bool) -> None:
    z, lift = 0.24, 0.22 if high else 0.0
    for s in (-1, 1) if pose.cruiser or not high else (-1,):
        pipe = [(0.14, s * 0.07, 0.56), (0.27, s * 0.1, 0.5), (0.29, s * 0.13, 0.36),
            (0.2, s * 0.15, z), (-0.1, s * 0.165, z - 0.02 + lift * 0.3),
            (-0.3, s * 0.175, z + lift * 0.8)]  # fmt: skip
        tray.add(bright, wire(pipe, 0.021, around=12))
        start, end = pipe[-1], (-0.78, s * 0.19, z + 0.07 + lift)
        can = [tuple(np.array(start) + (np.array(end) - np.array(start)) * k)
            for k in (0, 0.12, 0.9, 1)]  # fmt: skip
        tray.add(
            CHROME if bright is CHROME else STEEL, tube(can, [0.022, 0.048, 0.05, 0.034], around=18)
        )


def _motor_frame(tray: Tray, pose: MotorcycleFrame, colour: Material, bright: Material) -> None:
    top = np.array(pose.front) + (np.array(pose.yoke) - np.array(pose.front)) * 0.85
    x, z = top - (0.03, 0.0)
    cradle = [(x, 0.03, z), (0.26, 0.1, 0.4), (0.16, 0.12, 0.23), (-0.22, 0.12, 0.23),
        (-0.3, 0.12, 0.45), (-0.3, 0.1, pose.seat - 0.08), (-0.6, 0.1,
        pose.seat - 0.05)]  # fmt: skip
    tray.add(colour, both(wire(cradle, 0.017)))
    arm = [(-0.26, 0.1, 0.36), (-0.45, 0.115, 0.33), upright(pose.rear, 0.115)]
    tray.add(colour, both(wire(arm, 0.022)))
    low, high = (np.array([pose.rear[0] + 0.06, 0.13, pose.rear[1] + 0.03]),
        np.array([-0.42, 0.13, pose.seat - 0.07]))  # fmt: skip
    t = np.linspace(0, 1, 72)[:, None]
    axis = (high - low) / np.linalg.norm(high - low)
    across = np.cross(axis, (0, 1, 0))
    a = t * 2 * math.pi * 8
    coil = (low + (high - low) * (0.22 + 0.7 * t) + 0.03
        * (across * np.cos(a) + np.array((0, 1, 0)) * np.sin(a)))  # fmt: skip
    tray.add(bright, both(tube(coil, 0.006, around=5)))
    tray.add(STEEL, both(rod(tuple(low), tuple(high), 0.016)))
    tray.add(STEEL, rod((-0.1, 0.13, 0.26), (-0.2, 0.36, 0.01), 0.011))
    for px in (0.02, -0.36):
        tray.add(BLACK, both(rod((px, 0.14, 0.32), (px, 0.27, 0.33), 0.016)))
    chain = plate([(-0.36, -0.03), (0.36, 0.03), (0.36, 0.075), (-0.36, 0.04)], 0.02, bevel=0.004)
    tray.add(BLACK, shifted(chain, (pose.rear[0] - 0.24) / 2, 0.1, 0.34))


def _motor_bars(tray: Tray, pose: MotorcycleFrame, f: Draws, bright: Material) -> None:
    x, z = pose.yoke
    rise = 0.12 * f("rise") + 0.16 * pose.cruiser - 0.06 * pose.sport + 0.04
    w = 0.37 - 0.05 * pose.sport
    half = [(x, 0, z + 0.03), (x + 0.01, 0.08, z + 0.04), (x - 0.02, w * 0.6, z + rise),
        (x - 0.08, w, z + rise), (x - 0.15, w + 0.06, z + rise - 0.02)]  # fmt: skip
    tray.add(bright, both(wire(half, 0.012)))
    tray.add(BLACK, both(wire(half[3:], 0.019)))
    lever = [(x - 0.02, w - 0.03, z + rise), (x - 0.03, w + 0.02, z + rise - 0.005),
        (x - 0.09, w + 0.1, z + rise - 0.03)]  # fmt: skip
    tray.add(STEEL, both(wire(lever, 0.006, around=6)))
    stalk = [(x - 0.05, w * 0.75, z + rise), (x - 0.03, w * 0.85, z + rise + 0.08),
        (x - 0.05, w, z + rise + 0.16)]  # fmt: skip
    tray.add(bright, both(wire(stalk, 0.006, around=6)))
    glass = along_x(
        turning([(0, -0.008), (0.05, -0.006), (0.055, 0.01), (0.02, 0.022), (0, 0.024)], around=22)
    )
    tray.add(bright, both(shifted(glass, x - 0.05, w + 0.03, z + rise + 0.18)))
    dial = turning([(0.04, 0), (0.042, 0.045), (0.036, 0.05), (0, 0.05)], around=20)
    tray.add(BLACK, both(shifted(posed(dial, turned((0, 1, 0), -25)), x + 0.03, 0.048, z + 0.05)))


def _lamps(tray: Tray, pose: MotorcycleFrame, paint: Material, bright: Material, f: Draws) -> None:
    x, z = pose.yoke[0] + 0.13, pose.yoke[1] - 0.08
    r = f("lamp", 0.075, 0.1)
    if pose.sport > 0.35:
        nose = [(x - 0.24, 0, z + 0.05), (x - 0.08, 0, z), (x + 0.1, 0, z - 0.03),
            (x + 0.2, 0, z - 0.05)]  # fmt: skip
        tray.add(paint, swell(nose, [0.1, 0.17, 0.13, 0.05], 0.85))
        screen = posed(ball(0.2, 0.12, 0.1, around=28), turned((0, 1, 0), 24))
        tray.add(DARK_GLASS, shifted(screen, x - 0.08, 0, z + 0.12))
        side = [(0.34, 0.86), (0.4, 0.72), (0.3, 0.5), (0.34, 0.36), (0.12, 0.24), (-0.16, 0.26),
            (-0.1, 0.4), (0.12, 0.5), (0.08, 0.72)]  # fmt: skip
        panel = posed(plate(smooth_path([*side, side[0]], 4)[:-1][::-1], 0.05, bevel=0.02),
            turned((0, 0, 1), 7))  # fmt: skip
        tray.add(paint, both(shifted(panel, 0.0, -0.2)))
        x, z, r = x + 0.14, z - 0.02, 0.06
    bowl = [(0.0, -r), (r * 0.6, -r * 0.85), (r, -0.02), (r * 1.03, 0.02), (r, 0.026)]
    tray.add(bright, shifted(along_x(lathe(bowl, around=28)), x, 0, z))
    lens = along_x(lathe([(r * 0.97, 0.022), (r * 0.5, 0.034), (0, 0.038)], around=28))
    tray.add(LENS, shifted(lens, x, 0, z))
    rear = -0.66 + 0.1 * pose.sport
    top = pose.seat + 0.02 + 0.08 * pose.sport
    tray.add(RED_LENS, shifted(ball(0.03, 0.055, 0.03, around=16), rear - 0.08, 0, top - 0.03))
    for at, up in ((x - 0.06, z - 0.02), (rear - 0.03, top - 0.06)):
        tray.add(BLACK, both(rod((at, 0.05, up), (at, 0.14, up), 0.008, around=6)))
        tray.add(AMBER, both(shifted(ball(0.028, 0.022, 0.022, around=12), at, 0.155, up)))
    tag = box(0.012, 0.18, 0.14, bevel=0.003)
    tray.add(Material((232, 232, 228), rough=0.4), shifted(tag, rear - 0.14, 0, top - 0.24))
    tray.add(BLACK, rod((rear - 0.04, 0, top - 0.04), (rear - 0.13, 0, top - 0.2), 0.014))
