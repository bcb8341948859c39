"""Agents that a spec names: checked before anything is built for them, and made."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TypeVar

from mmrag.errors import SpecError, UsageError
from mmrag.protocols import Agent, Resources
from simulator.parts.own_agents import is_own
from simulator.run.run_config import GLASSES
from simulator.run.time_limits import READY_SECONDS
from simulator.terminal import shutdown as ending

T = TypeVar("T")


def check_agent(text: str) -> None:
    """Refuse an agent that nobody knows, that lacks an option or knows none of that name.

    That is before an index is built for it. What an option may be is the agent's own affair, and
    told when it is made.
    """
    import inspect

    from mmrag.agents import agents

    if text == GLASSES:
        raise UsageError("this run's agent is an app: hold it with mmrag glasses.")
    if is_own(text):
        raise UsageError(
            f"this run's agent was an object of a Python program ({text}); resume it "
            "from there: evaluate(agent, …, out=FOLDER) with the same agent and settings."
        )
    spec = agents.parse(text)
    parameters = inspect.signature(agents.factory(spec.name)).parameters.values()
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    options = [o for o in parameters if o.kind in named and o.name != "resources"]
    known = [option.name for option in options]
    unknown = sorted(set(spec.options) - set(known))
    if unknown and not any(o.kind is o.VAR_KEYWORD for o in parameters):
        near = difflib.get_close_matches(unknown[0], known, n=1)
        raise SpecError(
            f"agent {text!r} has no option {unknown[0]!r}. "
            + (f"Did you mean {near[0]!r}? " if near else "")
            + f"Its options: {', '.join(known) or 'none'}."
        )
    lacking = [
        option.name
        for option in options
        if option.default is option.empty and option.name not in spec.options
    ]
    if lacking:
        raise SpecError(
            f"agent {text!r} lacks the option {lacking[0]!r}: write "
            f"{spec.name}:{','.join(f'{name}=…' for name in lacking)} "
            f"(`mmrag agent describe {spec.name}` explains it)."
        )


SEARCHLESS = (
    "command", "crag-llm-only", "http", "llm-only", "random", "scripted", "tool-user",
)  # fmt: skip
"""Agents that search nothing, so that no index is built or opened for them."""


def uses_searches(text: str, *, seconds: float = READY_SECONDS) -> bool:
    """Whether an agent may use a run's searches; one of Python says so by taking `resources`."""
    from mmrag.agents import agents
    from mmrag.agents.external.adapters import takes_resources

    spec = agents.parse(text)
    if spec.name == "faulty":
        return uses_searches(spec.options.get("agent", "random"), seconds=seconds)
    if spec.name == "python":
        return _apart(text, lambda: takes_resources(spec.options["name"]), seconds)
    return spec.name not in SEARCHLESS


def finds_handed_truth(text: str, *, seconds: float = READY_SECONDS) -> bool:
    """Whether what a stage hands over reaches an agent by the run's searches; else it is written
    beneath the question."""
    from mmrag.agents import agents
    from mmrag.agents.external.kits import takes_search

    spec = agents.parse(text)
    if spec.name != "kit" or spec.options.get("rag_context") == "on":
        return uses_searches(text, seconds=seconds)
    return _apart(text, lambda: takes_search(spec.options["name"]), seconds)


def make_agent(spec: str, resources: Resources, *, seconds: float = READY_SECONDS) -> Agent:
    """The agent of a spec; what it raises while it is made is its own fault."""
    from mmrag.agents import agents

    return _apart(spec, lambda: agents.create(spec, resources=resources), seconds)


def _apart(spec: str, call: Callable[[], T], seconds: float) -> T:
    """What a call of an agent's own code returns, in a thread of its own and within a time."""
    from mmrag.agents.external.daemon_threads import DaemonThreads
    from mmrag.errors import AgentError, MmragError, error_text

    def make() -> T:
        try:
            return call()
        except MmragError:
            raise
        except BaseException as error:  # it may be anybody's
            raise AgentError(f"agent {spec} cannot be made: {error_text(error)}") from error

    ending.note_agent_made()
    made = DaemonThreads().submit(make)
    try:
        return made.result(seconds or None)
    except TimeoutError as error:
        raise AgentError(
            f"agent {spec} was not made within {seconds:g} s; nothing was asked. "
            "Give it longer with --ready-seconds."
        ) from error
