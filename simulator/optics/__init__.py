"""Optics: what a pair of glasses does to a picture (docs/optics.md).

done = degrade(picture, "low-light@3", focus=(40, 60, 200, 260), key="my-picture")
done.image, done.record.ssim_crop
"""

from simulator.optics.degradation_record import DegradationRecord, Degraded, StepRecord
from simulator.optics.degradation_spec import VARIANTS, DegradationSpec, Step
from simulator.optics.pipeline import degrade
from simulator.optics.quality_mix import QualityMix

__all__ = [
    "VARIANTS",
    "DegradationRecord",
    "DegradationSpec",
    "Degraded",
    "QualityMix",
    "Step",
    "StepRecord",
    "degrade",
]
