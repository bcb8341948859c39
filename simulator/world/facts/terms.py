"""Short constructors for the catalogue, so that a domain reads like a table."""

from __future__ import annotations

from simulator.world.facts.fact_records import (
    Attribute,
    Choice,
    Clock,
    Day,
    Number,
    Ref,
    Several,
    ValueSpec,
    Year,
)


def num(
    key: str,
    noun: str,
    low: float,
    high: float,
    unit: str = "",
    *,
    digits: int = 0,
    significant: int = 3,
    dyn: str = "static",
    kinds: str = "",
    ask: str = "",
    cmp: str = "",
    grows: bool = False,
) -> Attribute:
    """A quantity. `cmp` is "more | less | most | least", finite verb phrases."""
    spec = Number(low=low, high=high, digits=digits, unit=unit, significant=significant)
    return _attribute(key, noun, spec, dyn, kinds, ask, cmp, grows)


def year(
    key: str,
    noun: str,
    low: int,
    high: int,
    *,
    same_as: str = "",
    kinds: str = "",
    ask: str = "",
    cmp: str = "",
) -> Attribute:
    """A year; always static."""
    spec = Year(low=low, high=high, same_as=same_as)
    return _attribute(key, noun, spec, "static", kinds, ask, cmp)


def day(
    key: str,
    noun: str,
    low: int,
    high: int,
    *,
    year_of: str = "",
    after: str = "",
    kinds: str = "",
    ask: str = "",
) -> Attribute:
    """A date; always static."""
    spec = Day(low=low, high=high, year_of=year_of, after=after)
    return _attribute(key, noun, spec, "static", kinds, ask, "")


def clock(
    key: str,
    noun: str,
    low: str,
    high: str,
    *,
    dyn: str = "fast-changing",
    kinds: str = "",
    ask: str = "",
) -> Attribute:
    """A time of day."""
    return _attribute(key, noun, Clock(low=low, high=high), dyn, kinds, ask, "")


def pick(
    key: str, noun: str, words: str, *, dyn: str = "static", kinds: str = "", ask: str = ""
) -> Attribute:
    """One of some words, written "a | b | c"."""
    return _attribute(key, noun, Choice(words=_split(words)), dyn, kinds, ask, "")


def some(
    key: str,
    noun: str,
    words: str,
    *,
    low: int = 2,
    high: int = 4,
    kinds: str = "",
    ask: str = "",
) -> Attribute:
    """A few of some words; always static."""
    spec = Several(words=_split(words), low=low, high=high)
    return _attribute(key, noun, spec, "static", kinds, ask, "")


def rel(
    key: str, noun: str, to: str, *, dyn: str = "static", kinds: str = "", ask: str = ""
) -> Attribute:
    """A relation to an entity of one of the kinds in `to`."""
    return _attribute(key, noun, Ref(kinds=tuple(to.split())), dyn, kinds, ask, "")


def _attribute(
    key: str,
    noun: str,
    value: ValueSpec,
    dyn: str,
    kinds: str,
    ask: str,
    cmp: str,
    grows: bool = False,
) -> Attribute:
    more, less, most, least = _split(cmp) if cmp else ("", "", "", "")
    return Attribute(
        key=key,
        noun=noun,
        value=value,
        dynamism=dyn,
        kinds=tuple(kinds.split()),
        ask=_split(ask) if ask else (),
        grows=grows,
        more=more,
        less=less,
        most=most,
        least=least,
    )


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))
