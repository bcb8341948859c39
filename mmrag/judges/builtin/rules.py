"""The CRAG-MM guideline's clear cases, decided by rule before the calibrated model is asked.

Each rule speaks only where it is sure. Human verdicts on open-domain questions hold few of these
cases (units, option lists, "yes" against "no"), so a model learnt from them alone would miss them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmrag.judges.builtin import list_rules, value_rules, yes_no
from mmrag.judges.builtin.list_rules import KINDS, too_like, too_many, wants_several
from mmrag.judges.builtin.parsed_question import Check, Ruling, Target
from mmrag.judges.builtin.parsed_text import Cue, Parsed
from mmrag.judges.builtin.value_rules import HOW_MUCH, MAY_SHARE, MAY_SPAN, NUMERALS
from mmrag.text.lexicon import AUXILIARIES, DENIALS, OPENERS, STOPWORDS, phrases, stem
from mmrag.text.numbers import is_number
from mmrag.text.opposites import has_opposites
from mmrag.text.times import is_time
from mmrag.text.transliteration import foreign, sounds_like


def first_ruling(target: Target, said: Parsed) -> Ruling | None:
    """The first rule that applies, or None."""
    if target.checks is None:
        target.checks = _checks(target.asked, target.readings)
    n = len(said.words)
    for most, check in target.checks:
        if 0 < n <= most and (ruling := check(target.asked, target.readings, said)) is not None:
            return ruling
    return None


def _checks(asked: Parsed, known: Sequence[Parsed]) -> list[tuple[int, Check]]:
    """The rules that may speak on a question with its references, in order, each with the longest
    reply in words that it reads."""
    numbers = [bool(r.cues & Cue.NUMBER) for r in known]
    amounts = all(len(r.quantities) == 1 for r in known)
    several, how_much = wants_several(asked), HOW_MUCH.search(asked.text)
    times = all(is_time(r.text) for r in known[:6])
    found: list[tuple[object, int, Check]] = [
        (_TWO.search(asked.text), 12, _choice),
        (any(all(len(r.vocabulary & kind) == 1 for r in known) for kind in KINDS), 14, too_like),
        (any(r.words[0] in yes_no.TOLD for r in known), _ANY, yes_no.yes_or_no),
        (_turned_down(asked, known), 60, _premise),
        (not several and all(r.marks < 2 for r in known), 80, too_many),
        (has_opposites({root for r in known for root in r.roots}), 15, yes_no.opposite),
        (True, _ANY, _denied),
        (not several and (amounts or times), 45, value_rules.by_clause),
        (times, 40, value_rules.time),
        (all(numbers), 14, value_rules.day),
        (any(numbers), 14, value_rules.month),
        (any(numbers), 14, value_rules.era_of),
        (all(len(r.words) <= 4 and MAY_SPAN.search(r.text) for r in known), 12, value_rules.decade),
        (all(numbers), 12, value_rules.minus_sign),
        (any(MAY_SHARE.search(r.text) for r in known), 10, value_rules.fraction),
        (any(numbers), 8, value_rules.grouped_digits),
        (any(numbers), 8, value_rules.other_version),
        (amounts, _ANY, value_rules.quantity),
        (all(numbers), _ANY, value_rules.all_dates),
        (how_much and all(len(r.words) > 4 for r in known), _ANY, value_rules.told_amount),
        (True, 8, _abbreviation),
        (list_rules.are_lists(asked, known), _ANY, list_rules.whole_list),
        (not several and all(r.marks < 1 for r in known), 9, list_rules.second_answer),
        (True, 3, _kind_only),
        (_ASKS_ALL.search(asked.text), _ANY, _part_only),
        (True, 12, _other_script),
        (all(_name(r) for r in known), 6, _other_name),
        (all(len(r.words) == 1 for r in known), 1, _longer_word),
    ]
    return [(most, check) for concerns, most, check in found if concerns]


def _choice(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A question that offers "Ada or Bela?" with references and a reply that name one of them."""
    found = _TWO.search(asked.text)
    if not found or DENIALS & said.vocabulary:
        return None
    options = [stem(word.lower()) for word in found.groups()]
    wanted = {_first(options, reading) for reading in known}
    if len(wanted) != 1 or None in wanted or options[0] == options[1]:
        return None
    if chosen := _ONE_OF_TWO.match(said.text):
        right = any(chosen[place + 1] and options[place] in wanted for place in (0, 1))
        return Ruling(right, "the former or the latter")
    told = _first(options, said)
    return Ruling(told in wanted, "one of the two that are asked about") if told else None


def _first(options: list[str], reading: Parsed) -> str | None:
    places = {reading.stems[option]: option for option in options if option in reading.stems}
    if len(places) == 2 and not _THAN.search(reading.text):
        return None
    return places[min(places)] if places else None


