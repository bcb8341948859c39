"""From a picture and a spec to a degraded picture and a record of what was done.

Light passes in one order only, however a spec is written: one warp (rotation, then truncation) →
occluders in the world → defocus → motion → occluders at the lens → flare → exposure and noise →
smoothing → white balance → resampling → codec → JPEG.
"""

from __future__ import annotations

import io
from functools import cache, cached_property
from typing import TYPE_CHECKING

import cv2
import numpy as np

from mmrag.records import Box, Json, Polygon
from simulator.optics import calibrate, random_streams
from simulator.optics.degradation_record import DegradationRecord, Degraded, StepRecord
from simulator.optics.degradation_spec import JPEG, VARIANTS, DegradationSpec, Step
from simulator.optics.light import solved_strengths
from simulator.optics.light.srgb import Image, Light, as_light, to_codes
from simulator.optics.pixels import as_rgb, digest
from simulator.optics.shape import geometry, occlusion, truncation

if TYPE_CHECKING:
    from simulator.optics.pixels import Picture


def degrade(
    image: Picture,
    spec: str | DegradationSpec,
    focus: Box | None = None,
    *,
    polygon: Polygon | None = None,
    key: object = None,
    calibrated: bool = True,
    measured: bool = True,
) -> Degraded:
    """Degrade a picture about its entity.

    `focus` is the entity's box and `polygon` its outline where that is known; without either the
    whole frame is the entity. The same picture, spec, focus and `key` give the same bytes, always
    and everywhere; without a key the picture's own hash is the key. `calibrated=False` takes the
    levels' fixed parameters (faster, not comparable between pictures), `measured=False` leaves
    out similarities and hashes.

        degrade(picture, "blurred:motion@2+low-light@3", (40, 60, 200, 260), key="seed/7").record
    """
    chain = DegradationSpec.parse(spec)
    clean = as_rgb(image)
    h, w = clean.shape[:2]
    entity = geometry.framed_entity(focus, polygon, (w, h))
    source = digest(clean) if measured or key is None else None
    name = str(source if key is None else key)
    if chain.is_identity:
        return _untouched(clean, chain, entity, name, source)
    picture = _InProgress(clean, chain, entity, name, calibrated)
    picture.run()
    return Degraded(picture.image, picture.record(source if measured else None))


