"""Names as things of their kind have them, of nobody and nothing real: easy to hear and to spell.

A pattern of the kind ("{place} {word} Jam") is filled by a number, one to one, and no two (seed,
counter) have the same number: no two things of a world and no two worlds share a name. This is a
bijection, not a lottery. `{place}` is an invented word of two real ones ("Bannerstone") and
`{brand}` the same in two words, so that whoever hears it can spell it; what exists is left out.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from mmrag.errors import UsageError
from mmrag.files import bounded_yaml

MAX_SEED = 1 << 19
"""Seeds are below this, so that every (seed, counter) has a number of its own."""

LONGEST = 40
"""Characters of a name: what fits on a label or a sign."""

_SLOT = re.compile(r"\{([a-z|]+)\}")
_SOUNDED = re.compile(r"\w{3,7}(?<!ch|sh|th|ll)(?<!x)(?:(?<!e)|(?<=le)|(?<=ee))")
"""Theme words that sound as before when an ending follows: no silent e, no hiss."""
INVENTED = ("place", "brand")
"""Slots of invented words: a compound in one word or in two."""
_ANY = {"given": "woman|man", "word": "animal|plant|land|craft"}
_LENGTHENED = 3
"""How often a pattern gets another word when a world has used up its names."""
_UGLY = (
    "fuck", "shit", "cunt", "nigg", "rape", "nazi", "porn", "dick", "cock", "slut", "piss", "fag",
    "tits", "coon", "kike", "spick", "retard", "bitch", "whore", "puss", "anus", "penis", "wank",
)  # fmt: skip

_SPELLINGS = (
    (r"ph", "f"), (r"gh", ""), (r"\bkn", "n"), (r"\bwr", "r"), (r"ck", "k"), (r"tch|ch|sh|j", "x"),
    (r"th", "t"), (r"c(?=[eiy])", "s"), (r"[cqg]", "k"), (r"x(?=[a-z])", "x"), (r"z", "s"),
    (r"v", "f"), (r"b", "p"), (r"d", "t"), (r"\b[aeiou]", "A"), (r"\B[aeiouwhy]", ""),
    (r"(.)\1+", r"\1"),
)  # fmt: skip


class Name(NamedTuple):
    """What something is called, and what people shorten it to."""

    text: str
    short: str


class Names:
    """The invented names of one seed, in order.

    >>> Names(1).new("{brand} {word} Jam") != Names(2).new("{brand} {word} Jam")
    True
    """

    def __init__(self, seed: int) -> None:
        if not 0 <= seed < MAX_SEED:
            raise UsageError(
                f"seed {seed} is out of range; names stay unique across worlds for seeds from 0 "
                f"to {MAX_SEED - 1}. Choose one of those."
            )
        self._seed = seed
        self._left: dict[str, Iterator[tuple[str, tuple[str, ...]]]] = {}
        self._taken: set[str] = set()
        self._sounds: set[tuple[str, str]] = set()

    def new(self, pattern: str, family: str = "") -> Name:
        """A fresh name, which sounds like no other of the world. No word of it sounds like one of
        another member of the family, so that whoever hears it knows which is meant."""
        left = self._left.setdefault(pattern, _fillings(self._seed, pattern))
        for form, words in left:
            name = _named(form, words)
            taken = {name.text, sound_key(name.short)}
            sounds = {(family, sound_key(word)) for word in words}
            if (
                len(name.text) > LONGEST
                or any(bad in name.text.casefold() for bad in _UGLY)
                or _repeats(words)
                or not self._taken.isdisjoint(taken)
                or (family and not self._sounds.isdisjoint(sounds))
            ):
                continue
            self._taken |= taken
            self._sounds |= sounds
            return name
        raise UsageError(f"the names like {pattern!r} are used up; ask for fewer entities.")


def name_capacity(pattern: str) -> int:
    """How many names of a pattern, as it stands, each seed has for its own."""
    return math.prod(len(words_of(slot)) for slot in _SLOT.findall(pattern)) // MAX_SEED


@cache
def words_of(slot: str) -> tuple[str, ...]:
    """The words that may fill a slot, all different: of each theme that it names.

    >>> "Badger" in words_of("animal|plant")
    True
    """
    lists = _word_lists()
    if slot == "brand":
        ends = _word_lists()["ending"]
        return tuple(
            f"{place[: -len(end)]} {end.capitalize()}"
            for place in words_of("place")
            for end in (max(filter(place.endswith, ends), key=len),)
        )
    if slot == "place":
        stems = [*lists["stem"], *filter(_SOUNDED.fullmatch, words_of("word"))]
        real = real_words()
        compounds = dict.fromkeys(
            stem + end for stem in dict.fromkeys(stems) for end in lists["ending"]
        )
        return tuple(c for c in compounds if c.casefold() not in real)
    return tuple(word for theme in _ANY.get(slot, slot).split("|") for word in lists[theme])


@lru_cache(maxsize=1 << 16)
def sound_key(text: str) -> str:
    """What a listener keeps of a name: its consonants, soft as hard, without length or stress.

    >>> sound_key("Brushwell") == sound_key("Brushwall") != sound_key("Brushfield")
    True
    """
    key = text.casefold()
    for spelling, heard in _SPELLINGS:
        key = re.sub(spelling, heard, key)
    return key


@cache
def real_words() -> frozenset[str]:
    """The embedded list: common words, famous people, places and brands, lower case."""
    text = (files("simulator.world.facts") / "words.txt").read_text(encoding="utf-8")
    return frozenset(
        word for line in text.splitlines() if not line.startswith("#") for word in line.split()
    )


@cache
def _word_lists() -> dict[str, tuple[str, ...]]:
    said = bounded_yaml.read(Path(__file__).with_name("name_words.yaml"))
    return {key: tuple(words.split()) for key, words in said.items()}


def longer(pattern: str) -> str:
    """The pattern with another real word before the invented one.

    >>> longer("{given} {place} Rose")
    '{given} {given} {place} Rose'
    """
    slots = _SLOT.findall(pattern)
    invented = next(s for s in slots if s in INVENTED)
    slot = next(s for s in slots if s not in INVENTED)
    return pattern.replace(f"{{{invented}}}", f"{{{slot}}} {{{invented}}}")


def _fillings(seed: int, pattern: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The words that fill a pattern, of this seed and no other; a longer one when they end."""
    for _ in range(_LENGTHENED):
        slots = [words_of(slot) for slot in _SLOT.findall(pattern)]
        here = name_capacity(pattern)
        size = here * MAX_SEED
        key = int.from_bytes(hashlib.sha256(pattern.encode()).digest()[:8], "big")
        for number in range(seed * here, (seed + 1) * here):
            left = permuted(number, size, key)
            words: list[str] = []
            for choices in slots:
                left, place = divmod(left, len(choices))
                words.append(choices[place])
            yield pattern, tuple(words)
        pattern = longer(pattern)


