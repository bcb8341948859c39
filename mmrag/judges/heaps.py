"""Answers of one closed kind heaped up, with nothing or a bracket between them: none is given.

Colours, days, months and directions are few, so that a reply can name them all. Other rows of
answers are told by their commas and "or" (`offers`).
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
        others = named - right - asked.vocabulary - (_GRAY if right & _GRAY else frozenset())
        if not named & right or not others:
            continue
        if len(others) >= 2 and len(said.words) - len(named) <= 2:
            return Ruling(False, "names several of a kind")
        if _ONE_OR_ANOTHER[kind].search(said.raw) or _AS_LIKELY.search(said.raw):
            return Ruling(False, "names one or another of a kind")
    return None


_GRAY = frozenset({"gray", "grey"})
_KINDS = (
    word_set("red green blue yellow orange purple pink brown black white gray grey"),
    word_set("monday tuesday wednesday thursday friday saturday sunday"),
    word_set(
        "january february march april may june july august september october november december"
    ),
    word_set("north south east west"),
)
_ONE_OR_ANOTHER = {
    kind: re.compile(rf"(?i)\b(?:{one})\b\W*(?:\bor\b|\bversus\b|/)\W*(?:{one})\b")
    for kind in _KINDS
    for one in ["|".join(sorted(kind))]
}
_AS_LIKELY = re.compile(r"(?i)\b(?:just\s+as|equally|as)\s+(?:likely|possible|probable)\b")
