"""What a question asks for, as data: the planner's result and the reader's input."""

from __future__ import annotations

from mmrag.records import Record

MAIN, NAMED, BESIDE, GROUP, UNKNOWN = "main", "named", "beside", "group", "unknown"


class Subject(Record, frozen=True, kw_only=True):
    """Whom a question is about: the thing in the picture, a named thing, things beside it."""

    kind: str = MAIN
    name: str = ""
    is_guess: bool = False
    """The name is the agent's own answer about the thing in view, and no surer than that."""
    path: tuple[str, ...] = ()
    """Relations to follow from there: this book's *publisher*'s *chief executive*."""
    tail: str = ""
    """Words after the last possessive: a relation, an attribute, or one after the other."""


class QuestionPlan(Record, frozen=True, kw_only=True):
    """The question taken apart. The reader needs nothing else of it."""

    operation: str
    """lookup, name, choose-name, is-name, print, compare, extreme, filter, difference, …"""
    question: str
    """The question in full: no "it", no "that one", where these are resolved."""
    subject: Subject = Subject()
    others: tuple[Subject, ...] = ()
    ask: str = ""
    """The attribute asked for, in the question's own words."""
    asks_noun: bool = False
    """The words after the subject are the attribute ("what's its price"), not "how tall is its"."""
    larger: bool = True
    """For comparisons: whether the larger value wins."""
    when: str = ""
    """What is asked about: a year, month, day or minute, in ISO; empty means now."""
    now: str = ""
    """real-time, today, current, or empty: how fresh an answer has to be."""
    amount: float | None = None
    unit: str = ""
    claim: str = ""
    """What the question takes for granted."""
    relation: str = ""
    """What other things are to have in common with the subject."""
    options: tuple[str, ...] = ()
    noun: str = ""
    """What kind of thing the question calls its subject."""
    needs_web: bool = True
    sure: float = 1.0
    """How probable it is that this is the operation asked for."""
    inner: QuestionPlan | None = None
    """The question behind a premise or a condition."""
    whom: QuestionPlan | None = None
    """The question before, which was not answered and would have named an unknown subject."""
