"""What a live wearer says, by the table of docs/wearer.md."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from msgspec.structs import replace
from small_talks import agenda, agendas, facts, heard, talk_of, tell, with_turns

from mmrag.agents.grounded.look_requests import split_repeated_query
from mmrag.metrics.scoring_protocols import strike_rule
from mmrag.records import (
    ASKS,
    Capture,
    Exchange,
    Heard,
    Outcome,
    Query,
    Reference,
    Session,
    Status,
    Turn,
    TurnResult,
)  # fmt: skip
from simulator.ears.recognition_losses import unheard_words
from simulator.wearer.moves import COSTS, answer_for_other, things_asked_about
from simulator.wearer.talk import Talk, TalkBounds
from simulator.wearer.waiting import WORD
from simulator.wearer.wearer_view import sight_of
from simulator.wearer.wordings import other_wordings
from simulator.world.language.english import noun_of, plural_of

RIGHT, MISSING, WRONG = Outcome.PERFECT, Outcome.MISSING, Outcome.INCORRECT


def about_main(session: Session) -> bool:
    """Its first question is about the main thing, has no options, and can be put otherwise."""
    turn = session.turns[0]
    program = turn.extra["program"]
    plain = program[0] == "get" and program[1] == ["it", session.extra["subject"]]
    return plain and not turn.extra["choice"] and bool(other_wordings(turn))


def test_who_is_answered_goes_through_the_agenda() -> None:
    session = agendas()[0]
    talk = talk_of(session)
    said = [talk.turn.query]
    while tell(talk, "right", RIGHT):
        said.append(talk.turn.query)
    assert (said, talk.over) == ([turn.query for turn in session.turns], "done")
    assert [turn.wearer.goal for turn in talk.turns] == list(range(len(session.turns)))


def test_who_gets_nothing_asks_once_more_in_other_words_and_then_lets_it_be() -> None:
    talk = talk_of(agenda(about_main))
    before = talk.patience
    assert tell(talk, "I don't know", MISSING) == "again"
    question = talk.turn.query
    assert question != talk.agenda.turns[0].query
    ways = other_wordings(talk.agenda.turns[0])
    assert any(question.endswith(way) for way in ways)
    assert not any(talk.agenda.turns[0].query.endswith(way) for way in ways)
    assert talk.patience == before - COSTS["again"]
    assert (tell(talk, "I don't know", MISSING), talk.turn.wearer.goal) == ("ask", 1)


def test_two_goals_that_fail_in_a_row_end_it_as_the_published_rule_has_it() -> None:
    talk = talk_of(agendas()[0])
    assert tell(talk, "wrong", WRONG) == "ask"
    assert (tell(talk, "wrong", WRONG), talk.over) == ("", "failures")
    assert len(talk.unreached()) == len(talk.agenda.turns) - 2
    more = talk_of(agendas()[0], stop=strike_rule(3))
    tell(more, "wrong", WRONG)
    assert tell(more, "wrong", WRONG) == "ask"


def test_who_asks_which_is_pointed_at_the_thing_and_told_no_name() -> None:
    session = agenda(lambda s: about_main(s) and len(s.extra["visible"]) > 1)
    talk = talk_of(session)
    before = talk.patience
    assert tell(talk, "Which one?", MISSING, "which") == "point"
    name = facts().entity(session.extra["subject"]).name
    assert name not in talk.turn.query
    assert talk.turn.query.endswith(session.turns[0].query)
    assert talk.patience == before
    kinds = [claim[0] for claim in talk.turn.wearer.claims]
    assert kinds[:2] == ["asks", "noun"]
    assert "place" in kinds


def test_a_name_that_is_asked_for_is_never_read_out() -> None:
    """The wearer reads the print to point at a thing, but not where it is the answer."""
    asked = [
        (session, turn)
        for session in agendas()
        for turn in session.turns
        if turn.extra["program"][0] in ("it", "printed") and session.extra["texts"]
    ]
    assert asked
    for session, turn in asked:
        one = with_turns(session, turn.index + 1)
        talk = talk_of(one)
        while talk.turn.wearer.goal < turn.index:
            tell(talk, "right", RIGHT)
        tell(talk, "Which one?", MISSING, "which")
        beside = talk.turn.query.removesuffix(turn.query)
        assert not any(text in beside for text in turn.reference.all_texts), talk.turn.query


def test_who_answers_about_the_neighbour_is_corrected_once() -> None:
    for session in agendas():
        sight = sight_of(session, facts())
        turn, subject = session.turns[0], session.extra["subject"]
        others = [thing.id for thing in sight.things[1:]]
        if not about_main(session) or not others:
            continue
        wrong = sorted(answer_for_other(turn, sight, subject, others[0]))
        if wrong:
            break
    else:
        pytest.fail("no session of the mini world has such a neighbour")
    talk = talk_of(session)
    assert tell(talk, wrong[0], WRONG) == "correct"
    assert ("answers", others[0]) in talk.turn.wearer.claims
    assert tell(talk, wrong[0], WRONG) == "ask"
    assert tell(talk_of(session), "no such thing", WRONG) == "ask"


def asked_for_a_name(*, printed: bool) -> tuple[Talk, str]:
    """A talk in which the main thing's name is asked for, and its id; it may be printed there."""
    for session in agendas():
        for turn in session.turns:
            subject, program = session.extra["subject"], turn.extra["program"]
            if program == ["it", subject]:
                texts = [[turn.reference.text, [0, 0, 9, 9]]] if printed else []
                seen = replace(session, extra={**session.extra, "texts": texts})
                talk = talk_of(with_turns(seen, turn.index + 1))
                while talk.turn.wearer.goal < turn.index:
                    tell(talk, "right", RIGHT)
                return talk, subject
    pytest.fail("nobody in the mini world asks for a name")


