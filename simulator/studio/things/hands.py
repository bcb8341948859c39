"""The wearer's hand and sleeve: it holds, points, reaches, and covers.

Built in the hand's own axes (wrist at the origin, fingers along y, the palm looks along -z, a right
hand's thumb towards -x), bent by a small search so that thumb and fingers touch what they hold, and
then posed for the wearer.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Point, Thing
from simulator.studio.solid.meshes import ball, joined, lathe, posed, scaled
from simulator.studio.solid.soft import Limb, chain, flesh, noise, painted, vec
from simulator.studio.things.skin import cloth, skin
from simulator.world.pictures.traits import Draws, mix

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
    thumb = _thumb(np.array([-0.012, 0.092, -0.040]), None)
    return _Bent(
        (thumb[0], *(f for f, _ in out)),
        (thumb[1], *(s for _, s in out)),
        _arm(10, draws("back", 8, 22)),
    )


def _reach(_: _Held, draws: Draws) -> _Bent:
    bend = draws("bend", 16, 30)
    out = [_finger(i, bend + 3 * i, bend + 6 + 3 * i, -6 + 5 * i) for i in range(4)]
    thumb = _thumb(np.array([-0.050, 0.088, -0.056]), None)
    return _Bent(
        (thumb[0], *(f for f, _ in out)),
        (thumb[1], *(s for _, s in out)),
        _arm(16, draws("back", 0, 14)),
    )


def _cover(_: _Held, draws: Draws) -> _Bent:
    spread = draws("spread", 1.0, 5.0)
    out = [_finger(i, 5, 9, (i - 1.4) * spread) for i in range(4)]
    thumb = _thumb(np.array([-0.079, 0.084, -0.022]), None)
    return _Bent((thumb[0], *(f for f, _ in out)), (thumb[1], *(s for _, s in out)), _arm(6, 10))


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
