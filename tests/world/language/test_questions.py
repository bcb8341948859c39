"""The grammar, the programs, the answers, and what a reader of questions alone can earn."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_voice import plain

from mmrag.errors import DataError
from simulator.world.build.randomness import Draw
from simulator.world.checks.published import TYPES
from simulator.world.checks.shortcuts import is_right, measure_shortcuts
from simulator.world.facts.catalogue import DOMAINS
from simulator.world.facts.fact_records import DYNAMISM
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import generate_facts
from simulator.world.facts.look import KINDS, LABELLED
from simulator.world.language.conversations import make_sessions
from simulator.world.language.program import Answer, ProgramError, evaluate
from simulator.world.language.questions.answers import ordinal, say_answer
from simulator.world.language.questions.asking import (
    Draft,
    Moment,
    Statistics,
    Template,
    about,
    possessive,
)
from simulator.world.language.questions.operations_by_attribute import (
    OPERATIONS,
    hub_templates,
    templates,
    wordings,
)
from simulator.world.language.questions.phrases import plural_of
from simulator.world.language.voices.reading import voice


@pytest.fixture(scope="module")
def facts() -> FactBase:
    return generate_facts(11, 800)


# -- the grammar


def test_there_are_more_templates_than_crag_has() -> None:
    assert len({t.id for t in templates()}) == len(templates()) >= 600


def test_every_cell_of_domain_and_type_has_five_templates() -> None:
    """But four ways to recognise where nothing carries print: by name, or by what is beside."""
    cells = Counter((t.domain, t.query_type) for t in templates())
    plain = {d for d, kinds in KINDS.items() if not LABELLED & set(kinds)}
    few = {(d, q) for d in DOMAINS for q in TYPES if cells[d, q] < 5}
    assert few == {(d, TYPES[0]) for d in plain}
    assert all(cells[cell] == 4 for cell in few)


def test_every_domain_has_every_form_and_every_dynamism() -> None:
    for domain in DOMAINS:
        own = [t for t in templates() if t.domain == domain]
        assert {"plain", "condition", "set", "post-processing"} <= {t.form for t in own}
        assert any(t.operation == "premise" for t in own)
        for query_type in TYPES[1:]:
            speeds = {t.dynamism for t in own if t.query_type == query_type}
            assert speeds == set(DYNAMISM), (domain, query_type)


def test_small_english() -> None:
    assert possessive("it") == "its"
    assert possessive("this book") == "this book's"
    assert possessive("these headphones") == "these headphones'"
    assert (
        about("how old is {x}", "the person who made {x}") == "how old is the person who made {x}"
    )
    assert about("{xs} age", "the maker of {x}") == "the maker of {x}'s age"
    assert plural_of("butterfly") == "butterflies"
    assert plural_of("fish") == "fish"
    assert plural_of("headphones") == "pairs of headphones"
    assert plural_of("watch") == "watches"


@pytest.mark.proof("time")
def test_every_template_can_be_asked_and_has_words_in_every_voice() -> None:
    """All slots of a wording are the subject's, the kind's, or filled by the draft."""
    world = generate_facts(9, 2500)
    statistics = Statistics(world)
    at = world.window[0][:11] + "09:30"
    known = {"x", "xs", "noun", "plural"}
    for template in (*templates(), *hub_templates()):
        drafts = (_draft(template, world, statistics, at, k) for k in range(80))
        draft = next((d for d in drafts if d is not None), None)
        assert draft is not None, f"{template.id} is dead in a world of middling size"
        found = wordings(template, draft, voice(plain()))
        assert found, template.id
        for words in found:
            open_slots = set(re.findall(r"\{(\w+)\}", words)) - known - draft.slots.keys()
            assert not open_slots, (template.id, words)


def _draft(
    template: Template, world: FactBase, statistics: Statistics, at: str, k: int
) -> Draft | None:
    draw = Draw(template.id, k)
    moment = Moment(
        facts=world,
        statistics=statistics,
        draw=draw,
        at=at,
        subject=draw.pick(world.of_kind(draw.pick(template.kinds))),
        polarity=k % 2 == 0,
        order=k % 4 < 2,
        text_clue=True,
    )
    try:
        draft = OPERATIONS[template.operation].bind(template, moment)
        return draft if draft and evaluate(draft.program, world, at) else None
    except DataError:
        return None


# -- the programs


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ([], "no expression"),
        ("get", "no expression"),
        (["launch"], "no operation"),
        (["get", ["it", "book-00000"]], "cannot be applied"),
        (["get", ["it", "nothing"], "pages"], "no entity"),
        (["minus", ["it", "book-00000"], 3], "number is needed"),
        (["count", ["it", "book-00000"]], "entities is needed"),
        (["most", ["these", "book-00000", "book-00000"], "pages"], "no single one"),
        (["above", ["get", ["it", "book-00000"], "pages"],
          ["get", ["it", "book-00000"], "pages"]], "equal"),
        (["without", ["these", "book-00000"], ["it", "book-00000"]], "empty set"),
        (["in_unit", ["get", ["it", "book-00000"], "pages"], "oz"], "cannot be applied"),
    ],
)  # fmt: skip
def test_a_program_without_a_unique_answer_is_an_error(
    facts: FactBase, program: object, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        evaluate(program, facts, facts.window[1])  # type: ignore[arg-type]


def test_a_huge_program_is_refused(facts: FactBase) -> None:
    program: list[object] = ["it", "book-00000"]
    for _ in range(300):
        program = ["get", program, "author"]
    with pytest.raises(ProgramError, match="nodes"):
        evaluate(program, facts, facts.window[1])


def test_programs_compute(facts: FactBase) -> None:
    at = facts.window[1]
    one, two = (e.id for e in facts.of_kind("book")[:2])
    pages = [int(str(facts.value(i, "pages", at))) for i in (one, two)]

    def run(*program: object) -> object:
        return evaluate(list(program), facts, at)[0].value

    assert run("total", ["these", one, two], "pages") == sum(pages)
    assert run("average", ["these", one, two], "pages") == round(sum(pages) / 2, 1)
    assert run("minus", ["get", ["it", one], "pages"], ["get", ["it", two], "pages"]) == abs(
        pages[0] - pages[1]
    )
    assert run("most", ["these", one, two], "pages") == (one if pages[0] > pages[1] else two)
    assert run("fits", 1000, ["get", ["it", one], "pages"]) == 1000 // pages[0]
    assert run("count", ["where", ["these", one, two], "pages", ">", 0.5]) == 2
    prices = [float(str(f.value)) for f in facts.history(one, "price", at)][-6:]
    assert run("peak", ["it", one], "price", 5) == max(prices)
    assert run("swing", ["it", one], "price", 5) == round(max(prices) - min(prices), 2)
    year = facts.value(one, "published", at)
    premise = ["premise", ["it", one], "published", year, ["get", ["it", one], "pages"]]
    assert run(*premise) == pages[0]
    premise[3] = 1999
    answer, _ = evaluate(premise, facts, at)
    assert answer.kind == "correction"
    text, accept = say_answer(answer, facts)
    assert str(year) in text
    assert all(str(year) in a for a in accept)


def test_evaluation_reports_the_facts_it_read(facts: FactBase) -> None:
    program = ["get", ["get", ["it", "book-00001"], "publisher"], "founded"]
    _, accesses = evaluate(program, facts, facts.window[1])
    publisher = facts.target("book-00001", "publisher", facts.window[1]).id
    assert [(a.entity_id, a.attribute) for a in accesses] == [
        ("book-00001", "publisher"),
        (publisher, "founded"),
    ]


# -- the answers


def say(facts: FactBase, kind: str, value: object, unit: str = "", digits: int = 0) -> set[str]:
    text, accept = say_answer(Answer(kind=kind, value=value, unit=unit, digits=digits), facts)
    return {text, *accept}


def test_acceptable_variants(facts: FactBase) -> None:
    assert {"$14.20", "14.20 dollars", "$14.2"} <= say(facts, "number", 14.2, "$", 2)
    assert {"1,240 g", "1240 g", "1240 grams", "1.24 kg"} <= say(facts, "number", 1240, "g")
    assert {"$3 million", "$3,000,000"} <= say(facts, "number", 3, "million $")
    assert {"3 May 2027", "May 3, 2027", "the 3rd of May 2027", "2027-05-03"} == say(
        facts, "day", "2027-05-03"
    )
    assert {"18:30", "6:30 pm"} == say(facts, "clock", "18:30")
    assert {"00:05", "12:05 am"} == say(facts, "clock", "00:05")
    assert {"a and b", "a, b", "b and a"} == say(facts, "words", ("a", "b"))
    assert say(facts, "bool", True) == {"Yes"}
    assert "1 year" in say(facts, "number", 1, "years")


@given(st.integers(1, 400))
def test_ordinals(n: int) -> None:
    suffix = ordinal(n).removeprefix(str(n))
    expected = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    assert suffix == ("th" if n % 100 in (11, 12, 13) else expected)


# -- no shortcut


@pytest.mark.proof("time")
def test_questions_alone_earn_nothing() -> None:
    """Pooled over three worlds; the limit holds the sampling error of a test of this size."""
    studied = list(
        make_sessions(generate_facts(101, 500), [plain()], conversations=150, singles=500)
    )
    sessions = [
        s
        for seed in (21, 22, 23)
        for s in make_sessions(generate_facts(seed, 500), [plain()], conversations=150, singles=500)
    ]
    rows = measure_shortcuts(sessions, studied)
    assert len({r.strategy for r in rows}) >= 16
    for row in rows:
        error = 100 * (max(row.answered, 1) ** 0.5) / max(row.questions, 1)
        assert row.truthfulness <= 3.0 + 2.5 * error, row


def test_the_adversary_can_win_where_there_is_a_shortcut(facts: FactBase) -> None:
    sessions = list(make_sessions(facts, [plain()], conversations=40, singles=200))
    asked = [q for s in sessions for q in s.questions if q.choice == ("Yes", "No")]
    rigged = [s for s in sessions if all(q.answer == "Yes" for q in s.questions if q in asked)]
    rows = measure_shortcuts(rigged, rigged)
    best = max(r.truthfulness for r in rows if r.strategy == "always yes")
    assert best > 3.0


def test_bare_objections_count_only_where_the_premise_is_wrong(facts: FactBase) -> None:
    sessions = make_sessions(facts, [plain()], conversations=30, singles=300)
    premises = [q for s in sessions for q in s.questions if "/premise/" in q.template]
    wrong = sum(is_right(q, "that premise is wrong") for q in premises)
    assert 0 < wrong < len(premises)
    assert abs(2 * wrong - len(premises)) <= 0.2 * len(premises) + 2
