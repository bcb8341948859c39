"""A conversation that somebody else held, as a run keeps it."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from mmrag.errors import DataError
from mmrag.records import Session, TurnResult, decode_as, encode

_LONGEST_NAME = 200
"""Characters of a condition, which files of a report are called by, and of a session's id."""

_LONGEST = 1e9
"""Seconds of a turn."""


class Brought(NamedTuple):
    """What readers of others' files yield."""

    session: Session
    results: tuple[TurnResult, ...]


def check_storable(brought: Brought, where: object) -> None:
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
