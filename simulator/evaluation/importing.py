"""A file of answers as a run: a conversation of one turn per line, the passages in its trace.

So that everything that knows runs (`measure`, `rejudge`, `report`, the app, `export`) knows answers
that other systems gave.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from mmrag.errors import ConflictError
from mmrag.metrics.cases import Case
from mmrag.records import (
    Evidence,
    Reply,
    Status,
    Step,
    TurnResult,
)
from simulator.datasets.answered import Answered, session_of
from simulator.datasets.answers import read_answers
from simulator.store.run_store import RunStore


def import_answers(path: Path, folder: Path) -> int:
    """Bring every line of a file into a run, unless it is there already; returns how many.

    The file is read to its end before anything is written: nothing is half imported.
    """
    count = sum(1 for _ in read_answers(path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    with RunStore(folder) as store:
        known = store.meta("answers")
        if known != digest and (known is not None or store.session_keys()):
            raise ConflictError(
                f"{folder} holds other answers, or these before the file was changed. Choose "
                "another --out."
            )
        if not store.meta("imported"):
            store.set_meta("answers", digest)
            for position, answered in enumerate(read_answers(path)):
                store.begin(position, session_of(answered))
                store.commit(turn_of(answered))
            store.set_all_meta({"imported": path.name, "finished": True})
    return count


def turn_of(answered: Answered) -> TurnResult:
    """What was answered, with the passages as the evidence of one step."""
    case = answered.case
    return TurnResult(
        session_id=answered.id,
        turn_index=0,
        status=Status.ANSWERED,
        query=case.question,
        reply=Reply(text=case.answer, citations=case.citations, trace=(_given(case),)),
    )


def _given(case: Case) -> Step:
    return Step(
        name="passages",
        evidence=tuple(
            Evidence(
                source="passages",
                id=passage.id,
                score=1.0,
                text=passage.text,
                title=passage.title,
                url=passage.url,
                date=passage.date,
                attributes={"provider": passage.provider} if passage.provider else {},
            )
            for passage in case.passages
        ),
    )
