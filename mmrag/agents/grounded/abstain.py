"""When to speak: a calibrated probability of being right against what a miss costs.

Single turn: +1 right, 0 missing, −1 wrong, so answer when p > 1/2. In a conversation a second
failure in a row ends it: after a failed turn, with R turns left worth v each, an abstention costs
R·v for certain and an answer only if it is wrong, so answer when p > 1/(2 + R·v).
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from mmrag.errors import DataError
from mmrag.records import Record

EXPECTED_TURNS = 4.9
"""Average length of a conversation as CRAG-MM publishes it; the agent does not know its own."""


class Calibration(Record, frozen=True, kw_only=True):
    """Logistic weights from features of a finding to the probability of being right."""

    bias: float
    weights: dict[str, float]
    turn_value: float = 0.35
    """What a later turn is worth on average: truthfulness on the calibration set."""
    made_on: str = ""
    """Data and command that it was fitted with."""
    samples: int = 0

    def probability(self, features: dict[str, float]) -> float:
        """Chance that a finding with these features is right."""
        z = self.bias + sum(self.weights.get(k, 0.0) * v for k, v in features.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def threshold(turn_index: int, failed_before: bool, turn_value: float) -> float:
    """The least probability that is worth an answer.

    >>> threshold(0, False, 0.35)
    0.5
    """
    if not failed_before:
        return 0.5
    left = max(0.0, EXPECTED_TURNS - 1 - turn_index)
    return 1 / (2 + left * turn_value)


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
    """Fit the weights by Newton's method with a ridge; the same rows give the same weights."""
    import numpy as np

    if len(rows) < 20 or len(set(right)) < 2:
        raise DataError(
            f"{len(rows)} answers, {sum(right)} of them right, are too few to calibrate on; "
            "give a world with more conversations."
        )
    names = sorted({k for row in rows for k in row})
    x = np.array([[row.get(n, 0.0) for n in names] + [1.0] for row in rows])
    y = np.array(right, dtype=float)
    w = np.zeros(x.shape[1])
    penalty = np.diag([ridge] * len(names) + [1e-6])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        gradient = x.T @ (y - p) - penalty @ w
        hessian = (x * (p * (1 - p))[:, None]).T @ x + penalty
        step = np.linalg.solve(hessian, gradient)
        w = w + step
        if float(np.abs(step).max()) < 1e-8:
            break
    value = max(0.05, float(2 * y.mean() - 1))
    return Calibration(
        bias=round(float(w[-1]), 4),
        weights={n: round(float(v), 4) for n, v in zip(names, w[:-1], strict=True)},
        turn_value=round(value, 4),
        made_on=made_on,
        samples=len(rows),
    )


@cache
def _shipped() -> Calibration:
    data = files("mmrag.agents.grounded").joinpath("calibration.json").read_bytes()
    return msgspec.json.decode(data, type=Calibration)
