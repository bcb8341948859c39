"""What evidence says about a thing: sentences and rows, with where their values may be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from mmrag.agents.grounded.learned.spans import Span, propose
from mmrag.agents.grounded.statements import (
    NAME,
    fold,
    gives_orders,
    plain_markup,
    read_attributes,
)
from mmrag.agents.grounded.values import DATE, read_date
from mmrag.records import Evidence, Record

_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(a-z])|\n+")
_ROW = re.compile(r"^\|?\s*([^|]{2,80}?)\s*\|\s*([^|]{1,200}?)\s*\|?$")
_ABBREVIATED = re.compile(r"\b(?:St|Mr|Mrs|Dr|Co|No|c|ca|vs|etc|approx|[A-Z])\.$")
_LONGEST = 400


class Line(Record, frozen=True, kw_only=True):
    """One sentence or row about a thing, which is called "it" there."""

    text: str
    spans: tuple[Span, ...]
    date: str | None = None
    """Of when it is: what the line says itself, else the date of its page."""
    is_dated: bool = False
    evidence: str = ""
    source: str = "web"


def lines_about(name: str, evidence: Iterable[Evidence], *, strict: bool = True) -> list[Line]:
    """All lines of the evidence that may be about a thing."""
    wanted = fold(name)
    found: list[Line] = []
    for item in evidence:
        if item.source == "image-kg":
            if fold(item.text) == wanted:
                found += _rows(item)
        elif not strict or wanted in fold(item.title):
            found += [_placed(line, item) for line in _lines(item.text, name)]
        elif wanted in fold(item.text):
            found += [_placed(x, item) for x in _lines(item.text, name) if _IT.search(x.text)]
    return found


_IT = re.compile(r"\bIt\b")


def _placed(line: Line, item: Evidence) -> Line:
    return Line(
        text=line.text,
        spans=line.spans,
        date=line.date or item.date,
        is_dated=line.is_dated,
        evidence=item.id,
        source=item.source,
    )


@lru_cache(maxsize=4096)
def _lines(text: str, name: str) -> tuple[Line, ...]:
    pattern = re.compile(rf"(?:\b[Tt]he\s+)?\b{re.escape(name)}\b".replace(r"\ ", r"\s+"), re.I)
    found: list[Line] = []
    for sentence in _sentences(text):
        if not 4 <= len(sentence) <= _LONGEST or gives_orders(sentence):
            continue
        said = pattern.sub("It", sentence)
        row = _ROW.match(said)
        if row:
            line = _row(*row.groups())
            if line:
                found.append(line)
            continue
        if said.startswith("|") or not re.search(r"\w", said):
            continue
        found.append(_line(said, tuple(s for s in propose(said) if s.text != "It")))
    return tuple(found)


def _sentences(text: str) -> list[str]:
    found: list[str] = []
    for part in _SPLIT.split(text):
        if found and _ABBREVIATED.search(found[-1]) and "\n" not in found[-1]:
            found[-1] += f" {part}"
        else:
            found.append(part)
    return [" ".join(p.split()) for p in found]


def _line(text: str, spans: tuple[Span, ...]) -> Line:
    dates = [s for s in spans if s.kind == "date"]
    iso = read_date(dates[0].text) if dates else ""
    return Line(
        text=text, spans=spans, date=iso or None, is_dated=bool(iso) and len(spans) > len(dates)
    )


def _row(label: str, value: str) -> Line | None:
    """A row says its value whole; a date in brackets after it is when it was so."""
    if not re.search(r"\w", value):
        return None
    dated = re.search(rf"\s*\(\s*(?:as of\s+)?({DATE.pattern})\s*\)", value, re.I)
    iso = read_date(dated.group(1)) if dated else ""
    if dated and iso:
        value = (value[: dated.start()] + value[dated.end() :]).strip()
    label = label.replace("_", " ")
    text, start = f"{label}: {value}", len(label) + 2
    inside = propose(value)
    whole = next((s.kind for s in inside if len(s.text) >= len(value) - 2), "")
    kind = whole or (
        "list" if re.search(r",| and |\|", value) else inside[0].kind if inside else "text"
    )
    if NAME.fullmatch(value):
        kind = "name"
    return Line(
        text=text,
        spans=(Span(start, len(text), kind, value),),
        date=iso or None,
        is_dated=bool(iso),
    )


def _rows(item: Evidence) -> list[Line]:
    found: list[Line] = []
    for key, raw in read_attributes(item.attributes):
        text, date = plain_markup(raw)
        line = _row(key, text) if key not in ("name", "entity name") and text else None
        if line:
            found.append(
                Line(
                    text=line.text,
                    spans=line.spans,
                    date=date or line.date,
                    is_dated=bool(date) or line.is_dated,
                    evidence=item.id,
                    source="image-kg",
                )
            )
    return found
