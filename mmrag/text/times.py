"""Times of day, dates in digits, decades, centuries and eras, as people write them."""

from __future__ import annotations

import re
from typing import NamedTuple

from mmrag.text.numbers import CANONICAL


class Time(NamedTuple):
    """A time of day."""

    minute: int
    """Minutes since midnight or noon."""
    half: str
    """`am`, `pm`, or empty where it may be either."""


class Years(NamedTuple):
    """Years from first to last, both included; those before Christ are negative."""

    first: int
    last: int


def times(text: str) -> list[Time]:
    """Every time of day in a text: "9 pm", "21:00", "2100 hours", "half past nine", "noon"."""
    lowered = _CARDINAL.sub(lambda m: CANONICAL[m.group()], _tidy(text))
    found: list[tuple[int, Time]] = []
    taken: list[tuple[int, int]] = []
    default = ""
    if part := _PART_OF_DAY.search(lowered):
        default = "am" if part.group(1) in _MORNING else "pm"
    for pattern, read in _READERS:
        for match in pattern.finditer(lowered):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            time = read(match, default)
            if time is not None:
                taken.append(match.span())
                found.append((match.start(), time))
    return [time for _, time in sorted(found)]


def same_time(first: Time, second: Time) -> bool:
    """Whether two times may be the same; "9:00" is 9 am as well as 9 pm."""
    return first.minute == second.minute and (
        not first.half or not second.half or first.half == second.half
    )


def is_time(text: str) -> bool:
    """Whether a text is a time of day and little else."""
    return bool(times(text)) and len(_LETTERS.findall(_tidy(text))) <= 6


def numeric_dates(text: str) -> list[frozenset[tuple[int, int, int]]]:
    """Every date in digits, as all that it can mean: 3/4/24 is in March or in April."""
    found: list[frozenset[tuple[int, int, int]]] = []
    for match in _ISO.finditer(text):
        year, month, day = map(int, match.groups())
        found.append(frozenset({(year, month, day)}))
    for match in _DIGITS.finditer(text):
        first, second, year = map(int, match.groups())
        years = [year] if year > 99 else [1900 + year, 2000 + year]
        pairs = [(first, second), (second, first)]
        found.append(
            frozenset((y, m, d) for y in years for m, d in pairs if 1 <= m <= 12 and 1 <= d <= 31)
        )
    return [one for one in found if one]


def year_spans(text: str) -> list[Years]:
    """Every century and decade: "16th century", "the 800s", "the nineteen-fifties", "1980s"."""
    lowered = _ORDINAL.sub(lambda m: CANONICAL[m.group()] + "th", _tidy(text))
    before = bool(_BC.search(lowered))
    found: list[Years] = []
    for match in _CENTURY.finditer(lowered):
        number = int(match.group(1) or match.group(2))
        if not 1 <= number <= 30:
            continue
        first = -100 * number if before else 100 * number - 99
        found.append(Years(first, first + 99))
    for match in _DECADE.finditer(lowered):
        year = int(match.group(1))
        found.append(Years(year, year + (99 if year % 100 == 0 and year < 1900 else 9)))
    for match in _FIFTIES.finditer(lowered):
        year = 1900 + 10 * (_TENS.index(match.group(1)) + 2)
        found.append(Years(year, year + 9))
    return found


def era(text: str) -> int:
    """−1 where a text counts years before Christ, 1 where after, 0 where it does not say."""
    lowered = _tidy(text)
    return -1 if _BC.search(lowered) else 1 if _AD.search(text) else 0


def _tidy(text: str) -> str:
    return _AM_PM.sub(r"\1m", text.lower()).replace("'", "")


def _time(hour: int, minute: int, half: str, *, padded: bool = False) -> Time | None:
    if hour > 24 or not 0 <= minute < 60:
        return None
    if hour > 12 or (hour == 0):
        half = "pm" if 12 < hour < 24 else "am"
    elif padded and not half:
        half = "am"
    return Time((hour % 12) * 60 + minute, half)


