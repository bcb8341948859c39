"""`mmrag lab crag-tables` and `crag-recall`: the CRAG paper's tables, and its Figure 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.options.flags import AsJson
from simulator.cli.options.settings import numbers


def crag_tables(
    systems: Annotated[
        list[Path], typer.Argument(metavar="RUN|FILE...", help="Runs, or files of outcomes.")
    ],
    traffic: Annotated[
        Path | None, typer.Option(help="JSON of question type → weight (or domain → these).")
    ] = None,
    human: Annotated[
        Path | None, typer.Option(help="People's outcomes of the first run's turns: Table 10.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print CRAG's Tables 3, 4, 5 (and 11), 6 and 10 of systems that answered its questions."""
    from simulator.experiments.crag_tables import as_markdown, read_system, tables

    found = tables([read_system(place) for place in systems], traffic, human)
    typer.echo(json.dumps(found, indent=2) if as_json else as_markdown(found))


def crag_recall(
    data: Annotated[str, typer.Argument(metavar="FILE|FOLDER", help="CRAG's published rows.")],
    pages: Annotated[str, typer.Option(help="Numbers of pages, with commas.")] = "1,2,5,10,20,50",
    model: Annotated[
        str | None, typer.Option(help="Model that says whether a page suffices.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N questions.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Questions at once.")] = 8,
    as_json: AsJson = False,
) -> None:
    """Print how many questions the first pages answer (CRAG, Figure 2).

    Without a model a page answers where it holds the answer word for word. Questions with a false
    premise are left out.
    """
    import itertools
    from functools import partial

    from mmrag.errors import DataError
    from mmrag.models import models
    from simulator.datasets.papers.crag import CragQuestions
    from simulator.experiments.crag_recall import as_markdown, first_answering_pages, recall_curve
    from simulator.terminal.event_loops import run_to_end
    from simulator.terminal.interruption import interruptible
    from simulator.terminal.progress import progress_bars

    counts = numbers("pages", pages, "1,5,50", least=1)
    source = CragQuestions(Path(data.removeprefix("crag:")).absolute())
    with interruptible("nothing"), progress_bars(shown=not as_json) as advance:
        total = source.count(limit)
        work = first_answering_pages(
            itertools.islice(source, limit),
            models.create(model) if model else None,
            concurrency=concurrency,
            on_progress=lambda done: partial(advance, "reading pages")(done, total),
        )
        found = run_to_end(work)
    if not found:
        raise DataError(f"{data}: no question has an answer that a page could state.")
    curve = recall_curve(found, counts)
    typer.echo(json.dumps(curve, indent=2) if as_json else as_markdown(curve))
