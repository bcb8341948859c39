"""A person as wearer is under the patience, the costs and the ends of the simulated one."""

from __future__ import annotations

import pytest
from small_talks import FakeLooks, agenda, agendas, facts, heard, talk_of, wearers

from mmrag.errors import UsageError
from mmrag.metrics.scoring_protocols import two_strikes
from mmrag.records import Outcome, Session
from simulator.wearer.goals import gives_away, goal_in_words
from simulator.wearer.human_wearer import PersonTalk, resume_talk
from simulator.wearer.wearer_view import sight_of
from simulator.world.build.randomness import Draw

RIGHT, MISSING, WRONG = Outcome.PERFECT, Outcome.MISSING, Outcome.INCORRECT


def person_of(session: Session, condition: str = "clean") -> PersonTalk:
    return wearers(FakeLooks()).talk(session, condition, stop=two_strikes, seed=0, kind=PersonTalk)


def answer(talk: PersonTalk, text: str, outcome: Outcome, ask: str | None = None) -> None:
    talk.hear(heard(talk, text, outcome, ask))


@pytest.mark.parametrize("condition", ["clean", "low-light@3"])
def test_who_says_what_the_program_says_pays_what_it_pays(condition: str) -> None:
    moves = set[str]()
    for number, session in enumerate(agendas()):
        program, person = talk_of(session, condition=condition), person_of(session, condition)
        for turn in range(40):
            if program.over:
                break
            said = program.turn
            person.put(said.query, said.wearer.look, said.capture)
            alike = "again" if said.wearer.move == "repeat" else said.wearer.move
            assert person.turn.wearer.move == alike
            assert person.turn.wearer.patience == said.wearer.patience
            draw = Draw(number, "reply", turn)
            outcome = draw.pick((RIGHT, MISSING, MISSING, WRONG))
            ask = draw.pick((None, "which", "look", "again")) if outcome is MISSING else None
            reply = heard(program, "something", outcome, ask)
            move = program.hear(reply)
            capture = FakeLooks().take(session, move.look) if move and move.look else None
            person.hear(reply)
            if not program.say(move, capture) and person.can_let_be:
                person.let_be()  # a word against the answer, which the program had no reason for
            moves.add(program.turn.wearer.move)
        assert (person.over, person.patience) == (program.over, program.patience)
        assert (person.seconds, person.goal) == (program.seconds, program.goal)
    assert {"ask", "again", "look", "cannot", "press", "point"} <= moves


def test_a_right_answer_ends_a_goal_and_silence_may_be_asked_about_once() -> None:
    talk = person_of(agenda(lambda s: len(s.turns) > 2))
    assert (talk.may, talk.ways, talk.can_let_be) == (("ask",), (), False)
    talk.put("what is it")
    assert talk.may == ()
    answer(talk, "that", RIGHT)
    assert (talk.goal, talk.may) == (1, ("ask",))
    before = talk.patience
    talk.put("and this")
    answer(talk, "I don't know", MISSING)
    assert talk.may == ("again",)
    assert talk.cost() == 1
    talk.put("please")
    assert talk.patience == before - 1
    answer(talk, "I don't know", MISSING)
    assert talk.goal == 2


def test_a_look_is_for_who_was_asked_or_told_nothing_and_each_way_once() -> None:
    talk = person_of(agendas()[0], "low-light@3")
    talk.put("what is it")
    answer(talk, "Closer?", MISSING, "look")
    assert talk.ways == ("brighter", "closer", "other side")
    with pytest.raises(UsageError, match="No picture can be taken 'brighter'"):
        talk.put("here", "brighter", None)
    talk.put("here", "brighter", FakeLooks().take(talk.agenda, "brighter"))
    answer(talk, "Closer?", MISSING, "look")
    assert "brighter" not in talk.ways
    talk.put("I cannot")
    assert talk.turn.wearer.move == "cannot"
    answer(talk, "Which?", MISSING, "which")
    assert (talk.may, talk.ways) == (("press",), ())


def test_what_was_said_is_brought_back_wherever_it_stood() -> None:
    session = agendas()[0]
    for end in ("open", "let be", "left", "begun"):
        talk, results = person_of(session), []
        for text, outcome in (("a", RIGHT), ("b", MISSING), ("c", RIGHT), ("d", WRONG)):
            talk.put(text)
            results.append(heard(talk, "so", outcome))
            talk.hear(results[-1])
        talk = resume_talk(person_of(session), talk.session(session, "told"), results)
        if end == "let be" and talk.can_let_be:
            talk.let_be()
        if end == "left":
            talk.leave()
        if end == "begun":
            talk, results = person_of(session), []
        held = talk.session(session, "told")
        again = resume_talk(person_of(session), held, results)
        assert again.session(session, "told") == held
        assert (again.may, again.over) == (talk.may, talk.over)
        assert len({turn.id for turn in held.turns}) == len(held.turns)


def test_goals_are_told_in_words_that_hold_no_answer() -> None:
    own, count = 0, 0
    for session in agendas():
        sight = sight_of(session, facts())
        for goal, turn in enumerate(session.turns):
            words = goal_in_words(session, goal, sight)
            count += 1
            own += words != turn.query
            assert words == turn.query or not gives_away(words, session)
    assert own > 0.98 * count
    session = agendas()[0]
    told = [goal_in_words(session, n, sight_of(session, facts())) for n in range(3)]
    assert (told[0], told[1]) == (
        "The recall of the clock that is second from the left.",
        "The most common complaint of the clock that is second from the left.",
    )
    assert goal_in_words(session, 0, sight_of(session)) == session.turns[0].query


def test_what_a_goal_before_was_about_is_not_called_by_the_name_that_it_asked_for() -> None:
    """The assistant may not have told it, and to read it on a card would be to be told."""
    session = agenda(lambda session: session.extra["subject"].startswith("coin"))
    words = goal_in_words(session, 1, sight_of(session, facts()))
    assert words == "The catalogue value of the coin that is second from the left."
