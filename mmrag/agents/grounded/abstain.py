"""When to speak: a calibrated probability of being right against a bar.

Single turn: +1 right, 0 missing, −1 wrong, so answer when p > 1/2. In a conversation a second
failure in a row ends it, so silence after silence costs all that would have come: the bar is lower
there, by theory 1/(2 + R·v) with R turns left worth v each. The bars are fitted to whole
conversations, by how many silent turns went before; where wrong answers are bounded they are the
best within the bound (docs/benchmarks/agents.md).
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import msgspec

from mmrag.errors import DataError
from mmrag.records import Record

RECOGNITION = "recognition"
"""Feature: the probability that the thing in view is the one that was read about."""

LUCK = "luck"
"""Feature: how often the answer is right whatever the thing is, as far as the question tells."""

_LUCK = tuple(step / 20 for step in range(13))
"""Shares of luck that a fit tries."""


class Calibration(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From features of a finding to the probability of being right.

    An answer is right when the thing was recognised, or by luck all the same, and when the reading
    was right: the first is the feature `recognition`, the second logistic in the others.
    """

    bias: float
    weights: dict[str, float]
    luck: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    """How often a right reading about the wrong thing is right; 1: recognition does not count.

    A question with two answers ("is it taller?") is answered rightly more often than that."""
    bars: Annotated[tuple[float, ...], msgspec.Meta(min_length=1)] = (0.5,)
    """Least probability worth an answer after no silent turn, after one, after more: the last bar
    goes for all that are not listed."""
    made_on: str = ""
    """Data and command that it was fitted with."""
    samples: int = 0

    def probability(self, features: dict[str, float]) -> float:
        """Chance that a finding with these features is right."""
        z = self.bias + sum(self.weights.get(k, 0.0) * v for k, v in features.items())
        known, luck = features.get(RECOGNITION, 1.0), max(self.luck, features.get(LUCK, 0.0))
        return (known + (1 - known) * luck) / (1 + math.exp(-max(-30.0, min(30.0, z))))

    def bar(self, silent: int) -> float:
        """The probability above which an answer is given after so many silent turns in a row.

        >>> Calibration(bias=0, weights={}, bars=(0.55, 0.7)).bar(3)
        0.7
        """
        return self.bars[min(silent, len(self.bars) - 1)]


def read_calibration(path: str | Path | None = None) -> Calibration:
    """The calibration of a file, or the one that is shipped."""
    if path is None:
        return _shipped()
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Calibration)
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(
            f"{path}: no calibration ({error}); make one with `mmrag agent calibrate`."
        ) from error


def fit(
    rows: list[dict[str, float]], right: list[bool], *, made_on: str = "", ridge: float = 1.0
) -> Calibration:
    """Fit the weights by scoring with a ridge, for each share of luck; the likeliest are kept.

    The same rows give the same weights.
    """
    import numpy as np

    if len(rows) < 20 or len(set(right)) < 2:
        raise DataError(
            f"{len(rows)} answers, {sum(right)} of them right, are too few to calibrate on; "
            "give a world with more conversations."
        )
    names = sorted({k for row in rows for k in row} - {RECOGNITION, LUCK})
    x = np.array([[row.get(n, 0.0) for n in names] + [1.0] for row in rows])
    known = np.array([row.get(RECOGNITION, 1.0) for row in rows])
    least = np.array([row.get(LUCK, 0.0) for row in rows])
    y = np.array(right, dtype=float)
    penalty = np.diag([ridge] * len(names) + [1e-6])
    tried = [
        (luck, *_scored(x, y, known + (1 - known) * np.maximum(luck, least), penalty))
        for luck in _LUCK
    ]
    luck, w, _ = max(tried, key=lambda found: found[2])
    return Calibration(
        bias=round(float(w[-1]), 4),
        weights={n: round(float(v), 4) for n, v in zip(names, w[:-1], strict=True)},
        luck=luck,
        made_on=made_on,
        samples=len(rows),
    )


def _scored(x: Any, y: Any, most: Any, penalty: Any) -> tuple[Any, float]:
    """Weights of `most * logistic(x @ w)` and their penalised log likelihood."""
    import numpy as np

    w = np.zeros(x.shape[1])
    for _ in range(100):
        s = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        miss = np.maximum(1 - most * s, 1e-9)
        slope = (1 - s) * (y - (1 - y) * most * s / miss)
        step = np.linalg.solve(
            (x * (most * s * (1 - s) ** 2 / miss)[:, None]).T @ x + penalty,
            x.T @ slope - penalty @ w,
        )
        w = w + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-9))
        if float(np.abs(step).max()) < 1e-8:
            break
    p = np.clip(most / (1 + np.exp(-np.clip(x @ w, -30, 30))), 1e-9, 1 - 1e-9)
    gain = float((y * np.log(p) + (1 - y) * np.log(1 - p)).sum() - w @ penalty @ w / 2)
    return w, gain


@cache
def _shipped() -> Calibration:
    data = files("mmrag.agents.grounded").joinpath("calibration.json").read_bytes()
    return msgspec.json.decode(data, type=Calibration)
