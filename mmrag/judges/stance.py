"""How the truth stands in a reply: claimed, denied, taken back, one of several, beside a rival.

Numbers for the calibrated judge, from the clauses of `mmrag.judges.claims`. They say what a bag of
words cannot: "not Monet", "Monet or Manet", "Many think of Monet, but it was Manet".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from mmrag.judges.attributes import another_attribute
from mmrag.judges.claims import DENIAL, asks_judging, claim, clauses, not_claimed
from mmrag.judges.lexicon import NEGATIONS, word_set
from mmrag.judges.matching import Wording
from mmrag.judges.normalise import sentences
from mmrag.judges.numbers import is_number, same_quantity
from mmrag.judges.reading import Reading
from mmrag.judges.target import Target

_NAMES = """
told_whole told_claimed lost_withdrawn lost_denied lost_mentioned lost_order denied_ahead
either either_hedged guesses_true guesses_false equally row_items row_share row_place
row_joined row_bare numbers_in_row clause_first clause_last clause_cover other_cover
later_cover cover_gap answer_here answer_elsewhere answer_later contrast_after
rival_capitals rival_later rival_answer clause_negated clause_hedged rival_covers
rival_names tail_capital tail_number head_capital claims_left words wants_many tells
asks_judging asks_or swapped number_rival
"""
COLUMNS = tuple(_NAMES.split())


def veto(row: Sequence[float]) -> str:
    """Why a reply cannot be right, however much of the truth it holds; empty if nothing says so.

    `row` holds the values of `COLUMNS`.
    """
    told = dict(zip(COLUMNS, row, strict=True))
    if told["lost_withdrawn"]:
        return "takes the answer back"
    if told["words"] > 40:
        return ""
    if told["lost_order"] and not told["asks_judging"]:
        return "names the answer in an order to the judge only"
    if told["denied_ahead"]:
        return "denies the answer"
    if told["either"] >= 2 and (told["words"] <= 6 or told["either_hedged"] or told["asks_or"]):
        return "offers one or the other"
    if told["swapped"] and told["words"] <= 16:
        return "gives the value of another thing"
    if told["number_rival"] and told["words"] <= 16:
        return "gives another number for what is asked"
    if told["words"] <= 25 and told["guesses_false"] and (told["guesses_true"] or told["equally"]):
        return "guesses at several answers"
    if told["numbers_in_row"] >= 3 and not told["wants_many"]:
        return "lists several numbers"
    if told["row_bare"] and told["row_share"] >= 0.75 and not told["wants_many"]:
        return "lists several answers"
    return ""


class _Part(NamedTuple):
    text: str
    reading: Reading
    told: bool
    cover: float


def stance(target: Target, ranked: Sequence[int], said: Reading) -> list[float]:
    """One number per column."""
    truth = _present([target.known[i] for i in ranked], target, said)
    if not truth:
        return [0.0] * len(COLUMNS)
    text = _unquoted(said.raw, truth)
    keep = bool(target.asked.vocabulary & NEGATIONS) or any(
        w.reading.vocabulary & NEGATIONS for w in target.known[:4]
    )
    made = claim(text, keep_denials=keep)
    claimed = said if not made.dropped else Reading(made.text, is_plain=True)
    lost = made.dropped if not _tells(claimed, truth) else ""
    asked = target.asked_roots
    pieces = [p for c in clauses(made.text if not lost else text)[:30] for p in _COMMA.split(c)]
    parts = [_part(piece, truth, asked) for piece in pieces[:40] if _WORD.search(piece)]
    return [
        1.0, float(not lost),
        float(lost == "withdrawn"), float(lost == "denied"), float(lost == "mentioned"),
        float(lost == "an order"), float(not keep and _denied_ahead(made.text or text, truth)),
        *_either(made.text, truth), *_guesses(target, made.text, truth),
        *_row(target, made.text, truth), _numbers_in_row(target, said),
        *_places(target, parts, truth), *_edges(said, truth),
        float(len(claimed.words) / len(said.words)) if said.words else 0.0,
        float(len(said.words)), float(bool(_WANTS_MANY.search(target.asked.text))),
        float(sum(part.told for part in parts)), float(asks_judging(target.asked.text)),
        float("or" in target.asked.words), float(_swapped(target, parts)),
        float(_number_rival(target, parts, said)),
    ]  # fmt: skip


def _present(known: Sequence[Wording], target: Target, said: Reading) -> list[Wording]:
    """The wordings that stand in the reply, at least by the words that are not asked."""
    exact = [w for w in known if said.holds(w.compact)][:6]
    if exact:
        return exact
    return [w for w in known[:12] if _loosely(w, target, said)][:3]


def _loosely(wording: Wording, target: Target, said: Reading) -> bool:
    fresh = [s for s in wording.stems if s not in target.asked.stems]
    found = [s for s in fresh if s in said.stems]
    if fresh and len(found) == len(fresh):
        return True
    if len(wording.stems) > 1 and wording.reading.capital[-1] and wording.stems[-1] in found:
        return True
    wanted = wording.reading.quantities
    return (
        len(wanted) == 1
        and len(wording.words) <= 3
        and any(same_quantity(q, wanted[0]) for q in said.quantities)
    )


def _tells(reading: Reading, truth: Sequence[Wording]) -> bool:
    for wording in truth:
        if reading.holds(wording.compact):
            return True
        stems = reading.stems
        hit = sum(s in stems for s in wording.stems)
        if hit and hit == len(wording.stems):
            return True
        named = len(wording.stems) > 1 and wording.reading.capital[-1]
        if named and wording.stems[-1] in stems and not is_number(wording.stems[-1]):
            return True
        wanted = wording.reading.quantities
        if (
            len(wanted) == 1
            and not any(wording.reading.capital)
            and any(same_quantity(q, wanted[0]) for q in reading.quantities)
        ):
            return True
    return False


def _part(text: str, truth: Sequence[Wording], asked: set[str]) -> _Part:
    reading = Reading(text, is_plain=True)
    cover = sum(root in reading.stems for root in asked) / (len(asked) or 1)
    return _Part(text, reading, _tells(reading, truth), cover)


def _unquoted(text: str, truth: Sequence[Wording]) -> str:
    """Text without its quotations, unless they hold the truth: titles deny and hedge nothing."""
    if '"' not in text:
        return text
    return _QUOTED.sub(
        lambda m: m.group() if _tells(Reading(m.group(), is_plain=True), truth) else " ", text
    )


def _denied_ahead(text: str, truth: Sequence[Wording]) -> bool:
    """Whether in every clause that tells the truth a denial stands before it."""
    told = False
    for clause in clauses(text)[:40]:
        if not _tells(Reading(clause, is_plain=True), truth):
            continue
        told = True
        found = DENIAL.search(clause)
        if not found or not_claimed(clause) != "denied":
            return False
        if not _tells(Reading(clause[found.end() :], is_plain=True), truth):
            return False
    return told


def _either(text: str, truth: Sequence[Wording]) -> list[float]:
    """Whether the truth stands at the edge of an "or" with something else beyond; with a hedge."""
    found = hedged = 0.0
    for sentence in sentences(text)[:20]:
        if not _OR.search(sentence) or "://" in sentence:
            continue
        parts = [p.strip() for p in _OR_SPLIT.split(sentence)]
        readings = [Reading(part, is_plain=True) for part in parts]
        for place, (left, right) in enumerate(pairwise(readings)):
            tail = Reading(" ".join(left.words[-5:]), is_plain=True)
            head = Reading(" ".join(right.words[:5]), is_plain=True)
            ahead, behind = _tells(tail, truth), _tells(head, truth)
            if ahead == behind:
                continue
            other, raw = (right, parts[place + 1]) if ahead else (left, parts[place])
            if _ALIAS.match(raw) or _NAMED.search(raw) or "(" in raw or raw.endswith(")"):
                continue
            if other.places or any(map(is_number, other.words)):
                found = max(found, 1.0 + (len(left.words) + len(right.words) <= 8))
                hedged = max(hedged, float(bool(_HEDGE.search(sentence))))
    if found and _tells(Reading(_OR_SPLIT.split(text)[-1], is_plain=True), truth):
        last = [p for p in _GUESS_SPLIT.split(text) if _WORD.search(p)]
        if (
            len(last) > 2
            and _tells(Reading(last[-1], is_plain=True), truth)
            and _SETTLED.search(text)
        ):
            return [0.0, 0.0]  # "Monet or Manet? It is Monet"
    return [found, hedged]


def _guesses(target: Target, text: str, truth: Sequence[Wording]) -> list[float]:
    """How many guesses hold the truth, and how many something else."""
    if not _HEDGE.search(text):
        return [0.0, 0.0, 0.0]
    true = false = 0
    for part in _GUESS_SPLIT.split(text)[:60]:
        if not _HEDGE.search(part):
            continue
        reading = Reading(_HEDGE.sub(" ", part), is_plain=True)
        if _tells(reading, truth):
            true += 1
        elif any(
            reading.words[i] not in target.asked.vocabulary and reading.words[i] not in _VAGUE
            for i in reading.places
        ):
            false += 1
    return [float(true), float(false), float(bool(_EQUALLY.search(text)))]


def _row(target: Target, text: str, truth: Sequence[Wording]) -> list[float]:
    """The longest row of short items of which one is the truth: length, share, place, joined."""
    best = [0.0, 0.0, 0.0, 0.0, 0.0]
    total = len(text.split()) or 1
    for block in (text, *sentences(text)[:20]):
        if len(block) > 800:
            continue
        items = [item for item in _ITEM.split(block) if _WORD.search(item)]
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
            told = [_tells(r, truth) for r in readings[start:end]]
            alone = any(_tells(r, truth) for r in (*readings[:start], *readings[end:]))
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


def _numbers_in_row(target: Target, said: Reading) -> float:
    """How many different numbers a reply tells that is little but numbers."""
    if "(" in said.raw or any(date.month for date in said.dates):
        return 0.0
    values = {q.raw for q in said.quantities} - target.asked_values
    words = [w for w in said.words if not is_number(w)]
    if len(values) < 2 or len(words) > len(values) + 3:
        return 0.0
    return float(len(values - {q.raw for q in target.quantities}))


def _places(target: Target, parts: list[_Part], truth: Sequence[Wording]) -> list[float]:
    """The clause that tells the truth against the clauses that tell something else."""
    told = [i for i, part in enumerate(parts) if part.told]
    if not told:
        return [-1.0] * 17
    n, first, last = len(parts), told[0], told[-1]
    others = [i for i in range(n) if not parts[i].told]
    later = [i for i in others if i > last]
    here = max(parts[i].cover for i in told)
    cover = max((parts[i].cover for i in others), default=0.0)
    later_cover = max((parts[i].cover for i in later), default=0.0)
    roots = {s for w in truth for s in w.stems}

    def rival(i: int) -> int:
        r = parts[i].reading
        return sum(
            (r.capital[p] or is_number(r.words[p]))
            and r.roots[p] not in roots
            and r.roots[p] not in target.asked.stems
            for p in r.places
        )

    covers, names = _rival(target, parts, told, roots)
    answers = [i for i in others if _ANSWER.search(parts[i].text)]
    after = parts[last + 1].text if last + 1 < n else ""
    return [
        float(first), float(n - 1 - last), here, cover, later_cover, here - cover,
        float(any(_ANSWER.search(parts[i].text) for i in told)), float(len(answers)),
        float(any(i > last for i in answers)), float(bool(_CONTRAST.match(after))),
        float(max((rival(i) for i in others), default=0)),
        float(max((rival(i) for i in later), default=0)),
        float(max((rival(i) for i in answers), default=0)),
        float(sum(bool(DENIAL.search(parts[i].text)) for i in told) / len(told)),
        float(sum(bool(_HEDGE.search(parts[i].text)) for i in told) / len(told)),
        covers, names,
    ]  # fmt: skip


def _rival(
    target: Target, parts: list[_Part], told: list[int], roots: set[str]
) -> tuple[float, float]:
    """Whether another clause answers more of the question than those with the truth, and names.

    "The province is called Cuenca; the city itself is Azogues": only the second says "city".
    """
    here = set[str]().union(*(_asked(target, parts[i].reading) for i in told))
    capital = any(w.reading.capital[-1] for w in target.known[:3])
    number = any(is_number(w.words[-1]) or is_number(w.words[0]) for w in target.known[:3])
    best = named = 0.0
    for i, part in enumerate(parts):
        if i in told or not_claimed(part.text):
            continue
        more = _asked(target, part.reading)
        if not (more > here):
            continue
        reading = part.reading
        fresh = [
            p
            for p in reading.places
            if reading.roots[p] not in roots and reading.roots[p] not in target.asked.stems
        ]
        like = any(
            is_number(reading.words[p]) if number else (reading.capital[p] and p > 0) or not capital
            for p in fresh
        )
        best = max(best, float(len(more - here)))
        named = max(named, float(bool(fresh) and like) * len(more - here))
    return best, named


def _asked(target: Target, reading: Reading) -> set[str]:
    return {root for root in target.asked_roots if root in reading.stems}


def _swapped(target: Target, parts: list[_Part]) -> bool:
    """Whether every clause with the truth speaks of another attribute than the question."""
    told = [part for part in parts if part.told]
    return bool(told) and all(
        another_attribute(target.asked_roots, set(part.reading.roots)) for part in told
    )


def _number_rival(target: Target, parts: list[_Part], said: Reading) -> bool:
    """Whether what is asked for stands with another number: "Waist 32, inseam 34"."""
    if not target.quantities or any(date.month for date in said.dates):
        return False
    if any(any(w.reading.capital) for w in target.known[:4]):
        return False
    told = [part for part in parts if part.told]
    here = set[str]().union(*(_asked(target, part.reading) for part in told))
    for part in parts:
        if part.told or not _asked(target, part.reading) - here:
            continue
        if here - _asked(target, part.reading):
            continue
        values = [q for q in part.reading.quantities if q.raw not in target.asked_values]
        kinds = {q.kind for q in target.quantities}
        if any(q.kind in kinds for q in values) and told:
            return True
    return False


def _edges(said: Reading, truth: Sequence[Wording]) -> list[float]:
    """What touches the truth: a name or number right behind it, a name right before it."""
    for wording in truth:
        for start, end in said.occurrences(wording.compact):
            after = end < len(said.words) and said.sentence[end] == said.sentence[start]
            before = start > 0 and said.sentence[start - 1] == said.sentence[start]
            return [
                float(after and said.capital[end]), float(after and is_number(said.words[end])),
                float(before and start > 1 and said.capital[start - 1]),
            ]  # fmt: skip
    return [-1.0, -1.0, -1.0]


_WORD = re.compile(r"[^\W_]")
_COMMA = re.compile(r"(?i),\s+(?:and\s+|so\s+|while\s+)?|\s+and\s+(?=the\b|an?\s)|:\s+")
_QUOTED = re.compile(r'"[^"\n]{1,150}"')
_NAMED = re.compile(
    r"(?i)\b(?:for short|to give|real name|in full|by another name|as \w+ (?:would )?(?:say"
    r"|call)|if you prefer|she|he)\b"
)
_SETTLED = re.compile(
    r"(?i)\b(?:it(?:'s| is| was)|that(?:'s| is| was)|for certain|certainly|definitely|final)\b"
)
_WANTS_MANY = re.compile(
    r"(?i)\b(?:where|are|were|include|in (?:which|what)|two|three|four|five|six|seven|eight"
    r"|nine|ten|list|examples?|all|some|types|kinds?|names|members|cast|both|starred|stars?"
    r"|countries|cities|colou?rs|people|actors|ingredients|planets|states|things|brothers|sisters|daughters|sons|do|characters|bands)\b|^\s*name\b"
)
_OR = re.compile(r"(?i)\b(?:or|xor|versus)\b|\w\s*/\s*\w")
_OR_SPLIT = re.compile(r"(?i)\s*(?:,?\s*\b(?:and/or|or|xor|versus)\b|,|(?<=\w)\s*/\s*(?=\w))\.?\s*")
_ALIAS = re.compile(
    r"(?i)\W*(?:so|more|less|fewer|thereabouts|about|around|roughly|approximately|nearly|simply"
    r"|just|at least|better|rather"
    r"|in other words|also|known|called|as it is|whatever|something|later|earlier|above|over"
    r"|under|below|if you|to be)\b"
)
_GUESS_SPLIT = re.compile(r"(?i)[,;.?!]|\b(?:or|and|but|though|although)\b")
_HEDGE = re.compile(
    r"(?i)\b(?:perhaps|maybe|might|may|could|possibly|possible|probably|alternatively"
    r"|then again|conceivably|equally|either"
    r"|just as (?:probably|likely)|not rule out|depending|candidates?)\b"
)
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
_ANSWER = re.compile(
    r"(?ix)\b(?:answer|in\ fact|really|right\ name|it(?:'s|\ is|\ was)|that(?:'s|\ is|\ was)"
    r"|must\ (?:be|have\ been)|so\ the|therefore|hence|thus|final|finally|in\ short|conclu\w+"
    r"|i(?:'d|\ would)\ (?:say|go|point|pick|call)|this\ is|i\ think|by\ far|originally"
    r"|belongs?|for\ certain|credit)\b"
)
_CONTRAST = re.compile(r"(?i)\W*(?:but|yet|however|though|although|while|whereas)\b")
