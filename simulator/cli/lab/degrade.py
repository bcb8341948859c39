"""`mmrag lab degrade`: what a pair of glasses does to pictures of your own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mmrag.errors import DataError, SpecError, UsageError
from simulator.cli.options.flags import AsJson

if TYPE_CHECKING:
    from simulator.optics.files.degraded_folder import PictureItem

MIX = "mix"
"""CRAG-MM's shares of normal and degraded captures instead of one spec for all."""


def degrade_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SRC", help="A file, a folder or a data set (mini, crag-mm:…, a world)."
        ),
    ],
    target: Annotated[Path, typer.Argument(metavar="DST", help="A folder outside of SRC.")],
    spec: Annotated[
        str,
        typer.Option(
            help="low-light@3, blurred:motion@2+rotated@1, …, or mix: CRAG-MM's shares. "
            "Append +jpeg@50 for a codec."
        ),
    ],
    focus: Annotated[
        str | None, typer.Option(help="The entity: left,top,right,bottom in pixels.")
    ] = None,
    boxes: Annotated[
        Path | None, typer.Option(help="The entities' boxes, a CSV: file,x0,y0,x1,y1.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Other seeds give other noise, sides and angles.")] = 0,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes.")] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is in DST.")] = False,
    as_json: AsJson = False,
) -> None:
    """Degrade pictures about an entity: dark, blurred, truncated, occluded or rotated.

    Pictures keep their names and formats; records go to degradations.jsonl beside them. Called
    again, it resumes.
    """
    import json

    from simulator.optics.files.degraded_folder import degrade_files
    from simulator.terminal.progress import progress_bars

    if focus is not None and boxes is not None:
        raise UsageError("--focus is one box for all, --boxes one for each: give one of them.")
    items, sidecar = _gather(source, target, spec, focus, boxes, seed)
    done = itertools.count(1)
    with progress_bars() as advance:
        summary = degrade_files(
            items, sidecar, seed, workers=workers, overwrite=overwrite,
            on_done=lambda: advance("degrading", next(done), len(items)),
        )  # fmt: skip
    if as_json:
        shown = {"done": summary.done, "skipped": summary.skipped, "failed": summary.failed,
                 "records": str(sidecar)}  # fmt: skip
        typer.echo(json.dumps(shown, ensure_ascii=False))
    else:
        typer.echo(
            f"{summary.done} degraded, {summary.skipped} done before, {len(summary.failed)} "
            f"failed; records in {sidecar}"
        )
    if summary.failed:
        more = len(summary.failed) - 5
        raise DataError(
            f"{len(summary.failed)} could not be degraded, the others are done: "
            + "; ".join(summary.failed[:5])
            + (f"; and {more} more, see {sidecar}" if more > 0 else "")
        )


def _gather(
    source: str, target: Path, spec: str, focus: str | None, boxes: Path | None, seed: int
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
    except SpecError:  # one picture
        return False


def _specs(spec: str, seed: int) -> Callable[[list[str]], Callable[[str], str]]:
    """Names of all pictures → the spec of one."""
    from simulator.optics import DegradationSpec, QualityMix

    if spec == MIX:

        def mixed(names: list[str]) -> Callable[[str], str]:
            chosen = QualityMix.crag_mm().assign(names, seed=seed)
            return lambda name: str(chosen[name])

        return mixed
    one = str(DegradationSpec.parse(spec))
    return lambda _names: lambda _name: one
