"""The graphic design of packs: fronts with a name, a picture and fields of colour, and backs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from simulator.studio.solid.motifs import Colours, illustrate, pattern, superellipse
from simulator.studio.solid.prints import BOLD, CLAIMS, FACES, SANS, Box, Font, Sheet
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, brighten, luma, mix, oklch

_CONTENTS = ("Energy", "Fat", "of which saturates", "Sugars", "Protein", "Salt")


class Design(NamedTuple):
    """What all the sides of a pack share."""

    look: Look
    draw: Draws
    variant: Draws
    paper: Colour
    """The ground."""
    field: Colour
    """The other large colour."""
    accent: Colour
    light: Colour
    dark: Colour
    face: Font

    def ink(self, ground: Colour) -> Colour:
        """What can be read on a ground: deep or nearly white."""
        return (
            brighten(self.dark, 0.8)
            if luma(ground) > 128
            else mix(self.light, (255, 255, 255), 0.7)
        )

    def motif(self, ground: Colour) -> Colours:
        """Four colours of a picture that stand out from a ground."""
        every = (self.field, self.paper, self.light, self.dark)
        far = sorted(every, key=lambda c: -math.dist(c, ground))
        accent = self.accent if math.dist(self.accent, ground) > 90 else mix(far[0], far[1], 0.5)
        third = far[2] if math.dist(far[2], ground) > 60 else mix(far[0], accent, 0.5)
        return far[0], third, accent, far[1]


def design(look: Look, traits: Traits) -> Design:
    """A family's design; the variant chooses its accent, like one flavour of a range."""
    pal = traits.palette(vivid=0.85)
    f, v = traits.family, traits.variant
    accent = oklch(
        v("accent-level", 0.5, 0.74), v("accent-chroma", 0.07, 0.15), v("accent", 0, 360)
    )
    cream = oklch(0.95, 0.025, f("cream", 60, 110))
    grounds = (pal.base, pal.base, pal.base, cream, cream, pal.dark, pal.second)
    paper = f.pick("paper", grounds)
    rest = [c for c in (pal.second, pal.base, cream) if math.dist(c, paper) > 60]
    return Design(
        look, f, v, paper, f.pick("field", rest or [cream]), accent, cream,
        pal.dark, f.pick("face", FACES),
    )  # fmt: skip


def front(page: Sheet, made: Design) -> None:
    """The side that faces the buyer."""
    page.rgb[...] = np.array(made.paper).round()
    made.draw.pick("layout", _LAYOUTS)(page, made)
    flavour(page, made)


def flavour(page: Sheet, made: Design, y: float = 0.0) -> None:
    """The strip along an edge that tells one variety of a range from another."""
    cells = made.variant.count("cells", 1, 5)
    page.box((0, y, 1, y + 0.026), made.accent)
    for k in range(1, cells):
        page.box((k / cells - 0.012, y, k / cells + 0.012, y + 0.026), made.light)


def back(page: Sheet, made: Design) -> None:
    """The side with what nobody reads: a story, a table, a code. No name stands on it."""
    d, ink = made.draw, made.ink(made.paper)
    page.rgb[...] = np.array(made.paper).round()
    page.box((0, 0, 1, 0.05), made.accent)
    illustrate(page, d, made.motif(made.paper), 0.5, 0.16, 0.13 if page.aspect < 1 else 0.09)
    if page.aspect < 0.85:
        page.small_print((0.12, 0.29, 0.88, 0.42), 5, ink, d)
        nutrition_table(page.part((0.12, 0.46, 0.88, 0.74)), made)
        page.barcode((0.5, 0.8, 0.88, 0.94), d)
        _marks(page, made, 0.14, 0.87)
    else:
        page.small_print((0.06, 0.32, 0.46, 0.66), 7, ink, d)
        nutrition_table(page.part((0.54, 0.3, 0.94, 0.9)), made)
        page.barcode((0.06, 0.72, 0.34, 0.92), d)


def side(page: Sheet, made: Design) -> None:
    """A narrow side: pattern or plain, with a table."""
    d = made.draw
    page.rgb[...] = np.array(mix(made.paper, made.field, 0.12)).round()
    if d.chance("side-pattern", 0.6):
        pattern(page, d, mix(made.paper, made.field, 0.55), name="side")
    page.box((0.12, 0.3, 0.88, 0.82), made.light)
    nutrition_table(page.part((0.17, 0.33, 0.83, 0.6)), made)
    page.small_print((0.17, 0.64, 0.83, 0.79), 5, brighten(made.dark, 0.9), d)


