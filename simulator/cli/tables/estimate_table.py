"""How `mmrag run --dry-run` tells what a run would take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import typer

if TYPE_CHECKING:
    from simulator.application.estimate import Estimate


def print_estimate(found: Estimate, *, as_json: bool) -> None:
    """The estimate as text or JSON."""
    if as_json:
        typer.echo(json.dumps(msgspec.structs.asdict(found), indent=2))
        return
    text = found.without_picture if found.conditions > 1 else 0
    held = found.without_picture_held
    often = "once" if held == 1 else f"{held} times"
    once = (
        f" ({text:,} without a picture: held {often})" if text and held < found.conditions else ""
    )
    typer.echo(
        f"{found.sessions:,} sessions × {found.conditions} conditions{once} = "
        f"{found.conversations:,} conversations, {found.turns:,} turns at most"
    )
    if found.measured_on is None:
        typer.echo(
            "Tokens, cost and time are unknown: no turn of this agent was measured yet. "
            "Run a few sessions (--limit 5) and estimate again."
        )
        return
    typer.echo(
        f"like {found.measured_on}: about {found.turns_asked:,} turns asked, "
        f"{found.input_tokens:,} input and {found.output_tokens:,} output tokens, "
        f"${found.cost:.2f}, {_time(found.seconds or 0)}"
    )
    if found.judge_cost is None:
        typer.echo("That run has another judge: what judging takes is unknown and not counted.")
    elif found.judge_cost:
        typer.echo(f"${found.judge_cost:.2f} of it is the judge's.")


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