def test_a_name_that_the_print_belies_is_objected_to() -> None:
    talk, subject = asked_for_a_name(printed=True)
    alike = facts().of_kind(facts().entity(subject).kind)
    other = next(e for e in alike if e.id not in talk.agenda.extra["visible"])
    assert tell(talk, f"It's {other.name}.", WRONG) == "object"
    assert {("named", other.id), ("unprinted", subject)} <= set(talk.turn.wearer.claims)


def test_a_name_of_another_kind_of_thing_is_objected_to() -> None:
    talk, subject = asked_for_a_name(printed=False)
    kind = facts().entity(subject).kind
    other = next(
        e for e in facts().entities.values()
        if e.look and e.kind != kind and noun_of(e.kind) in e.name.casefold()
    )  # fmt: skip
    assert tell(talk, other.name, WRONG) == "object"
    assert ("noun", subject, noun_of(kind)) in talk.turn.wearer.claims
    assert noun_of(kind) in talk.turn.query


def test_a_yes_or_no_is_never_corrected() -> None:
    session = agenda(lambda s: s.turns[0].extra["choice"] == ["Yes", "No"])
    wrong = {"Yes": "No", "No": "Yes"}[session.turns[0].reference.text]
    assert tell(talk_of(session), wrong, WRONG) == "ask"


@pytest.mark.parametrize(
    ("condition", "first"),
    [("low-light@3", "brighter"), ("blurred:motion@2", "steady"), ("truncated@5", "whole"),
     ("occluded@1", "uncovered"), ("rotated@3", "level"), ("clean", "closer"),
     ("out-of-focus@2", "steady")],
)  # fmt: skip
def test_a_look_undoes_what_was_done_and_then_goes_closer(condition: str, first: str) -> None:
    looked: list[str] = []
    for session in agendas()[:20]:
        talk = talk_of(session, condition=condition)
        while tell(talk, "May I see it better?", MISSING, "look", session.capture) == "look":
            looked.append(talk.turn.wearer.look)
        if looked:
            break
    assert looked[0] == first
    assert looked[1:2] in ([], ["closer" if first != "closer" else "other side"])


def test_a_look_that_brings_nothing_is_said_to_bring_nothing() -> None:
    for session in agendas():
        talk = talk_of(session)
        move = talk.hear(heard(talk, "Closer?", MISSING, "look"))
        if move is not None and move.look:
            break
    before = talk.patience
    talk.say(move, None)
    assert (talk.turn.wearer.move, talk.turn.capture, talk.patience) == ("cannot", None, before)
    assert talk.pictures == []


def test_a_fixed_share_cannot_look_and_it_is_always_the_same_ones() -> None:
    def cannot() -> list[str]:
        return [
            s.id for s in agendas()
            if tell(talk_of(s), "Closer?", MISSING, "look", s.capture) == "cannot"
        ]  # fmt: skip

    assert cannot() == cannot()
    assert 0 < len(cannot()) < len(agendas()) / 2


def test_at_the_third_request_the_wearer_presses_for_an_answer_and_then_gives_the_goal_up() -> None:
    talk = talk_of(agenda(about_main))
    moves = [tell(talk, "What?", MISSING, "again") for _ in range(4)]
    assert moves == ["again", "again", "press", "ask"]


def test_who_answers_and_asks_has_answered() -> None:
    talk = talk_of(agendas()[0])
    assert tell(talk, "right. Or did you mean another?", RIGHT, "which") == "ask"
    assert (tell(talk, "wrong", WRONG, "look"), talk.turn.wearer.goal) == ("ask", 2)


def test_patience_ends_a_conversation() -> None:
    ends = set()
    for session in agendas():
        talk = talk_of(session, bounds=TalkBounds(patience=(1, 1)))
        while tell(talk, "I don't know", MISSING):
            tell(talk, "right", RIGHT)
        ends.add(talk.over)
    assert "patience" in ends


