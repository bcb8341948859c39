"""Values in text: quantities, money, dates, times of day, lists, names; read, compared, written."""

from __future__ import annotations

import datetime as dt
import re

from mmrag.records import Record
from mmrag.text.units import UNITS

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip

_MONTH = "(?:" + "|".join(f"{m}|{m[:3]}" for m in MONTHS) + r")\.?"
_DATE = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH},? \d{{4}}"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|\d{{4}}-\d{{2}}-\d{{2}})"
)
DATE = re.compile(rf"\b{_DATE}(?:(?:,| at|T) ?\d{{1,2}}:\d{{2}})?", re.I)
"""A full date, with a time of day where there is one."""

CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})\s*([ap]\.?m\.?)?|\b(\d{1,2})\s*([ap])\.?m\b\.?", re.I)
_NUMBER = re.compile(r"(?<![\w.])([-−–]?)\s?(\$|€|£)?\s?([-−]?\d[\d,]*(?:\.\d+)?)(?![\d])")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_PAGE_UNITS = {
    "g": "g", "kg": "kg", "mg": "mg", "oz": "oz", "lb": "lb", "tonnes": "tonnes", "mm": "mm",
    "cm": "cm", "m": "m", "km": "km", "in": "inches", "ft": "ft", "mi": "mi", "ml": "ml",
    "litres": "litres", "gal": "gal", "fl oz": "fl oz", "seconds": "s", "minutes": "min",
    "hours": "h", "days": "days", "weeks": "weeks", "months": "months", "years": "years",
    "km/h": "kmh", "mph": "mph", "W": "w", "kW": "kw", "hp": "hp", "kcal": "kcal", "kJ": "kj",
    "bar": "bar", "°C": "celsius", "°F": "fahrenheit", "%": "%",
}  # fmt: skip
"""Units as pages write them → by a name that `UNITS` has."""

_WRITTEN = {UNITS[name]: unit for unit, name in _PAGE_UNITS.items()}

_YEAR = re.compile(r"(?<![\d$€£,.])(1\d{3}|20\d{2})(?![\d,.]*\d)")
_MAX = 400


