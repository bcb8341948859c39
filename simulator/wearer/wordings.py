"""The same question in other words: those that its author wrote beside it."""

from __future__ import annotations

from mmrag.records import Turn


def other_wordings(turn: Turn) -> tuple[str, ...]:
    """Every other way in which the turn's own voice asks it, in a fixed order; empty where there is
    none, as for data that is in nobody's words."""
    ways = turn.extra.get("ways") or ()
    return tuple(text for text in dict.fromkeys(map(str, ways)) if text and text != turn.query)
