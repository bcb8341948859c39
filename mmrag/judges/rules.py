"""The CRAG-MM guideline's clear cases, decided by rule before the calibrated model is asked.

Each rule speaks only where it is sure. Human verdicts on open-domain questions hold few of these
cases (units, option lists, "yes" against "no"), so a model learnt from them alone would miss them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mmrag.judges.attributes import another_attribute
from mmrag.judges.lexicon import APPROXIMATE, AUXILIARIES, DENIALS, OPENERS, STOPWORDS
from mmrag.judges.numbers import Quantity, is_number, same_date, same_quantity
from mmrag.judges.reading import Reading, read_short, stem
from mmrag.judges.ruling import Ruling
from mmrag.judges.scripts import foreign, sounds_like
from mmrag.judges.sets import whole_list
from mmrag.judges.values import value


def rule(question: str, references: Sequence[str], said: Reading) -> Ruling | None:
    """The first rule that applies, or None."""
    asked = read_short(question)
    known = _readings(tuple(references))
    if not known or not said.words:
        return None
    return (
        _choice(asked, known, said)
        or _yes_or_no(asked, known, said)
        or _premise(asked, known, said)
        or _options(asked, known, said)
        or _denied(known, said)
        or value(asked, known, said)
        or _quantity(asked, known, said)
        or _date(known, said)
        or _abbreviation(known, said)
        or whole_list(asked, known, said)
        or _set(known, said)
        or _other_script(known, said)
        or _other_name(asked, known, said)
    )


@lru_cache(maxsize=3_000)
def _readings(references: tuple[str, ...]) -> list[Reading]:
    return [reading for reading in map(read_short, references) if reading.words]


def _yes_or_no(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    wanted = {_YES_NO.get(reading.words[0]) for reading in known if len(reading.words) == 1}
    if not wanted and (opposed := _opposed(asked, known, said)):
        return opposed
    if wanted <= {None} or {True, False} <= wanted:
        return None
    if None in wanted and len({reading.words[0][:4] for reading in known}) > 1:
        return None  # but "False" and "Falsehood" are one
    opening = _polarity(said)
    if opening is not None:
        told = [word == "yes" for word in said.words if word in _PLAIN]
        if (not opening) in told[1:] and len(said.words) < 25:
            return Ruling(False, "says both yes and no")
        return Ruling(opening in wanted, "yes or no")
    return None


def _opposed(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    """A reply that opens with no where the reference opens with yes, and the reverse."""
    first = {_PLAIN.get(reading.words[0]) for reading in known}
    told = _PLAIN.get(said.words[0])
    if len(first) == 1 and told is not None and None not in first and told not in first:
        return Ruling(False, "yes against no")
    if first == {told} and told is not None and asked.words and asked.words[0] in AUXILIARIES:
        heard = asked.vocabulary.union(*(reading.vocabulary for reading in known))
        named = [said.words[i] for i in said.places if said.capital[i] and i > 0]
        others = [word for word in named if word not in heard]
        if others and not _names(known) & said.vocabulary - asked.vocabulary:
            return Ruling(False, "the same yes or no of something else")
        if len(said.words) <= 25 and not others:
            return Ruling(True, "the same yes or no")
    return None


def _names(known: list[Reading]) -> set[str]:
    return {r.words[i] for r in known for i in r.places if r.capital[i] and i > 0}


def _choice(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    """A question that offers "Ada or Bela?" with references and a reply that name one of them."""
    found = _TWO.search(asked.text)
    if not found or len(said.words) > 12 or DENIALS & said.vocabulary:
        return None
    options = [stem(word.lower()) for word in found.groups()]
    wanted = {_first(options, reading) for reading in known}
    told = _first(options, said)
    if len(wanted) != 1 or None in wanted or told is None or options[0] == options[1]:
        return None
    both = all(option in said.stems for option in options)
    if both and not _THAN.search(said.text):
        return None
    return Ruling(told in wanted, "one of the two that are asked about")


def _first(options: list[str], reading: Reading) -> str | None:
    places = {reading.stems[option]: option for option in options if option in reading.stems}
    if len(places) == 2 and not _THAN.search(reading.text):
        return None
    return places[min(places)] if places else None


def _polarity(said: Reading) -> bool | None:
    """Whether a reply opens, or ends, with a plain yes or no."""
    text = said.text.strip()
    if _NO_AT_ALL.match(text):
        return False
    opening = _YES_NO.get(said.words[0])
    if opening is None and (found := _SO_IT_IS.search(text)):
        return not found.group(1)
    return opening


def _premise(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    """References that turn the question down, and a reply that does so too, or plays along."""
    if not all(
        _TURNED_DOWN.search(r.raw) and (len(r.words) > 3 or _NONE.match(r.raw)) for r in known
    ):
        return None
    if (asked.words and asked.words[0] in AUXILIARIES) or len(said.words) > 60:
        return None
    refuses = bool(_TURNS_DOWN.search(said.raw)) or (
        said.words[0] == "0" and len(said.words) < 12 and asked.text.lower().startswith("how many")
    )
    if not refuses:
        return Ruling(False, "plays along with a false premise")
    shared = {root for r in known for root in r.roots} & set(said.roots)
    if len(shared) >= 2 or _TRICK.search(said.raw) or len(said.words) <= 6:
        return Ruling(True, "turns the question down as the reference does")
    return None


def _options(asked: Reading, known: list[Reading], said: Reading) -> Ruling | None:
    """A reply that lists many options for a question with one answer has not answered it."""
    if said.sentence[-1] > 0 or len(said.words) > 80:
        return None
    if sum(map(said.text.count, ",;|\n/-•*")) + sum(w in ("or", "and") for w in said.words) < 3:
        return None
    items = [item for item in _OPTION.split(said.text.strip(" .!?\"'[](){}")) if item.strip()]
    alternatives = bool(_ALTERNATIVE.search(said.text))
    if len(items) < (4 if alternatives else 5) or any(
        len(_OPTION.split(r.text)) > 2 for r in known
    ):
        return None
    if not alternatives and (_PLURAL.search(asked.text) or not _SINGULAR.search(asked.text)):
        return None
    short = [Reading(item) for item in items]
    kind = _kind(known[0])
    alike = [_kind(item) == kind and 1 <= len(item.words) <= 3 for item in short[1:]]
    if len(short[0].words) > (6 if alternatives else 3) or sum(alike) < 0.75 * len(alike):
        return None
    # Prose with commas is no list of options: the reference must stand there as one of them.
    if not any(
        r.compact in item.compact and len(item.words) <= len(r.words) + 2
        for item in short
        for r in known
    ):
        return None
    wanted = {word for reading in known for word in reading.words}
    asked_words = asked.vocabulary
    foreign = [
        item for item in short if not wanted & set(item.words) and set(item.words) - asked_words
    ]
    if len(foreign) >= 3 and len(foreign) >= 0.6 * len(items):
        return Ruling(False, f"lists {len(items)} options")
    return None


def _kind(reading: Reading) -> str:
    if not reading.words:
        return "nothing"
    if any(is_number(word) for word in reading.words):
        return "number"
    return "name" if reading.capital[0] else "word"


def _denied(known: list[Reading], said: Reading) -> Ruling | None:
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
    wanted: list[Quantity] = []
    for reading in known:
        if len(reading.quantities) != 1 or not _only_quantity(reading):
            return None
        wanted.append(reading.quantities[0])
    if any(q.year or q.ordinal for q in wanted):
        return None
    kinds = {q.kind for q in wanted if q.kind}
    repeated = {(q.raw, q.kind) for q in asked.quantities}
    told = [q for q in said.quantities if (q.raw, q.kind) not in repeated and not q.ordinal]
    if kinds:
        money = any(kind.startswith("money") for kind in kinds)
        told = [q for q in told if q.kind in kinds or (money and q.kind.startswith("money"))]
        wanted = [q for q in wanted if q.kind]
    elif len(told) != 1 or told[0].year or len(said.words) > 12:
        return None
    if not told:
        return None
    good = [any(same_quantity(q, other) for other in wanted) for q in told]
    if all(good):
        if another_attribute(set(asked.roots), set(said.roots)):
            return Ruling(False, "the value of another thing")
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


def _set(known: list[Reading], said: Reading) -> Ruling | None:
    """A reference that is one list of three or more, and a short reply with few of its members."""
    if len(known) != 1:
        return None
    members = [read_short(part) for part in _OPTION.split(known[0].text) if part.strip()]
    if len(members) < 3 or any(not 1 <= len(member.words) <= 4 for member in members):
        return None
    found = sum(member.compact in said.compact for member in members)
    if len(said.words) <= 3 * len(members) and found <= 0.34 * len(members):
        items = [part for part in _OPTION.split(said.text) if part.strip()]
        if len(items) >= 3:
            return Ruling(False, "other members of the set")
    return None


def _other_script(known: list[Reading], said: Reading) -> Ruling | None:
    """A short reply in Cyrillic, Greek or kana that sounds like the reference."""
    if len(said.words) > 8 or said.text.isascii() or not foreign(said.text):
        return None
    if any(not foreign(r.text) and sounds_like(r.text, said.text) for r in known):
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
        or _NUMERALS.get(word, word) == _NUMERALS.get(other, other)
        for other in others
    )


def _only_quantity(reading: Reading) -> bool:
    quantity = reading.quantities[0]
    rest = reading.tokens[: quantity.start] + reading.tokens[quantity.end :]
    return all(token in APPROXIMATE for token in rest)


_NUMERALS = {"v": "5", "x": "10", "i": "1"}
_HELPERS = frozenset({"did", "does", "do", "is", "was", "were", "are", "has", "had"})
_YES_NO = {
    **dict.fromkeys(
        [
            "yes",
            "true",
            "correct",
            "yep",
            "yeah",
            "yup",
            "aye",
            "absolutely",
            "certainly",
            "definitely",
            "indeed",
        ],
        True,
    ),
    **dict.fromkeys(["no", "false", "nope", "nah", "never"], False),
}
_TWO = re.compile(r"(\w+),? or (?:an? |the )?(\w+)\?\s*$")
_THAN = re.compile(r"\bthan\b")
_NONE = re.compile(r"(?i)\W*(?:none|nobody|no one|never|zero|nothing)\b")
_TURNED_DOWN = re.compile(
    r"(?i)\bfalse premise\b|^\W*(?:none|nobody|never)\b|^\W*(?:he|she|it|they"
    r"|there)\b.{0,20}(?:\bnot\b|\bnever\b|n't\b|\bno\b)"
    r"|^\W*no \w+|\b(?:has|have|had|is|was|are|were|did|does)\s+(?:not|never|no)\b"
    r"|\bnever (?:ran|had|was|did|said|says|made|wrote|married|won)\b"
)
_TURNS_DOWN = re.compile(
    r"(?i)\b(?:not|never|none|nobody|no|zero|without|false|myth|trick|premise|neither|nothing)\b|n't\b"
)
_TRICK = re.compile(r"(?i)\b(?:trick|myth|false premise|premise is (?:false|wrong))\b")
_PLAIN = {"yes": True, "no": False}
_NO_AT_ALL = re.compile(
    r"(?i)(?:absolutely|certainly|definitely|of course|most certainly)\s+not\b(?!\s+not)"
    r"|not\s+at\s+all\b|by no means\b"
)
_SO_IT_IS = re.compile(
    r"(?i)(?:\bso\s+|:\s*)(?:it|they|he|she|you|there|this|that)\s+(?:does|do|is|are|can|did|was|were|has|have|may)(n'?t|\s+not)?\W*$"
)
_ASIDE = re.compile(r"(?i)\bother than\b|,|\bMiss\b|\bM(?:r|rs|s)\b")
_PLURAL = re.compile(
    r"(?i)\b(?:are|were|include|two|three|four|five|six|seven|eight|nine|ten|list|examples?|all|"
    r"some|types|kinds|names|members|cast)\b|^\s*name\b"
)
_SINGULAR = re.compile(
    r"(?i)\b(?:how (?:many|much|long|old|tall|high|far)|when|what year|which year)\b|"
    r"\b(?:who|what|which|where)(?:\s+\w+){0,4}?\s+(?:is|was|does|did|wrote|won|has|plays|played)\b"
)
_ALTERNATIVE = re.compile(r"(?i)\bor\b|\||\s/\s")
_OPTION = re.compile(r"(?i)\s*[,;|\n/]\s*(?:(?:and|or)\s+)?|\s+or\s+|\s+and\s+|\s+[-•*]\s+")
