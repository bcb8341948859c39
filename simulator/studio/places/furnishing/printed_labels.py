"""What is written on things that lie about, and packs in rows as on a shop's shelves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from simulator.studio.places.place_materials import PAPER, STEEL, WHITE, tint
from simulator.studio.places.place_stage import Stage
from simulator.studio.solid.meshes import box, joined, lathe, sheet, shifted
from simulator.studio.solid.prints import (
    BOLD,
    CLAIMS,
    GOODS,
    SANS,
    TITLES,
    Font,
    Sheet,
    brand,
    showing,
    side_by_side,
)
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part
from simulator.studio.things.pack_design import design, front
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Draws, Traits

VARIETY = 6
"""Different ones of each sort: sheets are used again."""

_INK, _GREY = (34.0, 34.0, 40.0), (96.0, 98.0, 104.0)
_PEN = Font("STIXGeneralItalic.ttf", 0.95, False, 0.012)
_SUBJECTS = ("Invoices", "Letters", "Insurance", "Contracts", "Repairs", "Minutes", "Orders", "Tax")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_JOTTED = (
    "call the plumber", "milk, eggs, bread", "Thursday 14:30", "back at 3", "send the forms",
    "water the plants", "2 x AA", "ask about keys", "rent due 1st", "print 12 copies",
)  # fmt: skip


def pick_variety(draws: Draws) -> int:
    """One of the few that there are of each sort."""
    return draws.count("written", 0, VARIETY - 1)


@lru_cache(maxsize=VARIETY)
def letter(k: int) -> Material:
    """A page of A4: a head, a subject, paragraphs, sometimes a table."""
    draws = Draws("letter", k)
    page = Sheet(0.21, 0.297, PAPER.colour, side=768)
    head = tint(draws, "head", level=(0.3, 0.5), chroma=(0.03, 0.12))
    page.text(brand(draws, "from"), (0.1, 0.05, 0.5, 0.085), head, BOLD, align="left")
    page.text(draws.pick("subject", _SUBJECTS), (0.1, 0.13, 0.6, 0.16), _INK, BOLD, align="left")
    y = 0.19
    for n in range(4):
        rows = draws.count(f"rows{n}", 3, 8)
        page.small_print((0.1, y, 0.9, y + 0.018 * rows), rows, _INK, Draws("letter", k, n))
        y += 0.018 * rows + 0.03
    if draws.chance("table"):
        for n in range(6):
            page.line([(0.1, y + 0.02 * n), (0.9, y + 0.02 * n)], 0.002, _GREY)
    return Material(sheet=page.rgb, rough=0.75)


@lru_cache(maxsize=2 * VARIETY)
def note(k: int) -> Material:
    """A sticky note with a few words by hand."""
    draws = Draws("note", k)
    grounds = ((244, 224, 110), (240, 150, 160), (150, 210, 150), (140, 190, 226))
    page = Sheet(0.076, 0.076, draws.pick("ground", grounds), side=160)
    page.text(draws.pick("jotted", _JOTTED), (0.08, 0.15, 0.92, 0.8), (40, 44, 90), _PEN, lines=3)
    page.shade(1 - 0.1 * np.linspace(1, 0, page.rgb.shape[0])[:, None] ** 6)
    return Material(sheet=page.rgb, rough=0.8)


@lru_cache(maxsize=VARIETY)
def binder(k: int) -> Material:
    """The label on a binder's spine."""
    draws = Draws("binder", k)
    page = Sheet(0.05, 0.12, PAPER.colour, side=192)
    page.text(draws.pick("subject", _SUBJECTS), (0.1, 0.1, 0.9, 0.36), _INK, BOLD)
    page.text(str(draws.count("year", 2024, 2033)), (0.1, 0.42, 0.9, 0.62), _INK)
    page.line([(0.1, 0.72), (0.9, 0.72)], 0.02, _GREY)
    page.text(draws.pick("part", ("A–K", "L–Z", "I", "II")), (0.2, 0.78, 0.8, 0.92), _INK)
    return Material(sheet=page.rgb, rough=0.7)


