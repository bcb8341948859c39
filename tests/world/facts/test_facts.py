"""The fact base: names, validity in time, relations, look-alikes, tools."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from typing import Any

import msgspec
import pytest

from mmrag.errors import DataError, UsageError
from simulator.world.facts.domain_schema import DOMAINS, Fact, Number, attributes_of
from simulator.world.facts.fact_tools import tools
from simulator.world.facts.fact_wording import MONTHS, say_fact
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import LEAST, generate_facts
from simulator.world.facts.look import KINDS, LABELLED
from simulator.world.pictures.traits import Traits


@pytest.fixture(scope="module")
def facts() -> FactBase:
    return generate_facts(5, 800)


def digest(facts: FactBase) -> str:
    encoder = msgspec.json.Encoder(order="deterministic")
    text = hashlib.sha256()
    for entity in facts.entities.values():
        text.update(encoder.encode(entity))
    for fact in facts.facts():
        text.update(encoder.encode(fact))
    return text.hexdigest()


def test_every_kind_of_every_domain_exists(facts: FactBase) -> None:
    assert set(DOMAINS) == set(KINDS)
    for domain, kinds in KINDS.items():
        assert set(kinds) == set(DOMAINS[domain].nouns)
        for kind in kinds:
            assert len(facts.of_kind(kind)) >= LEAST
            assert all(e.domain == domain for e in facts.of_kind(kind))


def test_the_same_seed_gives_the_same_facts_and_another_seed_others(facts: FactBase) -> None:
    assert digest(generate_facts(5, 800)) == digest(facts)
    assert digest(generate_facts(6, 800)) != digest(facts)


def test_a_world_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one"):
        generate_facts(1, 0)


def test_aliases_name_one_thing(facts: FactBase) -> None:
    for entity in facts.entities.values():
        for name in (entity.name, *entity.aliases):
            assert facts.find(name) == [entity], name


def test_exactly_one_value_holds_at_any_query_time(facts: FactBase) -> None:
    day = facts.window[0][:10]
    instants = [*facts.window, f"{day}T06:00", f"{day}T05:59", f"{day}T13:37"]
    for entity in list(facts.entities.values())[::7]:
        for attribute in attributes_of(entity.kind):
            for at in instants:
                assert facts.value(entity.id, attribute.key, at) is not None


def test_validities_follow_one_another_without_gap_and_every_change_is_one(facts: FactBase) -> None:
    changed = 0
    for entity in list(facts.entities.values())[::5]:
        for attribute in attributes_of(entity.kind):
            spans = facts.history(entity.id, attribute.key)
            if attribute.dynamism == "static":
                assert [(s.valid_from, s.valid_to) for s in spans] == [(None, None)]
            for one, two in itertools.pairwise(spans):
                assert one.valid_to == two.valid_from
                assert one.value != two.value, attribute.key
                changed += 1
            assert spans[-1].valid_to is None
    assert changed > 1000


def test_running_totals_never_fall(facts: FactBase) -> None:
    seen = 0
    for entity in facts.entities.values():
        for attribute in attributes_of(entity.kind):
            if attribute.grows:
                values = [f.value for f in facts.history(entity.id, attribute.key)]
                assert values == sorted(values)  # type: ignore[type-var]
                seen += 1
    assert seen > 50


def test_dates_agree_with_the_years_they_belong_to(facts: FactBase) -> None:
    at = facts.window[0]
    for book in facts.of_kind("book"):
        released = str(facts.value(book.id, "released", at))
        assert released.startswith(str(facts.value(book.id, "published", at)))
    for coin in facts.of_kind("coin"):
        assert facts.value(coin.id, "minted", at) == facts.value(coin.id, "introduced", at)
    for person in facts.of_kind("person"):
        assert str(facts.value(person.id, "born", at)) < "1999"


def test_relations_lead_to_things_of_the_right_kind_and_back(facts: FactBase) -> None:
    at = facts.window[0]
    for book in facts.of_kind("book")[:20]:
        author = facts.target(book.id, "author", at)
        assert (author.kind, author.domain) == ("person", "book")
        assert book in facts.sources(author.id, "author", at, "book")


def test_numbers_lie_in_their_range_and_vary(facts: FactBase) -> None:
    for kinds in KINDS.values():
        for kind in kinds:
            for attribute in attributes_of(kind):
                spec = attribute.value
                is_own = isinstance(spec, Number) and not spec.times_of
                if is_own and attribute.dynamism == "static":
                    values = [
                        facts.value(e.id, attribute.key, facts.window[0])
                        for e in facts.of_kind(kind)
                    ]
                    assert all(spec.low <= float(str(v)) <= spec.high for v in values)
                    assert len(set(values)) >= 3, attribute.key


@pytest.mark.parametrize("look_alikes", [{0: 1.0}, {7: 1.0}, {2: 0.5, 3: 0.5}, {0: 0.75, 9: 0.25}])
def test_families_are_as_large_as_asked_for(look_alikes: dict[int, float]) -> None:
    facts = generate_facts(8, 3000, look_alikes)
    last = {kind: max(e.family for e in facts.of_kind(kind)) for kind in ("dog", "jar", "tower")}
    sizes = Counter(
        len(facts.family(e)) for kind in last for e in facts.of_kind(kind) if e.family < last[kind]
    )
    assert set(sizes) == {n for n, share in look_alikes.items() if share}
    for n, share in look_alikes.items():
        families = sum(of / (others + 1) for others, of in sizes.items())
        assert sizes[n] / (n + 1) / families == pytest.approx(share, abs=0.12)


def test_a_number_that_follows_another_stays_near_it(facts: FactBase) -> None:
    """An online price is near the shop's price of the day, a used one far below."""
    for key, low, high in (("online", 0.75, 1.28), ("used", 0.18, 0.75)):
        for entity in facts.of_kind("kettle"):
            for fact in facts.history(entity.id, key):
                price = float(str(facts.value(entity.id, "price", fact.valid_from or "")))
                assert low <= float(str(fact.value)) / price <= high, (entity.id, key)


