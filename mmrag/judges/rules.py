"""The CRAG-MM guideline's clear cases, decided by rule before the calibrated model is asked.

Each rule speaks only where it is sure. Human verdicts on open-domain questions hold few of these
cases (units, option lists, "yes" against "no"), so a model learnt from them alone would miss them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mmrag.judges.attributes import another_attribute
from mmrag.judges.heaps import heaped
from mmrag.judges.labels import labelled
from mmrag.judges.lexicon import APPROXIMATE, AUXILIARIES, DENIALS, OPENERS, STOPWORDS
from mmrag.judges.numbers import Quantity, is_number, same_date, same_quantity
from mmrag.judges.polarity import opposite, yes_or_no
from mmrag.judges.reading import Reading, read_short, stem
from mmrag.judges.ruling import Ruling
from mmrag.judges.scripts import foreign, sounds_like
from mmrag.judges.sets import OPTION, joined, options, wants_several, whole_list
from mmrag.judges.settling import settles
from mmrag.judges.values import value


def rule(question: str, references: Sequence[str], said: Reading) -> Ruling | None:
    """The first rule that applies, or None."""
    asked = read_short(question)
    known = _readings(tuple(references))
    if not known or not said.words:
        return None
    return (
        _choice(asked, known, said)
        or heaped(asked, known, said)
        or labelled(asked, known, said)
        or yes_or_no(asked, known, said)
        or _premise(asked, known, said)
        or options(asked, known, said)
        or opposite(asked, known, said)
        or _denied(asked, known, said)
        or settles(asked, known, said)
        or value(asked, known, said)
        or _quantity(asked, known, said)
        or _date(known, said)
        or _abbreviation(known, said)
        or whole_list(asked, known, said)
        or joined(asked, known, said)
        or _part_only(asked, known, said)
        or _set(known, said)
        or _other_script(known, said)
        or _other_name(asked, known, said)
    )


@lru_cache(maxsize=3_000)
def _readings(references: tuple[str, ...]) -> list[Reading]:
    return [reading for reading in map(read_short, references) if reading.words]


def _choice(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    """A question that offers "Ada or Bela?" with references and a reply that name one of them."""
    found = _TWO.search(asked.text)
    if not found or len(said.words) > 12 or DENIALS & said.vocabulary:
        return None
    options = [stem(word.lower()) for word in found.groups()]
    wanted = {_first(options, reading) for reading in known}
    if len(wanted) != 1 or None in wanted or options[0] == options[1]:
        return None
    if chosen := _ONE_OF_TWO.match(said.text):
        place = 0 if chosen[1] else 1 if chosen[2] else None
        right = place is not None and options[place] in wanted
        return Ruling(right, "the former or the latter")
    told = _first(options, said)
    both = all(option in said.stems for option in options)
    if told is None or (both and not _THAN.search(said.text)):
        return None
    return Ruling(told in wanted, "one of the two that are asked about")


def _first(options: list[str], reading: Reading) -> str | None:
    places = {reading.stems[option]: option for option in options if option in reading.stems}
    if len(places) == 2 and not _THAN.search(reading.text):
        return None
    return places[min(places)] if places else None


def _premise(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    """References that turn the question down, and a reply that does so too, or plays along."""
    if not all(
        _TURNED_DOWN.search(r.raw) and (len(r.words) > 2 or _NONE.match(r.raw)) for r in known
    ):
        return None
    if (asked.words and asked.words[0] in AUXILIARIES) or len(said.words) > 60:
        return None
    if len(known) > 2 and wants_several(asked):
        return None  # a list of things that are not so
    refuses = bool(_TURNS_DOWN.search(said.raw)) or (
        said.words[0] == "0" and len(said.words) < 12 and asked.text.lower().startswith("how many")
    )
    fresh = {root for r in known for root in r.roots if root not in asked.stems}
    shared = fresh & {said.roots[i] for i in said.places}
    if not refuses and len(shared) < 2:
        return Ruling(False, "plays along with a false premise")
    given = {0.0, 1.0, *(q.raw for r in (asked, *known) for q in r.quantities)}
    if (
        len(shared) < 2
        and len(said.words) <= 25
        and any(q.raw not in given for q in said.quantities)
    ):
        return Ruling(False, "turns the question down, and answers it all the same")
    both = {root for r in known for root in r.roots} & set(said.roots)
    if len(both) >= 2 or _TRICK.search(said.raw) or len(said.words) <= 6:
        return Ruling(True, "turns the question down as the reference does")
    return None


def _denied(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    """The answer stands there only to be denied: "It is not Paris"."""
    found = denied = 0
    for reading in known:
        if reading.compact not in said.compact:
            continue
        if not reading.places or reading.words[0] in DENIALS:
            continue
        for start, end in said.occurrences(reading.compact):
            found += 1
            before = said.words[max(0, start - 3) : start]
            after = said.words[end : end + 2]
            number = said.sentence[start]
            near = [
                w for i, w in enumerate(before, max(0, start - 3)) if said.sentence[i] == number
            ]
            if len(after) == 2 and after[0] in _HELPERS and after[1] in DENIALS:
                denied += 1
                continue
            denied += bool(near) and (
                near[-1] in DENIALS
                or (
                    near[-1] in ("no", "without")
                    and not _NO_COMMA.search(said.text)
                    and not _ASKS_ABSENCE.search(asked.text)
                )
                or (len(near) > 1 and near[-2] in DENIALS and near[-1] in STOPWORDS)
                or (len(near) > 2 and near[-3] in DENIALS and near[-1] in ("or", "nor"))
                or near[-2:] == ["rather", "than"]
                or near[-2:] == ["instead", "of"]
            )
    if found and denied == found:
        return Ruling(False, "denies the reference")
    if denied and len(said.words) <= 16:
        return Ruling(False, "contradicts itself")
    return None


def _quantity(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    """References that are one number or measure each, and a reply that tells such a quantity."""
    if another_attribute(set(asked.roots), set(said.roots)):
        return None
    counted = bool(_COUNTED.search(asked.text))
    wanted: list[Quantity] = []
    for reading in known:
        if len(reading.quantities) != 1 or not _only_quantity(reading):
            return None
        wanted.append(
            reading.quantities[0]._replace(year=reading.quantities[0].year and not counted)
        )
    if any(q.year or q.ordinal for q in wanted):
        return None
    kinds = {q.kind for q in wanted if q.kind}
    repeated = {(q.raw, q.kind) for q in asked.quantities}
    told = [q for q in said.quantities if (q.raw, q.kind) not in repeated and not q.ordinal]
    if kinds:
        money = any(kind.startswith("money") for kind in kinds)
        measured = [q for q in told if q.kind in kinds or (money and q.kind.startswith("money"))]
        if not measured and len(told) == 1 and told[0].kind and len(said.words) <= 6:
            return Ruling(False, "another kind of quantity")
        told = measured
        wanted = [q for q in wanted if q.kind]
    elif len(told) != 1 or (told[0].year and not counted) or len(said.words) > 12:
        return None
    told = [q._replace(year=q.year and not counted) for q in told]
    if not told:
        return None
    good = [
        any(same_quantity(q, o) and (q.kind or counted or q.raw == o.raw) for o in wanted)
        for q in told
    ]
    if all(good):
        exactly = any(
            abs(q.value - w.value) <= 0.002 * abs(w.value) or q.unit != w.unit
            for q in told
            for w in wanted
        )
        return Ruling(True, "the same quantity" if exactly else "rounded", exactly)
    if not any(good) and len(told) <= 2:
        return Ruling(False, "another quantity")
    return None


def _date(known: list[Reading], said: Reading) -> Ruling | None:
    """References that are dates to the day, and a reply that tells only other days."""
    if any(len(r.dates) != 1 or r.dates[0].day is None for r in known):
        return None
    told = [date for date in said.dates if date.day is not None]
    if not told or len(told) != len(said.dates) or len(said.words) > 12:
        return None
    if all(same_date(date, r.dates[0]) is False for date in told for r in known):
        return Ruling(False, "another date")
    return None


def _abbreviation(known: list[Reading], said: Reading) -> Ruling | None:
    """One side is the initials of the other: JFK, NASA, WWF."""
    for reading in known:
        for short, long in ((said, reading), (reading, said)):
            if len(short.words) != 1 or not short.text.strip(" .!").isupper():
                continue
            letters = short.words[0]
            named = [w for w, c in zip(long.words, long.capital, strict=True) if c]
            initials = "".join(word[0] for word in named)
            whole = len(named) == len(long.content) or short is said
            if (
                len(letters) >= 2
                and len(long.words) <= 8
                and whole
                and (initials == letters or (len(letters) >= 3 and initials.startswith(letters)))
            ):
                return Ruling(True, "an abbreviation")
    return None


def _part_only(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    """Some words of the reference, and too few of them.

    "a comet" for "comet 67P" is the kind and no name. Who asks for a whole name, for what is
    written, or for two things at once wants all of it.
    """
    kind = bool(_A.match(said.raw)) and len(said.words) <= 3 and not any(said.capital)
    if not kind and not _ASKS_ALL.search(asked.text):
        return None
    for reading in known:
        missed = [i for i in reading.places if reading.roots[i] not in said.stems]
        told = set(said.roots) <= set(reading.roots)
        if not told or not missed:
            return None
        named = any(reading.capital[i] or is_number(reading.words[i]) for i in missed)
        if kind and not named:
            return None
    return Ruling(False, "the kind of thing only" if kind else "a part of what is asked for")


def _set(known: list[Reading], said: Reading) -> Ruling | None:
    """A reference that is one list of three or more, and a short reply with few of its members."""
    if len(known) != 1:
        return None
    members = [read_short(part) for part in OPTION.split(known[0].text) if part.strip()]
    if len(members) < 3 or any(not 1 <= len(member.words) <= 4 for member in members):
        return None
    found = sum(member.compact in said.compact for member in members)
    if len(said.words) <= 3 * len(members) and found <= 0.34 * len(members):
        items = [part for part in OPTION.split(said.text) if part.strip()]
        if len(items) >= 3:
            return Ruling(False, "other members of the set")
    return None


def _other_script(known: list[Reading], said: Reading) -> Ruling | None:
    """A short reply in another script that sounds like the reference."""
    text = said.raw.strip(" .!?")
    if len(text) > 60 or text.isascii() or not foreign(text):
        return None
    if any(not foreign(r.text) and sounds_like(r.text, text) for r in known):
        return Ruling(True, "sounds like the reference")
    return None


def _other_name(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    """A short reply that is a name like the reference but of somebody or something else."""
    own = _name(said)
    if (
        own is None
        or _ASIDE.search(said.text)
        or any(r.compact in said.compact or said.compact in r.compact for r in known)
    ):
        return None
    asked_words = asked.vocabulary
    for reading in known:
        name = _name(reading)
        if name is None:
            return None
        numbers, others = _numbers(name), _numbers(own)
        if numbers and others:
            if numbers & others:
                return None
            continue
        left = [w for w in name if not _like(w, own) and w not in asked_words]
        right = [w for w in own if not _like(w, name) and w not in asked_words]
        if not left or not right or not any(_like(w, own) for w in name):
            return None
    return Ruling(False, "a similar name")


def _name(reading: Reading) -> list[str] | None:
    """The words of a text that is nothing but a name of two to five words.

    What only opens the sentence ("It was ...", "Probably ...") has its capital for that.
    """
    words = [
        (w, c)
        for place, (w, c) in enumerate(zip(reading.words, reading.capital, strict=True))
        if (w not in STOPWORDS or (c and place)) and w not in OPENERS
    ]
    if not 2 <= len(words) <= 5 or len(reading.words) > 6 or reading.sentence[-1] > 0:
        return None
    if ":" in reading.text:
        return None  # "Author: ..." names what is named
    if not all(c or is_number(w) for w, c in words):
        return None
    return ["1" if w == "i" else w for w, _ in words]


def _numbers(words: list[str]) -> set[str]:
    return {word for word in words if is_number(word)}


def _like(word: str, others: list[str]) -> bool:
    """The same word, an initial of it, or spelled nearly so."""
    initials = "".join(other[0] for other in others)
    return (1 < len(word) <= 3 and (word in initials or word[0] == initials[:1])) or any(
        word == other
        or stem(word) == stem(other)
        or (min(len(word), len(other)) == 1 and word[0] == other[0])
        or (min(len(word), len(other)) > 3 and word[:3] == other[:3] and word[-1] == other[-1])
        or (min(len(word), len(other)) > 3 and word[:-2] == other[:-2])
        or (min(len(word), len(other)) > 3 and _misspelled(word, other))
        or _NUMERALS.get(word, word) == _NUMERALS.get(other, other)
        for other in others
    )


def _misspelled(word: str, other: str) -> bool:
    """Marie and Mary, Yotam and Jotam: no other name, perhaps."""
    return abs(len(word) - len(other)) <= 2 and (word[:3] == other[:3] or word[1:] == other[1:])


def _only_quantity(reading: Reading) -> bool:
    quantity = reading.quantities[0]
    rest = reading.tokens[: quantity.start] + reading.tokens[quantity.end :]
    return all(token in APPROXIMATE or token in _LEVEL for token in rest)


_COUNTED = re.compile(
    r"(?i)^how\b|\b(?:population|number|amount|total|size|price|cost|age|weight|height|length|width"
    r"|depth|distance|speed|area|volume|count|rate|many|much|attendance|capacity|salary)\b"
)
_LEVEL = frozenset({"over", "under", "above", "below", "sea", "level", "more", "less", "than"})
_NUMERALS = {"v": "5", "x": "10", "i": "1"}
_ASKS_ALL = re.compile(
    r"(?i)\b(?:full|complete|whole|entire|exact)\s+(?:name|title|address|text|sentence|wording"
    r"|date)\b"
    r"|\b(?:inscribed|engraved|inscription|slogan|motto|caption)\b"
    r"|\bwhat(?:'s|\s+is|\s+stands)?\s+(?:written|printed)\b"
    r"|\bdoes\s.{1,40}\s(?:say|read)\W*$|\b(?:who|what|when|where|which"
    r"|how)\b.{0,40}\band\s+(?:at\s+|in\s+"
    r"|for\s+)?(?:who|what|when|where|which|how)\b|\bthe\s+\w+\s+and\s+the\s+\w+\s+of\b"
)
_A = re.compile(r"(?i)\W*(?:it(?:'s|\s+is|\s+was)\s+)?(?:an?|some)\s")
_ASKS_ABSENCE = re.compile(
    r"(?i)\b(?:prohibit\w*|forbid\w*|forbad\w*|ban|bans|banned|(?:dis)?allow\w*|lack\w*|without|missing|free"
    r"|not|n't|never|stop\w*|avoid\w*|leave\w*\s+out)\b"
)
_NO_COMMA = re.compile(r"(?i)\bno\s*[,.:;!-]")
_HELPERS = frozenset({"did", "does", "do", "is", "was", "were", "are", "has", "had"})
_TWO = re.compile(r"(\w+),? or (?:an? |the )?(\w+)\?\s*$")
_ONE_OF_TWO = re.compile(
    r"(?i)\W*(?:it(?:'s|\s+is|\s+was)\s+)?(?:(the\s+(?:former|first)\b)|(the\s+(?:latter|second)\b)"
    r"|(?:both|neither|either)\b)"
)
_THAN = re.compile(r"\bthan\b")
_NONE = re.compile(r"(?i)\W*(?:none|nobody|no one|never|zero|nothing)\b")
_TURNED_DOWN = re.compile(
    r"(?i)\bfalse premise\b|^\W*(?:none|nobody|never)\b|^\W*(?:he|she|it|they"
    r"|there)\b.{0,20}(?:\bnot\b|\bnever\b|n't\b|\bno\b)"
    r"|^\W*no \w+|\b(?:has|have|had|is|was|are|were|did|does)\s+(?:not|never|no)\b"
    r"|\bnever (?:ran|had|was|did|said|says|made|wrote|married|won)\b"
)
_TURNS_DOWN = re.compile(
    r"(?i)\b(?:not|never|none|nobody|no|zero|without|false|myth|trick|premise|neither|nothing"
    r"|only|outside)\b|n't\b"
)
_TRICK = re.compile(r"(?i)\b(?:trick|myth|false premise|premise is (?:false|wrong))\b")
_ASIDE = re.compile(r"(?i)\bother than\b|,|\bMiss\b|\bM(?:r|rs|s)\b")
