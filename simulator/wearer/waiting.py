"""What a live wearer makes of time: how long they wait for a word, and how long they listen.

It is a rule over recorded times, so that whoever has the record can derive what was heard. Nobody
was watched waiting: constants are choices; docs/benchmarks/wearer.md says what hangs on them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from mmrag.records import Record, Turn, TurnResult

WORD = 0.4
"""Seconds of a spoken word."""


class Waiting(Record, frozen=True, kw_only=True):
    """How long a wearer waits, in seconds."""

    hello: float
    """For the first word, before they ask whether anybody is there; once a goal."""
    leave: float
    """For the first word after that, before they leave."""
    listen: float
    """To one reply, before they talk over it."""

    @classmethod
    def of(cls, seconds: float) -> Waiting | None:
        """All of it by one number, how long until they ask; 0 waits for ever. With 5 the limits
        are Nielsen's: a second goes unnoticed, after ten attention is gone.

        >>> Waiting.of(5)
        Waiting(hello=5, leave=10, listen=15)
        """
        if not seconds:
            return None
        return cls(hello=seconds, leave=2 * seconds, listen=3 * seconds)

    def limit(self, moves: Sequence[str]) -> float:
        """For the first word, after these moves about a goal."""
        return self.leave if "hello" in moves else self.hello


class Hearing(NamedTuple):
    """What a wearer hears of a reply."""

    text: str
    unheard: str
    seconds: float
    """Of waiting and of listening."""


def hear(text: str, first: float, last: float, limit: float, listen: float) -> Hearing:
    """What is heard of a text whose first word is there after `first` seconds and whose last after
    `last`. Words are spoken as they come, evenly between the two, and never faster than `WORD`.

    A wait below a second goes unnoticed, so that the wearer's clock does not hang on a machine's.

    >>> hear("It is a kettle.", 3.7, 3.8, limit=5, listen=15)
    Hearing(text='It is a kettle.', unheard='', seconds=4.6)
    >>> hear("It is a kettle.", 3.7, 9.7, limit=5, listen=4)
    Hearing(text='It is', unheard=' a kettle.', seconds=7.0)
    >>> hear("It is a kettle.", 5.1, 5.1, limit=5, listen=4)
    Hearing(text='', unheard='It is a kettle.', seconds=5.0)
    """
    if first > limit:
        return Hearing("", text, float(limit))
    words = [found.end() for found in re.finditer(r"\S+", text)]
    pace = max(WORD, (last - first) / len(words)) if words else WORD
    heard = min(len(words), max(1, math.floor(listen / pace + 1e-9)))
    end = len(text) if heard == len(words) else words[heard - 1]
    listened = heard * pace if heard == len(words) else listen
    return Hearing(text[:end], text[end:], float(math.floor(first) + listened))


def heard_in(waiting: Waiting, turns: Sequence[Turn], result: TurnResult) -> Hearing:
    """What was heard in answer to the last of these turns, by the times of its record."""
    text = "" if result.reply is None else result.reply.text + result.unheard
    first, last = result.first_heard, result.last_heard
    return hear(text, first, last, _limit(waiting, turns), waiting.listen)


def cut_off(waiting: Waiting, turns: Sequence[Turn], result: TurnResult) -> TurnResult:
    """A turn with what the wearer heard as its reply; who cuts it off hears no request."""
    heard = heard_in(waiting, turns, result)
    is_silence = result.first_heard > _limit(waiting, turns)
    if result.reply is None or not (heard.unheard or is_silence):
        return result
    reply = msgspec.structs.replace(result.reply, text=heard.text, ask=None)
    return msgspec.structs.replace(result, reply=reply, unheard=heard.unheard)


def _limit(waiting: Waiting, turns: Sequence[Turn]) -> float:
    said = turns[-1].wearer
    moves = [t.wearer.move for t in turns if t.wearer and said and t.wearer.goal == said.goal]
    return waiting.limit(moves)
