"""Which of several statements a reply answers with: each value and name belongs to its own clause.

"York goes from platform 4 and Leeds from platform 9" answers 9 for Leeds and 4 for York. What a
bag of words cannot tell, the clause can that says most of what is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mmrag.judges.attributes import another_attribute
from mmrag.judges.claims import not_claimed
from mmrag.judges.clock import is_time, same_time, times
from mmrag.judges.matching import Wording, wordings
from mmrag.judges.numbers import is_number, same_quantity
from mmrag.judges.reading import Reading, stem
from mmrag.judges.ruling import Ruling
from mmrag.judges.sets import wants_several
from mmrag.judges.truth import tells

MAX_WORDS = 45
"""Longer replies tell too much besides for their clauses to be weighed."""


def settles(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A reply of several statements in which the truth belongs to another thing than is asked."""
    if not 4 <= len(said.words) <= MAX_WORDS or not _SEVERAL.search(said.raw):
        return None
    if wants_several(asked):
        return None
    if (found := _bound_value(asked, known, said)) is not None:
        return found
    if _other_owner(asked, known, said):
        return Ruling(False, "the value of another thing")
    truth = [wording for reading in known[:6] for wording in wordings(reading.raw)]
    if not tells(said, truth):
        return None
    for rule in (_cleft, _of_another, _possessor, _outanswered, _coordinated, _roles):
        if reason := rule(asked, truth, said):
            return Ruling(False, reason)
    return None


