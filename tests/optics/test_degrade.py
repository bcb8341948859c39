"""The pipeline as its users see it: identity, determinism, calibration, records, any input."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from functools import cache

import cv2
import msgspec
import numpy as np
import PIL
import pytest
from formula_pictures import sample
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from mmrag.errors import DataError, ImageError, SpecError
from mmrag.files.images import LazyImage
from simulator.optics import DegradationRecord, degrade
from simulator.optics.calibrate import LADDER
from simulator.optics.degradation_spec import VARIANTS
from simulator.optics.light.camera_processing import MIREDS
from simulator.optics.light.srgb import srgb_to_light

ROWS = [f"{k}:{v}" if v else k for k, many in VARIANTS.items() for v in many or ("",)]
ALL = [f"{row}@{level}" for row in ROWS for level in (1, 3, 5)]
CHAIN = "low-light@2+blurred:motion@2+truncated@1+occluded:finger@2+rotated@1+jpeg@60"


@pytest.mark.parametrize("spec", ["clean", "low-light@0", "+".join(f"{r}@0" for r in ROWS)])
def test_severity_zero_is_the_identity(scene, spec: str) -> None:
    image, box = scene
    done = degrade(image, spec, box, key="k")
    assert done.image.tobytes() == image.tobytes()
    assert done.image is not image
    assert done.record.input_sha256 == done.record.output_sha256
    assert done.record.ssim_crop == 1.0


@pytest.mark.parametrize("spec", ALL)
def test_every_kind_and_level_is_pure_and_recorded(scene, spec: str) -> None:
    image, box = scene
    before = image.copy()
    done = degrade(image, spec, box, key="k")
    assert (image == before).all()
    assert done.image.shape == image.shape
    assert done.image.dtype == np.uint8
    assert (done.image != image).any()
    again = degrade(image, spec, box, key="k")
    assert (again.image == done.image).all()
    assert again.record == done.record
    record = done.record
    text = msgspec.json.encode(record)
    assert msgspec.json.decode(text, type=DegradationRecord) == record
    assert len(text) < 4096
    assert b"NaN" not in text
    assert record.spec == spec
    assert len(record.steps) == 1
    assert 0 <= record.visible <= 1
    assert 0 <= record.covered <= 1
    assert record.output_sha256 != record.input_sha256


@pytest.mark.parametrize("spec", ["low-light@3", "blurred:motion@3", "occluded@2", "rotated@2"])
def test_the_key_decides_and_levels_keep_their_side(scene, spec: str) -> None:
    image, box = scene
    pictures = {degrade(image, spec, box, key=f"k{i}").image.tobytes() for i in range(6)}
    assert len(pictures) > 1
    kind = spec.partition("@")[0]
    variants = {degrade(image, f"{kind}@{level}", box, key="k").record.steps[0].variant
                for level in (1, 3, 5)}  # fmt: skip
    assert len(variants) == 1


def test_without_a_key_the_picture_is_the_key(scene) -> None:
    image, box = scene
    first = degrade(image, "low-light@3", box)
    assert (first.image == degrade(image.copy(), "low-light@3", box).image).all()
    assert first.record.key == first.record.input_sha256


@pytest.mark.parametrize("level", range(1, 6))
@pytest.mark.parametrize("row", ["low-light", "blurred:motion", "blurred:defocus", "blurred:roll"])
def test_a_level_means_the_same_for_every_picture(row: str, level: int) -> None:
    reachable = 0
    for i in (2, 3, 6):
        image, box = sample(i, ((320, 240), (480, 640), (640, 480))[i % 3])
        record = degrade(image, f"{row}@{level}", box, key=i).record
        assert record.steps[0].target == LADDER[level]
        assert record.ssim_crop == pytest.approx(record.steps[0].reached)
        if record.clamped:
            assert "out of reach" in record.steps[0].reason
        else:
            assert abs(record.ssim_crop - LADDER[level]) <= 0.03
            reachable += 1
    assert reachable >= 1


@pytest.mark.parametrize(
    "row", ["resampled:soft", "codec:jpeg", "codec:webp", "codec:avif", "denoised", "flare"]
)
def test_lens_and_processor_keep_to_the_ladder_or_say_so(row: str) -> None:
    reached = []
    for level in range(1, 6):
        image, box = sample(level, (240, 320))
        record = degrade(image, f"{row}@{level}", box, key="k").record
        assert record.ssim_crop == pytest.approx(record.steps[0].reached)
        if not record.clamped:
            assert abs(record.ssim_crop - LADDER[level]) <= 0.03
            reached.append(level)
    assert len(reached) >= 3


def test_a_wrong_white_balance_changes_colour_and_keeps_light() -> None:
    gray = np.full((40, 60, 3), 128, np.uint8)
    for variant, sign in (("warm", 1), ("cold", -1)):
        tints = []
        for level in range(1, 6):
            done = degrade(gray, f"wb:{variant}@{level}", key="k")
            red, _, blue = (int(v) for v in done.image[0, 0])
            tints.append(sign * (red - blue))
            assert done.record.steps[0].parameters["mireds"] == sign * MIREDS[level]
            light = srgb_to_light(done.image[0, 0] / 255.0) @ np.array([0.2126, 0.7152, 0.0722])
            assert light == pytest.approx(float(srgb_to_light(np.array(128 / 255.0))), rel=0.02)
        assert tints == sorted(tints)
        assert tints[0] > 5


def test_resampling_is_what_albumentations_does(scene) -> None:
    import albumentations as A  # noqa: N812

    image, box = scene
    done = degrade(image, "resampled:aliased@3", box, key="k")
    scale = 1 / done.record.steps[0].parameters["factor"]
    theirs = A.Downscale((scale, scale), {"downscale": 0, "upscale": 0}, p=1)(image=image)["image"]
    assert (done.image == theirs).all()


def test_a_codec_packs_with_the_quality_that_it_says(scene) -> None:
    image, box = scene
    done = degrade(image, "codec:jpeg@1", box, key="k")
    parameters = done.record.steps[0].parameters
    assert parameters["factor"] == 1.0
    _, data = cv2.imencode(".jpg", image, (cv2.IMWRITE_JPEG_QUALITY, parameters["quality"]))
    assert (cv2.imdecode(data, cv2.IMREAD_UNCHANGED) == done.image).all()


def test_smoothing_takes_texture_and_leaves_edges() -> None:
    rng = np.random.default_rng(2)
    step = np.where(np.arange(200) < 100, 60, 190)
    image = np.clip(step[None, :, None] + rng.normal(0, 8, (100, 200, 1)), 0, 255)
    done = degrade(np.repeat(image, 3, 2).astype(np.uint8), "denoised@2", key="k", calibrated=False)
    gray = done.image[:, :, 1].astype(float)
    assert gray[:, 20:80].std() < 0.6 * 8
    assert abs(np.diff(gray.mean(axis=0))[98:101]).max() > 70


def test_stray_light_adds_and_never_takes() -> None:
    image, box = sample(2, (240, 320))
    done = degrade(image, "flare@3", box, key="k", calibrated=False)
    assert (done.image.astype(int) >= image.astype(int) - 1).all()
    assert done.image.mean() > image.mean() + 3


@pytest.mark.parametrize(("index", "size", "level"), [(11, (480, 640), 3), (50, (640, 480), 5)])
def test_a_motion_turns_a_little_to_meet_its_level(index, size, level) -> None:
    """No whole vector of the drawn direction meets these: the neighbours' steps are too wide."""
    image, box = sample(index, size)
    record = degrade(image, f"blurred:motion@{level}", box, key=index).record
    assert abs(record.ssim_crop - LADDER[level]) <= 0.03
    assert not record.clamped


