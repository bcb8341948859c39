"""Lists: references of which all is wanted, and replies that list several answers for one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from mmrag.judges.builtin.claims import WORD
from mmrag.judges.builtin.parsed_question import Ruling, Wording, tells
from mmrag.judges.builtin.parsed_text import Parsed, parse_short
from mmrag.text.lexicon import NEGATIONS, phrases, word_set
from mmrag.text.normalise import sentences
from mmrag.text.numbers import is_number


def are_lists(asked: Parsed, known: Sequence[Parsed]) -> bool:
    """Whether references are each the same list, of which all is asked for."""
    size = len(members(known[0].text))
    if size < (2 if wants_several(asked) else 3) or _ONE.search(asked.text):
        return False
    return all(len(members(reading.text)) == size for reading in known)


def whole_list(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A reply that is a list too, against references that are each the same list."""
    lists = [members(reading.text) for reading in known]
    wanted, n = len(lists[0]), len(said.words)
    if n > 6 + max(3 * wanted, 2 * len(known[0].words)) or _HEDGE.search(said.text):
        return None
    items = _SPLIT.split(_BRACKETS.sub(" ", said.text))
    told = [item for text in items if (item := Parsed(text, is_plain=True)).words]
    if any(len(item.words) > 6 for item in told[1:]):
        return None
    found, surplus, ordered = max((_matched(one, told, said) for one in lists), key=lambda m: m[0])
    if found == 0 or (len(told) < 2 and found < wanted):
        return Ruling(False, "part of the list") if found and n <= 6 else None
    if found < wanted:
        return Ruling(False, "not the whole list")
    if surplus:
        return Ruling(False, "more than the list")
    if not ordered and _ORDER.search(asked.text):
        return Ruling(False, "another order")
    return Ruling(True, "the whole list")


