"""A run as a table: one row per turn, for pandas or a spreadsheet."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mmrag.files.atomic import atomic_path
from mmrag.records import Session, Turn, TurnResult, encode, outcome_word
from simulator.store.run_reader import RunReader

TABLES = ("parquet", "jsonl")

COLUMNS = (
    "session_id", "degradation", "turn_index", "interaction_id", "status", "outcome", "exact",
    "query", "heard", "reference", "reply", "unheard", "citations", "confidence", "judge",
    "judge_reason", "error", "seconds", "first_word", "delay", "input_tokens", "output_tokens",
    "cost", "judge_cost", "domain", "query_type", "dynamism", "popularity", "text_clue",
    "needs_image", "needs_history", "quality", "is_ego", "image_sha256", "trace",
)  # fmt: skip
"""Columns of the flat table, in order. After them stand those of the data's own `meta`."""

OWN = "meta."
"""Before the name of a column of the data's own."""


def write_table(run: RunReader, out: Path, kind: str) -> int:
    """Write every turn of a run as one of `TABLES`. Returns the number of rows."""
    with atomic_path(out) as temporary:
        columns = columns_of(run)
        rows = turn_rows(run, columns)
        if kind == "jsonl":
            return _jsonl(rows, temporary)
        return _parquet(rows, temporary, columns)


def columns_of(run: RunReader) -> tuple[str, ...]:
    """The columns of a run: `COLUMNS`, and `meta.KEY` for each key that any turn brings."""
    keys = {key for session in run.sessions() for turn in session.turns for key in turn.meta}
    return (*COLUMNS, *(f"{OWN}{key}" for key in sorted(keys)))


def turn_rows(run: RunReader, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One flat row per turn in the data set's order."""
    for session in run.sessions():
        yield from _session_rows(run, session, columns)


def _session_rows(
    run: RunReader, session: Session, columns: Sequence[str]
) -> Iterator[dict[str, Any]]:
    results = run.turns(session.id, session.degradation)
    for turn, result in zip(session.turns, results, strict=False):
        if result.step:  # of a live wearer's goal the last turn counts, and has the row
            continue
        own = {name: turn.meta.get(name.removeprefix(OWN)) for name in columns[len(COLUMNS) :]}
        yield {**_row(session, turn, result), **own}


def _row(session: Session, turn: Turn, result: TurnResult) -> dict[str, Any]:
    reply, verdict = result.reply, result.verdict
    return {
        "session_id": session.id,
        "degradation": session.degradation,
        "turn_index": turn.wearer.goal if turn.wearer else turn.index,
        "interaction_id": turn.id,
        "status": str(result.status),
        "outcome": outcome_word(result),
        "exact": verdict is not None and verdict.exact,
        "query": turn.query,
        "heard": result.heard.text if result.heard else None,
        "reference": turn.reference.text,
        "reply": reply.text if reply else None,
        "unheard": result.unheard,
        "citations": list(reply.citations) if reply else [],
        "confidence": reply.confidence if reply else None,
        "judge": verdict.judge if verdict else None,
        "judge_reason": verdict.reason if verdict else None,
        "error": result.error,
        "seconds": result.seconds,
        "first_word": result.first_word,
        "delay": result.delay,
        "input_tokens": reply.usage.input_tokens if reply else 0,
        "output_tokens": reply.usage.output_tokens if reply else 0,
        "cost": reply.usage.cost if reply else 0.0,
        "judge_cost": verdict.usage.cost if verdict else 0.0,
        "domain": turn.domain,
        "query_type": turn.query_type,
        "dynamism": turn.dynamism,
        "popularity": turn.popularity,
        "text_clue": turn.text_clue,
        "needs_image": turn.needs_image,
        "needs_history": turn.needs_history,
        "quality": session.quality,
        "is_ego": None if session.capture is None else session.capture.is_ego,
        "image_sha256": _picture(session, turn.index),
        "trace": encode(reply.trace).decode() if reply else "[]",
    }


def _picture(session: Session, index: int) -> str:
    """Hash of the picture that a turn was asked about: the last one that was taken."""
    taken = (session.capture, *(turn.capture for turn in session.turns[: index + 1]))
    return next((capture.image.sha256 for capture in reversed(taken) if capture is not None), "")


def _jsonl(rows: Iterable[dict[str, Any]], out: Path) -> int:
    count = 0
    with out.open("wb") as file:
        for row in rows:
            file.write(msgspec.json.encode(row) + b"\n")
            count += 1
    return count


def _parquet(rows: Iterable[dict[str, Any]], out: Path, columns: Sequence[str]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = 0
    schema = _schema(columns)
    with pq.ParquetWriter(out, schema) as writer:
        for chunk in _chunks(rows, 2000):
            writer.write_table(pa.Table.from_pylist(chunk, schema=schema))
            count += len(chunk)
    return count


def _schema(columns: Sequence[str]) -> Any:
    import pyarrow as pa

    text, flag, number = pa.string(), pa.bool_(), pa.float64()
    kinds = {
        "turn_index": pa.int32(), "exact": flag, "citations": pa.list_(text),
        "confidence": number, "seconds": number, "first_word": number, "delay": number,
        "cost": number, "judge_cost": number,
        "input_tokens": pa.int64(), "output_tokens": pa.int64(),
        "text_clue": flag, "needs_image": flag, "needs_history": flag, "is_ego": flag,
    }  # fmt: skip
    return pa.schema([(name, kinds.get(name, text)) for name in columns])


def _chunks(rows: Iterable[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    iterator = iter(rows)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk


def reason_of(error: OSError) -> str:
    """Arrow puts its own words, temporary name included, where the system's reason belongs."""
    return os.strerror(error.errno) if error.errno else str(error)
