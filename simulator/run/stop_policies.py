"""When a wearer gives up. Stop policies are pure: outcomes so far → the first turn that is cut.

Because they are pure, a finished run can be scored under another policy by re-aggregation.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from mmrag.errors import SpecError
from mmrag.metrics.scoring_protocols import StopRule, strike_rule
from mmrag.records import Outcome, Record

KNOWN = "never, strikes(n), patience(p)"


class StopPolicy(Record, frozen=True, kw_only=True):
    """A stop rule with a name that parses back.

    >>> str(StopPolicy.parse("strikes(3)"))
    'strikes(3)'
    """

    name: str = "strikes"
    value: float = 2.0
    seed: int = 0
    """Seeds the hazard of `patience`; the others ignore it."""

    @classmethod
    def parse(cls, text: str, *, seed: int = 0) -> StopPolicy:
        """Read `never`, `strikes(n)` with n ≥ 1, or `patience(p)` with 0 ≤ p ≤ 1."""
        match = re.fullmatch(r"(never|strikes|patience)(?:\((\d+(?:\.\d+)?)\))?", text.strip())
        if match is None:
            raise SpecError(f"{text!r} is not a stop policy. Known: {KNOWN}.")
        name, number = match.groups()
        if (name == "never") == (number is not None):
            raise SpecError(f"{text!r}: write one of {KNOWN}, with the number in brackets.")
        value = float(number or 0)
        if name == "strikes" and (value < 1 or value != int(value)):
            raise SpecError(f"{text!r}: the number of strikes is a whole number from 1 on.")
        if name == "patience" and value > 1:
            raise SpecError(f"{text!r}: patience is a probability between 0 and 1.")
        return cls(name=name, value=value, seed=seed if name == "patience" else 0)

    def __str__(self) -> str:
        return self.name if self.name == "never" else f"{self.name}({self.value:g})"

    @property
    def description(self) -> str:
        """What ends a conversation, for whoever reads a report.

        >>> StopPolicy.parse("strikes(2)").description, StopPolicy.parse("strikes(1)").description
        ('two failures in a row end a conversation', 'a failure ends a conversation')
        """
        if self.name == "never":
            return "no failure ends a conversation"
        if self.name == "patience":
            return f"after each failure the wearer stays with probability {self.value:g}"
        if self.value == 1:
            return "a failure ends a conversation"
        many = {2: "two", 3: "three"}.get(int(self.value), f"{self.value:g}")
        return f"{many} failures in a row end a conversation"

    @property
    def rule(self) -> StopRule:
        """The rule as a function, as the scoring protocols take it."""
        if self.name == "never":
            return _never
        return strike_rule(int(self.value)) if self.name == "strikes" else self._patience

    def _patience(self, session_id: str, outcomes: Sequence[Outcome]) -> int | None:
        """After each failed turn the wearer stays with probability p, drawn per turn."""
        for index, outcome in enumerate(outcomes):
            failed = outcome is not Outcome.UNSCORED and not outcome.is_correct
            if failed and _uniform(self.seed, session_id, index) >= self.value:
                return index + 1
        return None


def _never(session_id: str, outcomes: Sequence[Outcome]) -> int | None:
    del session_id, outcomes


def _uniform(seed: int, session_id: str, index: int) -> float:
    digest = hashlib.sha256(f"patience\x00{seed}\x00{session_id}\x00{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
