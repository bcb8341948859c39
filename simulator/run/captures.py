"""Sessions under degradations: which ones a run is about, and how a capture gets degraded."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from mmrag.errors import UsageError
from mmrag.files.images import LazyImage
from mmrag.records import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

KINDS = ("low-light", "blurred", "truncated", "occluded", "rotated")
"""CRAG-MM's five, in its order."""

JPEG_QUALITY = 95
"""High enough that the degradation, not the codec, is what the agent sees."""


def degradations(degrade: str, severities: Sequence[int] = (1, 2, 3, 4, 5)) -> tuple[str, ...]:
    """What `--degrade` means: none, mix, sweep, all, or specs separated by commas."""
    if degrade in ("none", "clean"):
        return ("clean",)
    if degrade == "mix":
        return ("mix",)
    if degrade == "sweep":
        return ("clean", *(f"{kind}@{level}" for kind in KINDS for level in sorted(severities)))
    from simulator.optics import VARIANTS, DegradationSpec

    if degrade == "all":
        return ("clean", *(f"{kind}@{level}" for kind in VARIANTS for level in sorted(severities)))
    parts = [part.strip() for part in degrade.split(",") if part.strip()]
    if not parts:
        raise UsageError(f"--degrade {degrade!r} names no condition; for none, write clean.")
    specs = ["clean" if p == "clean" else str(DegradationSpec.parse(p)) for p in parts]
    return tuple(dict.fromkeys(specs))


class CaptureOptics:
    """Degrades the capture of a session about its focus; what the runner takes."""

    def choose(self, session: Session, degradation: str, seed: int) -> str:
        """`mix` becomes what the data set says of this capture, else what the shares give it."""
        if degradation != "mix":
            return degradation
        if session.capture is None:
            return "clean"
        if session.capture.degradation != "clean":
            return session.capture.degradation
        if session.capture.quality != "normal":
            return "clean"  # a photograph that is bad already
        from simulator.optics import QualityMix

        return str(QualityMix.crag_mm().draw(session.id, seed=seed, is_ego=session.capture.is_ego))

    def apply(self, session: Session, spec: str, seed: int) -> Session:
        """Degrade, and keep the optics record beside the picture."""
        capture = session.capture
        if capture is None or capture.degradation == spec:
            return session
        from simulator.optics import degrade

        done = degrade(
            capture.image,
            spec,
            focus=capture.focus,
            polygon=capture.polygon,
            key=f"{seed}/{session.id}",
        )
        name = f"{capture.image.name} ({spec})"
        degraded = msgspec.structs.replace(
            capture,
            image=LazyImage.from_bytes(_jpeg(done.image), name=name),
            degradation=spec,
            degraded=msgspec.to_builtins(done.record),
        )
        return msgspec.structs.replace(session, capture=degraded)


def _jpeg(image: NDArray[Any]) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    return buffer.getvalue()
