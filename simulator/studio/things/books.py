"""Books, and a page of a textbook: covers, spines, leaves."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from simulator.studio.solid.meshes import box, joined, shifted, skin
from simulator.studio.solid.motifs import illustrate, pattern, superellipse
from simulator.studio.solid.prints import BOLD, SANS, SERIF, TITLES, Font, Sheet, prints_on
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing
from simulator.studio.things.pack_design import Design, back, design, flavour
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, brighten, mix

PAPER: Colour = (232, 226, 210)
_MATHS = Font("DejaVuSerif-Italic.ttf", 0.9)

_PROSE = """
Let us suppose that the series converges for every point of the open set and that its sum is smooth
there. Then the remainder can be made as small as we please, and the limit does not depend on the
order in which the terms are taken. We leave the easier half to the reader. Conversely, choose any
path that joins the two ends without touching the boundary; along it the value can only grow, and so
it reaches its largest value at the end. A picture makes this plain: the shaded part is what remains
when the curve is moved a little to the right. Note that nothing has been said so far about points
at which the slope is not defined. They are treated in the next section, where a weaker condition is
shown to be enough. As before we write the sum in two parts, of which the first is bounded and the
second tends to nothing.
"""
_FORMULAS = (
    "f (x)  =  a x² + b x + c", "u (x, t)  =  A sin (k x − ω t)", "∫ f (x) dx  =  F (b) − F (a)",
    "|x + y|  ≤  |x| + |y|", "∑ aₙ  <  ∞", "p V  =  n R T", "∂u / ∂t  =  κ ∂²u / ∂x²",
)  # fmt: skip


def book(look: Look, traits: Traits) -> Thing:
    """A book that lies on its back: boards or a soft cover, a block of leaves, a spine."""
    f, v, made = traits.family, traits.variant, design(look, traits)
    wide, tall = traits.near("wide", 0.115, 0.17, 0.05), traits.near("tall", 0.175, 0.245, 0.05)
    thick = traits.near("thick", 0.013, 0.04, 0.1)
    hard = f.chance("hard", 0.55)
    board, over = (0.003, 0.0035) if hard else (0.0006, 0.0)
    cover = Material(mix(made.paper, made.field, 0.1), rough=0.5)
    front, rear = (Sheet(wide, tall, made.paper, side=s) for s in (900, 320))
    front.rgb[...] = np.array(made.paper).round()
    f.pick("cover", _COVERS)(front, made)
    flavour(front, made, 0.974)
    back(rear, made)
    if v.chance("worn", 0.35):
        _wear(front, v)
    gloss = Material(rough=f.pick("gloss", (0.25, 0.4, 0.6)), coat=f.pick("coat", (0.0, 0.4)))
    curl = 0.0 if hard else v("curl", 0.001, 0.006)
    face = _lying(wide, tall, thick + 0.0002, curl)
    under = shifted(_lying(wide, tall, 0.0, 0.0), z=-0.0001)
    under = under._replace(faces=under.faces[:, ::-1].copy())
    boards = [box(wide, tall, board, bevel=board * 0.3)]
    if hard:
        boards.append(shifted(boards[0], z=thick - board))
    leaves = shifted(box(wide - 2 * over, tall - 2 * over, thick - 2 * board), over, 0, board)
    edge = gloss._replace(sheet=_spine_print(made, tall, thick))
    parts = (
        Part(face, gloss._replace(sheet=front.rgb)),
        Part(shifted(under, z=0.0001), gloss._replace(sheet=rear.rgb)),
        Part(joined(boards), cover),
        Part(leaves, Material(sheet=_edges(f), rough=0.8)),
        Part(_spine(wide, tall, thick, hard), edge),
    )
    return Thing(parts, prints_on(face, front))


def textbook_page(look: Look, traits: Traits) -> Thing:
    """A textbook lying open at a page, or a page of it by itself."""
    f, v = traits.family, traits.variant
    wide, tall = traits.near("wide", 0.165, 0.2, 0.05), traits.near("tall", 0.23, 0.27, 0.05)
    white = mix((246, 244, 238), (240, 226, 196), f("aged", 0.0, 0.6))
    page = Sheet(wide, tall, white, side=1024)
    _page(page, traits, look)
    paper = Material(sheet=page.rgb, rough=0.6)
    if f.chance("loose", 0.3):
        leaf = _lying(wide, tall, 0.0008, v("curl", 0.002, 0.01))
        rear = leaf._replace(faces=leaf.faces[:, ::-1].copy())
        plain = Material(white, rough=0.7)
        parts = (Part(leaf, paper), Part(shifted(rear, z=-0.0004), plain))
        return Thing(parts, prints_on(leaf, page))
    left = Sheet(wide, tall, white, side=640)
    _left_page(left, traits)
    thick = f("thick", 0.008, 0.02)
    right_thick, left_thick = thick * v("split", 0.7, 1.3), thick * (2 - v("split", 0.7, 1.3))
    mesh, rim = _open_half(wide, tall, right_thick)
    other, other_rim = _open_half(-wide, tall, left_thick)
    cover = box(2 * wide + 0.012, tall + 0.008, 0.0025, bevel=0.0008)
    edges = Material(sheet=_edges(f), rough=0.8)
    parts = (
        Part(mesh, paper),
        Part(other, Material(sheet=left.rgb, rough=0.6)),
        Part(joined([rim, other_rim], smooth=False), edges),
        Part(cover, Material(traits.palette().base, rough=0.45)),
    )
    return Thing(parts, prints_on(mesh, page))


def _lying(wide: float, tall: float, z: float, curl: float) -> Mesh:
    """A leaf face up, its lower right corner lifted."""
    u, v = np.meshgrid(np.linspace(0, 1, 17), np.linspace(0, 1, 17), indexing="ij")
    lift = curl * np.clip((u + 1 - v) - 1.0, 0, 1) ** 2
    return skin(np.stack([(u - 0.5) * wide, (v - 0.5) * tall, z + lift], -1))


def _open_half(wide: float, tall: float, thick: float) -> tuple[Mesh, Mesh]:
    """One side of an open book: its page, and the edges of the leaves below."""
    s, v = np.meshgrid(np.linspace(0, 1, 25), np.linspace(0, 1, 9), indexing="ij")
    z = 0.0025 + thick * (1 - (1 - s) ** 5) + 0.008 * np.sin(math.pi * s**0.6) * (1 - 0.5 * s)
    at = np.stack([s * wide, (v - 0.5) * tall, z], -1)
    low = at.copy()
    low[..., 2] = 0.0025
    if wide < 0:
        at, low = at[::-1], low[::-1]
    outer = -1 if wide > 0 else 0
    rims = [
        skin(np.stack([low[:, 0], at[:, 0]], 1), smooth=False),
        skin(np.stack([at[:, -1], low[:, -1]], 1), smooth=False),
        skin(np.stack([low[outer], at[outer]], 1), smooth=False),
    ]
    return skin(at), joined(rims, smooth=False)


def _edges(f: Draws) -> Array:
    """The edges of leaves: fine lines, one under another."""
    page = Sheet(0.1, 0.1, PAPER, side=128)
    page.shade(1 + 0.13 * page.noise("brushed", f("edge-x"), f("edge-y")))
    return page.rgb


def _spine(wide: float, tall: float, thick: float, hard: bool) -> Mesh:
    """The back of a book on its left side: rounded where it is bound in boards."""
    t = np.linspace(0, 1, 9)
    out = (0.004 if hard else 0.0008) * np.sin(math.pi * t) + 0.0002
    row = np.stack([-wide / 2 - out, np.zeros(9), t * thick], -1)
    ends = [np.add(row, (0, y, 0)) for y in (tall / 2, -tall / 2)]
    return skin(np.stack(ends, 0))


def _spine_print(made: Design, tall: float, thick: float) -> Array:
    page = Sheet(tall, max(thick, 0.01), made.field, side=512)
    ink = made.ink(made.field)
    page.box((0.0, 0, 0.06, 1), made.accent)
    page.box((0.94, 0, 1, 1), made.accent)
    sort = made.draw.pick("title", TITLES)  # its name stands in front alone
    page.text(sort, (0.1, 0.2, 0.74, 0.8), ink, BOLD, align="left", note=False)
    illustrate(page, made.draw, made.motif(made.field), 0.84, 0.5, 0.3)
    return page.rgb


def _wear(page: Sheet, v: Draws) -> None:
    """Rubbed edges and a crease."""
    h, w = page.rgb.shape[:2]
    y, x = np.mgrid[0:h, 0:w]
    edge = np.minimum(np.minimum(x, w - 1 - x), np.minimum(y, h - 1 - y)) / w
    rub = 1 - edge / 0.012 + 0.3 * page.noise("cloud", v("wear"), 0.3)
    page.blend(0.75 * np.clip(rub, 0, 1) * (edge < 0.03), (228, 222, 210))
    at = v("crease", 0.05, 0.09)
    page.blend(np.exp(-(((x / w) - at) ** 2) / 6e-6) * 0.5, (235, 230, 220))


def _author(page: Sheet, d: Design, y: float, ground: Colour, align: str = "centre") -> None:
    """Who wrote it: always smaller than the title."""
    cap = page.texts[-1].cap / page.rgb.shape[0] if page.texts else 0.04
    half = min(0.03, 0.46 * cap)
    box = (0.2 if align == "centre" else 0.09, y - half, 0.8, y + half)
    page.text(d.look.sublabel, box, d.ink(ground), BOLD, align=align)


def _heading(
    page: Sheet, d: Design, top: float, foot: float, ground: Colour, align: str = "centre"
) -> None:
    foot = foot if d.look.label else top + 0.6 * (foot - top)
    page.text(d.look.label, (0.09, top, 0.91, foot), d.ink(ground), d.face, lines=4, align=align,
              instead=d.draw.pick("title", TITLES))  # fmt: skip


def _large_picture(page: Sheet, d: Design) -> None:
    """Title above, one large picture, author below."""
    page.box((0, 0.42, 1, 1), d.field)
    illustrate(page, d.draw, d.motif(d.field), 0.5, 0.67, 0.34, d.variant("turn", -0.2, 0.2))
    _heading(page, d, 0.06, 0.38, d.paper)
    _author(page, d, 0.945, d.field)


def _bands(page: Sheet, d: Design) -> None:
    """Three bands as paperbacks have long had."""
    page.box((0, 0.3, 1, 0.68), d.light)
    illustrate(page, d.draw, d.motif(d.paper), 0.5, 0.15, 0.16)
    for k in range(d.variant.count("rules", 0, 2)):
        page.box((0, 0.7 + 0.025 * k, 1, 0.712 + 0.025 * k), d.accent)
    _heading(page, d, 0.34, 0.64, d.light)
    _author(page, d, 0.85, d.paper)


def _window(page: Sheet, d: Design) -> None:
    """A pattern all over, and a label on it."""
    pattern(page, d.draw, d.field)
    shape = superellipse(0.42, 0.27, d.draw.pick("plate", (2.4, 5.0, 20.0)), 80)
    page.fill(shape * (1.04, 1.04) + (0.5, 0.42), d.accent)
    page.fill(np.add(shape, (0.5, 0.42)), d.light)
    inner = page.part((0.16, 0.2, 0.84, 0.64))
    _heading(inner, d, 0.1, 0.76, d.light)
    _author(page, d, 0.61, d.light)


def _scene(page: Sheet, d: Design) -> None:
    """Hills under a wide sky, the title in the sky."""
    sky = mix(d.paper, d.light, 0.25)
    page.fade(d.paper, mix(d.accent, d.light, 0.4))
    x = np.linspace(0, 1, 60)
    page.disc(d.draw("sun", 0.25, 0.75), 0.6, d.draw("sun-r", 0.12, 0.22), d.accent)
    for k in range(4):
        line = 0.62 + 0.1 * k + 0.05 * np.sin(x * d.draw(f"w{k}", 4, 11) + d.draw(f"p{k}", 0, 6))
        line += 0.012 * np.sin(x * 37 + k) * (k == 3)
        land = np.concatenate([np.stack([x, line], 1), [(1, 1), (0, 1)]])
        page.fill(land, mix(mix(d.field, sky, 0.5), d.dark, k / 3))
    _heading(page, d, 0.07, 0.46, d.paper)
    _author(page, d, 0.93, d.dark)


def _words(page: Sheet, d: Design) -> None:
    """Type alone, ranged left, with a small sign."""
    page.box((0, 0, 0.035, 1), d.accent)
    _heading(page, d, 0.08, 0.6, d.paper, "left")
    page.box((0.09, 0.66, 0.3, 0.672), d.accent)
    _author(page, d, 0.72, d.paper, "left")
    illustrate(page, d.draw, d.motif(d.paper), 0.76, 0.87, 0.14)


def _blocks(page: Sheet, d: Design) -> None:
    """A grid of shapes above, a quiet field below."""
    top = page.part((0, 0, 1, 0.55), d.field)
    pattern(top, d.draw, mix(d.field, d.dark, 0.35), name="blocks")
    illustrate(top, d.draw, d.motif(d.field), 0.5, 0.52, 0.42)
    _heading(page, d, 0.59, 0.86, d.paper)
    _author(page, d, 0.925, d.paper)


_COVERS: tuple[Callable[[Sheet, Design], None], ...] = (
    _large_picture, _bands, _window, _scene, _words, _blocks,
)  # fmt: skip


def _page(page: Sheet, traits: Traits, look: Look) -> None:
    """A heading, columns of text, a formula in a box, a figure, the page's number."""
    f, v = traits.family, traits.variant
    ink: Colour = (38, 38, 42)
    hue = brighten(traits.palette().base, 0.8)
    bar = f.pick("bar", ("rule", "block", "side"))
    if bar == "block":
        page.box((0, 0, 1, 0.035), hue)
    elif bar == "side":
        page.box((0.965, 0.1, 1, 0.32), hue)
    top = 0.07
    face = f.pick("face", (BOLD, SERIF._replace(file="STIXGeneralBol.ttf")))
    if look.label:
        page.text(look.label, (0.1, top, 0.9, top + 0.14), hue, face, lines=2, align="left")
    page.line([(0.1, top + 0.165), (0.9, top + 0.165)], 0.006, hue)
    start = v.count("start", 0, 60)
    words = _PROSE.split()[start:] + _PROSE.split()
    size = 0.0215
    page.prose((0.1, 0.26, 0.9, 0.4), words, size, ink)
    page.box((0.1, 0.415, 0.9, 0.49), mix((255, 255, 255), hue, 0.14), round_by=0.01)
    formula = v.pick("formula", _FORMULAS)
    page.text(formula, (0.16, 0.43, 0.84, 0.475), ink, _MATHS, note=False)
    left = f.chance("figure-left")
    figure = (0.1, 0.52, 0.48, 0.76) if left else (0.52, 0.52, 0.9, 0.76)
    column = (0.52, 0.51, 0.9, 0.77) if left else (0.1, 0.51, 0.48, 0.77)
    _figure(page.part(figure, mix((255, 255, 255), hue, 0.06)), traits, hue)
    page.prose(column, words[60:], size, ink)
    page.prose((0.1, 0.785, 0.9, 0.9), words[110:], size, ink)
    page.text(look.sublabel, (0.3, 0.922, 0.7, 0.962), ink, SANS)


