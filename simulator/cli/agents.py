"""`mmrag agent list|describe|calibrate` and `mmrag ask`: agents by name, and one live turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from mmrag.errors import DataError, UsageError
from simulator.cli.options.flags import AsJson
from simulator.message_text import printable_text

if TYPE_CHECKING:
    from rich.tree import Tree

    from mmrag.protocols import Agent
    from mmrag.records import Reply, Step
    from simulator.run.calibration_trials import Trial

agent_app = typer.Typer(help="Agents: list, describe, calibrate.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(agent_app, name="agent")
    app.command("ask")(ask)


@agent_app.command("list")
def list_agents(as_json: AsJson = False) -> None:
    """Every agent by name, those of installed packages included."""
    from mmrag.agents import agents

    found = {name: _summary(name) for name in agents.names()}
    if as_json:
        typer.echo(json.dumps(found, indent=1))
        return
    width = max(len(name) for name in found)
    for name, summary in found.items():
        typer.echo(f"{name:{width}}  {summary}")


@agent_app.command()
def describe(
    spec: Annotated[str, typer.Argument(help="Agent spec or name, e.g. grounded:ocr=off.")],
    as_json: AsJson = False,
) -> None:
    """What an agent is, its options, and the parts that a spec leaves switched on."""
    import inspect

    from mmrag.agents import agents
    from mmrag.agents.grounded.grounded_parts import SWITCHES, Parts

    parsed = agents.parse(spec)
    factory = agents.factory(parsed.name)
    options = [
        {"name": p.name, "default": None if p.default is p.empty else str(p.default)}
        for p in inspect.signature(factory).parameters.values()
        if p.name != "resources" and p.kind is not p.VAR_KEYWORD
    ]
    shown: dict[str, Any] = {
        "name": parsed.name,
        "what": inspect.getdoc(factory) or "",
        "options": options,
    }
    if parsed.name == "grounded":
        given = {k: v for k, v in parsed.options.items() if k not in ("model", "calibration")}
        chosen = Parts.choose(given)
        shown["parts"] = {
            name: {"chosen": chosen[name], "choices": list(choices), "what": what}
            for name, (choices, what) in SWITCHES.items()
        }
    if as_json:
        typer.echo(json.dumps(shown, indent=1))
        return
    typer.echo(f"{shown['name']}: {shown['what']}")
    for option in options:
        default = "required" if option["default"] is None else f"default {option['default']!r}"
        typer.echo(f"  {option['name']}  ({default})")
    for name, part in shown.get("parts", {}).items():
        choices = " | ".join(f"[{c}]" if c == part["chosen"] else c for c in part["choices"])
        typer.echo(f"  {name:11} {choices:26} {part['what']}")


@agent_app.command()
def calibrate(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Runs of grounded:abstain=off with --after-stop generate; --stages helps.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Calibration file to write.")],
    most_wrong: Annotated[
        float, typer.Option(min=0, max=1, help="Largest share of wrong answers.")
    ] = 1.0,
    wrong: Annotated[
        float, typer.Option(min=0, help="What a wrong answer costs where a right one earns 1.")
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Fit the probability of being right on runs of a held-out world; print risk and coverage.

    Use it as `grounded:calibration=FILE`. Never report on the world it was fitted on.
    """
    import msgspec

    from mmrag.errors import ConflictError
    from simulator.run.calibration_trials import (
        asked_whole,
        risk_coverage,
        simulate_calibration,
        trial_features,
        trials_of,
    )
    from simulator.run.calibration_trials import calibrate as fitted
    from simulator.run.run_config import read_config
    from simulator.store.run_reader import RunReader

    if out.exists():
        raise ConflictError(f"{out} exists already; choose another name or delete it.")
    trials: list[Trial] = []
    names: list[str] = []
    for folder in runs:
        with RunReader(folder) as reader:
            trials += trials_of(reader.results())
            made = reader.meta("provenance") or {}
            names.append(
                f"{made.get('data')}, index {made.get('index')}, {read_config(reader).agent} "
                f"({', '.join(reader.conditions())})"
            )
    found = fitted(trials, made_on="; ".join(names), most_wrong=most_wrong, wrong_costs=wrong)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
    _, right = trial_features(trials)
    turns = sum(map(len, trials))
    whole = asked_whole(trials)
    curve = risk_coverage(found, *trial_features(whole), sum(map(len, whole)))
    if as_json:
        typer.echo(msgspec.json.encode({"calibration": found, "curve": curve}).decode())
        return
    typer.echo(f"{out}: fitted on {found.samples} answers of {turns} turns, {sum(right)} right.")
    first, second, more = (f"{found.bar(silent):.2f}" for silent in range(3))
    typer.echo(f"It speaks above p = {first}, after a silent turn {second}, after more {more}.")
    played = simulate_calibration(found, whole, wrong_costs=wrong)
    shares = f"{played.right:.1%} right, {played.wrong:.1%} wrong"
    typer.echo(f"With nothing handed over: {shares}, multi-turn score {played.score:.3f}.")
    typer.echo("threshold  coverage  risk")
    for point in curve:
        typer.echo(f"{point.threshold:9.2f}  {point.coverage:8.3f}  {point.risk:.3f}")


