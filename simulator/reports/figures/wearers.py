"""What live conversations took and gave: goals, turns, pictures, time, patience, requests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from mmrag.records import Outcome, Session, Status, TurnResult, outcome_of
from simulator.store.run_reader import RunReader
from simulator.wearer.talk import KEY


def wearers(run: RunReader) -> list[dict[str, Any]] | None:
    """Figures per condition, in the run's order; None where no wearer was live."""
    found: dict[str, _Sums] = {}
    for session in run.sessions():
        if KEY in session.extra:
            sums = found.setdefault(session.degradation, _Sums())
            sums.add(session, run.turns(session.id, session.degradation))
    return [sums.figures(name) for name, sums in found.items()] or None


@dataclass
class _Sums:
    """Sums over the conversations of one condition."""

    conversations: int = 0
    goals: int = 0
    solved: int = 0
    turns: int = 0
    pictures: int = 0
    seconds: float = 0.0
    patience: int = 0
    ends: Counter[str] = field(default_factory=Counter[str])
    left_at: Counter[int] = field(default_factory=Counter[int])
    moves: Counter[str] = field(default_factory=Counter[str])
    asked: Counter[str] = field(default_factory=Counter[str])
    paid: Counter[str] = field(default_factory=Counter[str])

    def add(self, session: Session, results: list[TurnResult]) -> None:
        """Take one conversation in."""
        state: dict[str, Any] = session.extra[KEY]
        asked = [r for r in results if r.status is not Status.SKIPPED_AFTER_STOP]
        goals = [turn.wearer.goal if turn.wearer else turn.index for turn in session.turns]
        solved = {
            goals[r.turn_index] for r in asked if not r.step and outcome_of(r).is_correct
        }  # fmt: skip
        self.conversations += 1
        self.goals += int(state["goals"])
        self.solved += len(solved)
        self.turns += len(asked)
        self.pictures += sum(turn.capture is not None for turn in session.turns)
        self.seconds += float(state["seconds"])
        self.patience += int(state["patience"])
        self.ends[state["over"] or "going on"] += 1
        if state["over"] not in ("", "done") and asked:
            self.left_at[goals[asked[-1].turn_index] + 1] += 1
        self.moves.update(turn.wearer.move for turn in session.turns[: len(asked)] if turn.wearer)
        for result in asked:
            unanswered = outcome_of(result) is Outcome.MISSING
            if unanswered and result.reply is not None and result.reply.ask is not None:
                self.asked[result.reply.ask] += 1
                self.paid[result.reply.ask] += result.step and goals[result.turn_index] in solved

    def figures(self, name: str) -> dict[str, Any]:
        """Means per conversation, shares, and how often each thing happened."""
        n = self.conversations
        total = self.asked.total()
        return {
            "name": name,
            "conversations": n,
            "goals": self.goals / n,
            "solved": self.solved / n,
            "solved_share": self.solved / self.goals if self.goals else None,
            "turns": self.turns / n,
            "pictures": self.pictures / n,
            "seconds": self.seconds / n,
            "solved_per_minute": 60 * self.solved / self.seconds if self.seconds else None,
            "patience": self.patience / n,
            "requests": total,
            "paid_share": self.paid.total() / total if total else None,
            "by_request": [
                {"ask": ask, "n": count, "paid_share": self.paid[ask] / count}
                for ask, count in sorted(self.asked.items())
            ],
            "ends": [{"end": end, "share": k / n} for end, k in sorted(self.ends.items())],
            "left_at": [{"goal": goal, "n": k} for goal, k in sorted(self.left_at.items())],
            "moves": dict(sorted(self.moves.items())),
        }
