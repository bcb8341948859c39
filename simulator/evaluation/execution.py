"""Hold every conversation of a data set with an agent: what `evaluate` and `mmrag run` do."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mmrag.protocols import Agent
from mmrag.shards import Shard
from simulator.cluster.machines import Machines
from simulator.counting import counted
from simulator.evaluation.hosting import Hosting

if TYPE_CHECKING:
    from simulator.evaluation.holding import Holding
    from simulator.evaluation.sharing import Shared
    from simulator.run.config import RunConfig


def execute(
    settings: RunConfig,
    folder: Path,
    *,
    agent: Agent | None = None,
    concurrency: int = 16,
    max_cost: float | None = None,
    repeats: int | None = None,
    hosting: Hosting = Hosting(),
    machines: Machines = Machines(),
    progress: bool = True,
    shared: Shared | None = None,
) -> None:
    """Run, or go on with, what `settings` say, into `folder`, and as often again beside it.

    `agent` is one that the settings only label; else they name it. `repeats` counts the run itself;
    a run that is gone on with has as many as it was begun with, or more. Raises `Interrupted` on
    Ctrl-C and `CostCap` when the money is spent: what was committed is kept. `shared` is what
    several runs share; without it each time has its own.
    """
    from simulator.evaluation.live import cost_of
    from simulator.evaluation.progress import say
    from simulator.run.repeats import repeat_folder

    place = folder.absolute()  # making an agent may change the working directory
    again = f"mmrag resume {shlex.quote(str(folder))}{machines.flags}"
    if agent is not None:
        again = f"evaluate(…, out={str(folder)!r}) with the same agent and settings"
    how = _How(agent, concurrency, hosting, machines, progress, again, shared)
    number, last, spent = 1, repeats or 1, 0.0
    while number <= last:
        here = place if number == 1 else repeat_folder(place, number)
        if number > 1 and progress:
            say(f"{folder.name}: time {number} of {last}")
        left = None if max_cost is None else max(max_cost - spent, 0.0)
        last = _hold(settings, here, how, repeats=last, max_cost=left)
        spent += cost_of(here) if max_cost is not None and number < last else 0.0
        number += 1


class _How(NamedTuple):
    """What holds for every time that a run is held."""

    agent: Agent | None
    concurrency: int
    hosting: Hosting
    machines: Machines
    progress: bool
    again: str
    """How to go on with it."""
    shared: Shared | None


def _hold(
    settings: RunConfig, folder: Path, how: _How, *, repeats: int, max_cost: float | None
) -> int:
    """Hold all conversations once. Returns how often the run is to be held in all."""
    from mmrag.cache import CacheStats
    from simulator.evaluation import wiring
    from simulator.evaluation.event_loops import run_to_end
    from simulator.evaluation.interrupting import interruptible
    from simulator.evaluation.live import live_table
    from simulator.evaluation.preflight import probe_models
    from simulator.evaluation.progress import say
    from simulator.evaluation.sharing import Shared
    from simulator.store.run_store import RunStore

    agent, concurrency, hosting, machines, progress, again, given = how
    shared = given or Shared(once=True)
    if agent is None:
        wiring.check_agent(settings)
    source = shared.source(settings)
    plan = wiring.make_plan(settings, concurrency, ready_seconds=hosting.ready_seconds)
    judge = shared.judge(settings)
    if agent is None:
        run_to_end(probe_models(settings.agent, settings.judge))
    made: Holding
    if machines.backend == "ray":
        from simulator.cluster.running import OnCluster

        made = OnCluster(settings, source, judge, plan, hosting, machines, progress=progress)
    else:
        from simulator.evaluation.holding import InProcess

        made = InProcess(
            settings, source, judge, plan, hosting, agent, progress=progress, shared=shared
        )
    count = wiring.count_sessions(source, settings)
    conditions, without = plan.conditions(picture=True), plan.conditions(picture=False)
    total = count * len(conditions)
    if without != conditions and (text := wiring.without_pictures(source, settings)):
        total -= text * (len(conditions) - len(without))
        if progress:
            what = counted(text, "session"), f"{len(without)} times" if without[1:] else "once"
            say(f"{what[0]} without a picture: held {what[1]}, as nothing can happen to one.")
    if progress and (lost := wiring.unsearched_faults(settings, made.index)):
        say(f"this run searches nothing, so no turn will feel {', '.join(lost)}.")
    with interruptible(f"what was committed to {folder}", again), RunStore(folder) as store:
        wiring.claim(store, settings, data=source.fingerprint, index=made.index, judge=judge.id)
        promised = {"sessions": count, "degradations": conditions}
        promised |= {"conversations": total, "capacity": made.capacity}
        store.set_meta("plan", promised)
        known: int = store.meta("repeats") or 1
        if repeats > known:
            store.set_meta("repeats", repeats)
        with live_table(total, max_cost=max_cost, shown=progress) as advance, made.opened():
            saved = run_to_end(made.hold(store, advance))
        store.set_meta("finished", True)
        if saved != CacheStats():
            store.set_meta("cache", saved)
    return max(repeats, known)


def rejudge(
    folder: Path,
    judge: str,
    *,
    concurrency: int = 16,
    progress: bool = True,
    shard: Shard | None = None,
) -> int:
    """Judge a run's replies again without asking the agent. Returns how many got a verdict.

    With a shard only those of its conversations; the call without one takes all in.
    """
    from functools import partial

    from simulator.evaluation.event_loops import run_to_end
    from simulator.evaluation.interrupting import interruptible
    from simulator.evaluation.progress import stage_bars
    from simulator.evaluation.wiring import make_judge
    from simulator.run.rejudge import rejudge_run
    from simulator.store.run_shard import RunShard
    from simulator.store.run_store import RunReader, RunStore

    RunReader(folder).close()  # a folder that is no run is refused, not made one
    chosen = make_judge(judge)
    again = f"mmrag rejudge {shlex.quote(str(folder))} --judge {shlex.quote(judge)}"
    with (
        interruptible(f"what was committed to {folder}", again),
        RunStore(folder) if shard is None else RunShard(folder, shard, "rejudge") as store,
        stage_bars(shown=progress) as advance,
    ):
        work = rejudge_run(store, chosen, concurrency, on_progress=partial(advance, "judging"))
        return run_to_end(work)


def forget_failures(folder: Path) -> int:
    """Drop failed turns and all after them, so that they are asked again. Returns how many."""
    from simulator.run.repeats import repeat_folders

    return sum(_forget_failures(place) for place in (folder, *repeat_folders(folder)))


def _forget_failures(folder: Path) -> int:
    from simulator.store.run_store import RunStore

    dropped = 0
    with RunStore(folder) as store:
        for session_id, degradation in store.session_keys():
            for result in store.turns(session_id, degradation):
                if result.status.is_failure and not result.fault:  # a fault would meet it again
                    store.forget_turns(session_id, degradation, result.turn_index)
                    dropped += 1
                    break
        if dropped:
            store.set_meta("finished", False)
    return dropped
