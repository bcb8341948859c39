"""A turn as shares of outcomes: its own, what each kit makes of it, what a stop cuts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.metrics.scoring_protocols import StopRule, TurnScore, shares_of
from mmrag.records import JudgeItem, Outcome
from simulator.run.results.kit_scoring import OFFICIAL, TurnToScore, as_in_kit

OUTCOMES = ("perfect", "acceptable", "missing", "incorrect", "unscored")
SHARES = ("right", "missed", "wrong")
"""How much of a turn is what: whole numbers, or shares of a panel's judges."""
IN_KITS = tuple(
    f"{protocol}:{what}" for protocol in OFFICIAL for what in ("outcome", "exact", "both", "shares")
)
"""A turn as a public kit counts it; `both`: exact and missing at once."""


def shares_in(outcome: Outcome, votes: tuple[Outcome, ...]) -> tuple[float, float, float]:
    """The cells of `SHARES`; nothing of an unscored turn."""
    return (0, 0, 0) if outcome is Outcome.UNSCORED else shares_of(outcome, votes)


def in_kits(
    reference: str, replied: bool, reply: str, outcome: Outcome, votes: tuple[Outcome, ...]
) -> dict[str, Any]:
    """The cells of `IN_KITS`."""
    item = None
    if replied:
        item = JudgeItem(question="", references=(reference,), prediction=reply)
    said = TurnToScore(
        turn=TurnScore(session_id="", turn_index=0, outcome=outcome, votes=votes), item=item
    )
    cells: dict[str, Any] = {}
    for protocol in OFFICIAL:
        counted = as_in_kit(said, protocol)
        cells[f"{protocol}:outcome"] = OUTCOMES.index(counted.outcome)
        cells[f"{protocol}:exact"] = int(counted.exact)
        cells[f"{protocol}:both"] = int(counted.missing)
        cells[f"{protocol}:shares"] = shares_in(counted.outcome, counted.votes)
    return cells


def apply_stop(
    columns: dict[str, NDArray[Any]],
    starts: NDArray[np.int64],
    sessions: list[str],
    rule: StopRule,
    prefix: str,
) -> None:
    """`kept`: the turn takes place under the stop rule."""
    outcome, asked, session = columns[f"{prefix}outcome"], columns["asked"], columns["session"]
    kept = np.zeros(len(outcome), bool)
    known: dict[tuple[str, bytes], int | None] = {}
    values = [Outcome(name) for name in OUTCOMES]
    ends = np.r_[starts[1:], len(outcome)]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        rows = outcome[start:end][asked[start:end]]
        key = (sessions[session[start]], rows.tobytes())
        if key not in known:
            known[key] = rule(key[0], [values[code] for code in rows.tolist()])
        cut = known[key]
        count = len(rows) if cut is None else min(cut, len(rows))
        kept[start : start + count] = True
    columns[f"{prefix}kept"] = kept
