"""`mmrag measure`: the measures of Ragas and GaRAGe for a run or a file of answers."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmrag.errors import SpecError, UsageError
from simulator.counting import counted

if TYPE_CHECKING:
    from mmrag.encoders.cache import CachedTexts
    from mmrag.judges.measuring import Measurer
    from mmrag.protocols import Model
    from simulator.store.run_store import RunStore


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(measure)
    app.command()(wikieval)


def measure(
    target: Annotated[
        Path, typer.Argument(metavar="RUN|FILE", help="A run, or JSON lines of answers.")
    ],
    measures: Annotated[
        str, typer.Option(help="ragas, garage, or single measures, with commas.")
    ] = "ragas,garage",
    model: Annotated[
        str | None, typer.Option(help="Model that judges, e.g. openai:name=...")
    ] = None,
    judge: Annotated[
        str, typer.Option(help="Without a model: encoder (approximate) or labels.")
    ] = "encoder",
    prompts: Annotated[
        str, typer.Option(help="Of Ragas: keyed (ours) or paper (the paper's words).")
    ] = "keyed",
    encoder: Annotated[str, typer.Option(help="Text encoder that compares meanings.")] = "minilm",
    out: Annotated[
        Path | None, typer.Option(help="For a FILE: the run it is brought into.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Turns at once.")] = 16,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, help="Stop once measuring this run has cost so many dollars."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> None:
    """Take measures of every reply and keep them beside the verdicts; go on where it was stopped.

    No agent is asked anything, and no model is asked the same thing twice.
    """
    import asyncio

    from mmrag.judges.measuring import chosen_measures
    from simulator.cli.interrupting import interruptible
    from simulator.cli.showing import stage_bars
    from simulator.evaluation.importing import import_answers
    from simulator.evaluation.measuring import measure_run
    from simulator.store.run_store import RunReader, RunStore

    wanted = chosen_measures(measures)
    if target.is_dir():
        if out is not None:
            raise UsageError("--out is for a FILE of answers; a run is measured where it is.")
        RunReader(target).close()  # a folder that is no run is refused, not made one
    folder = target if target.is_dir() else out or target.with_suffix(".measured")
    if target != folder:
        import_answers(target, folder)
    with interruptible(f"what was committed to {folder}"), RunStore(folder) as store:
        takers = _takers(store, model, judge, prompts, encoder, max_cost, wanted)
        with stage_bars() as advance:
            progress = partial(advance, "measuring")
            work = measure_run(store, takers, wanted, concurrency, on_progress=progress)
            rows = asyncio.run(work)
        _print(store, folder, rows, as_json=as_json)


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
        float | None, typer.Option(min=0, help="Stop once the model has cost so many dollars.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> None:
    """Compare Ragas, GPT Score and GPT Ranking with people's preferences (Ragas, Table 1).

    Without a model the encoder stands in for Ragas, and there is nobody to grade or rank.
    """
    import asyncio

    from mmrag.judges.measuring import encoder_measurers
    from mmrag.judges.ragas import RagasJudge
    from simulator.cli.interrupting import interruptible
    from simulator.cli.showing import stage_bars
    from simulator.datasets.wikieval import read_wikieval
    from simulator.evaluation import agreement
    from simulator.store.run_store import RunStore

    pairs = list(read_wikieval(data))
    chosen = _encoder(encoder)
    with interruptible(f"what was committed to {out}"), RunStore(out) as store:
        if model is None:
            stand_in = agreement.by_measure(encoder_measurers(chosen)[0])
            methods = {"encoder (approximate)": stand_in}
        else:
            kept = _paid_once(store, model, max_cost)
            judge = RagasJudge(kept, name=model, encoder=chosen, prompts=prompts)
            methods = {
                "Ragas": agreement.by_measure(judge),
                "GPT Score": agreement.by_score(kept),
                "GPT Ranking": agreement.by_ranking(kept),
            }
        with stage_bars() as advance:
            progress = partial(advance, "comparing")
            work = agreement.agreement(
                pairs, methods, seed=seed, concurrency=concurrency, on_progress=progress
            )
            results = asyncio.run(work)
    if as_json:
        typer.echo(json.dumps(agreement.as_json(results), indent=2))
        return
    typer.echo("agreement with people [95 % interval], ties broken at random (t), failed (f)\n")
    for line in agreement.table(results):
        typer.echo(line)


def _takers(
    store: RunStore,
    model: str | None,
    judge: str,
    prompts: str,
    encoder: str,
    max_cost: float | None,
    wanted: tuple[str, ...],
) -> tuple[Measurer, ...]:
    from mmrag.judges import measuring

    if model is not None:
        kept = _paid_once(store, model, max_cost)
        chosen = _encoder(encoder) if "answer_relevance" in wanted else None
        return measuring.model_measurers(kept, name=model, encoder=chosen, prompts=prompts)
    if judge == "labels":
        return measuring.label_measurers()
    if judge != "encoder":
        raise SpecError(f"--judge {judge!r}: without a --model it is encoder or labels.")
    return measuring.encoder_measurers(_encoder(encoder))


def _encoder(spec: str) -> CachedTexts:
    from mmrag.encoders import text_encoders
    from mmrag.encoders.cache import CachedTexts
    from simulator.evaluation.wiring import shipped_vectors

    return CachedTexts(text_encoders.create(spec), shipped_vectors())


def _paid_once(store: RunStore, model: str, max_cost: float | None) -> Model:
    from mmrag.models import models
    from simulator.cli.live import CostCap
    from simulator.evaluation.measuring import paid_once

    def on_cost(cost: float) -> None:
        if max_cost is not None and cost >= max_cost:
            raise CostCap(
                f"measuring has cost ${cost:.2f} and --max-cost is ${max_cost:.2f}. What was "
                "committed is kept; go on with a higher --max-cost."
            )

    return paid_once(models.create(model), model, store, on_cost=on_cost)


def _print(store: RunStore, folder: Path, rows: int, *, as_json: bool) -> None:
    from simulator.reports.figures.measured import measured

    conditions = store.conditions()
    main = "clean" if "clean" in conditions or not conditions else conditions[0]
    found = measured(store, main)
    if as_json:
        shown = {"run": str(folder), "rows": rows, "cost": store.completion_cost()}
        typer.echo(json.dumps(shown | {"measured": found}, indent=2, ensure_ascii=False))
        return
    typer.secho(f"{counted(rows, 'row')} written.", err=True)
    for table in found["tables"] if found else ():
        typer.echo(f"\n{table['title']}")
        for row in table["rows"]:
            about = "  (approximate)" if row["approximate"] else ""
            typer.echo(f"  by {row['judge']}{about}")
            for name, cell in zip(table["measures"], row["cells"], strict=True):
                if cell is not None:
                    typer.echo(f"    {name:<26}{_figure(cell)}")
    if store.completion_cost():
        typer.echo(f"\ncost      ${store.completion_cost():.4f}")
    typer.echo(f"run: {folder}")


def _figure(cell: dict[str, Any]) -> str:
    failed = f", {cell['failed']} failed" if cell["failed"] else ""
    if cell["estimate"] is None:
        return f"     –  (n 0{failed})"
    interval = "" if cell["low"] is None else f"  [{cell['low']:.3f}, {cell['high']:.3f}]"
    return f"{cell['estimate']:6.3f}{interval}  (n {cell['n']}{failed})"
