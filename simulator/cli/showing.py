"""How runs and scores look in a terminal."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, TextIO

import msgspec
import typer

from mmrag.records import Status
from simulator.counting import counted

if TYPE_CHECKING:
    from mmrag.metrics.protocols import TurnScore
    from simulator.run.results import ScoreOptions
    from simulator.store.run_store import RunReader

_COLOURS = {
    "perfect": "green",
    "acceptable": "green",
    "missing": "yellow",
    "incorrect": "red",
    "unscored": "magenta",
}

_ROWS = {
    "accuracy": "accuracy",
    "missing": "missing",
    "hallucination_rate": "hallucination",
    "truthfulness_score": "truthfulness",
}


NO_JUDGE = "none"
"""What stands in the place of a judge where none was asked."""

Advance = Callable[[str, int, int], None]
"""Takes the name of a stage, how much of it is done, and how much there is."""

EVERY = 30.0
"""Seconds between two lines of progress where there is no terminal."""


class PlainProgress:
    """Now and then a line on stderr, for logs: work of seconds stays silent, hours do not.

    A stage's first call starts its clock: what was done before is no part of its pace.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began: dict[str, tuple[float, int]] = {}
        self._told = clock()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Say how far a stage is, unless something was said a moment ago."""
        now = self._clock()
        began, first = self._began.setdefault(stage, (now, done))
        if now - self._told < EVERY:
            return
        self._told = now
        line = f"{stage}: {done:,} of {total:,}"
        if first < done < total:
            left = (now - began) / (done - first) * (total - done)
            line += f", about {_duration(left)} left"
        typer.echo(line, err=True)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.0f} h"


@contextlib.contextmanager
def stage_bars() -> Generator[Advance, None, None]:
    """Bars on stderr for work in named stages: each call says (stage, done, total).

    Where stderr is no terminal, now and then a line.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    if not console.is_terminal:
        yield PlainProgress()
        return
    with Bar(*columns, console=console, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def advance(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield advance


def by_condition(
    run: RunReader, options: ScoreOptions, read: Iterable[TurnScore] | None = None
) -> dict[str, dict[str, Any]]:
    """Figures of each condition of a sweep; empty where one condition, or a mixture, is scored.

    Without intervals: they would take as long as those of the whole, once for each condition.
    """
    from mmrag.metrics.protocols import score
    from simulator.run.results import condition_of, turns_of
    from simulator.run.stopping import StopPolicy

    config: dict[str, Any] = run.meta("config") or {}
    if options.degradation is not None or config.get("degrade") == "mix":
        return {}
    turns: dict[str, list[TurnScore]] = {}
    for turn in turns_of(run, options) if read is None else read:
        turns.setdefault(condition_of(turn), []).append(turn)
    if len(turns) < 2:
        return {}
    stop = StopPolicy.parse(options.stop, seed=options.seed).rule
    return {
        condition: score(rows, options.protocol, stop=stop, resamples=0)["all"]
        for condition, rows in turns.items()
    }


def tell_scores(
    figures: dict[str, Any],
    options: ScoreOptions,
    conditions: dict[str, dict[str, Any]],
    *,
    as_json: bool,
    out: TextIO | None = None,
) -> None:
    """Scores for a program or for people, who are also told on stderr what is missing."""
    if as_json:
        typer.echo(json.dumps(figures, indent=2), file=out)
        return
    print_scores(figures, options, conditions, out=out)
    for warning in figures.get("warnings", []):
        typer.secho(warning, fg="yellow", err=True)


def print_scores(
    figures: dict[str, Any],
    options: ScoreOptions,
    conditions: dict[str, dict[str, Any]] | None = None,
    *,
    out: TextIO | None = None,
) -> None:
    """The headline figures as a table, and a line for each condition where there are several."""
    from rich.console import Console
    from rich.table import Table

    from simulator.run.results import ErrorTexts

    console = Console(file=out)
    for view in ("all", "ego"):
        if view not in figures or (view == "ego" and figures[view] == figures["all"]):
            continue
        found = figures[view]
        title = f"{options.protocol}, {options.stop}"
        if options.agent_errors != "unscored":
            title += f", agent errors count as {options.agent_errors}"
        if view == "ego":
            title += ", egocentric only"
        if conditions:
            title += f", {len(conditions)} conditions together"
        table = Table(title=title, title_justify="left")
        table.add_column("")
        if options.protocol == "strict":
            for name in ("as answered", "as experienced"):
                table.add_column(name, justify="right")
            for key, label in _ROWS.items():
                cells = [
                    _cell(
                        found[part][key],
                        found.get("intervals", {}).get(part, {}).get(key),
                        scored=found[part]["total"],
                    )
                    for part in ("as_answered", "as_experienced")
                ]
                table.add_row(label, *cells)
        else:
            table.add_column("figure", justify="right")
            for key, label in _ROWS.items():
                table.add_row(label, _cell(found[key], None, scored=found["total"]))
        score = found["mean_multi_turn_conversation_score"]
        span = found.get("intervals", {}).get("mean_multi_turn_conversation_score")
        strict = options.protocol == "strict"
        cell = _cell(score, span if strict else None, scored=found["total"])
        table.add_row("multi-turn score", *([""] if strict else []), cell)
        console.print(table)
        console.print(_footer(found), style="dim")
    if figures.get("error_texts"):
        console.print(_plain(f"warning: {ErrorTexts(**figures['error_texts'])}"), style="yellow")
    if figures.get("judge") == NO_JUDGE:
        console.print("No judge: only exact matches are right.", style="dim")
    if conditions:
        console.print(_condition_table(conditions, strict=options.protocol == "strict"))


def _condition_table(conditions: dict[str, dict[str, Any]], *, strict: bool) -> Any:
    from rich.table import Table

    title = f"by condition{', as experienced' if strict else ''}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("condition", no_wrap=True)
    for name in ("turns", *_ROWS.values(), "multi-turn"):
        table.add_column(name, justify="right")
    for condition, found in sorted(conditions.items(), key=lambda item: item[0] != "clean"):
        rates = found["as_experienced"] if strict else found
        score = found["mean_multi_turn_conversation_score"]
        table.add_row(
            _plain(condition),
            f"{found['total']:,}",
            *(_cell(rates[key], None, scored=rates["total"]) for key in _ROWS),
            _cell(score, None, scored=found["total"]),
        )
    return table


def show_run(run: RunReader, *, as_json: bool) -> None:
    """Settings, statuses and sessions of a run."""
    keys = run.session_keys()
    cache: dict[str, Any] | None = run.meta("cache")
    summary = {
        "config": run.meta("config"),
        "provenance": run.meta("provenance"),
        "judge": run.meta("judge"),
        "cache": cache,
        "finished": bool(run.meta("finished")),
        "statuses": run.turn_counts(),
        "sessions": len(keys),
    }
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    left = ("provenance", "cache")
    console.print_json(json.dumps({k: v for k, v in summary.items() if k not in left}))
    if cache is not None:
        console.print(_cache_line(cache))
    table = Table("session", "degradation", "turns", title=counted(len(keys), "conversation"))
    for session_id, degradation in keys[:50]:
        turns = run.turns(session_id, degradation)
        marks = " ".join(_mark(turn) for turn in turns)
        table.add_row(_plain(session_id), _plain(degradation), marks)
    console.print(table)
    if len(keys) > 50:
        console.print(
            f"... and {len(keys) - 50} more; `mmrag export` writes them all.", style="dim"
        )


def _cache_line(stats: dict[str, Any]) -> str:
    """What the last call to run or resume had to do only once."""
    hits, all_calls = stats.get("hits", 0), stats.get("hits", 0) + stats.get("misses", 0)
    asked = counted(all_calls, "model call or search", "model calls and searches")
    line = f"cache: {hits:,} of {asked} answered from it"
    saved: dict[str, Any] = stats.get("saved") or {}
    if saved.get("calls") or saved.get("input_tokens"):
        line += (
            f"; saved {saved.get('input_tokens', 0):,} input and "
            f"{saved.get('output_tokens', 0):,} output tokens, ${saved.get('cost', 0.0):.4f}"
        )
    return f"{line}."


def show_session(run: RunReader, session_id: str, degradation: str, *, as_json: bool) -> None:
    """One conversation, turn by turn."""
    session = run.session(session_id, degradation)
    results = run.turns(session_id, degradation)
    if as_json:
        turns = [json.loads(msgspec.json.encode(result)) for result in results]
        typer.echo(json.dumps({"session": session_id, "turns": turns}, indent=2))
        return
    from rich.console import Console

    console = Console()
    capture = session.capture
    console.print(_plain(f"{session.id}: {capture.quality}, {capture.degradation}"), style="bold")
    console.print(
        f"picture: {run.images.path(capture.image.sha256)}" if capture.image.sha256 else ""
    )
    for turn, result in zip(session.turns, results, strict=False):
        console.print(_plain(f"\n{turn.index + 1}. {turn.query}"), style="bold")
        if result.reply is not None:
            console.print(_plain(f"   {result.reply.text}"))
        console.print(_plain(f"   reference: {turn.reference.text}"), style="dim")
        if result.verdict is not None:
            outcome = str(result.verdict.outcome)
            words = f"   {outcome}: {result.verdict.reason} ({result.verdict.judge})"
            console.print(_plain(words), style=_COLOURS[outcome])
        else:
            words = f"   {result.status}" + (f": {result.error}" if result.error else "")
            console.print(_plain(words), style="magenta")


def failure_note(run: RunReader) -> str | None:
    """What failed in a run, in one line; None where nothing did."""
    first = run.first_failure()
    if first is None:
        return None
    counts = ", ".join(f"{n} {s}" for s, n in run.turn_counts().items() if Status(s).is_failure)
    why = " ".join((first.error or "no reason given").split())
    return (
        f"failed turns: {counts}; the first, turn {first.turn_index + 1} of {first.session_id}: "
        f"{why[:300]}"
    )


def _plain(text: str) -> Any:
    """Words from a data set or a model: no markup, and no command to the terminal."""
    from rich.text import Text

    return Text("".join(c for c in text if c in "\n\t" or c.isprintable()))


def _cell(value: float, interval: list[float | None] | None, *, scored: int) -> str:
    if not scored:
        return "–"  # nothing was scored: neither right nor wrong
    if not interval or interval[0] is None or interval[1] is None:
        return f"{value:.1%}"
    return f"{value:.1%}  [{interval[0]:.1%}, {interval[1]:.1%}]"


def _footer(found: dict[str, Any]) -> str:
    words = [counted(found["total"], "scored turn")]
    if "sessions" in found:
        conversations = counted(found["sessions"], "conversation")
        words = [
            f"{conversations}, {counted(found['asked'], 'turn')} asked",
            f"coverage {found['coverage']:.1%}",
            f"stopped early {found['early_stop_rate']:.1%}",
            f"{found['successful_turns']:.2f} successful turns each",
        ]
    if found.get("not_asked"):
        several = "was" if found["not_asked"] == 1 else "were"
        turns = counted(found["not_asked"], "turn")
        words.append(f"{turns} after a stop {several} never asked")
    return "; ".join(words) + "."


def _mark(result: Any) -> str:
    if result.verdict is not None:
        marks = {"perfect": "✓", "acceptable": "✓", "missing": "·", "incorrect": "✗"}
        return marks.get(str(result.verdict.outcome), "?")
    return "–" if str(result.status) == "skipped_after_stop" else "!"
