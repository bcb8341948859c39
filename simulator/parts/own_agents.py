"""Agents that are objects of a Python program: any `answer(query)`, or a plain function."""

from __future__ import annotations

import functools
import hashlib
import inspect
import types
from typing import Any, NamedTuple

from mmrag.errors import UsageError
from mmrag.protocols import Agent

KIND = "object"
"""What the label of such an agent begins with. No registry knows it: it cannot be made again."""

_KNOWN = (
    "give a spec such as 'grounded', an object with answer(query), or a function that takes the "
    "query and returns a text"
)


class OwnAgent(NamedTuple):
    """An object as an agent, and what it was."""

    agent: Agent
    label: str
    """`object:name=module.Class,source=HASH`: stands in a run's settings in the place of a spec."""
    name: str


def own_agent(given: object) -> OwnAgent:
    """Take an object for an agent, or say in one line why it is none."""
    from mmrag.agents.external.adapters import PythonAgent, check_takes_query

    if isinstance(given, type):
        raise UsageError(
            f"{given.__qualname__} is a class: give an instance of it, {given.__qualname__}(…)."
        )
    answer: Any = getattr(given, "answer", None)
    if answer is None and callable(given):
        given = types.SimpleNamespace(answer=given)
        answer = given.answer
    if not callable(answer):
        raise UsageError(f"{type(given).__name__} is not an agent: {_KNOWN}.")
    what = _definition(answer if isinstance(given, types.SimpleNamespace) else given)
    check_takes_query(answer, what.__qualname__)
    source = _source_hash(what)
    label = f"{KIND}:name={what.__module__}.{what.__qualname__}"
    return OwnAgent(
        agent=PythonAgent(given),
        label=f"{label},source={source}" if source else label,
        name=what.__name__.strip("<>"),
    )


def is_own(label: str) -> bool:
    """Whether the agent of a run was an object."""
    return label.startswith(f"{KIND}:")


def _definition(given: Any) -> Any:
    """The function or class that stands in the program's text."""
    while isinstance(given, functools.partial):
        given = given.func
    return given if hasattr(given, "__qualname__") else type(given)


def _source_hash(what: Any) -> str:
    """Of the text, or of the text of the methods where a class has none (in a notebook)."""
    text = _source(what)
    if not text and isinstance(what, type):
        text = "".join(_source(part) for part in vars(what).values() if inspect.isfunction(part))
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else ""


def _source(what: Any) -> str:
    try:
        return inspect.getsource(what)
    except (OSError, TypeError):
        return ""
