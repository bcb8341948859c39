"""Statements: what passages and infoboxes say, as (about whom, noun phrase, value, as of when).

Open information extraction by a few constructions of English (copula, "N: V", table rows, "lists V
as the N"). It knows no vocabulary of attributes: what a page calls a thing is what it is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from mmrag.agents.grounded.values import DATE, Value, read_date, read_value
from mmrag.records import Evidence, Record

_WORD = r"[A-Z][^\W\d_]*(?:['’-](?!s\b)[^\W\d_]+)*"
NAME = re.compile(
    rf"{_WORD}(?:(?:\s+(?:of|the|at|and|&|under|by|upon|on|in|against|from|for|de|la))*\s+{_WORD})+(?:\s\d{{3}}\b)?"
    r"|\b[A-Z][^\W\d_]+(?:-[^\W\d_]+)*-[A-Z][^\W\d_]+"
)
"""A proper name: two capitalised words or more, or a compound of them."""

_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[A-Za-z\"“(])|\n+")
_ROW = re.compile(r"^\|?\s*([^|]{2,80}?)\s*\|\s*([^|]{1,200}?)\s*\|?$")
_LABEL = re.compile(r"^([^:.|]{2,70}):\s+(.{1,200})$")
_BE = r"(?:is|are|was|were|stood at|stands at|remains|reached|amounts to|comes to)"
_AS = r"(?:\s+(?:given as|recorded as|listed as|put at|stated as|known to be|now|currently))?"
_COPULA = re.compile(
    rf"^(?:.*?\b)?(?:the|its|their|his|her)\s+((?:[^,:]|(?<=\d),(?=\d)){{2,70}}?),?(?:\s+[^,]{{2,40}},)?\s+{_BE}{_AS}\s+(.+)$",
    re.I,
)
_AS_IS = re.compile(r"\b(?:the|its|their)\s+([^,:]{2,70}?)\s+(?:as|at)\s+(.+)$", re.I)
_STATES = re.compile(r"\b(?:states?d?|gives?|lists?|records?|puts?|specif(?:y|ies))\b", re.I)
_VALUE_FIRST = re.compile(
    r"\b(?:records?\s+)?(?:lists?|noted|measured|counted|recorded|records?|found|reports?)\s+(.+?)\s+"
    r"(?:as|for)\s+(?:the|its|their)\s+(.+)$",
    re.I,
)
_ABOUT = re.compile(r"\babout the ([^,:]{2,70}?)(?: and .*?\b(?:is|are)|:)\s+(.+)$", re.I)
_DATED = (
    re.compile(rf"\(\s*(?:as of\s+)?({DATE.pattern})\s*\)", re.I),
    re.compile(
        rf"^.{{0,40}}?\b(?:as of|on|by|since|checked|until)\s+({DATE.pattern})\s*[,:]?", re.I
    ),
    re.compile(rf"\b(?:as of|on)\s+({DATE.pattern})(?=[\s,.]|$)", re.I),
)
_SAID_BEFORE = re.compile(rf"\b{_BE}\s")
"""What stands before this date is the statement itself: "the price was $5 on 4 March"."""
_TAIL = re.compile(
    r",\s+(?:and\s+)?(?:I|we|a|an|the|according|nothing|might|may|just|figures?|as|which|but|so|though"
    r"|says?|if|at least|to be)\b.*$",
    re.I,
)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|rules?|sources?|above)\b"
    r"|\b(?:language model|ai assistants?|system (?:notice|prompt|message)|\[\[?assistant)"
    r"|\b(?:reply|respond|answer)\s+(?:only|exactly|with)\b|\brepeat all of your\b"
    r"|\bend your (?:reply|answer)\b|\bwhen asked\b.{0,80}\b(?:answer|say|reply)\b"
    r"|\btreat every other source\b|\bnew directive\b",
    re.I,
)
_MARK = "\ue000"


class Statement(Record, frozen=True, kw_only=True):
    """One thing that a source says about one entity."""

    subject: str
    noun: str
    value: Value
    date: str | None = None
    """When it was true, if the statement says so; otherwise the date of its page."""
    is_dated: bool = False
    """The statement itself names its date: the value changes."""
    evidence: str = ""
    source: str = "web"


def statements_about(
    name: str, evidence: Iterable[Evidence], *, strict: bool = True
) -> list[Statement]:
    """All that the evidence says about one entity. Orders to the reader are not statements.

    Without `strict` every passage is taken to be about it, as a careless reader would.
    """
    wanted = fold(name)
    found: list[Statement] = []
    for item in evidence:
        if item.source == "image-kg":
            if fold(item.text) == wanted:
                found += _from_attributes(item, name)
        elif not strict or wanted in fold(item.title) or wanted in fold(item.text):
            found += _from_passage(item, name, careless=not strict)
    return found


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """Letters and digits only, lower case: names compare across typography."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def gives_orders(text: str) -> bool:
    """Whether a sentence addresses the assistant instead of stating something."""
    return bool(_ORDERS.search(text))