def second_answer(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A short reply "A and B" where B alone is asked for: a second answer spoils the first."""
    if said.sentence[-1] > 0 or not _AND.search(said.text):
        return None
    parts = _JOINED.split(_BETWEEN.sub("", said.text.strip(" .!")))
    items = [item for part in parts if (item := Parsed(part, is_plain=True)).places]
    asked_words = asked.vocabulary.difference(*(r.words for r in known))
    if any(len(item.words) > 4 or item.vocabulary & asked_words for item in items):
        return None
    spare = {root for r in known for root in r.roots} | asked.stems.keys()
    kind = (known[0].capital[-1], known[0].words[-1][0].isdecimal())
    good = 0
    for item in items:
        new = [i for i in item.places if item.roots[i] not in spare]
        if any(r.compact in item.compact for r in known):
            good += 1
        elif not new or (item.capital[new[-1]], item.words[new[-1]][0].isdecimal()) != kind:
            return None
    return Ruling(False, "more than one answer") if good == 1 < len(items) else None


def wants_several(asked: Parsed) -> bool:
    """Whether a question asks for several things: "which colours", "name the", "who were"."""
    return bool(_ALL.search(asked.text) or _MANY.search(asked.text))


@lru_cache(maxsize=500)
def members(text: str) -> tuple[Parsed, ...]:
    """The members of a list; nothing for a text that is none."""
    pieces = [piece for piece in _SPLIT.split(_BRACKETS.sub(" ", text)) if piece.strip()]
    parts = tuple(map(parse_short, pieces)) if len(pieces) > 1 else ()
    # "Laius, King of Thebes, and his queen" and dates with commas are no lists.
    alike = all(1 <= len(p.words) <= 4 + 3 * all(p.capital) and not p.dates for p in parts)
    return parts if parts and alike and len({p.capital[0] for p in parts}) == 1 else ()


def _matched(
    wanted: Sequence[Parsed], told: Sequence[Parsed], said: Parsed
) -> tuple[int, int, bool]:
    """Members found, items that are none of them, and whether the found ones are in order."""
    used: set[int] = set()
    places: list[int] = []
    for member in wanted:
        place = next((i for i, item in enumerate(told) if i not in used and _is(member, item)), -1)
        if place >= 0 or (member.compact in said.compact and len(member.compact) > 3):
            used.add(place)
            places.append(place)
    stems = {root for member in wanted for root in member.roots}
    surplus = sum(
        i not in used
        and 0 < len(item.places) <= 3 + 4 * all(item.capital)
        and item.capital[item.places[0]] == wanted[0].capital[0]
        and (
            not any(_is(member, item) for member in wanted)
            # No more than a family name is shared with the members: Andy Gibb, a brother.
            or (len(item.words) == 2 and all(item.capital) and item.roots[0] not in stems)
        )
        for i, item in enumerate(told)
    )
    if surplus >= len(places):  # "Vienna, Austria; Bratislava, Slovakia"
        surplus = 0
    return len(places), surplus, places == sorted(places)


def _is(member: Parsed, item: Parsed) -> bool:
    if next(item.occurrences(member.compact), None) is not None:
        return True
    roots = [member.roots[i] for i in member.places] or member.roots
    if 2 <= len(item.words) <= 3 and all(item.capital) and item.roots[-1] not in roots:
        return False  # Girls Aloud are no Spice Girls
    own = {item.roots[i] for i in item.places or range(len(item.words))}
    if len(roots) > 3 and all(member.capital) and not own <= set(roots):  # another maker's alarm
        return 2 * len(own.intersection(roots)) > len(roots)
    return roots[-1] in item.stems or (len(own) == 1 and own <= set(roots))


def or_strength(asked: Parsed, text: str, truth: Sequence[Wording]) -> tuple[int, bool]:
    """How plainly the truth stands at the edge of an "or", 0 to 3; and whether with a hedge."""
    found, hedged = 0, False
    for sentence in sentences(text)[:20]:
        if not _OR.search(sentence) or "://" in sentence:
            continue
        pieces = _OR_SPLIT.split(sentence)[:79]
        parts = [piece.strip() for piece in pieces[::2]]
        readings = [Parsed(part, is_plain=True) for part in parts]
        for place, (left, right) in enumerate(pairwise(readings)):
            series = len(left.words) <= 4 and len(right.words) <= 4
            if pieces[2 * place + 1] == "," and not (
                series and any(sep != "," for sep in pieces[2 * place + 3 :: 2])
            ):
                continue  # a comma between clauses offers nothing
            ahead, behind = (
                tells(part if len(part.words) <= 5 else Parsed(" ".join(near)), truth)
                for part, near in ((left, left.words[-5:]), (right, right.words[:5]))
            )
            pair = {*left.words[-1:], *right.words[:1]}
            if ahead == behind or (
                pair <= asked.vocabulary and not any(pair & set(w.words) for w in truth)
            ):
                continue  # the question's own "or", between words that are no answers to it
            other, raw = (right, parts[place + 1]) if ahead else (left, parts[place])
            if _ALIAS.match(raw) or _NAMED.search(raw) or "(" in raw or raw.endswith(")"):
                continue
            if other.places or any(map(is_number, other.words)):
                short = len(left.words) + len(right.words) <= 8
                named = any(other.capital[i] or is_number(other.words[i]) for i in other.places)
                found = max(found, 1 + short + (short and named))
                hedged = hedged or bool(HEDGE.search(sentence))
    if found and (_SETTLED.search(text) or _ASKS_ITSELF.search(text)):
        last = [p for p in _GUESS_SPLIT.split(text) if WORD.search(p)]
        ends = (last[-1], _OR_SPLIT.split(text)[-1])
        if len(last) > 2 and all(tells(Parsed(end, is_plain=True), truth) for end in ends):
            return 0, False  # "Monet or Manet? It is Monet"
    return found, hedged


def guesses(asked: Parsed, text: str, truth: Sequence[Wording]) -> bool:
    """Whether a reply guesses at the truth and at something else, or calls both as likely."""
    true = false = False
    for part in filter(HEDGE.search, _GUESS_SPLIT.split(text)[:60]):
        reading = Parsed(HEDGE.sub(" ", part), is_plain=True)
        if tells(reading, truth):
            true = True
        elif not {reading.words[i] for i in reading.places} <= asked.vocabulary | _VAGUE:
            false = True
    return false and (true or bool(_EQUALLY.search(text)))


def too_many(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A reply that lists many options for a question with one answer has not answered it.

    What opens the list ("Breeds like this include") is no option, and an option may leave out what
    the question or the last option says ("Acetic, citric, malic" for acetic acid).
    """
    text = said.text.strip(" .!?\"'[](){}")
    if (
        len(said.words) <= 25
        and not said.vocabulary.isdisjoint(("if", "unless"))
        and _DEPENDS.search(text)
        and not any("if" in r.vocabulary for r in (asked, *known))
    ):
        return Ruling(False, "one answer or the other, as the case may be")
    if said.sentence[-1] > 0 or said.marks < 2 or not _LISTING.search(text):
        return None
    items = [item for item in OPTION.split(_LEAD.sub("", text)) if item.strip()]
    if len(items) < (5 if _PROSE.search(text) and not _ALTERNATIVE.search(text) else 4):
        return None
    if sum(item.count(" ") <= 3 for item in items[1:]) < 0.75 * len(items[1:]):
        return None
    short = [item for item in map(Parsed, items) if item.words]
    kind = _kind(known[0])
    alike = [_kind(item) == kind and len(item.words) <= 3 for item in short[1:]]
    if len(short[0].words) > 4 or sum(alike) < 0.75 * len(alike):
        return None
    spare = set(asked.stems) | set(short[-1].stems)
    told = [any(_is_option(item, r, spare) for r in known) for item in short]
    wanted = {root for r in known for root in r.roots}.union(asked.roots)
    pairs = zip(short, told, strict=True)
    others = sum(not true and not set(item.roots) <= wanted for item, true in pairs)
    if any(told) and others >= max(3, 0.6 * len(items)):
        return Ruling(False, f"lists {len(items)} options")
    return None


def _kind(reading: Parsed) -> str:
    if any(is_number(word) for word in reading.words):
        return "number"
    return "name" if reading.capital[0] else "word"


def _is_option(item: Parsed, reading: Parsed, spare: set[str]) -> bool:
    if len(item.words) > len(reading.words) + 1:
        return False
    if reading.compact in item.compact:
        return True
    own = {item.roots[i] for i in item.places}
    whole = {reading.roots[i] for i in reading.places}
    return bool(own) and own <= whole <= own | spare


def too_like(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A short reply that names the truth among others of its kind.

    >>> from mmrag.judges.builtin.parsed_text import Parsed as R
    >>> too_like(R("What colour is it?"), [R("green")], R("red green blue")).reason
    'names several of a kind'
    """
    if said.sentence[-1] or said.vocabulary & NEGATIONS or wants_several(asked):
        return None
    for kind in KINDS:
        wanted = [reading.vocabulary & kind for reading in known]
        right = frozenset[str]().union(*wanted)
        named = said.vocabulary & kind
        others = named - right - asked.vocabulary - (_GRAY if right & _GRAY else frozenset())
        if any(len(one) != 1 for one in wanted) or not named & right or not others:
            continue
        if len(others) >= 2 and len(said.words) - len(named) <= 2:
            return Ruling(False, "names several of a kind")
        if _ONE_OR_ANOTHER[kind].search(said.raw) or _AS_LIKELY.search(said.raw):
            return Ruling(False, "names one or another of a kind")
    return None


_SPLIT = phrases(
    r"\s*[,;|\n&]\s*(?:(?:and|or) )?| (?:and|plus|(?:together |along )?with|as well as) | [-•*] "
)
_BRACKETS = re.compile(r"\([^()]*\)")
_ALL = re.compile(
    r"(?i)\b(?:are|were|some|examples?|two|three|four|five|six|both|all|list|names|countries"
    r"|cities|colou?rs|ingredients|members|founders|nephews|brothers"
    r"|sisters|moons|suits|lovers|allergens|flavou?rs|bones|instruments|things)\b|^\s*name\b"
)
_MANY = phrases(
    r"\b(?:which|what) (?!(?:is|was|does|has|its|his|this|causes|happens|makes)\b)(?:(?:two|three"
    r"|four|five|six|seven|other|of these) )?\w{2,}[^suia\W]s\b(?!')|\b(?:stars?|starred|between)\b"
)
_AND = phrases(r"\s(?:and|plus|as well as|together with|along with)\s|\w\s*[&+]\s*\w")
_BETWEEN = phrases(r"^.{0,30}\bbetween ")
_JOINED = phrases(r",\s*(?:and )?| (?:and|plus|as well as|together with|along with) |\s*[&+]\s*")
_ONE = phrases(r"\b(?:one of|any of|an example|where)\b")
_ORDER = phrases(r"\b(?:order|sequence|ranked|ranking|from \w+ to \w+)\b")
_HEDGE = re.compile(r"(?i)\b(?:or|perhaps|maybe|might|not|never)\b")
OPTION = phrases(r"\s*[,;|\n/]\s*(?:(?:and|or) )?| or | and | [-•*] ")
"""What sets the members of a list, or several options, apart."""
_NAMED = phrases(
    r"\b(?:for short|to give|real name|in full|by another name|as \w+ (?:would )?(?:say|call)"
    r"|if you (?:like|prefer)|she|he)\b"
)
_SETTLED = phrases(
    r"\b(?:it(?:'s| is| was)|that(?:'s| is| was)|for certain|certainly|definitely|final)\b"
)
_ASKS_ITSELF = phrases(r"\bor\b[^.?!]*\? \w")
_OR = re.compile(r"(?i)\b(?:or|xor|versus)\b|\w\s*/\s*\w")
_OR_SPLIT = re.compile(r"(?i)\s*(,?\s*\b(?:and/or|or|xor|versus)\b|,|(?<=\w)\s*/\s*(?=\w))\.?\s*")
_ALIAS = phrases(
    r"\W*(?:so|more|less|fewer|thereabouts|about|around|roughly|approximately|nearly|simply|just"
    r"|at least|better|rather|in other words|also|known|called|as it is|whatever|something|later"
    r"|earlier|above|over|under|below|if you (?:like|prefer|will|want)|to be)\b"
)
_GUESS_SPLIT = re.compile(r"(?i)[,;.?!]|\b(?:or|and|but|though|although)\b")
_EQUALLY = phrases(
    r"\b(?:equally|as well|just as|then again|alternatively|both (?:readings|are)|also (?:be"
    r"|possible)|one of (?:th|the)|hard to say|cannot decide)\b"
)
_VAGUE = word_set(
    "later more less earlier sure certain wrong mistaken something somebody someone "
    "lot little hard help want like see say tell find check look"
)
HEDGE = phrases(
    r"\b(?:perhaps|maybe|might|may|could|possibly|possible|probably|alternatively|then again"
    r"|conceivably|equally|either|just as (?:probably|likely)|not rule out|depending|candidates?)\b"
)
_GRAY = frozenset({"gray", "grey"})
KINDS = (
    word_set("red green blue yellow orange purple pink brown black white gray grey"),
    word_set("monday tuesday wednesday thursday friday saturday sunday"),
    word_set(
        "january february march april may june july august september october november december"
    ),
    word_set("north south east west"),
)
_ONE_OR_ANOTHER = {
    kind: re.compile(rf"(?i)\b(?:{one})\b\W*(?:\bor\b|\bversus\b|/)\W*(?:{one})\b")
    for kind in KINDS
    for one in ["|".join(sorted(kind))]
}
_AS_LIKELY = phrases(r"\b(?:just as|equally|as) (?:likely|possible|probable)\b")
_DEPENDS = re.compile(
    r"(?i)\b(?:if|unless)\b[^;.]{3,60}[;,.].{0,60}[;,.]\s*(?:if|otherwise|else)\b"
)
_LISTING = re.compile(
    r"(?:[,;|\n/•*]|\s-\s|\b(?:or|and)\b)(?s:.*?)(?:[,;|\n/•*]|\s-\s|\b(?:or|and)\b)"
)
_LEAD = phrases(
    r"^[^,;|\n]{2,80}?(?:\b(?:includes?|such as|like|among|either|be|is|are|was|were|one of"
    r"|made of) (?!(?:of|this|these|that)\b)|:\s*)"
)
_PROSE = re.compile(r"(?i)\b(?:in|on|by|with|from|to|which|who|that|it|he|she|they|has|have|had)\b")
_ALTERNATIVE = re.compile(r"(?i)\bor\b|\||\s/\s")
