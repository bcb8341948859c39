"""How the truth stands in a reply: claimed, denied, taken back, one of several, beside a rival.

Numbers for the calibrated judge, from the clauses of `mmrag.judges.claims`. They say what a bag of
words cannot: "not Monet", "Monet or Manet", "Many think of Monet, but it was Manet".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mmrag.judges.claims import DENIAL, claim, clauses, not_claimed
from mmrag.judges.lexicon import NEGATIONS
from mmrag.judges.matching import Wording
from mmrag.judges.normalise import sentences
from mmrag.judges.numbers import is_number, same_quantity
from mmrag.judges.reading import Reading
from mmrag.judges.target import Target

COLUMNS = tuple(
    """
    told_whole told_claimed lost_withdrawn lost_denied lost_mentioned lost_order denied_ahead
    either either_hedged guesses_true guesses_false equally row_items row_share row_place row_joined
    numbers_in_row clause_first clause_last clause_cover other_cover later_cover cover_gap
    answer_here answer_elsewhere answer_later contrast_after rival_capitals rival_later rival_answer
    tail_capital tail_number head_capital clause_negated clause_hedged claims_left
    """.split()
)


class _Part(NamedTuple):
    text: str
    reading: Reading
    told: bool
    cover: float


def stance(target: Target, ranked: Sequence[int], said: Reading) -> list[float]:
    """One number per column."""
    truth = _present([target.known[i] for i in ranked], target, said)
    text = said.text
    if not truth:
        return [0.0] * 12 + [0.0] * (len(COLUMNS) - 12)
    keep = bool(target.asked.vocabulary & NEGATIONS) or any(
        w.reading.vocabulary & NEGATIONS for w in target.known[:4]
    )
    made = claim(text, keep_denials=keep)
    claimed = said if not made.dropped else Reading(made.text, is_plain=True)
    lost = made.dropped if not _tells(claimed, truth) else ""
    asked = target.asked_roots
    parts = [_part(clause, truth, asked) for clause in clauses(made.text if not lost else text)[:40]]
    return [
        1.0, float(not lost),
        float(lost == "withdrawn"), float(lost == "denied"), float(lost == "mentioned"),
        float(lost == "an order"), float(_denied_ahead(text, truth)),
        *_either(made.text, truth), *_guesses(target, made.text, truth),
        *_row(made.text, truth), _numbers_in_row(target, said),
        *_places(target, parts, truth), *_edges(said, truth),
        float(len(claimed.words) / len(said.words)) if said.words else 0.0,
    ]  # fmt: skip


def _present(known: Sequence[Wording], target: Target, said: Reading) -> list[Wording]:
    """The wordings that stand in the reply, at least by the words that the question does not say."""
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
    return len(wanted) == 1 and len(wording.words) <= 3 and any(
        same_quantity(q, wanted[0]) for q in said.quantities
    )


def _tells(reading: Reading, truth: Sequence[Wording]) -> bool:
    for wording in truth:
        if reading.holds(wording.compact):
            return True
        stems = reading.stems
        hit = sum(s in stems for s in wording.stems)
        if hit and (hit == len(wording.stems) or wording.stems[-1] in stems):
            return True
        wanted = wording.reading.quantities
        if len(wanted) == 1 and any(same_quantity(q, wanted[0]) for q in reading.quantities):
            return True
    return False


def _part(text: str, truth: Sequence[Wording], asked: set[str]) -> _Part:
    reading = Reading(text, is_plain=True)
    cover = sum(root in reading.stems for root in asked) / (len(asked) or 1)
    return _Part(text, reading, _tells(reading, truth), cover)


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
        if not _OR.search(sentence):
            continue
        parts = [p.strip() for p in _OR_SPLIT.split(sentence)]
        readings = [Reading(part, is_plain=True) for part in parts]
        for place, (left, right) in enumerate(zip(readings, readings[1:], strict=False)):
            tail = Reading(" ".join(left.words[-5:]), is_plain=True)
            head = Reading(" ".join(right.words[:5]), is_plain=True)
            ahead, behind = _tells(tail, truth), _tells(head, truth)
            if ahead == behind:
                continue
            other, raw = (right, parts[place + 1]) if ahead else (left, parts[place])
            if not _ALIAS.match(raw) and (other.places or any(map(is_number, other.words))):
                found = max(found, 1.0 + (len(left.words) + len(right.words) <= 8))
                hedged = max(hedged, float(bool(_HEDGE.search(sentence))))
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


def _row(text: str, truth: Sequence[Wording]) -> list[float]:
    """The longest row of short items of which one is the truth: length, share, place, joined."""
    best = [0.0, 0.0, 0.0, 0.0]
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
            if end - start > max(2, best[0]) and any(told) and not all(told):
                words = sum(len(i.split()) for i in items[start:end])
                best = [
                    float(end - start), words / total, told.index(True) / (end - start),
                    float(bool(_JOIN.search(block))),
                ]  # fmt: skip
    return best


def _numbers_in_row(target: Target, said: Reading) -> float:
    """How many different numbers a reply tells that is little but numbers."""
    values = {q.raw for q in said.quantities}
    words = [w for w in said.words if not is_number(w)]
    if len(values) < 2 or len(words) > len(values) + 3:
        return 0.0
    return float(len(values - {q.raw for q in target.quantities}))


def _places(target: Target, parts: list[_Part], truth: Sequence[Wording]) -> list[float]:
    """The clause that tells the truth against the clauses that tell something else."""
    told = [i for i, part in enumerate(parts) if part.told]
    if not told:
        return [-1.0] * 15
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
    ]  # fmt: skip


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
_OR = re.compile(r"(?i)\b(?:or|xor|versus)\b|\w\s*/\s*\w")
_OR_SPLIT = re.compile(r"(?i)\s*(?:,?\s*\b(?:and/or|or|xor|versus)\b|,|(?<=\w)\s*/\s*(?=\w))\.?\s*")
_ALIAS = re.compile(
    r"(?i)\W*(?:so|more|less|fewer|thereabouts|about|around|roughly|approximately|nearly|simply|just|at least|better|rather"
    r"|in other words|also|known|called|as it is|whatever|something|later|earlier|above|over|under|below|if you|to be)\b"
)
_GUESS_SPLIT = re.compile(r"(?i)[,;.?!]|\b(?:or|and|but|though|although)\b")
_HEDGE = re.compile(
    r"(?i)\b(?:perhaps|maybe|might|may|could|possibly|possible|probably|alternatively|then again|conceivably|equally|either"
    r"|just as (?:probably|likely)|not rule out|depending|candidates?)\b"
)
_EQUALLY = re.compile(
    r"(?i)\b(?:equally|as well|just as|then again|alternatively|both (?:readings|are)|also (?:be|possible)|one of (?:th|the)|hard to say|cannot decide)\b"
)
_VAGUE = frozenset(
    "later more less earlier sure certain wrong mistaken something somebody someone lot little hard help want like see say tell find check look".split()
)
_ITEM = re.compile(r"(?i)[,;|\n/:•*?]|\s-\s|\b(?:and|or)\b|&|(?<=\d)\s+(?=\d)")
_JOIN = re.compile(r"(?i)\b(?:and|or)\b|&")
_ANSWER = re.compile(
    r"(?ix)\b(?:answer|in\ fact|really|right\ name|it(?:'s|\ is|\ was)|that(?:'s|\ is|\ was)|must\ (?:be|have\ been)|so\ the|therefore|hence|thus|final|finally|in\ short|conclu\w+"
    r"|i(?:'d|\ would)\ (?:say|go|point|pick|call)|this\ is|i\ think|by\ far|originally|belongs?|for\ certain|credit)\b"
)
_CONTRAST = re.compile(r"(?i)\W*(?:but|yet|however|though|although|while|whereas)\b")
