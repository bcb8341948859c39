"""Light traced through a scene by Mitsuba, cleaned by Open Image Denoise.

Two paths a pixel and a denoiser that is told albedo and direction of every surface: the same pass
says which thing each pixel shows, and how far it is.
"""

from __future__ import annotations

import ctypes
import math
import os
import sysconfig
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.world.solid.forms import Array, Colour, Lamp, Light, Material, Mesh, Placed, View

SKIES = Path(__file__).parents[3] / "assets" / "light"
"""Environment maps of Poly Haven (CC0)."""


class Traced(NamedTuple):
    """A picture before it is developed, and what its pixels show."""

    light: NDArray[np.float32]
    """Height × width × 3, linear, without bounds."""
    owner: NDArray[np.int16]
    """Which of the placed things a pixel shows; -1 is none."""
    depth: NDArray[np.float32]
    """Metres from the eye; 0 where nothing is."""


def trace(
    placed: Sequence[Placed],
    light: Light,
    view: View,
    width: int,
    height: int,
    *,
    paths: int = 2,
    seed: int = 0,
) -> Traced:
    """What an eye sees of a scene. Equal scenes give equal bytes on one machine."""
    mi = mitsuba()
    scene, owners = _scene(placed, light, view, width, height)
    raw = np.array(mi.render(scene, spp=paths, seed=seed))[..., :3]
    guides = mi.load_dict(
        {"type": "aov", "aovs": "al:albedo,nn:sh_normal,pp:position,id:shape_index"}
    )
    seen = np.nan_to_num(np.array(mi.render(scene, integrator=guides, spp=4, seed=seed + 1)))
    one = np.nan_to_num(np.array(mi.render(scene, integrator=guides, spp=1, seed=seed + 2)))
    albedo = np.clip(seen[..., -10:-7], 0, 1)
    clean = _denoised(np.nan_to_num(raw), albedo, seen[..., -7:-4])
    owner = owners[np.rint(one[..., -1]).astype(int).clip(0, len(owners) - 1)]
    depth = np.linalg.norm(one[..., -4:-1] - np.asarray(view.eye), axis=-1)
    hit = np.any(one[..., -7:-4] != 0, axis=-1)
    return Traced(clean, np.where(hit, owner, -1).astype(np.int16), np.where(hit, depth, 0))


@lru_cache(maxsize=1)
def mitsuba() -> Any:
    """Mitsuba with the fastest variant that this machine can run."""
    _find_llvm()
    import mitsuba as mi

    mi.set_variant("llvm_ad_rgb" if "DRJIT_LIBLLVM_PATH" in os.environ else "scalar_rgb")
    return mi


def develop(light: NDArray[np.float32], *, exposure: float = 0.0) -> NDArray[np.uint8]:
    """Linear light as a phone's picture: exposure from the log mean, a filmic curve, gamma."""
    light = np.maximum(light, 0)
    luma = light @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    x = light * (0.2 * 2**exposure / np.exp(np.log(luma + 1e-3).mean()))
    curve = np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0, 1)
    return (curve ** (1 / 2.2) * 255 + 0.5).astype(np.uint8)


def _find_llvm() -> None:
    """Point Dr.Jit to the LLVM of the package index, unless the user has chosen one."""
    if "DRJIT_LIBLLVM_PATH" in os.environ:
        return
    lib = Path(sysconfig.get_path("data")) / "lib"
    found = [
        next(lib.rglob(n), None)
        for n in ("libunwind.so.1.0", "libc++abi.so.1.0", "libc++.so.1.0", "libLLVM.so.*")
    ]
    if None in found:
        return
    for path in found[:3]:
        ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    os.environ["DRJIT_LIBLLVM_PATH"] = str(found[3])


def _scene(
    placed: Sequence[Placed], light: Light, view: View, width: int, height: int
) -> tuple[Any, NDArray[np.int16]]:
    """The loaded scene, and which placed thing each shape index belongs to."""
    mi = mitsuba()
    what: dict[str, Any] = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": 5, "rr_depth": 3},
        "sky": _sky(light),
        "camera": _camera(view, width, height),
    }
    for i, lamp in enumerate(light.lamps):
        what[f"lamp_{i}"] = _lamp(lamp)
    owner_of: dict[str, int] = {}
    surfaces: dict[int, Any] = {}
    for i, item in enumerate(placed):
        for j, part in enumerate(item.thing.parts):
            name = f"thing_{i}_{j}"
            key = id(part.material)
            if key not in surfaces:
                surfaces[key] = _surface(part.material)
            what[name] = _shape(name, part.mesh, item.pose, part.material, surfaces[key])
            owner_of[name] = i
    # optimize=False: else shapes of one material are merged, and their masks with them
    scene = mi.load_dict(what, optimize=False)
    shapes = list(scene.shapes())
    owners = np.full(len(shapes) + len(light.lamps) + 8, -1, np.int16)
    for shape, index in zip(shapes, _indices(shapes), strict=True):
        if index >= len(owners):
            owners = np.append(owners, np.full(index + 1 - len(owners), -1, np.int16))
        owners[index] = owner_of.get(shape.id(), -1)
    return scene, owners


def _indices(shapes: Sequence[Any]) -> list[int]:
    """The index that the guides give a shape: its place in Dr.Jit's registry."""
    mi = mitsuba()
    if mi.variant().startswith("scalar"):
        return list(range(len(shapes)))
    import drjit as dr

    return [int(dr.reinterpret_array(mi.UInt32, mi.ShapePtr(s))[0]) for s in shapes]