class Value(Record, frozen=True, kw_only=True):
    """Something a text says. `kind`: number, year, date, clock, list, name or text."""

    kind: str
    text: str
    number: float | None = None
    unit: str = ""
    digits: int = 0
    iso: str = ""
    items: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Equal for values that mean the same."""
        if self.kind in ("number", "year"):
            return f"{self.number:.10g} {self.unit}".strip()
        if self.kind in ("date", "clock"):
            return self.iso
        if self.kind == "list":
            return "|".join(sorted(i.casefold() for i in self.items))
        return " ".join(self.text.casefold().split())


def read_value(text: str) -> Value:
    """What a piece of text that stands for one value means.

    >>> read_value("1,240 pages").number, read_value("3 May 2027").iso
    (1240.0, '2027-05-03')
    """
    text = text.strip().strip("\"'“”").rstrip(".;").strip()[:_MAX]
    date = DATE.match(text)
    if date:
        iso = read_date(date.group())
        if iso:
            return Value(kind="date", text=date.group(), iso=iso)
    clock = CLOCK.match(text)
    if clock and (iso := _clock(clock)):
        return Value(kind="clock", text=clock.group(), iso=iso)
    number = _NUMBER.match(text)
    if number:
        found = _quantity(number, text)
        if found is not None:
            return found
    items = _items(text)
    if len(items) > 1:
        return Value(kind="list", text=text, items=items)
    kind = "name" if text[:1].isupper() else "text"
    return Value(kind=kind, text=text)


def read_date(text: str) -> str:
    """ISO date (with the time where it is said), or an empty string."""
    text = text.strip().lower()
    time = re.search(r"(\d{1,2}):(\d{2})$", text)
    at = f"T{int(time.group(1)):02d}:{time.group(2)}" if time else ""
    iso = re.match(r"(\d{4})-(\d{2})-(\d{2})", text)
    if iso:
        year, month, day = map(int, iso.groups())
    else:
        name = re.search(r"[a-z]{3,}", re.sub(r"\d(?:st|nd|rd|th)| of ", " ", text))
        numbers = re.findall(r"\d+", text)
        month = next((i + 1 for i, m in enumerate(MONTHS) if name and m.startswith(name[0])), 0)
        if len(numbers) < 2:
            return ""
        day, year = int(numbers[0]), int(numbers[1])
    try:
        return dt.date(year, month, day).isoformat() + at
    except ValueError:
        return ""


def say_number(value: float, unit: str = "", digits: int = 0) -> str:
    """A quantity as people write it: "$14.20", "1,240 pages"."""
    text = f"{value:,.{digits}f}"
    if unit in ("$", "€", "£"):
        return f"{unit}{text}"
    if unit[:1] in ("$", "€", "£"):
        return f"{unit[0]}{text} {unit[1:].strip()}"
    return f"{text} {unit}".strip()


def say_list(items: tuple[str, ...] | list[str]) -> str:
    """ "a, b and c"."""
    return ", ".join(items[:-1]) + " and " + items[-1] if len(items) > 1 else "".join(items)


def quantities(text: str) -> list[Value]:
    """All quantities of a text, in order."""
    found = (_quantity(m, text[m.start() :], at=m.start()) for m in _NUMBER.finditer(text))
    return [v for v in found if v is not None]


def written_unit(said: str) -> str:
    """A unit as pages write it, whatever it is called.

    >>> written_unit("kilos"), written_unit("per cent"), written_unit("stars")
    ('kg', '%', 'stars')
    """
    known = UNITS.get(said.lower()) if len(said) > 1 else None  # "5 G", "the 1980s"
    return _WRITTEN.get(known, said) if known else said


def turn_unit(number: float, unit: str, into: str) -> float | None:
    """A quantity in another unit; None where the two measure different things.

    >>> turn_unit(20, "°C", "°F"), turn_unit(2, "km", "m"), turn_unit(1, "cm", "litres")
    (68.0, 2000.0, None)
    """
    own, other = (UNITS.get(_PAGE_UNITS.get(u, u).lower()) for u in (unit, into))
    if unit == into:
        return number
    if not own or not other or own[0] != other[0]:
        return None
    return (number + own[2]) * own[1] / other[1] - other[2]


def _quantity(match: re.Match[str], text: str, at: int | None = None) -> Value | None:
    sign, money, digits = match.groups()
    try:
        number = float(digits.replace(",", "").replace("−", "-"))
    except ValueError:
        return None
    if sign:
        number = -number
    decimals = len(digits.partition(".")[2])
    rest = text[match.end() - (at or 0) :] if at is not None else text[match.end() :]
    said = re.match(r"\s?(%|°[CF]|per cent\b|[^\W\d_][^\s,;.()]*(?: of rain| per \w+)?)", rest)
    unit = said.group(1) if said else ""
    whole = match.group() + (said.group() if said else "")
    if money:
        scale = unit if unit in _SCALES else ""
        unit = f"{money} {scale}".strip()
        whole = match.group() + (f" {scale}" if scale else "")
    elif not unit and "," not in digits and not decimals and _YEAR.fullmatch(digits):
        return Value(kind="year", text=digits, number=number)
    elif unit.lower() in _STOP_UNITS:
        unit, whole = "", match.group()
    elif unit in _SCALES:
        number, unit = number * _SCALES[unit], ""
    else:
        unit = written_unit(unit)
    return Value(kind="number", text=whole.strip(), number=number, unit=unit, digits=decimals)


def _clock(match: re.Match[str]) -> str:
    hour = int(match.group(1) or match.group(4))
    minute = int(match.group(2) or 0)
    half = (match.group(3) or match.group(5) or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02d}:{minute:02d}" if hour < 24 and minute < 60 else ""


def time_of_day(text: str) -> str:
    """The first time of day in a text as HH:MM, or an empty string."""
    match = CLOCK.search(text)
    return _clock(match) if match else ""


def _items(text: str) -> tuple[str, ...]:
    if "|" in text:
        return tuple(p.strip() for p in text.split("|") if p.strip())
    head, joint, last = text.rpartition(" and ")
    if not joint or (text[:1].isupper() and "," not in text):
        return (text,)  # "Greggle and Sonn Limited" is one name
    parts = [*head.split(", "), last]
    if any(len(p.split()) > 4 for p in parts):
        return (text,)
    return tuple(p.strip() for p in parts if p.strip())


_STOP_UNITS = {
    "and", "or", "at", "in", "on", "of", "is", "are", "was", "were", "to", "from", "for", "the",
    "a", "an", "as", "by", "with", "but", "might", "according", "figures", "just", "i", "so",
    "today", "now", "together", "like", "qualify", "do", "does", "would", "be",
}  # fmt: skip