def permuted(number: int, size: int, key: int) -> int:
    """A number below `size`, one to one: a Feistel network, walked until it comes out below.
    Neighbours land far apart, so things that are made one after another are called differently."""
    side = math.isqrt(size - 1) + 1
    while True:
        a, b = divmod(number, side)
        for k in range(4):
            a, b = b, (a + _mix(b ^ key, k)) % side
        number = a * side + b
        if number < size:
            return number


def _mix(value: int, k: int) -> int:
    z = (value + 1) * 0x9E3779B97F4A7C15 + k * 0xD1B54A32D192ED03 & 0xFFFFFFFFFFFFFFFF
    z = (z ^ (z >> 29)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    return z ^ (z >> 32)


def _named(pattern: str, words: tuple[str, ...]) -> Name:
    """The name, and its part from the first to the last word that is its own."""
    left = iter(words)
    text = _SLOT.sub(lambda _: next(left), pattern)
    head = pattern[: pattern.index("{")]
    tail = pattern[pattern.rindex("}") + 1 :]
    short = text[len(head) : len(text) - len(tail)]
    return Name(text, short.split("-")[0])


def _repeats(words: tuple[str, ...]) -> bool:
    """Whether one word stands in another, or sounds like it."""
    return any(
        sound_key(a) == sound_key(b) or a.casefold() in b.casefold() or b.casefold() in a.casefold()
        for a, b in itertools.combinations(words, 2)
    )
