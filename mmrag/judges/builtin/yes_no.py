"""Questions of yes or no: which way a reply goes, however it is put."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmrag.judges.builtin.parsed_question import Ruling
from mmrag.judges.builtin.parsed_text import Parsed, parse_short
from mmrag.text.lexicon import AUXILIARIES, NEGATIONS, phrases, stem, word_set
from mmrag.text.normalise import sentences
from mmrag.text.opposites import another_attribute, opposed
from mmrag.text.refusals import without_doubt


def yes_or_no(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A reply against references that are yes or no, or open with it."""
    wanted = {TOLD.get(reading.words[0]) for reading in known if len(reading.words) == 1}
    if not wanted:
        return _opposed(asked, known, said)
    if wanted <= {None} or {True, False} <= wanted:
        return None
    if None in wanted and len({reading.words[0][:4] for reading in known}) > 1:
        return None  # but "False" and "Falsehood" are one
    doubted = without_doubt(said.raw)
    said = said if doubted is None else parse_short(doubted)
    way = polarity(asked, said) if said.words else None
    if way is None:
        return None if doubted is None else Ruling(False, "says neither yes nor no", declines=True)
    told = [word == "yes" for word in said.words if word in _PLAIN]
    if told and told[0] == way and (not way) in told[1:] and len(said.words) < 25:
        return Ruling(False, "says both yes and no")
    asked_years, years = ({date.year for date in r.dates} - {None} for r in (asked, said))
    if way in wanted and asked_years and years - asked_years and len(said.words) > 1:
        return Ruling(False, "the yes or no of another year")
    right, given = ("yes" if told else "no" for told in (True in wanted, way))
    return Ruling(way in wanted, f"{right} was wanted, {given} was said")