class _InProgress:
    """One picture on its way. Steps run in the order of light and leave their records."""

    def __init__(
        self,
        clean: Image,
        chain: DegradationSpec,
        entity: geometry.FramedEntity,
        key: str,
        calibrated: bool,
    ) -> None:
        self.image = clean
        self._chain = chain
        self._key = key
        self._calibrated = calibrated
        self._size = (clean.shape[1], clean.shape[0])
        self._entity = entity
        self._matrix = np.eye(3)
        self._records: list[StepRecord] = []
        self._zoom = 1.0
        self._uncovered = 1.0
        self._outline = entity.polygon
        self._box: Box = (0.0, 0.0, 0.0, 0.0)
        self._reference = clean

    def run(self) -> None:
        steps = [step for step in self._chain.steps if step.kind == JPEG or step.severity > 0]
        drawn = [(step, self._variant(step)) for step in steps]
        self._reframe([step for step, _ in drawn])
        light: Light | None = None
        for name, operate in _OPERATIONS.items():
            for step, variant in drawn:
                if name == _name(step, variant):
                    light = operate(self, light, step, variant)
        if light is not None:
            self.image = to_codes(light)

    def record(self, source: str | None) -> DegradationRecord:
        w, h = self._size
        whole = geometry.move_points(self._entity.polygon, self._matrix)
        seen = geometry.clip(whole, (0.0, 0.0, w, h))
        return DegradationRecord(
            spec=str(self._chain),
            key=self._key,
            size=self._size,
            steps=tuple(self._records),
            matrix=tuple(float(v) for v in self._matrix.ravel()),
            zoom=self._zoom,
            polygon=whole,
            box_unclipped=geometry.bounds(whole),
            box=geometry.bounds(seen),
            visible=geometry.visible_share(self._size, self._entity.polygon, self._matrix),
            covered=1.0 - self._uncovered,
            ssim_crop=None if source is None else self._similarity(self._view.reference),
            ssim_frame=None
            if source is None
            else self._similarity(calibrate.CleanReference(self._view.picture)),
            clamped=any(step.clamped for step in self._records),
            notes=(self._entity.note,) if self._entity.note else (),
            versions=dict(_versions()),
            input_sha256=source,
            output_sha256=None if source is None else digest(self.image),
        )

    def _similarity(self, clean: calibrate.CleanReference) -> float:
        dark = any(step.kind == "low-light" for step in self._records)
        return clean.similarity(self.image, gain_matched=dark)

    def _variant(self, step: Step) -> str | None:
        """The named variant, or one that the key chooses alike for all levels."""
        variants = VARIANTS.get(step.kind, ())
        if step.variant is not None or not variants:
            return step.variant
        return variants[int(self._draw(f"{step.kind}/variant").integers(len(variants)))]

    def _draw(self, operation: str) -> np.random.Generator:
        return random_streams.generator(self._key, operation)

    def _reframe(self, steps: list[Step]) -> None:
        """All geometry in one warp: rotation first, then the window that truncates."""
        wanted = {step.kind: step for step in steps if step.kind in ("rotated", "truncated")}
        if (step := wanted.get("rotated")) is not None:
            degrees = geometry.ANGLES[step.severity]
            degrees *= 1 if self._draw("rotated").random() < 0.5 else -1
            placed = geometry.fit_rotation(
                self._size, self._entity.polygon, degrees, keep=not self._entity.whole_frame
            )
            self._place(step, placed, {"degrees": placed.value}, target=None)
        if (step := wanted.get("truncated")) is not None:
            target = truncation.VISIBLE[step.severity]
            seen = geometry.clip(
                geometry.move_points(self._entity.polygon, self._matrix),
                (0.0, 0.0, float(self._size[0]), float(self._size[1])),
            )
            placed = truncation.fit_truncation(self._size, seen, target, self._draw("truncated"))
            self._place(step, placed, {"visible": placed.value}, target=target)
        w, h = self._size
        frame = (0.0, 0.0, float(w), float(h))
        outline = geometry.clip(geometry.move_points(self._entity.polygon, self._matrix), frame)
        self._outline = outline if geometry.area(outline) > 0 else geometry.corners(frame)
        self._box = geometry.bounds(self._outline) or frame
        if wanted:
            self.image = geometry.warp(self.image, self._matrix)
            self._reference = self.image

    def _place(
        self, step: Step, placed: geometry.WarpFit, parameters: Json, target: float | None
    ) -> None:
        self._matrix = geometry.matrix_of(placed.matrix) @ self._matrix
        self._zoom *= placed.zoom
        self._records.append(
            StepRecord(
                kind=step.kind,
                severity=step.severity,
                parameters={**parameters, "zoom": placed.zoom, "matrix": list(placed.matrix)},
                target=target,
                reached=None if target is None else placed.value,
                clamped=placed.clamped,
                reason=placed.reason,
            )
        )

    def occlude(self, light: Light | None, step: Step, variant: str | None) -> Light | None:
        variant = str(variant)
        target = occlusion.COVERED[step.severity]
        done = occlusion.cover(
            variant, self._size, self._outline, target, self._draw(f"occluded/{variant}")
        )
        self._uncovered *= 1.0 - done.covered
        self._records.append(
            StepRecord(
                kind=step.kind,
                severity=step.severity,
                variant=variant,
                parameters={
                    "map": list(done.matte.map),
                    "look": done.matte.look,
                    "pitch": done.matte.pitch,
                    "fill": done.matte.fill,
                },
                target=target,
                reached=done.covered,
                clamped=done.clamped,
                reason=f"a {variant} cannot cover {target:.0%} here" if done.clamped else "",
            )
        )
        if light is not None:
            return occlusion.compose(light, done.matte)
        self.image = occlusion.lay_over(self.image, done.matte)
        return None

    def blur(self, light: Light | None, step: Step, variant: str | None) -> Light:
        solved = solved_strengths.solve_blur(self._view, step, str(variant))
        self._records.append(solved.record)
        return solved.smear(self.image if light is None else light)

    def lower(self, light: Light | None, step: Step, _: str | None) -> None:
        solved = solved_strengths.solve_darkening(self._view, step)
        self._records.append(solved.record)
        if light is None and self.image is self._reference and solved.rendered is not None:
            self.image = solved.rendered()
        else:
            self.image = solved.shoot(self.image if light is None else light)

    def flare(self, light: Light | None, step: Step, _: str | None) -> Light:
        solved = solved_strengths.solve_flare(self._view, step)
        self._records.append(solved.record)
        return solved.change(as_light(self.image if light is None else light))

    def process(self, light: Light | None, step: Step, variant: str | None) -> None:
        solved = solved_strengths.processing(self._view, step, variant)
        self._records.append(solved.record)
        self.image = self.image if light is None else to_codes(light)
        if self.image is self._reference and solved.rendered is not None:
            self.image = solved.rendered
        else:
            self.image = solved.change(self.image)

    @cached_property
    def _view(self) -> solved_strengths.SolverInput:
        """What strengths are solved on and similarities are measured against, once warped."""
        return solved_strengths.SolverInput(
            self._reference, self._box, self._entity.whole_frame, self._key, self._calibrated
        )

    def encode(self, light: Light | None, step: Step, _: str | None) -> None:
        from PIL import Image as pil

        self.image = self.image if light is None else to_codes(light)
        buffer = io.BytesIO()
        pil.fromarray(self.image).save(buffer, "JPEG", quality=step.severity)
        with pil.open(buffer) as decoded:
            self.image = np.asarray(decoded.convert("RGB"), np.uint8)
        self._records.append(
            StepRecord(
                kind=step.kind, severity=step.severity, parameters={"quality": step.severity}
            )
        )


