"""What a wearer does about a reply: one rule for every case, and what it costs."""

from __future__ import annotations

from typing import NamedTuple

from mmrag.errors import DataError
from mmrag.records import Outcome, Reply, Turn
from simulator.wearer.sayings import Sayings
from simulator.wearer.wearer_view import Sight, ThingInView
from simulator.wearer.wordings import other_wordings
from simulator.world.facts.domain_schema import Entity
from simulator.world.language.answer_program import evaluate
from simulator.world.language.english import noun_of, plural_of
from simulator.world.language.questions.answer_wordings import say_answer

COSTS = {
    "again": 1, "repeat": 1, "correct": 1, "object": 1, "look": 1, "press": 1, "misheard": 1,
    "hello": 1, "interrupt": 1,
    "point": 0, "cannot": 0,
}  # fmt: skip
"""Move → patience that it takes. Pointing takes a turn's time only."""

REMEDIES = {
    "low-light": "brighter", "blurred": "steady", "out-of-focus": "steady",
    "truncated": "whole", "occluded": "uncovered", "rotated": "level",
}  # fmt: skip
"""What is wrong with a picture → how it is taken without that."""

Claims = tuple[tuple[str, ...], ...]


class Move(NamedTuple):
    """What the wearer is going to do."""

    name: str
    saying: str
    claims: Claims = ()
    questions: tuple[str, ...] = ()
    """Other words for the goal's question; empty: its own."""
    points_at: tuple[str, ...] = ()
    """Ids of the things in view that are pointed at."""
    noun: str = ""
    look: str = ""
    word: str = ""
    """That was not heard."""

    def failed(self) -> Move:
        """The look that brought no picture."""
        return Move("cannot", "cannot", (("asks", self.claims[0][1]),))


class Situation(NamedTuple):
    """Where a conversation stands when a reply was heard."""

    goal: int
    turn: Turn
    """The agenda's question that it is about."""
    sight: Sight
    moves: tuple[str, ...]
    """What was said about this goal since it was asked."""
    secrets: tuple[str, ...]
    """The answers of the agenda, folded: no word beside a question holds one."""
    look: str
    """How another picture can be taken; empty where none can."""
    is_pressed: bool
    """Whether the wearer has heard enough requests."""
    misheard: tuple[str, ...] = ()
    """Words of a spoken question that were not heard; the glasses show what was."""
    is_cut: bool = False
    """Whether the wearer talked over the reply."""


def open_moves(now: Situation, ask: str | None, heard: Outcome) -> tuple[str, ...]:
    """What a wearer may do about a reply that is no right answer and asks `ask` back; where there
    is nothing, no more is said of this goal.

    The program chooses among these by what it knows, a person by what they like.
    """
    if heard is Outcome.MISSING and ask is not None:
        if now.is_pressed:
            return () if "press" in now.moves else ("press",)
        if ask == "look":
            return ("look", "cannot")
        return (
            ("point",) if ask == "which" and things_asked_about(now.turn, now.sight) else ("again",)
        )
    if heard is Outcome.MISSING:
        return () if {"again", "repeat", "press"} & set(now.moves) else ("again",)
    if heard is not Outcome.INCORRECT or {"correct", "object"} & set(now.moves):
        return ()
    # of two options: to say "not that one" would tell the answer
    return () if now.turn.extra.get("choice") else ("correct", "object")


def choose_move(now: Situation, reply: Reply, heard: Outcome) -> Move | None:
    """What the program does about a reply that is no right answer; None: it lets the goal be."""
    may = open_moves(now, reply.ask, heard)
    asks: Claims = (("asks", str(now.goal)),)
    tells = heard is Outcome.INCORRECT and now.turn.extra.get("choice")
    if now.is_cut and "interrupt" not in now.moves and not tells:
        return Move("interrupt", "interrupt", asks)
    if may and now.misheard and "press" not in may and reply.ask not in ("look", "which"):
        return _misheard(now, reply, asks)
    if "press" in may:
        return Move("press", "press", asks)
    if "correct" in may:
        return _against(now, reply, asks)
    if "look" in may and now.look:
        return Move("look", f"look-{now.look}", (*asks, ("picture", now.look)), look=now.look)
    if "cannot" in may:
        return Move("cannot", "cannot", asks)
    if "point" in may:
        return _point("point", now, things_asked_about(now.turn, now.sight), asks)
    return _again(now, asks) if may else None


def _misheard(now: Situation, reply: Reply, asks: Claims) -> Move | None:
    """The question once more to who asks for it, the lost word to who went on without it."""
    if reply.ask == "again" or "misheard" in now.moves:
        return Move("repeat", "repeat", asks) if "repeat" not in now.moves else None
    word = now.misheard[0]
    return Move("misheard", "misheard", (*asks, ("said", word)), word=word)


def remedy(condition: str) -> str:
    """How a picture is taken again without what was done to it.

    >>> remedy("low-light@3"), remedy("clean")
    ('brighter', '')
    """
    kind = condition.replace("+", "@").replace(":", "@").partition("@")[0]
    return REMEDIES.get(kind, "")


def pointing_words(move: Move, sight: Sight, words: Sayings) -> str:
    """The words for the things in view that a move points at: what it claims, and no more."""
    said = {claim[0]: claim[-1] for claim in move.claims}
    things = [thing for thing in sight.things if thing.id in move.points_at]
    if len(things) > 1:
        return words.point_at_all(things[0].kind, len(things))
    count = len(sight.things)
    return words.point(
        things[0].kind,
        said.get("place", ""),
        count,
        print_=said.get("print", ""),
        colour=said.get("colour", ""),
    )


