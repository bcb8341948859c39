"""`mmrag verdicts`: what people say of a run's replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.options.flags import AsJson, OldCondition, RunFolder

By = Annotated[str, typer.Option(help="Who gives it; else your login name.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    for command in (show, say, export):
        group.command()(command)
    app.add_typer(group, name="verdicts", help="People's verdicts: show, say, export.")


def show(run: RunFolder, as_json: AsJson = False) -> None:
    """What people said, and how far the judge agrees."""
    import msgspec

    from simulator.application.stored_run import load_run

    verdicts = load_run(run).verdicts
    log, found = verdicts.log(), verdicts.agreement()
    if as_json:
        shown = {
            "verdicts": [msgspec.to_builtins(one) for one in log.verdicts],
            "unreadable": log.unreadable,
            "agreement": msgspec.to_builtins(found),
        }
        typer.echo(json.dumps(shown, ensure_ascii=False))
        return
    if log.unreadable:
        typer.secho(f"warning: {log.unreadable} lines cannot be read", fg="yellow", err=True)
    if not found.people:
        typer.echo(f"Nobody has said anything yet: mmrag verdicts say {run} SESSION TURN VERDICT")
        return
    typer.echo("people     " + ", ".join(f"{name} {n}" for name, n in found.people.items()))
    typer.echo(
        f"turns      {found.decided} decided, {found.twice} by two or more, "
        f"{found.disputed} disputed, {found.unsure} somebody is unsure of"
    )
    if found.judge and found.judge.accuracy is not None:
        typer.echo(f"judge      agrees on {found.judge.accuracy:.1%} of {found.judge.n}")


def say(
    run: RunFolder,
    session: Annotated[str, typer.Argument(help="Session id.")],
    turn: Annotated[int, typer.Argument(min=1, help="Its turn, from 1.")],
    verdict: Annotated[str, typer.Argument(help="right, wrong, missing, unsure or withdrawn.")],
    condition: Annotated[str, typer.Option(help="Under which it was asked.")] = "clean",
    degradation: OldCondition = None,
    note: Annotated[str, typer.Option(help="Why.")] = "",
    by: By = "",
) -> None:
    """Give a verdict on one reply. The judge's stays, and so does what was said before."""
    import getpass

    from simulator.application.stored_run import load_run

    given = load_run(run).verdicts.say(
        session, turn - 1, verdict, person=by or getpass.getuser(),
        degradation=degradation or condition, note=note,
    )  # fmt: skip
    typer.echo(f"kept: {given.person} says {given.said} of turn {turn} of {session}")


def export(
    run: RunFolder, out: Annotated[Path, typer.Argument(help="File of JSON lines to write.")]
) -> None:
    """Write decided turns as lines for `mmrag judge calibrate`."""
    from simulator.application.stored_run import load_run
    from simulator.message_text import counted

    typer.echo(f"{counted(load_run(run).verdicts.export(out), 'turn')}: {out}")