def test_what_cannot_be_true_together_is_not(facts: FactBase) -> None:
    diets: set[str] = set()
    for kind in KINDS["food"]:
        for entity in facts.of_kind(kind):
            allergens = facts.value(entity.id, "allergens", facts.window[0])
            diet = str(facts.value(entity.id, "diet", facts.window[0]))
            diets.add(diet)
            assert isinstance(allergens, tuple)
            assert diet != "vegan" or not {"milk", "egg"} & set(allergens)
    assert "vegan" in diets


def test_months_follow_one_another(facts: FactBase) -> None:
    for entity in facts.of_kind("flower"):
        months = facts.value(entity.id, "blooms", facts.window[0])
        assert isinstance(months, tuple)
        numbers = [MONTHS.index(month) for month in months]
        assert numbers == list(range(numbers[0], numbers[0] + len(months)))


def test_look_alikes_differ_in_variant_only(facts: FactBase) -> None:
    entity = facts.of_kind("dog")[3]
    family = facts.family(entity)
    assert family
    assert entity not in family
    looks = [entity.look, *(e.look for e in family)]
    assert len({(x.kind, x.family) for x in looks if x}) == 1
    assert len({x.variant for x in looks if x}) == len(looks)


@pytest.mark.parametrize("own", [0.0, 0.25])
def test_look_alikes_share_their_traits_but_for_the_share_that_is_their_own(own: float) -> None:
    things = generate_facts(5, 400, {2: 1.0}, own).of_kind("kettle")
    first, second = (Traits(e.look).family for e in things[:2] if e.look)
    names = [f"trait {n}" for n in range(2000)]
    differ = sum(first(name) != second(name) for name in names) / len(names)
    assert differ == pytest.approx(own, abs=0.03)


def test_print_shows_the_name_and_a_fact(facts: FactBase) -> None:
    at = facts.window[0]
    for entity in facts.entities.values():
        if entity.look is not None:
            assert entity.look.label == (entity.name if entity.kind in LABELLED else None)
    book = facts.of_kind("book")[0]
    assert book.look is not None
    assert book.look.sublabel == facts.target(book.id, "author", at).name


def test_facts_survive_a_round_trip(facts: FactBase) -> None:
    again = FactBase.from_facts(
        seed=facts.seed, window=facts.window, entities=reversed(list(facts.entities.values())),
        facts=reversed(list(facts.facts()))
    )  # fmt: skip
    for entity in list(facts.entities.values())[::11]:
        assert list(again.facts(entity.id)) == list(facts.facts(entity.id))