def test_a_slow_assistant_costs_time_and_no_strike() -> None:
    talk = talk_of(agendas()[0])
    late = TurnResult(session_id="s", turn_index=0, status=Status.TIMEOUT)
    before = talk.seconds
    talk.say(talk.hear(late))
    said = 1 + WORD * len(talk.turn.query.split())  # a pause, then WORD seconds a word
    assert talk.seconds == pytest.approx(before + 10 + said, abs=0.1)
    assert talk.turn.wearer.goal == 1
    assert tell(talk, "wrong", WRONG) == "ask"


def test_time_runs_out() -> None:
    talk = talk_of(agendas()[0], bounds=TalkBounds(seconds=1))
    assert (tell(talk, "right", RIGHT), talk.over) == ("", "seconds")


@pytest.mark.parametrize("ask", [*ASKS, None])
@pytest.mark.parametrize("outcome", [RIGHT, MISSING, WRONG, Outcome.UNSCORED])
def test_no_conversation_is_endless(ask: str | None, outcome: Outcome) -> None:
    for session in agendas()[:15]:
        talk = talk_of(session, stop=strike_rule(10_000))
        for _ in range(200):
            if not tell(talk, "What?", outcome, ask, session.capture):
                break
        bounds = TalkBounds()
        assert talk.over
        assert len(talk.turns) <= bounds.turns_per_goal * len(session.turns)
        assert len(talk.pictures) <= bounds.pictures
        assert talk.patience >= 0


def test_data_that_says_nothing_of_its_pictures_has_a_wearer_who_repeats_and_cannot_look() -> None:
    turns = tuple(
        Turn(index=i, id=f"q{i}", query=f"what is {i}?", reference=Reference(text=f"no. {i}"))
        for i in range(3)
    )
    own = Session(id="own", turns=turns)
    talk = Talk(own, sight_of(own), stop=strike_rule(2), can_look=False)
    assert tell(talk, "Closer?", MISSING, "look") == "cannot"
    assert tell(talk, "Which?", MISSING, "which") == "repeat"
    assert talk.turn.query.endswith("what is 0?")
    assert tell(talk, "no. 0", RIGHT) == "ask"


def test_the_same_replies_give_the_same_wearer_and_another_seed_another() -> None:
    def words(seed: int) -> list[str]:
        talk = talk_of(agendas()[1], seed=seed)
        for ask in ("again", None, "which", None):
            tell(talk, "hm", MISSING if ask else RIGHT, ask)
        return [f"{t.query} {t.wearer.patience}" for t in talk.turns]

    assert words(3) == words(3)
    assert len({tuple(words(seed)) for seed in range(6)}) > 1


def test_a_truncated_picture_is_no_ground_to_say_where_a_thing_stands() -> None:
    session = agenda(lambda s: len(s.extra["visible"]) > 1)
    assert any(thing.place for thing in sight_of(session).things)
    cut = replace(
        session, capture=Capture(image=session.capture.image, degradation="truncated@3",
                                 polygon=session.capture.polygon)
    )  # fmt: skip
    assert not any(thing.place for thing in sight_of(cut).things)


def test_all_things_in_view_are_pointed_at_together() -> None:
    """Found by proving 600 conversations: of four pairs of headphones one pair was claimed."""
    asked = [
        (session, turn)
        for session in agendas()
        for turn in session.turns
        if '"these"' in json.dumps(turn.extra["program"])
        and len(turn.extra["visible"]) == len(session.extra["visible"]) > 1
    ]
    assert asked
    for session, turn in asked:
        talk = talk_of(session)
        while talk.turn.wearer.goal < turn.index:
            tell(talk, "right", RIGHT)
        assert tell(talk, "Which ones?", MISSING, "which") == "point"
        ids = session.extra["visible"]
        plural = plural_of(facts().entity(ids[0]).kind)
        assert talk.turn.wearer.claims[1:] == (("count", str(len(ids)), plural),)
        assert f"all {len(ids)} {plural} here" in talk.turn.query.casefold()


def test_a_world_without_pictures_has_things_in_view_all_the_same() -> None:
    """Found by proving a world of text: "it" was said of what is in view, and not "this kettle"."""
    session = agenda(about_main)
    extra = {
        k: v for k, v in session.extra.items() if k not in ("scene", "other_polygons", "texts")
    }
    bare = replace(session, capture=None, extra=extra)
    assert [thing.id for thing in sight_of(bare).things] == session.extra["visible"]
    talk = talk_of(bare)
    assert tell(talk, "Which?", MISSING, "which") == "point"
    assert [claim[0] for claim in talk.turn.wearer.claims] == ["asks", "noun"]


