"""Rules for values: quantities, times and dates, where they are sure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmrag.judges.builtin.claims import WORD
from mmrag.judges.builtin.parsed_question import Ruling
from mmrag.judges.builtin.parsed_text import Cue, Parsed
from mmrag.text.lexicon import APPROXIMATE, phrases, word_set
from mmrag.text.number_words import NUMBER_WORDS
from mmrag.text.numbers import Date, is_number, same_date, same_quantity
from mmrag.text.opposites import another_attribute, opposed
from mmrag.text.times import Years, era, is_time, numeric_dates, same_time, times, year_spans


def quantity(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """References that are one number or measure each, and a reply that tells such a quantity."""
    if not all(map(_only_quantity, known)) or another_attribute(set(asked.roots), set(said.roots)):
        return None
    counted = bool(_COUNTED.search(asked.text))
    wanted = [q._replace(year=q.year and not counted) for r in known for q in r.quantities]
    if any(q.year or q.ordinal for q in wanted):
        return None
    counted = counted or all(q.raw >= _LARGE for q in wanted)
    repeated = {(q.raw, q.kind) for q in asked.quantities}
    told = [q for q in said.quantities if (q.raw, q.kind) not in repeated and not q.ordinal]
    if kinds := {q.kind for q in wanted if q.kind}:
        money = any(kind.startswith("money") for kind in kinds)
        measured = [q for q in told if q.kind in kinds or (money and q.kind.startswith("money"))]
        if not measured and len(told) == 1:
            if told[0].kind and len(said.words) <= 6:
                return Ruling(False, "another kind of quantity")
            if money and not told[0].year and "." in said.raw:
                measured = told  # a price without its sign
        told, wanted = measured, [q for q in wanted if q.kind]
    elif len(told) != 1 or (told[0].year and not counted) or len(said.words) > 12:
        return None
    told = [q._replace(year=q.year and not counted) for q in told]
    good = [
        any(same_quantity(q, o) and (q.kind or counted or q.raw == o.raw) for o in wanted)
        for q in told
    ]
    if not any(good):
        return Ruling(False, "another quantity") if 0 < len(told) <= 2 else None
    if not all(good):
        return None
    bounds = {bool(_BOUND.search(r.raw)) for r in known}
    if len(said.words) <= 8 and bounds == {not _BOUND.search(said.raw)}:
        return Ruling(False, "a bound for a value, or the reverse")
    exactly = any(
        abs(q.value - w.value) <= 0.002 * abs(w.value) or q.unit != w.unit
        for q in told
        for w in wanted
    )
    return Ruling(True, "the same quantity" if exactly else "rounded", exactly)


def told_amount(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """References that tell one amount in a sentence, and a reply that tells only others."""
    given = {q.raw for q in asked.quantities}
    *amounts, told = (
        [q for q in r.quantities if q.raw not in given and not (q.year or q.ordinal)]
        for r in (*known, said)
    )
    if not told or any(len(one) != 1 for one in amounts):
        return None
    wanted = [one[0] for one in amounts]
    dated = _HOW_OLD.search(asked.text) and said.dates
    if dated and {q.raw for q in told}.isdisjoint(q.raw for q in wanted):
        return Ruling(False, "a date for an age")
    kinds = {q.kind for q in wanted}
    if any(q.kind not in kinds or any(same_quantity(q, w) for w in wanted) for q in told):
        return None
    return Ruling(False, "another amount")


def _only_quantity(reading: Parsed) -> bool:
    quantity = reading.quantities[0]
    rest = reading.tokens[: quantity.start] + reading.tokens[quantity.end :]
    return all(token in APPROXIMATE or token in _LEVEL for token in rest)


def by_clause(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """Several numbers or times, each in a clause of its own: that which the question names counts.
    "Weekdays 6 pm, Saturday 1 pm", asked about Saturday."""
    as_time = all(is_time(reading.text) for reading in known[:6])
    if not said.cues & Cue.NUMBER or not (
        as_time or all(len(r.quantities) == 1 and len(r.words) <= 4 and not r.dates for r in known)
    ):
        return None
    # What a question names, less the kind of thing it asks for ("which city") and possessors.
    names = Parsed(_WHOSE.sub(" ", _KIND.sub("", asked.raw, count=1)), is_plain=True)
    about = {names.roots[i] for i in names.places}
    found: list[tuple[set[str], bool, Parsed]] = []
    for piece in [piece for piece in _VALUE_CLAUSE.split(said.raw) if WORD.search(piece)][:8]:
        reading = Parsed(piece, is_plain=True)
        good = _values(reading, asked, known, as_time)
        if reading.dates or "once" in reading.vocabulary or len(good) > 1:
            return None
        if good:
            found.append((about & reading.stems.keys(), good[0], reading))
        elif found and len(reading.words) > 4:
            return None  # goes on about something else
    one_way = len({good for _, good, _ in found}) < 2
    if one_way or any(len(reading.words) < 2 for _, _, reading in found):
        return None
    cover, good, reading = max(found, key=lambda one: len(one[0]))
    if not cover or another_attribute(about, set(reading.roots)):
        return None
    if any(not other < cover for other, _, clause in found if clause is not reading):
        return None
    if not good and len(said.words) > 20:
        return None  # it may tell the story first
    return Ruling(good, "the value of what is asked" if good else "the value of another thing")


def _values(said: Parsed, asked: Parsed, known: Sequence[Parsed], as_time: bool) -> list[bool]:
    """For each value of a clause, whether it is that of a reference."""
    if as_time:
        given, wanted = times(asked.text), [t for r in known for t in times(r.text)]
        told = [time for time in times(said.text) if time not in given]
        return [any(same_time(time, one) for one in wanted) for time in told]
    repeated = {q.raw for q in asked.quantities}
    aims = [r.quantities[0] for r in known]
    return [
        any(same_quantity(q, aim) and (q.kind or q.raw == aim.raw) for aim in aims)
        for q in said.quantities
        if q.raw not in repeated and not q.ordinal
    ]


def minus_sign(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """5 °C for −5 °C."""
    told, wanted = _signs(said.text), [_signs(r.text) for r in known]
    if len(told) == 1 and all(len(one) == 1 and one != told for one in wanted):
        return Ruling(False, "another sign")
    return None


def _signs(text: str) -> set[bool]:
    """Whether the numbers of a text are below zero: {True}, {False}, both, or nothing."""
    minus = {m.end() - 1 for m in _MINUS.finditer(text)}
    whole = {m.start() for m in _NUMBER.finditer(text)}
    return {True} if whole and _BELOW.search(text) else {place in minus for place in whole}


def fraction(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A quarter for 25 %, 0.78 for 78 %."""
    told, wanted = _shares(said), _percents(*known)
    if not wanted:
        wanted = [share for r in known if len(r.words) <= 4 for share in _shares(r)]
        told = told or _percents(said)
    if len(told) != 1 or not wanted:
        return None
    good = any(abs(told[0] - share) <= 0.005 * max(1, share) for share in wanted)
    return Ruling(good, "the same share" if good else "another share")


