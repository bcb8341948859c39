"""Plans, conversations, their shares, and the re-derivation of every answer."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
import yaml
from plain_voice import plain, write_plain_voice

from mmrag.errors import DataError, UsageError
from mmrag.records import Turn
from simulator.world.checks.published_figures import (
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
from simulator.world.facts.domain_schema import Fact, raw_domains
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import generate_facts
from simulator.world.facts.look import LABELLED, MET_AT
from simulator.world.language.conversations import check_session, make_sessions
from simulator.world.language.question_tally import OPENINGS, SHARE_TOLERANCE
from simulator.world.language.questions.question_records import (
    NAMED,
    SETTLED_BY,
    Conversation,
    Question,
)
from simulator.world.language.session_plans import make_plan, quota
from simulator.world.language.voices.need_reader import Need
from simulator.world.language.voices.voice_reader import voice


@pytest.fixture(scope="module")
def facts() -> FactBase:
    return generate_facts(3, 1500)


@pytest.fixture(scope="module")
def sessions(facts: FactBase) -> list[Conversation]:
    return list(make_sessions(facts, [plain()], conversations=300, singles=990))


def wants() -> dict[str, tuple[Need, Need | None]]:
    """Every need of the plain voice, with the one that it follows."""
    found: dict[str, tuple[Need, Need | None]] = {}

    def walk(of: tuple[Need, ...], parent: Need | None) -> None:
        for want in of:
            found["/".join(want.id.split("/"))] = (want, parent)
            walk(want.then, want)

    for domain in raw_domains().values():
        for kind in domain["kinds"]:
            walk(voice(plain()).wants(kind), None)
    return {want.replace("/", "."): both for want, both in found.items()}


def shares(items: list[str]) -> dict[str, float]:
    return {k: n / len(items) for k, n in Counter(items).items()}


def of(sessions: list[Conversation], *, multi: bool) -> list[Question]:
    return [q for s in sessions if s.is_multi_turn == multi for q in s.questions]


def test_conversations_have_the_published_shape(sessions: list[Conversation]) -> None:
    multi = [s for s in sessions if s.is_multi_turn]
    lengths = [len(s.questions) for s in multi]
    assert (min(lengths), max(lengths)) == (2, 6)
    assert abs(sum(lengths) / len(multi) - MEAN_TURNS) <= 0.1
    domains = [len({q.domain for q in s.questions}) for s in multi]
    assert max(domains) == 2
    assert abs(sum(d > 1 for d in domains) / len(multi) - DOMAIN_SHIFT) <= 0.02
    first = shares([s.questions[0].domain for s in multi])
    for domain, n in MULTI_TURN.items():
        assert abs(first[domain] - n / sum(MULTI_TURN.values())) <= 0.02, domain


@pytest.mark.parametrize("multi", [True, False])
def test_questions_have_the_published_shares(sessions: list[Conversation], multi: bool) -> None:
    """Types are published for single questions; in conversations the errand comes first."""
    questions = of(sessions, multi=multi)
    near = 0.05 if multi else SHARE_TOLERANCE
    types = shares([q.query_type for q in questions])
    for name, n in TYPE_TOTALS.items():
        assert abs(types[name] - n / sum(TYPE_TOTALS.values())) <= near, name
    speeds = shares([q.dynamism for q in questions])
    for name, share in DYNAMISM.items():
        assert abs(speeds[name] - share) <= near, name
    assert abs(sum(q.popularity != "head" for q in questions) / len(questions) - TORSO_TAIL) <= 0.02
    assert abs(sum(q.external for q in questions) / len(questions) - EXTERNAL) <= near
    kg = [s.questions[0] for s in sessions if s.questions[0].source == "kg"]
    thirds = shares([q.popularity for q in kg])
    assert all(abs(share - 1 / 3) <= 0.02 for share in thirds.values())


def test_single_questions_fill_every_published_cell(sessions: list[Conversation]) -> None:
    cells = Counter((q.domain, q.query_type) for q in of(sessions, multi=False))
    for domain, row in SINGLE_TURN.items():
        for query_type, n in zip(TYPES, row, strict=True):
            assert abs(cells[domain, query_type] - n * 990 / 6462) <= 1.5, (domain, query_type)
    assert sum(SINGLE_TOTALS.values()) == 6462


def test_every_answer_is_re_derived_and_unique(
    facts: FactBase, sessions: list[Conversation]
) -> None:
    assert [p for s in sessions for p in check_session(s, facts)] == []


def test_a_mutated_fact_is_found() -> None:
    facts = generate_facts(3, 1)
    session = next(
        s
        for s in make_sessions(facts, [plain()], conversations=0, singles=60)
        if s.questions[0].template.split("/")[1] == "get"
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


def test_a_fresh_world_asks_the_same() -> None:
    def asked() -> bytes:
        facts = generate_facts(3, 1)
        return msgspec.json.encode([*make_sessions(facts, [plain()], conversations=6, singles=12)])

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
    assert several > 30


def test_a_conversation_is_one_errand_in_its_order(sessions: list[Conversation]) -> None:
    """Turns are left out, none is said before its time, and what leans stands right behind what it
    leans on."""
    known = wants()
    for session in (s for s in sessions if s.is_multi_turn):
        asked = [known[q.template.split("/")[2]] for q in session.questions]
        places = [want.id.rpartition("/")[2].split(".") for want, _ in asked]
        assert places[0][1] == "0"
        assert len({errand for errand, *_ in places}) == 1
        turns = [int(turn) for _, turn, *_ in places]
        assert turns == sorted(turns)
        for (before, _), (want, parent) in pairwise(asked):
            assert want.id != before.id
            assert parent is None or parent.id == before.id
        assert session.place in MET_AT[session.entity_id.rpartition("-")[0]]


def test_a_conversation_takes_place_where_its_errand_is_run(facts: FactBase) -> None:
    places = {
        errand.turns[0].id: errand.places
        for kind in MET_AT
        for errand in voice("elm").errands(kind)
    }
    narrow = 0
    for session in make_sessions(facts, ["elm"], conversations=40, singles=0):
        first = session.questions[0].template.split("/")[2].replace(".", "/", 2)
        assert session.place in places[first]
        narrow += len(places[first]) == 1
    assert narrow > 10


@pytest.mark.proof("time")
def test_turns_are_taken_back_where_none_can_follow(tmp_path: Path) -> None:
    """One way of nine can be asked to its end, over and over: tried anew from the first turn,
    five are found once in 81 times."""
    chain = {"type": "simple-knowledge", "say": ["and its weight"], "answer": "it.weight"}
    dead = {"type": "comparison", "say": ["is it taller"], "answer": "it.height < it.height"}
    over = {"say": ["and that"], "answer": "it.price", "then": [{**dead, "then": [dead]}]}
    for key in ("online", "rating", "height", "stock"):
        lost = [{**chain, **over, "say": [f"and {n}"]} for n in range(8)]
        chain = {**chain, "answer": f"it.{key}", "say": [f"and {key}"], "then": [*lost, chain]}
    folder = write_plain_voice(tmp_path / "dead")
    said = yaml.load((folder / "general.yaml").read_text(), Loader=yaml.CSafeLoader)
    first = {**chain, "say": ["how much is this"], "answer": "it.price", "then": [chain]}
    said["errands"] = [{"turns": [first]}]
    (folder / "general.yaml").write_text(msgspec.json.encode(said).decode())  # no aliases
    made = make_sessions(generate_facts(3, 1500), [str(folder)], conversations=16, singles=0)
    long = [
        s
        for s in made
        if s.questions[0].text.lower().startswith("how much is this") and len(s.questions) > 4
    ]
    assert long
    for session in long:
        words = " ".join(q.text.lower() for q in session.questions)
        assert "and stock" in words
        assert "and height" in words
        assert "and rating" in words


def test_later_turns_lean_on_the_conversation(sessions: list[Conversation]) -> None:
    questions = of(sessions, multi=True)
    first = [q for q in questions if q.index == 0]
    later = [q for q in questions if q.index > 0]
    assert not any(q.needs_history for q in first)
    assert all(q.needs_image for q in (*first, *of(sessions, multi=False)))
    assert any(q.needs_history for q in later)
    assert any(not q.needs_image for q in later)


def test_first_turns_are_not_all_about_names_and_neighbours(sessions: list[Conversation]) -> None:
    """Before they had shares of their own 37 of 100 asked for a name and 20 for the neighbour."""
    first = shares([q.query_type for q in of(sessions, multi=True) if not q.index])
    for name, share in OPENINGS.items():
        assert abs(first.get(name, 0) - share) <= 0.03, name
    multi = [s for s in sessions if s.is_multi_turn]
    assert sum(len(s.visible) > 1 for s in multi) <= 0.6 * len(multi)


def test_who_leaves_the_thing_for_another_domain_seldom_comes_back(
    sessions: list[Conversation],
) -> None:
    """ "How late is that shop open" broke into talks about a kettle, which then went on."""
    home = [[q.domain == s.domain for q in s.questions] for s in sessions if s.is_multi_turn]
    shifting = [of for of in home if not all(of)]
    back = sum(of[of.index(False) :].count(True) > 1 for of in shifting)
    assert len(shifting) > 100
    assert back <= 0.15 * len(shifting)


def test_nobody_asks_for_a_name_that_can_be_read(sessions: list[Conversation]) -> None:
    asked = 0
    for session in sessions:
        if session.entity_id.rpartition("-")[0] in LABELLED:
            for question in session.questions:
                if question.program[0] in ("it", "same") and question.means:
                    assert not session.text_clue, question.id
                    asked += 1
    assert asked > 10


def test_a_question_says_what_it_means_and_what_settles_it(sessions: list[Conversation]) -> None:
    for session in sessions:
        for question in session.questions:
            assert set(question.means) <= set(session.visible)
            assert bool(question.means) == bool(question.settled_by) == bool(question.could_mean)
            if question.means:
                assert question.settled_by in (*SETTLED_BY, NAMED)
                assert session.entity_id.rpartition("-")[0] in question.could_mean
            assert question.means or question.index
            assert question.text not in question.ways


def test_answers_are_not_given_away_by_earlier_turns(sessions: list[Conversation]) -> None:
    for session in sessions:
        said = ""
        for question in session.questions:
            if question.answer_kind == "entity" and not question.choice and question.index:
                assert question.answer not in said, question.id
            said += question.text + question.answer


def test_yes_and_no_and_true_and_false_come_out_alike(sessions: list[Conversation]) -> None:
    questions = [q for s in sessions for q in s.questions]
    yes = [q.answer == "Yes" for q in questions if q.choice == ("Yes", "No")]
    assert len(yes) > 200
    assert abs(sum(yes) / len(yes) - 0.5) < 0.04
    premises = [q.false_premise for q in questions if "/premise/" in q.template]
    assert len(premises) > 30
    assert abs(sum(premises) / len(premises) - 0.5) < 0.06


def test_no_slot_is_left_open(sessions: list[Conversation]) -> None:
    for question in [q for s in sessions for q in s.questions]:
        assert "{" not in question.text
        assert "  " not in question.text
        assert question.answer
    asked = [q.text.endswith("?") for s in sessions for q in s.questions]
    assert 0.85 <= sum(asked) / len(asked) <= 0.95  # people do not always sound like asking


@pytest.mark.proof("time")
def test_a_world_that_cannot_have_the_published_shares_is_refused(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / "short")
    for path in folder.glob("*.yaml"):
        said = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        if "errands" in said:
            said["errands"] = [e for e in said["errands"] if e["turns"][0]["type"] != "comparison"]
            for errand in said["errands"]:
                errand["turns"] = [n for n in errand["turns"] if n["type"] != "comparison"]
            path.write_text(yaml.dump(said, Dumper=yaml.CSafeDumper))
    facts = generate_facts(3, 1)
    with pytest.raises(DataError, match=r"^0 of .* are of the type comparison, and at least 9"):
        list(make_sessions(facts, [str(folder)], conversations=40, singles=0))
    with pytest.raises(DataError, match=r"no comparison can be had about .*write more needs"):
        list(make_sessions(facts, [str(folder)], conversations=0, singles=60))


def test_a_question_becomes_a_turn(sessions: list[Conversation]) -> None:
    question = sessions[0].questions[1]
    turn = question.turn(evidence=("page-1",), grounding={"page-1": "answers"})
    assert isinstance(turn, Turn)
    assert turn.reference.all_texts == (question.answer, *question.accept)
    assert turn.extra["program"] == question.program
    assert msgspec.json.decode(msgspec.json.encode(question), type=Question) == question


def test_quotas_add_up() -> None:
    assert quota({"a": 1, "b": 1, "c": 1}, 10) in (
        {"a": 4, "b": 3, "c": 3}, {"a": 3, "b": 4, "c": 3}, {"a": 3, "b": 3, "c": 4}
    )  # fmt: skip
    assert quota({"a": 0.1, "b": 0.9}, 0) == {"a": 0, "b": 0}


@pytest.mark.parametrize(("n", "m"), [(0, 0), (-1, 5), (5, -1)])
def test_an_empty_plan_is_refused(n: int, m: int) -> None:
    with pytest.raises(UsageError, match="at least one session"):
        make_plan(1, n, m)


def test_the_smallest_worlds_can_be_asked() -> None:
    for seed in (1, 2):
        small = generate_facts(seed, 1)
        made = list(make_sessions(small, [plain()], conversations=8, singles=20))
        assert len(made) == 28
        assert [p for s in made for p in check_session(s, small)] == []


@pytest.mark.proof("time")
def test_a_follow_up_can_be_for_some_of_the_kinds(tmp_path: Path) -> None:
    """The check passed it, and conversations about the other kinds ended with a KeyError."""
    folder = write_plain_voice(tmp_path / "some")
    said = yaml.load((folder / "general.yaml").read_text(), Loader=yaml.CSafeLoader)
    boil = {"type": "simple-knowledge", "say": ["and how fast"], "answer": "it.boil"}
    more = [{"type": "simple-knowledge", "say": [f"and {key}"], "answer": f"it.{key}"}
            for key in ("price", "online", "rating", "height", "weight")]  # fmt: skip
    first = {"type": "simple-knowledge", "say": ["is this any good"], "answer": "it.test"}
    then = [{**boil, "kinds": ["kettle"]}]
    said["errands"] = [{"turns": [{**first, "then": then}, *more]}]
    (folder / "general.yaml").write_text(yaml.dump(said, Dumper=yaml.CSafeDumper))
    made = make_sessions(generate_facts(3, 1500), [str(folder)], conversations=60, singles=0)
    boiled = [s.entity_id.rpartition("-")[0] for s in made for q in s.questions if "fast" in q.text]
    assert set(boiled) == {"kettle"}
