"""People at a distance, and the hand and sleeve of whoever wears the glasses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from simulator.studio.solid.meshes import ball, joined, lathe, posed, scaled
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Point, Thing
from simulator.studio.solid.soft_bodies import Limb, chain, flesh, noise, painted, vec
from simulator.world.pictures.traits import Colour, Draws, luma, mix, oklch

_SKIN = np.array([(238, 200, 178), (226, 180, 152), (206, 154, 120), (176, 122, 86), (132, 86, 58),
    (92, 60, 44), (64, 44, 36)], np.float64)  # fmt: skip
"""From the lightest to the darkest, as a phone shows them in daylight."""

_HAIR: tuple[Colour, ...] = (
    (30, 26, 24), (46, 34, 28), (74, 50, 36), (110, 76, 48), (150, 148, 146), (122, 62, 36),
    (168, 130, 84),
)  # fmt: skip


def skin(draws: Draws) -> Colour:
    """A skin tone; the same draws always give the same person's."""
    along = draws("skin", 0, len(_SKIN) - 1)
    tone = [float(np.interp(along, range(len(_SKIN)), _SKIN[:, i])) for i in range(3)]
    warm = draws("skin-warm", -5, 5)
    return (tone[0] + warm, tone[1], tone[2] - warm)


def hair(draws: Draws) -> Material:
    """Hair: black and brown mostly; fair and red with fair skin."""
    fair = min(2 + int(luma(skin(draws)) / 35), len(_HAIR))
    return Material(draws.pick("hair", _HAIR[:fair]), rough=0.55, grain="fur")


def cloth(draws: Draws, name: str) -> Material:
    """What a garment is made of: mostly quiet colours, now and then a bright one."""
    vivid = draws.chance(f"{name}-vivid", 0.3)
    level = draws(f"{name}-level", 0.24, 0.86)
    chroma = draws(f"{name}-chroma", 0.08, 0.16) if vivid else draws(f"{name}-chroma", 0.0, 0.05)
    colour = oklch(level, chroma, draws(f"{name}-hue", 0, 360))
    return Material(colour, rough=0.85, grain="cloth")


Pose = Literal["hold", "point", "reach", "cover"]

_KNUCKLES = (
    (-0.029, 0.089, 0.0), (-0.007, 0.094, 0.003), (0.014, 0.089, 0.001), (0.033, 0.078, -0.004),
)  # fmt: skip
_BONES = ((0.043, 0.025, 0.020), (0.047, 0.029, 0.021), (0.043, 0.027, 0.021),
    (0.033, 0.020, 0.018))  # fmt: skip
_THICK = ((0.0094, 0.0085, 0.0076, 0.0066), (0.0096, 0.0086, 0.0077, 0.0067),
          (0.0091, 0.0082, 0.0073, 0.0064), (0.0081, 0.0073, 0.0066, 0.0058))  # fmt: skip
_THUMB = (-0.019, 0.021, -0.011)
_THUMB_BONES = (0.045, 0.032, 0.026)
_THUMB_THICK = (0.0150, 0.0118, 0.0102, 0.0080)
_PAD = 0.006
"""How far a finger tip's bone is from what it touches: flesh gives."""


class _Bent(NamedTuple):
    """A hand's joints once it is posed."""

    fingers: tuple[Array, ...]
    """Thumb first; four points each, knuckle to tip."""
    soles: tuple[Array, ...]
    """For each finger and bone: where its soft side looks."""
    arm: Point
    """Where the forearm runs from the wrist."""


class _Held(NamedTuple):
    """A round rod across the palm, in the plane of the fingers."""

    centre: tuple[float, float]
    radius: float
    away: tuple[float, float]
    """From the palm into the open (y, z)."""
    across: tuple[float, float]
    """From the thumb to the fingers (y, z)."""


def hand(draws: Draws, pose: Pose, *, grip: float = 0.06, left: bool = False) -> Thing:
    """A hand with its forearm and sleeve.

    The origin is what it holds ("hold": the middle of a rod `grip` metres thick, the thumb on the
    near side, the fingers behind, the palm on the right; "reach": where such a rod would be), the
    tip of the index finger ("point"), or the middle of the palm ("cover": fingers up, the back of
    the hand to the wearer). The forearm runs back to the wearer, towards -y and -z.
    """
    key = (draws.count("body", 0, 1 << 30), pose, round(min(max(grip, 0.003), 0.09), 3))
    right = _hand(*key)
    if not left:
        return right
    return Thing.of(*(Part(scaled(p.mesh, -1, 1, 1), p.material) for p in right.parts))


