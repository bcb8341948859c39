"""Which captures are degraded, in the shares that CRAG-MM was collected in."""

from __future__ import annotations

from collections.abc import Sequence

from mmrag.records import Record
from simulator.optics.degradation_spec import VARIANTS, DegradationSpec, Step
from simulator.optics.random_streams import generator

_NORMAL = "normal"


class QualityMix(Record, frozen=True, kw_only=True):
    """Shares of normal and degraded captures."""

    egocentric: dict[str, int]
    """Quality → weight."""
    public: dict[str, int]
    severities: tuple[int, ...] = (1, 2, 3, 4, 5)
    """Drawn alike, as nothing is published about them."""

    @classmethod
    def crag_mm(cls) -> QualityMix:
        """The counts of CRAG-MM's Table 2: egocentric and public pictures."""
        return cls(
            egocentric={
                _NORMAL: 5143, "low-light": 267, "blurred": 191, "truncated": 370,
                "occluded": 116, "rotated": 161,
            },
            public={
                _NORMAL: 1593, "low-light": 33, "blurred": 24, "truncated": 31, "occluded": 8,
                "rotated": 6,
            },
        )  # fmt: skip

    def draw(self, item: str, *, seed: int = 0, is_ego: bool = True) -> DegradationSpec:
        """The spec of one capture on its own: right on average, whatever else is drawn."""
        rng = generator(f"{seed}/{item}", "quality-mix")
        return self._spec(float(rng.random()), float(rng.random()), is_ego)

    def assign(
        self, items: Sequence[str], *, seed: int = 0, is_ego: bool = True
    ) -> dict[str, DegradationSpec]:
        """Specs for a whole set, stratified: every share is met to within one capture."""
        unique = sorted(set(items))
        rng = generator(str(seed), "quality-mix/strata")
        order = rng.permutation(len(unique))
        start = float(rng.random())
        found: dict[str, DegradationSpec] = {}
        for place, index in enumerate(order):
            # One point in each of n equal strata of the shares, a second low-discrepancy one
            # for the severity: both are spread evenly.
            share = (place + start) / max(len(unique), 1)
            level = (place * 0.6180339887498949 + start) % 1.0
            found[unique[int(index)]] = self._spec(share, level, is_ego)
        return {item: found[item] for item in items}

    def _spec(self, share: float, level: float, is_ego: bool) -> DegradationSpec:
        weights = self.egocentric if is_ego else self.public
        severity = self.severities[int(level * len(self.severities))]
        left = share * sum(weights.values())
        for kind in (_NORMAL, *VARIANTS):
            left -= weights.get(kind, 0)  # a kind that CRAG-MM does not have has no share
            if left < 0:
                break
        else:
            kind = _NORMAL
        if kind == _NORMAL:
            return DegradationSpec()
        return DegradationSpec(steps=(Step(kind=kind, severity=severity),))