def _camera(view: View, width: int, height: int) -> dict[str, Any]:
    mi = mitsuba()
    away = np.asarray(view.target, np.float64) - np.asarray(view.eye)
    distance = float(np.linalg.norm(away))
    a = math.radians(view.roll)
    right = np.cross(away / distance, (0, 0, 1))
    right /= max(float(np.linalg.norm(right)), 1e-9)
    up = np.cross(right, away / distance) * math.cos(a) - right * math.sin(a)
    return {
        "type": "thinlens",
        "fov": view.angle,
        "fov_axis": "larger",
        "aperture_radius": max(view.aperture, 1e-5),
        "focus_distance": view.focus or distance,
        "to_world": mi.ScalarTransform4f().look_at(list(view.eye), list(view.target), up.tolist()),
        "film": {
            "type": "hdrfilm",
            "width": width,
            "height": height,
            "rfilter": {"type": "box"},
            "pixel_format": "rgb",
        },
        "sampler": {"type": "independent", "sample_count": 1},
    }


def _sky(light: Light) -> dict[str, Any]:
    mi = mitsuba()
    upright = mi.ScalarTransform4f().rotate([0, 0, 1], light.turn).rotate([1, 0, 0], 90)
    return {
        "type": "envmap",
        "filename": str(SKIES / f"{light.sky}.exr"),
        "scale": light.strength,
        "to_world": upright,
    }


def _lamp(lamp: Lamp) -> dict[str, Any]:
    mi = mitsuba()
    at, to = np.asarray(lamp.at, float), np.asarray(lamp.towards, float)
    up = [0, 0, 1] if abs((to - at)[2]) < 0.95 * np.linalg.norm(to - at) else [0, 1, 0]
    turn = mi.ScalarTransform4f().look_at(list(lamp.at), list(lamp.towards), up)
    return {
        "type": "rectangle",
        "to_world": turn.scale([lamp.width / 2, lamp.height / 2, 1]),
        "shine": {"type": "area", "radiance": _rgb(lamp.colour, lamp.power)},
    }


def _shape(name: str, mesh: Mesh, pose: Array, material: Material, surface: Any) -> Any:
    mi = mitsuba()
    props = mi.Properties()
    props["surface"] = surface
    if material.glow:
        props["shine"] = mi.load_dict(
            {"type": "area", "radiance": _rgb(material.colour, material.glow)}
        )
    at = (mesh.vertices @ pose[:3, :3].T + pose[:3, 3]).astype(np.float32)
    out = mi.Mesh(
        name, len(at), len(mesh.faces), has_vertex_normals=mesh.smooth,
        has_vertex_texcoords=True, props=props,
    )  # fmt: skip
    values = mi.traverse(out)
    values["vertex_positions"] = at.ravel()
    values["faces"] = mesh.faces.astype(np.uint32).ravel()
    values["vertex_texcoords"] = np.ascontiguousarray(mesh.uv, np.float32).ravel()
    if mesh.smooth:
        values["vertex_normals"] = _normals(at, mesh.faces).ravel()
    values.update()
    return out


def _normals(at: NDArray[np.float32], faces: NDArray[np.int32]) -> NDArray[np.float32]:
    """Directions of a smooth surface: the mean of its triangles', seams closed."""
    a, b, c = (at[faces[:, i]].astype(np.float64) for i in range(3))
    flat = np.cross(b - a, c - a)
    _, same = np.unique(np.round(at, 6), axis=0, return_inverse=True)
    same = same.ravel()
    total = np.zeros((int(same.max()) + 1, 3))
    for i in range(3):
        np.add.at(total, same[faces[:, i]], flat)
    normals = total[same]
    return (normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-20)).astype(
        np.float32
    )


def _surface(material: Material) -> Any:
    mi = mitsuba()
    if material.glass:
        return mi.load_dict({"type": "thindielectric", "int_ior": 1.45})
    base: dict[str, Any] = _rgb(material.colour)
    if material.sheet is not None:
        base = {
            "type": "bitmap",
            "bitmap": mi.Bitmap(np.array(material.sheet[::-1], order="C")),
            "wrap_mode": "repeat",
        }
    return mi.load_dict(
        {
            "type": "twosided",
            "surface": {
                "type": "principled",
                "base_color": base,
                "roughness": material.rough,
                "metallic": material.metal,
                "clearcoat": material.coat,
            },
        }
    )


def _rgb(colour: Colour, times: float = 1.0) -> dict[str, Any]:
    linear = [((c / 255 + 0.055) / 1.055) ** 2.4 if c > 10 else c / 255 / 12.92 for c in colour]
    return {"type": "rgb", "value": [float(c) * times for c in linear]}


def _denoised(light: Array, albedo: Array, normal: Array) -> NDArray[np.float32]:
    from pyoidn.denoise import denoise  # type: ignore[import-untyped]

    return np.asarray(
        denoise(
            np.ascontiguousarray(light, np.float32),
            albedo=np.ascontiguousarray(albedo, np.float32),
            normal=np.ascontiguousarray(normal, np.float32),
            hdr=True,
            clean_aux=True,
            quality="fast",
        ),
        np.float32,
    )