def nutrition_table(page: Sheet, made: Design) -> None:
    """A table of nutrition as every pack has one."""
    page.rgb[...] = np.array(made.light).round()
    ink = mix(made.dark, made.light, 0.2)
    page.frame((0.02, 0.02, 0.98, 0.98), 0.025, ink)
    page.text("Nutrition", (0.08, 0.05, 0.92, 0.21), ink, BOLD, align="left", note=False)
    rows = 6
    for i in range(rows):
        y = 0.26 + i * 0.7 / rows
        page.line([(0.04, y), (0.96, y)], 0.014, ink)
        amount = f"{made.draw(f'amount-{i}', 0, 60):.1f} g"
        for text, x0, x1, align in (
            (_CONTENTS[i], 0.08, 0.6, "left"),
            (amount, 0.62, 0.92, "right"),
        ):
            page.text(text, (x0, y + 0.02, x1, y + 0.105), ink, SANS, align=align, note=False)


def _title(page: Sheet, made: Design, box: Box, ground: Colour, *, align: str = "centre",
    share: float = 0.71, lines: int = 3) -> None:  # fmt: skip
    """The name large and what is said below it, together in one box."""
    x0, y0, x1, y1 = box
    ink = made.ink(ground)
    if made.look.label is None:
        claim = made.draw.pick("plain-name", CLAIMS)
        page.text(
            claim, (x0, y1 - 0.24 * (y1 - y0), x1, y1), ink, made.face, align=align, note=False
        )
        y1 -= 0.28 * (y1 - y0)
        radius = 0.45 * min((x1 - x0) * page.aspect, y1 - y0) / min(page.aspect, 1)
        illustrate(page, made.draw, made.motif(ground), (x0 + x1) / 2, (y0 + y1) / 2, radius)
        return
    cut = y0 + (y1 - y0) * (share if made.look.sublabel else 1.0)
    seat = page.text(
        made.look.label,
        (x0, y0, x1, cut),
        ink,
        made.face,
        lines=lines,
        align=align,
        valign="centre",
    )
    low = (seat[3] if seat else cut) + 0.09 * (y1 - y0)
    cap = page.texts[-1].cap / page.rgb.shape[0]
    tall = min((y1 - y0) * (1 - share) * 0.86, 1.15 * cap)
    bright = abs(luma(made.accent) - luma(ground)) > 110
    page.text(
        made.look.sublabel, (x0, low, x1, min(low + tall, y1)), made.accent if bright else ink,
        _second(made.face), align=align,
    )  # fmt: skip


def _second(face: Font) -> Font:
    """A plainer face to go with a display face."""
    return (
        BOLD if "Sans" in face.file or "cmss" in face.file else Font("DejaVuSerif-Bold.ttf", 0.86)
    )


def _claim(page: Sheet, made: Design, box: Box, ground: Colour) -> None:
    word = made.draw.pick("claim", CLAIMS)
    page.text(word, box, made.ink(ground), SANS, note=False)


def _picture(page: Sheet, made: Design, x: float, y: float, radius: float, ground: Colour) -> None:
    turn = made.variant("motif-turn", -0.12, 0.12)
    illustrate(page, made.draw, made.motif(ground), x, y, radius, turn)


def _marks(page: Sheet, made: Design, x: float, y: float) -> None:
    """Round seals of the kind that packs collect."""
    ink = made.ink(made.paper)
    for i in range(made.draw.count("marks", 1, 2)):
        page.disc(x + 0.13 * i, y, 0.06, ink)
        page.disc(x + 0.13 * i, y, 0.048, made.paper)
        illustrate(page, Draws("mark", i), (ink, ink, ink, made.paper), x + 0.13 * i, y, 0.035)


def _swiss(page: Sheet, d: Design) -> None:
    """Name at the top left, a picture that runs out of the lower corner."""
    left = d.draw.chance("swiss-left")
    if d.draw.chance("swiss-block", 0.5):
        page.box((0, 0.56, 1, 1), d.field)
    _picture(page, d, 0.3 if left else 0.7, 0.78, d.draw("swiss-r", 0.3, 0.46), d.field)
    _title(page, d, (0.08, 0.09, 0.92, 0.55), d.paper, align="left")
    page.line([(0.08, 0.05), (0.92, 0.05)], 0.012, d.ink(d.paper))


def _band(page: Sheet, d: Design) -> None:
    """A broad band with the name across a patterned ground, a picture above."""
    pattern(page, d.draw, mix(d.paper, d.field, d.draw("soft", 0.4, 1.0)))
    top = d.draw("band-top", 0.3, 0.4)
    page.box((0, top - 0.025, 1, top + 0.495), d.accent)
    page.box((0, top, 1, top + 0.47), d.light)
    r = 0.15 / min(page.aspect, 1.0) * min(1.0, page.aspect * 1.6)
    page.disc(0.5, top / 2, r * 1.12, d.light)
    _picture(page, d, 0.5, top / 2, r * 0.95, d.light)
    _title(page, d, (0.06, top + 0.045, 0.94, top + 0.44), d.light)
    if d.draw.chance("pill"):
        page.box((0.3, 0.885, 0.7, 0.95), d.paper, round_by=0.03)
        _claim(page, d, (0.34, 0.9, 0.66, 0.937), d.paper)