def _bound_value(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """Several numbers or times, each in a clause of its own: that which the question names counts.

    "Weekdays 6 pm, Saturday 1 pm", asked about Saturday.
    """
    as_time = all(is_time(reading.text) for reading in known[:6])
    if not as_time and any(len(r.quantities) != 1 or len(r.words) > 4 or r.dates for r in known):
        return None
    about = _about(asked)
    found: list[tuple[set[str], bool, Reading]] = []
    for piece in _pieces(_VALUE_CLAUSE, said.raw):
        reading = Reading(piece, is_plain=True)
        if reading.dates or "once" in reading.vocabulary:
            return None
        good = _values(reading, asked, known, as_time=as_time)
        if len(good) > 1:
            return None
        if good:
            found.append((about & reading.stems.keys(), good[0], reading))
        elif reading.places and found and len(reading.words) > 4:
            return None  # goes on about something else
    if len(found) < 2 or any(len(reading.words) < 2 for _, _, reading in found):
        return None
    if len({good for _, good, _ in found}) < 2:
        return None
    most = max(len(cover) for cover, _, _ in found)
    best = [one for one in found if len(one[0]) == most]
    if not most or len(best) > 1 or another_attribute(about, set(best[0][2].roots)):
        return None
    if any(not cover < best[0][0] for cover, _, _ in found if cover != best[0][0]):
        return None
    good = best[0][1]
    return Ruling(good, "the value of what is asked" if good else "the value of another thing")


def _values(
    reading: Reading, asked: Reading, known: Sequence[Reading], *, as_time: bool
) -> list[bool]:
    """For each value of a clause, whether it is that of a reference."""
    if as_time:
        given, wanted = times(asked.text), [t for r in known for t in times(r.text)]
        told = [time for time in times(reading.text) if time not in given]
        return [any(same_time(time, one) for one in wanted) for time in told]
    repeated = {q.raw for q in asked.quantities}
    return [
        any(
            same_quantity(q, r.quantities[0]) and (q.kind or q.raw == r.quantities[0].raw)
            for r in known
        )
        for q in reading.quantities
        if q.raw not in repeated and not q.ordinal
    ]


def _other_owner(asked: Reading, known: Sequence[Reading], said: Reading) -> bool:
    """ "The population of Malta is 390,000", asked about Iceland."""
    found = _OWNER.search(said.raw)
    if not found or said.sentence[-1] > 0 or _THAN.search(said.raw):
        return False
    if any(len(r.quantities) != 1 or len(r.words) > 4 or r.dates for r in known):
        return False
    owners = {asked.roots[i] for i in asked.places if asked.capital[i] and i > 0}
    own = Reading(found[1] or found[2], is_plain=True)
    return bool(owners) and not owners & said.stems.keys() and not own.vocabulary & asked.vocabulary


def _cleft(asked: Reading, truth: Sequence[Wording], said: Reading) -> str:
    """ "After a set against Świątek it was Sabalenka who won" answers Sabalenka."""
    found = _CLEFT.search(said.raw)
    if not found:
        return ""
    inside, after = (Reading(text, is_plain=True) for text in (found[1], said.raw[found.end() :]))
    own = inside.words and not set(inside.roots) & set(asked.roots)
    return (
        "answers with another one"
        if own and not tells(inside, truth) and not tells(after, truth)
        else ""
    )


def _possessor(asked: Reading, truth: Sequence[Wording], said: Reading) -> str:
    """ "Copernicus's uncle" is not Copernicus."""
    if _RELATION.search(asked.raw) or "whose" in asked.vocabulary:
        return ""
    bare = _OF_KIN.sub(" ", said.raw)
    if bare == said.raw or tells(Reading(bare, is_plain=True), truth):
        return ""
    return "names the truth's kin"


def _of_another(asked: Reading, truth: Sequence[Wording], said: Reading) -> str:
    """The truth is said of "the one beside it", and something else of the thing itself."""
    if _OTHER_ONE.search(asked.raw) or not _OTHER_ONE.search(said.raw):
        return ""
    pieces = [Reading(piece, is_plain=True) for piece in _pieces(_STATEMENT, said.raw)]
    told = [piece for piece in pieces if tells(piece, truth)]
    others = [piece for piece in pieces if len(piece.words) > 2 and piece not in told]
    if not told or not others or any(map(not_claimed, (piece.raw for piece in others))):
        return ""
    return "says it of another one" if all(_OTHER_ONE.match(p.raw) for p in told) else ""


def _outanswered(asked: Reading, truth: Sequence[Wording], said: Reading) -> str:
    """A statement without the truth says more of what is asked, and names a rival."""
    texts = _pieces(_STATEMENT, said.raw) if len(said.words) <= 25 and ":" not in said.raw else []
    if not 2 <= len(texts) <= 3:
        return ""
    pieces = [_piece(text, asked, truth) for text in texts]
    told = [piece for piece in pieces if piece.told]
    if not told:
        return ""
    if "who" in asked.vocabulary and any("by" in p.reading.vocabulary for p in told):
        return ""  # "completed by …"
    seems = all(_SEEMS.search(piece.reading.raw) for piece in told) and _BUT.search(said.raw)
    if seems and not pieces[-1].told and _names_rival(asked, truth, pieces[-1]):
        return "answers with another one"
    if any(_BARE_OR_PLAIN.match(p.reading.raw) or not _VERB.search(p.reading.raw) for p in told):
        return ""
    here = set[str]().union(*(piece.cover for piece in told))
    for piece in pieces:
        more = not piece.told and here < piece.cover and len(here) <= 2
        if more and not not_claimed(piece.reading.raw) and _names_rival(asked, truth, piece):
            return "answers with another one"
    return ""


def _coordinated(asked: Reading, truth: Sequence[Wording], said: Reading) -> str:
    """ "The plinth is of marble and the statue limestone": the statue was asked about."""
    if len(said.words) > 20 or "where" in asked.vocabulary or _SAME_AS.search(said.raw):
        return ""
    if ":" in said.raw or any(is_number(wording.words[-1]) for wording in truth):
        return ""
    pieces = [Reading(piece, is_plain=True) for piece in _pieces(_VALUE_CLAUSE, said.raw)]
    whole = [p for p in pieces if any(p.holds(wording.compact) for wording in truth)]
    told = whole or [piece for piece in pieces if tells(piece, truth)]
    if not 2 <= len(pieces) <= 3 or len(told) != 1 or _BARE_OR_PLAIN.match(told[0].raw):
        return ""
    if not all(_SUBJECT.match(piece.raw) for piece in pieces):
        return ""
    about = _about(asked)
    if any(not _IS_OR_DID.search(piece.raw) for piece in pieces):
        about -= {stem(word.lower()) for piece in pieces for word in _DOES.findall(piece.raw)}
    roots = {root for wording in truth for root in wording.stems}
    here = about & told[0].stems.keys()
    own = {told[0].roots[i] for i in told[0].places} - roots - here
    named = any(wording.reading.capital[-1] for wording in truth)
    for piece in pieces:
        if piece is told[0] or not here < about & piece.stems.keys() or not_claimed(piece.raw):
            continue
        ends = piece.places[:1] if _NAME_IS.match(piece.raw) else piece.places[-1:]
        if own and any(
            piece.roots[i] not in roots
            and piece.roots[i] not in asked.stems
            and (piece.capital[i] or not named)
            for i in ends
        ):
            return "answers with another one"
    return ""


def _about(asked: Reading) -> set[str]:
    """What a question names, less the kind of thing it asks for ("which city") and possessors."""
    kind = _KIND.match(asked.raw)
    left = Reading(_WHOSE.sub(" ", asked.raw[kind.end() :] if kind else asked.raw), is_plain=True)
    return {left.roots[i] for i in left.places}


class _Piece(NamedTuple):
    reading: Reading
    told: bool
    cover: set[str]


def _piece(text: str, asked: Reading, truth: Sequence[Wording]) -> _Piece:
    reading = Reading(text, is_plain=True)
    cover = {asked.roots[i] for i in asked.places} & reading.stems.keys()
    return _Piece(reading, tells(reading, truth), cover)


def _names_rival(asked: Reading, truth: Sequence[Wording], piece: _Piece) -> bool:
    """Whether a statement begins or ends on something new of the kind of the truth."""
    reading = piece.reading
    if not reading.places:
        return False
    first, last = reading.places[0], reading.places[-1]
    if not any(wording.reading.capital[-1] for wording in truth):
        return False
    roots = {root for wording in truth for root in wording.stems}
    behind = last >= len(reading.words) - 2
    ends = [last] if behind and reading.capital[last] else []
    ends += [first] if _NAME_IS.match(reading.raw) else []
    return any(reading.roots[i] not in asked.stems and reading.roots[i] not in roots for i in ends)


def _roles(asked: Reading, truth: Sequence[Wording], said: Reading) -> str:
    """The truth does what was done to it: "Arsenal beat the hosts", asked whom the hosts beat."""
    found = _DID.match(asked.raw)
    if not found or said.sentence[-1] > 0:
        return ""
    subject, verb = Reading(found[1], is_plain=True), Reading(found[2], is_plain=True)
    if not subject.places or not verb.roots:
        return ""
    actor = said.stems.get(subject.roots[subject.places[-1]])
    act = said.stems.get(verb.roots[-1])
    own = next((said.stems[s] for w in truth for s in w.stems if s in said.stems), None)
    if actor is None or act is None or own is None:
        return ""
    passive = "by" in said.words[act : act + 3]
    first, second = (own, actor) if passive else (actor, own)
    return "the other way round" if second < act < first and act - second <= 3 else ""


def _pieces(pattern: re.Pattern[str], text: str) -> list[str]:
    return [piece for piece in pattern.split(text) if _WORD.search(piece)][:8]


_WORD = re.compile(r"[^\W_]")
_SEVERAL = re.compile(
    r"(?i)[,;:|\n]|[.!?]\s+\w|\b(?:and|but|yet|while|whereas|who|that|beat\w*|by|w[io]n\w*|\w+ed)\b"
)
_VALUE_CLAUSE = re.compile(
    r"(?i)[.;!?]\s+|,\s+(?:and\s+|but\s+|while\s+)?|\s+(?:and|but|while|whereas)\s+|\s*[\n|/]\s*"
)
_STATEMENT = re.compile(
    r"(?i)[.;!?]\s+|,\s+(?:and|but|yet|while|whereas|though)\s+|\s+(?:but|yet|while|whereas)\s+"
    r"|,?\s+(?:and\s+)?(?=(?:the|it|this|that|what|its|his|her)\s(?:\w+\s){0,3}(?:is|was|are|were)\b)"
)
_VERB = re.compile(
    r"(?i)\b(?:is|are|was|were|be|been|has|have|had|does|did|do|can|could|will|would|\w{2,}ed"
    r"|\w{3,}s|wrote|made|took|gave|came|went|won|led|sang|built|held|ran|met|got)\b"
)
_IS_OR_DID = re.compile(
    r"(?i)\b(?:is|are|was|were|has|have|had|does|did|\w{2,}ed|wrote|made|took|gave|came|went|won|led|sang"
    r"|built|held|ran|met|got|plays?|goes|leaves|costs?|sits?|stands?|lies|means?|says?)\b"
)
_DOES = re.compile(
    r"(?i)\b(\w{3,}ed|wrote|made|took|gave|came|went|won|led|sang|built|goes|leaves|costs?)\b"
)
_KIND = re.compile(
    r"(?i)\W*(?:on|in|at|from|by)?\s*(?:which|what)\s+(?!is\b|are\b|was\b|were\b|do|did\b)\w+\s"
)
_WHOSE = re.compile(r"\b\w+'s?\s")
_NAME = r"[A-Z][\w'.-]*(?:\s(?:(?:of|de|van|von|the|la|da|di|du|al|bin)\s)?[A-Z][\w'.-]*){0,3}"
_SUBJECT = re.compile(
    rf"\W*(?:(?i:the|an?|its?|his|her|their|this|that|left|right|what\s\w+s)\s|(?!(?:In|On|At|As|By|For|From"
    rf"|If|When|After|Before|During|Who|With)\b){_NAME}\s)"
)
_OWNER = re.compile(
    rf"\bof\s(?:the\s)?({_NAME})\s(?:is|was|has)\b|^\W*({_NAME})'s\s[a-z]+\s(?:is|was)\b"
)
_THAN = re.compile(r"(?i)\b(?:than|like|unlike|as|compared)\b")
_CLEFT = re.compile(rf"\b[Ii]t\s(?:is|was)\s(?!not\b)((?:the\s)?{_NAME})\s(?:who|that|which)\b")
_NAME_IS = re.compile(rf"\W*{_NAME}\s(?:is|was)\s(?:the|its|his|her)\s")
_OTHER_ONE = re.compile(
    r"(?i)\W*(?:the\s+(?:other|next|neighbou?ring|adjacent|previous)\s+[a-z]+\b"
    r"|the\s+ones?\s+(?:beside|next\s+to|above|below|behind|before|after|under|opposite|on|in|to)\b"
    r"|there\s+(?:is|are|was|were)\s.{0,40}\b(?:above|below|behind|beside|elsewhere|nearby|outside)\b)"
)
_BARE_OR_PLAIN = re.compile(
    r"(?i)\W*(?:(?:it|this|that|these|those|they|there|he|she)(?:'s|'re|\s+(?:is|was|are|were))"
    r"|(?:the\s+)?answer)\b"
)
_SAME_AS = re.compile(
    r"(?i)\b(?:also|a\.?k\.?a|called|known|real\s+name|born|stands?\s+for|named|meaning|or|i\.e)\b|="
)
_RELATION = re.compile(
    r"(?i)\b(?:uncle|aunt|brother|sister|son|daughter|wife|husband|father|mother|cousin|nephew|niece|widow"
    r"|successor|predecessor|assistant|pupil|student|teacher|friend|rival|partner|colleague|neighbou?r)s?\b"
)
_OF_KIN = re.compile(rf"{_NAME}'s?\s(?:[a-z]+\s)?(?={_RELATION.pattern[4:]})")
_SEEMS = re.compile(
    r"(?i)\b(?:resembles?|looks?|seems?|appears?|sounds?|reminds?|could\s+be|might\s+be|tempt\w+)\b"
)
_BUT = re.compile(r"(?i)\b(?:but|yet|however|though|although|while)\b")
_DID = re.compile(r"(?i)\W*(?:who|whom|what|which)\b(?!').*?\b(?:did|does|do)\s(.+?)\s(\w+)\W*$")
