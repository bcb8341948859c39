"""Attributes that are easily swapped: the right value of the wrong thing is a wrong answer."""

from __future__ import annotations

from mmrag.judges.reading import stem

_GROUPS = """
radius | diameter | circumference
systolic | diastolic
width wide | height tall high | depth deep | weight heavy weigh
front | rear back
waist | inseam
adult adults | child children kids | student students | senior seniors
expiry expire expires expired | packed | opened
born birth birthday birthplace | died death buried
port | starboard
directed director | composed composer music | wrote written author writer
mother | father | sister | brother | wife | husband | daughter | son | uncle | aunt
entry ticket | audio
summer | winter
minimum lowest | maximum highest
east eastern | west western
north northern | south southern
arrival arrive arrives | departure depart departs leave leaves
open opens | close closes closed shuts
boiling | melting | freezing
villain | hero
goalkeeper | striker | captain | coach
numerator | denominator
gross | net
singular | plural
breakfast | lunch | dinner
protons | neutrons | electrons
"""

_PLACE: dict[str, tuple[int, int]] = {
    stem(word): (group, member)
    for group, line in enumerate(_GROUPS.strip().split("\n"))
    for member, words in enumerate(line.split("|"))
    for word in words.split()
}


def another_attribute(asked: set[str], said: set[str]) -> bool:
    """Whether stems of a clause speak of another attribute than those of the question.

    >>> another_attribute({"diameter", "mar"}, {"radius"})
    True
    """
    wanted = [_PLACE[root] for root in asked if root in _PLACE]
    told = [_PLACE[root] for root in said if root in _PLACE]
    for group, _ in wanted:
        mine = {m for g, m in wanted if g == group}
        others = {m for g, m in told if g == group}
        if others and not others & mine:
            return True
    return False