def _left_page(page: Sheet, traits: Traits) -> None:
    ink: Colour = (38, 38, 42)
    hue = brighten(traits.palette().base, 0.8)
    start = traits.variant.count("left", 0, 50)
    words = _PROSE.split()[start:] + 2 * _PROSE.split()
    page.prose((0.1, 0.07, 0.9, 0.36), words, 0.0215, ink)
    figure = page.part((0.2, 0.4, 0.8, 0.62), mix((255, 255, 255), hue, 0.06))
    _figure(figure, traits, hue, "left-figure")
    page.prose((0.1, 0.66, 0.9, 0.92), words[90:], 0.0215, ink)


def _figure(page: Sheet, traits: Traits, hue: Colour, name: str = "figure") -> None:
    """A diagram: a curve with its area, a triangle in a circle, bars, or a wave."""
    v, ink = traits.variant, (40, 40, 44)
    kind = traits.family.pick(name, ("curve", "circle", "bars", "wave"))
    soft = mix(hue, (255, 255, 255), 0.55)
    if kind == "circle":
        page.disc(0.5, 0.5, 0.4, ink)
        page.disc(0.5, 0.5, 0.39, (252, 252, 250))
        a = np.array([v(f"corner{i}", 0, 1.2) + 2.1 * i for i in range(3)])
        page.figure(np.stack([np.cos(a), np.sin(a)], 1), 0.5, 0.5, 0.39, soft)
        page.disc(0.5, 0.5, 0.012, ink)
        return
    page.line([(0.1, 0.06), (0.1, 0.9), (0.95, 0.9)], 0.01, ink)
    x = np.linspace(0.1, 0.9, 60)
    if kind == "bars":
        for i in range(6):
            tall = v(f"bar{i}", 0.15, 0.75)
            page.box((0.15 + 0.13 * i, 0.9 - tall, 0.24 + 0.13 * i, 0.895), (hue, soft)[i % 2])
        return
    y = 0.85 - 0.75 * x ** v("power", 0.6, 2.2)
    if kind == "wave":
        y = 0.5 - 0.3 * np.sin(x * v("pitch", 6, 16))
    part = (x > 0.3) & (x < 0.7)
    page.fill([(0.3, 0.9), *zip(x[part], y[part], strict=True), (0.7, 0.9)], soft)
    page.line(np.stack([x, y], 1), 0.014, hue)
