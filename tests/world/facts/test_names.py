"""Names: one to one across seeds and kinds, told apart by ear, of nobody and nothing real."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Collection
from functools import cache

import pytest

from mmrag.agents.grounded.passage_text import NAME
from mmrag.errors import UsageError
from simulator.world.crag import crag_world
from simulator.world.facts.domain_schema import DOMAINS, HUB
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import generate_facts
from simulator.world.facts.invented_names import (
    LONGEST,
    MAX_SEED,
    Names,
    longer,
    name_capacity,
    permuted,
    real_words,
    sound_key,
    words_of,
)

JAM = "{brand} {word} Jam"
KINDS = {kind: of for domain in (*DOMAINS.values(), HUB) for kind, of in domain.names.items()}
CRAG = (
    *crag_world.FILMS, *crag_world.PARTS, *crag_world.BANDS, *crag_world.SONGS, *crag_world.ALBUMS,
)  # fmt: skip
PATTERNS = [*itertools.chain.from_iterable(KINDS.values()), *CRAG]


@pytest.fixture(scope="module")
def facts() -> FactBase:
    return generate_facts(5, 800)


@pytest.mark.parametrize("size", [1, 2, 10, 97, 1000])
def test_numbers_are_permuted_one_to_one(size: int) -> None:
    for key in (0, 12345):
        assert sorted(permuted(n, size, key) for n in range(size)) == list(range(size))


@pytest.mark.parametrize("slot", ["place", "brand", "given", "word", "land|craft"])
def test_words_of_a_slot_are_all_different(slot: str) -> None:
    words = words_of(slot)
    assert len({word.casefold() for word in words}) == len(words) > 50
    assert all(word.replace(" ", "").isalpha() for word in words)


def test_invented_words_are_neither_real_nor_words_of_another_slot() -> None:
    places = {word.casefold() for word in words_of("place")}
    assert not places & real_words()
    assert not places & {w.casefold() for slot in ("word", "given", "stem") for w in words_of(slot)}
    assert {"house", "einstein", "toyota", "london", "cadbury", "silverstone"} <= real_words()


@cache
def told_apart(one: str, other: str) -> bool:
    """Whether nothing can stand for both parts of patterns, slots or words as they are."""

    def choices(part: str) -> Collection[str]:
        if part in ("{first}", "{second}"):
            return {brand.split()[part == "{second}"] for brand in words_of("brand")}
        slot = re.fullmatch(r"\{(.+)\}", part)
        return words_of(slot.group(1)) if slot else (part,)

    return set(choices(one)).isdisjoint(choices(other))


def test_no_name_can_be_made_of_two_patterns() -> None:
    """With this and the bijection, names are unique: this is the proof, not a sample."""
    forms = [f for p in PATTERNS for f in (p, longer(p), longer(longer(p)))]
    assert len(set(forms)) == len(forms)
    whole = [form.replace("{brand}", "{first} {second}") for form in forms]
    parts = [re.split(r"([ -])", form) for form in whole]
    for one, other in itertools.combinations(parts, 2):
        if len(one) == len(other):
            assert any(a != b and told_apart(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("pattern", [JAM, "{woman} {place}", "{place}-on-{plant|land}"])
def test_seeds_share_no_name_of_a_pattern(pattern: str) -> None:
    seeds = [*range(20), MAX_SEED // 2, MAX_SEED - 1]
    sources = [Names(seed) for seed in seeds]
    names = {source.new(pattern).text for source in sources for _ in range(60)}
    assert len(names) == 60 * len(seeds)


def test_worlds_share_no_name(facts: FactBase) -> None:
    names = {e.name for e in facts.entities.values()}
    assert len(names) == len(facts)
    for seed in (6, MAX_SEED - 1):
        assert not names & {e.name for e in generate_facts(seed, 200).entities.values()}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_has_names_for_the_largest_world(pattern: str) -> None:
    """So many of its forms fit on a label; which do is drawn."""
    kind = next((kind for kind, patterns in KINDS.items() if pattern in patterns), "")
    wanted = {"person": 72_000, "company": 36_000}.get(kind, 10_000) / len(KINDS.get(kind, CRAG))
    draw = random.Random(pattern)

    def fitting(form: str) -> float:
        def length() -> int:
            return len(re.sub(r"\{(.+?)\}", lambda m: draw.choice(words_of(m[1])), form))

        return name_capacity(form) * sum(length() <= LONGEST for _ in range(500)) / 500

    assert name_capacity(pattern) >= 1
    assert sum(fitting(f) for f in (pattern, longer(pattern), longer(longer(pattern)))) > wanted


def test_a_name_gets_longer_when_the_shorter_ones_are_used_up() -> None:
    source = Names(3)
    names = [source.new(JAM) for _ in range(3 * name_capacity(JAM))]
    assert all(re.fullmatch(r"\w+ \w+ \w+ Jam", n.text) for n in names[: name_capacity(JAM) // 2])
    assert re.fullmatch(r"\w+ \w+ \w+ \w+ Jam", names[-1].text)
    assert names[0].short == names[0].text.removesuffix(" Jam")


def test_names_fit_on_a_label_and_are_read_as_names(facts: FactBase) -> None:
    for entity in facts.entities.values():
        assert len(entity.name) <= LONGEST
        assert NAME.fullmatch(entity.name), entity.name


def test_nothing_sounds_like_another_thing_of_the_world(facts: FactBase) -> None:
    shorts = [e.aliases[0].removeprefix("the ") for e in facts.entities.values()]
    assert len({sound_key(short) for short in shorts}) == len(shorts)


def test_no_word_of_a_name_sounds_like_one_of_a_look_alike(facts: FactBase) -> None:
    for entity in list(facts.entities.values())[::9]:
        if entity.look is None:
            continue
        mine = _own_words(entity.name, entity.kind)
        assert len(mine) == len(set(mine)) >= 2
        for other in facts.family(entity):
            assert not set(mine) & set(_own_words(other.name, other.kind)), (entity, other)


def _own_words(name: str, kind: str) -> list[str]:
    common = {
        w for pattern in KINDS[kind] for w in re.findall(r"\w+", re.sub(r"{.*?}", "", pattern))
    }
    words = " ".join(word for word in re.findall(r"\w+", name) if word not in common)
    joined = _PAIR.sub(lambda m: m[1] + m[2].casefold(), words)
    return [sound_key(word) for word in joined.split()]


_PAIR = re.compile(
    "({}) ({})".format(*map("|".join, zip(*map(str.split, words_of("brand")), strict=True)))
)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Brushwell", "Brushwall", True), ("Bannerstone", "Pannerstone", True),
        ("Vinegate", "Finegate", True), ("Moonbury", "Moonberry", True),
        ("Falcon", "Velvet", False), ("Brushfield", "Brushwell", False),
        ("Knightgate", "Nightgate", True)
    ]
)  # fmt: skip
def test_what_sounds_alike_has_one_sound(one: str, other: str, alike: bool) -> None:
    assert (sound_key(one) == sound_key(other)) is alike


@pytest.mark.parametrize("seed", [-1, MAX_SEED])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(UsageError, match="out of range"):
        generate_facts(seed, 100)