def _digital(match: re.Match[str], default: str) -> Time | None:
    hour, minute, half = match.groups()
    half = half if half in ("am", "pm") else default
    return _time(int(hour), int(minute), half, padded=hour[0] == "0")


def _hour(match: re.Match[str], default: str) -> Time | None:
    half = match.group(2)
    return _time(int(match.group(1)), 0, half if half in ("am", "pm") else default)


def _military(match: re.Match[str], _default: str) -> Time | None:
    hour = int(match.group(1))
    half = "" if hour > 12 else "am" if hour < 12 else "pm"
    return _time(hour, int(match.group(2)), half)


def _spoken(match: re.Match[str], default: str) -> Time | None:
    amount, way, hour, half = match.groups()
    minutes = {"half": 30, "quarter": 15}.get(amount) or int(amount)
    if hour in ("noon", "midday"):
        base, half = 12 * 60, "pm" if way == "past" else "am"
    elif hour == "midnight":
        base, half = 0, "am" if way == "past" else "pm"
    else:
        base = int(hour) * 60
    total = base + (minutes if way in ("past", "after") else -minutes)
    return Time(total % 720, half or default)


def _german(match: re.Match[str], default: str) -> Time | None:
    hour = _GERMAN.index(match.group(1)) + 1
    return Time((hour * 60 - 30) % 720, default)


def _noon(match: re.Match[str], _default: str) -> Time | None:
    return Time(0, "am" if match.group(1) == "midnight" else "pm")


_GERMAN = (
    "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf",
    "zwölf",
)  # fmt: skip
_MORNING = ("morning", "am")
_PART_OF_DAY = re.compile(
    r"\b(?:in the|at|this|tomorrow|every)\s+(morning|afternoon|evening|night)\b"
)
_LETTERS = re.compile(r"[a-z]+")
_AM_PM = re.compile(r"\b([ap])\.\s?m\b\.?")
_CARDINAL = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)\b"
)
_ORDINAL = re.compile(
    r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth"
    r"|sixteenth|seventeenth|eighteenth|nineteenth|twentieth)\b(?=[\s-]+centur)"
)
_H = r"([01]?\d|2[0-4])"
_SPOKEN = re.compile(
    r"\b(?:a\s+)?(half|quarter|\d\d?)(?:\s+minutes)?\s+(past|after|to|before|till|of)\s+"
    r"(\d\d?|noon|midday|midnight)\b(?:\s*(am|pm)\b)?"
)
_READERS = (
    (_SPOKEN, _spoken),
    (re.compile(r"\bhalb\s+(" + "|".join(_GERMAN) + r")\b"), _german),
    (re.compile(rf"(?<![\d:.]){_H}(?::|h)([0-5]\d)(?![\d:%]|\.\d)(?:\s*(am|pm)\b)?"), _digital),
    (re.compile(rf"(?<![\d:.,]){_H}\.([0-5]\d)\s*(am|pm|uhr)\b"), _digital),
    (re.compile(r"(?<!\d)([01]\d|2[0-4])([0-5]\d)\s*(?:hours|hrs|h)\b"), _military),
    (re.compile(rf"(?<![\d:.,]){_H}\s*(am|pm|oclock|uhr)\b"), _hour),
    (re.compile(r"\b(noon|midday|midnight)\b"), _noon),
)  # fmt: skip
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_DIGITS = re.compile(r"(?<![\d.,/-])(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?![\d/]|[.-]\d)")
_CENTURY = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th)[\s-]+(?:century|cent\b|c\.)|\bcentury\s+(\d{1,2})\b"
)
_DECADE = re.compile(r"\b(\d{1,2}\d0)s\b")
_TENS = (
    "twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"
)  # fmt: skip
_FIFTIES = re.compile(r"\b(?:nineteen[\s-]+)?(" + "|".join(_TENS) + r")\b")
_BC = re.compile(
    r"\b(?:bce?|b\.\s?c\.(?:\s?e\.)?)(?=\W|$)|\bbefore\s+(?:the\s+common\s+era|christ)\b"
)
_AD = re.compile(r"\b(?:AD|CE|A\.D\.|C\.E\.)(?=\W|$)|\b(?i:anno\s+domini)\b")
