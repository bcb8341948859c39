"""One live conversation, seen from the wearer: what was said so far, and what is said next.

The wearer is a program. What they say follows from the agenda, the replies, their recorded times,
what the judge made of them, and the seed; nothing else is asked, no clock and no model. So the same
replies give the same wearer, a conversation that broke off goes on as if it had not, and every word
can be proved (`simulator/wearer/proof.py`). docs/wearer.md has the table of moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from mmrag.metrics.scoring_protocols import StopRule
from mmrag.records import (
    Capture,
    Outcome,
    Record,
    Reply,
    Session,
    Status,
    Turn,
    TurnResult,
    Utterance,
    outcome_of,
)
from simulator.ears.recognition_losses import unheard_words
from simulator.wearer.moves import (
    COSTS,
    Move,
    Situation,
    about_main,
    choose_move,
    pointing_words,
    remedy,
)
from simulator.wearer.sayings import PLAIN, sayings
from simulator.wearer.waiting import WORD, Waiting, heard_in
from simulator.wearer.wearer_view import Sight
from simulator.world.build.randomness import Draw

KEY = "wearer"
"""Of a live session's `extra`: how the conversation stands."""


class TalkBounds(Record, frozen=True, kw_only=True):
    """What no conversation goes beyond, whatever an assistant does."""

    turns_per_goal: int = 5
    requests_per_goal: int = 2
    """That are heard; at the next one the wearer only presses for an answer, once."""
    pictures: int = 3
    """Besides the first."""
    seconds: float = 300.0
    patience: tuple[int, int] = (5, 9)
    """Least and most that a wearer begins with; drawn for each session."""
    waiting: Waiting | None = None
    """How long they wait for a reply; None: for ever, and it costs them nothing."""


