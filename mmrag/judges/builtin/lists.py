"""Lists: references of which all is wanted, and replies that list several answers for one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from mmrag.judges.builtin.parsed_question import Ruling, Target, Wording, tells
from mmrag.judges.builtin.parsed_text import Reading, read_short
from mmrag.text.lexicon import NEGATIONS, phrases, word_set
from mmrag.text.normalise import sentences
from mmrag.text.numbers import is_number


def are_lists(asked: Reading, known: Sequence[Reading]) -> bool:
    """Whether references are each the same list, of which all is asked for."""
    sizes = {len(members(reading.text)) for reading in known}
    least = 2 if wants_several(asked) else 3
    return len(sizes) == 1 and sizes.pop() >= least and not _ONE.search(asked.text)


def whole_list(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A reply that is a list too, against references that are each the same list."""
    lists = [members(reading.text) for reading in known]
    wanted = max(lists, key=len, default=())
    if len(said.words) > 3 * len(wanted) + 6:
        return None
    told = [Reading(item, is_plain=True) for item in _items(said.text)]
    told = [item for item in told if item.words]
    if any(len(item.words) > 6 for item in told[1:]) or _HEDGE.search(said.text):
        return None
    best = max((_matched(one, told, said) for one in lists), key=lambda m: m[0])
    found, surplus, ordered = best
    if found == 0 or (len(told) < 2 and found < len(wanted)):
        return Ruling(False, "part of the list") if found and len(said.words) <= 6 else None
    if found < len(wanted):
        return Ruling(False, "not the whole list")
    if surplus:
        return Ruling(False, "more than the list")
    if _ORDER.search(asked.text) and not ordered:
        return Ruling(False, "another order")
    return Ruling(True, "the whole list")