def test_out_of_reach_is_flagged() -> None:
    flat = np.full((120, 160, 3), 128, np.uint8)  # nothing in it that a blur could take
    done = degrade(flat, "blurred:defocus@5", key="k")
    assert done.record.clamped
    assert "out of reach" in done.record.steps[0].reason


def test_order_of_writing_means_nothing_and_order_of_light_is_recorded(scene) -> None:
    image, box = scene
    parts = CHAIN.split("+")
    done = degrade(image, CHAIN, box, key="k")
    other = degrade(image, "+".join(parts[::-1]), box, key="k")
    assert (done.image == other.image).all()
    assert [s.kind for s in done.record.steps] == [
        "rotated", "truncated", "blurred", "occluded", "low-light", "jpeg",
    ]  # fmt: skip
    fenced = degrade(image, "blurred:motion@2+occluded:fence@2", box, key="k").record
    assert [s.kind for s in fenced.steps] == ["occluded", "blurred"]


def test_polygon_follows_the_warp_and_the_box_is_derived_last(scene) -> None:
    image, _ = scene
    polygon = ((150.0, 60.0), (230.0, 90.0), (210.0, 160.0), (140.0, 140.0))
    record = degrade(image, "rotated@2+truncated@2", polygon=polygon, key="k").record
    matrix = np.array(record.matrix).reshape(3, 3)
    expected = np.c_[np.array(polygon), np.ones(4)] @ matrix.T
    assert np.allclose(np.array(record.polygon), expected[:, :2])
    left, top, right, bottom = record.box_unclipped
    assert (left, top) == pytest.approx(tuple(np.array(record.polygon).min(axis=0)))
    assert (right, bottom) == pytest.approx(tuple(np.array(record.polygon).max(axis=0)))
    x0, y0, x1, y1 = record.box
    assert max(0, left) <= x0 + 1e-9 <= x1 <= min(320, right) + 1e-9
    assert 0 <= y0 <= y1 <= 240
    # The truncation is of what the rotation had left.
    assert record.visible == pytest.approx(0.70, abs=0.08)


