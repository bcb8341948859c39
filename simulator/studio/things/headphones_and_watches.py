"""Headphones, loudspeakers and watches."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.meshes import (
    ball,
    box,
    lathe,
    posed,
    scaled,
    shifted,
    skin,
    smooth_path,
    tube,
)
from simulator.studio.solid.prints import Sheet
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing, turned
from simulator.studio.solid.surfaces import laid as covered
from simulator.studio.solid.surfaces import wood
from simulator.studio.things.shared_shapes import (
    BLACK,
    BRASS,
    CHROME,
    DARK_GLASS,
    STEEL,
    Tray,
    along_x,
    both,
    circle,
    crisp,
    facing,
    grounded,
    hoop,
    mottled,
    plate,
    rod,
    rounded,
    turning,
    wire,
)
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, mix, oklch

LEATHER = Material((34, 33, 33), rough=0.65)


def _shell(traits: Traits) -> Material:
    """A housing: black, white, grey or coloured, matt or glossy."""
    f = traits.family
    palette = traits.palette(light=(0.25, 0.75), vivid=0.8)
    colours = ((34, 34, 36), (226, 225, 220), palette.base, palette.base, palette.second)
    metal = 0.6 * f.chance("shell-metal", 0.2)
    return Material(f.pick("shell", colours), rough=f("shell-rough", 0.22, 0.55), metal=metal)


def headphones(_look: Look, traits: Traits) -> Thing:
    """Cups on a band, standing on their cushions' rims, turned a little inwards."""
    f, v = traits.family, traits.variant
    tray, shell = Tray(), _shell(traits)
    accent = Material(traits.palette().accent, rough=0.35, metal=0.3 * v.chance("metal"))
    pad = v.pick("pad", (LEATHER, LEATHER, Material((112, 92, 74), rough=0.7),
        Material((150, 148, 144), rough=0.85)))  # fmt: skip
    metal = CHROME if f.chance("chrome") else BLACK
    wide, deep = f("wide", 0.034, 0.042), f("deep", 0.018, 0.028)
    high = wide * f("oval", 1.0, 1.3)
    span, top = f("span", 0.078, 0.086), f("top", 0.17, 0.19)
    middle = high + 0.008
    stretch = np.diag([1.0, 1.0, high / wide, 1.0])
    style = f.chance("domed")
    cap = [(wide * 0.98, 0), (wide, deep * 0.3), (wide * 0.94, deep * 0.75),
        (wide * 0.6, deep * (1.15 if style else 1.0)), (0, deep
        * (1.2 if style else 1.0))]  # fmt: skip
    ring = turning([(wide * 0.72, deep * 0.98), (wide * 0.74, deep * 1.08),
        (wide * 0.62, deep * 1.1)], around=40)  # fmt: skip
    inset = turning([(wide * f("disc", 0.4, 0.66), deep * 1.1), (wide * 0.36, deep * 1.2),
        (0, deep * 1.2)], around=36)  # fmt: skip
    cushion = posed(scaled(hoop(wide * 0.74, 0.011, around=12), 1, 1.15, 1), turned((0, 0, 1), 90))
    for s in (-1, 1):
        lean = turned((0, 1, 0), s * 8) @ turned((0, 0, 1), 12 if s > 0 else -12)
        lean[:3, 3] = (s * (span - 0.008), 0, middle)
        side = np.diag([s, 1.0, 1.0, 1.0])
        pose = lean @ side @ stretch
        tray.add(shell, posed(along_x(turning(crisp(cap), around=40, by=0.0015)), pose))
        tray.add(accent, posed(along_x(ring), pose))
        tray.add(metal if f.chance("inset") else shell, posed(along_x(inset), pose))
        tray.add(pad, posed(shifted(cushion, -0.008), pose))
        tray.add(BLACK, posed(shifted(along_x(turning([(wide * 0.7, 0), (0, 0.001)], around=30)),
            -0.004), pose))  # fmt: skip
        yoke = [(0.008, -wide * 1.04, 0), (0.011, -wide * 0.95, wide * 0.6),
            (0.008, 0, wide * 1.22), (0.011, wide * 0.95, wide * 0.6),
            (0.008, wide * 1.04, 0)]  # fmt: skip
        tray.add(metal, posed(wire(yoke, 0.0032, around=8), lean @ side @ stretch))
    foot = (span - 0.002, 0, middle + high * 1.2)
    a = np.linspace(0, math.pi, 33)
    arc = np.stack(
        [span * np.cos(a) * 0.98, 0 * a, foot[2] + (top - foot[2] + 0.01) * np.sin(a) ** 0.8], 1
    )
    w = f("band", 0.011, 0.019)
    tray.add(metal, _strap(arc, 0.006, 0.0016))
    tray.add(shell, _strap(arc[4:-4], w, 0.0035))
    lined = arc[9:-9] - (0, 0, 0.005)
    tray.add(pad, _strap(lined, w * 0.92, 0.005))
    standing = grounded(Thing(tray.parts()))
    if not f.chance("cable", 0.4):
        return standing
    lead = [(-span, -0.01, 0.01), (-span - 0.02, -0.05, 0.003), (-0.02, -0.1, 0.002),
        (0.08, -0.075, 0.002), (0.13, -0.1, 0.002)]  # fmt: skip
    return Thing.of(*standing.parts, Part(wire(lead, 0.0018, around=6), BLACK))


