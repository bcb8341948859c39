"""Sessions under degradations: which ones a run is about, and how a capture gets degraded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from mmrag.errors import UsageError
from mmrag.files.images import LazyImage, jpeg
from mmrag.records import Capture, Json, Session
from mmrag.text import comma_list
from simulator.link.device_profiles import Links, join_condition, split_link
from simulator.stages.handed_truth import session_at_stage
from simulator.stages.truth import missing_truth
from simulator.stages.truth_stage_names import BLIND, split_stage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.stages.truth import TruthSource

KINDS = ("low-light", "blurred", "truncated", "occluded", "rotated")
"""CRAG-MM's five, in its order."""

JPEG_QUALITY = 95
"""High enough that the degradation, not the codec, is what the agent sees."""


def parse_degrade(degrade: str, severities: Sequence[int] = (1, 2, 3, 4, 5)) -> tuple[str, ...]:
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
    parts = comma_list(degrade)
    if not parts:
        raise UsageError(f"--degrade {degrade!r} names no condition; for none, write clean.")
    if alone := {"none", "mix", "sweep", "all"}.intersection(parts):
        raise UsageError(f"--degrade {degrade!r}: {alone.pop()} stands alone, without others.")
    specs = ["clean" if p == "clean" else str(DegradationSpec.parse(p)) for p in parts]
    return tuple(dict.fromkeys(specs))


class CaptureOptics:
    """Degrades the capture of a session about its focus, and hands a stage of its truth over; what
    the runner takes."""

    def __init__(self, truth: TruthSource | None = None, links: Links = Links()) -> None:
        """`truth` is what there is to hand over."""
        self._truth = truth
        self._links = links

    def lacking(self, session: Session, stages: Sequence[str]) -> dict[str, str]:
        """Of some stages those that the session's data cannot give, and why."""
        if self._truth is None or not stages:
            return {}
        known = self._truth.of(session)
        why = {stage: missing_truth(stage, session, known) for stage in stages}
        return {stage: words for stage, words in why.items() if words}

    def choose(self, session: Session, degradation: str, seed: int) -> str:
        """`mix` becomes what the data set says of this capture, else what the shares give it."""
        optical, link = split_link(degradation)
        if link:
            return join_condition(self.choose(session, optical, seed), link)
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
        """Degrade, send over the link, and keep the records beside the picture; then hand over."""
        degradation, stage = split_stage(spec)
        if stage and self._truth is not None:
            known = self._truth.of(session)
            if stage not in BLIND and degradation != "clean":
                session = self.apply(session, degradation, seed)
            return session_at_stage(session, stage, known)
        capture = session.capture
        if capture is None or capture.degradation == spec:
            return session
        optical, link = split_link(spec)
        image: NDArray[Any] | None = None
        if capture.degradation != optical:
            from simulator.optics import degrade

            done = degrade(
                capture.image,
                optical,
                focus=capture.focus,
                polygon=capture.polygon,
                key=f"{seed}/{session.id}",
            )
            image = done.image
            capture = msgspec.structs.replace(
                capture, degradation=optical, degraded=msgspec.to_builtins(done.record)
            )
        name = f"{capture.image.name} ({spec})"
        if link:
            capture, data = self._sent(capture, image, spec, f"{seed}/{session.id}")
        else:
            assert image is not None
            data = _jpeg(image)
        degraded = msgspec.structs.replace(capture, image=LazyImage.from_bytes(data, name=name))
        return msgspec.structs.replace(session, capture=degraded)

    def _sent(
        self, capture: Capture, image: NDArray[Any] | None, spec: str, key: str
    ) -> tuple[Capture, bytes]:
        import numpy as np

        from simulator.link.sending import send
        from simulator.optics.pixels import as_rgb

        picture = as_rgb(capture.image) if image is None else image
        profile, policy = split_link(spec)[1].split(":")
        before: Json = capture.degraded or {
            "matrix": np.eye(3).ravel().tolist(),
            "size": [picture.shape[1], picture.shape[0]],
            "box": capture.focus,
        }
        box = before.get("box") if capture.focus else None
        sent = send(picture, self._links.profiles[profile], policy, box, key=key)
        zoom = np.reshape(sent.matrix, (3, 3))
        record: Json = {
            **before,
            "matrix": (zoom @ np.reshape(before["matrix"], (3, 3))).ravel().tolist(),
            "box": None if box is None else _moved(box, zoom, picture.shape),
            "link": {
                "profile": profile,
                "about": msgspec.to_builtins(self._links.profiles[profile]),
                **sent.record,
            },
        }
        return msgspec.structs.replace(capture, degradation=spec, degraded=record), sent.data


def _moved(box: Sequence[float], zoom: NDArray[Any], shape: tuple[int, ...]) -> list[float]:
    """A box in the frame of what was sent."""
    x0, y0, x1, y1 = (
        float(zoom[axis, axis] * value + zoom[axis, 2])
        for axis, value in zip((0, 1, 0, 1), box, strict=True)
    )
    h, w = shape[:2]
    return [max(0.0, x0), max(0.0, y0), min(float(w), x1), min(float(h), y1)]


def _jpeg(image: NDArray[Any]) -> bytes:
    from PIL import Image

    return jpeg(Image.fromarray(image), JPEG_QUALITY, subsampling=0)