_OPERATIONS = {
    "fence": _InProgress.occlude,
    "screen": _InProgress.occlude,
    "defocus": _InProgress.blur,
    "motion": _InProgress.blur,
    "roll": _InProgress.blur,
    "strap": _InProgress.occlude,
    "finger": _InProgress.occlude,
    "flare": _InProgress.flare,
    "low-light": _InProgress.lower,
    "denoised": _InProgress.process,
    "wb": _InProgress.process,
    "resampled": _InProgress.process,
    "codec": _InProgress.process,
    JPEG: _InProgress.encode,
}
"""What is done to the light, in the order in which it meets each. Geometry comes before all."""


def _name(step: Step, variant: str | None) -> str:
    """What stands in the order: variants of blur and occlusion have places of their own."""
    return variant if variant and step.kind in ("blurred", "occluded") else step.kind


def _untouched(
    clean: Image,
    chain: DegradationSpec,
    entity: geometry.FramedEntity,
    key: str,
    source: str | None,
) -> Degraded:
    box = geometry.bounds(entity.polygon)
    record = DegradationRecord(
        spec=str(chain),
        key=key,
        size=(clean.shape[1], clean.shape[0]),
        polygon=entity.polygon,
        box_unclipped=box,
        box=box,
        ssim_crop=None if source is None else 1.0,
        ssim_frame=None if source is None else 1.0,
        notes=(entity.note,) if entity.note else (),
        versions=dict(_versions()),
        input_sha256=source,
        output_sha256=source,
    )
    return Degraded(clean.copy(), record)


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    return (
        ("optics", str(random_streams.VERSION)),
        ("opencv", cv2.__version__),
        ("numpy", np.__version__),
    )
