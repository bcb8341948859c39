"""How a data set is to be read: what a run's settings say to every reader."""

from __future__ import annotations

from mmrag.records import Record


class ReadOptions(Record, frozen=True, kw_only=True):
    """Each reader takes of it what concerns it."""

    split: str = "multi-turn"
    as_captured: bool = False
    """Of a world: its published mix of qualities instead of clean pictures."""
    without: tuple[str, ...] = ()
    """Of a world: ways of settling what is meant that the assistant is not given."""
    allow_private_urls: bool = False
    as_kit: str = "none"
    pictures: str = ""
    """Of data of one's own: the folder that holds the pictures, else the data's own folder."""
