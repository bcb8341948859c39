"""Chinese as readers of other languages take it: Western figures, dates and units."""

from __future__ import annotations

import re
from collections.abc import Callable

from mmrag.text.normalise import MAX_CHARS

CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}
_GROUPS = {"万": 10**4, "亿": 10**8}
_UNITS = {
    "千瓦时": "kWh", "千瓦": "kW", "瓦": "W", "公斤": "kg", "千克": "kg", "克": "g", "吨": "t",
    "公里": "km", "千米": "km", "厘米": "cm", "毫米": "mm", "米": "m", "小时": "hours",
    "分钟": "minutes", "美元": "dollars", "欧元": "euros",
}  # fmt: skip
_WRITTEN = "零〇一二两三四五六七八九十百千"
_FIGURE = (
    r"(?:[0-9]{1,20}(?:,[0-9]{3}){0,9}(?:\.[0-9]{1,20})?"
    rf"|[{_WRITTEN}][{_WRITTEN}万亿]{{0,40}})"
)
_YEAR = r"(?P<year>[0-9]{4}|[零〇一二三四五六七八九]{4})年"
_DATE = re.compile(
    rf"(?:{_YEAR})?(?P<month>[0-9]{{1,2}}|十[一二]?|[一二三四五六七八九])月(?:份)?"
    r"(?:(?P<day>[0-9]{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号])?"
)
_LONE_YEAR = re.compile(_YEAR)
_SHARE = re.compile(rf"(?P<of>{_FIGURE})分之(?P<part>{_FIGURE})")
_COUNT = re.compile(rf"(?P<figure>{_FIGURE})(?P<group>[万亿]+)?(?P<unit>{'|'.join(_UNITS)})?")


def has_chinese(text: str) -> bool:
    """Whether any of it is."""
    return CHINESE.search(text) is not None


def westernise(text: str, words_of: Callable[[str], list[str]]) -> str:
    """Figures, dates, shares and units rewritten, Chinese words set apart as `words_of` cuts them.

    >>> westernise("2023年8月5日，四分之一，1060万千瓦", list)
    '5 August 2023 , 25% , 10600000 kW'
    """
    text = text[:MAX_CHARS].translate(_WIDE)
    text = _DATE.sub(_date, text)
    text = _LONE_YEAR.sub(lambda m: f" {_plain(m['year'])} ", text)
    text = _SHARE.sub(_share, text)
    text = _COUNT.sub(_count, text)
    pieces = (words_of(p) if has_chinese(p) else [p] for p in re.split(r"(\s+)", text))
    return " ".join(" ".join(w for of in pieces for w in of).split())


_WIDE = {c: c - 0xFEE0 for c in range(0xFF01, 0xFF5F)} | {ord("。"): ".", ord("、"): ","}


def _date(m: re.Match[str]) -> str:
    month, day = int(_value(m["month"])), m["day"]
    if not 1 <= month <= 12:
        return m.group()
    parts = [str(int(_value(day)))] if day else []
    parts.append(_MONTHS[month - 1])
    if m["year"]:
        parts.append(_plain(m["year"]))
    return f" {' '.join(parts)} "


def _share(m: re.Match[str]) -> str:
    of, part = _value(m["of"]), _value(m["part"])
    return f" {100 * part / of:g}% " if of else m.group()


def _count(m: re.Match[str]) -> str:
    figure, group, unit = m["figure"], m["group"] or "", m["unit"]
    if not (group or unit) and (figure[0] in "0123456789" or len(figure) == 1):
        return m.group()  # 一 alone is mostly a word
    if figure in _TENS and figure != "十" and not group:
        return m.group()
    value = _value(figure)
    for sign in group:
        value *= _GROUPS[sign]
    return f" {value:.12g} {_UNITS[unit] if unit else ''} "


def _plain(year: str) -> str:
    return year if year.isdigit() and year.isascii() else "".join(str(_DIGITS[c]) for c in year)


def _value(text: str) -> float:
    """A figure in digits or characters: 十五, 二百零三, 1,060."""
    if text[0] in "0123456789":
        return float(text.replace(",", ""))
    for group in ("亿", "万"):
        above, sign, below = text.partition(group)
        if sign:
            return _value(above or "一") * _GROUPS[group] + (_value(below) if below else 0.0)
    if not any(c in _TENS for c in text):
        return float("".join(str(_DIGITS[c]) for c in text))
    total, digit = 0, 0
    for c in text:
        if c in _DIGITS:
            digit = _DIGITS[c]
        else:
            total += (digit or 1) * _TENS[c]
            digit = 0
    return float(total + digit)
