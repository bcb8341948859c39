"""Answers of one kind heaped up, with nothing or a bracket between them: none of them is given.

Colours, days and months are few, so that a reply can name them all; capitals without a comma read
like one long name. Other rows of answers are told by their commas and "or" (`offers`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmrag.judges.lexicon import NEGATIONS, word_set
from mmrag.judges.reading import Reading
from mmrag.judges.ruling import Ruling
from mmrag.judges.sets import wants_several


def heaped(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A short reply that names the truth among others of its kind.

    >>> from mmrag.judges.reading import Reading as R
    >>> heaped(R("What colour is it?"), [R("green")], R("red green blue")).reason
    'names several of a kind'
    """
    if len(said.words) > 14 or said.sentence[-1] or wants_several(asked):
        return None
    if said.vocabulary & NEGATIONS:
        return None
    for kind in _KINDS:
        wanted = [reading.vocabulary & kind for reading in known]
        if any(len(one) != 1 for one in wanted):
            continue
        right = frozenset[str]().union(*wanted)
        named = said.vocabulary & kind
        others = named - right - asked.vocabulary
        if not named & right or not others:
            continue
        bare = len(said.words) - len(named) <= 2
        if len(others) >= 2 and bare:
            return Ruling(False, "names several of a kind")
        if _OR.search(said.raw) or _AS_LIKELY.search(said.raw):
            return Ruling(False, "names one or another of a kind")
    return _names(asked, known, said)


def _names(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """Names one after the other: "Sydney Melbourne Canberra Perth"."""
    words, last = said.words, len(said.words) - 1
    single = {reading.compact for reading in known if len(reading.words) == 1}
    at = [place for place, word in enumerate(words) if word in single]
    if last < 3 or len(at) != 1 or len(single) < len(known) or len(set(words)) <= last:
        return None
    if not all(said.capital) or len(said.places) <= last or _SIGN.search(said.raw.strip(" .!")):
        return None
    if said.vocabulary & asked.vocabulary or not (0 < at[0] < last or last >= 5):
        return None  # a full name begins or ends with what one is called
    return Ruling(False, "names several one after the other")


_KINDS = (
    word_set("red green blue yellow orange purple pink brown black white gray grey"),
    word_set("monday tuesday wednesday thursday friday saturday sunday"),
    word_set("north south east west"),
)
_OR = re.compile(r"(?i)\b(?:or|versus)\b|\w\s*/\s*\w")
_AS_LIKELY = re.compile(r"(?i)\b(?:just\s+as|equally|as)\s+(?:likely|possible|probable)\b")
_SIGN = re.compile(r"[^\w\s]|\d")