def test_occlusion_never_touches_ground_truth(scene) -> None:
    image, box = scene
    for variant in ("finger", "fence", "screen", "strap"):
        record = degrade(image, f"occluded:{variant}@5", box, key="k").record
        assert record.box == record.box_unclipped == pytest.approx(box)
        assert record.visible == 1.0
        assert record.covered == pytest.approx(0.65, abs=0.02)


def test_uncalibrated_and_unmeasured(scene) -> None:
    image, box = scene
    record = degrade(image, "low-light@3", box, key="k", calibrated=False, measured=False).record
    assert record.steps[0].parameters["ev"] == 3.5
    assert record.steps[0].target is None
    assert record.ssim_crop is None
    assert record.input_sha256 is None


@pytest.mark.parametrize(
    "focus", [(40, 30, 10, 60), (0, 0, math.nan, 5), (0, 0, math.inf, 5), (0, 50, 10, 20)]
)
def test_a_box_that_is_none_is_a_data_error(scene, focus) -> None:
    with pytest.raises(DataError, match=r"inverted|finite"):
        degrade(scene[0], "low-light@1", focus, key="k")


@pytest.mark.parametrize(
    "array", [np.zeros((4, 4, 2), np.uint8), np.zeros((0, 5, 3), np.uint8),
              np.zeros((4, 4, 3), np.float32), np.zeros(9, np.uint8)],
)  # fmt: skip
def test_what_is_no_picture_is_an_image_error(array) -> None:
    with pytest.raises(ImageError):
        degrade(array, "low-light@1")


def test_a_bad_spec_is_an_error_before_anything_is_done(scene) -> None:
    with pytest.raises(SpecError):
        degrade(scene[0], "foggy@3")


def modes() -> list[Image.Image]:
    base = Image.fromarray(sample(4, (64, 48))[0])
    turned = base.copy()
    exif = turned.getexif()
    exif[0x0112] = 6
    turned.info["exif"] = exif.tobytes()
    deep = Image.fromarray(np.asarray(base.convert("L")).astype(np.uint16) * 257)
    found = [base.convert(m) for m in ("L", "1", "P", "RGBA", "CMYK", "LA", "YCbCr", "HSV", "I")]
    return [*found, deep, turned]


@pytest.mark.parametrize("image", modes(), ids=lambda i: i.mode)
def test_any_mode_of_pillow(image: Image.Image) -> None:
    done = degrade(image, "low-light@2+rotated@1", key="k")
    assert done.image.shape[2] == 3
    assert done.image.max() > 0


def test_exif_orientation_is_applied() -> None:
    import io

    base = Image.fromarray(sample(4, (64, 48))[0])
    exif = Image.Exif()
    exif[0x0112] = 6
    buffer = io.BytesIO()
    base.save(buffer, "JPEG", exif=exif)
    done = degrade(LazyImage.from_bytes(buffer.getvalue()), "low-light@1", key="k")
    assert done.image.shape == (64, 48, 3)


