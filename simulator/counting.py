"""A number with its noun, as people read it."""

from __future__ import annotations


def counted(number: int, noun: str, several: str = "") -> str:
    """A count in words; `several` where an s does not do.

    >>> counted(1, "turn"), counted(2000, "turn"), counted(2, "reply", "replies")
    ('1 turn', '2,000 turns', '2 replies')
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
