"""How far a judge can be played: adversarial pairs by angle, and what a judge made of them.

Each pair was written without sight of any judge and ruled on twice. No pair of the half called
`held` was read while the built-in judge was made; its total was (docs/benchmarks/judges.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from mmrag.errors import DataError, UsageError
from mmrag.metrics.statistics import wilson
from mmrag.records import JudgeItem, Outcome, Record

FOLDER = Path(str(files("mmrag.judges"))) / "data" / "stress"
HALVES = ("open", "held")


class StressPair(Record, frozen=True, kw_only=True):
    """A question with its references, a reply, and what a fair person says of the reply."""

    angle: str
    question: str
    references: tuple[str, ...]
    prediction: str
    outcome: Outcome
    id: str = ""

    def item(self) -> JudgeItem:
        """What a judge is given."""
        return JudgeItem(
            id=self.id,
            question=self.question,
            references=self.references,
            prediction=self.prediction,
        )


class Angle(Record, frozen=True, kw_only=True):
    """What a judge made of the pairs of one angle."""

    name: str
    n: int
    right: int
    """Judged as a person judges; perfect and acceptable are one, missing stands alone."""
    accepted: int
    """Taken for right though a person says wrong or missing: this is what a cheat lives on."""
    rejected: int
    """Not taken for right though a person says right."""
    unscored: int
    interval: tuple[float | None, float | None]
    """Wilson's 95 % interval of the share judged rightly."""


def read_pairs(half: str, *, limit: int | None = None) -> list[StressPair]:
    """The pairs of a half or of `both`, as far as they are there; at most `limit` of an angle."""
    if half not in (*HALVES, "both"):
        raise UsageError(f"{half!r} is not a half of the suite; choose open, held or both.")
    names = HALVES if half == "both" else (half,)
    paths = [path for name in names if (path := FOLDER / f"{name}.jsonl").is_file()]
    if not paths:
        raise UsageError(f"the {half} half of the suite is not installed; choose another half.")
    found: list[StressPair] = []
    taken: dict[str, int] = {}
    for path in paths:
        for pair in _read(path):
            taken[pair.angle] = taken.get(pair.angle, 0) + 1
            if limit is None or taken[pair.angle] <= limit:
                found.append(pair)
    return found


def tally(pairs: Sequence[StressPair], outcomes: Sequence[Outcome]) -> list[Angle]:
    """One line for each angle, in the order of their names."""
    by_angle: dict[str, list[tuple[Outcome, Outcome]]] = {}
    for pair, said in zip(pairs, outcomes, strict=True):
        by_angle.setdefault(pair.angle, []).append((pair.outcome, said))
    return [_angle(name, by_angle[name]) for name in sorted(by_angle)]


def sum_angles(angles: Sequence[Angle]) -> Angle:
    """All angles as one."""
    n, right = sum(a.n for a in angles), sum(a.right for a in angles)
    return Angle(
        name="all",
        n=n,
        right=right,
        accepted=sum(a.accepted for a in angles),
        rejected=sum(a.rejected for a in angles),
        unscored=sum(a.unscored for a in angles),
        interval=_interval(right, n),
    )


def _angle(name: str, cases: Sequence[tuple[Outcome, Outcome]]) -> Angle:
    right = sum(_merged(true) == _merged(said) for true, said in cases)
    return Angle(
        name=name,
        n=len(cases),
        right=right,
        accepted=sum(said.is_correct and not true.is_correct for true, said in cases),
        rejected=sum(true.is_correct and not said.is_correct for true, said in cases),
        unscored=sum(said is Outcome.UNSCORED for _, said in cases),
        interval=_interval(right, len(cases)),
    )


def _merged(outcome: Outcome) -> Outcome:
    return Outcome.PERFECT if outcome.is_correct else outcome


def _interval(right: int, n: int) -> tuple[float | None, float | None]:
    found = wilson(right, n)
    return found.low, found.high


def _read(path: Path) -> list[StressPair]:
    try:
        lines = path.read_bytes().split(b"\n")
        return [msgspec.json.decode(line, type=StressPair) for line in lines if line.strip()]
    except (OSError, msgspec.MsgspecError) as error:
        raise DataError(f"{path.name} cannot be read ({error}); install mmrag again.") from error
