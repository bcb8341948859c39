"""Times, sums and numbers as people say them: "last March", "half past six", "fifty dollars"."""

from __future__ import annotations

import datetime as dt
import re

from mmrag.agents.grounded.values import CLOCK, MONTHS, Value, quantities, time_of_day
from mmrag.text.number_words import NUMBER_WORDS
from mmrag.text.units import UNITS

_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6}
_ONES = NUMBER_WORDS | {
    "a": 1, "an": 1, "dozen": 12, "couple": 2, "few": 3, "half": 0.5, "quarter": 15,
}  # fmt: skip
_DAYS_OF = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}
_SEASONS = {"spring": 4, "summer": 7, "autumn": 10, "fall": 10, "winter": 1}
_EVENING = 8
"""An hour below this, said without am or pm, is in the afternoon or evening."""


def number_in(text: str) -> float | None:
    """The first number of a text, in figures or words.

    >>> number_in("a hundred euros"), number_in("fifty-five"), number_in("$1,200")
    (100.0, 55.0, 1200.0)
    """
    found = quantities(text)
    if found and found[0].number is not None:
        return found[0].number
    total, current, seen = 0.0, 0.0, False
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in _SCALES:
            seen = True
            current = max(current, 1) * _SCALES[word]
            if _SCALES[word] > 100:
                total, current = total + current, 0.0
        elif word == "dozen" and seen:
            current = max(current, 1) * 12
        elif word in _ONES:
            current, seen = current + _ONES[word], True
        elif seen and word != "and":
            break
    return total + current if seen else None


_COUNTS = "|".join([*(w for w in NUMBER_WORDS if w not in ("zero", "one")), "dozen", *_SCALES])
_SPOKEN = re.compile(
    rf"\b(?:one (?=and a half\b)|(?:{_COUNTS})"
    rf"(?:(?:(?<=hundred)|(?<=thousand)) and (?=(?:{_COUNTS})\b)|[- ]|\b))+"
    r"(?:(?<= )and a half\b)?",
    re.I,
)
_FIGURE = re.compile(rf"(?:[$€£]\s?)?(?:\d+(?:,\d{{3}})*(?:\.\d+)?|{_SPOKEN.pattern})", re.I)
_UNIT = re.compile(r"[\s-]?(%|°[CF]?|([^\W\d_]+) [^\W\d_]+|[^\W\d_]+)")


def quantity_places(text: str) -> list[tuple[int, int]]:
    """Where a text has numbers, in figures or words, with what they measure.

    >>> text = "£9.50 or two and a half kilos at 4 per cent"
    >>> [text[a:b] for a, b in quantity_places(text)]
    ['£9.50', 'two and a half kilos', '4 per cent']
    """
    found: list[tuple[int, int]] = []
    for number in _FIGURE.finditer(text):
        end = number.end() - (number.group()[-1] in " -")
        if unit := _UNIT.match(text, end):
            if unit.group(1)[0] in "%°" or unit.group(1).lower() in UNITS:
                end = unit.end()
            elif unit.group(2) and unit.group(2).lower() in UNITS:
                end = unit.end(2)
        found.append((number.start(), end))
    return found


def numbers_in(text: str) -> list[Value]:
    """Every quantity that a question names, in figures or words; no times of day.

    >>> [(v.number, v.unit) for v in numbers_in("are three of them under $20 by 6:30 pm")]
    [(3.0, ''), (20.0, '$')]
    """
    return quantities(in_figures(CLOCK.sub(" ", text)))


def in_figures(text: str) -> str:
    """The text with its number words written as figures.

    >>> in_figures("two and a half metres for twenty-five pounds")
    '2.5 metres for 25 pounds'
    """

    def figure(found: re.Match[str]) -> str:
        said = found.group()
        half = said.lower().endswith("and a half")
        number = number_in(said[: -len("and a half")] if half else said) or 0
        return f"{number + half / 2:.10g}{said[len(said.rstrip()) :]}"

    return _SPOKEN.sub(figure, text)


def clock_time_in(text: str) -> str:
    """The time of day that a phrase says, as HH:MM; "seven" is in the evening.

    >>> [clock_time_in(said) for said in ("half past six", "quarter to nine tonight", "8 pm")]
    ['18:30', '20:45', '20:00']
    """
    if clock := time_of_day(text):
        return clock
    said = text.lower()
    past = re.search(r"(half|quarter|[a-z0-9]+)(?: minutes)? (past|to) ([a-z]+|\d{1,2})", said)
    if past:
        part, way, whole = past.groups()
        hour = number_in(whole)
        minutes = {"half": 30.0, "quarter": 15.0}.get(part, number_in(part))
        if hour is None or minutes is None:
            return ""
        total = hour * 60 + (minutes if way == "past" else -minutes)
    else:
        hour = number_in(re.sub(r"\b(?:a|an|half|quarter)\b", " ", said))
        if hour is None:
            return ""
        total = hour * 60
    if total < _EVENING * 60 or (total < 720 and re.search(r"evening|tonight|night|pm", said)):
        total += 0 if "morning" in said else 720
    return f"{int(total // 60) % 24:02d}:{int(total % 60):02d}"


def moment_in(text: str, now: str) -> str:
    """The past moment that a phrase means, as much of an ISO date as it says; empty if none.

    >>> moment_in("last March", "2031-02-10T12:00"), moment_in("two years ago", "2031-02-10T12:00")
    ('2030-03', '2029-02')
    """
    said, today = text.lower(), _today(now)
    if today is None:
        return ""
    if "yesterday" in said:
        return str(today - dt.timedelta(days=1))
    back = re.search(r"([a-z]+|\d+)\s+(day|week|month|year)s?\s+(?:ago|back|earlier)", said)
    last = re.search(r"\b(?:last|past|previous)\s+(day|week|month|year)\b", said)
    if back or last:
        unit = back.group(2) if back else last.group(1) if last else ""
        count = (number_in(back.group(1)) or 1) if back else 1
        then = today - dt.timedelta(days=count * _DAYS_OF[unit])
        return str(then)[: {"day": 10, "week": 10, "month": 7, "year": 7 if back else 4}[unit]]
    month = next((i for i, m in enumerate(MONTHS, 1) if re.search(rf"\b{m}\b", said)), 0)
    if not month:
        month = next((i for s, i in _SEASONS.items() if re.search(rf"\b{s}\b", said)), 0)
    named = re.search(r"\b(1\d{3}|20\d{2})\b", said)
    if not month:
        return named.group() if named else ""
    year = int(named.group()) if named else today.year - (month > today.month)
    if not named and "last" in said and month == today.month:
        year -= 1
    day = re.search(
        r"\b(\d{1,2})(?:st|nd|rd|th)?\b(?!\d)", said.replace(named.group() if named else "\0", "")
    )
    first = "first of" in said
    if first or day:
        try:
            return str(dt.date(year, month, 1 if first else int(day.group(1)) if day else 1))
        except ValueError:
            return ""
    return f"{year}-{month:02d}"


def _today(now: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(now[:10])
    except ValueError:
        return None
