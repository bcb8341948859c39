"""How runs and scores look in a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

import msgspec
import typer

from simulator.application.scores import Scores, plain_text
from simulator.message_text import counted
from simulator.run.results.run_scoring import is_human_played, language_note

if TYPE_CHECKING:
    from mmrag.records import Utterance
    from simulator.store.run_reader import RunReader

_COLOURS = {
    "perfect": "green",
    "acceptable": "green",
    "missing": "yellow",
    "incorrect": "red",
    "unscored": "magenta",
}


def print_scores(scores: Scores, *, as_json: bool, out: TextIO | None = None) -> None:
    """Scores for a program or for people, who are also told on stderr what is missing."""
    if as_json:
        typer.echo(json.dumps(scores.as_dict(), indent=2), file=out)
        return
    from rich.console import Console

    for warning in scores.get("warnings", []):
        typer.secho(warning, fg="yellow", err=True)
    console = Console(file=out)
    for part in scores.tables():
        console.print(part)


def show_run(run: RunReader, *, as_json: bool) -> None:
    """Settings, statuses and sessions of a run."""
    from simulator.reports.figures.wearers import wearers

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
    if (language := language_note(run)) is not None:
        summary["language"] = language
    if (cluster := run.meta("cluster")) is not None:
        summary["cluster"] = cluster
    live = wearers(run)
    if live is not None:
        summary["wearers"] = live
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    left = ("provenance", "cache", "wearers")
    console.print_json(
        json.dumps({k: v for k, v in summary.items() if k not in left}), ensure_ascii=True
    )
    if cache is not None:
        console.print(_cache_line(cache))
    for figures in live or ():
        console.print(plain_text(_wearers_line(figures, by_person=is_human_played(run))))
    table = Table("session", "condition", "turns", title=counted(len(keys), "conversation"))
    for session_id, degradation in keys[:50]:
        turns = run.turns(session_id, degradation)
        marks = " ".join(_mark(turn) for turn in turns)
        table.add_row(plain_text(session_id), plain_text(degradation), marks)
    console.print(table)
    if len(keys) > 50:
        console.print(
            f"... and {len(keys) - 50} more; `mmrag export` writes them all.", style="dim"
        )


def _wearers_line(w: dict[str, Any], *, by_person: bool) -> str:
    """What the live wearers of a condition got, and what it took them."""
    ends = ", ".join(f"{e['end']} {e['share']:.0%}" for e in w["ends"])
    paid = "" if w["paid_share"] is None else f" ({w['paid_share']:.0%} paid)"
    who = "a person as wearer" if by_person else "live wearers"
    rate = "–" if w["solved_per_minute"] is None else f"{w['solved_per_minute']:.2f}"
    return (
        f"{who}, {w['name']}: {w['solved']:.2f} of {w['goals']:.2f} goals solved in "
        f"{w['turns']:.1f} turns and {w['seconds']:.0f} s, {rate} a minute, "
        f"{w['pictures']:.2f} more pictures, {counted(w['requests'], 'request')}{paid}, "
        f"{w['patience']:.1f} patience left; {ends}."
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
    console.print(
        plain_text(f"{session.id}: {session.quality}, {session.degradation}"), style="bold"
    )
    if capture is not None and (digest := capture.image.sha256):
        console.print(plain_text(f"picture: {run.images.path(digest)}"), soft_wrap=True)
    for turn, result in zip(session.turns, results, strict=False):
        console.print(plain_text(f"\n{turn.index + 1}. {turn.query}"), style="bold")
        if turn.wearer is not None:
            console.print(plain_text(f"   {_meant(turn.wearer)}"), style="dim")
        if result.heard is not None:
            console.print(plain_text(f"   heard: {result.heard.text}"), style="dim")
        if turn.capture is not None:
            path = run.images.path(turn.capture.image.sha256)
            console.print(plain_text(f"   picture: {path}"), soft_wrap=True)
        if result.reply is not None and not result.is_unheard:
            asks = f" [asks: {result.reply.ask}]" if result.reply.ask else ""
            console.print(plain_text(f"   {result.reply.text}{asks}"))
        if result.unheard:
            console.print(plain_text(f"   not heard: {result.unheard.strip()}"), style="dim")
        console.print(plain_text(f"   reference: {turn.reference.text}"), style="dim")
        if result.verdict is not None:
            outcome = str(result.verdict.outcome)
            words = f"   {outcome}: {result.verdict.reason} ({result.verdict.judge})"
            console.print(plain_text(words), style=_COLOURS[outcome])
        else:
            words = f"   {result.status}" + (f": {result.error}" if result.error else "")
            console.print(plain_text(words), style="magenta")


def _meant(said: Utterance) -> str:
    look = f" ({said.look})" if said.look else ""
    return (
        f"goal {said.goal + 1}, {said.move}{look}; patience {said.patience}, {said.seconds:.0f} s"
    )


def _mark(result: Any) -> str:
    if result.verdict is not None:
        marks = {"perfect": "✓", "acceptable": "✓", "missing": "·", "incorrect": "✗"}
        return marks.get(str(result.verdict.outcome), "?")
    return "–" if str(result.status) == "skipped_after_stop" else "!"