@lru_cache(maxsize=VARIETY)
def parcel_print(k: int) -> Material:
    """Cardboard, printed and labelled by whoever sent it."""
    draws = Draws("shipped", k)
    page = Sheet(0.4, 0.3, (184, 146, 104), side=640)
    page.shade(1 + 0.025 * page.noise("brushed") + 0.03 * page.noise("cloud"))
    ink = (70.0, 52.0, 40.0)
    page.text(brand(draws, "maker"), (0.06, 0.08, 0.5, 0.26), ink, BOLD, align="left")
    page.text(draws.pick("goods", GOODS), (0.06, 0.3, 0.5, 0.4), ink, SANS, align="left")
    if draws.chance("labelled", 0.7):
        slip = page.part((0.56, 0.12, 0.92, 0.56), (240, 239, 234))
        slip.text(brand(draws, "to"), (0.06, 0.06, 0.94, 0.2), _INK, BOLD, align="left")
        slip.small_print((0.06, 0.26, 0.94, 0.48), 3, _INK, draws)
        slip.barcode((0.06, 0.54, 0.94, 0.94), draws)
    page.text("THIS WAY UP", (0.06, 0.8, 0.4, 0.88), ink, BOLD, align="left")
    return Material(sheet=page.rgb, rough=0.8)


@lru_cache(maxsize=VARIETY)
def tin_label(k: int) -> Material:
    """The band of a paint tin."""
    draws = Draws("tinned", k)
    colour = tint(draws, "band", level=(0.3, 0.9), chroma=(0.02, 0.16))
    page = Sheet(0.4, 0.1, colour, side=512)
    for x in (0.0, 0.25, 0.5, 0.75):
        field = page.part((x + 0.02, 0.12, x + 0.23, 0.88), (240, 238, 232))
        field.text(brand(draws, "brand"), (0.06, 0.08, 0.94, 0.42), _INK, BOLD)
        field.text(draws.pick("sort", ("Matt wall paint", "Satin varnish", "Primer", "Wood oil")),
                   (0.1, 0.46, 0.9, 0.64), _GREY)  # fmt: skip
        field.text("2.5 L", (0.3, 0.7, 0.7, 0.92), colour, BOLD)
    return Material(sheet=page.rgb, rough=0.4)


@lru_cache(maxsize=VARIETY)
def caption(k: int) -> Material:
    """A museum's card beside what it shows."""
    draws = Draws("caption", k)
    page = Sheet(0.15, 0.1, PAPER.colour, side=384)
    page.text(brand(draws, "who"), (0.08, 0.08, 0.7, 0.22), _INK, BOLD, align="left")
    page.text(draws.pick("what", TITLES), (0.08, 0.26, 0.8, 0.38), _INK, _PEN, align="left")
    page.small_print((0.08, 0.46, 0.92, 0.92), 5, _GREY, draws)
    return Material(sheet=page.rgb, rough=0.7)


@lru_cache(maxsize=VARIETY)
def board(k: int) -> Material:
    """Chalk on a board, half wiped."""
    draws = Draws("board", k)
    colour = draws.pick("c", ((44, 66, 56), (46, 50, 54), (236, 238, 238)))
    page = Sheet(2.3, 1.1, colour, side=1000)
    chalk = (226.0, 228.0, 222.0) if colour[0] < 100 else (40.0, 60.0, 130.0)
    page.text(
        draws.pick("title", CLAIMS), (0.05, 0.08, 0.45, 0.22), chalk, _PEN, align="left", lines=2
    )
    for n in range(3):
        page.text(f"{n + 1}.  {draws.pick(f'item{n}', _JOTTED)}", (0.06, 0.32 + 0.18 * n, 0.55,
                  0.42 + 0.18 * n), chalk, _PEN, align="left")  # fmt: skip
    page.text("y = a x² + b", (0.62, 0.2, 0.92, 0.34), chalk, _PEN)
    x = np.linspace(0.64, 0.92, 40)
    page.line(np.stack([x, 0.85 - 5.2 * (x - 0.76) ** 2 - 0.1], 1), 0.006, chalk)
    page.line([(0.62, 0.9), (0.95, 0.9)], 0.005, chalk)
    page.shade(1 + 0.1 * page.noise("cloud"))
    return Material(sheet=page.rgb, rough=0.8)


