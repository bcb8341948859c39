"""What other systems answered, as a run: the public kits' files, logs of Inspect, answers, traces.

So that everything that knows runs (`rejudge`, `report`, `compare`, `measure`, the app, `export`)
knows them too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from mmrag.errors import ConflictError, DataError
from mmrag.metrics.measure_records import Case
from mmrag.records import Reference, Reply, Session, Status, Step, Turn, TurnResult
from mmrag.search.session_passages import evidence_of
from simulator.datasets.papers.answer_files import read_answers
from simulator.datasets.papers.answer_records import AnsweredQuestion, UnusableRow, session_of
from simulator.exchange.imported_conversation import ImportedConversation, check_storable
from simulator.exchange.inspect.read_log import is_inspect, read_inspect
from simulator.exchange.traces.span_conversations import TraceFile
from simulator.exchange.turn_files import holds_turns, read_turn_file
from simulator.run.engine import broken_turns
from simulator.store.run_store import RunStore

Sessions = Callable[[], Iterator[Session]]
"""The data set that was asked, from its beginning."""


def import_file(path: Path, folder: Path, data: Sessions | None = None) -> int:
    """Bring a file into a run, unless it is there already; returns how many turns it has.

    What the file is, its name and its first line tell. With `data` the conversations are those of
    the data set, with their pictures and references, and the file gives the replies.
    """
    if is_inspect(path):
        return _bring(path, folder, lambda: read_inspect(path, pictures=data is None), data)
    if holds_turns(path):
        return _bring(path, folder, lambda: read_turn_file(path), data)
    return _bring(path, folder, lambda: map(imported_answer, read_answers(path)), data)


def import_traces(path: Path, folder: Path, data: Sessions | None = None) -> int:
    """The same for traces: OTLP as JSON, or an export of Langfuse, Phoenix or MLflow."""
    with TraceFile(path) as traces:
        return _bring(path, folder, traces.conversations, data)


def import_answers(path: Path, folder: Path) -> int:
    """Bring every line of a file of answers into a run; returns how many."""
    return _bring(path, folder, lambda: map(imported_answer, read_answers(path)))


def imported_answer(answered: AnsweredQuestion | UnusableRow) -> ImportedConversation:
    """What was answered, with the passages as the evidence of one step."""
    if isinstance(answered, UnusableRow):
        turn = Turn(index=0, id=f"{answered.id}-0", query="", reference=Reference(text=""))
        session = Session(id=answered.id, turns=(turn,))
        return ImportedConversation(
            session, tuple(broken_turns(session, DataError(answered.problem)))
        )
    case = answered.case
    result = TurnResult(
        session_id=answered.id,
        turn_index=0,
        status=Status.ANSWERED,
        query=case.question,
        reply=Reply(text=case.answer, citations=case.citations, trace=_given(case)),
    )
    return ImportedConversation(session_of(answered), (result,))


def _bring(
    path: Path,
    folder: Path,
    read: Callable[[], Iterator[ImportedConversation]],
    data: Sessions | None = None,
) -> int:
    """The file is read to its end before anything is written: nothing is half imported."""
    judges: dict[str, int] = {}
    count, seen = 0, set[tuple[str, str]]()
    for brought in read():
        key = (brought.session.id, brought.session.degradation)
        if key in seen:
            raise DataError(f"{path}: conversation {key[0]!r} stands there twice; keep one.")
        seen.add(key)
        check_storable(brought, path)
        count += len(brought.results)
        for verdict in (result.verdict for result in brought.results):
            if verdict is not None:
                judges[verdict.judge] = judges.get(verdict.judge, 0) + 1
    known_sessions = _asked(path, data, {name for name, _ in seen}) if data else {}
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    is_new = not folder.exists()
    try:
        with RunStore(folder) as store:
            known = store.meta("answers")
            if known != digest and (known is not None or store.session_keys()):
                raise ConflictError(
                    f"{folder} holds other answers, or these before the file was changed. Choose "
                    "another --out."
                )
            if not store.meta("imported"):
                store.set_meta("answers", digest)
                if judges:  # what most of the verdicts are by; others' are kept beside
                    store.set_meta("judge", max(judges, key=lambda name: judges[name]))
                for position, brought in enumerate(read()):
                    asked = known_sessions.get(brought.session.id)
                    session, results = _joined(path, brought, asked) if asked else brought
                    store.begin(position, session)
                    store.commit(*results)
                name = os.fsencode(path.name).decode(errors="backslashreplace")
                store.set_all_meta({"imported": name, "finished": True})
    except BaseException:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return count


def _asked(path: Path, data: Sessions, wanted: set[str]) -> dict[str, Session]:
    found = {session.id: session for session in data() if session.id in wanted}
    if lacking := sorted(wanted - set(found)):
        raise DataError(
            f"{path}: conversation {lacking[0]!r} ({len(lacking)} of {len(wanted)}) is not in the "
            "data. Give the --data that was asked, or leave it out."
        )
    return found


def _joined(path: Path, brought: ImportedConversation, asked: Session) -> ImportedConversation:
    """The data's conversation with the file's replies, where they are the same questions."""
    name = asked.id
    if brought.session.degradation != asked.degradation:
        raise DataError(
            f"{path}: {name!r} was asked under {brought.session.degradation!r}, of which the data "
            "has no picture; leave --data out."
        )
    if len(brought.results) > len(asked.turns):
        raise DataError(f"{path}: {name!r} has more turns than in the data; give its --data.")
    for turn, result in zip(asked.turns, brought.results, strict=False):
        if " ".join(turn.query.split()) != " ".join(result.query.split()):
            raise DataError(
                f"{path}: turn {turn.index + 1} of {name!r} asks {result.query[:80]!r}, and the "
                f"data {turn.query[:80]!r}. Give the --data that was asked."
            )
    return ImportedConversation(asked, brought.results)


def _given(case: Case) -> tuple[Step, ...]:
    evidence = tuple(evidence_of(passage, source="passages") for passage in case.passages)
    return (Step(name="passages", evidence=evidence),)
