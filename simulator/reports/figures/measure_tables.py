"""What was measured of a run: Ragas' figures, GaRAGe's Tables 2 to 4, and its Figures 5 and 6.

A figure is Σ value · weight / Σ weight over the turns of one judge, with an interval over
conversations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mmrag.judges.papers.ragas_reference import MEASURES as REFERENCE
from mmrag.judges.papers.reference_measures import BERT, OVERLAP, QUEST, RETRIEVAL
from mmrag.metrics.headline import IntervalOptions
from mmrag.metrics.measure_records import Measurement
from mmrag.metrics.measures import MEASURES
from mmrag.records import Turn
from simulator.reports.read.session_sums import columns_of_ratios
from simulator.store.run_reader import RunReader

TABLES = (
    ("Ragas", ("faithfulness", "answer_relevance", "context_relevance")),
    ("Ragas, against a reference", REFERENCE),
    (
        "Eligibility and factuality (GaRAGe, Table 2)",
        ("eligibility", "unadjusted_factuality", "factuality", "unadjusted_raf", "raf"),
    ),
    (
        "Declining to answer (GaRAGe, Table 3)",
        ("deflection_true_positive", "deflection_false_positive"),
    ),
    (
        "Attribution (GaRAGe, Table 4)",
        ("attribution_precision", "attribution_recall", "attribution_f1"),
    ),
    ("Shared words and likeness (CRUD-RAG)", (*OVERLAP, "reference_cosine")),
    ("BERTScore", BERT),
    ("RAGQuestEval (CRUD-RAG)", QUEST),
    ("Retrieval (CRUD-RAG)", RETRIEVAL),
)

SLICED = ("raf", "faithfulness")
"""Measures that are also shown by dimension, as GaRAGe's Figures 5 and 6 show RAF."""

DIMENSIONS: dict[str, Callable[[Turn, Measurement], Any]] = {
    "dynamism": lambda turn, _: turn.dynamism,
    "provider": lambda _, row: row.details.get("provider"),
    "grounding quality": lambda _, row: row.details.get("grounding_quality"),
    "popularity": lambda turn, _: turn.popularity,
    "complexity": lambda turn, _: turn.query_type,
    "category": lambda turn, _: turn.domain,
}
"""By what GaRAGe tells questions apart."""


class _Row(NamedTuple):
    session: int
    turn: Turn
    row: Measurement


def measured(
    run: RunReader, condition: str = "clean", how: IntervalOptions = IntervalOptions()
) -> dict[str, Any] | None:
    """Tables and slices of everything that was measured under a condition; None if nothing was."""
    rows = _rows(run, condition)
    if not rows:
        return None
    return {
        "condition": condition,
        "tables": [table for title, names in TABLES if (table := _table(title, names, rows, how))],
        "slices": [
            entry
            for measure in SLICED
            for judge in _judges(rows, (measure,))
            for entry in _slices(measure, judge, rows, how)
        ],
    }


def _rows(run: RunReader, condition: str) -> list[_Row]:
    if not run.measured_by():
        return []
    found: list[_Row] = []
    keys = [key for key in run.session_keys() if key[1] == condition]
    for number, (session_id, _) in enumerate(keys):
        there = run.measurements(session_id, condition)
        if there:
            turns = run.session(session_id, condition).turns
            found += [_Row(number, turns[i], row) for i, rows in there.items() for row in rows]
    return found


def _table(
    title: str, names: tuple[str, ...], rows: list[_Row], how: IntervalOptions
) -> dict[str, Any] | None:
    judges = _judges(rows, names)
    if not judges:
        return None
    return {
        "title": title,
        "measures": list(names),
        "rows": [
            {
                "judge": judge,
                "approximate": any(r.row.approximate for r in rows if _who(r.row) == judge),
                "cells": [_cell(name, judge, rows, how) for name in names],
            }
            for judge in judges
        ],
    }


def _cell(
    measure: str, judge: str, rows: list[_Row], how: IntervalOptions
) -> dict[str, Any] | None:
    mine = [r for r in rows if r.row.measure == measure and _who(r.row) == judge]
    if not mine:
        return None
    failed = sum(r.row.failed for r in mine)
    whys = Counter(r.row.reason for r in mine if r.row.reason)
    known = any(r.row.value is not None for r in mine)
    why = whys.most_common(1)[0][0] if whys and not known else ""
    figure = {**_figure([mine], how)[0], "unit": MEASURES[measure.partition("@")[0]].unit}
    return {**figure, "failed": failed, "turns": len(mine), "why": why}


def _slices(
    measure: str, judge: str, rows: list[_Row], how: IntervalOptions
) -> list[dict[str, Any]]:
    mine = [r for r in rows if r.row.measure == measure and _who(r.row) == judge]
    found: list[dict[str, Any]] = []
    for dimension, value in DIMENSIONS.items():
        groups: dict[str, list[_Row]] = {}
        for r in mine:
            name = value(r.turn, r.row) if r.row.value is not None else None
            if name is not None:
                groups.setdefault(str(name), []).append(r)
        if len(groups) < 2:
            continue
        names = sorted(groups, key=lambda name: (_ORDER.get(name, 0), name))
        figures = _figure([groups[name] for name in names], how)
        found.append(
            {
                "measure": measure,
                "judge": judge,
                "dimension": dimension,
                "groups": [
                    {"slice": name, **one} for name, one in zip(names, figures, strict=True)
                ],
            }
        )
    return found


def _figure(columns: list[list[_Row]], how: IntervalOptions) -> list[dict[str, Any]]:
    many = 1 + max(r.session for rows in columns for r in rows)
    tops, bottoms = np.zeros((many, len(columns))), np.zeros((many, len(columns)))
    for column, rows in enumerate(columns):
        for session, _, row in rows:
            if row.value is not None:
                tops[session, column] += row.value * row.weight
                bottoms[session, column] += row.weight
    present = np.flatnonzero(bottoms.sum(axis=1) > 0)
    rows_of = present if len(present) else np.array([0])
    figures = columns_of_ratios(tops[rows_of], bottoms[rows_of], how)
    for figure, rows in zip(figures, columns, strict=True):
        figure["n"] = sum(r.row.value is not None for r in rows)
    return figures


def _judges(rows: list[_Row], names: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(_who(r.row) for r in rows if r.row.measure in names))


def _who(row: Measurement) -> str:
    """The judge without what only answer relevance adds to it, so that one row holds all three."""
    return row.judge.split("~")[0]


_ORDER = {"low": 1, "medium": 2, "high": 3, "head": 1, "torso": 2, "tail": 3}
