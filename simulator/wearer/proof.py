"""Prove what live wearers said: derived again, true of the world, and giving nothing away.

What the wearer would say is worked out once more from the agenda and the replies; then each claim
is looked up in the world by other ways than those that chose it, so that a wearer who is wrong
twice alike is found all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from mmrag.errors import DataError, UsageError
from mmrag.records import Capture, Session, Status, Turn, TurnResult, encode, reply_status
from mmrag.text.normalise import normalise
from simulator.faults.current_fault import fault_of, simulated_delay
from simulator.wearer.colours import colour_shares, inside, palette_has
from simulator.wearer.human_wearer import PersonTalk, resume_talk
from simulator.wearer.moves import answer_for_other
from simulator.wearer.sayings import PLAIN, sayings
from simulator.wearer.talk import KEY, MOVED, Talk, answers_of, replayed
from simulator.wearer.waiting import cut_off, heard_in
from simulator.wearer.wearer_view import Sight, outlines_of
from simulator.wearer.wordings import other_wordings
from simulator.world.language.answer_program import evaluate
from simulator.world.language.english import noun_of, plural_of
from simulator.world.language.questions.answer_wordings import say_answer


class WearerProof(NamedTuple):
    """What was looked at in one conversation, and what is wrong with it."""

    utterances: int
    claims: int
    problems: list[str]


class _Said(NamedTuple):
    """An utterance with all that its claims can be about."""

    turn: Turn
    goal: Turn
    before: TurnResult | None
    capture: Capture | None
    """The picture before it; a world of text has none to be read."""
    sight: Sight
    agenda: Session
    moved: bool
    """Whether the last picture is from elsewhere than the first."""


def prove(talk: Talk, sight: Sight, held: Session, results: Sequence[TurnResult]) -> WearerProof:
    """Check one recorded conversation against a fresh `talk` about the same agenda. `results` have
    the verdicts that the wearer heard."""
    agenda = talk.agenda
    replayed(talk, results, held.turns)
    mine = [*talk.turns, *(talk.unreached() if talk.over else ())]
    problems = [
        f"{theirs.id}: said {theirs.query!r}, where {own.query!r} follows from the replies"
        for own, theirs in zip(mine, held.turns, strict=False)
        if (own.query, own.wearer) != (theirs.query, theirs.wearer)
    ]
    if len(mine) != len(held.turns):
        problems.append(f"{held.id}: {len(held.turns)} turns, where {len(mine)} follow")
    count, capture, moved = 0, held.capture, False
    by_turn = {result.turn_index: result for result in results}
    for turn in held.turns:
        said = turn.wearer
        if said is None or not 0 <= said.goal < len(agenda.turns):
            problems.append(f"{turn.id}: it does not say what the wearer meant")
            continue
        goal, before = agenda.turns[said.goal], by_turn.get(turn.index - 1)
        of = _Said(turn, goal, before, capture, sight, agenda, moved)
        count += len(said.claims)
        problems += [
            f"{turn.id}: {turn.query!r} claims {claim}, which is not so"
            for claim in said.claims
            if claim[0] not in _HOLDS or not _HOLDS[claim[0]](of, *claim[1:])
        ]
        if said.move == "ask":
            problems += _wrong_answer(turn, sight)
        elif secret := _given_away(of):
            problems.append(f"{turn.id}: {turn.query!r} gives away {secret!r}")
        capture = turn.capture or capture
        moved = moved or said.look in MOVED
    return WearerProof(len(held.turns), count, problems)


def prove_costs(
    talk: PersonTalk, sight: Sight, held: Session, results: Sequence[TurnResult]
) -> WearerProof:
    """Check what there is to prove where a person spoke: what their words cost, what a goal's
    answer is, and when the conversation was over. The words themselves claim nothing."""
    problems: list[str] = []
    try:
        resume_talk(talk, held, results)
    except UsageError as error:
        problems.append(f"{held.id}: something was said that could not be said then ({error})")
    problems += [
        f"{theirs.id}: recorded as {theirs.wearer}, where {own.wearer} follows from the replies"
        for own, theirs in zip(talk.turns, held.turns, strict=False)
        if own.wearer != theirs.wearer
    ]
    for goal, turn in enumerate(talk.agenda.turns):
        asked = [t for t in held.turns if t.wearer is not None and t.wearer.goal == goal]
        if any(t.reference != turn.reference for t in asked):
            problems.append(f"{turn.id}: the run holds another answer than the data")
        problems += _wrong_answer(turn, sight)
    return WearerProof(len(talk.turns), 0, problems)


def prove_record(talk: Talk, seen: Session, held: Session, kept: Sequence[TurnResult]) -> list[str]:
    """Find what a run recorded otherwise than it follows from data, replies and verdicts.

    `talk` has heard all replies, `seen` is the session as data and optics give it, and `kept` are
    all turns with the verdicts that count now.
    """
    state = held.extra[KEY]
    begun = msgspec.structs.replace(seen, extra={**seen.extra, KEY: state})
    mine, theirs = _plain(talk.session(begun, state["judge"])), _plain(held)
    for turn in (*mine["turns"], *theirs["turns"]):
        turn.pop("wearer", None)  # they were compared word for word
        turn.pop("query")
    problems = [f"{held.id}: {words}" for words in _differences(theirs, mine)]
    asked = len(talk.turns)
    wanted = [turn.index for turn in held.turns if turn.index < asked or talk.over]
    have = [result.turn_index for result in kept]
    if talk.over and have != wanted:
        problems.append(f"{held.id}: its turns are {have}, where {wanted} follow")
    for result in kept:
        if 0 <= result.turn_index < len(held.turns):
            turn = held.turns[result.turn_index]
            problems += [
                f"{turn.id}: {words}" for words in _wrong_result(result, turn, held, talk, asked)
            ]
    return problems


def _wrong_result(
    result: TurnResult, turn: Turn, held: Session, talk: Talk, asked: int
) -> Iterator[str]:
    if (result.session_id, result.degradation) != (held.id, held.degradation):
        yield f"recorded as of {result.session_id!r} under {result.degradation!r}"
    if result.query != turn.query:
        yield f"recorded as {result.query!r}, where {turn.query!r} was said"
    status = _status(result, turn, was_asked=turn.index < asked)
    if result.status is not status:
        yield f"its status is {result.status}, where {status} follows"
    if result.status.is_failure and result.reply is None and not result.error:
        yield "it failed, and nothing says why"
    if turn.index < asked:
        yield from _wrong_hearing(result, turn, held, talk)
    elif result.status is status and result != TurnResult(
        session_id=held.id,
        turn_index=turn.index,
        status=status,
        degradation=held.degradation,
        query=turn.query,
    ):
        yield "it was never asked, and has more than its question"
    goals = [said.wearer.goal for said in talk.turns[turn.index : turn.index + 2] if said.wearer]
    step = len(goals) == 2 and goals[0] == goals[1]
    if result.step != step and (talk.over or turn.index + 1 < asked):
        yield f"step is {result.step}, where {step} follows"


def _wrong_hearing(result: TurnResult, turn: Turn, held: Session, talk: Talk) -> Iterator[str]:
    """What was heard of a reply, or waited for in vain, otherwise than its times say; nobody
    waited in earlier runs."""
    fault = fault_of(held.fault, held.extra[KEY]["seed"], held.id, turn.index)
    if result.delay != (delay := simulated_delay(held, turn, fault)):
        yield f"its delay is {result.delay:g} s, where {delay:g} s follow"
    if talk.waiting is None:
        if result.unheard:
            yield f"{result.unheard!r} was not heard, and nobody cut it off"
        return
    heard = heard_in(talk.waiting, held.turns[: turn.index + 1], result)
    if result.unheard != heard.unheard:
        yield f"{result.unheard!r} was not heard, where {heard.unheard!r} follows from its times"
    elif cut_off(talk.waiting, held.turns[: turn.index + 1], result) != result:
        yield "it has a request that was not heard"


def _status(result: TurnResult, turn: Turn, *, was_asked: bool) -> Status:
    """What becomes of a turn; which of the failures befell an agent nothing else tells."""
    if not was_asked:
        return Status.SKIPPED_AFTER_STOP
    if result.reply is None:
        return result.status if result.status.is_failure else Status.AGENT_ERROR
    if not any(text.strip() for text in turn.reference.all_texts):
        return Status.DATA_ERROR
    return reply_status(result.reply, result.verdict)


def _plain(session: Session) -> Any:
    return msgspec.json.decode(encode(session))


def _differences(theirs: Any, mine: Any, path: str = "") -> Iterator[str]:
    """Where two JSON values differ, in words."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        for key in sorted({*theirs, *mine}):
            yield from _differences(theirs.get(key), mine.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(theirs, list) and isinstance(mine, list) and len(theirs) == len(mine):
        for place, (one, other) in enumerate(zip(theirs, mine, strict=True)):
            yield from _differences(one, other, f"{path}[{place}]")
    elif theirs != mine:
        yield f"{path} is {str(theirs)[:100]}, where {str(mine)[:100]} follows"


def _asks(of: _Said, goal: str) -> bool:
    """The words end in the goal's question, in its own words or in others of its template."""
    said = of.turn.wearer
    return (
        said is not None
        and goal == str(said.goal)
        and of.turn.reference == of.goal.reference
        and of.turn.query.endswith(_wordings(of))
        and (said.move != "ask" or of.turn.query == of.goal.query)
    )


def _wordings(of: _Said) -> tuple[str, ...]:
    return (of.goal.query, *other_wordings(of.goal))


def _noun(of: _Said, entity_id: str, noun: str) -> bool:
    if entity_id not in of.agenda.extra.get("visible", ()) or noun not in of.turn.query:
        return False
    facts = of.sight.facts
    kind = facts.entity(entity_id).kind if facts else entity_id.rpartition("-")[0]
    return noun_of(kind) == noun


def _place(of: _Said, entity_id: str, place: str) -> bool:
    """By the mean of the outline's corners, and not by its middle, as the wearer looked."""
    capture, extra = of.agenda.capture, of.agenda.extra
    if capture is None or not capture.polygon or of.moved:
        return False
    outlines = [capture.polygon, *extra.get("other_polygons", ())]
    means = [sum(float(p[0]) for p in outline) / len(outline) for outline in outlines]
    mine = means[list(extra["visible"]).index(entity_id)]
    if len(means) == 1:
        share = mine / extra["scene"]["width"]
        return {"left": share < 0.5, "middle": 0.25 < share < 0.75, "right": share > 0.5}[place]
    rank = sum(mean < mine for mean in means) + 1
    return place == ("last" if rank == len(means) else str(rank))


def _colour(of: _Said, entity_id: str, colour: str) -> bool:
    """By a painter's wheel, where the wearer went by lightness and chroma; and by the facts, which
    say what colours the entity has."""
    capture, outlines = of.agenda.capture, outlines_of(of.agenda)
    if capture is None or f"{colour} " not in of.turn.query:
        return False
    seen = [colour_shares(pixels).get(colour, 0.0) for pixels in inside(capture.image, outlines)]
    mine = list(of.agenda.extra["visible"]).index(entity_id)
    facts = of.sight.facts
    return (
        mine < len(seen) > 1
        and seen[mine] > max(0.15, 2 * max(seen[:mine] + seen[mine + 1 :]))
        and (facts is None or palette_has(facts.entity(entity_id).look, colour))
    )


def _print(of: _Said, entity_id: str, text: str) -> bool:
    readable = {str(found) for found, _ in of.agenda.extra.get("texts", ())}
    return entity_id == of.agenda.extra.get("subject") and text in readable


def _count(of: _Said, count: str, plural: str) -> bool:
    ids = [str(name) for name in of.agenda.extra.get("visible", ())]
    kinds = {name.rpartition("-")[0] for name in ids}
    return (
        count == str(len(ids))
        and [plural_of(kind) for kind in kinds] == [plural]
        and f"{count} {plural}" in of.turn.query
    )


def _picture(of: _Said, how: str) -> bool:
    taken, said = of.turn.capture, of.turn.wearer
    return (
        taken is not None
        and said is not None
        and said.look == how
        and (of.capture is None or taken.image.sha256 != of.capture.image.sha256)
    )


def _answers(of: _Said, other: str) -> bool:
    """The reply is right about another thing in view, and wrong about the one that was meant."""
    if of.before is None or of.before.reply is None or other not in of.agenda.extra["visible"]:
        return False
    said = " ".join(of.before.reply.text.casefold().split()).rstrip(".!")
    program = of.goal.extra["program"]
    meant = program[1] if program[0] == "it" else str(of.goal.extra["entity_id"])
    truths = {text.casefold().rstrip(".!") for text in of.goal.reference.all_texts}
    return said not in truths and said in answer_for_other(of.goal, of.sight, meant, other)


def _named(of: _Said, entity_id: str) -> bool:
    facts = of.sight.facts
    if of.before is None or of.before.reply is None or facts is None:
        return False
    entity = facts.entity(entity_id)
    names = (entity.name, *entity.aliases)
    said = of.before.reply.text.casefold()
    return entity_id != of.goal.extra["entity_id"] and any(n.casefold() in said for n in names)


def _unprinted(of: _Said, entity_id: str) -> bool:
    """Something can be read on the thing, and it does not begin as the name that was replied."""
    if of.turn.wearer is None or of.sight.facts is None:
        return False
    named = [claim[1] for claim in of.turn.wearer.claims if claim[0] == "named"]
    names = [of.sight.facts.entity(name).name.casefold() for name in named]
    first = {name.removeprefix("the ").split()[0] for name in names}
    words = {w for text, _ in of.agenda.extra.get("texts", ()) for w in text.casefold().split()}
    return (
        entity_id == of.agenda.extra.get("subject") and bool(words and first) and not words & first
    )


def _said(of: _Said, word: str) -> bool:
    """The turn before said the word, and nothing like it was written down."""
    before = of.before
    if before is None or before.heard is None:
        return False
    bare, said, heard = map(normalise, (word, before.query, before.heard.text))
    return bare in said and f" {bare} " not in f" {heard} "


_HOLDS: dict[str, Callable[..., bool]] = {
    "asks": _asks, "noun": _noun, "place": _place, "colour": _colour, "print": _print,
    "count": _count,
    "picture": _picture, "answers": _answers, "named": _named, "unprinted": _unprinted,
    "said": _said,
}  # fmt: skip


def _given_away(of: _Said) -> str:
    """An answer of the agenda in the words beside the question; empty where there is none."""
    question = max((w for w in _wordings(of) if of.turn.query.endswith(w)), key=len, default="")
    words = sayings(str(of.agenda.extra.get("voice") or PLAIN))
    beside = words.brought(of.turn.query.removesuffix(question)).casefold()
    secrets = (a for a in answers_of(of.agenda) if len(a) > 2)
    return next((a for a in secrets if re.search(rf"(?<!\w){re.escape(a)}(?!\w)", beside)), "")


def _wrong_answer(turn: Turn, sight: Sight) -> list[str]:
    """What is wrong with the answer of a goal, by its program."""
    if sight.facts is None or "program" not in turn.extra:
        return []
    try:
        answer, _ = evaluate(turn.extra["program"], sight.facts, sight.at)
        text, accept = say_answer(answer, sight.facts)
    except DataError as error:
        return [f"{turn.id}: {error}"]
    if (text, accept) == (turn.reference.text, turn.reference.accept):
        return []
    return [f"{turn.id}: the facts say {text!r}, the run {turn.reference.text!r}"]
