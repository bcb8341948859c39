"""Plans, conversations, their shares, and the re-derivation of every answer."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import pytest
from plain_voice import plain
from simulator.world.language.questions.operations_by_attribute import hub_templates, templates

from mmrag.errors import UsageError
from mmrag.records import Turn
from simulator.world.checks.published import (
    DOMAIN_SHIFT,
    DYNAMISM,
    EXTERNAL,
    MEAN_TURNS,
    MULTI_TURN,
    SINGLE_TOTALS,
    SINGLE_TURN,
    TORSO_TAIL,
    TYPE_TOTALS,
    TYPES,
)
from simulator.world.facts.fact_records import Fact
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import generate_facts
from simulator.world.facts.look import LABELLED
from simulator.world.language.conversations import check_session, make_session, make_sessions
from simulator.world.language.questions.phrases import noun_of
from simulator.world.language.questions.question_records import Conversation, Question
from simulator.world.language.session_plans import make_plan, quota


@pytest.fixture(scope="module")
def facts() -> FactBase:
    return generate_facts(3, 13_920)


@pytest.fixture(scope="module")
def sessions(facts: FactBase) -> list[Conversation]:
    return list(make_sessions(facts, [plain()], conversations=978, singles=3231))


def shares(items: list[str]) -> dict[str, float]:
    return {k: n / len(items) for k, n in Counter(items).items()}


def of(sessions: list[Conversation], *, multi: bool) -> list[Question]:
    return [q for s in sessions if s.is_multi_turn == multi for q in s.questions]


def test_conversations_have_the_published_shape(sessions: list[Conversation]) -> None:
    multi = [s for s in sessions if s.is_multi_turn]
    lengths = [len(s.questions) for s in multi]
    assert min(lengths) == 2
    assert max(lengths) == 6
    assert abs(sum(lengths) / len(multi) - MEAN_TURNS) <= 0.1
    domains = [len({q.domain for q in s.questions}) for s in multi]
    assert max(domains) == 3
    assert abs(sum(d > 1 for d in domains) / len(multi) - DOMAIN_SHIFT) <= 0.02
    first = shares([s.questions[0].domain for s in multi])
    for domain, n in MULTI_TURN.items():
        assert abs(first[domain] - n / sum(MULTI_TURN.values())) <= 0.02, domain


@pytest.mark.parametrize("multi", [True, False])
def test_questions_have_the_published_shares(sessions: list[Conversation], multi: bool) -> None:
    questions = of(sessions, multi=multi)
    types = shares([q.query_type for q in questions])
    for name, n in TYPE_TOTALS.items():
        assert abs(types[name] - n / sum(TYPE_TOTALS.values())) <= 0.02, name
    speeds = shares([q.dynamism for q in questions])
    for name, share in DYNAMISM.items():
        assert abs(speeds[name] - share) <= 0.02, name
    assert abs(sum(q.popularity != "head" for q in questions) / len(questions) - TORSO_TAIL) <= 0.02
    assert abs(sum(q.external for q in questions) / len(questions) - EXTERNAL) <= 0.02
    kg = [s.questions[0] for s in sessions if s.questions[0].source == "kg"]
    thirds = shares([q.popularity for q in kg])
    assert all(abs(share - 1 / 3) <= 0.02 for share in thirds.values())


def test_single_questions_fill_every_published_cell(sessions: list[Conversation]) -> None:
    cells = Counter((q.domain, q.query_type) for q in of(sessions, multi=False))
    for domain, row in SINGLE_TURN.items():
        for query_type, n in zip(TYPES, row, strict=True):
            assert abs(cells[domain, query_type] - n / 2) <= 1.5, (domain, query_type)
    assert sum(SINGLE_TOTALS.values()) == 6462


def test_every_answer_is_re_derived_and_unique(
    facts: FactBase, sessions: list[Conversation]
) -> None:
    assert [p for s in sessions for p in check_session(s, facts)] == []


def test_a_mutated_fact_is_found() -> None:
    facts = generate_facts(3, 400)
    session = next(
        s
        for s in make_sessions(facts, [plain()], conversations=60, singles=60)
        if s.questions[0].template.split("/")[1] == "attribute"
        and isinstance(
            facts.value(s.entity_id, s.questions[0].needs[0].attribute, s.query_time), int
        )
    )
    need = session.questions[0].needs[0]
    mutated = [
        Fact(entity_id=f.entity_id, attribute=f.attribute, value=f.value + 1000,  # type: ignore[operator]
             valid_from=f.valid_from, valid_to=f.valid_to)
        if (f.entity_id, f.attribute) == (need.entity_id, need.attribute)
        else f
        for f in facts.facts()
    ]  # fmt: skip
    broken = FactBase.from_facts(
        seed=facts.seed, window=facts.window, entities=facts.entities.values(), facts=mutated
    )
    assert check_session(session, facts) == []
    assert any("the facts say" in p for p in check_session(session, broken))


def test_every_kind_of_answer_depends_on_its_facts(
    facts: FactBase, sessions: list[Conversation]
) -> None:
    """Every question that needs outside facts says which; the others have none to name."""
    for question in [q for s in sessions for q in s.questions]:
        if question.external:
            assert question.needs, question.id
        for need in question.needs:
            facts.fact(need.entity_id, need.attribute, need.at)
            assert need.entity_id in question.entities


def test_sessions_do_not_depend_on_order(facts: FactBase, sessions: list[Conversation]) -> None:
    plans = make_plan(facts.seed, 978, 3231)
    by_id = {s.id: s for s in sessions}
    for plan in plans[::-97]:
        assert make_session(plan, facts, [plain()]) == by_id[plan.id]


def test_a_fresh_world_asks_the_same() -> None:
    def asked() -> bytes:
        facts = generate_facts(3, 800)
        return msgspec.json.encode([*make_sessions(facts, [plain()], conversations=40, singles=60)])

    assert asked() == asked()


def test_pictures_hold_what_their_questions_show(
    facts: FactBase, sessions: list[Conversation]
) -> None:
    several = 0
    for session in sessions:
        kinds = {facts.entity(i).kind for i in session.visible}
        assert len(kinds) == 1
        assert len(set(session.visible)) == len(session.visible) <= 4
        for question in session.questions:
            assert set(question.visible) <= set(session.visible)
            if len(question.visible) > 1:
                assert set(question.visible) == set(session.visible), "one picture per session"
                several += 1
        if session.text_clue:
            look = facts.entity(session.entity_id).look
            assert look is not None
            assert look.label
    assert several > 100


def test_later_turns_lean_on_the_conversation(sessions: list[Conversation]) -> None:
    questions = of(sessions, multi=True)
    first = [q for q in questions if q.index == 0]
    later = [q for q in questions if q.index > 0]
    assert not any(q.needs_history for q in first)
    assert all(q.needs_image for q in first)
    assert 0.15 < sum(q.needs_history for q in later) / len(later) < 0.6
    assert 0.2 < sum(not q.needs_image for q in later) / len(later) < 0.7
    assert all(q.needs_image and not q.needs_history for q in of(sessions, multi=False))
    openings = ("and ", "what about", "how about")
    assert any(q.text.casefold().startswith(openings) for q in later if q.needs_history)


def test_that_thing_is_the_last_of_its_kind(facts: FactBase, sessions: list[Conversation]) -> None:
    """ "that town" means the town that came up last, or it is called by its name."""
    pointed = named = 0
    for session in sessions:
        last: dict[str, str] = {}
        for question in session.questions:
            subject = facts.entity(question.entity_id)
            noun = noun_of(subject.kind)
            if question.entity_id != session.entity_id:
                if subject.name in question.text:
                    named += 1
                elif f"that {noun}" in question.text:
                    assert last[noun] == subject.id, question.id
                    pointed += 1
            last[noun] = subject.id
            read = [facts.entity(i) for i in question.entities]
            last |= {noun_of(e.kind): e.id for e in read if e.name in question.text}
            found = facts.find(question.answer)
            last |= {noun_of(e.kind): e.id for e in found}
    assert pointed > 100
    assert named > 20


def test_answers_are_not_given_away_by_earlier_turns(sessions: list[Conversation]) -> None:
    for session in sessions:
        said = ""
        for question in session.questions:
            if question.answer_kind == "entity" and not question.choice and question.index:
                assert question.answer not in said, question.id
            said += question.text + question.answer


def test_either_or_questions_are_balanced(sessions: list[Conversation]) -> None:
    questions = [q for s in sessions for q in s.questions]
    yes = [q.answer == "Yes" for q in questions if q.choice == ("Yes", "No")]
    assert len(yes) > 300
    assert abs(sum(yes) / len(yes) - 0.5) < 0.02
    named = [q.answer == q.choice[-1] for q in questions if "{x}" in q.choice]
    assert abs(sum(named) / len(named) - 0.5) < 0.02
    premises = [q.false_premise for q in questions if "/premise/" in q.template]
    assert abs(sum(premises) / len(premises) - 0.5) < 0.03


def test_no_slot_is_left_open(sessions: list[Conversation]) -> None:
    for question in [q for s in sessions for q in s.questions]:
        assert "{" not in question.text
        assert "  " not in question.text
        assert question.answer
    asked = [q.text.endswith("?") for s in sessions for q in s.questions]
    assert 0.85 <= sum(asked) / len(asked) <= 0.95  # people do not always sound like asking


def test_print_is_asked_for_where_there_is_some(
    facts: FactBase, sessions: list[Conversation]
) -> None:
    """Only of kinds that carry it, in pictures that let it be read, and of the main thing alone."""
    legible = {t.id: t.legible for t in (*templates(), *hub_templates())}
    asked = [(s, q) for s in sessions for q in s.questions if legible[q.template]]
    assert len(asked) > 200
    for session, question in asked:
        assert facts.entity(session.entity_id).kind in LABELLED, question.id
        assert session.text_clue, question.id
        assert question.entity_id == session.entity_id, question.id
        assert question.visible == (session.entity_id,), question.id
    clues = {facts.entity(s.entity_id).kind for s in sessions if s.text_clue}
    assert clues <= LABELLED


def test_nobody_asks_about_arriving_in_the_past(sessions: list[Conversation]) -> None:
    asked = [q for s in sessions for q in s.questions if q.template.split("/")[1] == "in-time"]
    assert asked
    for question in asked:
        found = re.search(r"\d\d:\d\d", question.text)
        assert found
        assert found.group() > question.at[11:16]


def test_a_question_becomes_a_turn(sessions: list[Conversation]) -> None:
    question = sessions[0].questions[1]
    turn = question.turn(evidence=("page-1",), grounding={"page-1": "answers"})
    assert isinstance(turn, Turn)
    assert turn.reference.all_texts == (question.answer, *question.accept)
    assert turn.extra["program"] == question.program
    assert msgspec.json.decode(msgspec.json.encode(question), type=Question) == question


def test_quotas_add_up() -> None:
    assert quota({"a": 1, "b": 1, "c": 1}, 10) in (
        {"a": 4, "b": 3, "c": 3},
        {"a": 3, "b": 4, "c": 3},
        {"a": 3, "b": 3, "c": 4},
    )
    assert quota({"a": 0.1, "b": 0.9}, 0) == {"a": 0, "b": 0}


@pytest.mark.parametrize(("n", "m"), [(0, 0), (-1, 5), (5, -1)])
def test_an_empty_plan_is_refused(n: int, m: int) -> None:
    with pytest.raises(UsageError, match="at least one session"):
        make_plan(1, n, m)


def test_the_smallest_worlds_can_be_asked(facts: FactBase) -> None:
    for seed in (1, 2):
        small = generate_facts(seed, 1)
        made = list(make_sessions(small, [plain()], conversations=60, singles=150))
        assert len(made) == 210
        assert [p for s in made for p in check_session(s, small)] == []
