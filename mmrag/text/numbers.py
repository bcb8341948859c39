"""Numbers, quantities with units, and dates as people write them.

Works on tokens: lower-case words, digits with or without a decimal point, and the symbols
$ € £ ¥ ₹ % °.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mmrag.text.number_words import NUMBER_WORDS
from mmrag.text.units import COUNTED, MONEY, UNITS


class Quantity(NamedTuple):
    """A number as written, with what it measures."""

    value: float
    """In the base unit of its kind (metres, kilograms, seconds, …); as written without a unit."""
    kind: str
    """length, mass, money:$, …, or an empty string for a bare number."""
    raw: float
    """As written, multiplied out: 2.5 for "2.5 km", 5e6 for "5 million"."""
    unit: str
    slack: float
    """Half a unit of the last written digit, in base units: how far rounding may have moved it."""
    start: int
    end: int
    """First token and the one after the last."""
    ordinal: bool = False
    year: bool = False
    compound: bool = False
    """Written in two units: 24 years and 255 days are no 25 years."""


class Date(NamedTuple):
    """A date as far as it is given."""

    year: int | None
    month: int | None
    day: int | None
    start: int
    end: int
    decade: bool = False


MEASURE_TOLERANCE = 0.01
"""Relative difference that measurements in one unit may show."""

CONVERSION_TOLERANCE = 0.03
"""The same across units: 10 feet are told as 3 metres."""


def same_quantity(first: Quantity, second: Quantity) -> bool:
    """Whether two quantities say the same: exact for counts and years, tolerant for measures. A
    rounder figure agrees with a more exact one that rounds to it, within 5 %."""
    if first.kind and second.kind and first.kind != second.kind:
        return False
    if not (first.kind and second.kind):
        a, b = first.raw, second.raw
        if first.kind != second.kind and a == b:
            return True
    else:
        a, b = first.value, second.value
    if a == b:
        return True
    if first.year or second.year or first.ordinal or second.ordinal or a * b <= 0:
        return first.kind == "temperature" and abs(a - b) <= 0.6
    gap, size = abs(a - b), max(abs(a), abs(b))
    if first.kind == "temperature" and second.kind == "temperature":
        return gap <= 0.6
    measured = bool(first.kind and second.kind) and not first.kind.startswith("money")
    tolerance = 0.0
    if measured and first.kind not in COUNTED:
        tolerance = MEASURE_TOLERANCE if first.unit == second.unit else CONVERSION_TOLERANCE
        if min(abs(first.raw), abs(second.raw)) < 20 and first.unit == second.unit:
            tolerance = 0.0
    if gap <= tolerance * size * (1 + 1e-9):
        return True
    small_counts = size < 100 and a == int(a) and b == int(b)
    nearness = 0.01 if first.compound or second.compound else 0.05
    return (
        gap <= max(first.slack, second.slack) * (1 + 1e-9)
        and gap <= nearness * size
        and not (small_counts)
    )


def is_number(token: str) -> bool:
    """Whether a token is written in digits."""
    return token[0].isdecimal()


def quantities(tokens: Sequence[str]) -> list[Quantity]:
    """Every number in the tokens, in order, with unit, multiplier and sign of money."""
    found: list[Quantity] = []
    done, n = 0, len(tokens)
    for index in [i for i, t in enumerate(tokens) if t in _SPELLED or t[0].isdecimal()]:
        if index < done or (
            tokens[index] == "once" and (index == 0 or tokens[index - 1] in _FORMERLY)
        ):
            continue
        start, end, raw, step, ordinal = _read(tokens, index)
        unit, kind, factor, offset = "", "", 1.0, 0.0
        if start and (kind := MONEY.get(tokens[start - 1], "")):
            unit = kind
        for width in (3, 2, 1):
            phrase = " ".join(tokens[end : end + width])
            if (
                end + width <= n
                and phrase in UNITS
                and not (width > 1 and phrase[-1].isdecimal() and _is_length(tokens, end + width))
                and not (
                    phrase == "s" and raw % 10 == 0 and 1000 <= raw <= 2100  # a decade: the 1980s
                )
            ):
                unit, kind, factor, offset = phrase, *UNITS[phrase]
                unit = f"{kind}*{factor:g}"
                end += width
                break
        year = (
            not kind and not ordinal and step == 0.5 and end == start + 1
            and len(tokens[start]) == 4 and 1000 <= raw <= 2100
        )  # fmt: skip
        found.append(
            Quantity(
                (raw + offset) * factor, kind, raw, unit, step * factor, start, end, ordinal, year
            )
        )
        done = max(end, index + 1)
    return _feet_and_inches(found)


def dates(tokens: Sequence[str]) -> list[Date]:
    """Every date: day, month and year in either order, ISO, a bare year, or a decade."""
    found: list[Date] = []
    done, n = 0, len(tokens)
    for index in [i for i, t in enumerate(tokens) if t in MONTHS or (len(t) == 4 and _year(t))]:
        if index < done:
            continue
        token = tokens[index]
        month = MONTHS.get(token)
        if month is not None and not (
            token in ("may", "march", "sun") and not _near(tokens, index)
        ):
            start, end, day, year = index, index + 1, None, None
            if index and (value := _day(tokens[index - 1])):
                day, start = value, index - 1
            elif index > 1 and tokens[index - 1] == "of" and (value := _day(tokens[index - 2])):
                day, start = value, index - 2
            if day is None and end < n and (value := _day(tokens[end])):
                day, end = value, end + 1
            if end < n and tokens[end] in ("st", "nd", "rd", "th", "of", "in"):
                end += 1
            if end < n and (value := _year(tokens[end])):
                year, end = value, end + 1
            found.append(Date(year, month, day, start, end))
            done = end
        elif year := _year(token):
            decade = index + 1 < n and tokens[index + 1] == "s"
            found.append(Date(year, None, None, index, index + 1, decade))
    return found


def same_date(first: Date, second: Date) -> bool | None:
    """True when nothing conflicts and something agrees, False on a conflict, None if unrelated."""
    agrees = False
    for a, b in ((first.year, second.year), (first.month, second.month), (first.day, second.day)):
        if a is None or b is None:
            continue
        if a != b:
            if (first.decade or second.decade) and a // 10 == b // 10 and a > 31:
                agrees = True
                continue
            return False
        agrees = True
    return agrees or None


MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip

_RANKS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
_WORDS = (
    {word: float(number) for word, number in NUMBER_WORDS.items()}
    | {"hundred": 100.0, "thousand": 1e3, "dozen": 12.0, "fourty": 40.0}
    | {"once": 1.0, "twice": 2.0, "thrice": 3.0}
)
COUNTS = frozenset({"once", "twice", "thrice"})
"""Numbers that stay words in `CANONICAL`: they count how often, not how many."""
_FORMERLY = frozenset(
    {"at", "was", "were", "is", "are", "has", "had", "who", "which", "that", "and", "but", "for"}
)
"""Words before a "once" that means formerly or together and counts nothing."""
_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "lakh": 1e5,
    "lakhs": 1e5, "crore": 1e7, "crores": 1e7, "dozen": 12.0, "k": 1e3, "m": 1e6, "bn": 1e9,
    "mn": 1e6, "millions": 1e6, "billions": 1e9,
}  # fmt: skip
_ORDINALS = {word: float(n) for n, word in enumerate(_RANKS.split(), 1)}
_SPELLED = frozenset(_WORDS) | frozenset(_ORDINALS)
_SUFFIXES = frozenset({"st", "nd", "rd", "th"})
_ROMAN = {
    "ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "xi": "11",
    "xii": "12", "xiii": "13", "xiv": "14", "xv": "15", "xvi": "16", "xvii": "17", "xviii": "18",
    "xix": "19", "xx": "20",
}  # fmt: skip
CANONICAL = (
    {word: f"{value:g}" for word, value in _WORDS.items() if word not in COUNTS}
    | {word: f"{value:g}" for word, value in _ORDINALS.items()}
    | _ROMAN
)
"""Spelled-out and Roman numbers as digits: `five` → `5`, `third` → `3`, `viii` → `8`."""


def _read(tokens: Sequence[str], index: int) -> tuple[int, int, float, float, bool]:
    """The number that starts at `index`: start, end, value, half its last digit, ordinal?"""
    token, n, end = tokens[index], len(tokens), index + 1
    ordinal = False
    if token[0].isdecimal():
        value = float(token) if len(token) < 300 else float("1e300")
        step = _half_digit(token)
        if end < n and tokens[end] in _SUFFIXES:
            return index, end + 1, value, 0.0, True
    elif token in _ORDINALS:
        return index, end, _ORDINALS[token], 0.0, True
    else:
        value, step = _WORDS[token], 0.5
        if 20 <= value < 100 and end < n:
            if 0 < _WORDS.get(tokens[end], 0) < 10:
                value, end = value + _WORDS[tokens[end]], end + 1
            elif 0 < _ORDINALS.get(tokens[end], 0) < 10:
                return index, end + 1, value + _ORDINALS[tokens[end]], 0.0, True
    while end < n and tokens[end] in _SCALES:
        scale = tokens[end]
        if scale in ("k", "m") and not _is_money_before(tokens, index):
            break
        value, step, end = value * _SCALES[scale], step * _SCALES[scale], end + 1
        rest = end + 1 if end < n and tokens[end] == "and" else end
        if rest < n and not token[0].isdecimal() and tokens[rest] in _WORDS:
            _, after, more, small, _ = _read(tokens, rest)
            if more < _SCALES[scale]:
                value, step, end = value + more, small, after
    return index, end, value, step, ordinal


def _half_digit(token: str) -> float:
    whole, point, fraction = token.partition(".")
    if point:
        return 0.5 * 10.0 ** -len(fraction)
    zeros = len(whole) - len(whole.rstrip("0"))
    return 0.5 * 10.0 ** (min(zeros, 300) if zeros < len(whole) else 0)


def _is_money_before(tokens: Sequence[str], index: int) -> bool:
    return index > 0 and tokens[index - 1] in MONEY


def _is_length(tokens: Sequence[str], index: int) -> bool:
    """Whether a length stands there: the figure before it is no exponent in "1 m 2 cm"."""
    return UNITS.get(tokens[index] if index < len(tokens) else "", ("",))[0] == "length"


def _feet_and_inches(found: list[Quantity]) -> list[Quantity]:
    """`6 feet 2 inches`, `5 ft 10 in` and `1 hour 30 minutes` are one quantity each."""
    merged: list[Quantity] = []
    for item in found:
        last = merged[-1] if merged else None
        if (
            last is not None
            and item.kind == last.kind
            and item.kind in ("length", "time", "mass")
            and 0 <= item.start - last.end <= 1
            and item.value < last.value
            and item.slack < last.slack
        ):
            merged[-1] = last._replace(
                value=last.value + item.value, slack=item.slack, end=item.end, compound=True
            )
        else:
            merged.append(item)
    return merged


def _day(token: str) -> int | None:
    if token[0].isdecimal() and len(token) <= 2 and 1 <= int(token) <= 31:
        return int(token)
    value = _ORDINALS.get(token)
    return int(value) if value else None


def _year(token: str) -> int | None:
    if len(token) == 4 and token.isdecimal() and 1000 <= int(token) <= 2100:
        return int(token)
    return None


def _near(tokens: Sequence[str], index: int) -> bool:
    """Whether a digit stands beside a month's name that is also a common word."""
    around = tokens[max(0, index - 1) : index] + tokens[index + 1 : index + 2]  # type: ignore[operator]
    return any(token[0].isdecimal() for token in around)
