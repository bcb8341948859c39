"""What was lost to hearing: spoken questions beside the same questions typed."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmrag.metrics.headline import IntervalOptions
from simulator.ears.spoken_conditions import split_spoken
from simulator.reports.read.paired_turns import match, rate_differences
from simulator.reports.read.session_sums import ConversationSums, Mask, columns_of_ratios
from simulator.reports.read.turn_frame import TurnFrame


def hearing_losses(frame: TurnFrame, how: IntervalOptions) -> list[dict[str, Any]] | None:
    """Per spoken condition; None for a run whose questions were all typed."""
    if "heard:words" not in frame.columns:
        return None
    spoken = [name for name in frame.conditions if split_spoken(name)[1]]
    found = [_of(frame, name, how) for name in spoken]
    return [one for one in found if one["heard"]]


def _of(frame: TurnFrame, name: str, how: IntervalOptions) -> dict[str, Any]:
    rows = frame.condition(name)
    return {
        "condition": name,
        "twin": split_spoken(name)[0],
        **_lost(frame, rows, name, how),
        "by_type": [
            {"query_type": kind, **found}
            for kind in frame.names("query_type")
            if (found := _lost(frame, rows & frame.is_a("query_type", kind), name, how))["heard"]
        ],
    }


def _lost(frame: TurnFrame, rows: Mask, name: str, how: IntervalOptions) -> dict[str, Any]:
    """Rates of what was lost in some turns, and what that did to them; intervals over sessions.

    `change`, `lost` and `won` are of the same `pairs`: every turn as the headline counts it, one
    after a stop as missing. Words, names and numbers are of the `heard` questions alone.
    """
    heard = rows & (frame["heard:words"] >= 0)
    units = ConversationSums(frame, heard)
    counts = {
        of: (units.sums(frame[f"heard:{part}"], heard), units.sums(frame[f"heard:{of}"], heard))
        for of, part in (("words", "errors"), ("names", "names_lost"), ("numbers", "numbers_lost"))
    }
    tops, bottoms = (np.stack([pair[side] for pair in counts.values()], axis=1) for side in (0, 1))
    rates = columns_of_ratios(tops, bottoms, how)
    twin = frame.condition(split_spoken(name)[0])
    pairs = match(frame, twin, frame, rows)
    both, lost, won = pairs.flips()
    return {
        "heard": int(heard.sum()),
        "word_error_rate": rates[0],
        "names_lost": rates[1],
        "numbers_lost": rates[2],
        "change": rate_differences(pairs, how)["truthfulness_score"] if len(pairs.rows) else None,
        "pairs": int(both.sum()),
        "lost": int(lost.sum()),
        "won": int(won.sum()),
    }
