"""Rules for values: times, dates, eras, signs, shares and versions, where they are sure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmrag.judges.attributes import another_attribute, opposed
from mmrag.judges.clock import Span, days, era, is_time, same_time, spans, times
from mmrag.judges.lexicon import word_set
from mmrag.judges.numbers import Date, is_number
from mmrag.judges.ratios import ratio
from mmrag.judges.reading import Reading
from mmrag.judges.ruling import Ruling
from mmrag.number_words import NUMBER_WORDS


def value(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """The first of the rules that applies, or None."""
    return (
        _time(asked, known, said)
        or _day(asked, known, said)
        or _month(known, said)
        or _era(known, said)
        or _span(known, said)
        or _sign(known, said)
        or _amounts(asked, known, said)
        or ratio(asked, known, said)
        or _share(known, said)
        or _grouped(known, said)
        or _version(asked, known, said)
    )


def signs(text: str) -> set[bool]:
    """Whether the numbers of a text are below zero: {True}, {False}, both, or nothing."""
    minus = {m.end() - 1 for m in _MINUS.finditer(text)}
    whole = {m.start() for m in _NUMBER.finditer(text)}
    if whole and _BELOW.search(text):
        return {True}
    return {place in minus for place in whole}


def _time(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    if not known or not all(is_time(reading.text) for reading in known[:6]):
        return None
    wanted = [time for reading in known for time in times(reading.text)]
    told = times(said.text)
    given = times(asked.text)
    told = [time for time in told if time not in given] or told
    if not told or len(said.words) > 40 or another_attribute(set(asked.roots), set(said.roots)):
        return None
    good = [any(same_time(time, other) for other in wanted) for time in told]
    if all(good):
        ways = [reading.stems.keys() & _OPEN_OR_SHUT for reading in (asked, said)]
        if all(ways) and opposed(*ways) and not _UNTIL.search(said.text):
            return Ruling(False, "the time of another thing")
        return Ruling(True, "the same time")
    if not any(good):
        return Ruling(False, "another time")
    return Ruling(False, "several times") if len(said.words) <= 2 * len(told) + 6 else None


def _day(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """Dates to the day, of which one side is written in digits, or the reply gives less."""
    wanted = [date for reading in known for date in _dates(reading)]
    if not wanted or any(date.day is None or date.month is None for date in wanted):
        return None
    if any(len(reading.words) > 8 for reading in known):
        return None
    told = days(said.text)
    if told and len(said.words) <= 14:
        good = [any(_meant(one, date) for date in wanted) for one in told]
        if all(good):
            return Ruling(True, "the same date")
        if not any(good):
            return Ruling(False, "another date")
    plain = [date for date in said.dates if date.month is not None or date.year is not None]
    if any(days(reading.text) for reading in known) and len(plain) == 1 and plain[0].day:
        good = any(_meant(one, plain[0]) for reading in known for one in days(reading.text))
        return Ruling(good, "the same date" if good else "another date")
    years_only = len(plain) == len(said.dates) and all(date.month is None for date in plain)
    if _ASKS_DAY.search(asked.text) and plain and years_only and not told and len(said.words) <= 12:
        return Ruling(False, "the year without the day")
    return None


def _month(known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A month of a year, against others: "May 1987" is not "June 1987"."""
    wanted = [date for reading in known for date in reading.dates if date.month and date.year]
    if not wanted or any(date.day for date in wanted) or len(wanted) < len(known):
        return None
    told = [date for date in said.dates if date.month]
    if not told or len(said.words) > 14 or any(len(reading.words) > 4 for reading in known):
        return None
    good = [any(d.month == w.month and d.year in (None, w.year) for w in wanted) for d in told]
    return None if any(good) else Ruling(False, "another month")


def _dates(reading: Reading) -> list[Date]:
    digits = days(reading.text)
    if digits:
        return [Date(*sorted(one)[0], 0, 0) for one in digits]
    return [date for date in reading.dates if date.month is not None or date.year is not None]


def _meant(told: frozenset[tuple[int, int, int]], date: Date) -> bool:
    return any(
        (date.year is None or date.year == y) and date.month == m and date.day == d
        for y, m, d in told
    )


