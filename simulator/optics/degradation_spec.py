"""What to do to a picture, as a value with a name: `low-light@3`, `blurred:motion@2+rotated@1`."""

from __future__ import annotations

import re

from mmrag.errors import SpecError
from mmrag.records import Record
from mmrag.registry import unknown_name_message

VARIANTS: dict[str, tuple[str, ...]] = {
    "low-light": (),
    "blurred": ("motion", "defocus", "roll"),
    "truncated": (),
    "occluded": ("finger", "fence", "screen", "strap"),
    "rotated": (),
    "resampled": ("aliased", "soft", "narrow"),
    "codec": ("jpeg", "webp", "avif"),
    "denoised": (),
    "wb": ("warm", "cold"),
    "flare": (),
}
"""CRAG-MM's five kinds in its order, then what lenses and processors do beside them → their
variants. Without a variant the key chooses one."""

JPEG = "jpeg"
"""One quality for every picture, where `codec` is as strong on each; only where somebody asks."""

MAX_SEVERITY = 5
MAX_STEPS = 32

_ELEMENT = re.compile(r"(?P<kind>[a-z-]+)(:(?P<variant>[a-z]+))?@(?P<level>[0-9]{1,3})")


class Step(Record, frozen=True, kw_only=True):
    """One element of a chain."""

    kind: str
    severity: int
    """0 (the identity) to 5; for `jpeg` the quality, 1 to 100."""
    variant: str | None = None

    def __str__(self) -> str:
        variant = f":{self.variant}" if self.variant else ""
        return f"{self.kind}{variant}@{self.severity}"


class DegradationSpec(Record, frozen=True, kw_only=True):
    """A chain of degradations; `DegradationSpec.parse(str(spec)) == spec`.

    The order of writing means nothing: light passes the world, the lens and the sensor in one
    order only (`simulator.optics.pipeline`). Chains are therefore kept in CRAG-MM's order.

    >>> str(DegradationSpec.parse("rotated@1 + blurred:motion@2"))
    'blurred:motion@2+rotated@1'
    """

    steps: tuple[Step, ...] = ()

    @classmethod
    def parse(cls, text: str | DegradationSpec) -> DegradationSpec:
        """Read `clean`, `kind@severity`, `kind:variant@severity` or several joined by `+`."""
        if isinstance(text, DegradationSpec):
            return text
        bare = text.strip()
        if bare == "clean":
            return cls()
        parts = [part.strip() for part in bare.split("+")]
        if len(parts) > MAX_STEPS:
            raise SpecError(f"a chain of {len(parts)} elements; at most {MAX_STEPS} make sense.")
        steps = [_step(part, text) for part in parts]
        names = [(step.kind, step.variant) for step in steps]
        for kind, variant in names:
            if names.count((kind, variant)) > 1 or (variant is not None and (kind, None) in names):
                raise SpecError(f"{kind!r} stands twice in {text!r}; name different variants.")
        return cls(steps=tuple(sorted(steps, key=_rank)))

    @property
    def is_identity(self) -> bool:
        """Whether nothing at all happens to the picture."""
        return all(step.kind != JPEG and step.severity == 0 for step in self.steps)

    def __str__(self) -> str:
        return "+".join(map(str, self.steps)) or "clean"


def _step(part: str, text: str) -> Step:
    named = re.split("[:@]", part)[0].strip()
    if named not in (*VARIANTS, JPEG):
        raise SpecError(unknown_name_message("degradation", named, ["clean", *VARIANTS, JPEG]))
    found = _ELEMENT.fullmatch(part)
    if found is None:
        raise SpecError(
            f"{part!r} in {text!r} lacks a severity; write kind@severity, for example low-light@3 "
            "or blurred:motion@2+rotated@1."
        )
    kind, variant, level = found["kind"], found["variant"], int(found["level"])
    if kind == JPEG:
        if variant is not None or not 1 <= level <= 100:
            raise SpecError(f"{part!r} in {text!r}: write jpeg@quality with a quality of 1 to 100.")
        return Step(kind=kind, severity=level)
    if variant is not None and variant not in VARIANTS[kind]:
        known = ", ".join(VARIANTS[kind]) or "none"
        raise SpecError(f"{kind!r} has no variant {variant!r}. Known: {known}.")
    if level > MAX_SEVERITY:
        raise SpecError(f"{part!r} in {text!r}: a severity is 0 (nothing) to {MAX_SEVERITY}.")
    return Step(kind=kind, variant=variant, severity=level)


def _rank(step: Step) -> tuple[int, int]:
    if step.kind == JPEG:
        return len(VARIANTS), 0
    variants = VARIANTS[step.kind]
    return (
        list(VARIANTS).index(step.kind),
        variants.index(step.variant) if step.variant is not None else -1,
    )
