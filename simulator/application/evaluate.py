"""The front door: an agent in, a run out."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mmrag.errors import UsageError
from mmrag.records import Query

if TYPE_CHECKING:
    from simulator.application.stored_run import Run


class CanAnswer(Protocol):
    """Anything with `answer(query)`, plain or async, that returns a text or a `Reply`."""

    def answer(self, query: Query, /) -> Any:
        """Answer one turn."""
        ...


class CanBeCalled(Protocol):
    """A function of the query, plain or async, that returns a text or a `Reply`."""

    def __call__(self, query: Query, /) -> Any:
        """Answer one turn."""
        ...


def evaluate(
    agent: str | CanAnswer | CanBeCalled,
    data: str | Path = "mini",
    *,
    degrade: str = "none",
    limit: int | None = None,
    judge: str = "builtin",
    search: str = "auto",
    out: str | Path | None = None,
    concurrency: int = 16,
    max_cost: float | None = None,
    progress: bool = True,
    backend: str = "local",
    address: str | None = None,
    workers: int | None = None,
    stores: int | None = None,
    **settings: Any,
) -> Run:
    """Run every conversation of a data set with an agent, judge each answer, and keep it all.

    ::

        from simulator import evaluate

        run = evaluate(lambda query: "I don't know.", limit=5)
        run.score()

    `agent` is a spec, an object with `answer(query)`, or a function of the query; the last two may
    be plain or async. Plain ones are called from several threads at once, as many as `concurrency`
    says, or the object's own `capacity`.

    A spec's run goes to `out`, or to a folder that its settings decide, and is resumed if it
    is there. What an object did cannot be told from its settings, so its run goes to a fresh folder
    unless `out` says to go on.

    `settings` are the other settings of a run (`simulator.run.run_config.RunConfig`), as in
    `mmrag run --help`: `seconds=20`, `wearer="live"`.

    `backend="ray"` runs the conversations of a spec's agent on many machines: `workers` processes
    of the cluster at `address`, or of this machine, and `stores` that keep turns.
    """
    from simulator.application.execution import execute
    from simulator.application.stored_run import load_run
    from simulator.cluster.machines import Machines
    from simulator.parts.own_agents import own_agent
    from simulator.parts.run_folder import default_out, fresh_out
    from simulator.parts.run_parts import Parts
    from simulator.run.run_config import make_config

    own = None if isinstance(agent, str) else own_agent(agent)
    if own and search != "auto":
        raise UsageError(
            f"search={search!r} is for agents that a spec names; an object brings its own searches."
        )
    if concurrency < 1:
        raise UsageError(f"concurrency={concurrency!r} is a number; give at least 1.")
    if max_cost is not None and not max_cost >= 0:  # so that "not a number" is none either
        raise UsageError(f"max_cost={max_cost!r} is an amount in US dollars; give 0 or more.")
    machines = Machines.read(backend, address, workers, stores)
    if own and machines.backend != "local":
        raise UsageError(
            "an object lives in this process: name the agent by a spec, such as "
            "'python:name=my_module/MyAgent', and every worker makes its own."
        )
    values: dict[str, Any] = {
        **settings, "agent": own.label if own else agent, "data": str(data), "degrade": degrade,
        "limit": limit, "judge": judge, "search": "none" if own else search,
    }  # fmt: skip
    config = make_config(values)
    if out is not None:
        folder = Path(out).absolute()
    else:
        folder = (fresh_out(config, own.name) if own else default_out(config)).absolute()
    try:
        parts = Parts(config, agent=own.agent if own else None, progress=progress)
        execute(
            parts, folder, concurrency=concurrency, max_cost=max_cost, machines=machines,
        )  # fmt: skip
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()  # empty: nothing was begun
    return load_run(folder)