@lru_cache(maxsize=VARIETY)
def screen(k: int) -> Material:
    """A screen that shows a letter, a table or a picture among its windows."""
    draws = Draws("screen", k)
    page = Sheet(0.34, 0.21, tint(draws, "desk", level=(0.25, 0.5), chroma=(0.03, 0.1)), side=768)
    page.fade(tint(draws, "top", level=(0.3, 0.6)), tint(draws, "low", level=(0.2, 0.4)))
    page.box((0, 0, 1, 0.035), (26, 27, 31))
    page.text(f"{draws.count('h', 8, 19)}:{draws.count('m', 10, 59)}", (0.46, 0.004, 0.54, 0.031),
              (230, 230, 232))  # fmt: skip
    window = page.part((0.08, 0.09, 0.7, 0.95), (238, 239, 241))
    window.box((0, 0, 1, 0.06), (206, 208, 212))
    window.text(draws.pick("subject", _SUBJECTS), (0.3, 0.01, 0.7, 0.05), _INK)
    if draws.chance("table", 0.4):
        for row in range(12):
            y = 0.1 + 0.07 * row
            window.line([(0, y), (1, y)], 0.002, (196, 198, 204))
            for column in range(5):
                number = f"{draws(f'n{row}.{column}', 0, 900):.2f}"
                window.text(number, (0.04 + 0.19 * column, y + 0.015, 0.18 + 0.19 * column,
                            y + 0.055), _INK, align="right")  # fmt: skip
    else:
        window.text(
            draws.pick("title", TITLES), (0.1, 0.1, 0.9, 0.17), _INK, BOLD, align="left", lines=2
        )
        window.small_print((0.1, 0.22, 0.9, 0.95), 17, _INK, draws)
    other = page.part((0.66, 0.3, 0.96, 0.7), (36, 38, 44))
    other.small_print((0.06, 0.1, 0.9, 0.94), 9, (150, 210, 170), Draws("terminal", k))
    return Material(sheet=page.rgb, rough=0.1, coat=0.6)


@lru_cache(maxsize=VARIETY)
def lock_screen(k: int) -> Material:
    """A phone's screen while it is locked: the hour, the day, a message or two."""
    draws = Draws("locked", k)
    page = Sheet(0.068, 0.145, (20, 21, 26), side=384)
    page.fade(tint(draws, "top", level=(0.3, 0.7), chroma=(0.04, 0.14)),
              tint(draws, "low", level=(0.15, 0.5), chroma=(0.04, 0.14)))  # fmt: skip
    white = (246.0, 246.0, 250.0)
    hour = f"{draws.count('h', 8, 21)}:{draws.count('m', 10, 59)}"
    page.text(hour, (0.15, 0.1, 0.85, 0.24), white)
    page.text(f"{draws.pick('day', _DAYS)} {draws.count('of', 1, 28)}", (0.25, 0.25, 0.75, 0.29),
              white)  # fmt: skip
    for n in range(draws.count("messages", 1, 3)):
        y = 0.45 + 0.15 * n
        page.box((0.06, y, 0.94, y + 0.13), (228, 229, 234), round_by=0.06)
        page.text(brand(draws, f"from{n}"), (0.12, y + 0.015, 0.6, y + 0.05), _INK, BOLD,
                  align="left")  # fmt: skip
        page.text(draws.pick(f"said{n}", _JOTTED), (0.12, y + 0.06, 0.88, y + 0.11), _GREY,
                  align="left")  # fmt: skip
    return Material(sheet=page.rgb, rough=0.1, coat=0.6)


