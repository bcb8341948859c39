"""Packs in rows, as on a shop's shelves, of brands that nobody asks about, and their prices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from simulator.studio.places.paint import PAPER, STEEL, WHITE
from simulator.studio.places.stage import Stage
from simulator.studio.solid.forms import Array, Material, Mesh, Part
from simulator.studio.solid.meshes import box, joined, lathe, sheet, shifted
from simulator.studio.solid.prints import Sheet, showing, side_by_side
from simulator.studio.solid.typesetting import BOLD, SANS
from simulator.studio.solid.wording import GOODS, brand
from simulator.studio.things.packaging import design, front
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Draws, Traits

COVERS = (6, 4)
"""Designs on one sheet, across and down; prices are on one likewise."""
FAMILY = 1_900_000_000
"""Designs of packs from here on are no entity's."""

LIDS = (STEEL, WHITE, PAPER)


def facings(
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
        page.text(draws.pick("goods", GOODS), (0.06, 0.06, 0.94, 0.3), _INK, SANS, lines=1)
        page.text(
            f"{draws.count('whole', 0, 11)}.{part}",
            (0.3, 0.36, 0.95, 0.95),
            _INK,
            BOLD,
            lines=1,
            align="right",
        )
        page.barcode((0.05, 0.46, 0.3, 0.94), draws)
        tags.append(page.rgb)
    return Material(sheet=side_by_side(tags, COVERS[0]), rough=0.4)


_INK = (28.0, 28.0, 32.0)


def _tag(stage: Stage, draws: Draws, x: float, y: float, z: float) -> None:
    """A price tag on the board's edge."""
    ticket = showing(sheet(0.06, 0.036), draws.count("price", 0, _MANY - 1), *COVERS)
    stage.room(Part(shifted(ticket, x, y - 0.001, z - 0.038), _prices()))