def _percents(*readings: Parsed) -> list[float]:
    return [q.value / 100 for r in readings for q in r.quantities if q.kind == "percent"]


def _shares(reading: Parsed) -> list[float]:
    lowered = reading.text.lower()
    found = [
        _COUNTS.get(match[1] or "", 1) * _PARTS[match[2].rstrip("s")]
        for match in _PART.finditer(lowered)
    ]
    for match in _OUT_OF.finditer(lowered):
        a, b = (_COUNTS.get(g) or float(g) for g in match.groups())
        if 0 < a <= b:
            found.append(a / b)
    if not found and len(reading.words) <= 5 and [q.kind for q in reading.quantities] == [""]:
        found = [float(m.group()) for m in _BELOW_ONE.finditer(lowered)]
    return found


def grouped_digits(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """12.480 for 12,480, as half of Europe writes it."""
    told = _POINTS.findall(said.text)
    if len(told) == 1 and any(
        q.raw == float(told[0].replace(".", "")) for r in known for q in r.quantities
    ):
        return Ruling(True, "the same number with points")
    return None


def other_version(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A short reply that is the reference with another mark: iPhone 13 Pro Max for iPhone 13."""
    if said.sentence[-1] > 0 or _NOT_NAME.search(said.text) or _PERSON.search(asked.text):
        return None
    own = _marks(said)
    for reading in known:
        base = [w for w in reading.words if w not in _MARKS and not any(map(str.isdigit, w))]
        marks = _marks(reading)
        if not base or base[-1] not in said.vocabulary or not marks or marks == own:
            return None
        if reading.dates or reading.quantities[1:] or not any(map(str.isupper, reading.raw)):
            return None  # no product
    return Ruling(False, "another version")


def _marks(reading: Parsed) -> frozenset[str]:
    marks = [word for word in reading.words if word in _MARKS or any(map(str.isdigit, word))]
    return frozenset(NUMERALS.get(word) or word for word in marks)


def time(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """References that are times of day."""
    wanted = [time for reading in known for time in times(reading.text)]
    told, given = times(said.text), times(asked.text)
    told = [time for time in told if time not in given] or told
    if not told or another_attribute(set(asked.roots), set(said.roots)):
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


def day(asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """Dates to the day, of which one side is written in digits, or the reply gives less."""
    wanted = [date for reading in known for date in _dates(reading)]
    if not wanted or any(date.day is None or date.month is None for date in wanted):
        return None
    if any(len(reading.words) > 8 for reading in known):
        return None
    told = numeric_dates(said.text)
    good = [any(_meant(one, date) for date in wanted) for one in told]
    if told and (all(good) or not any(good)):
        return Ruling(good[0], "the same date" if good[0] else "another date")
    plain = [date for date in said.dates if date.month is not None or date.year is not None]
    in_digits = [one for reading in known for one in numeric_dates(reading.text)]
    if in_digits and len(plain) == 1 and plain[0].day:
        right = any(_meant(one, plain[0]) for one in in_digits)
        return Ruling(right, "the same date" if right else "another date")
    years_only = len(plain) == len(said.dates) and all(date.month is None for date in plain)
    if plain and years_only and not told and len(said.words) <= 12 and _ASKS_DAY.search(asked.text):
        return Ruling(False, "the year without the day")
    return None


def month(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """A month of a year, against others: "May 1987" is not "June 1987"."""
    wanted = [date for reading in known for date in reading.dates if date.month and date.year]
    told = [date for date in said.dates if date.month]
    if not told or len(wanted) < len(known) or any(date.day for date in wanted):
        return None
    if any(len(reading.words) > 4 for reading in known):
        return None
    good = any(d.month == w.month and d.year in (None, w.year) for w in wanted for d in told)
    return None if good else Ruling(False, "another month")


def _dates(reading: Parsed) -> list[Date]:
    digits = numeric_dates(reading.text)
    if digits:
        return [Date(*sorted(one)[0], 0, 0) for one in digits]
    return [date for date in reading.dates if date.month is not None or date.year is not None]


def _meant(told: frozenset[tuple[int, int, int]], date: Date) -> bool:
    return any(
        (date.year is None or date.year == y) and date.month == m and date.day == d
        for y, m, d in told
    )


def era_of(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """Years before Christ against years after."""
    told, wanted = era(said.text), {era(reading.text) for reading in known}
    if told == 0 or len(wanted) != 1:
        return None
    (one,) = wanted
    if one * told < 0 or (one == 0 and told < 0 and all(len(r.words) <= 2 for r in known)):
        return Ruling(False, "another era")
    if one == told == -1 and not year_spans(said.text):
        years, *aims = ({*filter(is_number, r.words)} for r in (said, *known))
        if len(years) == 1 and any(len(aim) == 1 for aim in aims):
            return Ruling(years in aims, "the same year" if years in aims else "another year")
    return None


def all_dates(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """References that list days, all of which are wanted and no other."""
    lists, told = [_dates(reading) for reading in known], [d for d in _dates(said) if d.day]
    if not told or any(len(one) < 2 or not all(date.day for date in one) for one in lists):
        return None
    for wanted in lists:
        pairs = [[same_date(one, other) is True for one in told] for other in wanted]
        if all(map(any, pairs)) and all(map(any, zip(*pairs, strict=True))):
            return Ruling(True, "the same dates")
    return Ruling(False, "not the same dates")


def decade(_asked: Parsed, known: Sequence[Parsed], said: Parsed) -> Ruling | None:
    """Centuries and decades; a year within one is more exact, not wrong."""
    wanted = [span for reading in known for span in year_spans(reading.text)]
    if len(wanted) < len(known):
        return None
    if told := year_spans(said.text):
        good = any(_overlap(a, b) > 0.9 for a in told for b in wanted)
        return Ruling(good, "the same time span" if good else "another time span")
    years = [date.year for date in said.dates if date.year and not date.decade]
    if len(years) != 1:
        return None
    good = any(span.first - 1 <= years[0] <= span.last for span in wanted)
    return Ruling(good, "a year of the time span" if good else "a year outside")


def _overlap(first: Years, second: Years) -> float:
    shared = min(first.last, second.last) - max(first.first, second.first) + 1
    return shared / max(first.last - first.first + 1, second.last - second.first + 1)


_OPEN_OR_SHUT = {"open", "clos", "close", "shut"}
_UNTIL = phrases(
    r"\b(?:until|till|to|from|at the latest|before|after|past|not|never|no longer|re-?open\w*)\b"
    r"|n't\b"
)
_ASKS_DAY = phrases(r"\b(?:on )?(?:what|which) (?:exact )?(?:date|day)\b|\bexact date\b")
MAY_SPAN = re.compile(r"(?i)\d0s|ties\b|\bcent|\bc\.")
_COUNTED = re.compile(
    r"(?i)^how\b|\b(?:population|number|amount|total|size|price|cost|age|weight|height|length|width"
    r"|depth|distance|speed|area|volume|count|rate|many|much|attendance|capacity|salary)\b"
)
_LARGE = 10_000
"""Bare numbers from here on are counts, whatever the question's words."""
HOW_MUCH = phrases(r"\bhow (?:much|many|old)\b")
_HOW_OLD = phrases(r"\bhow old\b")
_BOUND = phrases(
    r"\b(?:over|more than|at least|above|under|less than|fewer than|up to|at most|below"
    r"|exceed\w*) [$€£]?\d"
)
_LEVEL = frozenset({"over", "under", "above", "below", "sea", "level", "more", "less", "than"})
_MARKS = word_set(
    "pro max plus mini ultra air lite turbo xl xs se fe deluxe "
    "mark mk evo hd v x gt ti super premium classic original elite prime"
)
_PERSON = re.compile(r"(?i)\bwho\b|\bwhose\b|\bname\b|\bking\b|\bqueen\b|\bpope\b")
NUMERALS = {"v": "5", "x": "10", "i": "1"}
_NOT_NAME = re.compile(r"(?i)\b(?:not|or|and|edition)\b|[,;:]")
_POINTS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.,])")
_MINUS = re.compile(r"(?:(?<![\w.)\]/%])-\s?|\b(?:[Mm]inus|[Nn]egative)\s+)[$€£]?\d")
_NUMBER = re.compile(r"(?<![\d.,])\d")
_BELOW = phrases(r"\bbelow (?:zero|freezing|sea|0)|\bsub-?zero\b|\bunder (?:zero|sea)")
_BELOW_ONE = re.compile(r"(?<![\d.,])0?\.\d+(?![\d%]|\s*%|\s+per)")
_PARTS = {
    "half": 0.5, "halve": 0.5, "third": 1 / 3, "quarter": 0.25, "fourth": 0.25, "fifth": 0.2,
    "sixth": 1 / 6, "eighth": 0.125, "tenth": 0.1,
}  # fmt: skip
_COUNTS = {w: n for w, n in NUMBER_WORDS.items() if 1 <= n <= 10} | {"a": 1, "every": 1}
_PART = re.compile(
    r"\b(?:(a|one|two|three|four|five|seven)[\s-]+)?(half|thirds?|quarters?|fourths?|fifths?|sixths?|eighths?|tenths?)\b(?!\s+(?:past|to|century|time|place|past|of\s+the\s+\w+\s+century))"
)
_OUT_OF = re.compile(
    r"(?<![/\d])(?:\b)(\d+|one|two|three|four|five|six|seven|eight|nine)\s*(?:\bin\b|out\s+of|/)\s*(?:every\s+)?(\d+|two|three|four|five|six|seven|eight|nine|ten)\b(?!/)"
)
_VALUE_CLAUSE = phrases(r"[.;!?] |, (?:and |but |while )?| (?:and|but|while|whereas) |\s*[\n|/]\s*")
_KIND = phrases(
    r"^\W*(?:on|in|at|from|by)?\s*(?:which|what) (?!is\b|are\b|was\b|were\b|do|did\b)\w+\s"
)
_WHOSE = re.compile(r"\b\w+'s?\s")
MAY_SHARE = re.compile(
    r"(?i)%|percent|per\s+cent|\d/\d|\b(?:half|thirds?|quarters?|fourths?|fifths?|sixths?|eighths?|tenths?|halve|out\s+of|in)\b|\.\d"
)
