"""Fields of yes and no, as labels and tables put them: "Gluten free: no / Vegan: yes"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mmrag.judges.lexicon import NEGATIONS
from mmrag.judges.reading import Reading, stem
from mmrag.judges.ruling import Ruling

Fields = Mapping[frozenset[str], bool]
"""The stems of a label → whether it says yes. "X free" is "X" the other way round."""


def fields(text: str) -> Fields:
    """Every label of a text that has a yes or a no beside it.

    >>> fields("Vegan: yes") == {frozenset({"vegan"}): True}
    True
    """
    found: dict[frozenset[str], bool] = {}
    for match in _FIELD.finditer(text):
        label, free = _label(match[1])
        if label:
            found[label] = (match[2].lower() in ("yes", "true")) != free
    return found


def labelled(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """References that are two and more fields each, and a reply that says the same in any form."""
    wanted = fields(known[0].text)
    if len(wanted) < 2 or any(fields(reading.text) != wanted for reading in known[1:]):
        return None
    about = {label: way for label, way in wanted.items() if label <= asked.stems.keys()}
    wanted = about or wanted
    told = {label: way for label in wanted if (way := _way(label, said.text)) is not None}
    if any(wanted[label] != way for label, way in told.items()):
        return Ruling(False, "another yes or no")
    if len(told) < len(wanted):
        return Ruling(False, "a part of what is asked for") if told else None
    return Ruling(True, "the same yes and no")


def own_field(asked: Reading, said: Reading) -> bool | None:
    """What the one field of a reply that the question asks for says; None where there is none.

    "Gluten free: no, vegan: yes" says yes to "Is it vegan?".
    """
    told = fields(said.text)
    ways = {way for label, way in told.items() if label <= asked.stems.keys()}
    if len(told) < 2 or len(ways) != 1:
        return None
    return ways.pop() != bool(_FREE.search(asked.text))


def _label(text: str) -> tuple[frozenset[str], bool]:
    bare = _FREE.sub(" ", text)
    words = [stem(word.lower()) for word in re.findall(r"[^\W\d_]+", bare)]
    return frozenset(words), bare != text


def _way(label: frozenset[str], text: str) -> bool | None:
    for clause in _CLAUSE.split(text):
        own = fields(clause)
        if label in own:
            return own[label]
        words = re.findall(r"[^\W\d_]+", clause.lower())
        if label <= set(map(stem, words)):
            return sum(word in NEGATIONS or word == "free" for word in words) % 2 == 0
    return None


_FIELD = re.compile(
    r"(?i)\b([a-z][a-z -]{1,40}?)\s*[:=]?\s*\b(yes|no|true|false)\b"
    r"(?=\W*(?:$|[,;/\n.|)]|and\b|but\b))"
)
_FREE = re.compile(r"(?i)[\s-]free\b")
_CLAUSE = re.compile(r"(?i)[,;/|\n.]|\b(?:and|but|while|though)\b|(?=\bn?or\b)")
