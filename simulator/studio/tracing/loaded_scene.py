"""The one scene of Mitsuba's that is ever loaded: things come onto it and leave it.

A kernel is compiled again, which takes seconds, for another number of shapes, materials or lamps,
and even for the same ones loaded once more. So there are always as many, most of them unseen, and
a handful of kernels does for all scenes (which of them, what was shown before decides): all
that has a colour or a sheet is one mesh with one picture on it, all glass is one, and each piece
that glows is one of a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.scene_types import Array, Lamp, Light
from simulator.studio.tracing.merged_meshes import (
    GRAINS_MOST,
    Atlas,
    MergedMesh,
    Piece,
    SortedPieces,
    in_one_picture,
    linear,
    merged,
    pad_triangles,
)
from simulator.studio.tracing.mitsuba_variant import mitsuba

SKIES = Path(__file__).parents[3] / "assets" / "light"
"""Environment maps of Poly Haven (CC0)."""

OPEN = frozenset(("city", "dawn", "esplanade", "forest", "park", "sunrise", "sunset", "venice"))
"""Of these the horizon is cleared."""
_CLEAR = 62.0
"""Degrees up to which all is."""
_LAMPS = 6
"""A stage has a multiple of so many lamps."""
_GLOWS, _GLOW_FACES = 4, 2048
"""Likewise of pieces that glow, and each of these of triangles."""
_BELOW: Array = np.array((0.0, 0.0, -50.0))
"""Where what is not needed lies."""
_HARDLY = 1e-3
"""In place of 0: a material without any metal or lacquer would be of another sort."""


class LoadedScene:
    """Shapes that are always there, and change what they are."""

    def __init__(self, room: SceneCapacity) -> None:
        self._room = room
        self.is_warm = False
        self._load(_BARE)

    def _load(self, atlas: Atlas) -> None:
        mi = mitsuba()
        what: dict[str, Any] = {"type": "scene", "sky": _sky("studio")}
        what |= {
            "plain": _empty_mesh("plain", _surface(atlas)),
            "glass": _empty_mesh("glass", _GLASS),
        }
        what |= {f"glow_{i}": _empty_glow(self._room.faces) for i in range(self._room.glows)}
        what |= {f"lamp_{i}": _empty_lamp() for i in range(self._room.lamps)}
        # parallel=False: the order of loading is part of the kernel.
        # optimize=False: else shapes of one material become one.
        self.scene = mi.load_dict(what, parallel=False, optimize=False)
        self._put = _Values(mi.traverse(self.scene))
        self._size = atlas.colour.shape
        self._full: set[str] = set()
        self._owners: dict[str, NDArray[np.int32]] = {}
        self._kept: dict[str, dict[str, Array]] = {}
        shapes = list(self.scene.shapes())
        self._names = dict(zip(_indices(shapes), (s.id() for s in shapes), strict=True))
        self.plain = next(index for index, name in self._names.items() if name == "plain")
        self._settle()

    def show(self, sorts: SortedPieces, light: Light) -> None:
        """Clear the stage, put things on it and light it."""
        plain, atlas = in_one_picture(sorts.plain)
        if _is_scalar() and atlas.colour.shape != self._size:
            self._load(atlas)  # there a picture keeps the size that it was loaded with
        self._place("plain", merged(plain))
        self._place("glass", merged(sorts.glass))
        self._cover(atlas)
        for i in range(self._room.glows):
            self._glow(f"glow_{i}", sorts.glow[i : i + 1], 1 / max(len(sorts.glow), 1))
        for i in range(self._room.lamps):
            self._light(f"lamp_{i}", light.lamps[i] if i < len(light.lamps) else None)
        self._put["sky.data"] = _sky_data(light.sky)
        self._put["sky.scale"] = _number(light.strength)
        self._put["sky.to_world"] = _turned(light.turn)
        self._put.update()
        self._put["sky.scale"] = _number(light.strength)  # else the sky keeps the last scene's size
        self._put.update()
        self._settle()

    def owners(
        self, shapes: NDArray[np.int64], triangles: NDArray[np.int64]
    ) -> tuple[NDArray[np.int16], NDArray[np.int8]]:
        """Which placed thing each triangle of each shape is of (-1 is none), and its grain."""
        found = np.full(shapes.shape, -1, np.int32)
        for index, name in self._names.items():
            if name in self._full:
                here = shapes == index
                found[here] = self._owners[name][triangles[here]]
        return (found // GRAINS_MOST).astype(np.int16), (found % GRAINS_MOST).astype(np.int8)

    def _settle(self) -> None:
        """Follow one ray, so that all is in its place: a change before that ends the process."""
        mi = mitsuba()
        ray = mi.Ray3f(mi.Point3f(0, 0, 0), mi.Vector3f(0, 0, 1))
        np.array(self.scene.ray_test(ray))

    def _place(self, name: str, shape: MergedMesh | None, faces: int = 1) -> None:
        if shape is None and name not in self._full and name in self._owners:
            return  # it was empty before
        self._full.add(name) if shape else self._full.discard(name)
        shape = pad_triangles(shape, _BELOW, faces)
        self._owners[name] = shape.owners
        kept = self._kept[name] = _numbers(shape, flat=name.startswith("glow"))
        for what, numbers in kept.items():
            self._put[f"{name}.{what}"] = numbers

    def _glow(self, name: str, pieces: Sequence[Piece], share: float) -> None:
        """A piece that is as bright all over: one with a picture on it would be found by its place
        on the picture, where its sides must not overlap."""
        mi = mitsuba()
        self._place(name, merged(pieces), self._room.faces)
        shine = [0.0, 0.0, 0.0]
        for piece in pieces:
            m = piece.part.material
            shine = (linear(np.array(m.colour)) * m.glow).tolist()
        self._put[f"{name}.emitter.radiance.value"] = opaque(mi.Color3f(*shine))
        self._put[f"{name}.emitter.sampling_weight"] = share if pieces else _HARDLY

    def _cover(self, atlas: Atlas) -> None:
        mi = mitsuba()
        at = "plain.bsdf.brdf_0."
        if isinstance(self._put[f"{at}base_color.data"], mi.TensorXf):  # it keeps no bytes
            self._put[f"{at}base_color.data"] = mi.TensorXf(linear(atlas.colour))
        else:
            self._put[f"{at}base_color.data"] = mi.TensorXu8(atlas.colour)
        for k, gloss in enumerate(_GLOSS):
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


class SceneCapacity(NamedTuple):
    """What a stage has room for."""

    lamps: int
    glows: int
    faces: int
    """Of each piece that glows."""


@lru_cache(maxsize=1)
def scene_for(room: SceneCapacity) -> LoadedScene:
    """A stage with room; the usual one is loaded once for all scenes."""
    return LoadedScene(room)


def capacity_for(sorts: SortedPieces, lamps: Sequence[Lamp]) -> SceneCapacity:
    """Of the smallest stage that does: there are few stages."""
    faces = max((len(piece.part.mesh.faces) for piece in sorts.glow), default=0)
    return SceneCapacity(
        *(max(-(-n // step), 1) * step
          for n, step in ((len(lamps), _LAMPS), (len(sorts.glow), _GLOWS), (faces, _GLOW_FACES)))
    )  # fmt: skip


_DARK = Lamp((0.0, 0.0, -50.0), (0.0, 0.0, -51.0), 1e-3, 1e-3, (255.0, 255.0, 255.0), 0.0)


_GLOSS = ("roughness", "metallic", "clearcoat")
_BARE = Atlas(np.full((4, 4, 3), 128, np.uint8), np.full((4, 4, 3), 0.5, np.float32), [])
_GLASS = {"type": "thindielectric", "int_ior": 1.45}


def _numbers(shape: MergedMesh, *, flat: bool) -> dict[str, Array]:
    """What a mesh is made of; a `flat` one has neither directions of its own nor a picture."""
    found: dict[str, Array] = {"vertex_positions": shape.at, "faces": shape.faces}
    if not flat:
        found |= {"vertex_normals": shape.normals, "vertex_texcoords": shape.uv}
    return {what: _padded(numbers) for what, numbers in found.items()}


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

    if not _is_scalar():
        dr.make_opaque(value)
    return value


def _is_scalar() -> bool:
    return mitsuba().variant().startswith("scalar")


def _empty_mesh(name: str, surface: dict[str, Any]) -> Any:
    return _mesh(name, pad_triangles(None, _BELOW, 1), "surface", surface, flat=False)


def _empty_glow(faces: int) -> Any:
    return _mesh("glow", pad_triangles(None, _BELOW, faces), "shine", _shine(), flat=True)


def _mesh(name: str, shape: MergedMesh, what: str, of: dict[str, Any], *, flat: bool) -> Any:
    mi = mitsuba()
    props = mi.Properties()
    props[what] = mi.load_dict(of)
    out = mi.Mesh(
        name,
        len(shape.at),
        len(shape.faces),
        has_vertex_normals=not flat,
        has_vertex_texcoords=not flat,
        props=props,
    )
    values = mi.traverse(out)
    for key, numbers in _numbers(shape, flat=flat).items():
        values[key] = numbers
    values.update()
    return out


def _surface(atlas: Atlas) -> dict[str, Any]:
    bitmap = mitsuba().Bitmap
    gloss = {"type": "bitmap", "raw": True, "filter_type": "nearest", "wrap_mode": "clamp"}
    of = {
        "type": "principled",
        "base_color": {"type": "bitmap", "bitmap": bitmap(atlas.colour), "wrap_mode": "repeat"},
        **{
            name: {**gloss, "bitmap": bitmap(np.ascontiguousarray(atlas.gloss[..., k : k + 1]))}
            for k, name in enumerate(_GLOSS)
        },
    }
    return {"type": "twosided", "surface": of}


def _empty_lamp() -> dict[str, Any]:
    mi = mitsuba()
    return {"type": "rectangle", "to_world": mi.ScalarTransform4f(_stand(_DARK)), "shine": _shine()}


def _shine() -> dict[str, Any]:
    return {"type": "area", "radiance": {"type": "rgb", "value": [0.0, 0.0, 0.0]},
        "sampling_weight": _HARDLY}  # fmt: skip


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


def sky_light(name: str) -> Array:
    """Red, green and blue of each direction of a sky, a row for each height.

    Its file rings about its sun, down to below nothing: that is taken from the light around it.
    Read as a picture: a sky that is loaded as one, and forgotten, would change the kernel.
    """
    import cv2

    mi = mitsuba()
    bitmap = mi.Bitmap(str(SKIES / f"{name}.exr"))
    sky = np.array(bitmap.convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float32, False))
    reach, rows = 7, np.sin((np.arange(len(sky)) + 0.5) * np.pi / len(sky))[:, None, None]

    def around(of: Array) -> Array:
        whole = np.concatenate([of[:, -reach:], of, of[:, :reach]], 1)
        side = 2 * reach + 1
        return cv2.blur(whole, (side, side), borderType=cv2.BORDER_CONSTANT)[:, reach:-reach]

    light, lack = np.maximum(sky, 0) * rows, np.maximum(-sky, 0) * rows
    kept = light * (1 - around(lack / np.maximum(around(light), 1e-9))) / rows
    return _cleared(kept) if name in OPEN else kept


def _cleared(sky: Array) -> Array:
    """A sky without what stands on its horizon, whose light stays: photographed houses are blurred
    behind the sharp ones that are built, and too large."""
    height, width = sky.shape[:2]
    wave = np.fft.rfftfreq(width, 1 / width)[None, :, None]
    even = np.fft.irfft(np.fft.rfft(sky, axis=1) * np.exp(-((wave / 1.3) ** 2)), width, axis=1)
    rise = 90 - (np.arange(height) + 0.5) * 180 / height
    above = np.flatnonzero(rise > _CLEAR)[-1]  # what is seen there goes on down to the horizon
    haze = 1 + 0.35 * np.clip(1 - rise / _CLEAR, 0, 1)[:, None, None] ** 2
    open_air = np.where(rise[:, None, None] > -5, even[above] * haze, even)
    share = np.clip((_CLEAR + 12 - rise) / 12, 0, 1)[:, None, None]
    clear = np.maximum(sky + (open_air - sky) * share, 0)
    rows = np.sin((np.arange(height) + 0.5) * np.pi / height)[:, None, None]
    return clear * (sky * rows).sum((0, 1)) / (clear * rows).sum((0, 1))


@lru_cache(maxsize=32)
def brightest_direction(name: str) -> tuple[float, float, float]:
    """From where most of a sky's light comes while it is not turned: not of length 1, for a sky
    that shines from everywhere has no direction."""
    sky = sky_light(name).mean(-1)
    rows, columns = sky.shape
    down, around = np.meshgrid(
        (np.arange(rows) + 0.5) * np.pi / rows, (np.arange(columns) + 0.5) * 2 * np.pi / columns,
        indexing="ij",
    )  # fmt: skip
    flat = np.sin(down)
    towards = np.stack([np.sin(around) * flat, np.cos(around) * flat, np.cos(down)], -1)
    light = (sky * flat)[..., None]
    x, y, z = ((towards * light).sum((0, 1)) / light.sum()).tolist()
    return x, y, z


@lru_cache(maxsize=32)
def horizon(name: str) -> Array:
    """Red, green and blue of the air far away under a sky, by its light just above the ground."""
    sky = sky_light(name)
    return sky[int(len(sky) * 0.44) : len(sky) // 2].mean((0, 1))


@lru_cache(maxsize=32)
def _sky_data(name: str) -> Any:
    """A sky as Mitsuba keeps it: with its last column before the first, and the first behind."""
    rgb = sky_light(name)
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
