"""Who notices that its input is wrong: a score of its own, with false alarms on healthy turns."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmrag.metrics.headline import Floats, IntervalOptions
from simulator.faults.fault_kinds import KINDS, WRONG_INPUT, kind_of_fault
from simulator.reports.figures.slices import Dimension
from simulator.reports.read.session_sums import Mask, columns_of_ratios
from simulator.reports.read.turn_frame import TurnFrame


def noticing(
    frame: TurnFrame, kinds: list[Dimension], how: IntervalOptions
) -> dict[str, Any] | None:
    """Per fault of input the share of turns that noticed; None for a run without.

    To notice is to ask back, to say that something is wrong, or to abstain. A false alarm is the
    same on a healthy turn: the clean ones, or, of a run without these, those that no fault met.
    """
    wrong = [name for name in frame.conditions if kind_of_fault(name) in WRONG_INPUT]
    if not wrong:
        return None
    replied = frame["asked"] & (frame["noticed"] >= 0)
    met = {name: replied & frame.condition(name) & (frame["met_fault"] == 1) for name in wrong}
    healthy = replied & frame.condition("clean")
    if not healthy.any():
        healthy = replied & (frame["met_fault"] != 1)
    every = np.logical_or.reduce(list(met.values()))
    shares = _shares(frame, [every, healthy, *met.values()], how)
    return {
        "noticed": shares[0],
        "false_alarms": shares[1],
        "faults": [
            {"condition": name, "what": KINDS[str(kind_of_fault(name))], "noticed": share}
            for name, share in zip(wrong, shares[2:], strict=True)
        ],
        "slices": _slices(frame, kinds, every, healthy, how),
    }


def _slices(
    frame: TurnFrame, kinds: list[Dimension], every: Mask, healthy: Mask, how: IntervalOptions
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for dimension in kinds:
        if dimension.name in ("quality", "grounding") or len(dimension.slices) < 2:
            continue
        for number, name in enumerate(dimension.slices):
            here = dimension.codes == number
            noticed, alarms = _shares(frame, [every & here, healthy & here], how)
            if noticed["n"]:
                found.append(
                    {
                        "dimension": dimension.title, "slice": name, "noticed": noticed,
                        "false_alarms": alarms,
                    }
                )  # fmt: skip
    return found


def _shares(frame: TurnFrame, masks: list[Mask], how: IntervalOptions) -> list[dict[str, Any]]:
    """Of each mask the share that noticed, resampling conversations."""
    many, noticed = len(frame.sessions), frame["noticed"] == 1

    def sums(rows: Mask) -> Floats:
        return np.bincount(frame["session"][rows], minlength=many).astype(float)

    tops = np.stack([sums(mask & noticed) for mask in masks], axis=1)
    return columns_of_ratios(tops, np.stack([sums(mask) for mask in masks], axis=1), how)
