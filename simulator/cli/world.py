"""`mmrag world …`: write fictional worlds, prove them, measure them, look at them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mmrag.files.shards import Shard
from simulator.cli.options.flags import AsJson
from simulator.cli.options.shard_options import ShardOption, made_shard

if TYPE_CHECKING:
    from simulator.world.build.world_request import WorldRequest

Folder = Annotated[Path, typer.Argument(help="The world's folder.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    world = typer.Typer(
        no_args_is_help=True, help="Fictional worlds: new, verify, stats, ladder, crag."
    )
    for command in (new, verify, stats, ladder, crag):
        world.command()(command)
    app.add_typer(world, name="world")


def new(
    out: Annotated[Path, typer.Option(help="Folder to write; it must not exist yet.")],
    seed: Annotated[int, typer.Option(help="Another seed is another world.")] = 1,
    sessions: Annotated[
        int | None, typer.Option(help="Conversations; everything else follows in proportion.")
    ] = None,
    size: Annotated[str, typer.Option(help="Proportions: mini (dense, small) or crag-mm.")] = (
        "crag-mm"
    ),
    singles: Annotated[
        int | None, typer.Option(help="Single questions; in proportion unless given.")
    ] = None,
    kg_pictures: Annotated[
        int | None, typer.Option(help="Pictures of the image KG; in proportion unless given.")
    ] = None,
    voices: Annotated[
        str, typer.Option(help="Whose words: open, held, or names with commas (docs/world.md).")
    ] = "open",
    difficulty: Annotated[
        str, typer.Option(help="life, or hard: many look-alikes, few traits.")
    ] = "life",
    rivals: Annotated[
        int | None, typer.Option(help="Most other things in view that could be meant.")
    ] = None,
    look_alikes: Annotated[int | None, typer.Option(help="Look-alikes of each thing.")] = None,
    shares: Annotated[
        Path | None, typer.Option(help="YAML: settled, look_alikes, legible, own_traits.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes; the bytes do not depend on it.")] = 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start anew instead of continuing.")
    ] = False,
    shard: ShardOption = None,
    text_only: Annotated[bool, typer.Option("--text-only", help="Leave the pictures out.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a world. The same command continues after an interruption."""
    from simulator.terminal.interruption import interruptible
    from simulator.terminal.progress import progress_bars

    with interruptible("what was written of the world"):
        from simulator.world.build.folder import build
        from simulator.world.build.world_request import make_difficulty, make_request
        from simulator.world.language.voices.voice_reader import describe_voices

        request = make_request(
            seed,
            sessions,
            size,
            singles=singles,
            kg_pictures=kg_pictures,
            voices=voices,
            difficulty=make_difficulty(
                difficulty, rivals=rivals, look_alikes=look_alikes, shares=shares
            ),
            pictures=not text_only,
        )
        work = partial(_share, request, out, workers)
        if made_shard(shard, work):
            return
        with progress_bars() as tell:
            manifest = build(request, out, workers=workers, fresh=fresh, progress=tell)
    if as_json:
        typer.echo(json.dumps({"folder": str(out), **manifest}))
        return
    total = sum(entry["bytes"] for entry in manifest["files"].values())
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in manifest["counts"].items())
    typer.echo(
        f"{out}: {counts}; in the {describe_voices(request.voices)}; {total / 1e6:,.1f} MB, "
        f"fingerprint {manifest['fingerprint'][:16]}."
    )


def _share(request: WorldRequest, out: Path, workers: int, shard: Shard) -> None:
    from simulator.terminal.progress import progress_bars
    from simulator.world.build.folder import build_shard

    with progress_bars() as tell:
        build_shard(request, out, shard, workers=workers, progress=tell)


def verify(folder: Folder, as_json: AsJson = False) -> None:
    """Check every file's hash, derive every answer again and prove it unique."""
    from simulator.world.checks.verify import verify_world

    report = verify_world(folder)
    if as_json:
        typer.echo(json.dumps(report.as_json()))
    else:
        typer.echo(report.as_text())
    if report.problems:
        raise typer.Exit(1)


def stats(folder: Folder, as_json: AsJson = False) -> None:
    """Print the published distributions beside those of this world."""
    from simulator.world.checks.world_stats import world_stats

    table = world_stats(folder)
    if as_json:
        typer.echo(json.dumps(table.as_json()))
    else:
        typer.echo(table.as_text())


def ladder(
    folder: Folder,
    agent: Annotated[str, typer.Option(help="Who is asked, as for `mmrag run`.")] = "grounded",
    stages: Annotated[
        str, typer.Option(help="nothing, whole, pointed, named, paged, told, with commas.")
    ] = "nothing,named,paged,told",
    limit: Annotated[int, typer.Option(min=1, help="Only the first conversations.")] = 60,
    as_json: AsJson = False,
) -> None:
    """Measure how often an agent is right when it is handed truth, and put it on the world's card.

    Stages with a picture need the world's index, which is built if it is not there.
    """
    from msgspec import to_builtins

    from mmrag.text import comma_list
    from simulator.application.truth_ladder import measure_ladder
    from simulator.world.build.world_manifest import keep_ladder

    found = measure_ladder(folder, agent=agent, stages=comma_list(stages), limit=limit)
    keep_ladder(folder, found)
    typer.echo(json.dumps(to_builtins(found)) if as_json else found.as_text().rstrip())


def crag(
    world: Annotated[str, typer.Argument(help="mini, or a world's folder.")],
    out: Annotated[Path, typer.Option(help="File to write: .jsonl, .jsonl.bz2 or .jsonl.gz.")],
    questions: Annotated[int, typer.Option(min=1, max=1_000_000, help="Questions to ask.")] = 500,
    pages: Annotated[int, typer.Option(help="Web pages of each: 5 (tasks 1, 2) or 50.")] = 5,
    seed: Annotated[int, typer.Option(help="Another seed asks other questions.")] = 0,
) -> None:
    """Write questions about a world in CRAG's form, with web pages, for `--data crag:FILE`."""
    from mmrag.errors import UsageError
    from simulator.message_text import counted
    from simulator.parts.toolboxes import open_crag_world
    from simulator.world.crag.crag_rows import crag_rows, write_rows

    if out.is_dir() or not out.absolute().parent.is_dir():
        raise UsageError(f"{out}: no file can be written there; give one in a folder that exists.")
    stage, _ = open_crag_world(world)
    many = write_rows(crag_rows(stage, questions, pages=pages, seed=seed), out)
    typer.echo(f"{out}: {counted(many, 'question')}, {pages} pages each")
