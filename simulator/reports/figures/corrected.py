"""The headline's rates with the judge's errors taken out, as far as people's verdicts show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmrag.errors import ConflictError, DataError
from mmrag.metrics.correction import Calibration, correct_rates
from mmrag.metrics.statistics import bootstrap_replicates
from simulator.reports.read.frame import Frame
from simulator.reports.read.session_sums import Mask, Uncertainty, Units, figure, view_values

NAMES = {"correct": "accuracy", "missing": "missing", "incorrect": "hallucination_rate"}


def check_calibration(calibration: Calibration, judge: str | None, run: str) -> Calibration:
    """A calibration for three outcomes, of the judge that judged the run.

    People who only say right or wrong leave refusals out. These are recognised by rule, so they
    are taken as judged, with the weight of as many human verdicts as there are.
    """
    if judge != calibration.judge:
        raise ConflictError(
            f"{run} was judged by {judge}, the calibration is of {calibration.judge}: calibrate "
            "that judge (`mmrag judge calibrate HUMAN.jsonl --judge NAME`), or judge the run again."
        )
    table = dict(zip(calibration.outcomes, calibration.counts, strict=True))
    if not {"correct", "incorrect"} <= set(table) <= set(NAMES):
        raise DataError(
            f"the calibration is for {', '.join(calibration.outcomes)}; a report needs correct and "
            "incorrect, and may have missing. Make one with `mmrag judge calibrate`."
        )
    place = {name: i for i, name in enumerate(calibration.outcomes)}
    counts = [
        [table[row][place[column]] if row in table and column in place else 0 for column in NAMES]
        for row in NAMES
    ]
    if "missing" not in table:
        counts[list(NAMES).index("missing")][list(NAMES).index("missing")] = calibration.n
    return Calibration(
        judge=calibration.judge,
        outcomes=tuple(NAMES),
        counts=tuple(map(tuple, counts)),
        source=calibration.source,
    )


def corrected(
    frame: Frame, rows: Mask, calibration: Calibration, how: Uncertainty
) -> dict[str, Any]:
    """Rates as answered, corrected; the intervals admit both samples, of turns and of verdicts."""
    units = Units(frame, rows)
    counted, values = view_values(frame, "as_answered")
    bottom = units.sums(where=counted)
    present = bottom > 0
    table = np.stack(
        [units.sums(values[name], counted)[present] for name in NAMES.values()], axis=1
    )
    many = int(present.sum())
    replicates = None
    if many > 1 and how.resamples:
        below = np.repeat(bottom[present][:, None], len(NAMES), axis=1)
        replicates = bootstrap_replicates(table, below, resamples=how.resamples, seed=how.seed)
    totals = dict(zip(NAMES, table.sum(axis=0).astype(int).tolist(), strict=True))
    found = correct_rates(
        totals,
        calibration,
        replicates=replicates,
        sums={"truthfulness_score": {"correct": 1.0, "incorrect": -1.0}},
        level=how.level,
        seed=how.seed,
    )
    return {
        NAMES.get(name, name): figure(one.estimate, one.low, one.high, one.n, many)
        for name, one in found.items()
    }
