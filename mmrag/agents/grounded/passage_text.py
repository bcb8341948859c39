"""What passages say, taken apart: names, orders to the reader, infobox markup."""

from __future__ import annotations

import re
from functools import lru_cache

from mmrag.agents.grounded.values import DATE, MONTHS, read_date
from mmrag.records import Evidence

_WORD = r"[A-Z][^\W\d_]*(?:['’-](?!s\b)[^\W\d_]+)*"
NAME = re.compile(
    rf"{_WORD}(?:(?:\s+(?:of|the|at|and|&|under|by|upon|on|in|against|from|for|de|la))*\s+{_WORD})+(?:\s\d{{3}}\b)?"
    r"|\b[A-Z][^\W\d_]+(?:-[^\W\d_]+)*-[A-Z][^\W\d_]+"
)
"""A proper name: two capitalised words or more, or a compound of them."""

BEGINS = frozenset(
    """a an and are as at be both by can could did do does for from given had has have hey how i if
    in is it its let me my no not now of ok okay on or our please say should so tell than that the
    then these they this those to was we well were what when where which who whose why will with
    would you your""".split()  # noqa: SIM905
)
"""Words that begin a question and no name, though a capital is on them."""

_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|rules?|sources?|above)\b"
    r"|\b(?:language model|ai assistants?|system (?:notice|prompt|message)|\[\[?assistant)"
    r"|\b(?:reply|respond|answer)\s+(?:only|exactly|with)\b|\brepeat all of your\b"
    r"|\bend your (?:reply|answer)\b|\bwhen asked\b.{0,80}\b(?:answer|say|reply)\b"
    r"|\btreat every other source\b|\bnew directive\b",
    re.I,
)


_PART = r"(?:[^\W\d_a-z][\w'’-]*|\d+)"
_RUN = re.compile(rf"(?<!\w){_PART}(?:(?: (?:of|the|and|at|no|number)){{0,2}} {_PART})*")

_RUNS = 3
"""Of one question: each is searched for."""


def capital_runs(text: str) -> list[str]:
    """The likeliest names in a question, the longest first: words with capitals, and numbers.

    >>> capital_runs("How much does the Fjordby number 26 hold?")
    ['Fjordby number 26']
    """
    found = {_without_beginning(m.group()) for m in _RUN.finditer(text)}
    named = [one for one in found if one[:1].isalpha() and len(one) > 2 and not _is_day(one)]
    return sorted(named, key=lambda one: (-len(one), one))[:_RUNS]


def _without_beginning(run: str) -> str:
    """A run of capitals without words that only begin a question: "Does Tolcarrow"."""
    words = run.split()
    while words and re.split(r"['’]", words[0].lower())[0] in BEGINS:
        del words[0]
    return re.sub(r"['’]s$", "", " ".join(words))


def _is_day(run: str) -> bool:
    """Whether a word is a month or a day of the week."""
    return run.lower() in MONTHS or (" " not in run and run.endswith("day"))


@lru_cache(maxsize=8192)
def comparable_name(text: str) -> str:
    """Letters and digits only, lower case: names compare across typography."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def is_instruction(text: str) -> bool:
    """Whether a sentence addresses the assistant instead of stating something."""
    return bool(_ORDERS.search(text))


def has_instructions(evidence: Evidence) -> bool:
    """Whether a page tries to instruct its reader: then none of it is trusted."""
    return is_instruction(evidence.text)


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
