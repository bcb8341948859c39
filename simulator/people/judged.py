"""What the judge decided on every turn of a run, and where that is doubtful."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from mmrag.errors import StoreError
from mmrag.judges.doubt import doubt_of, merged
from mmrag.records import Outcome, Verdict, decode_as
from simulator.people.human_verdicts import Key
from simulator.store.run_store import RunReader

OUTCOMES = ("correct", "missing", "incorrect")
"""What a judge and people may both say of a reply."""


class JudgedTurn(NamedTuple):
    """One scored turn."""

    key: Key
    outcome: str
    """One of `OUTCOMES`, of the run's present judge."""
    doubt: str
    """Why it is doubtful; empty where nothing speaks against it."""

    @property
    def stratum(self) -> int:
        """Outcome and doubt in one number: turns of one stratum are judged alike."""
        return 2 * OUTCOMES.index(self.outcome) + bool(self.doubt)


STRATA = 2 * len(OUTCOMES)


def judged_turns(run: RunReader) -> list[JudgedTurn]:
    """Every turn that the present judge scored, in the data set's order.

    A turn is doubtful where the judge says that it is unsure, where its votes differ, or where
    another judge of the same run decided otherwise.
    """
    current = run.meta("judge")
    found: dict[Key, Verdict] = {}
    others: dict[Key, set[str]] = {}
    for session_id, degradation, turn, judge, data in run.every_verdict():
        key = (session_id, degradation, turn)
        verdict = _verdict(run, data)
        if judge == current:
            found[key] = verdict
        if verdict.outcome is not Outcome.UNSCORED:
            others.setdefault(key, set()).add(merged(verdict.outcome))
    return [
        JudgedTurn(key, merged(verdict.outcome), _doubt(verdict, others[key]))
        for key, verdict in found.items()
        if verdict.outcome is not Outcome.UNSCORED
    ]


def _doubt(verdict: Verdict, said: set[str]) -> str:
    return "judges differ" if len(said) > 1 else doubt_of(verdict)


def _verdict(run: RunReader, data: bytes) -> Verdict:
    try:
        return decode_as(Verdict, data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise StoreError(f"{run.folder}: a verdict cannot be read ({error}).") from error
