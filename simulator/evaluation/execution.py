"""Hold every conversation of a data set with an agent: what `evaluate` and `mmrag run` do."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.protocols import Agent
from simulator.counting import counted
from simulator.evaluation.hosting import Hosting

if TYPE_CHECKING:
    from mmrag.cache import Cache
    from simulator.run.config import RunConfig


def execute(
    settings: RunConfig,
    folder: Path,
    *,
    agent: Agent | None = None,
    concurrency: int = 16,
    max_cost: float | None = None,
    hosting: Hosting = Hosting(),
    progress: bool = True,
    cache: Cache | None = None,
) -> None:
    """Run, or go on with, what `settings` say, into `folder`.

    `agent` is one that the settings only label; else they name it. Raises `Interrupted` on Ctrl-C
    and `CostCap` when the money is spent: what was committed is kept. `cache` is one that several
    runs share.
    """
    from mmrag.agents.readiness import capacity
    from mmrag.cache import Cache as NewCache
    from mmrag.cache import CacheStats, share
    from simulator.evaluation import wiring
    from simulator.evaluation.event_loops import run_to_end
    from simulator.evaluation.interrupting import interruptible
    from simulator.evaluation.live import live_table
    from simulator.evaluation.preflight import probe_models
    from simulator.evaluation.progress import say
    from simulator.run.captures import CaptureOptics
    from simulator.run.runner import run_sessions
    from simulator.store.run_store import RunStore

    place = folder.absolute()  # making an agent may change the working directory
    again = f"mmrag resume {shlex.quote(str(folder))}"
    cache, index = cache or NewCache(), None
    if agent is None:
        wiring.check_agent(settings)
    else:
        again = f"evaluate(…, out={str(folder)!r}) with the same agent and settings"
    source = wiring.open_source(settings)
    plan = wiring.make_plan(settings, concurrency, ready_seconds=hosting.ready_seconds)
    judge = wiring.make_judge(settings.judge)
    if agent is None:
        resources, index = wiring.make_resources(settings, progress=progress)
        shared = share(resources, cache, id=index or "")
        agent = wiring.host_agent(settings, shared, hosting, concurrency)
        run_to_end(probe_models(settings.agent, settings.judge))
    chosen = wiring.chosen_sessions(source, settings)
    count = wiring.count_sessions(source, settings)
    total = count * len(plan.degradations)
    if plan.degradations != ("clean",) and (text := wiring.without_pictures(source, settings)):
        total -= text * (len(plan.degradations) - 1)
        if progress:
            say(
                f"{counted(text, 'session')} without a picture: held once, as nothing can be "
                "degraded."
            )
    with interruptible(f"what was committed to {folder}", again), RunStore(place) as store:
        wiring.claim(store, settings, data=source.fingerprint, index=index, judge=judge.id)
        promised = {"sessions": count, "degradations": list(plan.degradations)}
        promised |= {"conversations": total, "capacity": capacity(agent)}
        store.set_meta("plan", promised)
        with live_table(total, max_cost=max_cost, shown=progress) as advance:
            work = run_sessions(
                chosen, agent, judge, store, plan, optics=CaptureOptics(), on_progress=advance
            )
            run_to_end(work)
        store.set_meta("finished", True)
        if cache.stats != CacheStats():
            store.set_meta("cache", cache.stats)


def rejudge(folder: Path, judge: str, *, concurrency: int = 16, progress: bool = True) -> int:
    """Judge a run's replies again without asking the agent. Returns how many got a verdict."""
    from functools import partial

    from simulator.evaluation.event_loops import run_to_end
    from simulator.evaluation.interrupting import interruptible
    from simulator.evaluation.progress import stage_bars
    from simulator.evaluation.wiring import make_judge
    from simulator.run.rejudge import rejudge_run
    from simulator.store.run_store import RunReader, RunStore

    RunReader(folder).close()  # a folder that is no run is refused, not made one
    chosen = make_judge(judge)
    again = f"mmrag rejudge {shlex.quote(str(folder))} --judge {shlex.quote(judge)}"
    with (
        interruptible(f"what was committed to {folder}", again),
        RunStore(folder) as store,
        stage_bars(shown=progress) as advance,
    ):
        work = rejudge_run(store, chosen, concurrency, on_progress=partial(advance, "judging"))
        return run_to_end(work)


def forget_failures(folder: Path) -> int:
    """Drop failed turns and all after them, so that they are asked again. Returns how many."""
    from simulator.store.run_store import RunStore

    dropped = 0
    with RunStore(folder) as store:
        for session_id, degradation in store.session_keys():
            for result in store.turns(session_id, degradation):
                if result.status.is_failure:
                    store.forget_turns(session_id, degradation, result.turn_index)
                    dropped += 1
                    break
        if dropped:
            store.set_meta("finished", False)
    return dropped
