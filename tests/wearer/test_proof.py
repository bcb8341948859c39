"""A proof finds what is not so: each kind of claim, made false."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from small_talks import FakeLooks, agenda, agendas, coloured, facts, heard, talk_of, tell, wearers

from mmrag.metrics.scoring_protocols import two_strikes
from mmrag.records import Outcome, Reference, Session, Turn, TurnResult, Utterance
from simulator.wearer.proof import prove
from simulator.wearer.talk import Talk
from simulator.wearer.wearer_view import sight_of

MISSING = Outcome.MISSING


def told(session: Session, *asks: str | None) -> tuple[Talk, list[TurnResult], Session]:
    talk, results, looks = talk_of(session), list[TurnResult](), FakeLooks()
    for ask in asks:
        result = heard(talk, "Hm?", MISSING, ask)
        move = talk.hear(result)
        capture = looks.take(session, move.look) if move and move.look else None
        results.append(replace(result, step=talk.say(move, capture)))
        if talk.over:
            break
    return talk, results, talk.session(session, "told")


def problems(session: Session, results: list[TurnResult], held: Session) -> list[str]:
    fresh = wearers(FakeLooks()).talk(session, "clean", stop=two_strikes, seed=0)
    return prove(fresh, sight_of(session, facts()), held, results).problems


def several(session: Session) -> bool:
    turn = session.turns[0]
    program = turn.extra["program"]
    return len(session.extra["visible"]) > 1 and program[0] == "get" and program[1][0] == "it"


def test_what_was_said_is_proved() -> None:
    for session in agendas()[:20]:
        for asks in (("which", "look"), ("again", None), ("look", "look", "look")):
            _, results, held = told(session, *asks)
            assert problems(session, results, held) == []


def test_a_goal_whose_answer_is_not_what_the_facts_say_is_found() -> None:
    session = agendas()[0]
    wrong = replace(session.turns[0], reference=Reference(text="nonsense"))
    changed = replace(session, turns=(wrong, *session.turns[1:]))
    _, results, held = told(changed, None)
    assert any("the facts say" in p for p in problems(changed, results, held))


@pytest.mark.parametrize(
    ("claim", "false"),
    [
        (("noun",), lambda c: ("noun", c[1], "aeroplane")),
        (("place",), lambda c: ("place", c[1], "7")), (("asks",), lambda c: ("asks", "5")),
        (("noun",), lambda c: ("named", c[1])), (("noun",), lambda c: ("colour", c[1], "blue")),
        (("noun",), lambda c: ("print", c[1], "SALE")), (("noun",), lambda c: ("answers", c[1])),
        (("noun",), lambda c: ("unprinted", c[1])),
        (("noun",), lambda c: ("count", "9", "kettles")),
        (("noun",), lambda c: ("picture", "closer")), (("noun",), lambda c: ("whatever",))
    ]
)  # fmt: skip
def test_every_kind_of_claim_can_be_found_false(claim: tuple[str], false) -> None:
    session = agenda(lambda s: several(s) and all(t.place for t in sight_of(s).things))
    _, results, held = told(session, "which")
    said = held.turns[1].wearer
    assert said.move == "point"
    claims = tuple(false(c) if c[0] == claim[0] else c for c in said.claims)
    assert claims != said.claims
    turns = (held.turns[0], replace(held.turns[1], wearer=replace(said, claims=claims)))
    found = problems(session, results, replace(held, turns=turns))
    assert any("which is not so" in p for p in found)


def test_a_colour_that_is_another_things_is_found() -> None:
    session = coloured()
    _, results, held = told(session, "which")
    assert problems(session, results, held) == []
    said = held.turns[1].wearer
    claims = tuple((*c[:2], "yellow") if c[0] == "colour" else c for c in said.claims)
    words = held.turns[1].query.replace("pink", "yellow")
    other = replace(held.turns[1], query=words, wearer=replace(said, claims=claims))
    found = problems(session, results, replace(held, turns=(held.turns[0], other)))
    claim = "claims ('colour', 'book-00015', 'yellow'), which is not so"
    assert any(claim in problem for problem in found)


def test_an_answer_that_slips_into_the_words_is_found() -> None:
    session = agenda(lambda s: several(s) and len(s.turns[0].reference.text) > 3)
    _, results, held = told(session, "again")
    slip = f"it's {session.turns[0].reference.text}, isn't it? {held.turns[1].query}"
    turns = (held.turns[0], replace(held.turns[1], query=slip))
    found = problems(session, results, replace(held, turns=turns))
    assert any("gives away" in p for p in found)


def test_a_turn_without_meaning_or_of_no_goal_is_found() -> None:
    session = agendas()[0]
    _, results, held = told(session, "again")
    for said in (None, Utterance(move="again", goal=99)):
        turns = (held.turns[0], replace(held.turns[1], wearer=said))
        found = problems(session, results, replace(held, turns=turns))
        assert any("does not say what the wearer meant" in p for p in found)


def test_a_turn_too_many_is_found() -> None:
    session = agendas()[0]
    talk, results, held = told(session, None)
    more = replace(held, turns=(*held.turns, talk.turn))
    assert any("turns, where" in p for p in problems(session, results, more))


def test_a_look_that_shows_the_same_picture_is_found() -> None:
    for session in agendas():
        talk = talk_of(session)
        result = heard(talk, "Closer?", MISSING, "look")
        move = talk.hear(result)
        if move is not None and move.look:
            break
    talk.say(move, session.capture)
    held = talk.session(session, "told")
    assert any("('picture', 'closer')" in p for p in problems(session, [result], held))


def test_positions_are_those_of_the_picture() -> None:
    """By the pixels of the shipped pictures, where two or more things stand side by side."""
    checked = 0
    for session in agendas():
        talk = talk_of(session)
        if tell(talk, "Which?", MISSING, "which") != "point":
            continue
        for claim in talk.turn.wearer.claims:
            if claim[0] != "place" or len(session.extra["visible"]) < 2:
                continue
            mine = session.extra["visible"].index(claim[1])
            outlines = [session.capture.polygon, *session.extra["other_polygons"]]
            sides = [sorted(x for x, _ in outline) for outline in outlines]
            middles = [xs[0] + xs[-1] for xs in sides]
            if claim[2] == "1":
                assert middles[mine] == min(middles)
            if claim[2] == "last":
                assert middles[mine] == max(middles)
            checked += 1
    assert checked > 5


@pytest.mark.parametrize("answer", ["right", "now", "once", "look"])
def test_words_of_every_conversation_give_nothing_away(answer: str) -> None:
    own = replace(
        agendas()[0],
        turns=tuple(
            Turn(id=f"t{n}", index=n, query="Which way?", reference=Reference(text=answer))
            for n in range(3)
        ),
        extra={},
    )
    for asks in (("look", "look", "look"), (None, None), ("which", "again")):
        _, results, held = told(own, *asks)
        assert problems(own, results, held) == []


def test_a_question_keeps_its_own_braces() -> None:
    text = "What does {noun} mean in {question}?"
    turn = Turn(id="t0", index=0, query=text, reference=Reference(text="a name"))
    own = replace(agendas()[0], turns=(turn,), extra={})
    talk, results, held = told(own, None)
    assert talk.turns[1].query.endswith(text)
    assert problems(own, results, held) == []
