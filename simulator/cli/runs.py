"""run, resume, score, show, verify, seal, doctor: the life of a run."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from mmrag.errors import SpecError, StoreError, UsageError
from simulator.cli.options.flags import AsJson, Concurrency, OldCondition, RunFolder
from simulator.cli.options.settings import PANELS, PanelledCommand, with_settings
from simulator.cli.options.shard_options import Address, Backend, Workers
from simulator.cli.score import score
from simulator.cluster.machines import Machines
from simulator.message_text import counted
from simulator.parts.isolation_options import IsolationOptions

if TYPE_CHECKING:
    from mmrag.protocols import Agent
    from simulator.run.run_config import RunConfig

_RUN, _ANSWER = PANELS["run"], PANELS["answer"]

MaxCost = Annotated[
    float | None,
    typer.Option(min=0, help="Stop once this has cost so many dollars.", rich_help_panel=_RUN),
]
Isolate = Annotated[
    bool,
    typer.Option(
        "--isolate", help="Run the agent in processes that can be stopped.", rich_help_panel=_ANSWER
    ),
]
IsolateMemory = Annotated[
    str | None,
    typer.Option(help="Memory of each such process, e.g. 4G.", rich_help_panel=_ANSWER),
]
IsolateProcesses = Annotated[
    int | None,
    typer.Option(min=1, max=256, help="How many; else one per core.", rich_help_panel=_ANSWER),
]
ReadySeconds = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Limit on making the agent ready, else 600; 0: none.",
        rich_help_panel=_ANSWER,
    ),
]
Stores = Annotated[
    int | None, typer.Option(min=1, help="Ray: processes that keep turns.", rich_help_panel=_RUN)
]
WorkerGpus = Annotated[
    float | None, typer.Option(min=0, help="Ray: GPUs of each worker.", rich_help_panel=_RUN)
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(cls=PanelledCommand)(run)
    app.command(cls=PanelledCommand)(glasses)
    for command in (resume, score, show, verify, seal, doctor):
        app.command()(command)


@with_settings
def run(
    settings: dict[str, Any],
    config: Annotated[Path | None, typer.Option(help="A YAML file; flags win over it.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    concurrency: Concurrency = 16,
    rerun: Annotated[
        str | None, typer.Option(help="errors: ask failed turns of the run again.")
    ] = None,
    max_cost: MaxCost = None,
    isolate: Isolate = False,
    isolate_memory: IsolateMemory = None,
    isolate_processes: IsolateProcesses = None,
    ready_seconds: ReadySeconds = None,
    backend: Backend = "local",
    address: Address = None,
    workers: Workers = None,
    stores: Stores = None,
    worker_gpus: WorkerGpus = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Estimate turns, tokens, cost and time; ask nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run every conversation of a data set with an agent. Called again, it resumes.

    \b
    mmrag run --data mini --agent grounded --limit 20
    mmrag run --agent "task1:model=(openai:name=M,base_url=http://localhost:8000/v1)" --out runs/m
    mmrag run --data my.jsonl --agent python:name=my_agent/MyAgent --degrade clean,low-light@3
    """
    from simulator.parts.run_folder import default_out
    from simulator.run.run_config import load_config, make_config

    made = load_config(config, **settings) if config else make_config(settings)
    aloud = [f"--{name}" for name in ("voice", "ear") if name in settings]
    if aloud and made.spoken == "none":
        raise UsageError(f"{' and '.join(aloud)}: no question is spoken; add --spoken clean, say.")
    folder = out or default_out(made)
    if rerun not in (None, "errors"):
        raise SpecError(f"--rerun {rerun!r}: the only thing that can be rerun is errors.")
    if dry_run:
        from simulator.application.estimate import estimate
        from simulator.cli.tables.estimate_table import print_estimate
        from simulator.parts.run_parts import Parts

        found = estimate(Parts(made), folder, concurrency=concurrency)
        print_estimate(found, as_json=as_json)
        return
    hosting = IsolationOptions.read(isolate, isolate_memory, isolate_processes, ready_seconds)
    machines = Machines.read(backend, address, workers, stores, worker_gpus)
    _run_and_tell(
        folder, made, as_json=as_json, again=bool(rerun),
        concurrency=concurrency, max_cost=max_cost, hosting=hosting,
        machines=machines,
    )  # fmt: skip


