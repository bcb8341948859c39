"""A conversation that somebody else held, as a run keeps it."""

from __future__ import annotations

from typing import NamedTuple

from mmrag.records import Session, TurnResult


class Brought(NamedTuple):
    """What readers of others' files yield."""

    session: Session
    results: tuple[TurnResult, ...]
