"""Why a reply that holds the truth is wrong all the same: it denies it, takes it back, offers it
beside others, or says it of another thing. Each reason is looked for only where a cue stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmrag.judges.builtin.claims import CONCESSION, DENIAL, WORD, claim, clauses, is_about_judging
from mmrag.judges.builtin.list_rules import guesses, or_strength
from mmrag.judges.builtin.parsed_question import Target, Wording, tells
from mmrag.judges.builtin.parsed_text import Cue, Parsed
from mmrag.text.lexicon import NEGATIONS, phrases
from mmrag.text.normalise import sentences
from mmrag.text.numbers import is_number
from mmrag.text.opposites import another_attribute, flipped, has_opposites

MAX_WORDS = 40
"""Longer replies tell too much besides for most objections to be sure."""


def why_wrong(target: Target, truth: Sequence[Wording], said: Parsed) -> str:
    """Why a reply is wrong though the wordings in `truth` stand in it; empty where nothing is."""
    asked, n = target.asked, len(said.words)
    if not truth or n > MAX_WORDS:
        return ""
    # Titles deny and hedge nothing, unless they hold the truth.
    text = _QUOTED.sub(
        lambda m: m[0] if tells(Parsed(m[0], is_plain=True), truth) else " ", said.raw
    )
    lost, length = "", n
    if said.cues & (Cue.CONTRAST | Cue.CORRECTION | Cue.ORDER):
        readings = (asked, *(w.reading for w in target.known[:4]))
        keep = any(r.vocabulary & NEGATIONS for r in readings) or DENIAL.search(asked.text)
        text, dropped = claim(text, keep_denials=bool(keep))
        if dropped:
            claimed = Parsed(text, is_plain=True)
            lost, length = "" if tells(claimed, truth) else dropped, len(claimed.words)
    if lost == "withdrawn":
        return "takes the answer back"
    if lost == "an order" and not is_about_judging(asked.text):
        return "names the answer in an order to the judge only"
    if lost == "denied" and n <= 25:
        return "denies the answer"
    if not lost and length <= 25 and only_about_rival(asked, truth, text):
        return "names the answer beside another one"
    if lost == "mentioned" and (n <= 14 or CONCESSION.search(said.raw)):
        return "only mentions the answer"
    if said.cues & Cue.OR or "/" in text:
        ors, hedged = or_strength(asked, text, truth)
        offered = hedged or (n <= 12 and "or" in asked.vocabulary)
        if (ors >= 3 and n <= 9) or (ors >= 2 and offered):
            return "offers one or the other"
    if n <= 16 and _swapped(target, text, truth, said):
        return "gives the value of another thing"
    if n <= 16 and target.quantities and _number_rival(target, text, truth, said):
        return "gives another number for what is asked"
    if n <= 25 and said.cues & Cue.HEDGE and guesses(asked, text, truth):
        return "guesses at several answers"
    return ""


def _parts(text: str, said: Parsed) -> list[Parsed]:
    pieces = [piece for clause in clauses(text)[:30] for piece in _COMMA.split(clause)][:40]
    if len(pieces) == 1 and text == said.raw:
        return [said]
    return [Parsed(piece, is_plain=True) for piece in pieces if WORD.search(piece)]


def _swapped(target: Target, text: str, truth: Sequence[Wording], said: Parsed) -> bool:
    """Whether every clause with the truth speaks of another attribute than the question. Whom
    "than", "beat" or "lost to" puts on the other side stands for the opposite."""
    if not target.compares and not (
        has_opposites(target.asked_roots) and has_opposites(said.roots)
    ):
        return False
    told = [part for part in _parts(text, said) if tells(part, truth)]
    roots = {root for wording in truth for root in wording.stems}
    for part in told:
        places = (part.raw.lower().find(w.reading.text.lower()) for w in truth)
        start = next((place for place in places if place >= 0), 0)
        other_side = target.compares and flipped(part.raw, start)
        if another_attribute(target.asked_roots, set(part.roots) - roots) == other_side:
            return False
    return bool(told)


def _number_rival(target: Target, text: str, truth: Sequence[Wording], said: Parsed) -> bool:
    """Whether what is asked for stands with another number: "Waist 32, inseam 34"."""
    if len(said.quantities) < 2 or "once" in said.vocabulary:
        return False
    if any(d.month for d in said.dates) or any(any(w.reading.capital) for w in target.known[:4]):
        return False
    parts = _parts(text, said)
    told = [part for part in parts if tells(part, truth)]
    kinds = {q.kind for q in target.quantities}
    here = {root for part in told for root in target.asked_roots & part.stems.keys()}
    return any(
        here < target.asked_roots & part.stems.keys()
        and any(q.kind in kinds and q.raw not in target.asked_values for q in part.quantities)
        for part in parts
        if told and part not in told
    )


def only_about_rival(asked: Parsed, truth: Sequence[Wording], text: str) -> bool:
    """Whether every sentence with the truth is about a rival and names the truth in passing."""
    if not _TURNS.search(text):
        return False
    if _outdone(asked, truth, text) or _outanswered(asked, truth, text):
        return True
    parts = sentences(text)[:8]
    if not any(_KIN.match(part) or _NAME_ASIDE.match(part) for part in parts):
        return False
    told = [part for part in parts if tells(Parsed(part, is_plain=True), truth)]
    return bool(told) and all(_in_passing(asked, truth, sentence) for sentence in told)


def _in_passing(asked: Parsed, truth: Sequence[Wording], sentence: str) -> bool:
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
    inside, outside = (Parsed(part, is_plain=True) for part in (aside, f"{head} {rest or ''}"))
    direct = Parsed(_CALLED.sub("", aside), is_plain=True)
    if not inside.words or not tells(inside, truth) or tells(outside, truth):
        return False
    if direct.words and any(direct.compact.startswith(w.compact) for w in truth):
        return False
    return _rival(asked, truth, head)


def _outdone(asked: Parsed, truth: Sequence[Wording], text: str) -> bool:
    """The truth in a clause that claims little, and then "but it is ..." with something else."""
    found = _BUT_IT_IS.search(text[:400])
    if not found or _PLAIN.match(text) or len(text) > 400:
        return False
    rest = text[found.end(1) :]
    before, after = (Parsed(t, is_plain=True) for t in (text[: found.start()], rest))
    if not tells(before, truth) or not after.words or tells(after, truth):
        return False
    return before.words != after.words and _rival(asked, truth, " ".join(rest.split()[:5]))


def _outanswered(asked: Parsed, truth: Sequence[Wording], text: str) -> bool:
    """Two plain statements, of which the one without the truth says more of what is asked. "The
    third floor has toilets, the cafe is on the fifth": it must end on a rival."""
    pieces = [piece for piece in _STATEMENT.split(text[:400]) if " " in piece.strip()]
    if not 2 <= len(pieces) <= 3 or text.count(" ") > 34:
        return False
    parts = [Parsed(piece, is_plain=True) for piece in pieces]
    told, last = [part for part in parts if tells(part, truth)], parts[-1]
    if len(told) != 1 or told[0] is last or not last.words:
        return False
    about = {asked.roots[i] for i in asked.places}
    here, there = (about & {p.roots[i] for i in p.places} for p in (told[0], last))
    end = last.places[-1] if last.places else 0
    if there <= here or len(here) > 1:
        return False
    if end < len(last.words) - 2 or last.roots[end] in asked.stems:
        return False
    kinds = {(w.reading.capital[-1], is_number(w.words[0])) for w in truth}
    return (last.capital[end], is_number(last.words[end])) in kinds


