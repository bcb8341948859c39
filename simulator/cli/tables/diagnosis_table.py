"""Prints where a run loses its points, from 100 down to its score."""

from __future__ import annotations

from typing import Any

import typer

from simulator.reports.figures.diagnosis import diagnosis_sentences


def print_diagnosis(found: dict[str, Any]) -> None:
    """A row for each condition, and what each degradation costs in words."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="points lost, from 100 down to truthfulness (95 %)", title_justify="left")
    table.add_column("condition")
    for loss in found["falls"][0]["losses"]:
        table.add_column(loss["loss"], justify="right")
    table.add_column("score", justify="right")
    for fall in found["falls"]:
        cells = [_cell(figure) for figure in (*fall["losses"], fall["score"])]
        table.add_row(fall["condition"], *cells)
    Console().print(table)
    for line in diagnosis_sentences(found):
        typer.echo(line)


def _cell(figure: dict[str, Any]) -> str:
    if figure["estimate"] is None:
        return "–"
    span = ""
    if figure["low"] is not None:
        span = f"\n[{100 * figure['low']:.1f}, {100 * figure['high']:.1f}]"
    sure = "*" if figure.get("p_holm") is not None and figure["p_holm"] <= 0.05 else ""
    return f"{100 * figure['estimate']:.1f}{sure}{span}"