def test_a_silence_before_it_is_no_request() -> None:
    session = agenda(about_main)
    talk = talk_of(session, bounds=TalkBounds(patience=(9, 9)))
    assert tell(talk, "I don't know", MISSING) == "again"
    square = Capture(image=session.capture.image)
    assert tell(talk, "Closer?", MISSING, "look", square) in ("look", "cannot")
    assert tell(talk, "Closer?", MISSING, "look", square) in ("look", "cannot")
    assert tell(talk, "Closer?", MISSING, "look", square) == "press"


def test_nobody_goes_closer_to_the_main_thing_when_another_is_asked_about() -> None:
    several = [s for s in agendas() if len(s.extra["visible"]) > 1]
    assert several
    for session in several:
        main = session.extra["visible"][0]
        for turn in session.turns:
            talk = talk_of(replace(session, turns=(turn,)))
            things = things_asked_about(turn, sight_of(session, facts()))
            if "closer" in talk.looks():
                assert [thing.id for thing in things] == [main]


def test_who_has_gone_elsewhere_does_not_say_on_which_side_a_thing_stands() -> None:
    session = agenda(lambda s: about_main(s) and len(s.extra["visible"]) > 1)
    talk = talk_of(session, bounds=TalkBounds(patience=(9, 9)))
    if tell(talk, "Closer?", MISSING, "look", Capture(image=session.capture.image)) != "look":
        pytest.skip("this wearer cannot look")
    assert tell(talk, "Which one?", MISSING, "which") == "point"
    assert "place" not in [claim[0] for claim in talk.turn.wearer.claims]
    assert not any(side in talk.turn.query for side in ("left", "right", "middle"))


def misheard_talk(**more):
    session = agenda(lambda s: len(s.turns[0].query.split()) > 5 and not s.turns[0].extra["choice"])
    talk = talk_of(session)
    lost = unheard_words(talk.turn.query, "")[0]
    words = talk.turn.query.replace(lost, "mm")

    def result(text: str, outcome: Outcome, ask: str | None = None, said: str = words):
        return replace(heard(talk, text, outcome, ask), heard=Heard(text=said))

    return talk, lost, result


def test_a_lost_word_is_said_again_once() -> None:
    talk, lost, result = misheard_talk()
    talk.say(talk.hear(result("no idea", Outcome.MISSING)))
    assert talk.turn.wearer.move == "misheard"
    assert ("said", lost) in talk.turn.wearer.claims
    assert lost in talk.turn.query.removesuffix(talk.agenda.turns[0].query)
    again = talk.hear(result("no idea", Outcome.MISSING))
    assert again is None or again.name == "repeat"


def test_who_asks_for_it_again_gets_the_same_words() -> None:
    talk, _, result = misheard_talk()
    question = talk.turn.query
    talk.say(talk.hear(result("Sorry?", Outcome.MISSING, "again")))
    assert talk.turn.wearer.move == "repeat"
    assert talk.turn.query.endswith(question)


def test_nothing_is_misheard_where_all_words_came() -> None:
    talk, _, result = misheard_talk()
    talk.say(talk.hear(result("no idea", Outcome.MISSING, said=talk.turn.query.upper())))
    assert talk.turn.wearer.move in ("again", "repeat")


def test_a_right_answer_needs_no_correction() -> None:
    talk, _, result = misheard_talk()
    assert talk.hear(result("right", Outcome.PERFECT)) is None


# -- wordings


def turn(**extra: object) -> Turn:
    return Turn(
        index=0, id="t", query="How much is this?", reference=Reference(text="$4"), extra=extra
    )


def test_other_wordings_are_those_that_stand_beside_the_question() -> None:
    ways = ("What's this go for?", "How much is this?", "What's this go for?", "")
    assert other_wordings(turn(ways=ways)) == ("What's this go for?",)
    assert other_wordings(turn(ways=None)) == other_wordings(turn()) == ()


def test_no_question_of_the_mini_world_is_heard_as_the_one_before_it() -> None:
    pairs = [p for session in agendas() for p in pairwise(turn.query for turn in session.turns)]
    assert len(pairs) > 200
    for first, second in pairs:
        for may_ask in (True, False):
            history = (Exchange(query=first, reply="I don't know"),)
            heard = split_repeated_query(Query(text=second, history=history, may_ask=may_ask))
            assert (heard.query.text, len(heard.query.history)) == (second, 1)


def test_what_nobody_asks_live_is_taken_as_it_is() -> None:
    history = (Exchange(query="How old is it?", reply="I don't know"),)
    text = "In other words: what is its age?"
    assert split_repeated_query(Query(text=text, history=history)).query.text == text
    assert (
        split_repeated_query(Query(text=text, history=history, may_ask=True)).query.text
        == "what is its age?"
    )
