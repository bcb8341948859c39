"""What evidence says about a thing: sentences and rows, with where a row's value is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from mmrag.agents.grounded.passage_text import (
    NAME,
    comparable_name,
    is_instruction,
    plain_markup,
    read_attributes,
)
from mmrag.agents.grounded.values import DATE, read_date
from mmrag.records import Evidence, Record

_SPLIT = re.compile(
    r"(?<=[.!?])\s+(?=[A-Z\"“(a-z])|\n+"
    r"|\s+(?=(?!It\b)[A-Z][\w'’-]*(?: [a-z0-9][^\s:,.;()]*){0,9}(?: \([^()]{4,40}\))?: )"
)
"""Ends of sentences and of rows, also of those run together: "Weight: 2 kg Colour: red"."""

_ROW = re.compile(r"^\|?\s*([^|]{2,80}?)\s*\|\s*([^|]{1,200}?)\s*\|?$")
_DATED = re.compile(rf"\s*\(\s*(?:as of\s+)?({DATE.pattern})\s*\)", re.I)
_ABBREVIATED = re.compile(r"\b(?:St|Mr|Mrs|Dr|Co|No|c|ca|vs|etc|approx|(?<!\d )[A-Z])\.$")
_OTHER = re.compile(rf"\b(?i:of|for) {NAME.pattern} (?:is|are|was|were)\b")
"""What is said of another thing than the page's own."""

_LONGEST = 400
_HEAD = 200
"""Characters with which a passage without a title begins, and names what it is about."""

_WHAT_IT_IS = ("name", "entity name", "type", "kind", "category", "class", "instance of")
"""Rows of an infobox that say what a thing is, and nothing of it."""

_SMALL = frozenset({"a", "an", "and", "at", "no", "number", "of", "re", "s", "the"})
"""Words that a name has on a page and not in speech, or the other way round."""

_TITLE_PARTS = re.compile(r"\s+[–—|-]\s+|\s*[|:,]\s*")
"""What stands between a thing's name and the rest of a title."""

_IT = re.compile(r"\bIt\b")


class EvidenceLine(Record, frozen=True, kw_only=True):
    """One sentence or row about a thing, which is called "It" there."""

    text: str
    value: tuple[int, int] | None = None
    """Where the value of a row is; in a sentence it has to be found."""
    date: str | None = None
    """Of when it is: what the line says itself, else the date of its page."""
    is_dated: bool = False
    is_aside: bool = False
    """Its page is about another thing."""
    is_denied: bool = False
    """It says that its value is not so: "it isn't safe for cats"."""
    evidence: str = ""
    source: str = "web"


def lines_about(
    name: str, evidence: Sequence[Evidence], *, strict: bool = True
) -> list[EvidenceLine]:
    """All lines of the evidence that may be about a thing."""
    wanted = comparable_name(name)
    found: list[EvidenceLine] = []
    for item in evidence:
        if item.source == "image-kg":
            if comparable_name(item.text) == wanted:
                found += _rows(item)
        elif not strict or wanted in comparable_name(item.title or _first_name(item.text)):
            found += [_placed(line, item) for line in _lines(item.text, (name,))]
        elif wanted in comparable_name(item.text):
            told = [x for x in _lines(item.text, (name,)) if _IT.search(x.text)]
            found += [_placed(x, item, is_aside=True) for x in told]
    if strict and not any(line.source == "web" and not line.is_aside for line in found):
        title = title_with_words(name, evidence)
        own = [item for item in evidence if title and item.title == title]
        names = (name, *(part for part in _TITLE_PARTS.split(title) if part[:1].isupper()))
        found += [_placed(line, item) for item in own for line in _lines(item.text, names)]
    return found


def title_with_words(name: str, evidence: Iterable[Evidence]) -> str:
    """The title that has all words of a name, in any order, and the fewest others; "" if none.

    A name of one word has to be the title's first.
    """
    wanted = _name_words(name)
    among = {item.title for item in evidence if item.title and item.source == "web"}
    held = {title: _name_words(title) for title in among}
    if len(wanted) == 1:
        found = [title for title in held if held[title][:1] == wanted]
    else:
        is_name = any(word.isalpha() for word in wanted)
        found = [title for title in held if is_name and set(wanted) <= set(held[title])]
    return min(found, key=lambda title: (len(held[title]), title), default="")


def _name_words(text: str) -> list[str]:
    return [word for word in comparable_name(text).split() if word not in _SMALL]


def _first_name(text: str) -> str:
    found = NAME.search(text[:_HEAD])
    return found.group() if found else ""


def _placed(line: EvidenceLine, item: Evidence, *, is_aside: bool = False) -> EvidenceLine:
    return EvidenceLine(
        is_aside=is_aside,
        text=line.text,
        value=line.value,
        date=line.date or item.date,
        is_dated=line.is_dated,
        evidence=item.id,
        source=item.source,
    )


@lru_cache(maxsize=4096)
def _lines(text: str, names: tuple[str, ...]) -> tuple[EvidenceLine, ...]:
    either = "|".join(map(re.escape, names)).replace(r"\ ", r"\s+")
    pattern = re.compile(rf"(?:\b[Tt]he\s+)?\b(?:{either})\b", re.I)
    found: list[EvidenceLine] = []
    for said in _sentences(pattern.sub("It", text)):
        if not 4 <= len(said) <= _LONGEST or is_instruction(said):
            continue
        row = _ROW.match(said)
        if row:
            found += _row(*row.groups())
        elif not (said.startswith("|") or _OTHER.search(said)) and re.search(r"\w", said):
            found.append(_line(said))
    return tuple(found)


def _sentences(text: str) -> list[str]:
    found: list[str] = []
    for part in _SPLIT.split(text):
        if found and _ABBREVIATED.search(found[-1]) and "\n" not in found[-1]:
            found[-1] += f" {part}"
        else:
            found.append(part)
    return [" ".join(p.split()) for p in found]


def _line(text: str) -> EvidenceLine:
    label = re.search(_DATED.pattern + r"(?=:)", text, re.I)
    dated = label or DATE.search(text)
    iso = read_date(dated.group(1) if label else dated.group()) if dated else ""
    text = text[: label.start()] + text[label.end() :] if label else text
    return EvidenceLine(text=text, date=iso or None, is_dated=bool(iso))


def _row(label: str, value: str, date: str | None = None) -> list[EvidenceLine]:
    """A row says its value whole; a date in brackets after it or its label is when it was so."""
    if not re.search(r"\w", value):
        return []
    for dated in (_DATED.search(label), _DATED.search(value)):
        date = date or (read_date(dated.group(1)) if dated else "")
    label, value = _DATED.sub("", label).replace("_", " "), _DATED.sub("", value).strip()
    text, start = f"{label}: {value}", len(label) + 2
    return [
        EvidenceLine(text=text, value=(start, len(text)), date=date or None, is_dated=bool(date))
    ]


def _rows(item: Evidence) -> list[EvidenceLine]:
    found: list[EvidenceLine] = []
    for key, raw in read_attributes(item.attributes):
        text, date = plain_markup(raw)
        if key.casefold() not in _WHAT_IT_IS and text:
            found += [_placed(line, item) for line in _row(key, text, date)]
    return found
