"""Replies that offer several answers: who names every colour has named none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from mmrag.judges.lexicon import word_set
from mmrag.judges.matching import Wording
from mmrag.judges.normalise import sentences
from mmrag.judges.numbers import is_number
from mmrag.judges.reading import Reading
from mmrag.judges.target import Target
from mmrag.judges.truth import tells


def either(asked: Reading, text: str, truth: Sequence[Wording]) -> list[float]:
    """How plainly the truth stands at the edge of an "or", 0 to 3; and whether with a hedge."""
    found = hedged = 0.0
    for sentence in sentences(text)[:20]:
        if not _OR.search(sentence) or "://" in sentence:
            continue
        parts = [p.strip() for p in _OR_SPLIT.split(sentence)[:40]]
        readings = [Reading(part, is_plain=True) for part in parts]
        for place, (left, right) in enumerate(pairwise(readings)):
            tail = Reading(" ".join(left.words[-5:]), is_plain=True)
            head = Reading(" ".join(right.words[:5]), is_plain=True)
            ahead, behind = tells(tail, truth), tells(head, truth)
            if ahead == behind:
                continue
            if left.words[-1:] and right.words and _asked_pair(left, right, asked, truth):
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


def _asked_pair(left: Reading, right: Reading, asked: Reading, truth: Sequence[Wording]) -> bool:
    """Whether the "or" is the question's own, between words that are no answers to it."""
    pair = left.words[-1], right.words[0]
    return set(pair) <= asked.vocabulary and not any(set(pair) & set(w.words) for w in truth)


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
    """The longest row of short items of which one is the truth: length, share, place, joined."""
    best = [0.0, 0.0, 0.0, 0.0, 0.0]
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
                    float(bool(_JOIN.search(block))),
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
    if "(" in said.raw or any(date.month for date in said.dates):
        return 0.0
    values = {q.raw for q in said.quantities} - target.asked_values
    words = [w for w in said.words if not is_number(w)]
    if len(values) < 2 or len(words) > len(values) + 3:
        return 0.0
    return float(len(values - {q.raw for q in target.quantities}))


_WORD = re.compile(r"[^\W_]")
_NAMED = re.compile(
    r"(?i)\b(?:for short|to give|real name|in full|by another name|as \w+ (?:would )?(?:say"
    r"|call)|if you (?:like|prefer)|she|he)\b"
)
_SETTLED = re.compile(
    r"(?i)\b(?:it(?:'s| is| was)|that(?:'s| is| was)|for certain|certainly|definitely|final)\b"
)
_ASKS_ITSELF = re.compile(r"(?i)\bor\b[^.?!]*\?\s+\w")
_OR = re.compile(r"(?i)\b(?:or|xor|versus)\b|\w\s*/\s*\w")
_OR_SPLIT = re.compile(r"(?i)\s*(?:,?\s*\b(?:and/or|or|xor|versus)\b|,|(?<=\w)\s*/\s*(?=\w))\.?\s*")
_ALIAS = re.compile(
    r"(?i)\W*(?:so|more|less|fewer|thereabouts|about|around|roughly|approximately|nearly|simply"
    r"|just|at least|better|rather"
    r"|in other words|also|known|called|as it is|whatever|something|later|earlier|above|over"
    r"|under|below|if you (?:like|prefer|will|want)|to be)\b"
)
_GUESS_SPLIT = re.compile(r"(?i)[,;.?!]|\b(?:or|and|but|though|although)\b")
_EQUALLY = re.compile(
    r"(?i)\b(?:equally|as well|just as|then again|alternatively|both (?:readings|are)"
    r"|also (?:be|possible)|one of (?:th|the)|hard to say|cannot decide)\b"
)
_VAGUE = word_set(
    "later more less earlier sure certain wrong mistaken something somebody someone "
    "lot little hard help want like see say tell find check look"
)
_ITEM = re.compile(r"(?i)[,;|\n/:•*?]|\s-\s|\b(?:and|or)\b|&|(?<=\d)\s+(?=\d)")
_CHOICE = re.compile(r"(?i)\W*(?:candidates?|options?|one of|it is one of|either|possib\w+)\b")
_JOIN = re.compile(r"(?i)\b(?:and|or)\b|&")
HEDGE = re.compile(
    r"(?i)\b(?:perhaps|maybe|might|may|could|possibly|possible|probably|alternatively"
    r"|then again|conceivably|equally|either"
    r"|just as (?:probably|likely)|not rule out|depending|candidates?)\b"
)