def _era(known: Sequence[Reading], said: Reading) -> Ruling | None:
    wanted = {era(reading.text) for reading in known}
    told = era(said.text)
    if told == 0 or len(wanted) != 1 or len(said.words) > 14:
        return None
    (one,) = wanted
    if one * told < 0 or (one == 0 and told < 0 and all(len(r.words) <= 2 for r in known)):
        return Ruling(False, "another era")
    if one == told == -1 and not spans(said.text):
        years = {w for w in said.words if is_number(w)}
        aims = [{w for w in r.words if is_number(w)} for r in known]
        if len(years) == 1 and any(len(aim) == 1 for aim in aims):
            good = any(aim == years for aim in aims)
            return Ruling(good, "the same year" if good else "another year")
    return None


def _span(known: Sequence[Reading], said: Reading) -> Ruling | None:
    """Centuries and decades; a year within one is more exact, not wrong."""
    if len(said.words) > 12 or any(len(reading.words) > 4 for reading in known):
        return None
    wanted = [span for reading in known for span in spans(reading.text)]
    if not wanted or len(wanted) < len(known):
        return None
    told = spans(said.text)
    years = [date.year for date in said.dates if date.year and not date.decade]
    if told:
        good = any(_overlap(a, b) > 0.9 for a in told for b in wanted)
        return Ruling(good, "the same time span" if good else "another time span")
    if len(years) == 1:
        good = any(span.first - 1 <= years[0] <= span.last for span in wanted)
        return Ruling(good, "a year of the time span" if good else "a year outside")
    return None


def _overlap(first: Span, second: Span) -> float:
    shared = min(first.last, second.last) - max(first.first, second.first) + 1
    return shared / max(first.last - first.first + 1, second.last - second.first + 1)


def _sign(known: Sequence[Reading], said: Reading) -> Ruling | None:
    """5 °C for −5 °C."""
    if len(said.words) > 12:
        return None
    wanted = [signs(reading.text) for reading in known if len(reading.words) <= 6]
    told = signs(said.text)
    clear = len(told) == 1 and 0 < len(wanted) == len(known)
    if clear and all(len(one) == 1 and one != told for one in wanted):
        return Ruling(False, "another sign")
    return None


