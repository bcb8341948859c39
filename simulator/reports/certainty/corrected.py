"""The headline's rates with the judge's errors taken out, as far as people's verdicts show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmrag.errors import ConflictError, DataError
from mmrag.metrics.correction import JudgeCalibration, Unjudged, correct_rates
from mmrag.metrics.headline import HEADLINE, Uncertainty, figure
from mmrag.metrics.statistics import bootstrap_replicates
from simulator.reports.read.frame import Frame
from simulator.reports.read.session_sums import Mask, Units, view_values

NAMES = {"correct": "accuracy", "missing": "missing", "incorrect": "hallucination_rate"}


def check_calibration(
    calibration: JudgeCalibration, judge: str | None, run: str
) -> JudgeCalibration:
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
    return JudgeCalibration(
        judge=calibration.judge,
        outcomes=tuple(NAMES),
        counts=tuple(map(tuple, counts)),
        source=calibration.source,
    )


def corrected(
    frame: Frame, rows: Mask, calibration: JudgeCalibration, how: Uncertainty
) -> dict[str, Any]:
    """The headline's rates, corrected; the intervals admit both samples, of turns and of verdicts.

    A turn after a stop is missing without a judge, so there is nothing to correct of it.
    """
    units = Units(frame, rows)
    counted, values = view_values(frame, HEADLINE)
    kept, bottom = counted & frame["kept"], units.sums(where=counted)
    present = bottom > 0
    sums = [units.sums(values[name], kept) for name in NAMES.values()]
    table = np.stack([*sums, units.sums(where=counted & ~frame["kept"])], axis=1)[present]
    many, whole = int(present.sum()), float(bottom.sum())
    replicates, cut = None, None
    if many > 1 and how.resamples:
        below = np.repeat(bottom[present][:, None], table.shape[1], axis=1)
        drawn = bootstrap_replicates(table, below, resamples=how.resamples, seed=how.seed)
        cut, judged = drawn[:, -1:], drawn[:, :-1]
        replicates = np.divide(judged, 1 - cut, out=np.zeros_like(judged), where=cut < 1)
    *judged_totals, cut_total = table.sum(axis=0).tolist()
    found = correct_rates(
        dict(zip(NAMES, map(int, judged_totals), strict=True)),
        calibration,
        replicates=replicates,
        sums={"truthfulness_score": {"correct": 1.0, "incorrect": -1.0}},
        level=how.level,
        seed=how.seed,
        unjudged=Unjudged("missing", cut_total / whole if whole else 0.0, cut),
    )
    return {
        NAMES.get(name, name): figure(
            one.estimate, one.low, one.high, round(whole) if one.n else 0, many
        )
        for name, one in found.items()
    }