def _window(page: Sheet, d: Design) -> None:
    """A panel on an all-over pattern: round, arched or square."""
    pattern(page, d.draw, mix(d.paper, d.field, d.draw("soft", 0.5, 1.0)))
    power = d.draw.pick("panel", (2.3, 3.2, 6.0, 16.0))
    shape = superellipse(0.5, 0.5, power, 96) * (1, -1)
    ground = d.draw.pick("panel-ground", (d.light, d.light, d.dark))
    for grow, colour in ((0.93, d.accent), (0.88, ground)):
        page.fill(shape * (grow, grow * 0.99) + 0.5, colour)
    inset = 0.2 if power < 3 else 0.13
    if page.aspect > 1.5:
        _title(page, d, (inset, 0.18, 1 - inset, 0.84), ground)
        return
    _picture(page, d, 0.5, 0.25, 0.13 if page.aspect < 0.7 else 0.15, ground)
    _title(page, d, (inset, 0.39, 1 - inset, 0.82), ground)
    page.line([(0.4, 0.86), (0.6, 0.86)], 0.012, d.accent)


def _split(page: Sheet, d: Design) -> None:
    """Two fields, the picture on their seam."""
    up = d.draw.chance("split-up")
    cut = d.draw("split", 0.46, 0.56)
    box = (0, 0, 1, cut) if up else (0, 1 - cut, 1, 1)
    page.box(box, d.field)
    if d.draw.chance("split-pattern"):
        pattern(page.part(box), d.draw, mix(d.field, d.paper, 0.35))
    y = 0.28 if up else 0.72
    r = min(0.36, 0.22 / min(page.aspect, 1) if page.aspect < 1 else 0.24)
    page.disc(0.5, y, r * 1.16, d.light)
    _picture(page, d, 0.5, y, r, d.light)
    text = (0.07, 0.57, 0.93, 0.94) if up else (0.07, 0.06, 0.93, 0.43)
    _title(page, d, text, d.paper)


def _type(page: Sheet, d: Design) -> None:
    """The name as large as it can be, and little else."""
    page.box((0, 0.84, 1, 1), d.field)
    for k in range(d.variant.count("stripes", 1, 4)):
        page.box((0, 0.8 - 0.03 * k, 1, 0.815 - 0.03 * k), d.accent)
    _title(page, d, (0.07, 0.07, 0.93, 0.66), d.paper, align="left", lines=4, share=0.8)
    _picture(page, d, 0.82, 0.9, 0.13, d.field)
    _claim(page, d, (0.07, 0.885, 0.6, 0.95), d.field)


def _classic(page: Sheet, d: Design) -> None:
    """Frames within frames, everything on the middle line."""
    ink = d.ink(d.paper)
    page.frame((0.045, 0.035, 0.955, 0.965), 0.018, d.field)
    page.frame((0.075, 0.06, 0.925, 0.94), 0.007, ink)
    wide = page.aspect > 1.25
    if not wide:
        _picture(page, d, 0.5, 0.24, 0.16 / max(1, 0.8 / page.aspect), d.paper)
    _title(page, d, (0.13, 0.14 if wide else 0.4, 0.87, 0.8), d.paper)
    for x0, x1 in ((0.16, 0.44), (0.56, 0.84)):
        page.line([(x0, 0.85), (x1, 0.85)], 0.008, ink)
    page.figure(superellipse(1, 1, 1), 0.5, 0.85, 0.03, d.accent)
    page.small_print((0.3, 0.885, 0.7, 0.915), 1, ink, d.draw)


def _sash(page: Sheet, d: Design) -> None:
    """A slanting field behind the name, the picture large below."""
    rise = d.draw("rise", -0.14, 0.14)
    page.fill([(0, 0.5 + rise), (1, 0.5 - rise), (1, 1), (0, 1)], d.field)
    page.line([(0, 0.5 + rise), (1, 0.5 - rise)], 0.035, d.accent)
    _picture(page, d, 0.5, 0.74, 0.3 if page.aspect < 1 else 0.22, d.field)
    _title(page, d, (0.07, 0.05, 0.93, 0.51 - abs(rise) * 0.7), d.paper)


def _poster(page: Sheet, d: Design) -> None:
    """One large picture on a round sun, name below in a quiet field."""
    pattern(page.part((0, 0, 1, 0.56)), d.draw, mix(d.paper, d.field, 0.3))
    r = min(0.44, 0.25 / min(page.aspect, 1))
    page.disc(0.5, 0.3, r, d.accent)
    _picture(page, d, 0.5, 0.3, r * 0.86, d.accent)
    page.box((0, 0.56, 1, 1), d.dark)
    _title(page, d, (0.07, 0.6, 0.93, 0.95), d.dark)


_LAYOUTS: tuple[Callable[[Sheet, Design], None], ...] = (
    _swiss, _band, _window, _split, _type, _classic, _sash, _poster,
)  # fmt: skip