class Talk:
    """A conversation in the making. `hear` a reply, `say` what follows, until it is `over`."""

    def __init__(
        self,
        agenda: Session,
        sight: Sight,
        *,
        stop: StopRule,
        seed: int = 0,
        bounds: TalkBounds = TalkBounds(),
        condition: str = "clean",
        can_look: bool = True,
    ) -> None:
        """`agenda` is the session as its data set gives it: its questions are the goals.
        `condition` is what is done to its picture."""
        self.agenda = agenda
        self.turns: list[Turn] = []
        """What the wearer said, the last of it not answered yet unless the talk is over."""
        self.over = ""
        """Why the conversation ended: done, failures, patience, turns, seconds or waiting."""
        self.seconds = 0.0
        self.patience = Draw(seed, agenda.id, "patience").between(*bounds.patience)
        self.pictures: list[str] = []
        """How further pictures were taken."""
        self.moves: list[str] = []
        """About the goal at hand."""
        self._requests = 0
        """Heard about the goal at hand."""
        self._sight, self._stop, self._seed, self._bounds = sight, stop, seed, bounds
        self._condition, self._can_look = condition, can_look
        self._secrets = answers_of(agenda)
        self._outcomes: list[Outcome] = []
        self._unscored: list[int] = []
        """Turns of which no verdict was heard, whatever is made of them later."""
        self._words = sayings(str(agenda.extra.get("voice") or PLAIN))
        self._begin_goal(0)

    @property
    def turn(self) -> Turn:
        """What the wearer said last."""
        return self.turns[-1]

    @property
    def goal(self) -> int:
        """Which goal is being talked about."""
        return len(self._outcomes)

    @property
    def waiting(self) -> Waiting | None:
        """How long they wait for a reply."""
        return self._bounds.waiting

    def hear(self, result: TurnResult) -> Move | None:
        """Take a reply in. What the wearer is going to do about it; None: nothing more is said
        of this goal, and `say` goes on with the next."""
        reply = self._listen(result)
        if self._is_silence(result):
            return self._call()
        if reply is None:
            return None
        lost = [] if result.heard is None else unheard_words(result.query, result.heard.text)
        free = [w for w in lost if not any(w.casefold() in secret for secret in self._secrets)]
        now = self._situation()._replace(misheard=tuple(free), is_cut=bool(result.unheard))
        move = choose_move(now, reply, self._heard)
        if move is None:
            return None
        self.over = self._end(COSTS[move.name])
        return None if self.over else move

    def say(self, move: Move | None, capture: Capture | None = None) -> bool:
        """Go on; returns whether it is still about the same goal.

        `capture` is the picture that a look brought; where it brought none the wearer says so.
        """
        if move is None:
            self._settle()
            return False
        if move.look and capture is None:
            move = move.failed()
        elif move.look:
            self.pictures.append(move.look)
        self.patience -= COSTS[move.name]
        self.moves.append(move.name)
        draw = Draw(self._seed, self.agenda.id, "words", len(self.turns))
        question = draw.pick(move.questions) if move.questions else self._asked.query
        text = self._words.say(move.saying, draw, question=question, **self._slots(move))
        self._add(text, move, capture)
        return True

    def looks(self) -> tuple[str, ...]:
        """How another picture can be taken, the best way first; empty where there is no way left,
        or none this time."""
        if not self._can_look or len(self.pictures) >= self._bounds.pictures:
            return ()
        if Draw(self._seed, self.agenda.id, "cannot", len(self.pictures)).chance(CANNOT):
            return ()
        ways = (remedy(self._condition), *MOVED)
        if not about_main(self._asked, self._sight):  # from nearer the others are out of the frame
            ways = (ways[0], "other side")
        return tuple(way for way in ways if way and way not in self.pictures)

    def unreached(self) -> list[Turn]:
        """The questions of a finished talk that were never asked, as its last turns."""
        return [
            self._numbered(turn, len(self.turns) + n, Utterance(move="ask", goal=goal))
            for n, (goal, turn) in enumerate(
                list(enumerate(self.agenda.turns))[len(self._outcomes) :]
            )
        ]

    def session(self, seen: Session, judge: str) -> Session:
        """The conversation as it is kept: `seen` is the session with its first picture, or as it
        was kept before."""
        state: dict[str, Any] = {
            "judge": judge, "seed": self._seed, "goals": len(self.agenda.turns), "over": self.over,
            "patience": self.patience, "seconds": self.seconds,
        }  # fmt: skip
        if self._unscored:
            state["unscored"] = self._unscored
        turns = (*self.turns, *self._rest())
        return msgspec.structs.replace(seen, turns=turns, extra={**seen.extra, KEY: state})

    def _rest(self) -> list[Turn]:
        """What stands after the words that were said."""
        return self.unreached() if self.over else []

    def _is_silence(self, result: TurnResult) -> bool:
        """Whether nothing was heard for as long as they wait."""
        waiting = self.waiting
        return waiting is not None and result.first_heard > waiting.limit(self.moves)

    def _call(self) -> Move | None:
        """Into the silence: once a goal they ask whether anybody is there, then they leave."""
        self.over = "waiting" if "hello" in self.moves else self._end(COSTS["hello"])
        return None if self.over else Move("hello", "hello", (("asks", str(self.goal)),))

    def _listen(self, result: TurnResult) -> Reply | None:
        """Take the time that a reply took; the reply, where it leaves something to be said."""
        seconds = _listened(result)
        if self.waiting is not None and (result.reply is not None or self._is_silence(result)):
            seconds = _PAUSE + heard_in(self.waiting, self.turns, result).seconds
        self.seconds = round(self.seconds + seconds, 1)
        self._heard = outcome_of(result)
        if result.status is Status.JUDGE_ERROR:
            self._unscored.append(result.turn_index)
        if result.status.is_failure or self._heard.is_correct:
            return None
        if result.reply is not None and result.reply.ask and self._heard is Outcome.MISSING:
            self._requests += 1
        return result.reply

    def _situation(self) -> Situation:
        moved = any(way in MOVED for way in self.pictures)
        return Situation(
            goal=self.goal,
            turn=self._asked,
            sight=self._sight.elsewhere() if moved else self._sight,
            moves=tuple(self.moves),
            secrets=self._secrets,
            look=next(iter(self.looks()), ""),
            is_pressed=self._requests > self._bounds.requests_per_goal or self.patience <= 1,
        )

    def _begin_goal(self, goal: int) -> None:
        self._asked = self.agenda.turns[goal]
        self.moves, self._requests = [], 0
        self._add(self._asked.query, Move("ask", "", (("asks", str(goal)),)), None)

    def _settle(self) -> None:
        """No more is said of this goal."""
        self._outcomes.append(self._heard)
        done = len(self._outcomes)
        end = self._stop(self.agenda.id, self._outcomes)
        if self.over:
            pass
        elif done == len(self.agenda.turns):
            self.over = "done"
        elif end is not None and end <= done:
            self.over = "failures"
        elif self.seconds >= self._bounds.seconds:
            self.over = "seconds"
        else:
            self._begin_goal(done)

    def _end(self, cost: int) -> str:
        """Why the wearer leaves rather than go on about this goal; empty where they stay."""
        if self.patience < cost:
            return "patience"
        if len(self.moves) + 1 >= self._bounds.turns_per_goal:
            return "turns"
        return "seconds" if self.seconds >= self._bounds.seconds else ""

    def _slots(self, move: Move) -> dict[str, str]:
        if not move.points_at:
            return {"noun": move.noun, "word": move.word}
        return {"thing": pointing_words(move, self._sight, self._words)}

    def _add(self, text: str, move: Move, capture: Capture | None) -> None:
        said = Utterance(
            move=move.name,
            goal=self.goal,
            claims=move.claims,
            look=move.look,
            patience=self.patience,
            seconds=self.seconds,
        )
        turn = self._numbered(self._asked, len(self.turns), said)
        name = f"{turn.id}+{len(self.moves)}" if self.moves else turn.id
        self.turns.append(msgspec.structs.replace(turn, id=name, query=text, capture=capture))
        self.seconds = round(self.seconds + _spoken(text) + (LOOKING if move.look else 0), 1)

    def _numbered(self, turn: Turn, index: int, said: Utterance) -> Turn:
        return msgspec.structs.replace(turn, index=index, wearer=said)