@lru_cache(maxsize=4 * VARIETY)
def cover(k: int) -> Material:
    """The front of a notebook or folder, and what is written on its label."""
    draws = Draws("cover", k)
    colour = tint(draws, "c", level=(0.25, 0.85), chroma=(0.01, 0.15))
    page = Sheet(0.18, 0.25, colour, side=384)
    page.grain(0.03)
    dark = sum(colour) < 360
    ink = PAPER.colour if dark else _INK
    if draws.chance("label", 0.6):
        slip = page.part((0.22, 0.14, 0.78, 0.38), (240, 239, 233))
        slip.text(draws.pick("subject", _SUBJECTS), (0.1, 0.12, 0.9, 0.46), _INK, _PEN)
        slip.text(str(draws.count("year", 2024, 2033)), (0.3, 0.58, 0.7, 0.86), _GREY)
    else:
        page.text(brand(draws, "maker"), (0.15, 0.3, 0.85, 0.46), ink, BOLD)
        page.text(draws.pick("claim", CLAIMS), (0.2, 0.48, 0.8, 0.54), ink)
    red, green, blue = (0.75 * c for c in colour)
    page.line([(0.07, 0), (0.07, 1)], 0.012, (red, green, blue))
    return Material(sheet=page.rgb, rough=0.55)


@lru_cache(maxsize=VARIETY)
def card(k: int) -> Material:
    """The card on a box or jar that says what is kept in it."""
    draws = Draws("card", k)
    page = Sheet(0.09, 0.05, (240, 239, 233), side=256)
    page.text(draws.pick("kept", (*_SUBJECTS, *GOODS)), (0.08, 0.15, 0.92, 0.6), _INK, _PEN)
    page.text(brand(draws, "maker"), (0.3, 0.7, 0.7, 0.9), _GREY)
    return Material(sheet=page.rgb, rough=0.7)


COVERS = (6, 4)
"""Designs on one sheet, across and down; prices are on one likewise."""
FAMILY = 1_900_000_000
"""Designs of packs from here on are no entity's."""

LIDS = (STEEL, WHITE, PAPER)


def fill_shelf(
    stage: Stage, draws: Draws, xs: tuple[float, float], hole: float, front: float, depth: float,
    z: float, high: float,
) -> None:  # fmt: skip
    """Fill a board with products, side by side and one behind another; `hole` is half of what is
    left free about x = 0."""
    printed = covers(stage.draws.count("assortment", 0, 7))
    x = xs[0] + draws("start", 0.005, 0.03)
    for k in range(14):
        shape = draws.pick(f"shape{k}", ("box", "box", "can", "tub", "pouch"))
        h = min(draws(f"h{k}", 0.09, 0.3), high)
        w = min(draws(f"w{k}", 0.065, 0.19), 1.4 * h)
        round_ = shape in ("can", "tub")
        w = min(w, 0.1) if round_ else w
        deep = w if round_ else min(w * draws(f"d{k}", 0.4, 1.0), depth)
        many = draws.count(f"many{k}", 1, 4)
        columns = [
            c
            for c in (x + (i + 0.5) * (w + 0.004) for i in range(many))
            if c + w / 2 < xs[1] and (not hole or abs(c) > hole + w / 2)
        ]
        sold = draws.count(f"sold{k}", 0, 2)
        where = [
            (c + draws(f"j{k}{i}", -0.002, 0.002), front + deep * (r + 0.5) + 0.003 * r, z)
            for i, c in enumerate(columns)
            for r in range(sold if i == 0 else 0, min(3, int(depth / deep)))
        ]
        if where and not draws.chance(f"empty{k}", 0.07):
            cell = draws.count(f"cover{k}", 0, COVERS[0] * COVERS[1] - 1)
            body, lid = _pack(shape, w, deep, h)
            stage.room(
                Part(joined([shifted(showing(body, cell, *COVERS), *at) for at in where]), printed)
            )
            if lid is not None:
                cap = STEEL if shape == "can" else draws.pick(f"lid{k}", LIDS)
                stage.room(Part(joined([shifted(lid, *at) for at in where], smooth=True), cap))
            _tag(stage, Draws("tag", cell, draws(f"tag{k}")), columns[0], front - 0.028, z)
        x += many * (w + 0.004) + draws(f"gap{k}", 0.0, 0.025)


