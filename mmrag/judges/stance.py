"""How the truth stands in a reply: claimed, denied, taken back, one of several, beside a rival.

Numbers for the calibrated judge, from the clauses of `mmrag.judges.claims`. They say what a bag of
words cannot: "not Monet", "Monet or Manet", "Many think of Monet, but it was Manet".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mmrag.judges.attributes import another_attribute, flipped
from mmrag.judges.claims import DENIAL, asks_judging, claim, clauses, not_claimed
from mmrag.judges.lexicon import NEGATIONS
from mmrag.judges.matching import Wording
from mmrag.judges.numbers import is_number
from mmrag.judges.offers import HEDGE, either, guesses, numbers_in_row, row
from mmrag.judges.reading import Reading
from mmrag.judges.standing import beside
from mmrag.judges.target import Target
from mmrag.judges.truth import present, tells

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


def veto(values: Sequence[float]) -> str:
    """Why a reply cannot be right, however much of the truth it holds; empty if nothing says so.

    `values` are those of `COLUMNS`.
    """
    told = dict(zip(COLUMNS, values, strict=True))
    if told["lost_withdrawn"]:
        return "takes the answer back"
    if told["words"] > 40:
        return ""
    if told["lost_order"] and not told["asks_judging"]:
        return "names the answer in an order to the judge only"
    if told["denied_ahead"] or (told["lost_denied"] and told["words"] <= 25):
        return "denies the answer"
    if told["lost_mentioned"] >= 2:
        return "names the answer beside another one"
    if told["lost_mentioned"] and (told["rival_names"] > 0 or told["words"] <= 12):
        return "only mentions the answer"
    plainly = told["either"] >= 3 and told["words"] <= 9
    if plainly or (told["either"] >= 2 and (told["either_hedged"] or told["asks_or"])):
        return "offers one or the other"
    if told["swapped"] and told["words"] <= 16:
        return "gives the value of another thing"
    if told["number_rival"] and told["words"] <= 16:
        return "gives another number for what is asked"
    if told["words"] <= 25 and told["guesses_false"] and (told["guesses_true"] or told["equally"]):
        return "guesses at several answers"
    if told["numbers_in_row"] >= 3 and not told["wants_many"]:
        return "lists several numbers"
    bare = told["row_bare"] and told["row_share"] >= 0.75
    many = told["row_items"] >= 6 and told["row_share"] >= 0.7 and told["row_place"] > 0
    if (bare or many) and not told["wants_many"]:
        return "lists several answers"
    return ""


class _Part(NamedTuple):
    text: str
    reading: Reading
    told: bool
    cover: float


def stance(target: Target, ranked: Sequence[int], said: Reading) -> list[float]:
    """One number per column."""
    truth = present([target.known[i] for i in ranked], target, said)
    if not truth:
        return [0.0] * len(COLUMNS)
    text = _unquoted(said.raw, truth)
    denies = target.asked.vocabulary & NEGATIONS or DENIAL.search(target.asked.text)
    keep = bool(denies) or any(w.reading.vocabulary & NEGATIONS for w in target.known[:4])
    made = claim(text, keep_denials=keep)
    claimed = said if not made.dropped else Reading(made.text, is_plain=True)
    lost = made.dropped if not tells(claimed, truth) else ""
    if not lost and len(claimed.words) <= 60 and beside(target.asked, truth, made.text):
        lost = "beside"
    asked = target.asked_roots
    pieces = [p for c in clauses(made.text if not lost else text)[:30] for p in _COMMA.split(c)]
    parts = [_part(piece, truth, asked) for piece in pieces[:40] if _WORD.search(piece)]
    return [
        1.0, float(not lost),
        float(lost == "withdrawn"), float(lost == "denied"),
        {"mentioned": 1.0, "beside": 2.0}.get(lost, 0.0),
        float(lost == "an order"), float(not keep and _denied_ahead(made.text or text, truth)),
        *either(target.asked, made.text, truth), *guesses(target, made.text, truth),
        *row(target, made.text, truth), numbers_in_row(target, said),
        *_places(target, parts, truth), *_edges(said, truth),
        float(len(claimed.words) / len(said.words)) if said.words else 0.0,
        float(len(said.words)), float(bool(_WANTS_MANY.search(target.asked.text))),
        float(sum(part.told for part in parts)), float(asks_judging(target.asked.text)),
        float("or" in target.asked.words), float(_swapped(target, parts, truth)),
        float(_number_rival(target, parts, said)),
    ]  # fmt: skip


def _part(text: str, truth: Sequence[Wording], asked: set[str]) -> _Part:
    reading = Reading(text, is_plain=True)
    cover = sum(root in reading.stems for root in asked) / (len(asked) or 1)
    return _Part(text, reading, tells(reading, truth), cover)


def _unquoted(text: str, truth: Sequence[Wording]) -> str:
    """Text without its quotations, unless they hold the truth: titles deny and hedge nothing."""
    if '"' not in text:
        return text
    return _QUOTED.sub(
        lambda m: m.group() if tells(Reading(m.group(), is_plain=True), truth) else " ", text
    )


def _denied_ahead(text: str, truth: Sequence[Wording]) -> bool:
    """Whether in every clause that tells the truth a denial stands before it."""
    told = False
    for clause in clauses(text)[:40]:
        if not tells(Reading(clause, is_plain=True), truth):
            continue
        told = True
        found = DENIAL.search(clause)
        if not found or not_claimed(clause) != "denied":
            return False
        if not tells(Reading(clause[found.end() :], is_plain=True), truth):
            return False
    return told


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
        float(sum(bool(HEDGE.search(parts[i].text)) for i in told) / len(told)),
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


def _swapped(target: Target, parts: list[_Part], truth: Sequence[Wording]) -> bool:
    """Whether every clause with the truth speaks of another attribute than the question.

    Whom "than", "beat" or "lost to" puts on the other side stands for the opposite.
    """
    told = [part for part in parts if part.told]
    return bool(told) and all(_turned(target, part, truth) for part in told)


def _turned(target: Target, part: _Part, truth: Sequence[Wording]) -> bool:
    said = set(part.reading.roots) - {root for wording in truth for root in wording.stems}
    places = (part.text.lower().find(w.reading.text.lower()) for w in truth)
    start = next((place for place in places if place >= 0), 0)
    other_side = _COMPARES.search(target.asked.text) and flipped(part.text, start)
    return another_attribute(target.asked_roots, said) != bool(other_side)


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
_COMPARES = re.compile(
    r"(?i)\b(?:w[io]ns?|winner|beats?|more|less|older|younger|taller|shorter|bigger|larger|smaller"
    r"|longer|faster|slower|heavier|lighter|cheaper|dearer|earlier|later|higher|lower)\b"
)
_COMMA = re.compile(r"(?i),\s+(?:and\s+|so\s+|while\s+)?|\s+and\s+(?=the\b|an?\s)|:\s+")
_QUOTED = re.compile(r'"[^"\n]{1,150}"')
_WANTS_MANY = re.compile(
    r"(?i)\b(?:where|are|were|include|in (?:which|what)|two|three|four|five|six|seven|eight"
    r"|nine|ten|list|examples?|all|some|types|kinds?|names|members|cast|both|starred|stars?"
    r"|countries|cities|colou?rs|people|actors|ingredients|planets|states|things|brothers|sisters|daughters|sons|do|characters|bands)\b|^\s*name\b"
)
_ANSWER = re.compile(
    r"(?ix)\b(?:answer|in\ fact|really|right\ name|it(?:'s|\ is|\ was)|that(?:'s|\ is|\ was)"
    r"|must\ (?:be|have\ been)|so\ the|therefore|hence|thus|final|finally|in\ short|conclu\w+"
    r"|i(?:'d|\ would)\ (?:say|go|point|pick|call)|this\ is|i\ think|by\ far|originally"
    r"|belongs?|for\ certain|credit)\b"
)
_CONTRAST = re.compile(r"(?i)\W*(?:but|yet|however|though|although|while|whereas)\b")