@with_settings
def glasses(
    settings: dict[str, Any],
    config: Annotated[Path | None, typer.Option(help="A YAML file; flags win over it.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; beyond this machine with --token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8780,
    token: Annotated[
        str, typer.Option(envvar="MMRAG_GLASSES_TOKEN", help="Token that apps must send.")
    ] = "",
    errors: Annotated[
        bool, typer.Option("--errors", help="Ask failed turns again, and all after them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Be a pair of glasses: an app of yours sees, hears and replies. Called again, it resumes.

    \b
    mmrag glasses --data mini --limit 20 --out runs/app
    mmrag glasses --data mini --wearer live --degrade low-light@3 --faults network-loss@3
    mmrag glasses --data mini --spoken clean --link radio --out runs/aloud
    """
    from mmrag.local_server import address, listen
    from simulator.glasses.server import GlassesServer
    from simulator.parts.run_folder import default_out
    from simulator.parts.run_parts import ear_for_apps
    from simulator.run.run_config import GLASSES, load_config, make_config

    if {"agent", "search", "tools"} & set(settings):
        raise UsageError("the app is the agent: leave out --agent, --search and --tools.")
    settings = {**settings, "agent": GLASSES, "search": "none"}
    made = load_config(config, **settings) if config else make_config(settings)
    folder = out or default_out(made)
    with listen(host, port) as at:
        where = f"glasses: {address(at, host)} (docs/glasses.md); waiting for an app"
        pair = GlassesServer(
            at, host, token, ear=ear_for_apps(made), on_listening=lambda: _say(where)
        )
        _run_and_tell(folder, made, as_json=as_json, again=errors, agent=pair, concurrency=1)


def resume(
    folder: RunFolder,
    errors: Annotated[
        bool, typer.Option("--errors", help="Ask failed turns again, and all after them.")
    ] = False,
    concurrency: Concurrency = 16,
    max_cost: MaxCost = None,
    isolate: Isolate = False,
    isolate_memory: IsolateMemory = None,
    isolate_processes: IsolateProcesses = None,
    ready_seconds: ReadySeconds = None,
    backend: Backend = "local",
    address: Address = None,
    workers: Workers = None,
    stores: Stores = None,
    worker_gpus: WorkerGpus = None,
    as_json: AsJson = False,
) -> None:
    """Resume an interrupted run, from the turn after the last one committed."""
    from simulator.application.stored_run import load_run

    hosting = IsolationOptions.read(isolate, isolate_memory, isolate_processes, ready_seconds)
    machines = Machines.read(backend, address, workers, stores, worker_gpus)
    _run_and_tell(
        folder, load_run(folder).settings, as_json=as_json, again=errors,
        concurrency=concurrency, max_cost=max_cost, hosting=hosting,
        machines=machines,
    )  # fmt: skip


def show(
    folder: RunFolder,
    session: Annotated[str | None, typer.Argument(help="A session's id.")] = None,
    condition: Annotated[
        str | None, typer.Option(help="Of the session; clean, else its first.")
    ] = None,
    degradation: OldCondition = None,
    as_json: AsJson = False,
) -> None:
    """Show a run's settings and sessions, or one conversation turn by turn."""
    from simulator.cli.tables.run_tables import show_run, show_session
    from simulator.store.run_reader import RunReader

    with RunReader(folder) as reader:
        if session is None:
            show_run(reader, as_json=as_json)
        else:
            there = reader.degradations_of(session)
            usual = "clean" if "clean" in there or not there else there[0]
            show_session(reader, session, condition or degradation or usual, as_json=as_json)


def seal(folder: RunFolder) -> None:
    """Print a digest of a run, to keep elsewhere: `mmrag verify RUN --against DIGEST` compares."""
    from simulator.store.seal import seal_of

    typer.echo(seal_of(folder))


def verify(
    folder: RunFolder,
    against: Annotated[
        str | None, typer.Option(help="Only compare with this digest of `mmrag seal`.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove what the live wearers of a run said, and that what was recorded follows from it.

    A person's own words cannot be proved.
    """
    from simulator.application.verify_wearers import verify_run
    from simulator.store.seal import seal_of

    if against is not None:
        if not re.fullmatch("[0-9a-f]{64}", against):
            raise UsageError(
                f"--against {against[:80]!r}: give the digest that `mmrag seal` printed."
            )
        if seal_of(folder) != against:
            raise StoreError(f"{folder} was changed since it was sealed, or is another run.")
        typer.echo(f"{folder} is as it was sealed.")
        return
    proof = verify_run(folder)
    typer.echo(json.dumps(proof.as_json(), indent=2) if as_json else proof.as_text())
    if proof.problems:
        raise typer.Exit(1)


def doctor(as_json: AsJson = False) -> None:
    """Say what is installed, what is missing, and which device would be used."""
    from simulator.cli.doctor_checks import examine, print_findings

    findings = examine()
    if as_json:
        typer.echo(json.dumps(findings, indent=2))
    else:
        print_findings(findings)
    if not findings["ok"]:
        raise typer.Exit(1)


def _run_and_tell(
    folder: Path,
    settings: RunConfig,
    *,
    as_json: bool,
    again: bool,
    agent: Agent | None = None,
    **how: Any,
) -> None:
    """Start or resume a run, with failed turns `again`, and print its scores."""
    from simulator.application.execution import execute
    from simulator.datasets.own.own_data import OwnData
    from simulator.parts.run_parts import Parts
    from simulator.run.run_config import GLASSES, command_of
    from simulator.terminal.shutdown import stdout_aside

    settings.refuse_person()
    if settings.agent == GLASSES and agent is None:
        flags = ("--errors",) if again else ()
        command = command_of(settings, "--out", str(folder), *flags)
        raise UsageError(f"this run's agent is an app: continue with: {command}")
    parts = Parts(settings, agent=agent)
    for note in parts.source.misspelt() if isinstance(parts.source, OwnData) else ():
        _say(f"{note.field} {note.words}")
    place = folder.absolute()  # an agent may change the working directory
    with stdout_aside() as printed:  # an agent's own prints must not stand in it
        execute(parts, folder, again=again, **how)
        _tell(place, folder, printed, as_json=as_json)


def _tell(place: Path, folder: Path, printed: TextIO, *, as_json: bool) -> None:
    from mmrag.agents.external.daemon_threads import count_abandoned_calls
    from mmrag.records import Status
    from simulator.application.scores import scores_of
    from simulator.cli.tables.run_tables import print_scores
    from simulator.faults.fault_kinds import parse_faults
    from simulator.run.results.run_scoring import (
        failure_cure,
        failure_note,
        fault_note,
        options_for,
        resume_command,
    )
    from simulator.run.run_config import read_config
    from simulator.store.run_reader import RunReader

    with RunReader(place) as reader:
        scores = scores_of(reader, options_for(reader), by_condition=not as_json)
        note = failure_note(reader)
        cure = failure_cure(reader, resume_command(reader, folder, "--errors"))
        unusable, rows = reader.unusable_sessions()
        counts, failures = reader.turn_counts(), reader.failure_counts()
        asked = sum(counts.values()) - counts.get(Status.SKIPPED_AFTER_STOP, 0)
        failed = sum(failures.values()) - failures.get(Status.DATA_ERROR, 0)
        settings = read_config(reader)
        faulty = fault_note(reader, parse_faults(settings.faults), settings.seed)
    print_scores(scores.with_figures(run=str(folder)), as_json=as_json, out=printed)
    if note is not None:
        _say(f"{note if note.endswith('?') else note.rstrip('.') + '.'} {cure}")
    if faulty is not None:
        _say(faulty)
    if left := count_abandoned_calls():
        calls = counted(left, "call")
        _say(f"{calls} of the agent never ended and were left behind; --isolate can stop them.")
    if not as_json:
        typer.echo(f"run: {folder}", file=printed)
    if unusable:
        _say(f"{unusable:.0f} of {counted(rows, 'row')} could not be used.")
        if unusable == rows:
            raise typer.Exit(1)
    if 2 * failed > asked:
        again = f"mmrag show {shlex.quote(str(folder))} SESSION"
        _say(f"Most turns failed ({failed:,} of {asked:,}); {again} gives each one's error.")
        raise typer.Exit(1)


def _say(text: str) -> None:
    typer.secho(text, err=True)
