"""Agents: what is under test. `agents.create("random", resources=Resources())` makes one.

A factory takes `resources` and the options of its spec as strings.
"""

from __future__ import annotations

from mmrag.protocols import Agent
from mmrag.registry import Registry

agents: Registry[Agent] = Registry(
    "agent",
    group="mmrag.agents",
    builtin={
        "llm-only": "mmrag.agents.baselines:llm_only",
        "task1": "mmrag.agents.baselines:task1",
        "task2": "mmrag.agents.baselines:task2",
        "task3": "mmrag.agents.baselines:task3",
        "rag": "mmrag.agents.baselines:rag",
        "grounded": "mmrag.agents.grounded.agent:grounded",
        "python": "mmrag.agents.adapters:python",
        "command": "mmrag.agents.adapters:command",
        "http": "mmrag.agents.adapters:http",
        "kit": "mmrag.agents.kits:kit",
        "scripted": "mmrag.agents.fakes:scripted",
        "random": "mmrag.agents.fakes:RandomAgent",
        "faulty": "mmrag.agents.fakes:faulty",
    },
)
"""Every agent by name. Other packages add theirs by the entry-point group `mmrag.agents`."""
