"""report, compare, gate, diagnose, link: from runs to a page, tables, figures, and a yes or no."""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import typer

from mmrag.errors import MmragError, SpecError, UsageError
from simulator.cli.options.flags import AsJson, RunFolder

Resamples = Annotated[int, typer.Option(min=0, help="Resamples behind intervals; 0: none.")]
Seed = Annotated[int, typer.Option(help="Seed of intervals and tests.")]
Out = Annotated[Path | None, typer.Option(help="Folder for compare.html, .md and .json.")]
Title = Annotated[str | None, typer.Option(help="Title of the page.")]


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command what all reports are made by, which arrives as `options`."""

    def called(
        stop: Annotated[
            str | None, typer.Option(help="Score all runs under this stop rule, e.g. strikes(3).")
        ] = None,
        agent_errors: Annotated[
            str | None, typer.Option(help="Count failures as unscored, missing or incorrect.")
        ] = None,
        resamples: Resamples = 1000,
        seed: Seed = 0,
        min_n: Annotated[
            int, typer.Option(min=1, help="Slices of fewer scored turns are greyed.")
        ] = 20,
        **own: Any,
    ) -> None:
        from simulator.reports.figures.report import ReportOptions
        from simulator.run.results.run_scoring import AGENT_ERRORS
        from simulator.run.stop_policies import StopPolicy

        if stop is not None:
            StopPolicy.parse(stop)
        if agent_errors not in (None, *AGENT_ERRORS):
            raise SpecError(f"--agent-errors is {', '.join(AGENT_ERRORS)}; not {agent_errors!r}.")
        options = ReportOptions(
            stop=stop, agent_errors=agent_errors, resamples=resamples, seed=seed, min_n=min_n
        )
        command(options=options, **own)

    own = [p for n, p in inspect.signature(command, eval_str=True).parameters.items()
           if n != "options"]  # fmt: skip
    *shared, _ = inspect.signature(called, eval_str=True).parameters.values()
    cast("Any", called).__signature__ = inspect.Signature(
        [p.replace(kind=p.KEYWORD_ONLY) for p in (*own, *shared)]
    )
    called.__name__, called.__doc__ = command.__name__, command.__doc__
    return called


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(report)
    app.command()(compare)
    app.command()(diagnose)
    app.command()(gate)
    app.command()(link)


@with_options
def report(
    options: Any,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write; else RUN/report.")] = None,
    title: Title = None,
    failures: Annotated[int, typer.Option(min=0, help="Failures shown with pictures.")] = 20,
    replay: Annotated[
        str, typer.Option(help="Where failures link to: the app's address, or a bundle's page.")
    ] = "http://127.0.0.1:7860",
    as_json: AsJson = False,
) -> None:
    """Write a report of one or several runs: a page, its data, tables and figures.

    A run made with --reference-history is paired with the same run without it.
    """
    from simulator.reports.draw.write import make_report

    options = msgspec.structs.replace(options, title=title, failures=failures)
    folder = out or runs[0] / "report"
    with _saying() as say:
        made = make_report(runs, folder, options, replay=replay, on_part=say)
    if as_json:
        typer.echo(json.dumps(made, indent=2))
        return
    for warning in made["warnings"]:
        typer.secho(warning, fg="yellow", err=True)
    typer.echo(f"report: {folder / 'report.html'}")


@with_options
def compare(
    options: Any,
    runs: Annotated[
        list[str],
        typer.Argument(metavar="A B [C...]", help="Runs, or RUN@CONDITION; A is the baseline."),
    ],
    out: Out = None,
    title: Title = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs of the same sessions: paired differences, tests, flipped turns. Markdown where
    it is piped."""
    from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs
    from simulator.reports.draw.markdown import comparison_markdown
    from simulator.reports.draw.write import write_comparison
    from simulator.terminal.rich_text import show_markdown

    options = msgspec.structs.replace(options, title=title)
    found = compare_runs([ComparedRun.parse(run) for run in runs], options)
    if out is not None:
        write_comparison(found, out)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    show_markdown(comparison_markdown(found))
    if out is not None:
        typer.echo(f"comparison: {out / 'compare.html'}", err=True)


