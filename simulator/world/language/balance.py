"""What a set of questions has so far, and what it is short of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from mmrag.errors import DataError
from simulator.world.checks.published import DYNAMISM, EXTERNAL, TYPE_TOTALS
from simulator.world.language.filling import Filled
from simulator.world.language.questions.question_records import Question
from simulator.world.language.voices.needs import Want

SHARE_TOLERANCE = 0.02
"""By how much a type or a speed may be short of its published share; more where turns are few."""

_TYPE_SHARES = {t: n / sum(TYPE_TOTALS.values()) for t, n in TYPE_TOTALS.items()}


@dataclass
class Balance:
    """What a set has so far of everything that is to come out in proportion."""

    turns: int = 0
    types: Counter[str] = field(default_factory=Counter[str])
    speeds: Counter[str] = field(default_factory=Counter[str])
    visual: int = 0
    used: Counter[str] = field(default_factory=Counter[str])
    """Need → how often it was asked."""
    flips: Counter[str] = field(default_factory=Counter[str])
    """Need → by how much it was answered yes (or with a true premise) more often than no."""
    leaning: Counter[str] = field(default_factory=Counter[str])
    """The same of all needs together, premises apart."""

    def plus(self, other: Balance) -> Balance:
        """Both together."""
        return Balance(
            turns=self.turns + other.turns,
            types=self.types + other.types,
            speeds=self.speeds + other.speeds,
            visual=self.visual + other.visual,
            used=self.used + other.used,
            flips=_added(self.flips, other.flips),
            leaning=_added(self.leaning, other.leaning),
        )

    def lack(self, query_type: str, speed: str, *, visual: bool) -> float:
        """How much a question of this type and speed is wanting."""
        n = self.turns + 1
        of_type = _TYPE_SHARES[query_type] * n - self.types[query_type]
        of_speed = DYNAMISM[speed] * n - self.speeds[speed]
        of_visual = (1 - EXTERNAL) * n - self.visual
        return of_type + of_speed + (of_visual if visual else -of_visual)

    def add(self, filled: Filled, question: Question) -> None:
        """One more question."""
        self.turns += 1
        self.types[question.query_type] += 1
        self.speeds[question.dynamism] += 1
        self.visual += not question.external
        self.used[filled.want.id] += 1
        if question.choice or question.program[0] == "premise":
            is_yes = question.answer == "Yes" if question.choice else not question.false_premise
            self.flips[filled.want.id] += 1 if is_yes else -1
            self.leaning[asks_for(filled.want)] += 1 if is_yes else -1

    def refuse_if_short(self, *, is_planned: bool) -> None:
        """A world that cannot have the published shares is none. `is_planned`: its types are."""
        lacks = [
            (share - counts[key] / max(1, self.turns), name, key, share)
            for name, shares, counts in (
                ("type", {} if is_planned else _TYPE_SHARES, self.types),
                ("dynamism", DYNAMISM, self.speeds),
            )
            for key, share in shares.items()
        ]
        lack, name, key, share = max(lacks)
        if lack > max(SHARE_TOLERANCE, 4 / max(1, self.turns)):
            raise DataError(
                f"{share - lack:.0%} of {self.turns} questions are of the {name} {key}, and "
                f"{share:.0%} are published: give the voices more needs of that {name}."
            )


def _added(a: Counter[str], b: Counter[str]) -> Counter[str]:
    found = Counter(a)
    found.update(b)
    return found


def asks_for(want: Want) -> str:
    """What is kept in balance apart: statements that may be false, and questions."""
    return "premise" if want.answer[0] == "premise" else "question"
