"""`mmrag measure`: the measures of Ragas and GaRAGe for a run or a file of answers."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator.cli.options.flags import AsJson
from simulator.message_text import counted

if TYPE_CHECKING:
    from simulator.application.measure_run_or_file import Measured


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(measure)


def measure(
    target: Annotated[
        Path, typer.Argument(metavar="RUN|FILE", help="A run, or JSON lines of answers.")
    ],
    measures: Annotated[
        str,
        typer.Option(help="ragas, ragas-reference, garage, crud, or single measures, with commas."),
    ] = "ragas,garage",
    model: Annotated[
        str | None, typer.Option(help="Model that judges, e.g. openai:name=...")
    ] = None,
    judge: Annotated[
        str, typer.Option(help="Without a model: encoder (approximate) or labels.")
    ] = "encoder",
    prompts: Annotated[
        str, typer.Option(help="keyed (ours) or paper (Ragas in the paper's words).")
    ] = "keyed",
    encoder: Annotated[
        str,
        typer.Option(
            help="Text encoder that compares meanings: minilm (English), text2vec (CRUD-RAG's)."
        ),
    ] = "minilm",
    out: Annotated[Path | None, typer.Option(help="For a FILE: the run to import it into.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Turns at once.")] = 16,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, help="Stop once this has cost so many dollars."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Take measures of every reply and keep them beside the verdicts. Called again, it resumes.

    No agent is asked anything.
    """
    from simulator.application.measure_run_or_file import measure as measure_replies
    from simulator.terminal.interruption import interruptible
    from simulator.terminal.progress import progress_bars

    with interruptible("what was committed"), progress_bars() as advance:
        found = measure_replies(
            target, measures, model=model, judge=judge, prompts=prompts, encoder=encoder, out=out,
            concurrency=concurrency, max_cost=max_cost, on_progress=advance,
        )  # fmt: skip
    _print(found, as_json=as_json)


def wikieval(
    data: Annotated[str, typer.Argument(help="WikiEval: JSON lines, Parquet, or a hub id.")],
    model: Annotated[str | None, typer.Option(help="Model that judges.")] = None,
    prompts: Annotated[str, typer.Option(help="Of Ragas: paper or keyed.")] = "paper",
    encoder: Annotated[str, typer.Option(help="Text encoder that compares meanings.")] = "minilm",
    out: Annotated[Path, typer.Option(help="Folder that keeps what the model said.")] = Path(
        "wikieval.measured"
    ),
    seed: Annotated[int, typer.Option(help="Of ties and of the order of candidates.")] = 0,
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Pairs at once.")] = 8,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Stop once this has cost so many dollars.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare Ragas, GPT Score and GPT Ranking with people's preferences (Ragas, Table 1).

    Without a model the encoder stands in for Ragas.
    """
    from mmrag.judges.measure_registry import encoder_measurers
    from mmrag.judges.papers.ragas import RagasJudge
    from simulator.application.measure_run_or_file import cached_encoder, cost_capped_model
    from simulator.datasets.papers.wikieval import AnswerPair, read_wikieval
    from simulator.experiments import wikieval as agreement
    from simulator.store.run_store import RunStore
    from simulator.terminal.event_loops import run_to_end
    from simulator.terminal.interruption import interruptible
    from simulator.terminal.progress import progress_bars

    rows = list(read_wikieval(data))
    pairs = [row for row in rows if isinstance(row, AnswerPair)]
    for problem in [row.problem for row in rows if not isinstance(row, AnswerPair)]:
        typer.secho(problem, fg="yellow", err=True)
    chosen = cached_encoder(encoder)
    with interruptible(f"what was committed to {out}"), RunStore(out) as store:
        if model is None:
            stand_in = agreement.by_measure(encoder_measurers(chosen)[0])
            methods = {"encoder (approximate)": stand_in}
        else:
            kept = cost_capped_model(store, model, max_cost)
            judge = RagasJudge(kept, name=model, encoder=chosen, prompts=prompts)
            methods = {
                "Ragas": agreement.by_measure(judge),
                "GPT Score": agreement.by_score(kept),
                "GPT Ranking": agreement.by_ranking(kept),
            }
        with progress_bars() as advance:
            progress = partial(advance, "comparing")
            work = agreement.agreement(
                pairs, methods, seed=seed, concurrency=concurrency, on_progress=progress
            )
            results = run_to_end(work)
    if as_json:
        typer.echo(json.dumps(agreement.as_json(results), indent=2))
        return
    typer.echo("agreement with people [95 % interval], ties broken at random (t), failed (f)\n")
    for line in agreement.table(results):
        typer.echo(line)


def _print(found: Measured, *, as_json: bool) -> None:
    import msgspec

    if as_json:
        typer.echo(json.dumps(msgspec.to_builtins(found), indent=2, ensure_ascii=False))
        return
    for problem in found.unusable:
        typer.secho(problem, fg="yellow", err=True)
    typer.secho(f"{counted(found.rows, 'row')} written.", err=True)
    if not found.tables:
        typer.secho("Nothing to measure: no turn has a reply.", fg="yellow", err=True)
    else:
        typer.echo(str(found))
    if found.cost:
        typer.echo(f"\ncost      ${found.cost:.4f}")
    typer.echo(f"run: {found.folder}")
