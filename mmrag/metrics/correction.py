"""Rates corrected for the judge's own errors, with intervals that admit what is not known.

A judge that is right in 95 % of cases is wrong in 5 %: a rate it reports is a mixture of the true
rate and its errors. With people's verdicts on some items the mixture can be undone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError, UsageError
from mmrag.metrics.statistics import Interval, generator, percentile_interval
from mmrag.records import Record, decode_as, encode

Floats = NDArray[np.float64]


class JudgeCalibration(Record, frozen=True, kw_only=True):
    """A judge's confusion with people, as `mmrag judge calibrate` stores it."""

    judge: str
    outcomes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """Row: what people said; column: what the judge said; both in the order of `outcomes`."""
    version: int = 1
    source: str = ""
    """Fingerprint of the file of human verdicts."""

    @property
    def n(self) -> int:
        """Items that people and the judge both decided."""
        return sum(map(sum, self.counts))


class Unjudged(NamedTuple):
    """Items whose outcome no judge decided, so that no judge can be wrong about them."""

    outcome: str
    share: float
    replicates: Floats | None
    """Their share in each resample, as one column."""


def correct_rates(
    judged: Mapping[str, int],
    calibration: JudgeCalibration,
    *,
    replicates: Floats | None = None,
    sums: Mapping[str, Mapping[str, float]] = {},
    resamples: int = 2_000,
    level: float = 0.95,
    seed: int = 0,
    unjudged: Unjudged | None = None,
) -> dict[str, Interval]:
    """True share of every outcome, from the counts that the judge reported.

    Rogan and Gladen's correction for any number of outcomes: the confusion matrix is inverted, the
    result put back among the possible shares. The interval resamples the human verdicts and the
    judged counts; `replicates` (resample × outcome shares in the order of the calibration, from the
    cluster bootstrap) replaces the latter where turns are correlated. Each of `sums` is a further
    result, a weighted sum of shares: truthfulness is +1 for correct and −1 for incorrect. Outcomes
    that the calibration does not know are an error: calibrate on a file that holds them.
    """
    unknown = sorted(
        name for name, count in judged.items() if count and name not in calibration.outcomes
    )
    if unknown:
        raise UsageError(
            f"the calibration of {calibration.judge} does not know {', '.join(unknown)}; "
            "calibrate on human verdicts that hold every outcome."
        )
    counts = np.array([judged.get(name, 0) for name in calibration.outcomes], float)
    n = int(counts.sum())
    if not n:
        empty = Interval(estimate=None, low=None, high=None, n=0, level=level)
        return dict.fromkeys([*calibration.outcomes, *sums], empty)
    table = np.asarray(calibration.counts, float)
    estimate = _solve(table[None], (counts / n)[None])[0]
    rng = generator(seed, "correction")
    if replicates is None:
        replicates = rng.multinomial(n, counts / n, size=resamples) / n
    # Jeffreys prior: a cell never seen in the calibration is rare, not impossible.
    tables = np.stack([rng.dirichlet(row + 0.5, size=len(replicates)) for row in table], axis=1)
    drawn = _solve(tables, replicates)
    if unjudged is not None:
        place = np.array([name == unjudged.outcome for name in calibration.outcomes], float)
        estimate = estimate * (1 - unjudged.share) + place * unjudged.share
        again = unjudged.share if unjudged.replicates is None else unjudged.replicates
        drawn = drawn * (1 - again) + place * again
    wanted = {name: {name: 1.0} for name in calibration.outcomes} | dict(sums)
    result: dict[str, Interval] = {}
    for name, worth in wanted.items():
        weights = np.array([worth.get(outcome, 0.0) for outcome in calibration.outcomes])
        low, high = percentile_interval(drawn @ weights, clusters=max(n, 2), level=level)
        best = float(estimate @ weights)
        result[name] = Interval(
            estimate=best,
            low=None if low is None else min(low, best),
            high=None if high is None else max(high, best),
            n=n,
            level=level,
        )
    return result


def calibrate(
    human: Sequence[str], judged: Sequence[str], *, judge: str, source: str = ""
) -> JudgeCalibration:
    """Count a judge's verdicts against people's."""
    names = tuple(sorted({*human, *judged}))
    place = {name: index for index, name in enumerate(names)}
    table = np.zeros((len(names), len(names)), int)
    for said, decided in zip(human, judged, strict=True):
        table[place[said], place[decided]] += 1
    counts = tuple(tuple(int(c) for c in row) for row in table)
    return JudgeCalibration(judge=judge, outcomes=names, counts=counts, source=source)


def save_calibration(calibration: JudgeCalibration, path: Path) -> None:
    """Store a calibration as JSON for reports to use."""
    path.write_bytes(msgspec.json.format(encode(calibration), indent=1) + b"\n")


def load_calibration(path: Path) -> JudgeCalibration:
    """Read a stored calibration back; a table that is not square is refused."""
    try:
        found = decode_as(JudgeCalibration, path.read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(
            f"{path} is no calibration ({error}); make one: mmrag judge calibrate."
        ) from error
    size = len(found.outcomes)
    if len(found.counts) != size or any(len(row) != size or min(row) < 0 for row in found.counts):
        raise DataError(f"{path}: the confusion table does not fit its outcomes; calibrate again.")
    return found


def _solve(tables: Floats, shares: Floats) -> Floats:
    """Shares of the truth that the confusion tables turn into the judged shares, row by row."""
    rows = tables.sum(axis=2, keepdims=True)
    size = tables.shape[1]
    # An outcome people never gave is taken as judged faithfully; nothing else is known of it.
    known = np.where(rows > 0, tables / np.where(rows > 0, rows, 1), np.eye(size))
    transposed = np.swapaxes(known, 1, 2)
    ridge = 1e-9 * np.eye(size)
    solved = np.linalg.solve(transposed + ridge, shares[:, :, None])[:, :, 0]
    return _project(np.asarray(solved, float))


def _project(points: NDArray[np.float64]) -> Floats:
    """The nearest shares (≥ 0, sum 1) to each row."""
    ordered = -np.sort(-points, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    last = (ordered > excess).sum(axis=1) - 1
    return np.maximum(points - np.take_along_axis(excess, last[:, None], axis=1), 0.0)
