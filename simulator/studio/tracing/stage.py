"""The one scene of Mitsuba's that is ever loaded: things come onto it and leave it.

A kernel is compiled again, which takes seconds, for another number of shapes, materials or lamps,
and even for the same ones loaded once more. So there are always as many, most of them unseen, and
a handful of kernels does for all scenes (which of them, what was shown before decides): all
that has a colour or a sheet is one mesh with one picture on it, all glass is one, and all that
glows is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.forms import Array, Lamp, Light
from simulator.studio.solid.sheets import Atlas, in_one_picture, in_squares, linear
from simulator.studio.tracing.merging import Shape, Sorts, filled, merged, speck
from simulator.studio.tracing.variant import mitsuba

SKIES = Path(__file__).parents[3] / "assets" / "light"
"""Environment maps of Poly Haven (CC0)."""

_LAMPS = 6
"""A stage has a multiple of so many lamps."""
_GLOW = 8192
"""Likewise triangles that give light."""
_BELOW: Array = np.array((0.0, 0.0, -50.0))
"""Where what is not needed lies."""
_HARDLY = 1e-3
"""In place of 0: a material without any metal or lacquer would be of another sort."""


class Stage:
    """Shapes that are always there, and change what they are."""

    def __init__(self, room: Room) -> None:
        mi = mitsuba()
        lamps, self._glowing = room
        what: dict[str, Any] = {"type": "scene", "sky": _sky("studio")}
        what |= {name: _empty_mesh(name, self._glowing) for name in ("plain", "glass", "glow")}
        what |= {f"lamp_{i}": _empty_lamp() for i in range(lamps)}
        # parallel=False: the order of loading is part of the kernel.
        # optimize=False: else shapes of one material become one.
        self.scene = mi.load_dict(what, parallel=False, optimize=False)
        self._put = _Values(mi.traverse(self.scene))
        self._lamps = lamps
        self.is_warm = False
        self._full: set[str] = set()
        self._owners: dict[str, NDArray[np.int16]] = {}
        self._kept: dict[str, list[Array]] = {}
        shapes = list(self.scene.shapes())
        self._names = dict(zip(_indices(shapes), (s.id() for s in shapes), strict=True))
        self.plain = next(index for index, name in self._names.items() if name == "plain")
        self._settle()

    def show(self, sorts: Sorts, light: Light) -> None:
        """Clear the stage, put things on it and light it."""
        plain, atlas = in_one_picture(sorts.plain)
        glow, squares = in_squares(sorts.glow)
        self._place("plain", merged(plain))
        self._place("glass", merged(sorts.glass))
        self._place("glow", filled(merged(glow), _BELOW, self._glowing))
        self._cover(atlas)
        self._put["glow.emitter.radiance.data"] = _tensor(squares)
        self._put["glow.emitter.sampling_weight"] = 1.0 if glow else _HARDLY
        for i in range(self._lamps):
            self._light(f"lamp_{i}", light.lamps[i] if i < len(light.lamps) else None)
        self._put["sky.data"] = _sky_data(light.sky)
        self._put["sky.scale"] = _number(light.strength)
        self._put["sky.to_world"] = _turned(light.turn)
        self._put.update()
        self._put["sky.scale"] = _number(light.strength)  # else the sky keeps the last scene's size
        self._put.update()
        self._settle()

    def owners(self, shapes: NDArray[np.int64], triangles: NDArray[np.int64]) -> NDArray[np.int16]:
        """Which placed thing each triangle of each shape is of; -1 is none."""
        found = np.full(shapes.shape, -1, np.int16)
        for index, name in self._names.items():
            if name in self._full:
                here = shapes == index
                found[here] = self._owners[name][triangles[here]]
        return found

    def _settle(self) -> None:
        """Follow one ray, so that all is in its place: a change before that ends the process."""
        mi = mitsuba()
        ray = mi.Ray3f(mi.Point3f(0, 0, 0), mi.Vector3f(0, 0, 1))
        np.array(self.scene.ray_test(ray))

    def _place(self, name: str, shape: Shape | None) -> None:
        if shape is None and name not in self._full and name in self._owners:
            return  # it was empty before
        self._full.add(name) if shape else self._full.discard(name)
        shape = shape or speck(_BELOW)
        self._owners[name] = shape.owners
        kept = self._kept[name] = [
            _padded(a) for a in (shape.at, shape.normals, shape.uv, shape.faces)
        ]
        for what, numbers in zip(_NUMBERS, kept, strict=True):
            self._put[f"{name}.{what}"] = numbers

    def _cover(self, atlas: Atlas) -> None:
        mi = mitsuba()
        at = "plain.bsdf.brdf_0."
        if isinstance(self._put[f"{at}base_color.data"], mi.TensorXf):  # it keeps no bytes
            self._put[f"{at}base_color.data"] = mi.TensorXf(linear(atlas.colour))
        else:
            self._put[f"{at}base_color.data"] = mi.TensorXu8(atlas.colour)
        for k, gloss in enumerate(("roughness", "metallic", "clearcoat")):
            self._put[f"{at}{gloss}.data"] = _tensor(
                np.maximum(atlas.gloss[..., k], _HARDLY)[..., None]
            )

    def _light(self, name: str, lamp: Lamp | None) -> None:
        mi = mitsuba()
        self._put[f"{name}.to_world"] = opaque(mi.AffineTransform4f(_stand(lamp or _DARK)))
        shine = linear(np.array((lamp or _DARK).colour)) * (lamp or _DARK).power
        self._put[f"{name}.emitter.radiance.value"] = opaque(mi.Color3f(*shine.tolist()))
        self._put[f"{name}.emitter.sampling_weight"] = 1.0 if lamp else _HARDLY


class _Values:
    """The numbers of a scene, to be set whatever they were: of another length too."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        where, sort, _, _ = self._values.properties[key]
        self._values.set_dirty(key)
        self._values.set_property(*((where, value) if sort is None else (where, sort, value)))

    def update(self) -> None:
        self._values.update()


