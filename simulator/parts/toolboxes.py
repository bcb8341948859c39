"""Tools by name, as `--tools` takes them: over a world's facts, in CRAG's form, or of a server.

Another package adds a box by the entry-point group `mmrag.tools`: a function of the options of its
spec that returns a `Toolbox`.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mmrag.errors import SpecError
from mmrag.registry import Registry
from mmrag.tools import Tool

if TYPE_CHECKING:
    from simulator.world.crag.crag_world import CragWorld
    from simulator.world.facts.factbase import FactBase

NO_TOOLS = "none"


class Toolbox(NamedTuple):
    """Tools that belong together, and what tells them from others of the same name."""

    tools: tuple[Tool, ...]
    fingerprint: str


toolboxes: Registry[Toolbox] = Registry(
    "toolbox",
    group="mmrag.tools",
    builtin={
        "world": "simulator.parts.toolboxes:world_tools",
        "crag-kg": "simulator.parts.toolboxes:crag_kg",
    },
)


def world_tools(*, world: str = "mini") -> Toolbox:
    """`world:world=FOLDER`: 84 functions over the facts of a world, by domain."""
    from simulator.world.facts.fact_tools import tools

    facts, fingerprint = _facts(world)
    return Toolbox(tuple(tools(facts).values()), f"world-{fingerprint}")


def crag_kg(*, world: str = "", url: str = "", seconds: str = "5") -> Toolbox:
    """`crag-kg:world=FOLDER`, or `crag-kg:url=http://…,seconds=5`: CRAG's 38 functions. A server is
    asked once before the run: without it every turn would go on as if there were none."""
    if url and world:
        raise SpecError("crag-kg: give world= or url=, not both.")
    if url:
        from simulator.world.crag.kg.remote import server_tools

        try:
            tools = server_tools(url, float(seconds))
        except ValueError as error:
            raise SpecError(f"crag-kg: seconds={seconds} is not a number.") from error
        tools[0].call({"query": "a"}, None)
        return Toolbox(tools, f"crag-kg-{url}")
    from simulator.world.crag.kg.endpoints import crag_tools

    stage, fingerprint = open_crag_world(world or "mini")
    return Toolbox(crag_tools(stage), f"crag-kg-{fingerprint}")


def open_crag_world(world: str) -> tuple[CragWorld, str]:
    """The CRAG world of a world (`mini`, or a folder) and the world's fingerprint."""
    from simulator.world.crag.crag_world import CragWorld

    facts, fingerprint = _facts(world)
    return CragWorld(facts), fingerprint


@lru_cache(maxsize=2)
def _facts(world: str) -> tuple[FactBase, str]:
    from simulator.world.build.world_manifest import read_manifest
    from simulator.world.checks.verify import read_facts
    from simulator.world.sessions import mini_folder

    folder = mini_folder() if world == "mini" else Path(world)
    manifest = read_manifest(folder)
    return read_facts(folder, manifest), str(manifest["fingerprint"])[:16]
