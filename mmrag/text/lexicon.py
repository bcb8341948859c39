"""Word lists that the built-in judge reads with. What they do is decided elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def phrases(pattern: str) -> re.Pattern[str]:
    r"""Compile a pattern in which case does not matter and a blank stands for any white space.

    >>> bool(phrases(r"no longer\b").match("No\nlonger"))
    True
    """
    return re.compile("(?i)" + pattern.replace(" ", r"\s+"))


STOPWORDS = word_set("""
    a an the of in on at to for from by with and or as is are was were be been being it its this
    that these those he she they his her their them him i you we my your our who whom whose which
    what when where why how do does did has have had will would can could should may might must not
    no there here also than then so such into over under about after before between during through
    per via up down out off s t re ve ll d m however but if while because more most very just some
    any all each both other another one's
""")

SAME = {
    word: group.split()[0]
    for group in """
        france french | england english | britain british uk | netherlands dutch holland
        spain spanish | greece greek greeks | ireland irish | wales welsh | scotland scottish
        switzerland swiss | denmark danish | sweden swedish | finland finnish | poland polish
        turkey turkish | portugal portuguese | norway norwegian | thailand thai | china chinese
        japan japanese | peru peruvian | germany german germans | usa us america american
        robert bob bobby rob | william bill billy will | richard dick rick | james jim jimmy
        edward ed ted eddie | thomas tom tommy | michael mike mick | joseph joe | daniel dan danny
        charles charlie chuck | anthony tony | elizabeth liz beth | nicholas nick
        steven steve stephen | david dave | samuel sam | benjamin ben | kenneth ken
        frederick fred | andrew andy | gregory greg | katherine kate kathy | margaret maggie peggy
        christopher chris | matthew matt | timothy tim | jr junior jnr | sr senior
        st saint street | mt mount | dr doctor physician
        lost lose loses losing loss | died die death dead
        born birth | won win winner | built build | made make | sold sell
        sang sung sing song singer | wrote written write writer | children child kids kid
        men man | women woman | feet foot ft | people person | tv television
        film movie movies films | grey gray | colour color | centre center | harbour harbor
        theatre theater | versus vs | god gods
         lawyer attorney | ill sick unwell | round circular | small tiny little
        bicycle bike cycling cyclist | car automobile
        cattle cow | sad melancholy | happy joyful glad | fast quick rapid
        owner proprietor | couch sofa | trousers pants
        lift elevator | petrol gasoline | flat apartment | lorry truck | pavement sidewalk
        shop store | rubbish trash garbage | holiday vacation | jumper sweater
        ship vessel | aeroplane airplane plane aircraft | begin start commence | end finish
        buy purchase | cheap inexpensive | forbidden prohibited banned | allowed permitted
        shut closed | cold chilled | rich wealthy
        forest woods woodland | infant baby | bucket pail | cemetery graveyard | rabbit bunny
        ladder steps | erase wipe | steal theft | teacher instructor | aid help
        hill mound | pupil student | gift present | error mistake | speak talk
        big large huge enormous | wed married marry | glasses spectacles
        purse handbag | soccer football
        aubergine eggplant | courgette zucchini | coriander cilantro | maize corn | prawn shrimp
        km kilometre kilometer kilometres kilometers | kg kilogram kilograms
        m metre meter metres meters
    """.replace("\n", "|").split("|")
    for word in group.split()
}
"""Word → the word that stands for all that mean much the same."""

SUFFIXES = (
    ("ations", 3), ("ation", 3), ("ingly", 3), ("ments", 3), ("ment", 3), ("ities", 3), ("ity", 3),
    ("ness", 3), ("ions", 3), ("ion", 3), ("ings", 3), ("ing", 3), ("ally", 3), ("ies", 2),
    ("ied", 2), ("ers", 3), ("ors", 3), ("est", 4), ("ian", 4), ("al", 4), ("ed", 3), ("er", 4),
    ("or", 4), ("es", 3), ("ly", 3), ("s", 3),
)  # fmt: skip
"""Endings to take off, and how much must be left."""


_ENDINGS = {
    last: [ending for ending in SUFFIXES if ending[0][-1] == last]
    for last in {suffix[-1] for suffix, _ in SUFFIXES}
}


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """A crude stem: drivers and driving are one; so are French and France, Bob and Robert."""
    if word in SAME:
        return SAME[word]
    if len(word) <= 3 or word[0].isdigit():
        return word
    for suffix, least in _ENDINGS.get(word[-1], ()):
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word[: -len(suffix)]
            break
    if word[-1] in "ey" and len(word) > 3:
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word


MEASURED = word_set(
    "many much long old far tall big high fast deep heavy large often wide hot cold"
)
"""Words that make "how" ask for a number."""

AUXILIARIES = word_set("is are was were do does did can could has have had will would should may")

NEGATIONS = word_set("""
    not never no neither nor without incorrect wrong except unlike isnt wasnt didnt doesnt cannot
    cant arent werent wont hasnt false nobody none dont instead
""")

DENIALS = word_set("not never neither nor isnt wasnt arent werent except unlike cannot")
"""Words that turn the very next words down."""

OPENERS = word_set("""
    probably possibly perhaps maybe surely certainly definitely likely apparently presumably
    obviously clearly actually yes well sure answer author
""")
"""Words that may stand before a name and belong to none."""

APPROXIMATE = word_set("""
    about around approximately roughly nearly almost over circa some of the a an in at tall high
    long wide deep old heavy to up $ € £ ¥ ₹ % ° or so exactly just is it us
""")
"""What may stand beside a number without changing it."""