def _against(now: Situation, reply: Reply, asks: Claims) -> Move | None:
    """A word against a wrong answer, where the wearer can see that it is wrong."""
    turn, sight = now.turn, now.sight
    things = things_asked_about(turn, sight)
    if len(things) == 1 and (other := _meant_instead(turn, reply, sight, things[0])):
        return _point("correct", now, things, (*asks, ("answers", other)))
    return _objection(turn, reply, sight, asks)


def _again(now: Situation, asks: Claims) -> Move:
    """The question in other words; where there are none, the same words again."""
    if others := other_wordings(now.turn):
        return Move("again", "again", asks, others)
    return Move("repeat", "repeat", asks)


def _point(name: str, now: Situation, things: list[ThingInView], claims: Claims) -> Move:
    said: list[tuple[str, ...]] = []
    if len(things) > 1:
        said.append(("count", str(len(things)), plural_of(things[0].kind)))
    else:
        (thing,) = things
        said.append(("noun", thing.id, noun_of(thing.kind)))
        said += [("colour", thing.id, colour)] if (colour := _colour_of(now, thing)) else []
        said += [("place", thing.id, thing.place)] if thing.place else []
        said += [("print", thing.id, text)] if (text := _print_of(now, thing)) else []
    ids = tuple(thing.id for thing in things)
    return Move(name, name, (*claims, *said), points_at=ids)


def _print_of(now: Situation, thing: ThingInView) -> str:
    """What can be read on a thing and answers nothing that is asked."""
    free = (t for t in thing.prints if not any(_shares(t.casefold(), s) for s in now.secrets))
    return next(free, "")


def _colour_of(now: Situation, thing: ThingInView) -> str:
    """What colour a thing can be called by, where that answers nothing that is asked."""
    colour = now.sight.colour(thing)
    return "" if any(_shares(colour, secret) for secret in now.secrets) else colour


def _shares(text: str, secret: str) -> bool:
    return text in secret or secret in text


def about_main(turn: Turn, sight: Sight) -> bool:
    """Whether nothing in view but the main thing is asked about."""
    return len(sight.things) < 2 or things_asked_about(turn, sight) == [sight.things[0]]


def things_asked_about(turn: Turn, sight: Sight) -> list[ThingInView]:
    """The things in view that a question is about; none where it is about something else."""
    means = [str(name) for name in turn.extra.get("means") or ()]
    things = [thing for name in means if (thing := sight.thing(name))]
    if len(means) > 1:
        return things if len(things) == len(sight.things) else []
    return things


def _meant_instead(turn: Turn, reply: Reply, sight: Sight, meant: ThingInView) -> str:
    """Another thing in view for which the reply would be right, and not for the one meant."""
    said = _folded(reply.text)
    for thing in sight.things:
        if thing.id != meant.id and said in answer_for_other(turn, sight, meant.id, thing.id):
            return thing.id
    return ""


def answer_for_other(turn: Turn, sight: Sight, meant: str, other: str) -> set[str]:
    """What would be right, had the question been about another thing; folded."""
    if sight.facts is None:
        return set()
    program = _swapped(turn.extra.get("program"), meant, other)
    try:
        answer, _ = evaluate(program, sight.facts, sight.at)
        text, accept = say_answer(answer, sight.facts)
    except DataError:  # nobody asks that of the other one
        return set()
    return {_folded(t) for t in (text, *accept)} - {_folded(t) for t in turn.reference.all_texts}


def _swapped(node: object, meant: str, other: str) -> list[object]:
    if not isinstance(node, list):
        return []
    return [
        _swapped(part, meant, other) if isinstance(part, list) else other if part == meant else part
        for part in node
    ]


def _objection(turn: Turn, reply: Reply, sight: Sight, asks: Claims) -> Move | None:
    """A word against what the wearer sees is false: the reply names what this cannot be."""
    program = turn.extra.get("program") or [""]
    thing = sight.thing(str(turn.extra.get("entity_id", "")))
    if thing is None or program[0] not in ("it", "printed"):
        return None
    named = named_in(reply.text, sight)
    if named is None or named.id == thing.id:
        return None
    if named.kind != thing.kind and noun_of(named.kind) in reply.text.casefold():
        noun = noun_of(thing.kind)
        claims: Claims = (*asks, ("named", named.id), ("noun", thing.id, noun))
        return Move("object", "object-noun", claims, noun=noun)
    if program[1] in (thing.id, ["it", thing.id]) and not _reads_as(thing, named):
        return Move("object", "object-print", (*asks, ("named", named.id), ("unprinted", thing.id)))
    return None


def _reads_as(thing: ThingInView, named: Entity) -> bool:
    """Whether what can be read on a thing leaves room for a name; nothing to read does. The last
    word says what kind of thing it is, which all of them may share."""
    printed = " ".join(thing.prints).casefold().split()
    words = named.name.casefold().removeprefix("the ").split()
    return not printed or any(word in printed for word in words[:-1] or words)


def named_in(text: str, sight: Sight) -> Entity | None:
    """The one entity whose whole name a text is, but for an article and a full stop."""
    if sight.facts is None:
        return None
    bare = _folded(text)
    for start in ("it's ", "that's ", "this is ", "it is ", "that is "):
        bare = bare.removeprefix(start)
    found = sight.facts.find(bare) or sight.facts.find(bare.removeprefix("the "))
    return found[0] if len(found) == 1 else None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!")
