"""Which door a run leaves by. For all of them: whole or not at all, and never over anything."""

from __future__ import annotations

from pathlib import Path

from mmrag.errors import ConflictError, SpecError, StoreError
from mmrag.files.atomic import folder_removed_on_error
from simulator.store.run_reader import RunReader
from simulator.store.run_table import TABLES, reason_of, write_table

DOORS = (*TABLES, "inspect", "mlflow", "otel")

_BY_NAME = {".parquet": "parquet", ".jsonl": "jsonl", ".eval": "inspect"}


def export_run(run: RunReader, out: str | Path, to: str | None = None) -> int:
    """Write a run as another tool reads it; returns the number of turns.

    Without `to` the name of `out` decides. `out` may be the address of a collector for `otel`, and
    a store that is there already for `mlflow`; nothing else may be there.
    """
    target = Path(out)
    door = to or _BY_NAME.get(target.suffix, target.suffix.lstrip("."))
    if door not in DOORS:
        what = f"{to!r} is nothing to export to" if to else f"{target.name}: give --to"
        raise SpecError(f"{what}, one of {', '.join(DOORS)}.")
    if str(out).startswith(("http://", "https://")):
        if door != "otel":
            raise SpecError(f"{out}: only --to otel sends to an address; name a file or a folder.")
        from simulator.exchange.otel import send_spans

        return send_spans(run, str(out))
    try:
        return _written(run, target, door)
    except OSError as error:
        raise StoreError(
            f"{out}: cannot be written ({reason_of(error)}). "
            "Choose a place you may write to, or make room."
        ) from error


def _written(run: RunReader, out: Path, door: str) -> int:
    if door == "mlflow":
        from simulator.exchange.mlflow_store import DATABASE, write_mlflow

        if (out / DATABASE).is_file():
            return write_mlflow(run, out)
        # it writes its paths into its files, so it cannot be written elsewhere first
        _refuse_existing(out)
        with folder_removed_on_error(out):
            return write_mlflow(run, out)
    _refuse_existing(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    if door == "inspect":
        from simulator.exchange.inspect.write_log import write_inspect

        return write_inspect(run, out)
    if door == "otel":
        from simulator.exchange.otel import write_spans

        return write_spans(run, out)
    return write_table(run, out, door)


def _refuse_existing(out: Path) -> None:
    if out.exists():
        raise ConflictError(f"{out} exists already; choose another name or remove it.")