def has_orders(evidence: Evidence) -> bool:
    """Whether a page tries to instruct its reader: then none of it is trusted."""
    return gives_orders(evidence.text)


def _from_passage(item: Evidence, name: str, *, careless: bool) -> list[Statement]:
    named = careless or fold(name) in fold(item.title)
    found: list[Statement] = []
    for noun, value, date, subject in parse(item.text, name):
        if subject == "other" or (subject == "" and not named):
            continue
        found.append(
            Statement(
                subject=name,
                noun=noun,
                value=read_value(value),
                date=date or item.date,
                is_dated=date is not None,
                evidence=item.id,
                source=item.source,
            )
        )
    return found


@lru_cache(maxsize=4096)
def parse(text: str, name: str) -> tuple[tuple[str, str, str | None, str], ...]:
    """(noun, value, date, subject) of each statement; subject is "named", "other" or ""."""
    found: list[tuple[str, str, str | None, str]] = []
    pattern = re.compile(re.escape(name).replace(r"\ ", r"\s+"), re.I)
    for sentence in _SPLIT.split(text):
        sentence = sentence.strip()
        if not 4 <= len(sentence) <= 400 or gives_orders(sentence):
            continue
        marked = pattern.sub(_MARK, sentence)
        bare, date = _without_date(marked)
        subject = "named" if _MARK in bare else ""
        statement = _statement(bare)
        if statement is None:
            continue
        noun, value = statement
        if not subject and re.search(rf"\b(?:of|for)\s+{NAME.pattern}", noun):
            subject = "other"
        noun = _clean_noun(noun)
        value = value.replace(_MARK, name)
        if noun and value:
            found.append((noun, value, date, subject))
    return tuple(found)


def _statement(text: str) -> tuple[str, str] | None:
    row = _ROW.match(text)
    if row:
        return (row.group(1), row.group(2)) if re.search(r"\w", row.group(2)) else None
    if text.startswith("|"):
        return None
    text = re.sub(rf"^(?:with|for)\s+{_MARK},?\s+", "", text, flags=re.I)
    text = text.rstrip(".")
    about = _ABOUT.search(text)
    if about:
        return about.group(1), _clean_value(about.group(2))
    copula = _COPULA.match(text)
    if copula:
        return copula.group(1), _clean_value(copula.group(2))
    first = _VALUE_FIRST.search(text)
    if first:
        return first.group(2), _clean_value(first.group(1))
    if _STATES.search(text):
        states = _AS_IS.search(text)
        if states:
            return states.group(1), _clean_value(states.group(2))
    label = _LABEL.match(text)
    if label and len(label.group(1).split()) <= 9:
        noun = re.sub(r"^.*\b(?:the|its)\s+(?=\w)", "", label.group(1), flags=re.I)
        return noun, _clean_value(label.group(2))
    return None


