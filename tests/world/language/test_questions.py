"""The programs, the answers, and what a reader of questions alone can earn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_voice import plain
from question_shortcuts import is_right, measure_shortcuts

from mmrag.errors import DataError
from simulator.world.facts.domain_schema import Entity, Fact
from simulator.world.facts.factbase import FactBase, Span
from simulator.world.facts.generate import generate_facts
from simulator.world.language.answer_program import Answer, ProgramError, evaluate
from simulator.world.language.conversations import make_sessions
from simulator.world.language.english import nouns_for, ordinal, plural_of, possessive, spoken_time
from simulator.world.language.questions.answer_wordings import say_answer


@pytest.fixture(scope="module")
def facts() -> FactBase:
    return generate_facts(11, 800)


def test_small_english() -> None:
    assert possessive("this book") == "this book's"
    assert possessive("these headphones") == "these headphones'"
    assert plural_of("butterfly") == "butterflies"
    assert plural_of("fish") == "fish"
    assert plural_of("headphones") == "pairs of headphones"
    assert plural_of("watch") == "watches"
    assert spoken_time("2031-04-03T18:00") == "6 pm"
    assert spoken_time("2031-04-03T08:05") == "8:05 am"
    assert {"kettle", "kettles"} <= set(nouns_for("kettle"))
    assert {"plant", "plants"} <= set(nouns_for("tree")) & set(nouns_for("houseplant"))


# -- the programs


@pytest.mark.parametrize(
    ("value", "word", "says"),
    [
        ("children and cats", "cat", True), ("children but not cats", "cats", False),
        ("not allowed", "allowed", False), ("not allowed", "not allowed", True),
        ("no palm oil", "palm", False), ("without flash", "flash", False),
        (("no palm oil", "vegan"), "vegan", True), ("no bare shoulders", "shoulders", False),
        ("no, rain is coming", "rain", True),
        ("cats but not children", "cat", True), ("cats, not dogs, and cats", "cats", True),
    ],
)  # fmt: skip
def test_a_word_that_is_denied_is_not_said(
    value: str | tuple[str, ...], word: str, says: bool
) -> None:
    """ "Is it ok with cats" was yes of dogs that suit "children but not cats"."""
    entity = Entity(id="dog-00000", name="Rex", domain="animal", kind="dog", popularity="head")
    facts = FactBase.from_facts(
        seed=1, window=("2031-04-01T00:00", "2031-04-04T00:00"), entities=[entity],
        facts=[Fact(entity_id="dog-00000", attribute="good_with", value=value)],
    )  # fmt: skip
    program = ["has", ["get", ["it", "dog-00000"], "good_with"], word]
    assert evaluate(program, facts, AT)[0].value is says


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ([], "not an expression"),
        ("get", "not an expression"),
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


AT = "2031-04-03T17:20"


@pytest.fixture(scope="module")
def shelf() -> FactBase:
    """Two cartons whose facts are known."""

    def spans(**values: object) -> dict[str, tuple[Span, ...]]:
        return {key: ((None, None, value),) for key, value in values.items()}  # type: ignore[misc]

    said = {
        "carton-00000": spans(
            price=4.5, offer="3 for the price of 2", diet="vegan", allergens=("nuts", "soya"),
            sugar=3.0, servings=6, contents=1000, maker="company-00000",
        ),
        "carton-00001": spans(
            price=4.0, offer="no offer", diet="vegetarian", allergens=("milk",), sugar=8.5,
            servings=4, contents=750, maker="company-00000",
        ),
        "shopfront-00000": spans(closes="18:00"),
        "poster-00000": spans(opens_on="2031-04-10"),
    }  # fmt: skip
    kinds = {**{i: i.rpartition("-")[0] for i in said}, "company-00000": "company"}
    return FactBase(
        seed=1,
        window=("2031-04-03T00:00", "2031-04-05T23:59"),
        entities=[
            Entity(id=i, name=f"Name {i}", domain="food", kind=kind, popularity="head")
            for i, kind in kinds.items()
        ],
        spans=said,
    )


IT, NEXT = ["it", "carton-00000"], ["it", "carton-00001"]
BOTH = ["these", "carton-00000", "carton-00001"]
KIN = ["sources", ["get", IT, "maker"], "maker", "carton"]


@pytest.mark.parametrize(
    ("program", "value"),
    [
        (["total", BOTH, "price"], 8.5),
        (["plus", ["get", IT, "price"], ["get", NEXT, "price"]], 8.5),
        (["minus", ["get", IT, "sugar"], ["get", NEXT, "sugar"]], 5.5),
        (["times", ["get", IT, "price"], 3], 13.5),
        (["over", ["get", IT, "price"], ["get", IT, "servings"]], 0.75),
        (["fits", 20, ["get", IT, "price"]], 4), (["deal", IT, 4], 13.5), (["deal", IT, 3], 9.0),
        (["deal", NEXT, 3], 12.0), (["most", BOTH, "price"], "carton-00000"),
        (["least", BOTH, "sugar"], "carton-00000"),
        (["where", BOTH, "price", ">", 4.2], ("carton-00000",)),
        (["where", BOTH, "allergens", "lacks", "milk"], ("carton-00000",)),
        (["where", BOTH, "servings", ">=", 6], ("carton-00000",)),
        (["where", BOTH, "servings", "<=", 4], ("carton-00001",)),
        (["at_least", ["get", IT, "servings"], 6], True),
        (["at_least", 3, ["get", IT, "servings"]], False),
        (["count", ["where", BOTH, "diet", "is", "vegan"]], 1),
        (["has", ["get", IT, "allergens"], "nut"], True),
        (["has", ["get", IT, "allergens"], "milk"], False),
        (["has", ["get", NEXT, "diet"], "vegan"], False),
        (["is", ["get", NEXT, "diet"], "vegetarian"], True),
        (["not", ["is", ["get", IT, "diet"], "vegan"]], False),
        (["all", ["is", ["get", IT, "diet"], "vegan"], ["above", 5, ["get", IT, "price"]]], True),
        (["above", ["get", ["it", "shopfront-00000"], "closes"], "17:40"], True),
        (["minutes_until", ["get", ["it", "shopfront-00000"], "closes"]], 40),
        (["days_until", ["get", ["it", "poster-00000"], "opens_on"]], 7),
        (["weekday", ["get", ["it", "poster-00000"], "opens_on"]], "Thursday"),
        (["in_unit", ["get", IT, "contents"], "oz"], 35.3),
        (["without", KIN, IT], ("carton-00001",)), (["count", KIN], 2),
        (["same", IT, NEXT], False), (["same", ["get", IT, "diet"], "Vegan"], True),
        (["either", ["above", ["get", IT, "price"], 4.2], NEXT, IT], "carton-00001"),
        (["premise", IT, "diet", "vegan", ["get", IT, "price"]], 4.5)
    ]
)  # fmt: skip
def test_programs_compute(shelf: FactBase, program: list[object], value: object) -> None:
    assert evaluate(program, shelf, AT)[0].value == value


@pytest.mark.parametrize(
    "program",
    [
        ["where", BOTH, "diet", "is", "kosher"],
        ["minutes_until", ["get", ["it", "shopfront-00000"], "closes"]],
        ["days_until", ["get", ["it", "poster-00000"], "opens_on"]],
        ["fits", 2, ["get", IT, "price"]],
        ["above", ["get", IT, "price"], 4.5],
    ],
)
def test_what_has_no_answer_now_is_an_error(shelf: FactBase, program: list[object]) -> None:
    with pytest.raises(ProgramError):
        evaluate(program, shelf, "2031-05-03T19:00")


def test_a_false_premise_is_answered_with_what_holds(shelf: FactBase) -> None:
    premise = ["premise", IT, "diet", "not vegetarian", ["get", IT, "price"]]
    answer, _ = evaluate(premise, shelf, AT)
    text, accept = say_answer(answer, shelf)
    assert text == "No, it's vegan, not not vegetarian."
    assert all("vegan" in said for said in accept)


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
    assert len({r.strategy for r in rows}) == 10
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