def opposite(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A reply that says the opposite of the reference in one word: started a war for ended it."""
    if any(r.vocabulary & NEGATIONS or len(r.words) > 15 for r in (said, *known)):
        return None
    own = set(said.roots) - asked.stems.keys()
    if all(another_attribute(set(r.roots) - asked.stems.keys(), own) for r in known):
        return Ruling(False, "the opposite of the reference")
    return None


def polarity(asked: Parsed, said: Parsed) -> bool | None:
    """Whether a reply says yes or no to a question; None where it does neither.

    An opening word decides. Else an even number of negatives is a yes and an odd one a no, a word
    opposed to one of the question counting as one; without any, a reply must take the question's
    words up again, or put something else in their place.

    >>> ask = parse_short("Is the shop closed?")
    >>> polarity(ask, parse_short("It isn't open.")), polarity(ask, parse_short("It isn't closed."))
    (True, False)
    """
    text = said.raw.strip()
    if _NO_AT_ALL.match(text):
        return False
    if said.words[0] in _YES | _NO:
        return said.words[0] in _YES
    if found := _SO_IT_IS.search(text):
        return not found.group(1)
    if asked.words and asked.words[0] in AUXILIARIES and (way := _implied(asked, said)) is not None:
        return way
    if len(said.words) > 25 or not asked.words or asked.words[0] not in AUXILIARIES | {"there"}:
        return None
    first = parse_short((sentences(text) or [text])[0])
    return _stated(asked, first if first.words else said)


def _implied(asked: Parsed, said: Parsed) -> bool | None:
    """A yes or no that stands in what is taken for granted: when it was, how many there are."""
    text = said.raw
    if _ALONE.search(text) and asked.places and asked.roots[asked.places[-1]] not in said.stems:
        return False  # "They live on leaves alone"
    if len(said.words) <= 12 and not _NEGATIVE.search(text):
        # Another time would deny a time that the question names.
        timed = asked.dates or asked.quantities or _OWN_TIME.search(asked.raw)
        if not timed and _WHEN.fullmatch(text):
            return True
        counts = not asked.quantities and _EXISTS.search(asked.text)
        if counts and (_SOME.match(text) or (_ANY.search(asked.text) and _THINGS.fullmatch(text))):
            return True
    return _compared(asked, said)


def _compared(asked: Parsed, said: Parsed) -> bool | None:
    """Whether a reply puts the same side ahead as "Is A deeper than B?" does."""
    found = _THAN.match(asked.text)
    if not found or said.sentence[-1] > 0:
        return None
    one, other = (Parsed(found[i], is_plain=True) for i in (1, 3))
    quality = stem(found[2].lower())
    first, second = (
        min((said.stems[root] for root in side.roots if root in said.stems), default=99)
        for side in (one, other)
    )
    reverse = opposed({quality}, said.stems)
    if first == second or (not reverse and quality not in said.stems):
        return None
    return (len(_NEGATIVE.findall(said.raw)) + reverse + (second < first)) % 2 == 0


def _stated(asked: Parsed, said: Parsed) -> bool | None:
    text = _EMPHATIC.sub("", said.raw)
    negatives = len(_NEGATIVE.findall(_CONTRAST.sub(" ", text))) + opposed(asked.stems, said.stems)
    negatives += bool(_FREE_OF.search(text)) and "free" not in asked.vocabulary
    if negatives:
        return negatives % 2 == 0
    if text != said.raw:
        return False  # "..., no."
    if _SURE.match(text) or _PRO_FORM.match(text):
        return True
    about = {asked.roots[i] for i in asked.places}
    copula = _COPULA.match(text)
    rest = parse_short(text[copula.end() :]) if copula else said
    again = about & {rest.roots[i] for i in rest.places}
    if copula and asked.words[0] in _BE and rest.words and len(said.words) <= 8 and not again:
        looks = _LOOKS.search(rest.raw) and not _LOOKS.search(asked.raw)
        return None if looks or _MORE.search(asked.raw) else False  # "fruits" for vegetables
    predicate = {asked.roots[i] for i in asked.places[-1:]}
    opened = len(said.words) > 1 and said.words[0] in _PRONOUNS and said.roots[1] in about
    return True if again & predicate or opened else None


def _opposed(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A reply that opens with no where the reference opens with yes, and the reverse."""
    first = {_PLAIN.get(reading.words[0]) for reading in known}
    told = _PLAIN.get(said.words[0])
    if told is None or None in first or len(first) > 1:
        return None
    if told not in first:
        return Ruling(False, "yes against no")
    if asked.words and asked.words[0] in AUXILIARIES:
        heard = asked.vocabulary.union(*(reading.vocabulary for reading in known))
        named, *names = (
            {r.words[i] for i in r.places if r.capital[i] and i > 0} for r in (said, *known)
        )
        others = named - heard
        if others and not set[str]().union(*names) & said.vocabulary - asked.vocabulary:
            return Ruling(False, "the same yes or no of something else")
        if len(said.words) <= 25 and not others:
            return Ruling(True, "the same yes or no")
    return None


_PLAIN = {"yes": True, "no": False}
TOLD = {**_PLAIN, "true": True, "false": False, "correct": True}
_YES = word_set("yes true correct right yep yeah yup aye absolutely certainly definitely indeed")
_NO = word_set("no false nope nah never wrong hardly incorrect")
_PRONOUNS = word_set("i it they he she you we")
_BE = frozenset({"is", "are", "was", "were"})
_NEGATIVE = phrases(
    r"(?<=\w)n't\b|\b(?:not|never|no|none|nobody|nothing|neither|nor|without|cannot|hardly|barely"
    r"|scarcely|deny|denied|denies|wrong|false|untrue|incorrect|mistaken|myth|misconception|yet to"
    r"|far from|forbidden|banned|prohibited|illegal|refused?|fail(?:s|ed)?|lacks?|impossible"
    r"|lost (?:that|its|the|his|her|their)|unable|instead of|rather than|anything but"
    r"|before reaching)\b|(?:^|[.!?,;:]\s)\W*only\b|\b(?!wire|cord|stain|loss|seam|price|end"
    r"|base)\w{3,}less\b"
)
_FREE_OF = phrases(r"\w-free\b|\bfree (?:of|from)\b")
_WHEN = phrases(
    r"\W*(?:(?:about|just|around|nearly|almost|some) )?(?:(?:\w+ ){1,3}ago|(?:in|since) \d{4}"
    r"|since \w+(?:\s\w+)?|from \d{4} on(?:wards)?|yesterday|last (?:night|week|month|year)"
    r"|every \w+|always|all the time|(?:once|twice|several times|many times|often))\W*"
)
_OWN_TIME = re.compile(
    r"(?i)\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|(?<=\s)(?-i:May)|june|july"
    r"|august|september|october|november|december|today|tonight|tomorrow|yesterday|now|still"
    r"|currently|before|after|since|until|till|during|ago|last|next|every|always|often|once|twice"
    r"|daily|weekly|monthly|yearly|annually|spring|summer|autumn|winter|christmas|easter"
    r"|(?:mid)?(?:day|night|week|month|year|hour|minute|decade|century|morning|noon|afternoon|evening|weekend"
    r"|season|time)s?|(?:week|centu)\w+|midnight)\b"
)
_EXISTS = phrases(r"^\W*(?:is|are|was|were) there\b|\b(?:an?|any|some|more than one)\b")
_SOME = phrases(
    r"\W*(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|several|many|plenty|lots|a few"
    r"|a couple|dozens)\b(?!\s*(?:%|percent|thing|of (?:them|the)\b))"
)
_ALONE = phrases(r"\b(?:alone|exclusively|solely|nothing but|nothing else than)\b")
_ANY = phrases(r"^\W*(?:is|are|was|were) there any\b|\bany\b")
_THINGS = phrases(r"\W*\w+(?:,\s\w+){0,4},? and \w+\W*")
_THAN = phrases(r"\W*(?:is|are|was|were) (.+?) (?:more |less )?(\w+) than (.+?)\W*$")
_CONTRAST = phrases(r"\bnot (?:only|just|merely|to mention)\b|\bno doubt\b|\bif only\b")
_EMPHATIC = re.compile(r"(?i)[,;]\s*no\W*$")
_SURE = phrases(
    r"\W*(?:sure|surely|of course|very|exactly|always|naturally|obviously|clearly|quite|totally"
    r"|completely|entirely|without (?:a )?doubt|undoubtedly|affirmative|you bet)\b"
)
_PRO_FORM = phrases(
    r"\W*(?:\w+ly (?:speaking,? )?)?(?:i|it|they|he|she|you|we|there|that|this) (?:does|do|did|is"
    r"|are|was|were|has|have|had|can|could|will|would|may|must|should)\b(?=\s*(?:$|[.,;!]|indeed"
    r"|so\b|too\b))"
)
_COPULA = phrases(
    r"\W*(?:it|they|he|she|that|this|these|those|\w+(?:\s\w+)?)(?:'s|'re| (?:is|are|was|were"
    r"|belongs?|comes?))\b"
)
_MORE = re.compile(
    r"(?i)\b(?:more|less|than|better|worse|cheaper|dearer|older|newer|younger|bigger|smaller|larger"
    r"|taller|shorter|longer|wider|higher|lower|faster|slower|heavier|lighter|safer|stronger)\b"
)
"""What asks for a comparison; naming the thing does not deny it."""
_LOOKS = re.compile(
    r"(?i)\b(?:red|orange|yellow|green|blue|purple|pink|brown|black|white|gr[ae]y|big|small|large"
    r"|long|short|tall|round|square|heavy|light|old|new|nice|beautiful|metal|wooden|plastic)\b"
)
"""How a thing looks, which denies no more than another look."""
_NO_AT_ALL = phrases(
    r"(?:absolutely|certainly|definitely|of course|most certainly) not\b(?! not)|not at all\b"
    r"|by no means\b"
)
_SO_IT_IS = phrases(
    r"(?:\bso |:\s*)(?:it|they|he|she|you|there|this|that) (?:does|do|is|are|can|did|was|were|has"
    r"|have|may)(n'?t| not)?\W*$|^\W*i (?:think|believe|guess|suppose) so\W*$"
)
