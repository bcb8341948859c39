"""Hold every conversation of a data set with an agent: what `evaluate` and `mmrag run` do."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmrag.errors import UsageError
from simulator.cluster.machines import Machines
from simulator.message_text import counted
from simulator.parts.isolation_options import IsolationOptions
from simulator.run.run_config import GLASSES, command_of

if TYPE_CHECKING:
    from simulator.application.local_backend import RunBackend
    from simulator.parts.run_parts import Parts
    from simulator.run.runner import Plan
    from simulator.store.run_store import RunStore


def execute(
    parts: Parts,
    folder: Path,
    *,
    concurrency: int = 16,
    max_cost: float | None = None,
    hosting: IsolationOptions = IsolationOptions(),
    machines: Machines = Machines(),
    again: bool = False,
) -> None:
    """Run these parts, or resume them, in `folder`, with failed turns `again`. Raises
    `Interrupted` on Ctrl-C and `CostCapReached` when the money is spent: what was committed is
    kept."""
    from mmrag.cache import CacheStats
    from simulator.store.run_store import RunStore, refuse_foreign_folder
    from simulator.terminal.cost_cap import conversation_progress
    from simulator.terminal.event_loops import run_to_end
    from simulator.terminal.interruption import interruptible

    parts.settings.refuse_person()
    place = folder.absolute()  # making an agent may change the working directory
    refuse_foreign_folder(place)
    way = f"mmrag resume {shlex.quote(str(folder))}{machines.flags}"
    if parts.settings.agent == GLASSES:
        way = command_of(parts.settings, "--out", str(folder))
    elif parts.has_own_agent:
        way = f"evaluate(…, out={str(folder)!r}) with the same agent and settings"
    parts.check_agent()
    _ = parts.source  # what cannot be opened or made is told before a model is asked
    plan = parts.plan(concurrency, ready_seconds=hosting.ready_seconds)
    _ = parts.judge
    run_to_end(parts.probe_models())
    made = _holding(parts, plan, hosting, machines)
    promised = _promised(parts, plan)
    with interruptible(f"what was committed to {place}", way), RunStore(place) as store:
        parts.claim(store)
        if again:
            drop_failed_turns(store)
        store.set_meta("plan", {**promised, "capacity": made.capacity})
        total = promised["conversations"]
        with (
            conversation_progress(total, max_cost=max_cost, shown=parts.progress) as advance,
            made.opened(),
        ):
            saved = run_to_end(made.hold(store, advance))
        parts.judge.check()
        store.set_meta("finished", True)
        if saved != CacheStats():
            store.set_meta("cache", saved)


def _holding(parts: Parts, plan: Plan, hosting: IsolationOptions, machines: Machines) -> RunBackend:
    """Where conversations are held."""
    if machines.backend == "ray":
        if parts.settings.spoken != "none":
            raise UsageError("spoken questions are heard on one machine: leave --backend ray out.")
        from simulator.cluster.cluster_backend import ClusterBackend

        return ClusterBackend(parts, plan, hosting, machines)
    from simulator.application.local_backend import LocalBackend

    return LocalBackend(parts, plan, hosting)


def _promised(parts: Parts, plan: Plan) -> dict[str, Any]:
    """How much there is to hold; says what will not be as somebody may expect."""
    from simulator.run.runner import planned_conversations
    from simulator.terminal.progress import print_to_stderr

    count = parts.count()
    conditions, without = plan.conditions(picture=True), plan.conditions(picture=False)
    total = count * len(conditions)
    if without != conditions and (text := parts.count_without_picture()):
        total -= text * (len(conditions) - len(without))
        if parts.progress:
            what = counted(text, "session"), f"{len(without)} times" if without[1:] else "once"
            most = "at most " if plan.stages else ""  # what the data cannot give is told below
            print_to_stderr(
                f"{what[0]} without a picture: held {most}{what[1]}, as nothing can happen to one."
            )
    left_out = parts.left_out()
    if plan.stages:
        total = sum(1 for _ in planned_conversations(parts.sessions(), plan, parts.optics))
    for stage, (why, many) in left_out.items() if parts.progress else ():
        print_to_stderr(
            f"stage {stage} is left out of {many} of {counted(count, 'conversation')}: {why}."
        )
    if parts.progress and (lost := parts.unsearched_faults()):
        print_to_stderr(f"this run searches nothing, so no turn will feel {', '.join(lost)}.")
    if parts.progress and (why := parts.unsearched_pages()):
        print_to_stderr(why)
    promised = {"sessions": count, "degradations": conditions, "conversations": total}
    return {**promised, "left_out": left_out} if left_out else promised


def rejudge(folder: Path, judge: str, *, concurrency: int = 16, progress: bool = True) -> int:
    """Judge a run's replies again without asking the agent. Returns how many got a verdict."""
    from functools import partial

    from mmrag.judges.fallback import FallbackJudge
    from simulator.parts.preflight import ready_judge
    from simulator.run.rejudge import rejudge_run
    from simulator.store.run_reader import RunReader
    from simulator.store.run_store import RunStore
    from simulator.terminal.event_loops import run_to_end
    from simulator.terminal.interruption import interruptible
    from simulator.terminal.progress import progress_bars

    RunReader(folder).close()  # a folder that is no run is refused, not made one
    chosen = FallbackJudge(ready_judge(judge))
    again = f"mmrag judge run {shlex.quote(str(folder))} --judge {shlex.quote(judge)}"
    with (
        interruptible(f"what was committed to {folder}", again),
        RunStore(folder) as store,
        progress_bars(shown=progress) as advance,
    ):
        work = rejudge_run(store, chosen, concurrency, on_progress=partial(advance, "judging"))
        return run_to_end(work)


def drop_failed_turns(store: RunStore) -> int:
    """Drop failed turns and all after them, so that they are asked again. Returns how many."""
    dropped = 0
    for session_id, degradation in store.session_keys():
        for result in store.turns(session_id, degradation):
            if result.status.is_failure and not result.fault:  # a fault would meet it again
                store.forget_turns(session_id, degradation, result.turn_index)
                dropped += 1
                break
    if dropped:
        store.set_meta("finished", False)
    return dropped