def _turned_down(asked: Parsed, known: Sequence[Parsed]) -> bool:
    # A question of yes or no, or a list of things that are not so, turns nothing down.
    if not AUXILIARIES.isdisjoint(asked.words[:1]) or (len(known) > 2 and wants_several(asked)):
        return False
    return all(
        _TURNED_DOWN.search(r.raw) and (len(r.words) > 2 or _NONE.match(r.raw)) for r in known
    )


def _premise(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """References that turn the question down, and a reply that does so too, or plays along."""
    n = len(said.words)
    known_roots = {root for r in known for root in r.roots}
    shared = (known_roots - asked.stems.keys()) & {said.roots[i] for i in said.places}
    if len(shared) < 2:
        if not _TURNS_DOWN.search(said.raw) and not (
            said.words[0] == "0" and n < 12 and asked.text.lower().startswith("how many")
        ):
            return Ruling(False, "plays along with a false premise")
        given = {0.0, 1.0, *(q.raw for r in (asked, *known) for q in r.quantities)}
        if n <= 25 and any(q.raw not in given for q in said.quantities):
            return Ruling(False, "turns the question down, and answers it all the same")
    if n <= 6 or len(known_roots & set(said.roots)) >= 2 or _TRICK.search(said.raw):
        return Ruling(True, "turns the question down as the reference does")
    return None


def _denied(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """The answer stands there only to be denied: "It is not Paris"."""
    if not said.cues & Cue.NEGATION and "rather" not in said.vocabulary:
        return None
    denied = [
        _turns_down(asked, said, start, end)
        for reading in known
        if reading.places and reading.words[0] not in DENIALS
        for start, end in said.occurrences(reading.compact)
    ]
    if denied and all(denied):
        return Ruling(False, "denies the reference")
    if any(denied) and len(said.words) <= 16:
        return Ruling(False, "contradicts itself")
    return None


def _turns_down(asked: Parsed, said: Parsed, start: int, end: int) -> bool:
    """Whether what stands beside some words of a reply denies them."""
    after = said.words[end : end + 2]
    if len(after) == 2 and after[0] in _HELPERS and after[1] in DENIALS:
        return True
    first = max(0, start - 3, said.sentence.index(said.sentence[start]))
    before = ["", "", "", *said.words[first:start]]
    return (
        before[-1] in DENIALS
        or (
            before[-1] in ("no", "without")
            and not _NO_COMMA.search(said.text)
            and not _ASKS_ABSENCE.search(asked.text)
        )
        or (before[-2] in DENIALS and before[-1] in STOPWORDS)
        or (before[-3] in DENIALS and before[-1] in ("or", "nor"))
        or before[-2:] in (["rather", "than"], ["instead", "of"])
    )


def _abbreviation(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """One side is the initials of the other: JFK, NASA, WWF."""
    for reading in known:
        for short, long in ((said, reading), (reading, said)):
            letters = short.words[0]
            if len(short.words) != 1 or len(letters) < 2 or len(long.words) > 8:
                continue
            named = [w for w, c in zip(long.words, long.capital, strict=True) if c]
            initials = "".join(word[0] for word in named)
            if (
                short.text.strip(" .!").isupper()
                and (short is said or len(named) == len(long.content))
                and (initials == letters or (len(letters) >= 3 and initials.startswith(letters)))
            ):
                return Ruling(True, "an abbreviation")
    return None


def _kind_only(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """The kind of thing without its name: "a comet" for "comet 67P"."""
    if not _A.match(said.raw) or any(said.capital):
        return None
    for reading in known:
        missed = _missed(reading, said)
        if not any(reading.capital[i] or is_number(reading.words[i]) for i in missed):
            return None
    return Ruling(False, "the kind of thing only")


def _part_only(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """Some words of the reference only, asked for a whole name, for what is written, or for two
    things at once."""
    missed = all(_missed(reading, said) for reading in known)
    return Ruling(False, "a part of what is asked for") if missed else None


def _missed(reading: Parsed, said: Parsed) -> list[int]:
    """The content words of a reference that a reply, which says nothing else, leaves out."""
    if not set(said.roots) <= set(reading.roots):
        return []
    return [i for i in reading.places if reading.roots[i] not in said.stems]


def _other_script(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A short reply in another script that sounds like the reference."""
    text = said.raw.strip(" .!?")
    if len(text) > 60 or text.isascii() or not foreign(text):
        return None
    if any(not foreign(r.text) and sounds_like(r.text, text) for r in known):
        return Ruling(True, "sounds like the reference")
    return None


def _other_name(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A short reply that is a name like the reference but of somebody or something else."""
    own = _name(said)
    if (
        own is None
        or _ASIDE.search(said.text)
        or any(r.compact in said.compact or said.compact in r.compact for r in known)
    ):
        return None
    for name in filter(None, map(_name, known)):
        numbers, others = ({*filter(is_number, words)} for words in (name, own))
        if numbers & others:
            return None
        if numbers and others:
            continue
        left = [w for w in name if not _like(w, own) and w not in asked.vocabulary]
        right = [w for w in own if not _like(w, name) and w not in asked.vocabulary]
        if not left or not right or not any(_like(w, own) for w in name):
            return None
    return Ruling(False, "a similar name")


def _longer_word(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A word that goes on after a name's last vowel is another name: Indianapolis is not India."""
    said_word, words = said.words[0], [r.words[0] for r in known]
    if all(
        said_word.startswith(w) and len(said_word) - len(w) > 3 and _VOWEL.search(w) for w in words
    ):
        return Ruling(False, "another word that begins like the reference")
    return None


def _name(reading: Parsed) -> list[str] | None:
    """The words of a text that is nothing but a name of two to five words. What only opens the
    sentence ("It was ...", "Probably ...") has its capital for that."""
    words = [
        (w, c)
        for place, (w, c) in enumerate(zip(reading.words, reading.capital, strict=True))
        if (w not in STOPWORDS or (c and place)) and w not in OPENERS
    ]
    if not 2 <= len(words) <= 5 or len(reading.words) > 6 or reading.sentence[-1] > 0:
        return None
    if ":" in reading.text or not all(c or is_number(w) for w, c in words):
        return None  # "Author: ..." names what is named
    return ["1" if w == "i" else w for w, _ in words]


def _like(word: str, others: list[str]) -> bool:
    """The same word, an initial of it, or spelled nearly so (Marie and Mary, Yotam and Jotam)."""
    initials = "".join(other[0] for other in others)
    if 1 < len(word) <= 3 and (word in initials or word[0] == initials[:1]):
        return True
    for other in others:
        least = min(len(word), len(other))
        if (
            stem(word) == stem(other)
            or NUMERALS.get(word, word) == NUMERALS.get(other, other)
            or (least == 1 and word[0] == other[0])
        ):
            return True
        begins = word[:3] == other[:3]
        near = abs(len(word) - len(other)) <= 2
        if least > 3 and (
            (begins and (near or word[-1] == other[-1]))
            or (near and word[1:] == other[1:])
            or word[:-2] == other[:-2]
        ):
            return True
    return False


_ANY = 10**6
_VOWEL = re.compile(r"\w{4}(?<=[aeiuy])$")
_ASKS_ALL = phrases(
    r"\b(?:full|complete|whole|entire|exact) (?:name|title|address|text|sentence|wording|date)\b"
    r"|\b(?:inscribed|engraved|inscription|slogan|motto|caption)\b|\bwhat(?:'s| is"
    r"| stands)? (?:written|printed)\b|\bdoes\s.{1,40}\s(?:say|read)\W*$|\b(?:who|what|when|where"
    r"|which|how)\b.{0,40}\band (?:at |in |for )?(?:who|what|when|where|which|how)\b"
    r"|\bthe \w+ and the \w+ of\b"
)
_A = phrases(r"\W*(?:it(?:'s| is| was) )?(?:an?|some)\s")
_ASKS_ABSENCE = phrases(
    r"\b(?:prohibit\w*|forbid\w*|forbad\w*|ban|bans|banned|(?:dis)?allow\w*|lack\w*|without"
    r"|missing|free|not|n't|never|stop\w*|avoid\w*|leave\w* out)\b"
)
_NO_COMMA = re.compile(r"(?i)\bno\s*[,.:;!-]")
_HELPERS = frozenset({"did", "does", "do", "is", "was", "were", "are", "has", "had"})
_TWO = re.compile(r"(\w+),? or (?:an? |the )?(\w+)\?\s*$")
_ONE_OF_TWO = phrases(
    r"\W*(?:it(?:'s| is| was) )?(?:(the (?:former|first)\b)|(the (?:latter|second)\b)|(?:both"
    r"|neither|either)\b)"
)
_THAN = re.compile(r"\bthan\b")
_NONE = re.compile(r"(?i)\W*(?:none|nobody|no one|never|zero|nothing)\b")
_TURNED_DOWN = phrases(
    r"\bfalse premise\b|^\W*(?:none|nobody|never)\b|^\W*(?:he|she|it|they|there)\b.{0,20}(?:\bnot\b"
    r"|\bnever\b|n't\b|\bno\b)|^\W*no \w+|\b(?:has|have|had|is|was|are|were|did|does) (?:not|never"
    r"|no)\b|\bnever (?:ran|had|was|did|said|says|made|wrote|married|won)\b"
)
_TURNS_DOWN = re.compile(
    r"(?i)\b(?:not|never|none|nobody|no|zero|without|false|myth|trick|premise|neither|nothing"
    r"|only|outside)\b|n't\b"
)
_TRICK = phrases(r"\b(?:trick|myth|false premise|premise is (?:false|wrong))\b")
_ASIDE = re.compile(r"(?i)\bother than\b|,|\bMiss\b|\bM(?:r|rs|s)\b")
