"""People at a distance: clothed, well-proportioned, nobody in particular."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Thing
from simulator.studio.solid.meshes import posed
from simulator.studio.solid.soft import Limb, chain, flesh, noise, painted, vec
from simulator.studio.things.skin import cloth, hair, skin
from simulator.world.pictures.traits import Draws, mix, oklch

Stance = Literal["standing", "walking", "sitting"]

CAST = 16
"""So many bodies: one takes a second to model, and nobody is looked at closely."""

SEAT = 0.46
"""Height of the seat that a sitting person needs, metres; the hips are at the origin."""


def person(draws: Draws, stance: Stance) -> Thing:
    """Somebody between 1.5 and 1.95 m who looks towards -y."""
    return _person(draws.count("body", 1, CAST), stance)


@lru_cache(maxsize=2 * CAST)
def _person(body: int, stance: Stance) -> Thing:
    draws = Draws("person", body)
    broad = draws("broad", 0.9, 1.16)
    legs, arms, hips = _limbs_of(stance, draws)
    tone = skin(draws)
    lower, upper = _plain(draws, "lower"), cloth(draws, "upper")
    skirt = stance == "standing" and draws.chance("skirt", 0.25)
    short = draws.chance("short-sleeves", 0.35)
    top = hips + np.array([0, 0, 0.54])
    folds = draws.count("folds", 0, 999)

    def creased(at: Array) -> Array:
        return 0.005 * noise(at, (0.07, 0.07, 0.035), folds) + 0.004 * noise(at, 0.12, folds + 1)

    coat = draws("hem", -0.06, 0.06)
    torso = [Limb(hips + vec(0, 0, 0.10 + coat), hips + vec(0, 0, 0.40), (0.172, 0.168), 0.0,
        (0, 1, 0), 1.36), Limb(top - vec(0.145, 0, 0.03), top + vec(0.145, 0, -0.03),
        (0.058, 0.058), 0.07), Limb(top - vec(0.05, 0, 0), top + vec(0.05, 0, 0.015), (0.06, 0.06),
        0.05)]  # fmt: skip
    sleeves = [q for arm in arms for q in chain(arm[:2] if short else arm, (0.056, 0.045), 0.03)]
    seat = Limb(hips - vec(0.05, 0, 0.02), hips + vec(0.05, 0, 0.02), (0.112, 0.112), 0.05)
    trousers = [seat, *(q for leg in legs for q in chain(leg, (0.092, 0.068, 0.062), 0.03))]
    if skirt:
        low = hips - vec(0, 0, draws("skirt-long", 0.30, 0.5))
        trousers = [seat, Limb(hips, low, (0.13, 0.20), 0.05, (0, 1, 0), 1.2)]
    bare = [q for arm in arms for q in _hand(arm)]
    if short:
        bare += [q for arm in arms for q in chain(arm[1:], (0.040, 0.030), 0.02)]
    if skirt:
        bare += [q for leg in legs for q in chain(leg, (0.075, 0.052, 0.040), 0.02)]
    parts = [
        Part(flesh(trousers, 0.020, unevenness=creased), lower),
        Part(flesh([*torso, *sleeves], 0.018, unevenness=creased), upper),
        Part(flesh(bare, 0.011), Material(tone, rough=0.55, grain="skin")),
        *_head(draws, top + np.array([0, -0.005, 0.06])),
        Part(_shoes(legs), _plain(draws, "shoes")),
    ]
    size = draws("height", 1.52, 1.93) / 1.76
    pose = np.diag([size * broad, size * broad, size, 1.0])
    return Thing.of(*(Part(posed(p.mesh, pose), p.material) for p in parts))


def _limbs_of(stance: Stance, draws: Draws) -> tuple[list[Array], list[Array], Array]:
    """Joints of the legs and of the arms, and the middle of the hips."""
    stride = {"standing": draws("weight", -4, 4), "walking": draws("stride", 20, 30)}.get(stance, 0)
    sits = stance == "sitting"
    hips = vec(0, 0, SEAT + 0.10 if sits else 0.93)
    legs, arms = [], []
    for side in (-1, 1):
        hip = hips + vec(side * 0.09, 0, -0.02)
        if sits:
            knee = hip + vec(side * 0.05, -0.42, 0.02)
            legs.append(np.array([hip, knee, [knee[0], knee[1] + draws("shin", -0.08, 0.1), 0.09]]))
            hand = knee + vec(-side * 0.02, 0.10, 0.11)
            shoulder = hips + vec(side * 0.18, 0, 0.50)
            arms.append(np.array([shoulder, shoulder + vec(side * 0.06, -0.04, -0.29), hand]))
            continue
        a = math.radians(side * stride)
        bend = math.radians(6 + max(-side * stride, 0) * 1.1) if stance == "walking" else 0.03
        knee = hip + vec(side * 0.01, -0.43 * math.sin(a), -0.43 * math.cos(a))
        ankle = knee + vec(0, 0.42 * math.sin(bend - a), -0.42 * math.cos(bend - a))
        legs.append(np.array([hip, knee, ankle]))
        b = math.radians(-side * stride * 0.8)
        shoulder = hips + vec(side * 0.18, 0, 0.50)
        elbow = shoulder + vec(side * 0.055, -0.29 * math.sin(b), -0.29 * math.cos(b))
        c = b + math.radians(draws(f"elbow{side}", 8, 30))
        arms.append(
            np.array([shoulder, elbow, elbow + vec(0, -0.25 * math.sin(c), -0.25 * math.cos(c))])
        )
    down = vec(0, 0, 0 if sits else min(float(leg[2][2]) for leg in legs) - 0.085)
    return [q - down for q in legs], [q - down for q in arms], hips - down


def _hand(arm: Array) -> list[Limb]:
    along = (arm[2] - arm[1]) / np.linalg.norm(arm[2] - arm[1])
    wrist, tip = arm[2] - 0.03 * along, arm[2] + 0.13 * along + vec(0, -0.02, 0)
    palm = arm[2] + 0.05 * along
    return [Limb(wrist, palm, (0.027, 0.040), 0.0, (1, 0, 0), 1.5),
        Limb(palm, tip, (0.038, 0.022), 0.01, (1, 0, 0), 1.8),
        Limb(palm, palm + 0.05 * along + vec(0, -0.05, 0), (0.016, 0.011), 0.01)]  # fmt: skip


def _head(draws: Draws, neck: Array) -> list[Part]:
    """A head on its neck, a face in a few strokes, and hair."""
    tone = np.array(skin(draws))
    eyes = neck + vec(0, 0, 0.155)
    skull = [Limb(neck - vec(0, -0.01, 0.06), neck + vec(0, 0, 0.06), (0.058, 0.053), 0.02),
        Limb(eyes + vec(0, 0.015, 0.02), eyes + vec(0, -0.012, -0.01), (0.090, 0.078), 0.03, (1, 0,
        0), 1.13), Limb(eyes + vec(0, -0.028, -0.06), eyes + vec(0, -0.040, -0.085), (0.052, 0.034),
        0.04), Limb(eyes + vec(0, -0.088, -0.004), eyes + vec(0, -0.104, -0.036), (0.009, 0.014),
        0.012), *(Limb(eyes + vec(s * 0.078, 0.012, 0.0), eyes + vec(s * 0.080, 0.014, -0.035),
        (0.016, 0.010), 0.006, (1, 0, 0), 2.0) for s in (-1, 1)),
        *(Limb(eyes + vec(s * 0.032, -0.100, 0.0), eyes + vec(s * 0.034, -0.100, 0.0),
        (0.013, 0.013), 0.012, carve=True) for s in (-1, 1))]  # fmt: skip

    def face(at: Array, facing: Array) -> Array:
        front = facing[:, 1] < 0.1
        x, z = np.abs(at[:, 0] - eyes[0]), at[:, 2] - eyes[2]
        out = tone * (1 + 0.05 * noise(at, 0.02, 3)[:, None])
        eye = front & (((x - 0.032) / 0.014) ** 2 + (z / 0.006) ** 2 < 1)
        brow = (
            front & (np.abs(x - 0.034) < 0.019) & (np.abs(z - 0.024 + 4 * (x - 0.034) ** 2) < 0.004)
        )
        lips = front & ((x / 0.024) ** 2 + ((z + 0.066) / 0.008) ** 2 < 1)
        out[eye] = (44, 34, 30)
        out[brow] = np.array(hair(draws).colour) * 0.8
        out[lips] = np.array(
            mix((float(tone[0]), float(tone[1]), float(tone[2])), (150, 60, 60), 0.45)
        )
        return out

    mesh, sheet = painted(flesh(skull, 0.0085), face, side=400)
    long = draws.chance("long-hair", 0.4)
    locks = [Limb(eyes + vec(0, 0.022, 0.028), eyes + vec(0, 0.0, 0.032), (0.098, 0.092), 0.0,
        (1, 0, 0), 1.1), Limb(eyes + vec(0, -0.10, -0.03), eyes + vec(0, -0.11, -0.06),
        (0.090, 0.12), 0.008, carve=True)]  # fmt: skip
    if long:
        locks.insert(1, Limb(eyes + vec(0, 0.05, -0.02), eyes + vec(0, 0.075, -0.20), (0.085, 0.07),
            0.04, (0, 1, 0), 1.6))  # fmt: skip

    def tousled(at: Array) -> Array:
        return 0.006 * noise(at, (0.02, 0.02, 0.06), 9)

    bald = draws.chance("bald", 0.08)
    return [
        Part(mesh, Material(sheet=sheet, rough=0.5, grain="skin")),
        *([] if bald else [Part(flesh(locks, 0.011, unevenness=tousled), hair(draws))]),
    ]


def _shoes(legs: list[Array]) -> Mesh:
    out: list[Limb] = []
    for leg in legs:
        x, y, z = leg[2]
        heel, toe = (x, y + 0.02, z - 0.045), (x * 1.15, y - 0.165, z - 0.055)
        out += [
            Limb((x, y, z), heel, (0.045, 0.042), 0.02),
            Limb(heel, toe, (0.042, 0.036), 0.02, (0, 0, 1), 1.15),
            Limb((x, y - 0.05, z - 0.17), (x, y - 0.08, z - 0.17), (0.085, 0.085), 0.0, carve=True),
        ]
    return flesh(out, 0.011)


def _plain(draws: Draws, name: str) -> Material:
    """Denim, black, grey, khaki: what trousers and shoes are made of."""
    hue, chroma = draws.pick(f"{name}-stuff", ((255, 0.06), (270, 0.02), (80, 0.035), (40, 0.03)))
    colour = oklch(draws(f"{name}-level", 0.2, 0.52), chroma, hue)
    return Material(colour, rough=0.8, grain="cloth")
