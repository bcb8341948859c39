"""The columns and slices of a report as Parquet and CSV, for pandas and spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mmrag.files.atomic import formula_safe_cell
from mmrag.metrics.headline import IntervalOptions
from mmrag.records import NOT_ASKED
from simulator.reports.figures.report import LoadedRun
from simulator.reports.figures.slices import dimensions, slice_table
from simulator.reports.read.turn_frame import FLAGS, OUTCOMES, REAL, SHARES, WHOLE, TurnFrame
from simulator.run.results.kit_scoring import OFFICIAL

SLICE_COLUMNS = (
    "run", "condition", "dimension", "slice", "turns", "asked", "coverage", "accuracy", "missing",
    "hallucination_rate", "truthfulness", "truthfulness_low", "truthfulness_high", "n", "sessions",
    "small",
)  # fmt: skip

_ROWS = 100_000
"""Of a file of turns that are written at a time."""


def write_turns(loaded: Sequence[LoadedRun], path: Path) -> int:
    """One row per turn with everything that the figures are computed from. Returns the rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    every = (name for item in loaded for name in item.frame.columns)
    steps = list(dict.fromkeys(name for name in every if name.startswith(("step_", "heard:"))))
    rows = 0
    writer: Any = None
    try:
        for item in loaded:
            for first in range(0, len(item.frame), _ROWS):
                part = item.frame.rows(slice(first, first + _ROWS))
                table = pa.table(_columns(item.name, part, steps))
                writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
                writer.write_table(table)
                rows += len(part)
    finally:
        if writer is not None:
            writer.close()
    return rows


def slice_rows(
    loaded: Sequence[LoadedRun], how: IntervalOptions, min_n: int
) -> Iterator[dict[str, Any]]:
    """Every slice under every condition of every run; `degraded` is all degradations together."""
    for item in loaded:
        frame = item.frame
        kinds = dimensions(frame)
        groups = {name: frame.condition(name) for name in frame.conditions}
        if len(groups) > 1 and "clean" in groups:
            groups["degraded"] = ~groups["clean"]
        for condition, rows in groups.items():
            for entry in slice_table(frame, rows, how, min_n=min_n, kinds=kinds):
                yield _flat(item.name, condition, entry)


def write_slices(rows: Sequence[dict[str, Any]], folder: Path) -> None:
    """`slices.parquet` and `slices.csv`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {
        **dict.fromkeys(("run", "condition", "dimension", "slice"), pa.string()),
        **dict.fromkeys(("turns", "asked", "n", "sessions"), pa.int64()),
        "small": pa.bool_(),
    }
    schema = pa.schema([(name, kinds.get(name, pa.float64())) for name in SLICE_COLUMNS])
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), folder / "slices.parquet")
    with (folder / "slices.csv").open("w", newline="", encoding="utf-8") as file:
        writer: csv.DictWriter[str] = csv.DictWriter(file, list(SLICE_COLUMNS))
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {k: formula_safe_cell(v) if isinstance(v, str) else v for k, v in row.items()}
            )


def _columns(run: str, frame: TurnFrame, steps: Sequence[str]) -> dict[str, Any]:
    import pyarrow as pa

    columns: dict[str, Any] = {
        "run": _named(np.zeros(len(frame), np.int32), [run]),
        "session_id": _named(frame["session"], frame.sessions),
        "condition": _named(frame["condition"], frame.names("condition")),
        "outcome": _named(
            np.where(frame["asked"], frame["outcome"], len(OUTCOMES)), [*OUTCOMES, NOT_ASKED]
        ),
    }
    for name in frame.categories:
        if name != "condition":
            columns[name] = _named(frame[name], frame.names(name))
    whole = [name for name in WHOLE if name != "outcome"]
    for name in (*whole[:2], "score", *whole[2:]):
        columns[name] = pa.array(frame[name].astype(np.int32))
    for name in ("asked", "scored", "kept"):
        columns[name] = pa.array(frame[name])
    for name in FLAGS:
        values = frame[name]
        columns[name] = pa.array(values > 0, mask=values < 0)
    for name in (*REAL, *SHARES, *steps):
        columns[name] = _real(frame, name)
    for protocol in OFFICIAL:
        columns[f"{protocol}:outcome"] = _named(frame[f"{protocol}:outcome"], list(OUTCOMES))
        for name in ("exact", "both", "kept"):
            columns[f"{protocol}:{name}"] = pa.array(frame[f"{protocol}:{name}"] > 0)
        for name in SHARES:
            columns[f"{protocol}:{name}"] = _real(frame, f"{protocol}:{name}")
    return columns


def _named(codes: Any, names: list[str]) -> Any:
    import pyarrow as pa

    indices = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names or [""], pa.string()))


def _real(frame: TurnFrame, name: str) -> Any:
    import pyarrow as pa

    if name not in frame.columns:
        return pa.nulls(len(frame), pa.float64())
    values = frame[name]
    return pa.array(values, mask=np.isnan(values))


def _flat(run: str, condition: str, entry: dict[str, Any]) -> dict[str, Any]:
    truth = entry["truthfulness"]
    shared = ("dimension", "slice", "turns", "asked", "coverage", "accuracy", "missing",
              "hallucination_rate", "small")  # fmt: skip
    return {
        "run": run,
        "condition": condition,
        **{name: entry[name] for name in shared},
        "truthfulness": truth["estimate"],
        "truthfulness_low": truth["low"],
        "truthfulness_high": truth["high"],
        "n": truth["n"],
        "sessions": truth["sessions"],
    }
