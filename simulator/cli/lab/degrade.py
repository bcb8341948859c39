"""`mmrag lab degrade`: what a pair of glasses does to pictures of your own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmrag.errors import DataError, SpecError, UsageError
from mmrag.files.shards import Shard
from simulator.cli.options.flags import AsJson
from simulator.cli.options.shard_options import Address, Backend, ShardOption, shared_out
from simulator.cluster.machines import Machines

if TYPE_CHECKING:
    from simulator.optics.files.folders import FolderSummary, PictureItem, Settings

MIX = "mix"
"""CRAG-MM's shares of normal and degraded captures instead of one spec for all."""


def degrade_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SRC",
            help="A file, a folder, a glob, or a data set (mini, crag-mm:…, a world).",
        ),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="DST", help="A folder outside of SRC (or a file, for a file).")
    ],
    spec: Annotated[
        str | None,
        typer.Option(
            help="low-light@3, blurred:motion@2+rotated@1, …, or mix: CRAG-MM's shares. "
            "Append +jpeg@50 for a codec."
        ),
    ] = None,
    focus: Annotated[
        str | None, typer.Option(help="The entity: left,top,right,bottom in pixels.")
    ] = None,
    boxes: Annotated[
        Path | None,
        typer.Option(help="The entities' boxes: .json {name: box}, .jsonl or .csv (see the docs)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Other seeds give other noise, sides and angles.")] = 0,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes.")] = 1,
    sheet: Annotated[
        bool, typer.Option("--sheet", help="Draw kinds × severities of the first picture.")
    ] = False,
    control: Annotated[
        bool, typer.Option("--control", help="Beside a rotated picture, the same zoom unrotated.")
    ] = False,
    out_of_reach: Annotated[
        str, typer.Option(help="Where a level cannot be had: clamp (nearest, flagged) or reject.")
    ] = "clamp",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is in DST.")] = False,
    shard: ShardOption = None,
    backend: Backend = "local",
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Degrade pictures about an entity: dark, blurred, truncated, occluded or rotated.

    Pictures keep their names and formats; records go to degradations.jsonl beside them. Called
    again, it resumes.
    """
    from simulator.optics.files.folders import Settings

    if spec is None and not sheet:
        raise UsageError("Say what to do: --spec low-light@3, for example, or --sheet.")
    if focus is not None and boxes is not None:
        raise UsageError("--focus is one box for all, --boxes one for each: give one of them.")
    if spec is None and (shard is not None or backend != "local"):
        raise UsageError("a sheet is one picture: leave --shard and --backend out, or add --spec.")
    if out_of_reach not in ("clamp", "reject"):
        raise UsageError(f"--out-of-reach {out_of_reach}: write clamp or reject.")
    settings = Settings(seed=seed, control=control, out_of_reach=out_of_reach)
    gather = partial(_gather, source, target, spec, focus, boxes, seed)
    items, sidecar = gather()
    drawn = _draw_sheet(items[0], sidecar.parent, overwrite, seed) if sheet else None
    summary: FolderSummary | None = None
    if spec is not None:
        tasks = backend != "local"
        work = partial(_degrade, gather, settings, 1 if tasks else workers, overwrite)
        machines = Machines.read(backend, address, workers if tasks else None)
        if shared_out(work, shard, machines):
            return
        summary = _degrade(lambda: (items, sidecar), settings, workers, overwrite)
    _report(summary, sidecar, drawn, as_json)


def _degrade(
    gather: Callable[[], tuple[list[PictureItem], Path]],
    settings: Settings,
    workers: int,
    overwrite: bool,
    shard: Shard | None = None,
) -> FolderSummary:
    from simulator.optics.files.folders import degrade_files
    from simulator.terminal.progress import stage_bars

    items, sidecar = gather()
    total, done = len(items) // (shard.of if shard else 1), itertools.count(1)
    with stage_bars() as advance:
        return degrade_files(
            items, sidecar, settings, workers=workers, overwrite=overwrite, shard=shard,
            on_done=lambda: advance("degrading", next(done), total),
        )  # fmt: skip


def _gather(
    source: str, target: Path, spec: str | None, focus: str | None, boxes: Path | None, seed: int
) -> tuple[list[PictureItem], Path]:
    from simulator.optics.files.picture_sources import (
        items_from_path,
        items_from_sessions,
        parse_focus,
        read_boxes,
    )

    spec_of = _specs(spec, seed)
    if _is_data_set(source):
        from simulator.datasets import open_data

        if focus is not None or boxes is not None:
            raise UsageError(f"{source} knows its own boxes; leave --focus and --boxes out.")
        return items_from_sessions(open_data(source), target, spec_of)
    known = read_boxes(boxes) if boxes is not None else {}
    return items_from_path(
        source, target, spec_of, known, parse_focus(focus) if focus is not None else None
    )


def _is_data_set(source: str) -> bool:
    """Whether it is a data set with sessions; a file or folder of pictures is none."""
    from simulator.datasets import reader_of

    try:
        return reader_of(source)[0] != "album"
    except SpecError:  # one picture, or a glob
        return False


def _specs(spec: str | None, seed: int) -> Callable[[list[str]], Callable[[str], str]]:
    """Names of all pictures → the spec of one."""
    from simulator.optics import DegradationSpec, QualityMix

    if spec == MIX:

        def mixed(names: list[str]) -> Callable[[str], str]:
            chosen = QualityMix.crag_mm().assign(names, seed=seed)
            return lambda name: str(chosen[name])

        return mixed
    one = str(DegradationSpec.parse(spec or "clean"))
    return lambda _names: lambda _name: one


def _draw_sheet(item: PictureItem, folder: Path, overwrite: bool, seed: int) -> Path:
    import numpy as np

    from mmrag.errors import ConflictError
    from mmrag.files.images import LazyImage
    from simulator.optics.files.folders import encode
    from simulator.optics.files.severity_sheet import contact_sheet

    path = folder / "sheet.png"
    if item.problem:
        raise DataError(item.problem)
    image = np.asarray(LazyImage.from_bytes(item.read(), name=item.name).pil(), np.uint8)
    drawn = encode(contact_sheet(image, item.focus, key=f"{seed}/{item.name}"), ".png")
    if path.exists() and not overwrite and path.read_bytes() != drawn:
        raise ConflictError(f"{path} exists already; choose another DST or say --overwrite.")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(drawn)
    return path


def _report(
    summary: FolderSummary | None, sidecar: Path, drawn: Path | None, as_json: bool
) -> None:
    import json

    if as_json:
        shown: dict[str, Any] = {"sheet": str(drawn) if drawn else None}
        if summary is not None:
            shown |= {
                "done": summary.done, "skipped": summary.skipped, "rejected": summary.rejected,
                "failed": summary.failed, "records": str(sidecar),
            }  # fmt: skip
        typer.echo(json.dumps(shown, ensure_ascii=False))
    else:
        if drawn is not None:
            typer.echo(f"contact sheet: {drawn}")
        if summary is not None:
            typer.echo(
                f"{summary.done} degraded, {summary.skipped} done before, {summary.rejected} "
                f"rejected, {len(summary.failed)} failed; records in {sidecar}"
            )
    if summary is not None and summary.failed:
        shown_errors = "; ".join(summary.failed[:5])
        more = len(summary.failed) - 5
        raise DataError(
            f"{len(summary.failed)} could not be degraded, the others are done: {shown_errors}"
            + (f"; and {more} more, see {sidecar}" if more > 0 else "")
        )