@lru_cache(maxsize=32)
def _hand(body: int, pose: Pose, grip: float) -> Thing:
    draws = Draws("hand", body)
    held = _rod(grip / 2 if pose == "hold" else 0.04)
    bent = _POSES[pose](held, draws)
    tone = np.array(skin(draws))
    bare = draws.chance("bare", 0.25)
    arm = 0.34 if bare else 0.15
    limbs = _limbs(bent, arm)
    mesh, sheet = painted(flesh(limbs, 0.0032), _Skin(bent, tone), side=512)
    pink = mix((float(tone[0]), float(tone[1]), float(tone[2])), (236, 196, 186), 0.35)
    parts = [
        Part(mesh, Material(sheet=sheet, rough=0.5, grain="skin")),
        Part(_nails(bent), Material(pink, rough=0.22, coat=0.4)),
        *([] if bare else _sleeve(bent, draws)),
    ]
    size = draws("size", 0.94, 1.06)
    place = _placed(pose, bent, held) @ np.diag([size, size, size, 1])
    return Thing.of(*(Part(posed(p.mesh, place), p.material) for p in parts))


def _rod(radius: float) -> _Held:
    """Where the palm would put a rod: a thin one at the finger tips, a thick one in the palm."""
    t = min(radius / 0.04, 1.0)
    lean = math.radians(62 + 24 * t)
    centre = (0.114 - 0.042 * t, -0.068 - 0.008 * t)
    return _Held(
        centre, radius, (math.cos(lean), -math.sin(lean)), (math.sin(lean), math.cos(lean))
    )


def _hold(held: _Held, draws: Draws) -> _Bent:
    fingers, soles = [], []
    across, away = np.array(held.across), np.array(held.away)
    for i in range(4):
        turn = math.radians(40 - 8 * i) if held.radius > 0.015 else math.radians(10)
        reach = held.radius + _PAD
        target = np.array(held.centre) + reach * (math.cos(turn) * across + math.sin(turn) * away)
        bones, sides = _finger(i, *_bend(i, target, held), 2.0 - 1.5 * i)
        fingers.append(bones)
        soles.append(sides)
    target = np.array(held.centre) - (held.radius + _PAD) * across + 0.004 * away
    thumb, sides = _thumb(np.array([-0.018, target[0], target[1]]), held)
    return _Bent(
        (thumb, *fingers), (sides, *soles), _arm(34 + draws("wrist", -6, 6), draws("back", -6, 14))
    )


def _point(_: _Held, draws: Draws) -> _Bent:
    out = [_finger(0, 4 + draws("index", 0, 8), 6, 1)]
    out += [_finger(i, 66 + 5 * i, 92, 0) for i in (1, 2, 3)]
    return _bent((-0.012, 0.092, -0.040), out, _arm(10, draws("back", 8, 22)))


def _reach(_: _Held, draws: Draws) -> _Bent:
    bend = draws("bend", 16, 30)
    out = [_finger(i, bend + 3 * i, bend + 6 + 3 * i, -6 + 5 * i) for i in range(4)]
    return _bent((-0.050, 0.088, -0.056), out, _arm(16, draws("back", 0, 14)))


def _cover(_: _Held, draws: Draws) -> _Bent:
    spread = draws("spread", 1.0, 5.0)
    out = [_finger(i, 5, 9, (i - 1.4) * spread) for i in range(4)]
    return _bent((-0.079, 0.084, -0.022), out, _arm(6, 10))


def _bent(thumb: Point, fingers: Sequence[tuple[Array, Array]], arm: Point) -> _Bent:
    """A hand that holds nothing, its thumb's tip at a point."""
    points, soles = zip(_thumb(np.array(thumb), None), *fingers, strict=True)
    return _Bent(points, soles, arm)


_POSES = {"hold": _hold, "point": _point, "reach": _reach, "cover": _cover}