def ask(
    image: Annotated[Path, typer.Argument(help="A picture, or a folder of them.")],
    question: Annotated[str, typer.Argument(help="What the wearer asks.")],
    agent: Annotated[str, typer.Option(help="Agent spec.")] = "grounded",
    data: Annotated[str, typer.Option(help="World whose index is searched.")] = "mini",
    search: Annotated[str, typer.Option(help="Index folder, auto or none.")] = "auto",
    query_time: Annotated[str | None, typer.Option(help="ISO time of asking.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Print the trace as a tree.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask one question about a picture, or about each of a folder."""
    import asyncio
    from functools import partial

    from mmrag.agents.external.foreign_code import call_contained
    from mmrag.agents.external.reply_checks import checked
    from mmrag.errors import AgentError, MmragError, error_text
    from mmrag.files.images import LazyImage
    from mmrag.records import Query
    from simulator.application.own_photo_notice import own_photo_notice
    from simulator.parts.run_parts import Parts
    from simulator.run.run_config import RunConfig
    from simulator.terminal.shutdown import heeding_ctrl_c, stdout_aside

    _check_question(question)
    asked_at = _iso(query_time) if query_time is not None else None
    album = _album(image) if image.is_dir() else {"": image}
    if "" in album:
        LazyImage.from_path(image).pil()  # broken: reported before anything is loaded
    parts = Parts(RunConfig(data=data, agent=agent, search=search))
    parts.check_agent()
    if (knows := own_photo_notice(agent, data, search)) and not as_json:
        typer.echo(knows, err=True)
    _ = parts.resources  # opened while the terminal still shows how far it is
    failed: list[str] = []

    async def all_in_turn(made: Agent, printed: TextIO) -> None:
        for name, path in album.items():
            query = Query(
                text=question,
                image=LazyImage.from_path(path),
                query_time=asked_at,
                session_id=name or "ask",
            )
            try:
                reply = checked(await call_contained(partial(made.answer, query)))
            except MmragError as error:
                if not name:
                    raise
                failed.append(f"{name}: {error_text(error)}")
                continue
            except Exception as error:
                raise AgentError(f"agent {agent}: {error_text(error)}") from error
            _tell_reply(name, reply, printed, explain=explain, as_json=as_json)

    with stdout_aside() as printed:  # an agent may be somebody else's code, as in a run
        asyncio.run(heeding_ctrl_c(all_in_turn(parts.make_agent(), printed)))
    if failed:
        raise DataError(f"{len(failed)} of {len(album)} got no reply: {'; '.join(failed[:5])}")


def _check_question(text: str) -> None:
    from mmrag.agents.external.reply_checks import says_nothing

    if says_nothing(text):
        raise UsageError("the question says nothing that can be read: write what the wearer asks.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the question is not text: character {error.start + 1} of it is half of a pair, or a "
            "byte of another encoding. Write it in UTF-8."
        ) from error


def _album(folder: Path) -> dict[str, Path]:
    """The pictures of a folder by their names."""
    from simulator.datasets.own.album import Album

    folder = folder.absolute()
    return {path.relative_to(folder).as_posix(): path for path in Album(folder).pictures}


def _tell_reply(name: str, reply: Reply, out: TextIO, *, explain: bool, as_json: bool) -> None:
    """What was said about a picture; its name where it is one of several."""
    from mmrag.records import encode

    if as_json:
        said = encode(reply).decode()
        typer.echo(f'{{"picture":{json.dumps(name)},"reply":{said}}}' if name else said, file=out)
        return
    typer.echo(printable_text(f"{name}: {reply.text}" if name else reply.text), file=out)
    if explain:
        print_reply(reply, out)


def _iso(text: str) -> str:
    """A date or a time in the one form that agents compare as text."""
    import datetime as dt

    for kind in (dt.date, dt.datetime):
        try:
            return kind.fromisoformat(text).isoformat()
        except ValueError:
            continue
    raise UsageError(
        f"--query-time {text!r}: write an ISO date or time, as in 2026-03-01 or 2026-03-01T10:00."
    )


def print_reply(reply: Reply, out: TextIO | None = None) -> None:
    """Print a reply with the steps that led to it."""
    from rich.console import Console
    from rich.tree import Tree

    sure = "" if reply.confidence is None else f", p = {reply.confidence:.2f}"
    tree = Tree(f"reply{sure}")
    for step in reply.trace:
        _branch(tree, step)
    Console(file=out, markup=False, highlight=False).print(tree)


def _branch(tree: Tree, step: Step) -> None:
    branch = tree.add(f"{step.name}  {step.seconds * 1000:.0f} ms")
    for key, value in step.info.items():
        branch.add(f"{key}: {_short(value)}")
    for item in step.evidence[:5]:
        branch.add(f"{item.source} {item.score:.3f} {item.title or item.text[:60]} {item.url}")
    for inner in step.steps:
        _branch(branch, inner)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(c for c in text if c.isprintable())
    return text if len(text) <= 160 else text[:157] + "…"


def _summary(name: str) -> str:
    import inspect

    from mmrag.agents import agents

    doc = inspect.getdoc(agents.factory(name)) or ""
    return doc.splitlines()[0] if doc else ""
