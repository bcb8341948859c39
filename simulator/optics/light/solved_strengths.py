"""Every kind of light and lens with the strength that a level asks for on this picture.

All are solved against the warped but otherwise clean picture: `calibrate` proposes a value, it is
rendered and measured on the entity, and corrected until the measurement agrees with the ladder.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from mmrag.records import Box, Json
from simulator.optics import calibrate, random_streams
from simulator.optics.degradation_record import StepRecord
from simulator.optics.degradation_spec import Step
from simulator.optics.light import blur, lowlight
from simulator.optics.light import camera_processing as camera
from simulator.optics.light.srgb import Image, Light, Value, as_light, to_codes, to_light

_TURNS = (3.0, -3.0, 6.0, -6.0)
"""Degrees by which a motion may turn from its drawn direction."""


@dataclass(frozen=True, eq=False)
class SolverInput:
    """What a strength is solved on."""

    picture: Image
    """Warped, otherwise clean."""
    box: Box
    """The entity in it."""
    whole_frame: bool
    key: str
    calibrated: bool

    @cached_property
    def reference(self) -> calibrate.CleanReference:
        """The clean entity, for measuring."""
        return calibrate.CleanReference(self.picture, self.box)

    @cached_property
    def crop(self) -> calibrate.Crop:
        """The entity with its surroundings, for proposing a strength."""
        return calibrate.Crop(self.picture, self.box)

    @property
    def width(self) -> int:
        """Of the picture."""
        return self.picture.shape[1]

    def draw(self, operation: str) -> np.random.Generator:
        """The numbers that the key gives an operation."""
        return random_streams.generator(self.key, operation)


@dataclass(frozen=True, eq=False)
class Blurring:
    """A blur with its strength."""

    record: StepRecord
    smear: Callable[[Image | Light], Light]


@dataclass(frozen=True, eq=False)
class Darkening:
    """An exposure with its strength."""

    record: StepRecord
    shoot: Callable[[Image | Light], Image]
    rendered: Callable[[], Image] | None
    """The view's picture under it, where most of that was needed to measure it."""


@dataclass(frozen=True, eq=False)
class Processing(Generic[Value]):
    """What lens or processor do, with its strength."""

    record: StepRecord
    change: Callable[[NDArray[Value]], NDArray[Value]]
    rendered: Image | None = None
    """The view's picture after it, where that was needed to measure it."""


def solve_blur(view: SolverInput, step: Step, variant: str) -> Blurring:
    """Motion, defocus or roll."""
    width, target = view.width, calibrate.LADDER[step.severity]
    defocused = variant == "defocus"
    angle = float(view.draw("blurred/angle").uniform(0, 180))
    pivot = _pivot(view)

    def smear(picture: Image | Light, size: float) -> Light:
        if variant == "motion":
            return blur.motion_blur(picture, blur.Motion.near(size, angle))
        if defocused:
            return blur.defocus(as_light(picture), size)
        return blur.roll(as_light(picture), _roll(view.box, size, pivot))

    size = (calibrate.DEFOCUS if defocused else calibrate.MOTION)[step.severity] * width
    reached: float | None = None
    if view.calibrated:
        if defocused:
            size = calibrate.solve_radius(view.crop, target, width)
        else:
            along = angle if variant == "motion" else _tangent(view.box, pivot)
            size = calibrate.solve_length(view.crop, target, width, along)
        top = (calibrate.RADIUS_RANGE if defocused else calibrate.LENGTH_RANGE)[1]

        def render(value: float) -> tuple[float, None]:
            rows, columns = calibrate.surroundings(view.picture.shape, view.box, value)
            if variant == "roll":  # what it does depends on the place in the whole picture
                rows = columns = slice(0, None)
            clean = np.ascontiguousarray(view.picture[rows, columns])
            shown = to_codes(smear(clean, value))
            return view.reference.similarity(shown, (columns.start, rows.start)), None

        limits = (0.3, top * width)
        size, reached, _ = calibrate.correct_strength(render, size, target, limits)
        # Smears are whole vectors: where none of this direction does, one beside it may.
        drawn, best = angle, (abs(reached - target), size, reached, angle)
        for turn in _TURNS if variant == "motion" else ():
            if best[0] <= calibrate.TOLERANCE or best[1] >= 0.9 * limits[1]:
                break
            angle = drawn + turn
            size, reached, _ = calibrate.correct_strength(render, best[1], target, limits)
            best = min(best, (abs(reached - target), size, reached, angle))
        _, size, reached, angle = best
    record = StepRecord(
        kind=step.kind,
        severity=step.severity,
        variant=variant,
        parameters=_blur_parameters(view, variant, size, angle, pivot),
        **_outcome(target, reached),
    )
    return Blurring(record, lambda picture: smear(picture, size))