def _arm(sideways: float, back: float) -> Point:
    """The forearm's direction for a wrist bent towards the little finger, and backwards."""
    a, b = math.radians(sideways), math.radians(back)
    return (math.sin(a) * math.cos(b), -math.cos(a) * math.cos(b), -math.sin(b))


def _finger(i: int, root: float, middle: float, splay: float) -> tuple[Array, Array]:
    """A finger's joints and soft sides, its bends in degrees."""
    a = math.radians(splay)
    forward = np.array([math.sin(a), math.cos(a), 0])
    angles = np.radians(np.cumsum([root, middle, 0.55 * middle]))
    down = np.array([0, 0, -1.0])
    bones = [math.cos(q) * forward + math.sin(q) * down for q in angles]
    sides = [math.cos(q) * down - math.sin(q) * forward for q in angles]
    points = [np.array(_KNUCKLES[i])]
    for bone, length in zip(bones, _BONES[i], strict=True):
        points.append(points[-1] + bone * length)
    return np.array(points), np.array(sides)


def _bend(i: int, target: Array, held: _Held) -> tuple[float, float]:
    """The bends that bring a finger's tip to a point of its plane and keep it out of the rod."""
    root, middle = (q.ravel() for q in np.meshgrid(np.arange(0, 86, 2.0), np.arange(4, 100, 2.0)))
    angles = np.radians(np.stack([root, root + middle, root + 1.55 * middle]))
    lengths = np.array(_BONES[i])[:, None]
    steps = np.stack([np.cos(angles) * lengths, -np.sin(angles) * lengths], -1)
    joints = np.array(_KNUCKLES[i])[1:] + np.concatenate(
        [np.zeros((1, len(root), 2)), np.cumsum(steps, 0)]
    )
    between = (joints[1:] + joints[:-1]) / 2
    gap = np.linalg.norm(np.concatenate([joints[1:], between]) - held.centre, axis=-1)
    inside = np.maximum(held.radius + _PAD - gap, 0).max(0)
    cost = np.linalg.norm(joints[-1] - target, axis=-1) + 3 * inside
    best = int(cost.argmin())
    return float(root[best]), float(middle[best])


def _thumb(target: Array, held: _Held | None) -> tuple[Array, Array]:
    """A thumb whose tip comes as near to a point as joints allow, and stays out of the rod."""
    grid = np.meshgrid(
        np.radians(np.arange(8, 70, 4.0)),  # away from the index finger
        np.radians(np.arange(6, 80, 4.0)),  # below the palm
        np.radians((0.0, 12.0, 26.0, 42.0)),
        np.radians((-6.0, 10.0, 28.0, 50.0)),
    )
    aside, below, one, two = (q.ravel() for q in grid)
    base = np.array(_THUMB)
    bone = np.stack(
        [-np.cos(below) * np.sin(aside), np.cos(below) * np.cos(aside), -np.sin(below)], -1
    )
    joints = [np.broadcast_to(base, bone.shape), base + bone * _THUMB_BONES[0]]
    aim = (target - joints[1]) * 20 + (0.75, 0.35, -0.55)  # a thumb bends inwards, never back
    side = aim - (aim * bone).sum(-1, keepdims=True) * bone
    side /= np.maximum(np.linalg.norm(side, axis=-1, keepdims=True), 1e-9)
    sides = [side]
    for angle, length in zip((one, one + two), _THUMB_BONES[1:], strict=True):
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        joints.append(joints[-1] + (c * bone + s * side) * length)
        sides.append(c * side - s * bone)
    cost = np.linalg.norm(joints[3] - target, axis=-1) + 0.008 * (one + two)
    if held is not None:
        ends = [*joints[1:], *((q + r) / 2 for q, r in pairwise(joints[1:]))]
        for q, thick in zip(ends, (0.0125, 0.0100, 0.0080, 0.0110, 0.0090), strict=True):
            gap = np.linalg.norm(q[:, 1:] - held.centre, axis=-1)
            cost = cost + 3 * np.maximum(held.radius + thick - gap, 0)
    best = int(cost.argmin())
    return np.array([q[best] for q in joints]), np.array([q[best] for q in sides])


