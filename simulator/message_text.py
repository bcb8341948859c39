"""Numbers with their nouns, and lists of problems, as people read them."""

from __future__ import annotations

from collections.abc import Sequence

MOST_SHOWN = 20
"""Problems that are told one by one; the rest are counted."""


def counted(number: int, noun: str, several: str = "") -> str:
    """A count in words; `several` where an s does not do.

    >>> counted(1, "turn"), counted(2000, "turn"), counted(2, "reply", "replies")
    ('1 turn', '2,000 turns', '2 replies')
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def printable_text(text: str, instead: str = "") -> str:
    """Other people's text without what would steer a terminal, or turn its letters round.

    >>> printable_text("no\\x1b[2J\\u202e!")
    'no[2J!'
    """
    return "".join(c if c in "\n\t" or c.isprintable() else instead for c in text)


def summarise_problems(problems: Sequence[str]) -> str:
    """How many problems were found, and the first of them, a line each.

    >>> print(summarise_problems(["a.jpg: torn"]))
    1 problem:
      a.jpg: torn
    """
    if not problems:
        return "No problem found."
    lines = [counted(len(problems), "problem") + ":", *(f"  {p}" for p in problems[:MOST_SHOWN])]
    if len(problems) > MOST_SHOWN:
        lines.append(f"  … and {len(problems) - MOST_SHOWN:,} more")
    return "\n".join(lines)
