"""A conversation that somebody else held, as a run keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from mmrag.errors import DataError
from mmrag.records import Reference, Session, Status, Turn, TurnResult, decode_as, encode

_LONGEST_NAME = 200
"""Characters of a condition, which files of a report are called by, and of a session's id."""

_LONGEST = 1e9
"""Seconds of a turn."""


class ImportedConversation(NamedTuple):
    """What readers of others' files yield."""

    session: Session
    results: tuple[TurnResult, ...]


def imported_turn(
    session: str, index: int, query: str, known: Mapping[str, Any], **more: Any
) -> Turn:
    """A question with what its writer knew of it: reference, accept, domain and query_type."""
    accept = known.get("accept")
    return Turn(
        index=index,
        id=f"{session}-{index}",
        query=query,
        reference=Reference(
            text=str(known.get("reference") or ""),
            accept=tuple(map(str, accept)) if isinstance(accept, list) else (),
        ),
        domain=str(known.get("domain") or "other"),
        query_type=str(known.get("query_type") or "simple-knowledge"),
        **more,
    )


def unasked_turn(session: str, condition: str, turn: Turn) -> TurnResult:
    """A turn of a conversation that ended before it: it belongs to the score."""
    return TurnResult(
        session_id=session,
        turn_index=turn.index,
        degradation=condition,
        status=Status.SKIPPED_AFTER_STOP,
        query=turn.query,
    )


def check_storable(brought: ImportedConversation, where: object) -> None:
    """Refuse what a run could not keep, read again, score and report."""
    session = brought.session
    for what, name in (("conversation", session.id), ("condition", session.degradation)):
        if not name.strip():
            raise DataError(f"{where}: a {what} has no name; give it one.")
        if len(name) > _LONGEST_NAME:
            raise DataError(
                f"{where}: the name of a {what} has {len(name):,} characters "
                f"({name[:40]!r} …); {_LONGEST_NAME} are allowed."
            )
    try:
        decode_as(Session, encode(session))
        results = [decode_as(TurnResult, encode(result)) for result in brought.results]
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        raise DataError(
            f"{where}: conversation {session.id!r} cannot be kept ({error}); mend or remove it."
        ) from error
    for result in results:
        usage = result.reply.usage if result.reply else None
        if not 0 <= result.seconds <= _LONGEST or (usage and not usage.is_possible):
            raise DataError(
                f"{where}: turn {result.turn_index + 1} of {session.id!r} took seconds, tokens or "
                "a cost that cannot be; mend them or leave them out."
            )