def _strap(path: Array, half: float, thick: float) -> Mesh:
    """A band of leather or metal along a path in x and z, `half` its width along y."""
    return scaled(tube(path, thick, around=14), 1, half / thick, 1)


def speaker(_look: Look, traits: Traits) -> Thing:
    """A loudspeaker for the shelf, or a round one covered in cloth."""
    return (_cabinet if traits.family.chance("cabinet", 0.55) else _cloth_speaker)(traits)


def _cabinet(traits: Traits) -> Thing:
    f, v = traits.family, traits.variant
    tray = Tray()
    w, d, h = f("wide", 0.15, 0.2), f("deep", 0.18, 0.24), f("high", 0.26, 0.36)
    case = box(w, d, h, bevel=f("bevel", 0.003, 0.012))
    parts = []
    if f.chance("wood", 0.6):
        tone = oklch(f("wood-level", 0.3, 0.7), f("wood-chroma", 0.04, 0.09), f("wood-hue", 40, 75))
        parts.append(covered(case, wood(tone, f.count("seed", 0, 2), gloss=0.4)))
    else:
        tray.add(_shell(traits), case)
    front = Material(f.pick("front", ((28, 28, 30), (28, 28, 30), (218, 216, 210))), rough=0.5)
    y = -d / 2
    tray.add(front, plate(rounded(w - 0.016, h - 0.016, 0.008), 0.006, (0, y - 0.001, h / 2),
        bevel=0.002))  # fmt: skip
    cone = v.pick("cone", ((40, 40, 42), (206, 170, 60), (186, 186, 184), (120, 40, 36),
        traits.palette().accent))  # fmt: skip
    woofer = f("woofer", 0.34, 0.42) * w
    tweeter = f("tweeter", 0.13, 0.2) * w
    low = 0.012 + woofer + f("low", 0.0, 0.012)
    for r, z, dome in (
        (woofer, low, False),
        (tweeter, low + woofer + tweeter + f("gap", 0.015, 0.03), True),
    ):
        rim = facing(
            turning([(r * 0.99, 0), (r, 0.005), (r * 0.9, 0.008), (r * 0.86, 0.006)], around=44)
        )
        tray.add(STEEL if f.chance("bright-rim", 0.4) else BLACK, shifted(rim, 0, y - 0.003, z))
        roll = shifted(hoop(r * 0.8, r * 0.065, n=44, around=8), 0, y - 0.007, z)
        tray.add(BLACK, roll)
        if dome:
            tray.add(Material(cone, rough=0.35), shifted(scaled(ball(r * 0.6, around=28), 1, 0.5,
                1), 0, y - 0.006, z))  # fmt: skip
        else:
            dish = facing(turning([(r * 0.76, 0.006), (r * 0.28, 0.0005), (0, 0.0005)], around=40))
            tray.add(Material(cone, rough=0.5), shifted(dish, 0, y - 0.004, z))
            cap = scaled(ball(r * 0.27, around=24), 1, 0.3, 1)
            tray.add(
                Material(mix(cone, (20, 20, 22), 0.5), rough=0.4), shifted(cap, 0, y - 0.004, z)
            )
    port = facing(
        turning([(w * 0.12, 0), (w * 0.11, 0.003), (w * 0.09, 0.0005), (0, 0.0005)], around=28)
    )
    top = low + woofer + 2 * tweeter + 0.03
    if h - w * 0.31 > top:
        tray.add(BLACK, shifted(port, f("port", -0.2, 0.2) * w, y - 0.004, h - w * 0.17))
    lamp = Material(traits.palette().accent, glow=0.6, rough=0.3)
    tray.add(lamp, shifted(box(0.006, 0.002, 0.003), w * 0.36, y - 0.005, 0.02))
    foot = turning([(0.011, -0.006), (0.012, 0.0)], around=14)
    tray.add(
        BLACK, *[shifted(foot, sx * w * 0.4, sy * d * 0.4, 0.0) for sx in (-1, 1) for sy in (-1, 1)]
    )
    lifted = [p._replace(mesh=shifted(p.mesh, z=0.006)) for p in (*parts, *tray.parts())]
    return Thing.of(*lifted)