@lru_cache(maxsize=4)
def covers(key: int) -> Material:
    """A sheet of designs."""
    cells = [_cover(Draws("covers", key, k)) for k in range(_MANY)]
    return Material(sheet=side_by_side(cells, COVERS[0]), rough=0.38)


_MANY = COVERS[0] * COVERS[1]


def _cover(draws: Draws) -> Array:
    look = Look(
        domain="food", kind="packet", family=FAMILY + draws.count("family", 0, 9999),
        variant=draws.count("variant", 0, 7), label=brand(draws, "brand"),
        sublabel=draws.pick("goods", GOODS),
    )  # fmt: skip
    page = Sheet(0.12, 0.18, (240, 238, 230), side=256)
    front(page, design(look, Traits(look)))
    return page.rgb


def _wrapped(profile: Sequence[tuple[float, float]]) -> Mesh:
    """A round body with its design in front and once more behind."""
    return joined([lathe(profile, around=12, part=(k, k + 0.5)) for k in (-0.25, 0.25)])


def _pack(shape: str, w: float, d: float, h: float) -> tuple[Mesh, Mesh | None]:
    r = w / 2
    if shape == "can":
        rim = [(r * 0.98, 0), (r * 1.01, 0.003), (r, 0.005), (r, h - 0.005), (r * 1.01, h - 0.003)]
        lid = lathe([*rim, (r * 0.96, h), (1e-4, h - 0.003)], around=24)
        return _wrapped([(r * 1.001, 0.005), (r * 1.001, h - 0.005)]), lid
    if shape == "tub":
        top = [(r * 1.04, h * 0.83), (r * 1.04, h * 0.92), (r, h * 0.94), (1e-4, h * 0.94)]
        return _wrapped([(r * 0.85, 0), (r, h * 0.85)]), lathe(top, around=24)
    body = box(w, d, h, bevel=0.012 if shape == "pouch" else 0.002)
    if shape == "pouch":  # pinched towards the top
        at = body.vertices.copy()
        at[:, 1] *= 1 - 0.95 * np.clip(at[:, 2] / h, 0, 1) ** 3
        body = body._replace(vertices=at)
    return body, None


@lru_cache(maxsize=1)
def _prices() -> Material:
    """A sheet of price tags: what it is, and what it costs."""
    tags: list[Array] = []
    for k in range(_MANY):
        draws = Draws("price", k)
        ground = draws.pick("ground", ((240, 240, 234), (246, 226, 96)))
        page = Sheet(0.06, 0.036, ground, side=160)
        part = draws.pick("part", ("49", "99", "25", "79", "10"))
        page.text(draws.pick("goods", GOODS), (0.06, 0.06, 0.94, 0.3), _TAG_INK, SANS)
        page.text(
            f"{draws.count('whole', 0, 11)}.{part}",
            (0.3, 0.36, 0.95, 0.95),
            _TAG_INK,
            BOLD,
            align="right",
        )
        page.barcode((0.05, 0.46, 0.3, 0.94), draws)
        tags.append(page.rgb)
    return Material(sheet=side_by_side(tags, COVERS[0]), rough=0.4)


_TAG_INK = (28.0, 28.0, 32.0)


def _tag(stage: Stage, draws: Draws, x: float, y: float, z: float) -> None:
    """A price tag on the board's edge."""
    ticket = showing(sheet(0.06, 0.036), draws.count("price", 0, _MANY - 1), *COVERS)
    stage.room(Part(shifted(ticket, x, y - 0.001, z - 0.038), _prices()))
