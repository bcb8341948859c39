"""What the Play page shows, without Gradio: where a person's run stands, in rows and words."""

from __future__ import annotations

import msgspec

from mmrag.files.images import LazyImage
from mmrag.records import Outcome, TurnResult, outcome_of
from simulator.application.person_run import PersonRunState
from simulator.reports.figures.report import command_of
from simulator.wearer.moves import COSTS
from simulator.wearer.talk import TalkBounds
from ui.replay.conversation_view import UNASKED, TurnView, turn_view
from ui.replay.traceview import Overlay, focus_of

HINTS = {
    "press": "The assistant asks once more, and you have heard enough of that: tell it to answer.",
    "point": "The assistant asks which one you mean. Say where it is or what it looks like.",
    "cannot": "The assistant asks for a better look. Take another picture, or say that you cannot.",
    "again": "That did not help. You can say it once more in other words, or let it be.",
    "correct": "The judge does not take that for the answer. If you can see that it is about "
    "something else, say so; else let it be.",
}
"""First move that is open → what a person is told."""

ENDINGS = {
    "done": "That was the last goal",
    "failures": "You leave: two goals in a row have failed",
    "patience": "You leave: your patience is spent",
    "turns": "You leave: too many turns about one goal",
    "seconds": "You leave: your time is up",
    "left": "You left",
}
_MARKS = {"perfect": "✓", "acceptable": "✓", "missing": "○", "incorrect": "✕", "unscored": "?"}


class GoalMark(msgspec.Struct, frozen=True):
    """What became of a goal."""

    mark: str
    outcome: str
    words: str
    current: bool


def settled_goals(now: PersonRunState) -> dict[int, TurnResult]:
    """Goal → its last turn, of the goals that are settled."""
    found: dict[int, TurnResult] = {}
    for turn, result in zip(now.talk.turns, now.results, strict=False):
        if turn.wearer is not None and turn.wearer.goal < now.talk.goal:
            found[turn.wearer.goal] = result
    return found


def goal_marks(now: PersonRunState) -> list[GoalMark]:
    """A mark for every goal of the agenda."""
    done = settled_goals(now)
    rows: list[GoalMark] = []
    for goal in range(len(now.talk.agenda.turns)):
        outcome = str(outcome_of(done[goal])) if goal in done else ""
        current = goal == now.talk.goal and not now.talk.over
        words = outcome or ("at hand" if current else "not asked")
        rows.append(GoalMark(_MARKS.get(outcome, str(goal + 1)), outcome, words, current))
    return rows


def solved_goals(now: PersonRunState) -> int:
    """Goals that were answered."""
    return sum(outcome_of(result).is_correct for result in settled_goals(now).values())


def seconds_left(now: PersonRunState) -> int:
    """Of the wearer's own clock."""
    return max(0, round(TalkBounds().seconds - now.talk.seconds))


def hint(now: PersonRunState) -> str:
    """What can be done about the last reply, where the goal is still at hand."""
    if not now.talk.can_let_be:
        if now.results and not now.results[-1].status.is_failure:
            return "" if outcome_of(now.results[-1]).is_correct else _GOES_ON
        return "The assistant failed; you continue with the next goal." if now.results else ""
    first = next((move for move in now.talk.may if move in HINTS), "")
    return HINTS.get(first, "")


_GOES_ON = "That goal is settled without an answer; you continue with the next."


def look_again_choices(now: PersonRunState | None) -> list[tuple[str, str]]:
    """Ways to look again with the next words, as (label, way); the first is not to."""
    ways = () if now is None else now.talk.ways
    return [("as it is", ""), *((f"{way} (−{COSTS['look']} patience)", way) for way in ways)]


def cost_words(now: PersonRunState) -> str:
    """What the next words cost."""
    cost = now.talk.cost()
    return f"Say it (−{cost} patience)" if cost else "Say it"


def turns_of(now: PersonRunState) -> list[TurnView]:
    """The conversation so far; what is right is not shown before it is over."""
    return [
        msgspec.structs.replace(
            turn_view(turn, result, {}, (0, 0), unsaid=UNASKED, strike="", stops_here=False),
            outcome="" if outcome_of(result) is Outcome.UNSCORED else str(outcome_of(result)),
        )
        for turn, result in zip(now.talk.turns, now.results, strict=False)
    ]


def picture_of(now: PersonRunState) -> LazyImage | None:
    """What the person sees: the last picture that was taken."""
    captures = [now.seen.capture, *(turn.capture for turn in now.talk.turns)]
    taken = [capture for capture in captures if capture is not None]
    return LazyImage.from_bytes(taken[-1].image.data) if taken else None


def boxes_of(now: PersonRunState, size: tuple[int, int]) -> tuple[Overlay, ...]:
    """Where the thing is that the wearer looks at; not drawn over a picture taken again."""
    capture = now.seen.capture
    if capture is None or now.talk.pictures or len(now.talk.agenda.extra.get("visible", ())) < 2:
        return ()
    return focus_of(capture, size, "")


def simulated_command(now: PersonRunState) -> str:
    """The command that holds the same conversations with the simulated wearer."""
    return command_of(msgspec.structs.replace(now.config, wearer="live")) or ""