def _cloth_speaker(traits: Traits) -> Thing:
    """A cylinder, barrel or ball in woven cloth with a control ring on top."""
    f, v = traits.family, traits.variant
    tray = Tray()
    palette = traits.palette(light=(0.25, 0.7), vivid=0.6)
    r, h = f("wide", 0.045, 0.075), f("high", 0.11, 0.2)
    h = max(h, r * 1.2)
    belly = f("belly", -0.12, 0.25)
    t = np.linspace(0, 1, 17)
    profile = np.stack([r * (1 + belly * (np.sin(t * math.pi) - 0.4)), 0.012 + t * (h - 0.03)], 1)
    body = lathe(profile, around=56)
    weave = _weave(
        f.pick("cloth", (palette.base, (60, 61, 64), (176, 174, 168), palette.second)), f
    )
    tray.add(Material(sheet=weave, rough=0.95), body)
    shell = Material(f.pick("cap", ((32, 32, 34), (224, 223, 218), palette.dark)), rough=0.35)
    low, high = float(profile[0, 0]), float(profile[-1, 0])
    tray.add(shell, turning([(0, 0), (low * 0.96, 0), (low * 1.01, 0.004), (low * 1.005, 0.0125)],
        around=48))  # fmt: skip
    top = [(high * 1.005, h - 0.018), (high * 1.01, h - 0.006), (high * 0.95, h),
        (high * 0.8, h - 0.001), (0, h - 0.004)]  # fmt: skip
    tray.add(shell, turning(top, around=48, by=0.0015))
    ring = Material(palette.accent, glow=0.8 * v.chance("on"), rough=0.3)
    at = f("ring", 0.55, 0.75)
    tray.add(ring, turning([(high * at, h - 0.003), (high * at, h + 0.0005),
        (high * (at + 0.05), h + 0.0005), (high * (at + 0.05), h - 0.003)], around=44,
        by=0.0003))  # fmt: skip
    for k in range(4):
        a = k * math.pi / 2
        tray.add(STEEL, shifted(turning([(0.005, 0), (0.0045, 0.0015), (0, 0.0015)], around=14),
            high * 0.3 * math.cos(a), high * 0.3 * math.sin(a), h - 0.0035))  # fmt: skip
    if v.chance("band", 0.6):
        z = v("band-at", 0.15, 0.8)
        rr = float(np.interp(z, t, profile[:, 0]))
        band = [(rr + 0.0004, 0), (rr + 0.002, 0.001), (rr + 0.002, 0.007), (rr + 0.0004, 0.008)]
        tray.add(Material(palette.accent, rough=0.5), shifted(lathe(band, around=48),
            z=0.012 + z * (h - 0.03)))  # fmt: skip
    if f.chance("strap", 0.5):
        loop = [(r * 0.9, 0, h - 0.03), (r * 1.2, 0, h - 0.03), (r * 1.28, 0, h - 0.06),
            (r * 1.12, 0, h - 0.085), (r * 0.9, 0, h - 0.08)]  # fmt: skip
        tray.add(LEATHER, _strap(smooth_path(loop, 5), 0.006, 0.0016))
    return Thing(tray.parts())


