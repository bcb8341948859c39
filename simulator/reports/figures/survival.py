"""What happens to conversations: how long they live, what ends them, what a miss costs later."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.metrics.statistics import wilson
from mmrag.records import Outcome
from simulator.reports.read.evidence import STAGES
from simulator.reports.read.paired_turns import match
from simulator.reports.read.session_sums import ConversationSums, Mask
from simulator.reports.read.turn_frame import OUTCOMES, TurnFrame
from simulator.run.stop_policies import StopPolicy

OTHER_RULES = ("never", "strikes(1)", "strikes(2)", "strikes(3)", "patience(0.5)", "patience(0.8)")


def conversation_survival(
    frame: TurnFrame, rows: Mask, *, stop: StopPolicy, other_rules: bool = True
) -> dict[str, Any]:
    """Survival, ends, other stop rules and what stopping saved, over some whole conversations."""
    units = ConversationSums(frame, rows)
    kept, planned = units.sums(frame["kept"]), units.sums()
    return {
        "stop": str(stop),
        "survival": _survival(kept, planned),
        "ends": _ends(frame, units, kept, planned),
        "rules": [
            _under(frame, units, rule, stop.seed) for rule in (_rules(stop) if other_rules else [])
        ],
        "saved": _saved(frame, rows, planned, kept),
        "successful_turns": _histogram(frame, units),
    }


def history_errors(
    frame: TurnFrame, with_references: TurnFrame, condition: str
) -> dict[str, Any] | None:
    """Later turns that failed: right with the references as history (inherited), or wrong again.
    Only turns that were asked and scored in both runs are compared, from the second turn on."""
    if condition not in with_references.conditions:
        return None
    pairs = match(
        frame, frame.condition(condition), with_references, with_references.condition(condition)
    )
    both, _ = pairs.difference("as_answered", "accuracy")
    both = both & (frame["turn"][pairs.rows] > 0)
    right = frame["score"][pairs.rows][both] > 0
    right_too = with_references["score"][pairs.others][both] > 0
    failed = int((~right).sum())
    inherited = int((~right & right_too).sum())
    needs = frame["needs_history"][pairs.rows][both]
    rate = wilson(inherited, failed)
    return {
        "turns": int(both.sum()),
        "failed": failed,
        "inherited": inherited,
        "intrinsic": failed - inherited,
        "inherited_share": {"estimate": rate.estimate, "low": rate.low, "high": rate.high},
        "broken_by_references": int((right & ~right_too).sum()),
        "inherited_where_history_needed": int((~right & right_too & (needs == 1)).sum()),
    }


def _survival(kept: NDArray[Any], planned: NDArray[Any]) -> list[dict[str, Any]]:
    """Of the conversations that have a turn t, how many get to it."""
    found: list[dict[str, Any]] = []
    for turn in range(1, int(planned.max(initial=0)) + 1):
        have = int((planned >= turn).sum())
        alive = int((kept >= turn).sum())
        rate = wilson(alive, have)
        found.append(
            {
                "turn": turn,
                "conversations": have,
                "alive": alive,
                "share": rate.estimate,
                "low": rate.low,
                "high": rate.high,
            }
        )
    return found


def _ends(
    frame: TurnFrame, units: ConversationSums, kept: NDArray[Any], planned: NDArray[Any]
) -> list[dict[str, Any]]:
    """For each turn: the conversations it ended, and the stage at which it failed."""
    starts = frame.starts[units.present]
    ended = kept < planned
    last = np.maximum(kept, 1).astype(np.int64) - 1
    rows = (starts + last)[ended]
    stage_names = frame.names("stage")
    found: list[dict[str, Any]] = []
    for turn in range(int(planned.max(initial=0))):
        here = rows[frame["turn"][rows] == turn]
        codes = frame["stage"][here]
        counts = {
            stage: int((codes == stage_names.index(stage)).sum()) if stage in stage_names else 0
            for stage in STAGES[1:]
        }
        found.append({"turn": turn + 1, "ended": len(here), "stages": counts})
    return found


def _rules(stop: StopPolicy) -> list[str]:
    return list(dict.fromkeys([str(stop), *OTHER_RULES]))


def _under(frame: TurnFrame, units: ConversationSums, rule: str, seed: int) -> dict[str, Any]:
    """Figures if wearers had another patience. Unknown where that needs turns never asked."""
    apply = StopPolicy.parse(rule, seed=seed).rule
    values = [Outcome(name) for name in OUTCOMES]
    total = turns = wins = stopped = unknown = 0
    scores: list[float] = []
    for unit in units.present.tolist():
        start = int(frame.starts[unit])
        end = int(frame.starts[unit + 1]) if unit + 1 < len(frame.starts) else len(frame)
        asked = frame["asked"][start:end]
        codes = frame["outcome"][start:end][asked]
        session = frame.sessions[int(frame["session"][start])]
        cut = apply(session, [values[code] for code in codes.tolist()])
        kept = len(codes) if cut is None else min(cut, len(codes))
        unknown += kept == len(codes) < end - start and cut is None
        stopped += kept < end - start
        seen = codes[:kept]
        right, wrong = int((seen <= 1).sum()), int((seen == 3).sum())
        size = int((seen != 4).sum()) + end - start - kept
        total, turns, wins = total + right - wrong, turns + size, wins + right
        if size:
            scores.append((right - wrong) / size)
    many = len(units.present)
    known = not unknown and many > 0
    return {
        "rule": rule,
        "unknown": unknown,
        "multi_turn_score": float(np.mean(scores)) if known and scores else None,
        "truthfulness": total / turns if known and turns else None,
        "early_stop_rate": stopped / many if known else None,
        "successful_turns": wins / many if known else None,
    }


def _saved(
    frame: TurnFrame, rows: Mask, planned: NDArray[Any], kept: NDArray[Any]
) -> dict[str, Any]:
    """Turns, time and tokens that stopping saves: measured where they were asked all the same."""
    cut = rows & ~frame["kept"]
    asked = rows & frame["asked"]
    turns, measured = int(cut.sum()), bool(frame["asked"][cut].all()) if cut.any() else False
    basis = cut & asked if measured else asked
    share = turns / int(basis.sum()) if basis.any() else 0.0
    seconds = frame["seconds"][basis]
    tokens = frame["input_tokens"][basis] + frame["output_tokens"][basis]
    return {
        "turns": turns,
        "share": turns / int(planned.sum()) if planned.sum() else 0.0,
        "conversations": int((kept < planned).sum()),
        "seconds": float(np.nansum(seconds)) * share,
        "tokens": float(tokens.sum()) * share,
        "cost": float(np.nansum(frame["cost"][basis])) * share,
        "measured": measured,
    }


def _histogram(frame: TurnFrame, units: ConversationSums) -> list[dict[str, Any]]:
    wins = units.sums((frame["score"] > 0) & frame["kept"] & frame["scored"]).astype(np.int64)
    counts = np.bincount(wins)
    return [{"turns": turns, "conversations": int(count)} for turns, count in enumerate(counts)]