def solve_darkening(view: SolverInput, step: Step) -> Darkening:
    """Exposure, noise and tone."""
    target = calibrate.LADDER[step.severity]
    spot = _spot(view)
    rows = lowlight.ROW_NOISE.get(step.severity, 0.0)

    def exposure(ev: float) -> lowlight.Exposure:
        return lowlight.Exposure(ev=ev, row_noise=rows, spot=spot)

    def shoot(source: Image | Light, ev: float) -> Image:
        return lowlight.expose(source, exposure(ev), view.key, step.severity)

    ev = calibrate.EV[step.severity]
    reached: float | None = None
    rendered: Callable[[], Image] | None = None
    if view.calibrated:
        # Only the table depends on the exposure, and only the entity's rows are measured.
        strips = list(lowlight.table_indices(view.picture, spot, view.key, step.severity))
        first, last = view.reference.box[1], view.reference.box[3]
        beside = [s for s in strips if s[0].stop <= first or s[0].start >= last]
        across = [s for s in strips if s[0].stop > first and s[0].start < last]

        def develop(into: Image, part: list[lowlight.Samples], value: float) -> None:
            chosen = exposure(calibrate.quantised(value))
            lowlight.develop(part, into, chosen, view.key, step.severity)

        def render(value: float) -> tuple[float, Image]:
            shown = np.empty_like(view.picture)
            develop(shown, across, value)
            return view.reference.similarity(shown, gain_matched=True), shown

        start = calibrate.solve_ev(view.crop, target)
        best, reached, measured = calibrate.correct_strength(
            render, start, target, calibrate.EV_RANGE
        )
        ev = calibrate.quantised(best)

        def complete() -> Image:
            develop(measured, beside, ev)
            return measured

        rendered = complete
    chosen = exposure(ev)
    record = StepRecord(
        kind=step.kind,
        severity=step.severity,
        parameters={
            "ev": ev,
            "gain": chosen.gain,
            "full_well": lowlight.FULL_WELL,
            "read_noise": lowlight.READ_NOISE,
            "row_noise": rows,
            "spot": None if spot is None else list(spot),
        },
        **_outcome(target, reached),
    )
    return Darkening(record, lambda source: shoot(source, ev), rendered)


def solve_flare(view: SolverInput, step: Step) -> Processing[np.uint16]:
    """Light of a lamp above, that the lens spreads over the picture."""
    height, width = view.picture.shape[:2]
    draw = view.draw("flare")
    x, y = float(draw.uniform(0.05, 0.95)), float(draw.uniform(0.0, 0.3))
    stray = camera.stray_light((width, height), x, y)

    def render(strength: float) -> tuple[float, None]:
        rows, columns = calibrate.surroundings(view.picture.shape, view.box, 0)
        light = to_light(np.ascontiguousarray(view.picture[rows, columns]))
        shown = to_codes(camera.add_stray_light(light, stray[rows, columns], strength))
        return view.reference.similarity(shown, (columns.start, rows.start)), None

    strength, reached = calibrate.FLARE[step.severity], None
    if view.calibrated:
        target = calibrate.LADDER[step.severity]
        start = calibrate.bisect_strength(lambda v: render(v)[0], target, *calibrate.FLARE_RANGE)
        strength, reached, _ = calibrate.correct_strength(
            render, start, target, calibrate.FLARE_RANGE
        )
    record = StepRecord(
        kind=step.kind,
        severity=step.severity,
        parameters={"strength": strength, "source": [x * width, y * height]},
        **_outcome(calibrate.LADDER[step.severity], reached),
    )
    return Processing(record, lambda light: camera.add_stray_light(light, stray, strength))


