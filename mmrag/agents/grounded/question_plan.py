"""What a question comes to, as data: the planner's result and the reader's input."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mmrag.records import Record

LOOKUP = '["get","it",0]'
"""The program of a plain question: one attribute of the thing."""


class QuestionPlan(Record, frozen=True, kw_only=True):
    """The question taken apart. The reader needs nothing else of it."""

    question: str
    """In the wearer's words."""
    program: str = LOOKUP
    """What answers it, as JSON; attributes are numbers, to be found by the question's meaning."""
    masked: str
    """The question with one word for every name."""
    before: tuple[str, ...] = ()
    """Masked questions before it, the last first."""
    names: tuple[str, ...] = ()
    """Names that it says."""
    answer: str = ""
    """What an earlier turn was answered with, where that was a name."""
    is_guess: bool = False
    """That name is the agent's own answer about the thing in view, and no surer than that."""
    sure: float = 1.0
    """How probable it is that this is the program."""

    @property
    def steps(self) -> Any:
        """The program, read."""
        return json.loads(self.program)

    @property
    def things(self) -> frozenset[str]:
        """Whom it is about: it, next, both, these, other, shop, named, answer."""
        return _things(self.steps)

    @property
    def operation(self) -> str:
        """What is done last."""
        return self.steps[0] if isinstance(self.steps, list) else "name"


def last_named_thing(plans: Sequence[QuestionPlan]) -> str:
    """The thing that the wearer last asked about by its name: "it", where nothing is in view."""
    asked = [p.names[0] for p in plans if p.names and p.things == frozenset({"named"})]
    return asked[-1] if asked else ""


def _things(node: Any, *, is_operator: bool = False) -> frozenset[str]:
    if isinstance(node, list):
        return frozenset[str]().union(*(_things(x, is_operator=not i) for i, x in enumerate(node)))
    return frozenset({node}) & _THINGS if isinstance(node, str) and not is_operator else frozenset()


_THINGS = frozenset({"it", "next", "both", "these", "other", "shop", "named", "answer"})