@pytest.mark.parametrize("shape", [(48, 64), (48, 64, 1), (48, 64, 4)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_any_array(shape, dtype) -> None:
    rng = np.random.default_rng(0)
    array = rng.integers(0, np.iinfo(dtype).max, shape, dtype=dtype)
    assert degrade(array, "blurred@2", key="k").image.shape == (48, 64, 3)


@cache
def canvas() -> np.ndarray:
    return sample(1, (200, 200))[0]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(16, 200),
    st.integers(16, 200),
    st.sampled_from(ROWS),
    st.integers(0, 5),
    st.tuples(*[st.floats(-500, 500)] * 4),
    st.integers(0, 2),
)
def test_any_size_and_any_box(w, h, row, level, corners, fill) -> None:
    x0, x1 = sorted(corners[::2])
    y0, y1 = sorted(corners[1::2])
    image = (
        np.full((h, w, 3), (0, 128, 255)[fill], np.uint8)
        if level == 4
        else np.ascontiguousarray(canvas()[:h, 200 - w :])
    )
    done = degrade(image, f"{row}@{level}", (x0, y0, x1, y1), key="k")
    assert done.image.shape == image.shape
    record = done.record
    json.dumps(msgspec.to_builtins(record), allow_nan=False)
    assert 0 <= record.visible <= 1 + 1e-9
    assert -1e-9 <= record.covered <= 1
    if record.box is not None:
        assert 0 <= record.box[0] <= record.box[2] <= w + 1e-6
        assert 0 <= record.box[1] <= record.box[3] <= h + 1e-6
    for step in record.steps:
        if step.target is not None and not step.clamped:
            assert abs((step.reached or 0) - step.target) <= 0.03


@pytest.mark.proof("time")
@pytest.mark.parametrize("size", [(6000, 6000), (16, 6000), (6000, 16)])
def test_the_largest_pictures(size) -> None:
    w, h = size
    tile = sample(1, (500, 500))[0]
    image = np.tile(tile, (-(-h // 500), -(-w // 500), 1))[:h, :w]
    done = degrade(
        image, "low-light@2+blurred:motion@2+occluded:finger@2+rotated@1", (2, 2, 14, 14), key="k",
        calibrated=False, measured=False,
    )  # fmt: skip
    assert done.image.shape == image.shape


def test_threads_do_not_change_bytes(scene) -> None:
    image, box = sample(6, (900, 700))
    before = cv2.getNumThreads()
    try:
        found = set()
        for threads in (1, 2, 4):
            cv2.setNumThreads(threads)
            found.add(degrade(image, CHAIN, box, key="k").record.output_sha256)
    finally:
        cv2.setNumThreads(before)
    assert len(found) == 1


def test_a_restart_does_not_change_bytes(scene) -> None:
    image, box = scene
    code = (
        "from simulator.optics import degrade\nfrom formula_pictures import sample\n"
        f"i, b = sample(3, (320, 240))\n"
        f"print(degrade(i, {CHAIN!r}, b, key='k').record.output_sha256)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ).stdout.strip()
    assert shown == degrade(image, CHAIN, box, key="k").record.output_sha256


def ramp() -> np.ndarray:
    """A picture no library draws: golden hashes must depend on the optics alone."""
    y, x = np.mgrid[0:96, 0:128]
    tiles = 120 * (((x // 9) + (y // 7)) % 2)
    return np.dstack([tiles + x, tiles + y, tiles + (x + y) // 2]).astype(np.uint8)


GOLDEN_OPENCV = "5.0"


def avif_is_known(spec: str) -> bool:
    """AVIF is Pillow's; all else is OpenCV's and our own."""
    return "avif" not in spec or PIL.__version__.startswith("12.")


def test_golden_hashes(request: pytest.FixtureRequest) -> None:
    """The same bytes as on the day they were written; near ones with another OpenCV."""
    from pathlib import Path

    folder = Path(__file__).parent / "golden"
    wanted = json.loads((folder / "hashes.json").read_text())
    assert set(wanted) <= {f"{row}@3" for row in ROWS}
    for spec in (f"{row}@3" for row in ROWS):
        image = degrade(ramp(), spec, (30, 20, 100, 80), key="golden").image
        small = cv2.resize(image, (8, 6), interpolation=cv2.INTER_AREA).astype(int)
        found = hashlib.sha256(image.tobytes()).hexdigest()
        assert spec in wanted, f"add {json.dumps({spec: [found, small.tolist()]})}"
        digest, thumb = wanted[spec]
        assert np.abs(small - np.array(thumb)).mean() < 3.0, spec
        if cv2.__version__.startswith(GOLDEN_OPENCV) and avif_is_known(spec):
            assert found == digest, spec
