"""The tracer: exact masks, sheets the right way up, equal bytes, and no kernel compiled twice."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mmrag.errors import Unavailable, UsageError
from simulator.studio.solid.meshes import ball, box, posed, sheet
from simulator.studio.solid.scene_types import (
    Lamp,
    Light,
    Material,
    Part,
    Placed,
    Thing,
    View,
    moved,
    turned,
)
from simulator.studio.tracing import merged_meshes, mitsuba_variant, tracer
from simulator.studio.tracing.mitsuba_variant import mitsuba
from simulator.studio.tracing.tracer import glance, trace

VIEW = View((0.0, -2.0, 0.5), (0.0, 0.0, 0.5), angle=60.0, aperture=1e-5)
LIGHT = Light("studio", lamps=(Lamp((0, -2, 3), (0, 0, 0), 1, 1, (255, 255, 255), 5),))


def block(
    x: float, colour: tuple[float, float, float], name: str, *, rough: float = 0.5, glow: float = 0
) -> Placed:
    material = Material(colour, rough=rough, glow=glow)
    return Placed(Thing((Part(box(0.4, 0.4, 1.0), material),)), moved(x), name)


def striped() -> Placed:
    """A card that is red above and blue below."""
    card = np.zeros((40, 40, 3), np.uint8)
    card[:20, :, 0], card[20:, :, 2] = 220, 220
    return Placed(Thing((Part(sheet(1.0, 1.0), Material(sheet=card)),)), np.eye(4), "card")


@pytest.mark.proof("render")
def test_every_pixel_knows_its_thing_and_how_far_it_is() -> None:
    placed = (block(-0.5, (200, 40, 40), "left"), block(0.5, (40, 40, 200), "right"))
    seen = glance(placed, LIGHT, VIEW, 120, 120)
    # focal length 60 / tan 30° = 103.9 px; the fronts are 1.8 m away: 0.4 m are 23.1 px wide, 1 m
    # is 57.7 px high, and their middles lie 28.9 px beside the picture's middle
    for number, middle in ((0, 60 - 28.9), (1, 60 + 28.9)):
        rows, columns = np.nonzero(seen.owner == number)
        front = seen.depth[60, round(middle)]
        assert front == pytest.approx(np.hypot(1.8, 0.5), abs=0.02)
        inner, outer = sorted((abs(columns.min() - 60), abs(columns.max() - 60)))
        assert outer == pytest.approx(28.9 + 11.5, abs=1.5)
        assert inner == pytest.approx(60 * 0 + 103.9 * 0.3 / 2.2, abs=1.5)  # the back edge inside
        assert np.ptp(rows) == pytest.approx(57.7, abs=1.5)
    assert (seen.owner[:3] == -1).all()
    assert (seen.depth[seen.owner == -1] == 0).all()


@pytest.mark.proof("render")
@pytest.mark.parametrize("times", [1, 3])
def test_sheets_stand_upright_and_are_not_mirrored(times: int) -> None:
    """As they are, and cut where they begin anew when they repeat."""
    card = striped()
    part = card.thing.parts[0]
    picture = part.material.sheet
    assert picture is not None
    picture[:, :20, 1] = 120  # the left half is greenish
    if times > 1:
        mesh = part.mesh._replace(uv=part.mesh.uv * np.float32(1.0) + np.float32(times - 1))
        card = card._replace(thing=Thing((part._replace(mesh=mesh),)))
    light = trace((card,), Light("studio"), VIEW, 64, 64).light
    top, bottom, left, right = light[20, 38], light[44, 38], light[20, 26], light[20, 38]
    assert top[0] > 3 * top[2]
    assert bottom[2] > 3 * bottom[0]
    assert left[1] > 2 * right[1]


def ground(tiles: float, side: float) -> merged_meshes.Piece:
    """A level square whose sheet is repeated `tiles` times along each side."""
    mesh = posed(sheet(side, side), turned((1, 0, 0), -90))
    mesh = mesh._replace(uv=mesh.uv * np.float32(tiles) - np.float32(0.3))
    card = Material(sheet=np.zeros((8, 8, 3), np.uint8))
    return merged_meshes.Piece(Part(mesh, card), np.eye(4), 0)


def test_a_sheet_that_repeats_is_cut_where_it_begins_anew() -> None:
    piece = ground(2.5, 5.0)
    shape = merged_meshes.merged([piece])
    assert shape is not None
    corners = shape.at[shape.faces].astype(float)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.abs(across[:, 2]).sum() / 2 == pytest.approx(25.0, rel=1e-5)
    assert len({np.sign(z) for z in across[:, 2] if abs(z) > 1e-9}) == 1, "none is turned over"
    before = piece.part.mesh
    metres = np.ptp(before.vertices[:, 0])
    uv = (shape.at[:, :2] - before.vertices[0, :2]) / metres * 2.5 + before.uv[0]
    laid = np.stack([shape.uv[:, 0], 1 - shape.uv[:, 1]], 1)
    apart = np.abs(uv - laid)
    assert np.abs(apart - np.rint(apart)).max() < 1e-4


def test_vast_grounds_are_fine_only_near_the_eye() -> None:
    pieces, atlas = merged_meshes.in_one_picture([ground(400.0, 400.0)])
    assert len(atlas.places) == 2
    shape = merged_meshes.merged(pieces)
    assert shape is not None
    assert len(shape.faces) < 100_000, "160,000 tiles"


@pytest.mark.proof("render")
def test_a_cleaner_that_does_not_run_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("pyoidn.denoise")  # the package has a function of that name

    def full(*_: object, **__: object) -> None:
        raise RuntimeError("out of\nmemory")

    placed = (block(0, (90, 90, 90), "a"),)
    monkeypatch.setattr(module, "denoise", full)
    with pytest.raises(Unavailable, match=r"\(out of memory\).*fewer workers"):
        trace(placed, LIGHT, VIEW, 32, 32)
    monkeypatch.setattr(tracer, "_clipped", lambda _: [0] * (1 << 60))  # a real MemoryError
    with pytest.raises(Unavailable, match="32 × 32: leave 3 GB to each worker"):
        trace(placed, LIGHT, VIEW, 32, 32)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pyoidn.denoise", None)
    with pytest.raises(Unavailable, match=r"pip install .mmrag\[studio\]"):
        trace(placed, LIGHT, VIEW, 32, 32)


@pytest.mark.proof("render")
def test_colours_on_the_common_picture_do_not_mix() -> None:
    colours = [(200.0, 30.0, 30.0), (30.0, 200.0, 30.0), (30.0, 30.0, 200.0)]
    placed = tuple(block(0.6 * i - 0.6, c, str(i), rough=0.9) for i, c in enumerate(colours))
    light = trace(placed, LIGHT, VIEW, 96, 96, paths=8)
    for i in range(3):
        mean = light.light[light.owner == i].mean(0)
        assert mean.argmax() == i
        assert mean[i] > 3 * np.delete(mean, i).max()


@pytest.mark.proof("render")
def test_what_glows_lights_what_is_beside_it_and_has_its_colour() -> None:
    lamp = block(0.5, (255, 40, 40), "lamp", glow=6.0)
    wall = block(-0.5, (200, 200, 200), "wall")
    wall = wall._replace(pose=moved(-0.4, 0.9))  # so that the lamp's side shines on its front
    dark = Light("studio", strength=0.02)
    alone = trace((wall,), dark, VIEW, 48, 48, paths=16).light
    lit = trace((wall, lamp), dark, VIEW, 48, 48, paths=16)
    assert lit.light[lit.owner == 0].mean() > 2 * alone[lit.owner == 0].mean()
    red = lit.light[lit.owner == 1].mean(0)
    assert red[0] > 5 * red[2]


def crowd(count: int, shade: float, light: Light) -> tuple[Sequence[Placed], Light]:
    """Some blocks of as many colours, some cards, some glass, and now and then a lamp."""
    blocks = [block(0.1 * i, (9.0 * i, shade, 90), str(i)) for i in range(count)]
    glass = Placed(Thing((Part(ball(0.2), Material(glass=True)),)), moved(), "glass")
    return (*blocks, *[striped() for _ in range(count // 2)], *[glass] * (count % 2)), light


@pytest.mark.proof("render")
def test_more_things_and_materials_compile_no_other_kernel() -> None:
    """Seconds of every picture, when each scene was loaded anew."""
    if not mitsuba().variant().startswith("llvm"):
        pytest.skip("only compiled variants have kernels")
    import drjit as dr

    def shown(counts: Sequence[int], shade: float) -> None:
        for count in counts:
            for lamps in (LIGHT.lamps, LIGHT.lamps * 3):
                light = LIGHT._replace(lamps=lamps, sky="park", turn=shade, strength=shade / 90)
                eye = VIEW._replace(eye=(shade / 900, -2.0, 0.5), aperture=shade * 1e-5)
                trace(*crowd(count, shade, light), eye, 32, 32)

    shown((1, 2), 90)
    with dr.scoped_set_flag(dr.JitFlag.KernelHistory, True):
        dr.kernel_history_clear()
        shown((3, 8, 17), 40)
        compiled = [k for k in dr.kernel_history() if not k.get("cache_hit", True)]
    large = [k["hash"] for k in compiled if k["operation_count"] > 2000]
    assert not large


_HASHED = """
import hashlib, sys
from simulator.studio.tracing.mitsuba_variant import mitsuba
mitsuba()
import drjit
drjit.set_thread_count(int(sys.argv[1]))
sys.path.insert(0, "tests/studio/tracing")
from test_stage import LIGHT, VIEW, block, striped, trace
seen = trace((block(-0.5, (200, 90, 40), "a"), striped()), LIGHT, VIEW, 96, 128)
print(hashlib.sha256(seen.light.tobytes() + seen.owner.tobytes()).hexdigest())
"""


@pytest.mark.proof("render")
def test_equal_bytes_whatever_came_before_and_with_any_number_of_threads() -> None:
    import hashlib

    trace((block(0, (90, 90, 90), "another"),), LIGHT, VIEW, 64, 64)
    seen = trace((block(-0.5, (200, 90, 40), "a"), striped()), LIGHT, VIEW, 96, 128)
    here = hashlib.sha256(seen.light.tobytes() + seen.owner.tobytes()).hexdigest()
    root = Path(__file__).parents[3]
    ran = subprocess.run(
        [sys.executable, "-c", _HASHED, "3"], capture_output=True, text=True, check=True, cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    assert ran.stdout.strip() == here


def test_sheets_beyond_what_a_scene_may_have_become_smaller() -> None:
    large = [Material(sheet=np.full((1024, 2100, 3), 10 * i, np.uint8)) for i in range(6)]
    atlas = merged_meshes.pack([*large, Material((9, 9, 9))])
    assert atlas.colour.shape[0] * atlas.colour.shape[1] < 10_000_000
    for i, (x, y, w, h) in enumerate(atlas.places[:6]):
        height, width = atlas.colour.shape[:2]
        middle = atlas.colour[int((y + h / 2) * height), int((x + w / 2) * width)]
        assert middle.tolist() == [10 * i] * 3


def test_seams_of_a_smooth_mesh_are_closed() -> None:
    """A turned profile meets itself: both sides of its seam look the same way."""
    shape = merged_meshes.merged([merged_meshes.Piece(Part(ball(0.1), Material()), np.eye(4), 0)])
    assert shape is not None
    outward = shape.at / np.linalg.norm(shape.at, axis=1, keepdims=True)
    assert ((outward * shape.normals).sum(1) > 0.99).all()


def test_a_wrong_llvm_is_named_with_its_cure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = tmp_path / "libLLVM.so"
    wrong.write_bytes(b"no library")
    monkeypatch.setenv("DRJIT_LIBLLVM_PATH", str(wrong))
    with pytest.raises(UsageError, match="unset it"):
        mitsuba_variant.find_llvm()


@pytest.mark.proof("render")
@pytest.mark.parametrize(
    ("flags", "refused"),
    [("flags\t\t: fpu sse4_2 avx\n", True), ("flags\t\t: fpu avx avx2 fma\n", False), ("", False)],
)
def test_a_processor_without_avx2_is_refused_with_the_cure(
    flags: str, refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the process ends by an illegal instruction, with no word."""
    told = tmp_path / "cpuinfo"
    told.write_text("processor\t: 0\n" + flags)
    monkeypatch.setattr(mitsuba_variant, "_PROCESSOR", told)
    if refused:
        with pytest.raises(Unavailable, match=r"lacks AVX2.*--text-only"):
            mitsuba_variant.mitsuba.__wrapped__()
    else:
        mitsuba_variant.mitsuba.__wrapped__()