def processing(view: SolverInput, step: Step, variant: str | None) -> Processing[np.uint8]:
    """What the camera's processor does: smooth, balance, resize, pack."""
    if step.kind == "wb":
        mireds = camera.MIREDS[step.severity] * (1 if variant == "warm" else -1)
        gains = [float(gain) for gain in camera.white_gains(mireds)]
        record = StepRecord(
            kind=step.kind,
            severity=step.severity,
            variant=variant,
            parameters={"mireds": mireds, "gains": gains},
        )
        return Processing(record, lambda image: camera.shift_white_balance(image, mireds))
    name, fixed, limits = _SCALES[step.kind]
    radius = max(1, view.width // 50)

    def change(image: Image, value: float) -> Image:
        if step.kind == "denoised":
            return camera.denoised(image, value, radius)
        if step.kind == "resampled":
            return camera.resampled(image, value, str(variant))
        return camera.compress_picture(image, *_packing(value), str(variant))

    def render(value: float) -> tuple[float, Image]:
        shown = change(view.picture, value)
        return view.reference.similarity(shown), shown

    def roughly(value: float) -> float:
        rows, columns = calibrate.surroundings(view.picture.shape, view.box, 2 * radius + 64)
        part = change(np.ascontiguousarray(view.picture[rows, columns]), value)
        return view.reference.similarity(part, (columns.start, rows.start))

    value, reached, rendered = fixed[step.severity], None, None
    if view.calibrated:
        target = calibrate.LADDER[step.severity]
        start = calibrate.bisect_strength(roughly, target, *limits)
        value, reached, rendered = calibrate.correct_strength(render, start, target, limits)
    record = StepRecord(
        kind=step.kind,
        severity=step.severity,
        variant=variant,
        parameters=dict(zip(name.split(), _packing(value), strict=True))
        if step.kind == "codec"
        else {name: value},
        **_outcome(calibrate.LADDER[step.severity], reached),
    )
    return Processing(record, lambda image: change(image, value), rendered)


def _packing(value: float) -> tuple[int, float]:
    """Quality down to 1, and below that fewer pixels, as streams send them."""
    return max(1, round(100 - value)), max(1.0, value - 98)


_SCALES = {
    "denoised": ("contrast", calibrate.DENOISED, calibrate.CONTRAST_RANGE),
    "resampled": ("factor", calibrate.RESAMPLED, calibrate.FACTOR_RANGE),
    "codec": ("quality factor", calibrate.PACKED, calibrate.PACKED_RANGE),
}
"""Kind → what its strength is called, without calibration, and its range."""


def _blur_parameters(
    view: SolverInput, variant: str, size: float, angle: float, pivot: tuple[float, float]
) -> Json:
    """The point-spread function in the few numbers it is made of."""
    if variant == "defocus":
        return {"psf": "disc", "radius": size, "reduction": blur.reduction(size)}
    if variant == "motion":
        smear = blur.Motion.near(size, angle)
        return {
            "psf": "line",
            "length": smear.length,
            "angle": smear.angle,
            "dx": smear.dx,
            "dy": smear.dy,
            "segments": smear.segments,
        }
    turn = _roll(view.box, size, pivot)
    return {"psf": "arc", "length": size, "degrees": turn.degrees, "pivot": [turn.x, turn.y]}


def _pivot(view: SolverInput) -> tuple[float, float]:
    """The head turns about the neck, below the picture; the entity must not be the pivot."""
    height, width = view.picture.shape[:2]
    aside = float(view.draw("blurred/pivot").uniform(-0.4, 0.4))
    return width * (0.5 + aside), height * 1.35


def _roll(box: Box, arc: float, pivot: tuple[float, float]) -> blur.Roll:
    x0, y0, x1, y1 = box
    far = math.hypot((x0 + x1) / 2 - pivot[0], (y0 + y1) / 2 - pivot[1])
    return blur.Roll(degrees=math.degrees(arc / max(far, 1.0)), x=pivot[0], y=pivot[1])


def _tangent(box: Box, pivot: tuple[float, float]) -> float:
    x0, y0, x1, y1 = box
    dx, dy = (x0 + x1) / 2 - pivot[0], (y0 + y1) / 2 - pivot[1]
    return math.degrees(math.atan2(dx, dy)) % 180.0


def _spot(view: SolverInput) -> tuple[float, float, float, float] | None:
    """A dark spot around the entity; even light where the entity is most of the picture."""
    h, w = view.picture.shape[:2]
    x0, y0, x1, y1 = view.box
    if view.whole_frame or (x1 - x0) * (y1 - y0) > 0.6 * w * h:
        return None
    return (x0 + x1) / 2, (y0 + y1) / 2, 0.9 * (x1 - x0) + 1, 0.9 * (y1 - y0) + 1


def _outcome(target: float, reached: float | None) -> Json:
    """The common end of a calibrated step's record."""
    if reached is None:
        return {}
    missed = abs(reached - target) > calibrate.TOLERANCE
    reason = f"SSIM {target:.2f} is out of reach; {reached:.2f} is the nearest" if missed else ""
    return {"target": target, "reached": reached, "clamped": missed, "reason": reason}