def _weave(colour: Colour, f: Draws) -> Array:
    """Knitted cloth, seen closely enough to have a texture."""
    y, x = np.mgrid[0:384, 0:768]
    n = f("weave", 4.5, 7.0)
    knit = np.sin(2 * math.pi * (x + (y // n % 2) * n / 2) / n) * np.sin(math.pi * (y % n) / n)
    level = 0.82 + 0.18 * knit
    tone = mottled(colour, amount=0.05, side=384)
    return np.clip(np.concatenate([tone, tone], 1) * level[..., None], 0, 255).astype(np.uint8)


def watch(_look: Look, traits: Traits) -> Thing:
    """A wristwatch laid flat, its strap stretched out."""
    f, v = traits.family, traits.variant
    tray = Tray()
    r, thick = f("wide", 0.018, 0.0215), f("thick", 0.008, 0.0115)
    gold = f.chance("gold", 0.3)
    metal = (BRASS if gold else Material((60, 61, 64), rough=0.3, metal=1.0)
        if f.chance("dark", 0.2) else CHROME)  # fmt: skip
    square = f.chance("square", 0.25)
    case = _case(r, thick, metal, tray, square)
    tray.add(case[0], *case[1])
    lie = turned((1, 0, 0), -90)
    dial = _dial(traits, square)
    face = plate(
        rounded(2 * r * 0.84, 2 * r * 0.84, 0.006) if square else circle(r * 0.86, n=48), 0.0006
    )
    tray.add(Material(sheet=dial.rgb, rough=0.3), posed(shifted(face, y=-thick - 0.0002), lie))
    ink = (v.pick("hands", (BLACK, CHROME, BRASS)) if int(dial.rgb[8, 8].sum()) > 330
        else v.pick("light-hands", (CHROME, BRASS, Material((236, 236, 232),
        rough=0.4))))  # fmt: skip
    hour, minute = v("hour", 0, 360), v("minute", 0, 360)
    for angle, long, wide in ((hour, 0.46, 0.0011), (minute, 0.68, 0.0008)):
        hand = plate([(-wide, -r * 0.12), (wide, -r * 0.12), (wide * 0.6, r * long),
            (-wide * 0.6, r * long)], 0.0003, (0, -thick - 0.0008, 0))  # fmt: skip
        tray.add(ink, posed(posed(hand, turned((0, 1, 0), angle)), lie))
    second = plate([(-0.0003, -r * 0.2), (0.0003, -r * 0.2), (0.0002, r * 0.74),
        (-0.0002, r * 0.74)], 0.0002, (0, -thick - 0.0012, 0))  # fmt: skip
    tray.add(Material(traits.palette().accent, rough=0.4),
        posed(posed(second, turned((0, 1, 0), v("second", 0, 360))), lie))  # fmt: skip
    crown = along_x(
        turning([(0, 0), (0.0028, 0), (0.0028, 0.0035), (0, 0.004)], around=16, by=0.0004)
    )
    tray.add(metal, shifted(crown, r * 0.99, 0, thick * 0.5))
    if f.chance("pushers", 0.35):
        for k in (-1, 1):
            tray.add(metal, rod((r * 0.85, k * r * 0.5, thick * 0.5),
                (r * 1.08, k * r * 0.56, thick * 0.5), 0.0016))  # fmt: skip
    _band(tray, traits, r, thick, metal)
    return Thing(tray.parts())


def _case(
    r: float, thick: float, metal: Material, tray: Tray, square: bool
) -> tuple[Material, list[Mesh]]:
    if square:
        lie = turned((1, 0, 0), -90)
        ring = plate(rounded(2 * r, 2 * r, 0.008), thick, (0, -thick / 2, 0), bevel=0.0014)
        tray.add(DARK_GLASS, posed(plate(rounded(2 * r * 0.88, 2 * r * 0.88, 0.0065), 0.0004,
            (0, -thick, 0)), lie))  # fmt: skip
        return metal, [posed(ring, lie)]
    side = [(0, 0), (r * 0.9, 0), (r, thick * 0.25), (r, thick * 0.7), (r * 0.95, thick * 0.92),
        (r * 0.93, thick + 0.0008), (r * 0.88, thick + 0.0008), (r * 0.86, thick - 0.0004),
        (0, thick - 0.0004)]  # fmt: skip
    return metal, [turning(side, around=56, by=0.0004)]


def _dial(traits: Traits, square: bool) -> Sheet:
    """Marks of the hours, a small dial or a date window, no name."""
    f, v = traits.family, traits.variant
    palette = traits.palette(light=(0.25, 0.5), vivid=0.7)
    ground = f.pick(
        "dial", ((234, 232, 226), (24, 25, 28), palette.base, palette.dark, (222, 212, 186))
    )
    page = Sheet(1, 1, ground, side=512)
    bright = sum(ground) > 330
    ink = (26, 26, 28) if bright else (230, 228, 220)
    long, wide = f("mark", 0.05, 0.13), f("mark-wide", 0.012, 0.034)
    numbers = f.chance("numbers", 0.4)
    mark = (np.array([(-wide / 2, 0.8 - long), (wide / 2, 0.8 - long), (wide / 2, 0.82),
        (-wide / 2, 0.82)]) * 1.1)  # fmt: skip
    tick = np.array([(-0.006, 0.87), (0.006, 0.87), (0.006, 0.93), (-0.006, 0.93)])
    for k in range(60):
        page.figure(tick, 0.5, 0.5, 0.5, ink, turn=k * math.pi / 30)
    for k in range(12):
        if numbers and (k % 3 == 0 or f.chance("all-numbers")):
            a = k * math.pi / 6
            x, y = 0.5 + 0.34 * math.sin(a), 0.5 - 0.34 * math.cos(a)
            page.text(
                str(k or 12), (x - 0.06, y - 0.05, x + 0.06, y + 0.05), ink, note=False, lines=2
            )
        else:
            page.figure(mark, 0.5, 0.5, 0.5, ink, turn=k * math.pi / 6)
    extra = v.pick("extra", ("small", "date", "none", "two"))
    at = v.pick("where", ((0.5, 0.7), (0.32, 0.5), (0.5, 0.32)))
    shade = mix(ground, (0, 0, 0) if bright else (255, 255, 255), 0.16)
    for x, y in {"small": [at], "two": [(0.32, 0.5), (0.68, 0.5)]}.get(extra, []):
        page.disc(x, y, 0.12, ink)
        page.disc(x, y, 0.112, shade)
        page.line([(x, y), (x + 0.05, y - 0.07)], 0.01, ink)
    if extra == "date":
        page.box((0.7, 0.46, 0.79, 0.54), (240, 240, 236))
        page.text(
            str(v.count("day", 1, 31)), (0.71, 0.47, 0.78, 0.53), (20, 20, 20), note=False, lines=2
        )
    if square:
        page.frame((0.03, 0.03, 0.97, 0.97), 0.01, ink)
    return page


def _band(tray: Tray, traits: Traits, r: float, thick: float, metal: Material) -> None:
    """Lugs, and a strap of leather, cloth or links, falling away to both sides."""
    f, v = traits.family, traits.variant
    wide = r * f("strap", 0.92, 1.12)
    lug = [(0, r * 0.75, thick * 0.55), (0, r * 1.05, thick * 0.45), (0, r * 1.16, thick * 0.2)]
    lugs = [shifted(wire(lug, [0.003, 0.0024, 0.0016], around=8), x)
        for x in (-wide * 0.56, wide * 0.56)]  # fmt: skip
    tray.add(metal, *(both(q) for q in lugs))
    links = f.chance("links", 0.35)
    leather = Material(sheet=mottled(v.pick("leather", ((36, 34, 33), (96, 60, 38), (150, 104, 66),
        traits.palette(light=(0.25, 0.5)).base, traits.palette().accent)), grain="leather",
        amount=0.06), rough=0.75)  # fmt: skip
    for s in (-1, 1):
        long = 0.085 if s < 0 else 0.07
        y = r * 1.06 + np.linspace(0, long, 26)
        z = thick * 0.42 * np.exp(-(((y - r) / 0.02) ** 2)) + 0.0018
        if links:
            piece = box(wide * 0.62, 0.0062, 0.003, bevel=0.0008)
            side = box(wide * 0.2, 0.0062, 0.0028, bevel=0.0008)
            for k in np.arange(0, long, 0.0068):
                at = (float(s * (r * 1.1 + k)), float(np.interp(r * 1.1 + k, y, z)) - 0.0015)
                tray.add(metal, shifted(piece, 0, *at))
                tray.add(BRASS if v.chance("two-tone", 0.3) else metal,
                    *[shifted(side, x * wide * 0.41, *at) for x in (-1, 1)])  # fmt: skip
            continue
        narrow = (np.interp(np.linspace(0, 1, 26), (0, 0.92, 1),
            (1.0, 0.82, 0.5 if s < 0 else 0.8)) * wide / 2)  # fmt: skip
        across = np.linspace(-1, 1, 7)
        bulge = 0.0012 * (1 - across**2)
        top = np.stack([np.stack([narrow * k, s * y, z + b], -1) for k,
            b in zip(across, bulge, strict=True)], 0)  # fmt: skip
        tray.add(
            leather, skin(top if s > 0 else top[::-1]), skin((top - (0, 0, 0.0022)) * (1, 1, 1))
        )
        if v.chance("stitch", 0.6):
            seam = Material((222, 214, 196), rough=0.9)
            for k in (-0.86, 0.86):
                tray.add(seam, *[rod((k * narrow[i], s * y[i], z[i] + 0.0008),
                    (k * narrow[i + 1], s * (y[i] + 0.0022), z[i + 1] + 0.0008), 0.00032, around=4)
                    for i in range(1, 23)])  # fmt: skip
        if s > 0:
            buckle = shifted(hoop(wide * 0.5, 0.0011, n=28, around=6), 0, 0, 0)
            flat = posed(buckle, turned((1, 0, 0), 90))
            tray.add(metal, shifted(scaled(flat, 1, 0.62, 1), 0, float(y[-1]) + 0.003, 0.0026))
        else:
            tray.add(BLACK, *[shifted(turning([(0.0009, 0), (0, 0.0002)], around=8), 0,
                float(-y[k]), float(z[k]) + 0.0012) for k in (12, 14, 16, 18, 20)])  # fmt: skip
