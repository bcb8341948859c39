"""Whether a change may pass: a run against its baseline, under conditions that must not hold."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from mmrag.errors import SpecError
from mmrag.metrics.headline import HEADLINE
from mmrag.records import Record
from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs
from simulator.reports.figures.report import ReportOptions

_RATES = {
    "truthfulness": "truthfulness_score",
    "accuracy": "accuracy",
    "missing": "missing",
    "hallucination": "hallucination_rate",
}
_COSTS = ("seconds", "input_tokens", "output_tokens", "cost")
METRICS = (*_RATES, "multi_turn_score", *_COSTS)
"""What a gate may speak of; always the difference from the baseline."""

_PARTS = ("estimate", "low", "high", "p", "detectable")
_TESTS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


_UNSCORED = 0.05
"""Share of turns that may be scored in the baseline and not in the run."""


class Gate(Record, frozen=True, kw_only=True):
    """`METRIC[.PART] OP NUMBER`: a difference that must not be.

    METRIC is truthfulness, accuracy, missing, hallucination, multi_turn_score,
    seconds, input_tokens, output_tokens or cost; PART is estimate (when left out), low, high, p or
    detectable. `truthfulness.high < 0` fails only on a loss that is certain.

    >>> str(Gate.parse("truthfulness.high<0"))
    'truthfulness.high < 0'
    """

    metric: str
    part: str = "estimate"
    operator: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> Gate:
        """Read a gate, or `SpecError` saying what may stand there."""
        match = re.fullmatch(
            r"\s*([a-z_]+)(?:\.([a-z]+))?\s*(<=|>=|<|>)\s*([+-]?\d*\.?\d+(?:e-?\d+)?)\s*", text
        )
        if match is None:
            raise SpecError(
                f"--fail-if {text!r}: write METRIC[.PART] OP NUMBER, e.g. 'truthfulness < -0.02'."
            )
        metric, part, operator, bound = match.groups()
        part = part or "estimate"
        if metric not in METRICS:
            raise SpecError(f"--fail-if {text!r}: no metric {metric!r}; {', '.join(METRICS)}.")
        if part not in _PARTS or (metric in _COSTS and part != "estimate"):
            raise SpecError(
                f"--fail-if {text!r}: no part {part!r}; {', '.join(_PARTS)} "
                "(costs have an estimate only)."
            )
        return cls(metric=metric, part=part, operator=operator, bound=float(bound))

    def __str__(self) -> str:
        part = "" if self.part == "estimate" else f".{self.part}"
        return f"{self.metric}{part} {self.operator} {self.bound:g}"

    def value(self, comparison: dict[str, Any]) -> float | None:
        """The figure that the gate is about."""
        if self.metric in _COSTS:
            return comparison["costs"][self.metric]["difference"]
        if self.metric == "multi_turn_score":
            return comparison["multi_turn_score"][self.part]
        return comparison[HEADLINE][_RATES[self.metric]][self.part]

    def bounds(self, comparison: dict[str, Any]) -> list[float] | None:
        """What is known of the figure where too many verdicts are missing."""
        if self.part != "estimate" or self.metric not in _RATES:
            return None
        return comparison[HEADLINE][_RATES[self.metric]].get("bounds")

    def fails(self, comparison: dict[str, Any]) -> bool:
        """Whether the condition holds, or may hold: a gate must not pass unmeasured."""
        known = self.bounds(comparison) or [self.value(comparison)]
        test = _TESTS[self.operator]
        return any(value is None or bool(test(value, self.bound)) for value in known)


def gate_run(
    run: str,
    baseline: str,
    max_loss: float = 2.0,
    fail_if: Sequence[str] = (),
    options: ReportOptions = ReportOptions(),
) -> dict[str, Any]:
    """A run (`RUN` or `RUN@CONDITION`) compared with its baseline, with the gates and `passed`.

    It fails where it loses more than `max_loss` points of truthfulness, where a condition of
    `fail_if` holds, and where it lacks conversations of the baseline, or more than a twentieth of
    its turns beyond the baseline's failed or have no verdict: a run that broke off or crashed must
    not pass by what was not asked or not scored.
    """
    if not (math.isfinite(max_loss) and max_loss >= 0):
        raise SpecError(f"--max-loss {max_loss}: a number of points, 0 or more.")
    most = Gate(metric="truthfulness", operator="<", bound=-max_loss / 100)
    gates = [most, *map(Gate.parse, fail_if)]
    found = compare_runs([ComparedRun.parse(baseline), ComparedRun.parse(run)], options)
    (one,) = found["comparisons"]
    lacking = one["left_out"]["baseline"]
    whole = {"gate": "conversations of the baseline that are missing > 0", "other": one["other"],
             "value": float(lacking), "bounds": None, "failed": lacking > 0}  # fmt: skip
    before, after = (side["coverage"] or 0.0 for side in found["sides"])
    scored = {"gate": f"coverage < -{_UNSCORED:g}", "other": one["other"],
              "value": after - before, "bounds": None,
              "failed": before - after > _UNSCORED}  # fmt: skip
    found["gates"] = [whole, *(_judged(gate, one) for gate in gates), scored]
    found["passed"] = not any(gate["failed"] for gate in found["gates"])
    sees = one[HEADLINE]["truthfulness_score"].get("detectable")
    if sees is not None and sees * 100 > max_loss:
        found["warnings"].append(
            f"So few conversations show a true loss of {sees * 100:.1f} points or more in four "
            f"cases of five; smaller ones, down to the {max_loss:g} of this gate, may pass."
        )
    return found


def _judged(gate: Gate, one: dict[str, Any]) -> dict[str, Any]:
    return {
        "gate": str(gate),
        "other": one["other"],
        "value": gate.value(one),
        "bounds": gate.bounds(one),
        "failed": gate.fails(one),
    }