class Room(NamedTuple):
    """What a stage has room for."""

    lamps: int
    glowing: int
    """Triangles."""


@lru_cache(maxsize=1)
def stage_for(room: Room) -> Stage:
    """A stage with room; the usual one is loaded once for all scenes."""
    return Stage(room)


def room_for(sorts: Sorts, lamps: Sequence[Lamp]) -> Room:
    """Of the smallest stage that does: there are few stages."""
    glowing = sum(len(piece.part.mesh.faces) for piece in sorts.glow)
    return Room(
        *(max(-(-n // step), 1) * step
          for n, step in ((len(lamps), _LAMPS), (glowing, _GLOW)))
    )  # fmt: skip


_DARK = Lamp((0.0, 0.0, -50.0), (0.0, 0.0, -51.0), 1e-3, 1e-3, (255.0, 255.0, 255.0), 0.0)


_NUMBERS = ("vertex_positions", "vertex_normals", "vertex_texcoords", "faces")


def _padded(numbers: Array) -> Array:
    """The same numbers with room behind them: Embree reads a little beyond the last, and Dr.Jit
    copies nothing."""
    room = np.zeros(numbers.size + 16, numbers.dtype)
    room[: numbers.size] = numbers.ravel()
    return room[: numbers.size]


def _tensor(values: Array) -> Any:
    return mitsuba().TensorXf(np.ascontiguousarray(values, np.float32))


def _number(value: float) -> Any:
    return opaque(mitsuba().Float(float(value)))


def opaque(value: Any) -> Any:
    """A value that is no part of the kernel."""
    import drjit as dr

    if not mitsuba().variant().startswith("scalar"):
        dr.make_opaque(value)
    return value


def _empty_mesh(name: str, glowing: int) -> Any:
    mi = mitsuba()
    props = mi.Properties()
    if name == "glow":
        shine = {"type": "area", "radiance": _raw(3, "bilinear"), "sampling_weight": _HARDLY}
        props["shine"] = mi.load_dict(shine)
    elif name == "glass":
        props["surface"] = mi.load_dict({"type": "thindielectric", "int_ior": 1.45})
    else:
        props["surface"] = _surface()
    shape = filled(None, _BELOW, glowing if name == "glow" else 1)
    out = mi.Mesh(
        name,
        len(shape.at),
        len(shape.faces),
        has_vertex_normals=True,
        has_vertex_texcoords=True,
        props=props,
    )
    values = mi.traverse(out)
    for what, numbers in zip(
        _NUMBERS, (shape.at, shape.normals, shape.uv, shape.faces), strict=True
    ):
        values[what] = _padded(numbers)
    values.update()
    return out


def _surface() -> Any:
    mi = mitsuba()
    grey = mi.Bitmap(np.full((4, 4, 3), 128, np.uint8))
    of = {
        "type": "principled",
        "base_color": {"type": "bitmap", "bitmap": grey, "wrap_mode": "repeat"},
        "roughness": _raw(1, "nearest"),
        "metallic": _raw(1, "nearest"),
        "clearcoat": _raw(1, "nearest"),
    }
    return mi.load_dict({"type": "twosided", "surface": of})


def _raw(channels: int, filter_type: str) -> dict[str, Any]:
    """A picture of numbers."""
    bitmap = mitsuba().Bitmap(np.full((4, 4, channels), 0.5, np.float32))
    return {
        "type": "bitmap", "bitmap": bitmap, "raw": True, "filter_type": filter_type,
        "wrap_mode": "clamp",
    }  # fmt: skip


def _empty_lamp() -> dict[str, Any]:
    mi = mitsuba()
    return {
        "type": "rectangle",
        "to_world": mi.ScalarTransform4f(_stand(_DARK)),
        "shine": {
            "type": "area",
            "radiance": {"type": "rgb", "value": [0.0, 0.0, 0.0]},
            "sampling_weight": _HARDLY,
        },
    }


def _stand(lamp: Lamp) -> Array:
    """Where a lamp's rectangle is: its z shines."""
    at, to = np.asarray(lamp.at, float), np.asarray(lamp.towards, float)
    z = (to - at) / np.linalg.norm(to - at)
    x = np.cross((0, 0, 1) if abs(z[2]) < 0.95 else (0, 1, 0), z)
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3, 0], pose[:3, 1] = x * lamp.width / 2, np.cross(z, x) * lamp.height / 2
    pose[:3, 2], pose[:3, 3] = z, at
    return pose


def _sky(name: str) -> dict[str, Any]:
    return {"type": "envmap", "filename": str(SKIES / f"{name}.exr")}


@lru_cache(maxsize=32)
def _sky_data(name: str) -> Any:
    """A sky as Mitsuba keeps it: with its last column before the first, and the first behind.

    Read as a picture: a sky that is loaded as one, and forgotten, would change the kernel.
    """
    mi = mitsuba()
    bitmap = mi.Bitmap(str(SKIES / f"{name}.exr"))
    rgb = np.array(bitmap.convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float32, False))
    return _tensor(np.concatenate([rgb[:, -1:], rgb, rgb[:, :1]], 1))


def _turned(degrees: float) -> Any:
    mi = mitsuba()
    upright = mi.ScalarTransform4f().rotate([0, 0, 1], degrees).rotate([1, 0, 0], 90)
    return opaque(mi.AffineTransform4f(np.array(upright.matrix)))


def _indices(shapes: Sequence[Any]) -> list[int]:
    """The index that the guides give a shape: its place in Dr.Jit's registry."""
    mi = mitsuba()
    if mi.variant().startswith("scalar"):
        return list(range(1, len(shapes) + 1))
    import drjit as dr

    found: list[Any] = [dr.reinterpret_array(mi.UInt32, mi.ShapePtr(s)) for s in shapes]
    return [int(index[0]) for index in found]
