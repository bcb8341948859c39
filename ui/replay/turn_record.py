"""What a run keeps of one turn, as JSON that a person can read."""

from __future__ import annotations

from typing import Any

import msgspec

from mmrag.errors import StoreError
from simulator.store.run_reader import RunReader

MOST = 400_000
"""Characters of a record that are shown; a trace may quote whole pages."""


def turn_record(run: RunReader, session_id: str, condition: str, turn: int) -> dict[str, Any]:
    """The question as the data set has it, what was done, and every judge's verdict."""
    session = run.session(session_id, condition)
    results = run.turns(session_id, condition)
    if not 0 <= turn < len(session.turns):
        raise StoreError(f"{session_id} has {len(session.turns)} turns, so no turn {turn + 1}.")
    result = results[turn] if turn < len(results) else None
    capture = session.capture
    record = {
        "session": {
            "id": session.id,
            "query_time": session.query_time,
            "picture": None
            if capture is None
            else {
                "sha256": capture.image.sha256,
                "degradation": capture.degradation,
                "focus": capture.focus,
                "degraded": capture.degraded,
            },
        },
        "turn": session.turns[turn],
        "result": result,
        "verdicts": run.verdicts(session_id, condition, turn),
    }
    text = msgspec.json.format(msgspec.json.encode(_plain(record)), indent=2).decode()
    return {"record": text[:MOST], "cut": len(text) > MOST}


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value, enc_hook=str)