def _limbs(bent: _Bent, arm: float) -> list[Limb]:
    """All of a hand that is flesh."""
    out: list[Limb] = []
    wrist = np.array([0.0, 0.0, -0.002])
    for i, (k, t) in enumerate(zip(_KNUCKLES, _THICK, strict=True)):
        root = wrist + np.array([-0.014 + 0.010 * i, 0.004, 0])
        out.append(Limb(root, k, (0.0150, t[0] + 0.0012), 0.014))
    thumb = bent.fingers[0]
    out.append(Limb((-0.012, 0.012, -0.008), thumb[1], (0.0150, 0.0132), 0.012))
    out.append(
        Limb(0.6 * thumb[0] + 0.4 * thumb[1], (-0.016, 0.066, -0.006), (0.013, 0.007), 0.016)
    )
    out.append(Limb((0.024, 0.018, -0.007), (0.030, 0.062, -0.007), (0.0135, 0.0100), 0.012))
    for side in (-1, 1):
        end = np.array(bent.arm) * arm + vec(side * (0.010 + 0.02 * arm), 0, 0)
        out.append(Limb((side * 0.0105, 0.002, -0.002), end, (0.0195, 0.0195 + 0.045 * arm), 0.020))
    for points, thick in zip(bent.fingers, (_THUMB_THICK, *_THICK), strict=True):
        out += chain(points, thick, 0.0025)
        last, tip = points[-2], points[-1]
        out.append(Limb(last + 0.55 * (tip - last), tip, (thick[3] + 0.0005, thick[3]), 0.003))
        for j in (1, 2):  # knuckles are a little thicker than what is between them
            r = thick[j] + 0.0002
            out.append(Limb(points[j], points[j], (r, r), 0.003))
    return out


class _Skin:
    """Skin as it is: redder where bones are near, lighter in the palm, creased at the joints."""

    def __init__(self, bent: _Bent, tone: Array) -> None:
        self.bent, self.tone = bent, tone

    def __call__(self, at: Array, facing: Array) -> Array:
        depth = float(1 - self.tone.mean() / 255)
        soft, crease, tip = self._where(at, facing)
        mottle = (
            noise(at, 0.012, 1) * 0.045 + noise(at, 0.004, 2) * 0.03 + noise(at, 0.0016, 3) * 0.025
        )
        out = self.tone * (1 + mottle[:, None])
        palm = self.tone + (np.array([232, 184, 160]) - self.tone) * (0.25 + 0.45 * depth)
        out += _eased(soft * 1.3 + 0.1)[:, None] * (palm - out) * 0.8
        out *= 1 - np.outer(tip * 0.5 + np.clip(noise(at, 0.03, 4), 0, 1) * 0.3, (0.02, 0.16, 0.14))
        return out * (1 - np.outer(crease, (0.22, 0.3, 0.3)))

    def _where(self, at: Array, facing: Array) -> tuple[Array, Array, Array]:
        """How much a point looks to the palm, how deep its crease is, how near a finger tip."""
        nearest = np.full(len(at), 0.024, np.float32)
        soft = -facing[:, 2] * np.clip(at[:, 1] / 0.03 + 0.5, 0, 1)
        crease, tip = np.zeros(len(at), np.float32), np.zeros(len(at), np.float32)
        for i, (points, sides) in enumerate(zip(self.bent.fingers, self.bent.soles, strict=True)):
            middle, reach = points.mean(0), 0.075
            own = np.nonzero(((at - middle) ** 2).sum(1) < reach**2)[0]
            near = at[own]
            for j in range(i == 0, 3):  # the ball of the thumb is palm
                along = points[j + 1] - points[j]
                length = float(np.linalg.norm(along))
                t = (near - points[j]) @ (along / length)
                gap = np.linalg.norm(
                    near - points[j] - np.outer(np.clip(t, 0, length), along / length), axis=1
                )
                closer = np.nonzero(gap < nearest[own])[0]
                k, t = own[closer], t[closer]
                nearest[k] = gap[closer]
                soft[k] = facing[k] @ sides[j]
                joint = np.minimum(np.abs(t), np.abs(t - 0.0035)) if j else np.full(len(t), 1.0)
                if j < 2:
                    joint = np.minimum(joint, np.abs(t - length))
                wrinkle = np.abs(np.sin(t * 1400 + 0.8 * noise(at[k], 0.006, 5)))
                wide = np.minimum(np.abs(t - length * (j < 2)), np.abs(t) + (j == 0))
                crease[k] = np.exp(-((joint / 0.0011) ** 2)) * np.clip(soft[k] + 0.2, 0, 1)
                crease[k] += (
                    0.5 * np.clip(-soft[k], 0, 1) * np.exp(-((wide / 0.006) ** 2)) * wrinkle**6
                )
                tip[k] = np.clip(t / length, 0, 1) * (j == 2)
        return soft, crease, tip


