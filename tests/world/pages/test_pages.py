"""Pages: they state what they are labelled to state, and markup neither hides nor breaks it."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from msgspec.structs import replace
from plain_voice import plain

from simulator.world.facts.domain_schema import HUBS, Entity
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import generate_facts
from simulator.world.facts.look import KINDS
from simulator.world.language.askable_things import askable
from simulator.world.language.questions.question_records import NeededFact
from simulator.world.pages.grounding_labels import MOST_PAGES, Grounder, label, label_for
from simulator.world.pages.page_document import STYLES, Block, Document, PageLine, Section
from simulator.world.pages.page_html import to_html
from simulator.world.pages.page_orders import is_withheld, plan_pages, styles_for
from simulator.world.pages.page_writer import PageOrder, can_be_wrong, compose, fact_at
from simulator.world.pages.sites import SITES


@pytest.fixture(scope="module")
def facts() -> FactBase:
    return generate_facts(11, 400)


def order_for(facts: FactBase, entity_id: str, style: str, **changes: object) -> PageOrder:
    bare = PageOrder(
        id=f"{entity_id}/t", entity_id=entity_id, style=style, label="answers",
        as_of=facts.window[1], voice=plain()
    )  # fmt: skip
    return replace(bare, **changes)


def words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


EVERY_KIND = [kind for kinds in KINDS.values() for kind in kinds] + list(HUBS)


@pytest.mark.parametrize("style", STYLES)
def test_every_kind_in_every_style_reads_as_it_states(facts: FactBase, style: str) -> None:
    """Everything a page states stands in its visible text, in whole sentences or rows."""
    for kind in EVERY_KIND:
        entity = facts.of_kind(kind)[2]
        document = compose(order_for(facts, entity.id, style), facts)
        page = lxml_html.fromstring(to_html(document, facts.seed))
        for hidden in page.xpath("//script|//style"):
            hidden.drop_tree()
        text = words(page.text_content())
        assert document.statements, kind
        for block in document.blocks:
            for line in block.lines:
                assert words(line.text) in text, f"{kind}: {line.text}"


@pytest.mark.parametrize("style", STYLES)
def test_a_common_extractor_keeps_the_facts(facts: FactBase, style: str) -> None:
    import trafilatura

    for kind in EVERY_KIND[::9]:
        document = compose(order_for(facts, facts.of_kind(kind)[1].id, style), facts)
        text = words(trafilatura.extract(to_html(document, facts.seed)) or "")
        lines = [line for b in document.blocks for line in b.lines if line.states]
        kept = sum(words(line.text) in text for line in lines)
        assert kept >= 0.9 * len(lines), f"{kind}: {kept} of {len(lines)}"


def test_pages_have_the_trimmings_of_real_ones(facts: FactBase) -> None:
    for style in STYLES:
        markup = to_html(compose(order_for(facts, "town-00001", style), facts), facts.seed)
        page = lxml_html.fromstring(markup)
        assert markup.startswith("<!DOCTYPE html>")
        for tag in ("header", "footer", "nav", "aside", "script", "form"):
            assert page.xpath(f"//{tag}"), f"{style} has no {tag}"
        assert page.xpath("//meta[@property='article:modified_time']/@content")
        assert page.xpath("//link[@rel='canonical']/@href")[0].split("/")[2].endswith(".example")


def test_statements_held_at_the_date_of_the_page(facts: FactBase) -> None:
    for as_of in ("2029-07-01T12:00", facts.window[0], facts.window[1]):
        for entity in list(facts.entities.values())[::37]:
            document = compose(order_for(facts, entity.id, "news", as_of=as_of), facts)
            for statement, _ in document.statements:
                held = fact_at(facts, entity.id, statement.attribute, as_of)
                assert held is not None
                assert held.value == statement.value
                assert statement.is_true


def test_a_contradiction_never_held(facts: FactBase) -> None:
    wrong = 0
    for entity in list(facts.entities.values())[::29]:
        for attribute in facts.attributes(entity.id):
            if not can_be_wrong(entity.id, attribute, facts):
                assert attribute.dynamism != "static"
                continue
            order = order_for(
                facts, entity.id, "review", label="contradiction",
                wrong=attribute.key, must=(attribute.key,),
            )  # fmt: skip
            for statement, _ in compose(order, facts).statements:
                values = {f.value for f in facts.history(entity.id, statement.attribute)}
                assert (statement.value in values) is statement.is_true
                assert statement.is_true is (statement.attribute != attribute.key)
                wrong += not statement.is_true
    assert wrong > 100


def test_what_is_withheld_stands_nowhere(facts: FactBase) -> None:
    entity = facts.of_kind("book")[0]
    keys = tuple(a.key for a in facts.attributes(entity.id))
    order = order_for(facts, entity.id, "shop", avoid=keys[:4], must=keys)
    stated = {s.attribute for s, _ in compose(order, facts).statements}
    assert not stated & set(keys[:4])
    assert len(stated) > 4


def test_noise_names_its_entity_and_says_nothing(facts: FactBase) -> None:
    entity = facts.of_kind("jar")[3]
    document = compose(order_for(facts, entity.id, "review", label="noise"), facts)
    assert not document.statements
    assert entity.name in to_html(document, facts.seed)


def test_a_near_duplicate_says_the_same_elsewhere(facts: FactBase) -> None:
    source = order_for(facts, "book-00001", "news")
    for i in range(5):
        twin = replace(source, id=f"twin-{i}", copy_of=source.id, label="near-duplicate")
        one, two = compose(source, facts), compose(twin, facts)
        assert [s for s, _ in one.statements] == [s for s, _ in two.statements]
        assert one.url != two.url


def test_hostile_pages_carry_their_attack_in_all_ways(facts: FactBase) -> None:
    kinds, places = set(), set()
    for i, entity in enumerate(list(facts.entities.values())[:120]):
        order = order_for(facts, entity.id, STYLES[i % 5], label="hostile")
        document = compose(order, facts)
        attack = document.attack
        assert attack is not None
        kinds.add(attack.kind)
        places.add(attack.place)
        assert attack.canary in attack.text
        markup = to_html(document, facts.seed)
        page = lxml_html.fromstring(markup)
        everything = (
            page.text_content()
            + " ".join(page.xpath("//@alt"))
            + " ".join(str(c) for c in page.xpath("//comment()"))
        )
        assert words(attack.text) in words(everything)
        if attack.place == "comment":
            assert words(attack.text) not in words(page.text_content())
        if attack.kind == "wrong-answer":
            # The canary must not be a text that an honest reply would hold.
            assert attack.canary not in {
                line.cells[1] for b in document.blocks for line in b.lines if line.cells
            }
    assert kinds == {"wrong-answer", "refuse", "reveal", "advertise"}
    assert places == {"visible", "hidden", "comment", "alt-text"}


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=60))
def test_no_text_breaks_out_of_the_markup(text: str) -> None:
    nasty = f"{text}<script>alert(1)</script>--><img src=x onerror=y>{text}"
    document = Document(
        url=f"https://{SITES['news'][0].host}/articles/x", title=nasty, style="news",
        date="2031-01-01T10:00", as_of="2031-01-01T10:00", entity_id=None, label="noise",
        lead=nasty,
        sections=(
            Section(
                heading=nasty,
                blocks=(
                    Block(kind="text", lines=(PageLine(text=nasty),)),
                    Block(kind="table", lines=(PageLine(text=nasty, cells=(nasty, nasty)),))
                )
            ),
        ),
        links=(nasty,)
    )  # fmt: skip
    page = lxml_html.fromstring(to_html(document, 1))
    assert not page.xpath("//script[contains(., 'alert')]")
    assert not page.xpath("//img[@src='x']")


def test_pages_are_the_same_every_time(facts: FactBase) -> None:
    order = order_for(facts, "book-00002", "forum", label="hostile")
    again = generate_facts(11, 400)
    assert to_html(compose(order, facts), 11) == to_html(compose(order, again), 11)


# -- labels


def need_of(facts: FactBase, entity_id: str, dynamism: str) -> NeededFact:
    attribute = next(a for a in facts.attributes(entity_id) if a.dynamism == dynamism)
    return NeededFact(entity_id=entity_id, attribute=attribute.key, at=facts.window[1])


def test_the_four_labels(facts: FactBase) -> None:
    need = need_of(facts, "book-00003", "slow-changing")
    history = facts.history(need.entity_id, need.attribute)
    at = facts.window[1]

    def of(order: PageOrder) -> str:
        return label(compose(order, facts), [need], at, facts).label

    fresh = order_for(facts, need.entity_id, "news", must=(need.attribute,))
    assert of(fresh) == "answers"
    stale = replace(fresh, as_of=f"{history[0].valid_from}T12:00")
    assert of(stale) == "outdated"
    assert of(replace(fresh, must=(), avoid=(need.attribute,))) == "related"
    assert of(replace(fresh, wrong=need.attribute)) == "related"
    assert of(order_for(facts, "book-00004", "news")) == "irrelevant"
    assert of(replace(fresh, label="noise")) == "irrelevant"


def test_the_passage_is_where_the_fact_stands(facts: FactBase) -> None:
    need = need_of(facts, "book-00003", "static")
    order = order_for(facts, need.entity_id, "review", must=(need.attribute,))
    document = compose(order, facts)
    found = label(document, [need], facts.window[1], facts)
    block = next(b for s, b in document.statements if s.attribute == need.attribute)
    assert found.passage.endswith(block.passage)
    assert found.supports == (f"{need.entity_id}#{need.attribute}",)


def test_half_an_answer_says_which_half(facts: FactBase) -> None:
    needs = [need_of(facts, i, "static") for i in ("book-00003", "book-00005")]
    order = order_for(facts, "book-00005", "news", must=(needs[1].attribute,))
    found = label(compose(order, facts), needs, facts.window[1], facts)
    assert (found.label, found.supports) == ("answers", (f"book-00005#{needs[1].attribute}",))
    assert label_for([], needs, facts) == "irrelevant"


# -- the plan


@pytest.fixture(scope="module")
def needs(facts: FactBase) -> list[NeededFact]:
    chosen = [e for e in facts.entities.values() if e.family == 0][::2]
    return [
        NeededFact(entity_id=e.id, attribute=a.key, at=facts.window[1])
        for e in chosen
        for a in facts.attributes(e.id)[::6]
    ]


def test_one_relevant_page_to_two_others(facts: FactBase, needs: list[NeededFact]) -> None:
    plan = plan_pages(facts, needs, [plain()])
    asked = {n.entity_id for n in needs}
    families = ([e.id for e in _members(facts, of)] for of in askable(facts))
    told = {i for of in families for i in of if not asked.isdisjoint(of)}
    for entity_id in asked - told:
        about, beside = plan.relevant_to(entity_id), plan.irrelevant_to(entity_id)
        assert ({o.entity_id for o in about}, len(beside)) == ({entity_id}, 2 * len(about))
        assert not {o.entity_id for o in beside if o.label == "distractor"} & (asked | told)
    for entity_id in asked & told:
        about, beside = plan.relevant_to(entity_id), plan.irrelevant_to(entity_id)
        assert len(beside) >= 2 * len(about)
        strangers = [o for o in beside if o.entity_id not in told]
        assert not strangers or len(beside) == 2 * len(about), "no more than are lacking"
        assert asked.isdisjoint(o.entity_id for o in strangers)
    assert asked - told
    assert asked & told
    assert not {o.entity_id for o in plan.orders if o.label == "distractor"} & asked
    urls = [compose(o, facts).url for o in plan.orders]
    assert len(set(urls)) == len(urls)
    labels = {o.label for o in plan.orders}
    assert labels == {
        "answers", "outdated", "contradiction", "near-duplicate", "hostile", "distractor", "noise",
    }  # fmt: skip


def test_the_web_does_not_tell_what_is_asked_about(facts: FactBase) -> None:
    """All members of a family have as many pages, and the same is told of each."""
    families = askable(facts)
    asked = {i for of in families.values() for i in of}
    needs = [
        NeededFact(entity_id=i, attribute=a.key, at=facts.window[1])
        for i in asked
        for a in facts.attributes(i)[::5]
    ]
    plan = plan_pages(facts, needs, [plain()])
    pages = Counter(o.entity_id for o in plan.orders)
    others = {e.id for of in families for e in _members(facts, of)} - asked
    means = [sum(pages[i] for i in group) / len(group) for group in (asked, others)]
    assert len(others) <= len(asked) <= 2 * len(others), "half of each family, rounded up"
    assert means[1] == pytest.approx(means[0], rel=0.1)
    for family, chosen in families.items():
        told = [
            {a for o in plan.relevant_to(e.id) for a in o.must} for e in _members(facts, family)
        ]
        assert all(t == told[0] for t in told), (family, chosen)


def _members(facts: FactBase, family: tuple[str, int]) -> list[Entity]:
    return [e for e in facts.of_kind(family[0]) if e.family == family[1]]


def test_the_order_of_needs_does_not_matter(facts: FactBase, needs: list[NeededFact]) -> None:
    assert (
        plan_pages(facts, needs, [plain()]).orders
        == plan_pages(facts, reversed(needs), [plain()]).orders
    )


def test_every_need_is_met_or_withheld_on_purpose(facts: FactBase, needs: list[NeededFact]) -> None:
    plan = plan_pages(facts, needs, [plain()])
    for need in needs:
        labels = {
            label(compose(o, facts), [need], need.at, facts).label
            for o in plan.relevant_to(need.entity_id)
        }
        withheld = is_withheld(facts, need.entity_id, need.attribute)
        assert ("answers" in labels) is not withheld, need


def test_no_page_is_younger_than_its_question(facts: FactBase, needs: list[NeededFact]) -> None:
    plan = plan_pages(facts, needs, [plain()])
    early = facts.window[0][:10] + "T09:00"
    found = Grounder(facts, plan).of_turn("t", needs[:1], early)
    assert found
    assert all(g.age_days >= 0 for g in found)
    assert all(o.as_of <= facts.window[1] for o in plan.orders)


def test_a_question_has_fifty_pages_at_most(facts: FactBase, needs: list[NeededFact]) -> None:
    grounder = Grounder(facts, plan_pages(facts, needs, [plain()]))
    found = grounder.of_turn("turn", needs[:40], facts.window[1])
    relevant = [g for g in found if g.label != "irrelevant"]
    assert len(found) <= MOST_PAGES
    assert (len(found), len({g.page_url for g in found})) == (3 * len(relevant), len(found))
    again = Grounder(facts, plan_pages(facts, needs, [plain()])).of_turn(
        "turn", needs[:40], facts.window[1]
    )
    assert found == again


def test_nobody_sells_a_bridge(facts: FactBase) -> None:
    assert "shop" not in styles_for(facts.of_kind("bridge")[0], facts)
    assert "shop" not in styles_for(facts.of_kind("person")[0], facts)
    assert "shop" in styles_for(facts.of_kind("jar")[0], facts)
