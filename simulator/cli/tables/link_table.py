"""How `mmrag link` tells what links cost."""

from __future__ import annotations

import json
import math
from typing import Any

import typer

from simulator.reports.losses.link_losses import NEEDED


def print_links(found: dict[str, Any], *, as_json: bool) -> None:
    """A line for each link, and the cheapest that costs little; or all of it as JSON."""
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    wide = max(len(row["condition"]) for row in found["rows"])
    typer.echo(
        f"{'':{wide}}  {'bytes':>9}  {'s':>5}  truthfulness  {'change (95 %)':>24}  lost  won"
    )
    for row in found["rows"]:
        typer.echo(
            f"{row['condition']:{wide}}  {row['bytes'] or 0:9,.0f}  {row['seconds'] or 0:5.1f}  "
            f"{_points(row['truthfulness']['estimate']):>12}  {_change(row['change']):>24}  "
            f"{_count(row['lost']):>4}  {_count(row['won']):>3}"
        )
    needed = math.ceil(NEEDED / found["points"])
    for one in found["cheapest"]:
        within = f"to cost no more than {found['points']:g} points"
        typer.echo(
            f"{one['before']}: the cheapest shown {within} is {one['condition']}."
            if one["condition"]
            else f"{one['before']}: no setting is shown {within}."
        )
        many = max((r["change"]["sessions"] for r in found["rows"] if r["change"]), default=0)
        if not one["condition"] and many < needed:
            typer.echo(f"That takes {needed:,} conversations or more; this run has {many:,}.")


def _change(change: dict[str, Any] | None) -> str:
    if change is None:
        return "–"
    if change.get("low") is None:
        return _points(change["estimate"])
    interval = f"[{_points(change['low'])}, {_points(change['high'])}]"
    return f"{_points(change['estimate'])} {interval}"


def _points(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.1f}"


def _count(value: int | None) -> str:
    return "–" if value is None else str(value)
