"""Every turn of a small run, in words: whoever brings ten questions wants to read ten answers."""

from __future__ import annotations

from typing import Any

from mmrag.records import outcome_word
from simulator.reports.figures.failures import CUT, cut, outcome_of_row, reply_of
from simulator.reports.read.turn_frame import TurnFrame
from simulator.store.run_reader import RunReader

MOST_TURNS = 50
"""A run with more has its slices and its failures to be read by."""


def all_turns(run: RunReader, frame: TurnFrame) -> list[dict[str, Any]]:
    """Question, what was heard of it, reply, reference and outcome of every turn; empty where there
    are too many."""
    if len(frame) > MOST_TURNS:
        return []
    found: list[dict[str, Any]] = []
    for row in range(len(frame)):
        session_id = frame.sessions[int(frame["session"][row])]
        degradation = frame.names("degradation")[int(frame["degradation"][row])]
        index = int(frame.turn_index[row])
        turn = run.session(session_id, degradation).turns[index]
        result = next(r for r in run.turns(session_id, degradation) if r.turn_index == index)
        word = outcome_of_row(frame, row)
        if word == "unscored":
            word = str(result.status) if result.status.is_failure else outcome_word(result)
        reason = result.verdict.reason if result.verdict else result.error or ""
        found.append(
            {
                "session": session_id,
                "turn": index + 1,
                "condition": degradation,
                "question": cut(turn.query, CUT),
                "heard": None if result.heard is None else cut(result.heard.text, CUT),
                "reply": reply_of(result),
                "reference": cut(turn.reference.text, CUT),
                "outcome": word,
                "reason": cut(reason, CUT),
            }
        )
    return found
