"""Whether a reply answers with the truth, or only names it beside the answer that it gives.

"Charlotte Brontë, who disliked Jane Austen, wrote it" answers Charlotte Brontë.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmrag.judges.matching import Wording
from mmrag.judges.normalise import sentences
from mmrag.judges.numbers import is_number
from mmrag.judges.reading import Reading
from mmrag.judges.truth import tells


def beside(asked: Reading, truth: Sequence[Wording], text: str) -> bool:
    """Whether every sentence with the truth is about a rival and names the truth in passing."""
    if not _TURNS.search(text):
        return False
    if _outdone(asked, truth, text) or _outanswered(asked, truth, text):
        return True
    parts = sentences(text)[:8]
    if not any(_KIN.match(part) or _NAME_ASIDE.match(part) for part in parts):
        return False
    told = [part for part in parts if tells(Reading(part, is_plain=True), truth)]
    return bool(told) and all(_in_passing(asked, truth, sentence) for sentence in told)


def _in_passing(asked: Reading, truth: Sequence[Wording], sentence: str) -> bool:
    if "where" in asked.vocabulary or not any(w.reading.capital[-1] for w in truth):
        return False
    kin, named = _KIN.match(sentence), _NAME_ASIDE.match(sentence)
    if kin and "who" in asked.vocabulary:
        head, aside, rest = sentence[kin.end() :], kin.group(), ""
    elif named:
        head, aside, rest = named.groups()
        if _DONE_BY.match(aside) or re.match("(?:in|on|at) ", aside) or "such as" in aside:
            return False
        if "who" in asked.vocabulary and _MADE_BY.match(aside):
            return False  # "Emma, a novel by Jane Austen"
        if not rest and _CALLED.match(aside) and "who" not in asked.vocabulary:
            return False  # "Lisbon, the capital of Portugal" may answer which country it is
    else:
        return False
    inside, outside = (Reading(part, is_plain=True) for part in (aside, f"{head} {rest or ''}"))
    direct = Reading(_CALLED.sub("", aside), is_plain=True)
    if not inside.words or not tells(inside, truth) or tells(outside, truth):
        return False
    if direct.words and any(direct.compact.startswith(w.compact) for w in truth):
        return False
    return _rival(asked, truth, head)


def _outdone(asked: Reading, truth: Sequence[Wording], text: str) -> bool:
    """The truth in a clause that claims little, and then "but it is ..." with something else."""
    found = _BUT_IT_IS.search(text[:400])
    if not found or _PLAIN.match(text) or len(text) > 400:
        return False
    before, after = (
        Reading(t, is_plain=True) for t in (text[: found.start()], text[found.end(1) :])
    )
    if not tells(before, truth) or not after.words or tells(after, truth):
        return False
    return before.words != after.words and _rival(
        asked, truth, " ".join(text[found.end(1) :].split()[:5])
    )


def _outanswered(asked: Reading, truth: Sequence[Wording], text: str) -> bool:
    """Two plain statements, of which the one without the truth says more of what is asked.

    "The third floor has toilets, the cafe is on the fifth": it must end on a rival.
    """
    pieces = [piece for piece in _STATEMENT.split(text[:400]) if " " in piece.strip()]
    if not 2 <= len(pieces) <= 3 or text.count(" ") > 34:
        return False
    parts = [Reading(piece, is_plain=True) for piece in pieces]
    told = [part for part in parts if tells(part, truth)]
    about = {asked.roots[i] for i in asked.places}
    if len(told) != 1 or told[0] is parts[-1]:
        return False
    last = parts[-1]
    here, there = (about & {p.roots[i] for i in p.places} for p in (told[0], last))
    return bool(there - here) and len(here) <= 1 and _ends_on_rival(asked, truth, last)


def _rival(asked: Reading, truth: Sequence[Wording], text: str) -> bool:
    """Whether a text names something new of the kind of the truth."""
    reading = Reading(text, is_plain=True)
    roots = {root for wording in truth for root in wording.stems}
    number = any(is_number(wording.words[0]) for wording in truth)
    named = any(wording.reading.capital[-1] for wording in truth)
    return any(
        (is_number(reading.words[i]) if number else reading.capital[i] or not named)
        and reading.roots[i] not in roots
        and reading.words[i] not in asked.vocabulary
        for i in reading.places
    )


def _ends_on_rival(asked: Reading, truth: Sequence[Wording], last: Reading) -> bool:
    place = last.places[-1] if last.places else 0
    if place < len(last.words) - 2 or last.roots[place] in asked.stems:
        return False
    end = last.words[place]
    kinds = {(w.reading.capital[-1], is_number(w.words[0])) for w in truth}
    return (last.capital[place], is_number(end)) in kinds


_STATEMENT = re.compile(
    r"(?<=[a-z\d)])(?:[.;]\s+|,\s+|,?\s+(?:and|but|yet|while|whereas)\s+(?:then\s+)?)"
    r"(?=(?:[Tt]he|[Ii]t|[Hh]e|[Ss]he|[Tt]hey|[Nn]ow|[Hh]is|[Hh]er|[Ii]ts|opened|signed|is|was)\b)"
)
_TURNS = re.compile(r",|;|\b(?:but|yet|[Hh]owever)\b|'s\s")
_NAME = r"[A-Z][\w'.-]*(?:\s(?:(?:of|de|van|von|the|la|da|di|du|al|bin|and)\s)?[A-Z][\w'.-]*){0,4}"
_KIN = re.compile(
    rf"(?:The|A|An|His|Her)(?:\s[a-z]+){{1,5}}\s(?:of|to|with)\s(?:the\s)?{_NAME},\s(?=[A-Z])"
    rf"|{_NAME}'s\s(?:[a-z]+\s){{1,3}}(?=[A-Z])"
)
"""A person told by another one: "The wife of …, …", "…'s brother …"."""
_NAME_ASIDE = re.compile(
    rf"(?!(?:In|On|At|As|By|For|From|During|After|Before|According)\b)(?:It(?:'s|\swas|\sis)\s)?"
    rf"((?:The\s)?{_NAME}),\s([a-z\d][^;.]*?[\s']{_NAME}[^,;.]*)(?:,\s*([^;]+)|[.!?]?\s*$)"
)
"""A name, what is said of it in passing, and what it did."""
_CALLED = re.compile(r"(?:the|in|at|on|a|an|by|also|known|as|or|near)\s+")
_DONE_BY = re.compile(r"(?:\w+ly\s)?\w+(?:ed|en|t|de|ng)\s(?:by|as)\b")
_MADE_BY = re.compile(r"(?:an?|the)\s[^,;.]{1,40}?\sby\s")
_PLAIN = re.compile(
    r"(?i)\W*(?:(?:the\s+\w+|it|this|that|he|she|they|these|those|there)(?:'s|'re|\s+(?:is|was|are"
    r"|were)))\s+(?!not\b|like\b|similar\b|close\b)"
)
_BUT_IT_IS = re.compile(
    r"(?i)((?:;\s*|[,.]?\s+(?:but|yet|however)\b,?\s*)(?:in\s+(?:fact|truth|reality),?\s+|really,?\s+"
    r"|actually,?\s+)?(?:(?:it|this|that|he|she|they)(?:'s|'re|\s+(?:is|was|are|were))|is|was|are|were)"
    r"(?:\s+(?:in\s+fact|really|actually))?\s)(?:an?\s|the\s|(?-i:[A-Z])|\d)"
)
