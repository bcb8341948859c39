"""`mmrag verdicts`: what people say of a run's replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from simulator.cli.options.flags import AsJson, OldCondition, RunFolder
from simulator.counting import readable

By = Annotated[str, typer.Option(help="Whose it is; else the name you are logged in by.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    for command in (show, queue, say, export):
        group.command()(command)
    app.add_typer(group, name="verdicts", help="People's verdicts: show, queue, say, export.")


def show(run: RunFolder, as_json: AsJson = False) -> None:
    """What people said, how far they agree, and the headline corrected by it."""
    import msgspec

    from simulator.application.finished_run import load_run

    verdicts = load_run(run).verdicts
    log, found, rates = verdicts.log(), verdicts.agreement(), verdicts.corrected()
    if as_json:
        shown = {
            "verdicts": [msgspec.to_builtins(one) for one in log.verdicts],
            "unreadable": log.unreadable,
            "agreement": msgspec.to_builtins(found),
            "rates": rates,
        }
        typer.echo(json.dumps(shown, ensure_ascii=False))
        return
    if log.unreadable:
        typer.secho(f"warning: {log.unreadable} lines cannot be read", fg="yellow", err=True)
    if not found.people:
        typer.echo(f"Nobody has said anything yet: mmrag verdicts queue {run}")
        return
    typer.echo("people     " + ", ".join(f"{name} {n}" for name, n in found.people.items()))
    typer.echo(
        f"turns      {found.decided} decided, {found.twice} by two or more, "
        f"{found.disputed} disputed, {found.unsure} somebody is unsure of"
    )
    for names, pair in found.pairs.items():
        kappa = "–" if pair.kappa is None else f"{pair.kappa:.2f}"
        typer.echo(f"agreement  {names}: {pair.same} of {pair.n} alike, kappa {kappa}")
    if found.judge and found.judge.accuracy is not None:
        typer.echo(
            f"judge      agrees on {found.judge.accuracy:.1%} of {found.judge.n} (doubtful turns "
            "are read more often than others)"
        )
    for name in ("judged", "corrected"):
        if rates:
            figure = rates[name]["truthfulness_score"]
            typer.echo(f"{name:<10} truthfulness {_points(figure)}, {rates['condition']}")


def queue(
    run: RunFolder,
    size: Annotated[int, typer.Option("--size", "-n", min=1, help="How many turns.")] = 50,
    by: By = "",
    second: Annotated[
        bool, typer.Option("--second", help="Only turns that another person has read.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    as_json: AsJson = False,
) -> None:
    """The turns worth reading most: where the judge is in doubt, and some of every kind.

    With --by, those this person has not read yet.
    """
    import msgspec

    from simulator.application.finished_run import load_run
    from simulator.run.results.turn_results import verdict_cure
    from simulator.store.run_store import RunReader

    turns = load_run(run).verdicts.queue(size, person=by, second=second, seed=seed)
    if as_json:
        typer.echo(json.dumps([msgspec.to_builtins(one) for one in turns], ensure_ascii=False))
        return
    for one in turns:
        readers = f"  read by {', '.join(one.read_by)}" if one.read_by else ""
        line = f"{one.session_id}  {one.degradation}  turn {one.turn_index + 1}  {one.why}{readers}"
        typer.echo(readable(line))
    if not turns:
        with RunReader(run) as reader:
            lacking = "" if by or second else f" No reply has a verdict: {verdict_cure(reader)}"
        typer.echo(f"Nothing is left to read.{lacking}")


def say(
    run: RunFolder,
    session: Annotated[str, typer.Argument(help="Session id.")],
    turn: Annotated[int, typer.Argument(min=1, help="Its turn, from 1.")],
    verdict: Annotated[str, typer.Argument(help="right, wrong, missing, unsure or withdrawn.")],
    condition: Annotated[str, typer.Option(help="Under which it was asked.")] = "clean",
    degradation: OldCondition = None,
    note: Annotated[str, typer.Option(help="Why.")] = "",
    by: By = "",
    queued: Annotated[
        bool, typer.Option("--queued", help="The queue gave this turn; it speaks for others.")
    ] = False,
) -> None:
    """Give a verdict on one reply. The judge's stays, and so does what was said before."""
    import getpass

    from simulator.application.finished_run import load_run

    given = load_run(run).verdicts.say(
        session, turn - 1, verdict, person=by or getpass.getuser(),
        degradation=degradation or condition, note=note, drawn=queued,
    )  # fmt: skip
    typer.echo(f"kept: {given.person} says {given.said} of turn {turn} of {session}")


def export(
    run: RunFolder,
    out: Annotated[Path, typer.Argument(help="File of JSON lines to write.")],
) -> None:
    """Write decided turns as lines for `mmrag judge calibrate`."""
    from simulator.application.finished_run import load_run
    from simulator.counting import counted

    typer.echo(f"{counted(load_run(run).verdicts.export(out), 'turn')}: {out}")


def _points(figure: dict[str, Any]) -> str:
    if figure["estimate"] is None:
        return "–"
    words = f"{100 * figure['estimate']:+.1f}"
    if figure["low"] is not None:
        words += f" [{100 * figure['low']:+.1f}, {100 * figure['high']:+.1f}]"
    return words
