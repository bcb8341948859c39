"""Vans, their owner's name along both sides."""

from __future__ import annotations

import numpy as np

from simulator.studio.solid.forms import Material, Mesh, Print, Thing
from simulator.studio.solid.meshes import joined
from simulator.studio.solid.prints import Sheet, prints_on
from simulator.studio.solid.typesetting import FACES
from simulator.studio.things.bodies import Shell
from simulator.studio.things.cars import (
    UNDER,
    Build,
    cladding,
    face,
    lacquer,
    lights,
    mirrors,
    painted,
    pane,
    running,
)
from simulator.studio.things.making import BLACK, Tray, laid, seam
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Draws, Traits, luma, mix


def van(look: Look, traits: Traits) -> Thing:
    """A panel van with its owner's name along both sides."""
    f = traits.family
    length = 4.9 + 1.0 * f("stretch") + traits.variant("length", -0.02, 0.02)
    half, height, wheel = length / 2, f("height", 1.95, 2.5), f("wheel", 0.33, 0.36)
    short = f("bonnet", 0.55, 1.0)
    build = Build(length, f("width", 1.85, 2.02), height, wheel, half - 0.85,
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
    face(tray, shell, traits, trim)
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
    running(tray, build, traits)
    bands = _stripe(shell, traits)
    if bands:
        tray.add(*bands)
    prints = _lettering(tray, hull, cab, look, traits, paint)
    return Thing(tray.parts(), prints)


def _van_shells(b: Build, f: Draws) -> tuple[Shell, Shell]:
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
    page.text(look.label, (0.01, 0.03, 0.99, 0.58), ink, f.pick("face", FACES))
    page.text(look.sublabel, (0.04, 0.64, 0.96, 0.88), second, f.pick("small-face", FACES), lines=1)
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