@with_options
def gate(
    options: Any,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run, or RUN@CONDITION.")],
    baseline: Annotated[str, typer.Option(help="The run, or RUN@CONDITION, to compare with.")],
    max_loss: Annotated[float, typer.Option(help="Points of truthfulness that may be lost.")] = 2.0,
    fail_if: Annotated[
        list[str] | None, typer.Option(help="Fail too if so, e.g. 'seconds > 1'. May be repeated.")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="File to append the Markdown to, e.g. $GITHUB_STEP_SUMMARY.")
    ] = None,
    out: Out = None,
    title: Title = None,
    as_json: AsJson = False,
) -> None:
    """Let a run pass (exit code 0) or fail (1) against a baseline, for CI, and say so in Markdown.

    Exit code 2: undecided, because a run, an option or a file to write is wrong.
    """
    from simulator.reports.comparison.gate import gate_run
    from simulator.reports.draw.markdown import append_markdown, comparison_markdown
    from simulator.reports.draw.write import write_comparison

    options = msgspec.structs.replace(options, title=title)
    try:
        found = gate_run(run, baseline, max_loss, fail_if or (), options)
        if out is not None:
            write_comparison(found, out)
        if summary is not None:
            append_markdown(found, summary)
    except MmragError as error:
        error.exit_code = 2  # 1 says that the run is worse
        raise
    typer.echo(json.dumps(found, indent=2) if as_json else comparison_markdown(found))
    if not found["passed"]:
        raise typer.Exit(1)


@with_options
def diagnose(options: Any, run: RunFolder, as_json: AsJson = False) -> None:
    """Find the stage that loses a run its points: finding, recognising, searching, reading, more.

    The run has to be made with --stages all, or some of them.
    """
    from simulator.cli.tables.diagnosis_table import print_diagnosis
    from simulator.reports.figures.diagnosis import diagnosis
    from simulator.reports.figures.report import load_report_runs
    from simulator.store.run_reader import RunReader

    with RunReader(run) as reader:
        (loaded,), _, _ = load_report_runs([reader], options)
        if loaded.staged is None:
            lacked = (reader.meta("plan") or {}).get("left_out") or {}
            why = "; ".join(f"{stage}: {words}" for stage, (words, _) in lacked.items())
            cure = f"its data gives none ({why})" if why else "make one with mmrag run --stages all"
            raise UsageError(f"{run}: no stage of the truth was handed over in this run: {cure}.")
        found = diagnosis(loaded.staged, reader, options.uncertainty, min_n=options.min_n)
    typer.echo(json.dumps(found, indent=2)) if as_json else print_diagnosis(found)


def link(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run with --link.")],
    points: Annotated[
        float, typer.Option(min=0, max=200, help="Points that the cheapest may lose.")
    ] = 5.0,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Set truthfulness against the bytes and seconds of a run's links, and name the cheapest."""
    from mmrag.metrics.headline import IntervalOptions
    from simulator.cli.tables.link_table import print_links
    from simulator.reports.figures.headline import headline
    from simulator.reports.figures.report import ReportOptions, load_report_runs
    from simulator.reports.losses.link_losses import link_losses
    from simulator.store.run_reader import RunReader

    how = IntervalOptions(resamples=resamples, seed=seed)
    with RunReader(run) as reader:
        frame = load_report_runs([reader], ReportOptions())[0][0].frame
        headlines = {name: headline(frame, frame.condition(name), how) for name in frame.conditions}
        found = link_losses(frame, headlines, how, points)
    if found is None:
        raise UsageError(f"{run} was made without --link; run it again with --link radio, say.")
    print_links(found, as_json=as_json)


@contextlib.contextmanager
def _saying() -> Generator[Callable[[str], None]]:
    """Says on a terminal's stderr what is being worked on."""
    from rich.console import Console

    with Console(stderr=True).status("reading the runs") as status:
        yield lambda part: status.update(f"report: {part}")
