"""A person as wearer: their words, under the patience, the costs and the ends of the simulated one.

What may be said, what it costs and when it is over is decided where it is for the program
(`moves.py`, `talk.py`). A person decides only what to say, whether to take another picture, and
when to let a goal be. Nothing proves their words, so these claim nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from mmrag.errors import UsageError
from mmrag.records import Capture, Outcome, Session, Status, Turn, TurnResult
from simulator.wearer.moves import COSTS, Move, open_moves
from simulator.wearer.talk import KEY, Talk

LEFT = "left"
"""Why a conversation ended that a person broke off; the program never does."""


class PersonTalk(Talk):
    """A conversation in which a person speaks: `put` their words, `hear` the reply."""

    may: tuple[str, ...] = ()
    """What can be done now, in the wearer's moves: `ask` where a goal begins. Empty while a reply
    is awaited, and when the conversation is over."""

    recorded: int = 0
    """Turns that were brought back: an earlier judge may have judged them."""

    @property
    def ways(self) -> tuple[str, ...]:
        """How another picture could be taken with the next words: where the assistant asked for
        one or knew nothing, as the simulated wearer does, and is not pressed yet."""
        if self.may in ((), ("ask",), ("press",)) or self._heard is not Outcome.MISSING:
            return ()
        return self.looks() if self.patience >= COSTS["look"] else ()

    @property
    def can_let_be(self) -> bool:
        """Whether something was said of this goal, so that the next can be gone on to."""
        return self.may not in ((), ("ask",))

    def cost(self, look: str = "") -> int:
        """Patience that the next words take."""
        return COSTS.get(self._move(look), 0)

    def put(self, text: str, look: str = "", capture: Capture | None = None) -> None:
        """Say something, with another picture where one was taken."""
        if not self.may:
            raise UsageError("There is nothing more to say in this conversation.")
        if (look and look not in self.ways) or bool(look) != (capture is not None):
            raise UsageError(f"No picture can be taken {look!r} now; say it without one.")
        name = self._move(look)
        if name != "ask":
            self.patience -= COSTS[name]
            self.moves.append(name)
        if look:
            self.pictures.append(look)
        self._add(text, Move(name, "", look=look), capture)
        said = msgspec.structs.replace(cast("Any", self.turn.wearer), stands_for=self._asked.query)
        self.turns[-1] = msgspec.structs.replace(self.turn, wearer=said)
        self.may = ()

    def hear(self, result: TurnResult) -> None:
        """Take a reply in; `may` then says what can be done about it."""
        reply = self._listen(result)
        may = () if reply is None else open_moves(self._situation(), reply.ask, self._heard)
        end = self._end(min(COSTS[move] for move in may)) if may else ""
        if self._heard is Outcome.MISSING:
            self.over = end  # a wrong answer can always be let be: who asks does not know it is
        if may and not end:
            self.may = tuple(move for move in may if COSTS[move] <= self.patience)
        else:
            self._settle()

    def let_be(self) -> None:
        """Go on to the next goal, with the last reply as it is."""
        if not self.can_let_be:
            raise UsageError("Ask about this goal first; then it can be let be.")
        self._settle()

    def leave(self) -> None:
        """Break the conversation off."""
        if self.over:
            raise UsageError("This conversation is over already.")
        self.over, asked = LEFT, self.can_let_be
        if asked:
            self._settle()
        self.may = ()

    def session(self, seen: Session, judge: str) -> Session:
        """The conversation as it is kept, with how many goals are settled, and who judged before:
        what a person said does not follow from another judge's verdicts."""
        kept = super().session(seen, judge)
        before: dict[str, Any] = seen.extra.get(KEY, {})
        judges: list[tuple[str, int]] = before.get("judges", [])
        if before.get("judge", judge) != judge:
            judges = [*judges, (before["judge"], self.recorded)]
        state = {**kept.extra[KEY], "settled": self.goal}
        state |= {"judges": judges} if judges else {}
        return msgspec.structs.replace(kept, extra={**kept.extra, KEY: state})

    def _move(self, look: str) -> str:
        return "look" if look else next((move for move in self.may if move != "look"), "")

    def _begin_goal(self, goal: int) -> None:
        self._asked, self.moves, self.may = self.agenda.turns[goal], [], ("ask",)
        self._requests = 0

    def _settle(self) -> None:
        self.may = ()
        super()._settle()

    def _rest(self) -> list[Turn]:
        """The goals that are still to be asked, also while the conversation goes on."""
        rest = self.unreached()
        if rest and self.can_let_be:  # the goal at hand, which something was said of
            name = f"{rest[0].id}+{len(self.moves) + 1}"
            rest[0] = msgspec.structs.replace(rest[0], id=name)
        return rest


def resume_talk(talk: PersonTalk, held: Session, results: Sequence[TurnResult]) -> PersonTalk:
    """A talk brought to where a recorded one stands."""
    state: dict[str, Any] = held.extra.get(KEY, {})
    for turn, result in zip(held.turns, results, strict=False):
        if talk.over or turn.wearer is None or result.status is Status.SKIPPED_AFTER_STOP:
            break
        while talk.goal < turn.wearer.goal and talk.can_let_be:
            talk.let_be()
        talk.put(turn.query, turn.wearer.look, turn.capture)
        talk.hear(result)
        talk.recorded += 1
    while talk.goal < int(state.get("settled", 0)) and talk.can_let_be and state["over"] != LEFT:
        talk.let_be()
    if state.get("over") == LEFT and not talk.over:
        talk.leave()
    return talk