@pytest.mark.proof("render")
def test_without_llvm_it_says_why_it_is_slow_and_still_draws(tmp_path: Path) -> None:
    code = (
        "import warnings; warnings.simplefilter('always')\n"
        "import sysconfig; sysconfig.get_path = lambda *a, **k: '/nowhere'\n"
        "import sys; sys.path.insert(0, 'tests/studio/tracing')\n"
        "from test_stage import LIGHT, VIEW, block, striped, trace\n"
        "seen = trace((block(-0.5, (200, 90, 40), 'a'), striped()), LIGHT, VIEW, 24, 32)\n"
        "seen = trace((block(0.5, (200, 90, 40), 'a'), striped()), LIGHT, VIEW, 24, 32)\n"
        "print(seen.light.mean() > 0, sorted(set(seen.owner.ravel().tolist())))"
    )
    env = {k: v for k, v in os.environ.items() if not k.startswith("DRJIT")}
    root = Path(__file__).parents[3]
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=root,
        env={**env, "PYTHONPATH": str(root), "XDG_CACHE_HOME": str(tmp_path)},
    )  # fmt: skip
    assert ran.stdout.strip().endswith("True [-1, 0, 1]"), ran.stderr[-800:]
    assert "karellen-llvm-core" in ran.stderr


# -- tracer sheets


@pytest.mark.proof("render")
def test_the_upper_half_of_a_sheet_is_shown_above_the_lower() -> None:
    print_ = np.zeros((16, 16, 3), np.uint8)
    print_[:8, :, 0], print_[8:, :, 2] = 220, 220
    wall = Thing((Part(sheet(1, 1), Material(sheet=print_, rough=0.9)),))
    seen = trace(
        [Placed(wall, moved(), "wall")], Light("studio"), View((0, -1.5, 0.5), (0, 0, 0.5)), 32, 32
    )
    red, blue = seen.light[12, 16], seen.light[20, 16]
    assert red[0] > 2 * red[2]
    assert blue[2] > 2 * blue[0]