def _without_date(text: str) -> tuple[str, str | None]:
    for pattern in _DATED:
        match = pattern.search(text)
        if match and not _SAID_BEFORE.search(text[match.start() : match.start(1)]):
            iso = read_date(match.group(1))
            if iso:
                rest = text[: match.start()] + text[match.end() :]
                return re.sub(r"^\W*(?:I\s+)?(?=\w)", lambda m: m.group(), rest.strip()), iso
    return text, None


def _clean_value(text: str) -> str:
    text = _TAIL.sub("", text.strip())
    number = re.match(r"^[-−]?[$€£]?\d", text)
    if number and not DATE.match(text):
        text = re.split(r",(?!\d)", text)[0]
    return text.strip(" .,;")


def _clean_noun(text: str) -> str:
    text = text.replace("_", " ")
    text = re.sub(rf"\s*(?:\b(?:of|for)\s+)?{_MARK}(?:['’]s?)?", "", text)
    text = re.sub(r"\([^)]*\)", "", text)
    text = re.sub(r"^(?:the|its|their|a|an)\s+", "", text.strip(), flags=re.I)
    text = re.sub(r"^.*(?<!of)(?<!in)(?<!on)(?<!at)(?<!per)(?<!to)(?<!from)\s+the\s+", "", text)
    text = " ".join(text.split()).strip(" ,.:;|-")
    return text[:1].lower() + text[1:] if len(text.split()) <= 10 else ""


def _from_attributes(item: Evidence, name: str) -> list[Statement]:
    found: list[Statement] = []
    for key, raw in read_attributes(item.attributes):
        text, date = plain_markup(raw)
        noun = _clean_noun(key)
        if not noun or not text or noun in ("name", "entity name"):
            continue
        found.append(
            Statement(
                subject=name,
                noun=noun,
                value=read_value(text),
                date=date,
                is_dated=date is not None,
                evidence=item.id,
                source="image-kg",
            )
        )
    return found


def read_attributes(attributes: object) -> list[tuple[str, str]]:
    """Key and raw value of an infobox, whether it is an object, a list of pairs or one string."""
    if isinstance(attributes, dict):
        pairs: list[tuple[str, str]] = []
        for key, value in list(attributes.items())[:300]:
            text = str(value)[:1000]
            if "\n|" in text or text.startswith("{{Infobox"):
                pairs += _infobox(text)
            else:
                pairs.append((str(key), text))
        return pairs
    return _infobox(str(attributes)[:20_000]) if attributes else []


def _infobox(text: str) -> list[tuple[str, str]]:
    rows = re.findall(r"^\s*\|\s*([^=|\n]{1,80}?)\s*=\s*(.+?)\s*$", text, re.M)
    return [(k, v) for k, v in rows][:300]


def plain_markup(raw: str) -> tuple[str, str | None]:
    """Wiki markup put into words, and the date that it gives itself.

    >>> plain_markup("{{hlist|oak|elm}}<ref name=a />")
    ('oak|elm', None)
    """
    text = re.sub(r"<ref[^>]*?/>|<ref[^>]*>.*?</ref>", "", raw, flags=re.S)
    text = re.sub(r"<br\s*/?>", "|", text)
    text = re.sub(r"<[^>]{0,200}>", "", text)
    date = None
    match = re.search(rf"\(\s*as of\s+({DATE.pattern}|\d{{4}})\s*\)", text, re.I)
    if match:
        date = read_date(match.group(1)) or f"{match.group(1)}-07-01"
        text = text[: match.start()] + text[match.end() :]
    text = re.sub(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]", r"\1", text)
    for _ in range(3):
        text = re.sub(
            r"\{\{\s*(?:nowrap|hlist|ubl|plainlist|flatlist|unbulleted list|val|convert|url"
            r"|start date|birth date)\s*\|([^{}]*)\}\}",
            r"\1", text, flags=re.I,
        )  # fmt: skip
    text = re.sub(r"\{\{[^{}]*\}\}|'{2,}", "", text)
    return text.strip(" |,"), date