MOVED = ("closer", "other side")
"""Pictures in which a thing stands elsewhere than in the first."""

CANNOT = 0.15
"""How often a wearer who is asked for a better look cannot give it."""

LOOKING, _PAUSE, _WAITED = 4.0, 1.0, 10.0
"""Seconds of a new picture, between speakers, and of waiting for what does not come."""


def heard_judge(held: Session, turn: int) -> str:
    """The judge whose verdict the wearer heard about a turn; runs may be judged again between."""
    state: dict[str, Any] = held.extra[KEY]
    earlier = (judge for judge, end in state.get("judges", ()) if turn < end)
    return next(earlier, state["judge"])


def answers_of(agenda: Session) -> tuple[str, ...]:
    """What the wearer never says beside a question."""
    return tuple(
        text.casefold()
        for turn in agenda.turns
        if not turn.extra.get("choice")
        for text in turn.reference.all_texts
        if len(text) > 1
    )


def _spoken(text: str) -> float:
    return _PAUSE + WORD * len(text.split())


def _listened(result: TurnResult) -> float:
    if result.status is Status.TIMEOUT:
        return _WAITED
    return _spoken(result.reply.text) if result.reply is not None else _PAUSE


def replayed(talk: Talk, done: Sequence[TurnResult], said: Sequence[Turn]) -> Talk:
    """A talk brought to where a recorded one stands; pictures are those that were recorded."""
    for result in done:
        if talk.over:
            break
        move = talk.hear(result)
        after = said[result.turn_index + 1 : result.turn_index + 2]
        talk.say(move, after[0].capture if after else None)
    return talk
