"""Turns in JSON lines or CSV as conversations: both public kits' result rows, and our own export's.

What a line means is said once, in `simulator.exchange.read_outcomes`, which `mmrag score` reads by.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mmrag.errors import DataError
from mmrag.records import Reference, Reply, Session, Status, Turn, TurnResult, Verdict, reply_status
from simulator.datasets.result_lines import ResultRow, read_rows
from simulator.exchange.imported_conversation import ImportedConversation
from simulator.exchange.read_outcomes import condition_of, read_turns
from simulator.run.results.kit_scoring import TurnToScore

_WITHOUT_REPLY = (
    Status.AGENT_ERROR, Status.TIMEOUT, Status.DATA_ERROR, Status.EAR_ERROR,
    Status.SKIPPED_AFTER_STOP,
)  # fmt: skip


def holds_turns(path: Path) -> bool:
    """Whether the lines of a file are numbered turns, and not answers to questions of their own."""
    first = next(read_rows(path), None)
    return first is not None and "turn_index" in first


def read_turn_file(path: Path) -> Iterator[ImportedConversation]:
    """Every conversation of the file, in the order of their first lines."""
    conversations: dict[tuple[str, str], list[tuple[TurnToScore, ResultRow]]] = {}
    for said, row in zip(read_turns(path, several=True), read_rows(path), strict=True):
        if said.item is None and _unanswered(row) is None:
            raise DataError(
                f"{row.where}: an outcome without question, reference and reply; there is nothing "
                "to replay. `mmrag score` scores such files."
            )
        key = (said.turn.session_id, condition_of(row))
        conversations.setdefault(key, []).append((said, row))
    for (name, condition), turns in conversations.items():
        turns.sort(key=lambda pair: pair[0].turn.turn_index)
        yield _conversation(name, condition, turns)


def _conversation(
    name: str, condition: str, turns: list[tuple[TurnToScore, ResultRow]]
) -> ImportedConversation:
    fault = "" if condition == "clean" else condition  # of a picture that is not here
    asked = tuple(_turn(index, said, row) for index, (said, row) in enumerate(turns))
    session = Session(id=name, turns=asked, fault=fault)
    results = tuple(_result(session, index, said, row) for index, (said, row) in enumerate(turns))
    return ImportedConversation(session, results)


def _turn(index: int, said: TurnToScore, row: ResultRow) -> Turn:
    references = said.item.references if said.item else (str(row.get("references") or ""),)
    turn = said.turn
    return Turn(
        index=index,
        id=str(row.get("interaction_id") or f"{turn.session_id}-{index}"),
        query=said.item.question if said.item else str(row.get("question") or ""),
        reference=Reference(text=references[0] if references else "", accept=references[1:]),
        domain=turn.domain or "other",
        query_type=turn.query_type or "simple-knowledge",
        dynamism=turn.dynamism or "static",
        meta={"image quality": str(row.get("image_quality"))} if row.get("image_quality") else {},
    )


def _result(session: Session, index: int, said: TurnToScore, row: ResultRow) -> TurnResult:
    query, condition = session.turns[index].query, session.degradation
    if said.item is None:
        return TurnResult(
            session_id=session.id,
            turn_index=index,
            degradation=condition,
            status=_unanswered(row) or Status.SKIPPED_AFTER_STOP,
            query=query,
            error=str(row.get("error") or "")[:2000] or None,
        )
    reply, verdict = Reply(text=said.item.prediction), None
    if said.is_judged:
        verdict = Verdict(
            outcome=said.turn.outcome,
            judge=str(row.get("judge") or "the file"),
            exact=said.turn.exact,
            reason=str(row.get("reason") or row.get("judge_reason") or "")[:2000],
        )
    status = reply_status(reply, verdict) if verdict else Status.ANSWERED
    return TurnResult(
        session_id=session.id,
        turn_index=index,
        degradation=condition,
        status=status,
        query=query,
        reply=reply,
        verdict=verdict,
    )


def _unanswered(row: ResultRow) -> Status | None:
    """Why a turn of our own export has no reply: not asked any more, or a failure."""
    said = row.get("status")
    return Status(said) if said in _WITHOUT_REPLY else None
