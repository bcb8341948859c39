"""report, compare, gate, diagnose, link: from runs to a page, tables, figures, and a yes or no."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simulator.cli.options.flags import AsJson, RunFolder

if TYPE_CHECKING:
    from simulator.reports.figures.report import ReportOptions

Stop = Annotated[
    str | None, typer.Option(help="Score all runs under this stop rule, e.g. strikes(3).")
]
AgentErrors = Annotated[
    str | None, typer.Option(help="Count failures as unscored, missing or incorrect.")
]
Resamples = Annotated[int, typer.Option(min=0, help="Behind the intervals; 0: none.")]
Seed = Annotated[int, typer.Option(help="Seed of intervals and tests.")]
MinN = Annotated[int, typer.Option(min=1, help="Slices of fewer scored turns are greyed.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(report)
    app.command()(compare)
    app.command()(diagnose)
    app.command()(gate)
    app.command()(link)


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write; RUN/report when left out.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    stop: Stop = None,
    agent_errors: AgentErrors = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    min_n: MinN = 20,
    failures: Annotated[int, typer.Option(min=0, help="Failures shown with pictures.")] = 20,
    calibration: Annotated[
        Path | None,
        typer.Option(help="Of the judge, from `mmrag judge calibrate`: corrects the headline."),
    ] = None,
    replay: Annotated[
        str, typer.Option(help="Failures link there: the app's address, or a bundle's page.")
    ] = "http://127.0.0.1:7860",
    as_json: AsJson = False,
) -> None:
    """Write a report of one or several runs: a page, its data, tables and figures.

    A run made with --reference-history is paired with the same run without it.
    """
    from mmrag.metrics.correction import load_calibration
    from simulator.reports.draw.write import make_report

    options = _options(
        title=title, stop=stop, agent_errors=agent_errors, resamples=resamples, seed=seed,
        min_n=min_n, failures=failures,
        calibration=load_calibration(calibration) if calibration else None,
    )  # fmt: skip
    folder = out or runs[0] / "report"
    with _spinner() as say:
        made = make_report(runs, folder, options, replay=replay, on_part=say)
    if as_json:
        typer.echo(json.dumps(made, indent=2))
        return
    for warning in made["warnings"]:
        typer.secho(warning, fg="yellow", err=True)
    typer.echo(f"report: {folder / 'report.html'}")


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="A B [C...]", help="Runs, or RUN@CONDITION; A is the baseline."),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for compare.html, .md and .json.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the comparison.")] = None,
    stop: Stop = None,
    agent_errors: AgentErrors = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    min_n: MinN = 20,
    as_json: AsJson = False,
) -> None:
    """Compare runs of the same sessions: paired differences, tests, flipped turns. Markdown."""
    from simulator.reports.comparison.paired_runs import Side, compare_runs
    from simulator.reports.draw.markdown import comparison_markdown
    from simulator.reports.draw.write import write_comparison

    options = _options(
        title=title, stop=stop, agent_errors=agent_errors, resamples=resamples, seed=seed,
        min_n=min_n,
    )  # fmt: skip
    found = compare_runs([Side.parse(run) for run in runs], options)
    if out is not None:
        write_comparison(found, out)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    typer.echo(comparison_markdown(found))
    if out is not None:
        typer.echo(f"comparison: {out / 'compare.html'}", err=True)


def gate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run, or RUN@CONDITION.")],
    baseline: Annotated[str, typer.Option(help="The run, or RUN@CONDITION, that it is held to.")],
    max_loss: Annotated[float, typer.Option(help="Points of truthfulness that may be lost.")] = 2.0,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(help="Fail too if so, e.g. 'seconds > 1'. May be repeated."),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(help="File to append the Markdown to, e.g. $GITHUB_STEP_SUMMARY."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for compare.html, .md and .json.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the comparison.")] = None,
    stop: Stop = None,
    agent_errors: AgentErrors = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    min_n: MinN = 20,
    as_json: AsJson = False,
) -> None:
    """Let a run pass or fail against a baseline, for CI: Markdown, and exit code 1 if it fails."""
    from simulator.reports.comparison.gate import gate_run
    from simulator.reports.draw.markdown import append_markdown, comparison_markdown
    from simulator.reports.draw.write import write_comparison

    options = _options(
        title=title, stop=stop, agent_errors=agent_errors, resamples=resamples, seed=seed,
        min_n=min_n,
    )  # fmt: skip
    found = gate_run(run, baseline, max_loss, fail_if or (), options)
    if out is not None:
        write_comparison(found, out)
    if summary is not None:
        append_markdown(found, summary)
    typer.echo(json.dumps(found, indent=2) if as_json else comparison_markdown(found))
    if not found["passed"]:
        raise typer.Exit(1)


def diagnose(
    run: RunFolder,
    stop: Stop = None,
    agent_errors: AgentErrors = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    min_n: MinN = 20,
    as_json: AsJson = False,
) -> None:
    """Tell at which stage a run loses its points: finding, recognising, searching, reading, more.

    The run has to be made with --stages all, or some of them.
    """
    from mmrag.errors import UsageError
    from simulator.cli.tables.diagnosis_table import print_diagnosis
    from simulator.reports.figures.diagnosis import diagnosis
    from simulator.reports.figures.report import load_runs
    from simulator.store.run_store import RunReader

    options = _options(
        stop=stop, agent_errors=agent_errors, resamples=resamples, seed=seed, min_n=min_n
    )
    with RunReader(run) as reader:
        (loaded,), _, _ = load_runs([reader], options)
        if loaded.staged is None:
            lacked = (reader.meta("plan") or {}).get("left_out") or {}
            why = "; ".join(f"{stage}: {words}" for stage, (words, _) in lacked.items())
            cure = f"its data gives none ({why})" if why else "make one with mmrag run --stages all"
            raise UsageError(f"{run}: no stage of the truth was handed over in this run: {cure}.")
        found = diagnosis(loaded.staged, reader, options.uncertainty, min_n=min_n)
    typer.echo(json.dumps(found, indent=2)) if as_json else print_diagnosis(found)


def link(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run with --link.")],
    points: Annotated[
        float, typer.Option(min=0, max=200, help="That the cheapest setting may cost.")
    ] = 5.0,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Set truthfulness against the bytes and seconds of a run's links, and name the cheapest."""
    from mmrag.errors import UsageError
    from mmrag.metrics.headline import Uncertainty
    from simulator.cli.tables.link_table import print_links
    from simulator.reports.figures.headline import headline
    from simulator.reports.figures.report import ReportOptions, load_runs
    from simulator.reports.losses.link import sent
    from simulator.store.run_store import RunReader

    how = Uncertainty(resamples=resamples, seed=seed)
    with RunReader(run) as reader:
        frame = load_runs([reader], ReportOptions())[0][0].frame
        headlines = {name: headline(frame, frame.condition(name), how) for name in frame.conditions}
        found = sent(frame, headlines, how, points)
    if found is None:
        raise UsageError(f"{run} was made without --link; run it again with --link radio, say.")
    print_links(found, as_json=as_json)


def _options(**values: Any) -> ReportOptions:
    from simulator.reports.figures.report import ReportOptions
    from simulator.run.stop_policies import StopPolicy

    if values["stop"] is not None:
        StopPolicy.parse(values["stop"])
    if values["agent_errors"] is not None:
        _check_errors(values["agent_errors"])
    return ReportOptions(**values)


def _check_errors(value: str) -> None:
    from mmrag.errors import SpecError
    from simulator.run.results.turn_results import AGENT_ERRORS

    if value not in AGENT_ERRORS:
        raise SpecError(f"--agent-errors is {', '.join(AGENT_ERRORS)}; not {value!r}.")


def _spinner() -> Any:
    """Says on a terminal's stderr what is being worked on."""
    import contextlib
    from collections.abc import Callable, Generator

    @contextlib.contextmanager
    def spinning() -> Generator[Callable[[str], None], None, None]:
        from rich.console import Console

        with Console(stderr=True).status("reading the runs") as status:
            yield lambda part: status.update(f"report: {part}")

    return spinning()