def _rival(asked: Parsed, truth: Sequence[Wording], text: str) -> bool:
    """Whether a text names something new of the kind of the truth."""
    reading = Parsed(text, is_plain=True)
    roots = {root for wording in truth for root in wording.stems}
    number = any(is_number(wording.words[0]) for wording in truth)
    named = any(wording.reading.capital[-1] for wording in truth)
    return any(
        (is_number(reading.words[i]) if number else reading.capital[i] or not named)
        and reading.roots[i] not in roots
        and reading.words[i] not in asked.vocabulary
        for i in reading.places
    )


_COMMA = phrases(r", (?:and |so |while )?| and (?=the\b|an?\s)|: ")
_QUOTED = re.compile(r'"[^"\n]{1,150}"')
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
_PLAIN = phrases(
    r"\W*(?:(?:the \w+|it|this|that|he|she|they|these|those|there)(?:'s|'re| (?:is|was|are"
    r"|were))) (?!not\b|like\b|similar\b|close\b)"
)
_BUT_IT_IS = phrases(
    r"((?:;\s*|[,.]? (?:but|yet|however)\b,?\s*)(?:in (?:fact|truth|reality),? |really,? "
    r"|actually,? )?(?:(?:it|this|that|he|she|they)(?:'s|'re| (?:is|was|are|were))|is|was|are"
    r"|were)(?: (?:in fact|really|actually))?\s)(?:an?\s|the\s|(?-i:[A-Z])|\d)"
)
