"""Names that sound real and are not.

A name holds two invented words. The pair is a one-to-one image of (seed, counter), so no two
entities of one world and no two worlds share a name: the map is a bijection, not a lottery.
Words that are in the embedded list of common words and famous names are skipped.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from mmrag.errors import UsageError

MAX_SEED = 1 << 19
"""Seeds are below this, so that every (seed, counter) has its own pair of words."""

_COUNTERS = 1 << 20

_ONSETS = (
    "b", "bl", "br", "c", "ch", "cl", "cr", "d", "dr", "f", "fl", "fr", "g", "gl", "gr", "h",
    "j", "k", "kr", "l", "m", "n", "p", "pl", "pr", "r", "s", "sc", "sh", "sk", "sl", "sm",
    "sn", "sp", "st", "str", "t", "th", "tr", "v", "w", "z",
)  # fmt: skip
_VOWELS = (
    "a", "e", "i", "o", "u", "ai", "ea", "oa", "ou",
)  # fmt: skip
_MIDDLES = (
    "b", "bb", "ck", "d", "dd", "ff", "g", "gg", "l", "ll", "ld", "lf", "lk", "lm", "lt", "lv",
    "m", "mb", "mm", "mp", "n", "nd", "ng", "nk", "nn", "nt", "p", "pp", "r", "rd", "rk", "rl",
    "rm", "rn", "rr", "rt", "rv", "s", "ss", "sk", "st", "t", "tt", "v", "x", "zz",
)  # fmt: skip
_ENDINGS = (
    "a", "o", "i", "el", "en", "er", "ek", "et", "in", "is", "il", "on", "or", "os", "ol", "um",
    "us", "an", "ar", "al", "eth", "ick", "ora", "ina", "elle", "esh", "ane", "ade", "ow", "ey",
    "ett", "olt", "ard", "orn", "ine", "oon", "umble", "ander", "ovar", "isk", "ella", "ando",
    "owen", "adis",
)  # fmt: skip
_WORDS = len(_ONSETS) * len(_VOWELS) * len(_MIDDLES) * len(_ENDINGS)
_UGLY = (
    "fuck", "shit", "cunt", "nigg", "rape", "nazi", "porn", "dick", "cock", "slut", "piss", "fag",
    "tits", "coon", "kike", "spick", "retard", "bitch", "whore", "puss", "anus", "penis", "wank",
)  # fmt: skip


class Names:
    """The invented words of one seed, in order.

    >>> Names(1).pair() != Names(2).pair()
    True
    """

    def __init__(self, seed: int, start: int = 0) -> None:
        """`start`: the number of the first pair; what is named apart begins far from the rest."""
        if not 0 <= seed < MAX_SEED:
            raise UsageError(
                f"seed {seed} is out of range; names stay unique across worlds for seeds from 0 "
                f"to {MAX_SEED - 1}. Choose one of those."
            )
        self._seed = seed
        self._next = start

    def pair(self) -> tuple[str, str]:
        """Two fresh capitalised words."""
        known = real_words()
        while True:
            if self._next >= _COUNTERS:
                raise UsageError(
                    f"a world has at most about {_COUNTERS} entities; ask for fewer entities."
                )
            a, b = _scatter(self._seed * _COUNTERS + self._next)
            self._next += 1
            first, second = _word(a), _word(b)
            if first == second or first in known or second in known:
                continue
            if any(bad in first or bad in second for bad in _UGLY):
                continue
            return first.capitalize(), second.capitalize()


@cache
def real_words() -> frozenset[str]:
    """The embedded list: common words, famous people, places and brands, lower case."""
    text = (files("simulator.world.facts") / "words.txt").read_text(encoding="utf-8")
    return frozenset(
        word for line in text.splitlines() if not line.startswith("#") for word in line.split()
    )


def _scatter(code: int) -> tuple[int, int]:
    """A Feistel network over pairs of word numbers: one-to-one, and neighbours land far apart."""
    a, b = divmod(code, _WORDS)
    for k in range(4):
        a, b = b, (a + _mix(b, k)) % _WORDS
    return a, b


def _mix(value: int, k: int) -> int:
    z = (value + 1) * 0x9E3779B97F4A7C15 + k * 0xD1B54A32D192ED03 & 0xFFFFFFFFFFFFFFFF
    z = (z ^ (z >> 29)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    return z ^ (z >> 32)


def _word(number: int) -> str:
    """Consonants, vowels, consonants, ending: each string has one decomposition only."""
    number, e = divmod(number, len(_ENDINGS))
    number, m = divmod(number, len(_MIDDLES))
    o, v = divmod(number, len(_VOWELS))
    return _ONSETS[o] + _VOWELS[v] + _MIDDLES[m] + _ENDINGS[e]