def _nails(bent: _Bent) -> Mesh:
    out: list[Mesh] = []
    for points, sides, thick in zip(bent.fingers, bent.soles, (_THUMB_THICK, *_THICK), strict=True):
        along = points[3] - points[2]
        along = along / np.linalg.norm(along)
        up = -sides[2]
        r = thick[3] + 0.0004
        pose = np.eye(4)
        pose[:3, :3] = np.stack([np.cross(along, up), along, up], 1)
        pose[:3, 3] = points[3] - along * 0.45 * r + up * (r * 0.56)
        out.append(posed(ball(0.74 * r, 1.25 * r, 0.53 * r, around=24), pose))
    return joined(out)


def _sleeve(bent: _Bent, draws: Draws) -> list[Part]:
    """A cuff and the sleeve behind it, a little crumpled."""
    start, long = draws("cuff", 0.045, 0.085), 0.36
    z = np.linspace(start, long, 40)
    wide = 0.040 + 0.055 * (z - start) / long + draws("loose", 0.0, 0.006)
    wide += 0.0022 * np.sin(z * draws("folds", 130, 210)) * np.clip((z - start - 0.03) / 0.05, 0, 1)
    inner = [(wide[0] - 0.004, start + 0.05), (wide[0] - 0.003, start + 0.001)]
    edge = [(wide[0] - 0.0012, start - 0.0012), (wide[0] + 0.0004, start)]
    hem = draws("hem", 0.012, 0.05)
    outer = [(w + 0.0018 * (q < start + hem), q) for w, q in zip(wide, z, strict=True)]
    tube = lathe([*inner, *edge, *outer, (0.001, long)], around=48)
    rough = tube.vertices.copy()
    lift = noise(rough, (0.03, 0.03, 0.05), draws.count("crumple", 0, 999)) * 0.0035
    rough[:, :2] *= (1 + lift / 0.045 * (rough[:, 2] > start + hem))[:, None]
    rough[:, 1] *= 0.86
    down = np.array(bent.arm)
    side = np.array([1.0, 0, 0]) - down[0] * down
    side /= np.linalg.norm(side)
    pose = np.eye(4)
    pose[:3, :3] = np.stack([side, np.cross(down, side), down], 1)
    stuff = cloth(draws, "sleeve")
    return [Part(posed(tube._replace(vertices=rough), pose), stuff)]


def _placed(pose: Pose, bent: _Bent, held: _Held) -> Array:
    """From the hand's axes to the wearer's."""
    out = np.eye(4)
    if pose in ("hold", "reach"):
        away, across = np.array([0, *held.away]), np.array([0, *held.across])
        turn = np.stack([-away, across, (-1.0, 0, 0)])
        lean = math.radians(-20)
        out[:3, :3] = _about_y(lean) @ turn
        origin = np.array([-0.018, *held.centre])
    elif pose == "point":
        a = math.radians(50)
        roll = np.array([[math.cos(a), 0, -math.sin(a)], [0, 1, 0], [math.sin(a), 0, math.cos(a)]])
        b = math.radians(12)
        tilt = np.array([[1, 0, 0], [0, math.cos(b), -math.sin(b)], [0, math.sin(b), math.cos(b)]])
        out[:3, :3] = tilt @ roll
        origin = bent.fingers[1][3]
    else:
        out[:3, :3] = np.array([[1, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
        origin = np.array([0.0, 0.06, -0.01])
    out[:3, 3] = -out[:3, :3] @ origin
    return out


def _eased(q: Array) -> Array:
    q = np.clip(q, 0, 1)
    return q * q * (3 - 2 * q)


def _about_y(a: float) -> Array:
    return np.array([[math.cos(a), 0, math.sin(a)], [0, 1, 0], [-math.sin(a), 0, math.cos(a)]])


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
    bare = [q for arm in arms for q in _far_hand(arm)]
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


def _far_hand(arm: Array) -> list[Limb]:
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