def joined(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A short reply "A and B" where B alone is asked for: a second answer spoils the first."""
    if said.marks < 1 or said.sentence[-1] > 0 or not _AND.search(said.text):
        return None
    row = _BETWEEN.sub("", said.text.strip(" .!"))
    items = [Reading(part, is_plain=True) for part in _JOINED.split(row)]
    items = [item for item in items if item.places]
    if len(items) < 2 or any(
        len(item.words) > 4 or item.vocabulary & asked.vocabulary for item in items
    ):
        return None
    good = [any(r.compact and r.compact in item.compact for r in known) for item in items]
    spare = {root for r in known for root in r.roots} | asked.stems.keys()
    fresh = [[i for i in item.places if item.roots[i] not in spare] for item in items]
    kind = next((r.capital[-1], r.words[-1][0].isdecimal()) for r in known)
    peers = [
        bool(new) and (item.capital[new[-1]], item.words[new[-1]][0].isdecimal()) == kind
        for item, new in zip(items, fresh, strict=True)
    ]
    if sum(good) == 1 and all(ok or peer for ok, peer in zip(good, peers, strict=True)):
        return Ruling(False, "more than one answer")
    return None


def wants_several(asked: Reading) -> bool:
    """Whether a question asks for several things: "which colours", "name the", "who were"."""
    return _asks_several(asked.text)


@lru_cache(maxsize=5_000)
def _asks_several(text: str) -> bool:
    return bool(_ALL.search(text) or _MANY.search(text))


@lru_cache(maxsize=5_000)
def members(text: str) -> tuple[Reading, ...]:
    """The members of a list; nothing for a text that is none."""
    parts = tuple(
        read_short(part) for part in _SPLIT.split(_BRACKETS.sub(" ", text)) if part.strip()
    )
    if len(parts) < 2 or any(not 1 <= len(part.words) <= 4 for part in parts):
        return ()
    if any(part.dates for part in parts) or len({part.capital[0] for part in parts}) > 1:
        return ()  # "Laius, King of Thebes, and his queen" and dates with commas are no lists
    return parts


def _items(text: str) -> list[str]:
    return [item for item in _SPLIT.split(_BRACKETS.sub(" ", text)) if item.strip(" .!?")]


def _matched(
    wanted: Sequence[Reading], told: Sequence[Reading], said: Reading
) -> tuple[int, int, bool]:
    """Members found, items that are none of them, and whether the found ones are in order."""
    used: set[int] = set()
    places: list[int] = []
    for member in wanted:
        place = next((i for i, item in enumerate(told) if i not in used and _is(member, item)), -1)
        if place >= 0:
            used.add(place)
            places.append(place)
        elif member.compact in said.compact and len(member.compact) > 3:
            places.append(-1)
    surplus = sum(
        i not in used
        and 0 < len(item.content) <= 3
        and bool(item.places)
        and item.capital[item.places[0]] == wanted[0].capital[0]
        and (not any(_is(member, item) for member in wanted) or _namesake(wanted, item))
        for i, item in enumerate(told)
    )
    if surplus >= len(places):  # "Vienna, Austria; Bratislava, Slovakia"
        surplus = 0
    return len(places), surplus, places == sorted(places)


def _is(member: Reading, item: Reading) -> bool:
    if next(item.occurrences(member.compact), None) is not None:
        return True
    stems = item.stems
    roots = [member.roots[i] for i in member.places] or member.roots
    if 2 <= len(item.words) <= 3 and all(item.capital) and item.roots[-1] not in roots:
        return False  # Girls Aloud are no Spice Girls
    return roots[-1] in stems or (
        len(item.content) == 1 and item.roots[item.places[0] if item.places else 0] in roots
    )


def _namesake(wanted: Sequence[Reading], item: Reading) -> bool:
    """Whether an item shares no more than a family name with the members: Andy Gibb, a brother."""
    stems = {root for member in wanted for root in member.roots}
    return len(item.words) == 2 and all(item.capital) and item.roots[0] not in stems


def either(asked: Reading, text: str, truth: Sequence[Wording]) -> list[float]:
    """How plainly the truth stands at the edge of an "or", 0 to 3; and whether with a hedge."""
    found = hedged = 0.0
    for sentence in sentences(text)[:20]:
        if not _OR.search(sentence) or "://" in sentence:
            continue
        pieces = _OR_SPLIT.split(sentence)[:79]
        parts = [piece.strip() for piece in pieces[::2]]
        readings = [Reading(part, is_plain=True) for part in parts]
        for place, (left, right) in enumerate(pairwise(readings)):
            series = len(left.words) <= 4 and len(right.words) <= 4
            if pieces[2 * place + 1] == "," and not (
                series and any(sep != "," for sep in pieces[2 * place + 3 :: 2])
            ):
                continue  # a comma between clauses offers nothing
            tail = Reading(" ".join(left.words[-5:]), is_plain=True)
            head = Reading(" ".join(right.words[:5]), is_plain=True)
            ahead, behind = tells(tail, truth), tells(head, truth)
            if ahead == behind:
                continue
            if left.words and right.words and _own_or(left.words[-1], right.words[0], asked, truth):
                continue
            other, raw = (right, parts[place + 1]) if ahead else (left, parts[place])
            if _ALIAS.match(raw) or _NAMED.search(raw) or "(" in raw or raw.endswith(")"):
                continue
            if other.places or any(map(is_number, other.words)):
                short = len(left.words) + len(right.words) <= 8
                named = any(other.capital[i] or is_number(other.words[i]) for i in other.places)
                found = max(found, 1.0 + short + (short and named))
                hedged = max(hedged, float(bool(HEDGE.search(sentence))))
    if found and tells(Reading(_OR_SPLIT.split(text)[-1], is_plain=True), truth):
        last = [p for p in _GUESS_SPLIT.split(text) if _WORD.search(p)]
        if (
            len(last) > 2
            and tells(Reading(last[-1], is_plain=True), truth)
            and (_SETTLED.search(text) or _ASKS_ITSELF.search(text))
        ):
            return [0.0, 0.0]  # "Monet or Manet? It is Monet"
    return [found, hedged]


def _own_or(left: str, right: str, asked: Reading, truth: Sequence[Wording]) -> bool:
    """Whether the "or" is the question's own, between words that are no answers to it."""
    pair = {left, right}
    return pair <= asked.vocabulary and not any(pair & set(w.words) for w in truth)


def guesses(target: Target, text: str, truth: Sequence[Wording]) -> list[float]:
    """How many guesses hold the truth, and how many something else."""
    if not HEDGE.search(text):
        return [0.0, 0.0, 0.0]
    true = false = 0
    for part in _GUESS_SPLIT.split(text)[:60]:
        if not HEDGE.search(part):
            continue
        reading = Reading(HEDGE.sub(" ", part), is_plain=True)
        if tells(reading, truth):
            true += 1
        elif any(
            reading.words[i] not in target.asked.vocabulary and reading.words[i] not in _VAGUE
            for i in reading.places
        ):
            false += 1
    return [float(true), float(false), float(bool(_EQUALLY.search(text)))]


def row(target: Target, text: str, truth: Sequence[Wording]) -> list[float]:
    """The longest row of short items of which one is the truth: length, share, place, bare."""
    best = [0.0, 0.0, 0.0, 0.0]
    total = len(text.split()) or 1
    for block in (text, *sentences(text)[:20]):
        if len(block) > 800:
            continue
        items = [item for item in _ITEM.split(block) if _WORD.search(item)]
        # A series that the question lists, a reply may repeat.
        items = [i for i in items if i.strip() not in target.asked.vocabulary or i.isalpha()]
        if len(items) <= max(2, best[0]):
            continue
        readings = [Reading(item, is_plain=True) for item in items[:60]]
        start = end = 0
        runs: list[tuple[int, int]] = []
        for place, reading in enumerate(readings):
            if len(reading.words) > 5 and not (place == start and len(reading.words) < 12):
                runs.append((start, place))
                start = place + 1
            end = place + 1
        runs.append((start, end))
        for start, end in runs:
            told = [tells(r, truth) for r in readings[start:end]]
            alone = any(tells(r, truth) for r in (*readings[:start], *readings[end:]))
            if end - start > max(2, best[0]) and sum(told) == 1 and not alone:
                words = sum(len(i.split()) for i in items[start:end])
                best = [
                    float(end - start), words / total, told.index(True) / (end - start),
                    float(end - start == len(items) and _bare(target, items, readings, told)),
                ]  # fmt: skip
    return best


def _bare(
    target: Target, items: Sequence[str], readings: Sequence[Reading], told: Sequence[bool]
) -> bool:
    """Whether a reply is no more than a row of short items, perhaps behind "Candidates"."""
    least = 3 if not told[0] else 4  # "Springfield, Illinois, USA" is one place
    return (
        len(readings) >= least
        and not any(r.vocabulary & target.asked.vocabulary for r in readings[:-1] if r.content)
        and (len(readings[0].words) <= 3 or bool(_CHOICE.match(items[0])))
        and all(len(r.places) == len(r.words) <= 3 for r in readings[1:-1])
        and len(readings[-1].words) <= 4
    )


def numbers_in_row(target: Target, said: Reading) -> float:
    """How many different numbers a reply tells that is little but numbers."""
    if len(said.quantities) < 2:
        return 0.0
    values = {q.raw for q in said.quantities} - target.asked_values
    if "(" in said.raw or any(date.month for date in said.dates):
        return 0.0
    words = [w for w in said.words if not is_number(w)]
    if len(values) < 2 or len(words) > len(values) + 3:
        return 0.0
    return float(len(values - {q.raw for q in target.quantities}))


def options(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
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
    alternatives = bool(_ALTERNATIVE.search(text))
    if len(items) < (4 if alternatives or not _PROSE.search(text) else 5):
        return None
    if sum(item.count(" ") <= 3 for item in items[1:]) < 0.75 * len(items[1:]):
        return None
    short = [item for item in map(Reading, items) if item.words]
    kind = _kind(known[0])
    alike = [_kind(item) == kind and len(item.words) <= 3 for item in short[1:]]
    if len(short[0].words) > 4 or sum(alike) < 0.75 * len(alike):
        return None
    spare = set(asked.stems) | set(short[-1].stems)
    told = [any(_is_option(item, r, spare) for r in known) for item in short]
    wanted = {root for r in known for root in r.roots}
    others = [
        item
        for item, true in zip(short, told, strict=True)
        if not true and set(item.roots) - wanted - set(asked.roots)
    ]
    if any(told) and len(others) >= 3 and len(others) >= 0.6 * len(items):
        return Ruling(False, f"lists {len(items)} options")
    return None


def _kind(reading: Reading) -> str:
    if any(is_number(word) for word in reading.words):
        return "number"
    return "name" if reading.capital[0] else "word"


def _is_option(item: Reading, reading: Reading, spare: set[str]) -> bool:
    if len(item.words) > len(reading.words) + 1:
        return False
    if reading.compact in item.compact:
        return True
    own = {item.roots[i] for i in item.places}
    whole = {reading.roots[i] for i in reading.places}
    return bool(own) and own <= whole <= own | spare


def of_one_kind(known: Sequence[Reading]) -> bool:
    """Whether every reference names one thing of a closed kind: a colour, a day, a month."""
    return any(all(len(r.vocabulary & kind) == 1 for r in known) for kind in _KINDS)


def heaped(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A short reply that names the truth among others of its kind.

    >>> from mmrag.judges.builtin.parsed_text import Reading as R
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
_WORD = re.compile(r"[^\W_]")
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
_ITEM = phrases(r"[,;|\n/:•*?]|\s-\s|\b(?:and|or)\b|&|(?<=\d) (?=\d)")
_CHOICE = phrases(r"\W*(?:candidates?|options?|one of|it is one of|either|possib\w+)\b")
HEDGE = phrases(
    r"\b(?:perhaps|maybe|might|may|could|possibly|possible|probably|alternatively|then again"
    r"|conceivably|equally|either|just as (?:probably|likely)|not rule out|depending|candidates?)\b"
)
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