def _amounts(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """Several amounts of money where one is asked for: none of them is the answer."""
    given = {q.value for q in asked.quantities}
    told = {q.value for q in said.quantities if q.kind.startswith("money")} - given
    wanted = [{q.value for q in r.quantities if q.kind.startswith("money")} for r in known]
    if len(told) < 2 or len(said.words) > 3 * len(told) or any(len(w) != 1 for w in wanted):
        return None
    return Ruling(False, "several amounts")


def _share(known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A quarter for 25 %, 0.78 for 78 %."""
    if len(said.words) > 10:
        return None
    told = _shares(said)
    wanted = [q.value / 100 for r in known for q in r.quantities if q.kind == "percent"]
    if not wanted:
        wanted = [share for r in known if len(r.words) <= 4 for share in _shares(r)]
        told = told or [q.value / 100 for q in said.quantities if q.kind == "percent"]
    if len(told) != 1 or not wanted:
        return None
    good = any(abs(told[0] - share) <= 0.005 * max(1, share) for share in wanted)
    return Ruling(good, "the same share" if good else "another share")


def _shares(reading: Reading) -> list[float]:
    lowered = reading.text.lower()
    found: list[float] = []
    for match in _PART.finditer(lowered):
        count, part = match.groups()
        found.append(_COUNTS.get(count or "", 1) * _PARTS[part.rstrip("s")])
    for match in _OUT_OF.finditer(lowered):
        a, b = (_COUNTS.get(g) or float(g) for g in match.groups())
        if 0 < a <= b:
            found.append(a / b)
    if not found and len(reading.words) <= 5 and [q.kind for q in reading.quantities] == [""]:
        found = [float(m.group()) for m in _BELOW_ONE.finditer(lowered)]
    return found


def _grouped(known: Sequence[Reading], said: Reading) -> Ruling | None:
    """12.480 for 12,480, as half of Europe writes it."""
    told = _POINTS.findall(said.text)
    if len(told) != 1 or len(said.words) > 8:
        return None
    number = float(told[0].replace(".", ""))
    if any(q.raw == number for reading in known for q in reading.quantities):
        return Ruling(True, "the same number with points")
    return None


def _version(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A short reply that is the reference with another mark: iPhone 13 Pro Max for iPhone 13."""
    if len(said.words) > 8 or said.sentence[-1] > 0 or _NOT_NAME.search(said.text):
        return None
    if _PERSON.search(asked.text):
        return None
    own = _marks(said)
    verdicts: list[bool] = []
    for reading in known:
        marks = _marks(reading)
        base = [w for w in reading.words if w not in _MARKS and not _has_digit(w)]
        if not base or not (marks or own) or not all(w in said.vocabulary for w in base[-1:]):
            return None
        if not _is_product(reading):
            return None
        verdicts.append(marks == own)
    if verdicts and not any(verdicts):
        return Ruling(False, "another version")
    return None


def _marks(reading: Reading) -> frozenset[str]:
    return frozenset(_NUMERALS.get(w, w) for w in reading.words if w in _MARKS or _has_digit(w))


def _is_product(reading: Reading) -> bool:
    return (
        bool(_marks(reading))
        and not reading.dates
        and not reading.quantities[1:]
        and any(map(str.isupper, reading.raw))
    )


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


_MARKS = word_set(
    "pro max plus mini ultra air lite turbo xl xs se fe deluxe "
    "mark mk evo hd v x gt ti super premium classic original elite prime"
)
_OPEN_OR_SHUT = {"open", "clos", "close", "shut"}
_UNTIL = re.compile(
    r"(?i)\b(?:until|till|to|from|at\s+the\s+latest|before|after|past|not|never|no\s+longer"
    r"|re-?open\w*)\b|n't\b"
)
_PERSON = re.compile(r"(?i)\bwho\b|\bwhose\b|\bname\b|\bking\b|\bqueen\b|\bpope\b")
_NUMERALS = {"v": "5", "x": "10", "i": "1"}
_NOT_NAME = re.compile(r"(?i)\b(?:not|or|and|edition)\b|[,;:]")
_ASKS_DAY = re.compile(
    r"(?i)\b(?:on\s+)?(?:what|which)\s+(?:exact\s+)?(?:date|day)\b|\bexact\s+date\b"
)
_MINUS = re.compile(r"(?:(?<![\w.)\]/%])-\s?|\b(?:[Mm]inus|[Nn]egative)\s+)[$€£]?\d")
_NUMBER = re.compile(r"(?<![\d.,])\d")
_BELOW = re.compile(r"(?i)\bbelow\s+(?:zero|freezing|sea|0)|\bsub-?zero\b|\bunder\s+(?:zero|sea)")
_POINTS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.,])")
_BELOW_ONE = re.compile(r"(?<![\d.,])0?\.\d+(?![\d%]|\s*%|\s+per)")
_PARTS = {
    "half": 0.5, "halve": 0.5, "third": 1 / 3, "quarter": 0.25, "fourth": 0.25, "fifth": 0.2,
    "sixth": 1 / 6,
    "eighth": 0.125, "tenth": 0.1,
}  # fmt: skip
_COUNTS = {w: n for w, n in NUMBER_WORDS.items() if 1 <= n <= 10} | {"a": 1, "every": 1}
_PART = re.compile(
    r"\b(?:(a|one|two|three|four|five|seven)[\s-]+)?(half|thirds?|quarters?|fourths?|fifths?|sixths?|eighths?|tenths?)\b(?!\s+(?:past|to|century|time|place|past|of\s+the\s+\w+\s+century))"
)
_OUT_OF = re.compile(
    r"(?<![/\d])(?:\b)(\d+|one|two|three|four|five|six|seven|eight|nine)\s*(?:\bin\b|out\s+of|/)\s*(?:every\s+)?(\d+|two|three|four|five|six|seven|eight|nine|ten)\b(?!/)"
)
