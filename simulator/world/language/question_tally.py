"""What a world's questions come to so far: which types, speeds and sides are wanting next."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from mmrag.errors import DataError
from simulator.world.checks.published_figures import DYNAMISM, EXTERNAL, TYPE_TOTALS
from simulator.world.language.filled_needs import FilledNeed
from simulator.world.language.questions.question_records import Question
from simulator.world.language.voices.need_reader import Need

_MOST_VISUAL = 5.0
"""How much it counts at most that questions which the picture alone answers are wanting: more would
leave no room for the types that are short."""

SHARE_TOLERANCE = 0.02
"""By how much a speed of single questions may be short of its share; more where turns are few."""

LEAST_OF_A_SHARE = 1 / 3
"""How much of its share a type or a speed must have in conversations: what an errand asks next
follows from the errand, and CRAG-MM counts types of single questions only."""

_MOST_LACKING = 6.0
"""How much it counts at most that a type or a speed is wanting."""

_BY_CHANCE = 4
"""How many questions a share may always be short by: of 40 nobody can say more."""

_TYPE_SHARES = {t: n / sum(TYPE_TOTALS.values()) for t, n in TYPE_TOTALS.items()}

OPENINGS = {
    "simple-recognition": 0.18,
    "simple-knowledge": 0.42,
    "multi-hop": 0.02,
    "comparison": 0.1,
    "aggregation": 0.16,
    "reasoning": 0.12,
}
"""Type → share of first turns that is aimed at. Left to the shares of all turns, 37 of 100 would
ask for a name and 20 for the neighbour: what follow-ups seldom do."""


@dataclass
class QuestionTally:
    """What a set has so far of everything that is to come out in proportion."""

    turns: int = 0
    types: Counter[str] = field(default_factory=Counter[str])
    openings: Counter[str] = field(default_factory=Counter[str])
    """The types of first turns."""
    speeds: Counter[str] = field(default_factory=Counter[str])
    visual: int = 0
    used: Counter[str] = field(default_factory=Counter[str])
    """Need id → how often it was asked."""
    flips: Counter[str] = field(default_factory=Counter[str])
    """Need id → by how much it was answered yes (or with a true premise) more often than no."""
    leaning: Counter[str] = field(default_factory=Counter[str])
    """The same of all needs together, premises apart."""
    numbers: Counter[str] = field(default_factory=Counter[str])
    """The same of each number that a question names ("enough for six"): it must not tell."""

    def plus(self, other: QuestionTally) -> QuestionTally:
        """Both together."""
        return QuestionTally(
            turns=self.turns + other.turns,
            types=self.types + other.types,
            openings=self.openings + other.openings,
            speeds=self.speeds + other.speeds,
            visual=self.visual + other.visual,
            used=self.used + other.used,
            flips=added(self.flips, other.flips),
            leaning=added(self.leaning, other.leaning),
            numbers=added(self.numbers, other.numbers),
        )

    def lack(self, query_type: str, speed: str, *, visual: bool) -> float:
        """How much a question of this type and speed is wanting. A world is refused for want of
        types first, of speeds next, never for what the picture alone answers."""
        n = self.turns + 1
        of_type = _capped(_TYPE_SHARES[query_type] * n - self.types[query_type])
        of_speed = _capped(DYNAMISM[speed] * n - self.speeds[speed])
        of_visual = min((1 - EXTERNAL) * n - self.visual, _MOST_VISUAL)
        return 2 * of_type + 1.5 * of_speed + (of_visual if visual else -of_visual)

    def lack_of_openings(self, query_type: str) -> float:
        """How much a first turn of this type is wanting."""
        return OPENINGS[query_type] * (self.openings.total() + 1) - self.openings[query_type]

    def add(self, filled: FilledNeed, question: Question) -> None:
        """One more question."""
        self.turns += 1
        self.openings[question.query_type] += not question.index
        self.types[question.query_type] += 1
        self.speeds[question.dynamism] += 1
        self.visual += not question.external
        self.used[filled.want.id] += 1
        if question.choice or question.program[0] == "premise":
            is_yes = question.answer == "Yes" if question.choice else not question.false_premise
            self.flips[filled.want.id] += 1 if is_yes else -1
            self.leaning[tally_group(filled.want)] += 1 if is_yes else -1
            for number in filled.numbers:
                self.numbers[number] += 1 if is_yes else -1

    def refuse_if_short(self, *, is_planned: bool) -> None:
        """Refuse a world whose shares are too far from the published ones. `is_planned`: its types
        were planned."""
        turns = max(1, self.turns)
        for name, shares, counts in (
            ("type", {} if is_planned else _TYPE_SHARES, self.types),
            ("dynamism", DYNAMISM, self.speeds),
        ):
            for key, share in shares.items():
                near = SHARE_TOLERANCE if is_planned else (1 - LEAST_OF_A_SHARE) * share
                least = int(turns * (share - max(near, _BY_CHANCE / turns)))
                if counts[key] < least:
                    raise DataError(
                        f"{counts[key]} of {self.turns} questions are of the {name} {key}, and at "
                        f"least {least} must be: give the voices more needs of that {name}."
                    )


def _capped(lack: float) -> float:
    return max(-_MOST_LACKING, min(_MOST_LACKING, lack))


def added(a: Counter[str], b: Counter[str]) -> Counter[str]:
    """The sum of both; what `+` drops of counters, sums below one, is kept."""
    found = Counter(a)
    found.update(b)
    return found


def tally_group(need: Need) -> str:
    """What is kept in balance apart: statements that may be false, and questions."""
    return "premise" if need.answer[0] == "premise" else "question"
