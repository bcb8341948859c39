"""Agents: what is under test. `agents.create("random", resources=Resources())` makes one.

A factory takes `resources` and the options of its spec as strings.
"""

from __future__ import annotations

from pathlib import PurePath

from mmrag.protocols import Agent
from mmrag.registry import Registry


def _instead(spec: str) -> str:
    """A model where an agent belongs: the agent that asks it. A file: how its class is named."""
    from mmrag.models import models

    name, _, rest = spec.partition(":")
    if name.endswith(".py"):
        return (
            f" For a class or function of that file: python:name={PurePath(name).stem}/MyAgent, "
            "with its folder on PYTHONPATH."
        )
    if name not in models.names():
        return ""
    model = spec if "=" in rest else f"{name}:name={rest or 'MODEL'}"
    return f" {name} is a model; an agent that asks it: llm-only:model=({model})."


agents: Registry[Agent] = Registry(
    "agent",
    group="mmrag.agents",
    unknown=_instead,
    builtin={
        "llm-only": "mmrag.agents.paper.baselines:llm_only",
        "task1": "mmrag.agents.paper.baselines:task1",
        "task2": "mmrag.agents.paper.baselines:task2",
        "task3": "mmrag.agents.paper.baselines:task3",
        "tool-user": "mmrag.agents.tool_user:make",
        "crag-llm-only": "mmrag.agents.paper.crag_tasks:llm_only",
        "crag-task1": "mmrag.agents.paper.crag_tasks:task1",
        "crag-task2": "mmrag.agents.paper.crag_tasks:task2",
        "crag-task3": "mmrag.agents.paper.crag_tasks:task3",
        "garage": "mmrag.agents.paper.garage_agent:make",
        "rag": "mmrag.agents.paper.baselines:rag",
        "grounded": "mmrag.agents.grounded.agent:grounded",
        "python": "mmrag.agents.external.adapters:python",
        "command": "mmrag.agents.external.adapters:command",
        "http": "mmrag.agents.external.adapters:http",
        "kit": "mmrag.agents.external.kits:kit",
        "scripted": "mmrag.agents.fakes:scripted",
        "random": "mmrag.agents.fakes:RandomAgent",
        "faulty": "mmrag.agents.fakes:faulty",
    },
)
"""Every agent by name. Other packages add theirs by the entry-point group `mmrag.agents`."""
