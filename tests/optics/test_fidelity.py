"""Does each operation do what its formula says?"""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from formula_pictures import sample

from simulator.optics import calibrate, random_streams
from simulator.optics.light import blur, lowlight, srgb
from simulator.optics.shape import geometry, occluder_textures, occlusion, truncation


def test_tone_tables_lose_nothing() -> None:
    codes = np.arange(256, dtype=np.uint8).reshape(1, 256, 1).repeat(3, axis=2)
    assert (srgb.to_codes(srgb.to_light(codes)) == codes).all()


@pytest.mark.parametrize("wide", [True, False])
def test_gather_is_indexing(wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(srgb, "_HAS_WIDE_LUT", wide and srgb._HAS_WIDE_LUT)
    rng = np.random.default_rng(0)
    table = rng.integers(0, 256, 65536, dtype=np.uint8)
    index = rng.integers(0, 65536, (31, 17, 3)).astype(np.uint16)
    assert (srgb.gather(table, index) == table[index]).all()


@pytest.mark.parametrize("ev", [1.5, 3.5, 5.5, 8.0])
def test_low_light_is_poisson_gaussian(ev: float) -> None:
    """Mean and deviation of the shown code within 1 % of a simulated sensor, at every tone."""
    rng = np.random.default_rng(int(ev * 10))
    exposure = lowlight.Exposure(ev=ev)
    count = 300_000
    for code in (2, 12, 40, 90, 150, 210, 255):
        light = float(srgb.srgb_to_light(np.array(code / 255.0)))
        expected = lowlight.FULL_WELL * 2.0**-ev * light
        electrons = rng.poisson(expected, count) + rng.normal(0, lowlight.READ_NOISE, count)
        true = np.rint(srgb.light_to_srgb(exposure.gain * electrons / lowlight.FULL_WELL) * 255)
        flat = np.full((count // 3 // 200, 200, 3), code, np.uint8)
        ours = lowlight.expose(flat, exposure, f"fidelity/{code}", 1).astype(np.float64)
        # The bound is 1 %, plus what sampling error three deviations leave and half a percent
        # of a code where everything is black.
        noise = 3 * true.std() * math.sqrt(2 / count)
        assert abs(ours.mean() - true.mean()) < 0.01 * true.mean() + noise + 0.005
        assert abs(ours.std() - true.std()) < 0.01 * true.std() + noise + 0.01


def test_dark_spot_lowers_the_entity_and_keeps_means() -> None:
    flat = np.full((240, 320, 3), 150, np.uint8)
    spot = lowlight.Exposure(ev=3.0, spot=(160, 120, 40, 30))
    done = lowlight.expose(flat, spot, "k", 1).astype(float)
    even = lowlight.expose(flat, lowlight.Exposure(ev=3.0), "k", 1).astype(float)
    middle, corner = np.s_[115:126, 150:171], np.s_[:30, :30]
    assert abs(done[middle].mean() / even[middle].mean() - 1) < 0.04
    linear = [float(srgb.srgb_to_light(done[part] / 255).mean()) for part in (corner, middle)]
    assert linear[0] / linear[1] == pytest.approx(2**lowlight.SURROUND_EV, rel=0.08)


def test_random_bytes_are_uniform_and_independent_in_pairs() -> None:
    """Two repeated streams are combined; neither period may show."""
    count = 1 << 20
    drawn = lowlight._random_source("k", 3, count)(0, count)
    shares = np.bincount(drawn, minlength=256) / count
    assert np.abs(shares * 256 - 1).max() < 0.12
    assert (lowlight._random_source("k", 3, 70_000)(0, 70_000) == drawn[:70_000]).all()
    signed = drawn.astype(np.float64) - 127.5
    for lag in (1, 3, 640 * 3, 1 << 16, 49_157, (1 << 16) + 49_157, 2 << 16):
        together = (signed[:-lag] * signed[lag:]).mean() / signed.var()
        assert abs(together) < 0.01, lag


def test_row_noise_is_alike_along_rows_only() -> None:
    flat = np.full((200, 300, 3), 120, np.uint8)
    striped = lowlight.expose(flat, lowlight.Exposure(ev=5.0, row_noise=2.0), "k", 5)
    plain = lowlight.expose(flat, lowlight.Exposure(ev=5.0), "k", 5)
    rows = [p.mean(axis=(1, 2)).std() for p in (striped, plain)]
    assert rows[0] > 4 * rows[1]
    assert abs(striped.mean(axis=(0, 2)).std() / plain.mean(axis=(0, 2)).std() - 1) < 0.3


def ideal_motion(image: np.ndarray, motion: blur.Motion) -> np.ndarray:
    """The average of many bilinear shifts along the smear, in linear light and float64."""
    light = srgb.to_light(image).astype(np.float32)
    h, w = image.shape[:2]
    count = max(64, int(motion.length * 6))
    total = np.zeros(light.shape, np.float64)
    for i in range(count):
        t = ((i + 0.5) / count - 0.5) * motion.segments
        shift = np.array([[1, 0, t * motion.dx], [0, 1, t * motion.dy]])
        # warpAffine interpolates at 1/32 pixel; remap on a float grid is exact enough.
        x, y = np.meshgrid(np.arange(w) - shift[0, 2], np.arange(h) - shift[1, 2])
        total += cv2.remap(
            light, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REFLECT_101,
        )  # fmt: skip
    return srgb.light_to_srgb(total / count / srgb.WHITE) * 255


@pytest.mark.parametrize("length", [3.0, 9.0, 24.0, 61.0])
@pytest.mark.parametrize("angle", [0.0, 31.0, 90.0, 148.0])
def test_motion_is_the_ideal_blur(length: float, angle: float) -> None:
    image, _ = sample(5, (320, 240))
    motion = blur.Motion.near(length, angle)
    assert motion.length == pytest.approx(length, rel=0.1)
    assert abs((motion.angle - angle + 90) % 180 - 90) <= 8.01
    ours = srgb.to_codes(blur.motion_blur(srgb.to_light(image), motion)).astype(float)
    error = ours - ideal_motion(image, motion)
    psnr = 10 * math.log10(255**2 / np.mean(error**2))
    assert psnr >= 38, psnr


@pytest.mark.parametrize("radius", [0.8, 3.0, 5.5, 9.0, 14.0, 30.0])
def test_defocus_is_a_disc(radius: float) -> None:
    image, _ = sample(5, (320, 240))
    light = srgb.to_light(image)
    psf = blur.disc_psf(radius)
    ideal = cv2.filter2D(
        light.astype(np.float64), cv2.CV_64F, psf, borderType=cv2.BORDER_REFLECT_101
    )
    ours = srgb.to_codes(blur.defocus(light, radius)).astype(float)
    error = ours - srgb.light_to_srgb(ideal / srgb.WHITE) * 255
    inner = error[40:-40, 40:-40]
    assert 10 * math.log10(255**2 / np.mean(inner**2)) >= 36


def centroid(light: np.ndarray) -> np.ndarray:
    weight = light.astype(np.float64).sum(axis=2)
    y, x = np.mgrid[0 : weight.shape[0], 0 : weight.shape[1]]
    return np.array([(weight * x).sum(), (weight * y).sum()]) / weight.sum()


def test_content_stays_where_it_was() -> None:
    image = np.zeros((301, 401, 3), np.uint8)
    image[140:150, 190:215] = 250
    light = srgb.to_light(image)
    before = centroid(light)
    smears = [blur.Motion.near(length, angle) for length in (2, 7, 23, 50, 90)
              for angle in range(0, 180, 20)]  # fmt: skip
    for motion in smears:
        moved = centroid(blur.motion_blur(light, motion)) - before
        assert np.abs(moved).max() < 0.5, (motion, moved)
    for radius in (0.7, 3, 7, 12, 25):
        moved = centroid(blur.defocus(light, radius)) - before
        assert np.abs(moved).max() < 0.5, (radius, moved)
    for arc in (3, 20, 60):
        far = math.hypot(202 - 260, 145 - 405)
        turn = blur.Roll(degrees=math.degrees(arc / far), x=260, y=405)
        moved = centroid(blur.roll(light, turn)) - before
        # A long arc bulges by L²/24r, which is the geometry and not the cascade.
        assert np.abs(moved).max() < 0.5 + arc**2 / 24 / far, (arc, moved)


def test_kernels_are_whole_multiples_and_sum_to_one() -> None:
    kernels = [blur.disc_kernel(r) for r in (0.6, 2.2, 4.9)]
    kernels += [blur.segment_kernel(blur.Motion.near(n, 40.0)) for n in (1.0, 9.5, 70.0)]
    for kernel in kernels:
        assert kernel.sum() == 1.0
        assert (kernel * blur.KERNEL_SUM == np.rint(kernel * blur.KERNEL_SUM)).all()


@pytest.mark.parametrize("kind", ["finger", "fence", "screen", "strap"])
@pytest.mark.parametrize("level", [1, 3, 5])
def test_cover_is_what_is_drawn(kind: str, level: int) -> None:
    """The solved share agrees with alpha at full resolution over the entity's polygon."""
    size = (480, 360)
    entity = ((120.0, 90.0), (330.0, 110.0), (300.0, 280.0), (140.0, 260.0))
    target = occlusion.COVERED[level]
    done = occlusion.cover(kind, size, entity, target, random_streams.generator("k", kind))
    assert not done.clamped
    assert abs(done.covered - target) <= 0.02
    mask = np.zeros((360, 480), np.uint8)
    cv2.fillPoly(mask, [np.array(entity, np.int32)], 1)
    drawn = occlusion.alpha(done.matte, size)[mask > 0].mean()
    assert abs(drawn - target) <= 0.02


@pytest.mark.parametrize("kind", ["finger", "fence", "screen", "strap"])
def test_composition_follows_its_formula(kind: str) -> None:
    size = (320, 240)
    white = np.full((240, 320, 3), srgb.WHITE, np.uint16)
    black = np.zeros_like(white)
    entity = geometry.corners((100, 70, 220, 170))
    done = occlusion.cover(kind, size, entity, 0.35, random_streams.generator("k", kind))
    over_white = occlusion.compose(white, done.matte).astype(float)
    over_black = occlusion.compose(black, done.matte).astype(float)
    # What separates the two backgrounds is 1 − α, everywhere and in every channel.
    clear = (over_white - over_black) / srgb.WHITE
    assert np.abs(clear.mean(axis=2) - (1 - occlusion.alpha(done.matte, size))).mean() < 0.01
    assert over_black.max() <= srgb.WHITE
    assert clear.min() >= -0.001


def test_textures_are_premultiplied_and_repeat() -> None:
    for look in range(occluder_textures.LOOKS):
        for texture in (occluder_textures.finger(look), occluder_textures.hair(look)):
            assert texture.min() >= 0
            assert texture[..., 3].max() > 0.95
            assert (texture[..., :3] <= texture[..., 3:] + 1e-5).all()
    fence = occluder_textures.fence(24, 0.3)
    assert fence[..., 3].mean() == pytest.approx(1 - (1 - 0.3) ** 2, abs=0.02)
    # A tile continues into itself.
    step = np.abs(np.diff(fence, axis=1)).max()
    assert np.abs(fence[:, 0] - fence[:, -1]).max() <= step + 1e-6


@pytest.mark.parametrize("level", range(1, 6))
def test_rotation_leaves_no_corner_empty_and_moves_points_with_pixels(level: int) -> None:
    w, h = 320, 240
    entity = geometry.corners((140, 100, 190, 150))
    done = geometry.fit_rotation((w, h), entity, geometry.ANGLES[level], keep=True)
    assert done.value == geometry.ANGLES[level]
    matrix = geometry.matrix_of(done.matrix)
    back = np.linalg.inv(matrix)
    for x, y in geometry.move_points(geometry.corners((0, 0, w, h)), back):
        assert -1e-6 <= x <= w + 1e-6
        assert -1e-6 <= y <= h + 1e-6
    image = np.zeros((h, w, 3), np.uint8)
    cv2.circle(image, (165, 125), 6, (255, 255, 255), -1)
    there = centroid(srgb.to_light(geometry.warp(image, matrix))) + 0.5
    assert np.abs(there - geometry.move_points(((165.5, 125.5),), matrix)[0]).max() < 0.3


def test_an_entity_that_does_not_fit_clamps_the_angle() -> None:
    done = geometry.fit_rotation((320, 240), geometry.corners((0, 0, 300, 60)), 60.0, keep=True)
    assert done.clamped
    assert 12.0 <= done.value < 60.0
    assert "does not fit" in done.reason


@pytest.mark.parametrize("box", [(100, 80, 180, 150), (0, 0, 320, 240), (5, 5, 30, 25),
                                 (20, 100, 310, 140)])  # fmt: skip
def test_truncation_leaves_the_wanted_share(box: tuple[float, float, float, float]) -> None:
    entity = geometry.corners(box)
    zooms = set()
    for level in range(1, 6):
        draw = random_streams.generator("k", "truncated")
        done = truncation.fit_truncation((320, 240), entity, truncation.VISIBLE[level], draw)
        assert abs(done.value - truncation.VISIBLE[level]) <= 0.02
        share = geometry.visible_share((320, 240), entity, geometry.matrix_of(done.matrix))
        assert share == pytest.approx(done.value)
        zooms.add(round(done.zoom, 6))
    if box[2] - box[0] < 0.7 * 320:
        assert len(zooms) == 1  # levels differ in nothing else


def test_clip_and_area() -> None:
    square = geometry.corners((0, 0, 10, 10))
    assert geometry.area(square) == 100
    assert geometry.area(geometry.clip(square, (5, 5, 20, 20))) == 25
    assert geometry.clip(square, (20, 20, 30, 30)) == ()
    # What is cut ends on the limit, not a hair beside it.
    assert geometry.bounds(
        geometry.clip(geometry.corners((0.0, -469.03125, 1.0, 145.25)), (0, 0, 64, 48))
    ) == (0, 0, 1, 48)
    arrow = ((0, 0), (10, 5), (0, 10), (4, 5))  # concave
    cut = geometry.area(geometry.clip(arrow, (0, 0, 10, 5)))
    assert cut == pytest.approx(geometry.area(arrow) / 2)


def test_shares_are_those_of_clipping() -> None:
    """Many windows at once, of boxes, turned boxes and outlines that are not convex."""
    rng = np.random.default_rng(4)
    star = ((50, 5), (60, 40), (95, 50), (60, 60), (50, 95), (40, 60), (5, 50), (40, 40))
    turned = geometry.move_points(star[::2], np.array([[0.9, 0.4, 3], [-0.4, 0.9, 20], [0, 0, 1]]))
    corners = rng.uniform(-20, 90, (40, 2))
    windows = np.hstack([corners, corners + rng.uniform(1, 80, (40, 2))])
    for polygon in (geometry.corners((10, 20, 60, 45)), star[:3], star, turned):
        expected = [
            geometry.area(geometry.clip(polygon, tuple(w))) / geometry.area(polygon)
            for w in windows.tolist()
        ]
        assert truncation.shares(polygon, windows) == pytest.approx(expected, abs=1e-9)


def test_enlarging_between_codes_is_nearer_to_a_finer_picture() -> None:
    """Why the warp interpolates codes and not light, which costs twice as much."""
    w, h = 240, 180
    gained = []
    for i in range(6):
        fine = srgb.to_light(sample(i, (4 * w, 4 * h))[0])
        coarse = srgb.to_codes(cv2.resize(fine, (w, h), interpolation=cv2.INTER_AREA))
        window = fine[4 * 12 : 4 * 138, 4 * 20 : 4 * 188]
        true = srgb.to_codes(cv2.resize(window, (w, h), interpolation=cv2.INTER_AREA))
        zoom = w / 168
        matrix = np.array([[zoom, 0, -20 * zoom], [0, zoom, -12 * zoom], [0, 0, 1]])
        ours = geometry.warp(coarse, matrix)
        part = srgb.to_light(coarse)[12:138, 20:188]
        between_light = srgb.to_codes(cv2.resize(part, (w, h), interpolation=cv2.INTER_LINEAR))
        gained.append(cv2.PSNR(ours, true) - cv2.PSNR(between_light, true))
        shown, wanted = (srgb.srgb_to_light(p / 255).mean() for p in (ours, true))
        assert shown == pytest.approx(wanted, rel=0.015)
    assert min(gained) > 0
    assert np.mean(gained) > 0.5


def test_light_and_codes_are_exposed_alike() -> None:
    image, _ = sample(5, (160, 120))
    light = srgb.to_light(image)
    for spot in (None, (80.0, 60.0, 30.0, 30.0)):
        for rows in (0.0, 0.9):
            exposure = lowlight.Exposure(ev=3.0, row_noise=rows, spot=spot)
            codes = lowlight.expose(image, exposure, "k", 3).astype(float)
            direct = lowlight.expose(light, exposure, "k", 3).astype(float)
            assert abs(direct.mean() - codes.mean()) < 0.05
            assert np.abs(direct - codes).mean() < 0.3


@pytest.mark.parametrize("kind", ["finger", "fence", "screen", "strap"])
def test_bands_of_a_matte_meet(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows are composed at a time, the picture is the same."""
    image, box = sample(5, (320, 240))
    done = occlusion.cover(
        kind, (320, 240), geometry.corners(box), 0.35, random_streams.generator("k", kind)
    )
    whole = occlusion.lay_over(image, done.matte).astype(int)
    monkeypatch.setattr(occlusion, "_BAND", 320 * 3 * 16)
    banded = occlusion.lay_over(image, done.matte).astype(int)
    assert np.abs(whole - banded).max() <= 1
    assert (whole != image).any()


@pytest.mark.parametrize("box", [(100, 70, 180, 150), (0, 5, 60, 60), (250, 100, 333, 251)])
def test_a_blur_of_the_part_is_the_part_of_the_blur(box: tuple[float, float, float, float]) -> None:
    """Strengths are measured on the entity's surroundings and then applied to the whole."""
    picture = sample(5, (333, 251))[0]
    light = srgb.to_light(picture)
    x0, y0, x1, y1 = box
    smears = [
        (n, lambda x, n=n: blur.motion_blur(x, blur.Motion.near(n, 40.0))) for n in (3, 9, 24, 80)
    ]
    smears += [(r, lambda x, r=r: blur.defocus(x, r)) for r in (0.8, 4, 7, 14, 26)]
    for reach, smear in smears:
        where = calibrate.surroundings(picture.shape, box, reach)
        top, left = (side.start for side in where)
        a, b, c, d = x0 - left, y0 - top, x1 - left, y1 - top
        part = smear(np.ascontiguousarray(light[where]))
        assert (part[b:d, a:c] == smear(light)[y0:y1, x0:x1]).all(), reach


def test_bands_of_a_smear_and_of_an_exposure_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = sample(5, (167, 251))[0]
    smears = [blur.Motion(dx=dx, dy=dy, segments=n) for dx, dy, n in ((3, 4, 4), (0, -7, 8))]
    dark = [
        lowlight.Exposure(ev=3.0, row_noise=rows, spot=spot)
        for rows in (0.0, 1.1)
        for spot in (None, (60, 90, 30, 40))
    ]
    inputs = (picture, srgb.to_light(picture))
    moved = [blur.motion_blur(inputs[1], smear) for smear in smears]
    exposed = [lowlight.expose(i, exposure, "k", 4) for i in inputs for exposure in dark]
    for module, name in ((blur, "_STRIP"), (blur, "_BAND"), (lowlight, "_STRIP")):
        monkeypatch.setattr(module, name, 1)
    for i in inputs:  # codes are light by their table
        for smear, whole in zip(smears, moved, strict=True):
            assert (blur.motion_blur(i, smear) == whole).all()
    again = [lowlight.expose(i, exposure, "k", 4) for i in inputs for exposure in dark]
    assert all((a == b).all() for a, b in zip(exposed, again, strict=True))


def test_rough_similarities_decide_as_exact_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def solved() -> list[float]:
        found = []
        for i in range(4):
            picture, box = sample(i, (480, 360))
            crop = calibrate.Crop(picture, box)
            for target in calibrate.LADDER[1:]:
                found.append(calibrate.solve_radius(crop, target, 480))
                found.append(calibrate.solve_length(crop, target, 480, 30.0 * i))
        return found

    quick = solved()
    monkeypatch.setattr(calibrate, "_ROUGH", 2.0)
    assert solved() == quick
