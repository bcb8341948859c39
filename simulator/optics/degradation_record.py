"""What is kept about every degraded picture."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from mmrag.records import Box, Json, Polygon, Record
from simulator.optics import random_streams
from simulator.optics.light.srgb import Image


class StepRecord(Record, frozen=True, kw_only=True):
    """What one element of a chain did."""

    kind: str
    severity: int
    variant: str | None = None
    parameters: Json = msgspec.field(default_factory=dict)
    """Physical values in pixels, degrees, stops and electrons."""
    target: float | None = None
    """SSIM on the entity, visible or covered share; None where a step is fixed by its angle."""
    reached: float | None = None
    clamped: bool = False
    reason: str = ""


class DegradationRecord(Record, frozen=True, kw_only=True):
    """Everything that is known about a degraded picture. Saves as JSON of a few kilobytes."""

    spec: str
    key: str
    version: int = random_streams.VERSION
    size: tuple[int, int]
    """Width and height."""
    steps: tuple[StepRecord, ...] = ()
    """In the order in which light met them."""
    matrix: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    """3 × 3, row by row: pixel coordinates of the input → of the output."""
    zoom: float = 1.0
    polygon: Polygon = ()
    """The entity's outline in the output, where it may leave the frame."""
    box_unclipped: Box | None = None
    box: Box | None = None
    """The box of what remains visible; None when nothing does."""
    visible: float = 1.0
    covered: float = 0.0
    ssim_crop: float | None = None
    """Against the warped but otherwise clean picture, at equal brightness if light was lowered.
    None when it was not measured."""
    ssim_frame: float | None = None
    clamped: bool = False
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    input_sha256: str | None = None
    """Of the pixels, not of a file."""
    output_sha256: str | None = None


@dataclass(frozen=True, eq=False)
class Degraded:
    """A degraded picture with its record."""

    image: Image
    record: DegradationRecord
