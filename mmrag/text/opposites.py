"""What is easily swapped: the right value of the wrong thing is a wrong answer.

One list of words that exclude each other, for attributes ("radius", "diameter") as for yes and no
("open", "closed"): `|` sets apart what a line holds of different things.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from mmrag.text.lexicon import stem, word_set

_GROUPS = """
radius | diameter | circumference
perimeter | area | volume
systolic | diastolic
width wide | height tall high | depth deep | length long | weight heavy weigh
population inhabitants | area
capital | largest biggest
front | rear back
waist | inseam
adult adults | child children kids | student students | senior seniors
expiry expire expires expired | packed | opened
born birth birthday birthplace | died death dead buried
built erected | restored renovated rebuilt repaired | burnt burned destroyed demolished collapsed
founded established | dissolved
began begin begins begun start starts started | end ended ends finish finished
port | starboard
directed director | composed composer | produced producer
directed director | wrote written writer author | starred | illustrated illustrator
wrote written writer author | illustrated illustrator | translated translator | published publisher
singer vocalist sang | drummer | bassist | guitarist | pianist | songwriter
founder founded | ceo | owner owns
mother | father | sister | brother | wife | husband | daughter | son | uncle | aunt
entry ticket | audio
spring | summer | autumn | winter
minimum lowest smallest least | maximum highest largest most
first | last | second
east eastern | west western
north northern | south southern
arrival arrive arrives arrived | departure depart departs leave leaves
open opens opening | close closes closed closing shuts shut
check-in checkin | checkout
entrance enter | exit
boiling boils | melting melts | freezing freezes
villain | hero
goalkeeper | striker | captain | coach | referee
numerator | denominator
gross | net
import imports imported | export exports exported
singular | plural
breakfast | lunch | dinner
protons | neutrons | electrons
gold | silver | bronze
driver | passenger
ground | basement | upstairs
small smaller | large larger | medium
inside indoors | outside outdoors
sugar | fat | protein | salt | fibre
goals | assists | saves
roof | walls wall | floor | door | window
postcode | house
revenue turnover | profit
buy buying bought | sell selling sold
won win wins winner | lost lose loses loser | drew
champion | runner-up
upper top | lower bottom
left | right
male men | female women
king | queen
single | double | return
weekday weekdays | weekend weekends
teacher | pupil
doctor | patient
inventor invented | discoverer discovered
older oldest elder eldest | younger youngest
taller tallest | shorter shortest
bigger biggest | smaller smallest
longer longest | shorter shortest
faster fastest quicker | slower slowest
heavier heaviest | lighter lightest
cheaper cheapest | dearer dearest
earlier earliest | later latest
nearer nearest closer closest | farthest furthest
true | untrue
on | off
full | empty
same | different
allowed permitted | forbidden banned prohibited
legal | illegal
safe | dangerous unsafe
edible | poisonous toxic inedible
alive living | dead extinct
hot | cold
old | new
possible | impossible
wet | dry
visible | hidden invisible
married | single unmarried divorced
complete | unfinished incomplete
before | after
above | below
up | down
natural | artificial
real | fake fictional
public | private
in member | outside
vegetarian vegan | meat
still | stopped ceased
"""
_LOOSE = frozenset(
    map(
        stem,
        word_set(
            "on off in up down before after above below new old same second left right over real "
            "single back return long high deep opened house ground top most least still stopped "
            "ceased"
        ),
    )
)
"""Words that are too common to tell what a value is of; they oppose only in a yes or no."""

_PLACES: dict[str, set[tuple[int, int]]] = {}
for _number, _line in enumerate(_GROUPS.strip().split("\n")):
    for _member, _words in enumerate(_line.split("|")):
        for _word in _words.split():
            _PLACES.setdefault(stem(_word), set()).add((_number, _member))


def has_opposites(stems: Collection[str]) -> bool:
    """Whether one of the words has an opposite that `another_attribute` knows."""
    return not _PLACES.keys().isdisjoint(set(stems) - _LOOSE)


def another_attribute(asked: Collection[str], said: Collection[str]) -> bool:
    """Whether stems of a clause speak of another attribute than those of the question.

    >>> another_attribute({"diamet", "mar"}, {"radiu"})
    True
    """
    return opposed(set(asked) - _LOOSE, set(said) - _LOOSE)


def opposed(asked: Collection[str], said: Collection[str]) -> bool:
    """Whether a stem of the second stands against one of the first, which the second lacks."""
    wanted = {place for root in asked for place in _PLACES.get(root, ())}
    told = {place for root in said for place in _PLACES.get(root, ())}
    groups = {group for group, _ in wanted}
    return any(
        not {place for place in told if place[0] == group} & wanted
        for group in {group for group, _ in told} & groups
    )


def flipped(text: str, start: int) -> bool:
    """Whether what stands at `start` is on the other side: after "than", "beat", "lost to".

    >>> flipped("The oak is taller than the spruce", 27)
    True
    """
    before, after = text[:start], text[start:]
    return bool(_WORSE_AFTER.search(before) or _WORSE_BEFORE.search(after))


_WORSE_AFTER = re.compile(
    r"(?i)\b(?:than|beats?|beating|defeat(?:s|ed|ing)|outran|overtook|ahead\s+of"
    r"|won\s+against|lost\s+to)\s+(?:an?\s+|the\s+)?$"
)
_WORSE_BEFORE = re.compile(r"(?i)^\S+(?:\s\S+){0,2}?\s+(?:was|were)\s+beaten")