def test_facts_of_an_earlier_catalogue_are_refused_with_the_cure(facts: FactBase) -> None:
    car = facts.of_kind("car")[0]
    with pytest.raises(
        DataError, match=r"has a .wingspan., which no car has here.*mmrag world new"
    ):
        FactBase.from_facts(
            seed=facts.seed, window=facts.window, entities=[car],
            facts=[Fact(entity_id=car.id, attribute="wingspan", value=3)]
        )  # fmt: skip


def test_an_overlap_in_time_is_noticed(facts: FactBase) -> None:
    book = facts.of_kind("book")[0]
    double = Fact(entity_id=book.id, attribute="price", value=1.0, valid_from=facts.window[0])
    broken = FactBase.from_facts(
        seed=5, window=facts.window, entities=[book], facts=[*facts.facts(book.id), double]
    )
    with pytest.raises(DataError, match="2 values"):
        broken.value(book.id, "price", facts.window[1])


def test_unknown_things_and_attributes_are_errors(facts: FactBase) -> None:
    with pytest.raises(DataError, match="no entity"):
        facts.entity("book-99999")
    with pytest.raises(DataError, match="no attribute"):
        facts.value("book-00000", "wingspan", facts.window[0])


def test_search_by_name_finds_by_part(facts: FactBase) -> None:
    entity = facts.of_kind("kettle")[2]
    part = " ".join(entity.name.split()[:2])
    assert facts.search_by_name(part)[0] == entity
    assert facts.search_by_name("zzzz qqqq") == []
    assert facts.search_by_name("", limit=3) == []


def test_facts_are_put_into_words(facts: FactBase) -> None:
    book = facts.of_kind("book")[0]
    fact = facts.fact(book.id, "pages", facts.window[0])
    assert say_fact(fact, facts) == f"The number of pages of {book.name} is {fact.value:,}."


def test_every_domain_has_its_tools(facts: FactBase) -> None:
    box = tools(facts)
    for domain in DOMAINS:
        prefix = domain.replace(" ", "_")
        for suffix in (
            "search_by_name", "get_entity", "get_attribute", "get_history", "list_by_relation",
        ):  # fmt: skip
            tool = box[f"{prefix}_{suffix}"]
            assert tool.schema()["function"]["parameters"]["required"]
        kind = KINDS[domain][0]
        entity = facts.of_kind(kind)[0]
        assert entity.name in box[f"{prefix}_search_by_name"].call({"query": entity.name}, None)
        told = box[f"{prefix}_get_entity"].call({"name": entity.name}, None)
        assert set(told["attributes"]) == {a.key for a in attributes_of(kind)}
    assert len(box) >= 38, "CRAG has 38 mock APIs"


def test_tools_read_the_past_and_refuse_nonsense(facts: FactBase) -> None:
    box = tools(facts)
    book = facts.of_kind("book")[0].name

    def ask(tool: str, **arguments: object) -> Any:
        return box[tool].call(arguments, None)

    first = ask("book_get_price_history", name=book)[0]
    told = ask("book_get_attribute", name=book, attribute="price", date=first["valid_from"])
    assert told["value"] == first["value"]
    author = ask("book_get_attribute", name=book, attribute="author")["value"]
    assert book in ask("book_list_by_relation", relation="author", target=author)
    with pytest.raises(UsageError, match="no attribute"):
        ask("book_get_attribute", name=book, attribute="wingspan")
    with pytest.raises(UsageError, match="nothing here is called"):
        ask("book_get_entity", name="Hamlet")


def test_tools_answer_as_of_the_time_of_asking(facts: FactBase) -> None:
    """What comes after the question is nobody's to know, nor is the last value always the one."""
    book, box = facts.of_kind("book")[0], tools(facts)
    early = f"{facts.window[0][:10]}T07:00"
    at_once = box["book_get_attribute"].call({"name": book.name, "attribute": "used"}, early)
    assert at_once["value"] == facts.value(book.id, "used", early)
    everything = box["book_get_entity"].call({"name": book.name}, early)
    assert everything["attributes"]["used"] == at_once
    history = box["book_get_history"].call({"name": book.name, "attribute": "used"}, early)
    assert history[-1]["value"] == at_once["value"]
    assert all(entry["valid_from"] <= early for entry in history)
