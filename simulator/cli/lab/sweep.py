"""`mmrag lab sweep`: one component of an agent at a time, or a grid, each against the base."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simulator.cli.options.flags import AsJson

if TYPE_CHECKING:
    from simulator.parts.run_parts import Parts


def sweep(
    out: Annotated[Path, typer.Option(help="Folder for the runs and what was found.")],
    vary: Annotated[
        list[str],
        typer.Option(help="OPTION=VALUE,VALUE of the agent, e.g. chunk=64,128. May be repeated."),
    ],
    agent: Annotated[
        str, typer.Option(help="The base: rag:… takes chunk, overlap, embedder, retriever, top_k.")
    ] = "rag:reader=builtin",
    data: Annotated[str, typer.Option(help="As for `mmrag run`.")] = "mini",
    grid: Annotated[
        bool, typer.Option("--grid", help="Every combination, not one change at a time.")
    ] = False,
    measures: Annotated[
        str, typer.Option(help="Measures too: ragas, garage, crud, or single ones.")
    ] = "",
    model: Annotated[str | None, typer.Option(help="Model that takes the measures.")] = None,
    judge: Annotated[str, typer.Option(help="As for `mmrag run`.")] = "builtin",
    search: Annotated[str, typer.Option(help="As for `mmrag run`.")] = "auto",
    degrade: Annotated[str, typer.Option(help="As for `mmrag run`.")] = "none",
    split: Annotated[str, typer.Option(help="As for `mmrag run`.")] = "multi-turn",
    tools: Annotated[str, typer.Option(help="As for `mmrag run`.")] = "none",
    seconds: Annotated[float, typer.Option(help="As for `mmrag run`.")] = 60.0,
    limit: Annotated[int | None, typer.Option(min=1, help="Sessions.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Conversations at once.")] = 16,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Stop once this has cost so many dollars.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the settings and what they would cost.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run an agent in many settings over the same questions, and say what helps.

    Called again, it resumes.
    """
    from simulator.experiments.sweep import parse_vary, run_sweep
    from simulator.parts.run_parts import Parts
    from simulator.run.config import make_config

    config = make_config(
        {"data": data, "agent": agent, "judge": judge, "search": search, "degrade": degrade,
         "split": split, "limit": limit, "tools": tools, "seconds": seconds}
    )  # fmt: skip
    parts, varied = Parts(config, progress=not as_json), parse_vary(vary)
    if dry_run:
        _estimate(
            parts, varied, out, grid=grid, measures=measures, concurrency=concurrency,
            as_json=as_json,
        )  # fmt: skip
        return
    found = run_sweep(
        parts, varied, out, grid=grid, measures=measures, model=model, concurrency=concurrency,
        max_cost=max_cost,
    )  # fmt: skip
    from simulator.reports.draw.sweep import write_sweep

    page = write_sweep(found, out)
    if as_json:
        typer.echo(json.dumps(found, indent=1))
        return
    typer.echo(page.read_text(encoding="utf-8"))
    typer.echo(f"sweep: {page}", err=True)


def _estimate(
    parts: Parts,
    vary: dict[str, list[str]],
    out: Path,
    *,
    grid: bool,
    measures: str,
    concurrency: int,
    as_json: bool,
) -> None:
    from msgspec.structs import asdict

    from simulator.application.estimate import estimate
    from simulator.experiments.sweep import check_settings, setting_folder, settings_of

    settings = settings_of(parts.settings.agent, vary, grid=grid)
    check_settings(settings, measures)
    like = setting_folder(out, settings[0])
    rows: list[dict[str, Any]] = [
        {"name": s.name, "agent": s.agent}
        | asdict(estimate(
            parts.with_agent(s.agent), setting_folder(out, s),
            like=like if like.is_dir() else None, concurrency=concurrency,
        ))
        for s in settings
    ]  # fmt: skip
    costs = [row["cost"] for row in rows]
    total = None if any(cost is None for cost in costs) else sum(costs)
    if as_json:
        typer.echo(json.dumps({"settings": rows, "cost": total}, indent=1))
        return
    for row in rows:
        typer.echo(f"{row['name']:<32} {row['turns']:>7,} turns  {row['agent']}")
    said = "unknown until the base has run" if total is None else f"${total:,.2f}"
    typer.echo(f"{len(rows)} settings; cost {said}.")
