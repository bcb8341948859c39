"""Measures of a run or of a file of answers, as the command and Python take them.

::

    from simulator.application.measure_run_or_file import measure

    found = measure("answers.jsonl", "garage", model="openai:name=gpt-4o")
    found.tables
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mmrag.errors import SpecError, UsageError
from mmrag.records import Record, Status
from simulator.application.scores import plain_text
from simulator.terminal.rich_text import as_html, as_text

if TYPE_CHECKING:
    import pandas as pd

    from mmrag.encoders.vector_cache import CachedTextEncoder
    from mmrag.judges.measure_registry import Measurer
    from mmrag.protocols import Model
    from simulator.store.run_reader import RunReader
    from simulator.store.run_store import RunStore

Progress = Callable[[str, int, int], None]
"""Stage, turns done, turns in all."""


class Measured(Record, frozen=True, kw_only=True):
    """What was measured of a run, all judges together."""

    folder: str
    """The run: for a file of answers the one that it was brought into."""
    rows: int
    """Written this time."""
    cost: float
    """What the models of measures have cost in this run, in US dollars."""
    condition: str
    unusable: tuple[str, ...] = ()
    """Rows of a file that could not be used, with what is wrong."""
    tables: tuple[dict[str, Any], ...] = ()
    """Ragas, and GaRAGe's Tables 2 to 4: measures, and per judge a figure with its interval."""
    slices: tuple[dict[str, Any], ...] = ()
    """RAF and faithfulness by dimension (GaRAGe's Figures 5 and 6)."""

    def to_frame(self) -> pd.DataFrame:
        """A row for each measure and judge, as the tables have them."""
        import pandas as pd

        return pd.DataFrame(
            {"table": title, "measure": name, "judge": judge, "approximate": approximate, **cell}
            for title, name, judge, approximate, cell in self._cells()
        )

    def __repr__(self) -> str:
        return as_text(*self._tables())

    def _repr_html_(self) -> str:
        return as_html(*self._tables())

    def _tables(self) -> Iterator[Any]:
        from itertools import groupby

        from rich.table import Table

        for title, cells in groupby(self._cells(), key=lambda cell: cell[0]):
            table = Table("measure", "judge", title=title, title_justify="left")
            table.add_column("figure", justify="right")
            table.add_column("n", justify="right")
            for _, name, judge, approximate, cell in cells:
                about = f"{judge} (approximate)" if approximate else judge
                table.add_row(name, plain_text(about), *_in_words(cell))
            yield table

    def _cells(self) -> Iterator[tuple[str, str, str, bool, dict[str, Any]]]:
        for table in self.tables:
            for row in table["rows"]:
                for name, cell in zip(table["measures"], row["cells"], strict=True):
                    if cell is not None:
                        yield table["title"], name, row["judge"], row["approximate"], cell


def _in_words(cell: dict[str, Any]) -> tuple[str, str]:
    """A figure with its interval, and of how many replies it is; why there is none."""
    many = f"{cell['n']}" + (f", {cell['failed']} failed" if cell["failed"] else "")
    if cell["estimate"] is None:
        return "–", f"{many}: {cell['why']}" if cell["why"] else many
    digits = ".1f" if cell["unit"] == "number" else ".3f"
    interval = "" if cell["low"] is None else f"  [{cell['low']:{digits}}, {cell['high']:{digits}}]"
    return f"{cell['estimate']:{digits}}{interval}", many


def measure(
    target: str | Path,
    measures: str = "ragas,garage",
    *,
    model: str | Model | None = None,
    judge: str = "encoder",
    prompts: str = "keyed",
    encoder: str = "minilm",
    out: str | Path | None = None,
    concurrency: int = 16,
    max_cost: float | None = None,
    on_progress: Progress = lambda _stage, _done, _total: None,
) -> Measured:
    """Take measures of every reply of a run, or of every answer of a JSONL file.

    A `model` (a spec, or anything with `generate`) judges; without one the text encoder stands in
    (`judge="encoder"`, approximate) or annotations decide (`judge="labels"`). Rows are kept beside
    the verdicts; called again it goes on, and no model is asked the same thing twice.
    """
    from mmrag.judges.measure_registry import chosen_measures
    from simulator.application.measure_replies import measure_run
    from simulator.exchange.imports import import_answers
    from simulator.store.run_reader import RunReader
    from simulator.store.run_store import RunStore
    from simulator.terminal.event_loops import run_to_end

    path, wanted = Path(target), chosen_measures(measures)
    if path.is_dir():
        if out is not None:
            raise UsageError("--out is for a FILE of answers; a run is measured where it is.")
        RunReader(path).close()  # a folder that is no run is refused, not made one
    folder = path if path.is_dir() else Path(out or path.with_suffix(".measured"))
    if model is None and judge not in ("encoder", "labels"):
        raise SpecError(f"--judge {judge!r}: without a --model it is encoder or labels.")
    if folder != path:
        import_answers(path, folder)
    with RunStore(folder) as store:
        takers = _takers(store, wanted, model, judge, prompts, encoder, max_cost)
        rows = run_to_end(
            measure_run(
                store,
                takers,
                wanted,
                concurrency,
                on_progress=lambda done, total: on_progress("measuring", done, total),
            )
        )
        found = _found(store, rows)
        return found if folder == path else replace(found, unusable=_unusable(store))


def cost_capped_model(store: RunStore, model: str | Model, max_cost: float | None) -> Model:
    """A model whose answers are kept in a run, and which stops at its cost."""
    from mmrag.models import models
    from simulator.application.measure_replies import model_paid_once
    from simulator.terminal.cost_cap import CostCapReached

    def on_cost(cost: float) -> None:
        if max_cost is not None and cost >= max_cost:
            raise CostCapReached(
                f"measuring has cost ${cost:.2f} and --max-cost is ${max_cost:.2f}. What was "
                "committed is kept; continue with a higher --max-cost."
            )

    made = models.create(model) if isinstance(model, str) else model
    return model_paid_once(made, model_name(model), store, on_cost=on_cost)


def model_name(model: str | Model) -> str:
    """What a model is called in the judge's id."""
    return model if isinstance(model, str) else type(model).__qualname__


def cached_encoder(spec: str) -> CachedTextEncoder:
    """A text encoder that encodes no text twice, not even in another run."""
    from mmrag.encoders import text_encoders
    from mmrag.encoders.vector_cache import CachedTextEncoder
    from simulator.parts.agent_resources import shipped_vectors

    return CachedTextEncoder(text_encoders.create(spec), shipped_vectors())


def _takers(
    store: RunStore,
    wanted: tuple[str, ...],
    model: str | Model | None,
    judge: str,
    prompts: str,
    encoder: str,
    max_cost: float | None,
) -> tuple[Measurer, ...]:
    from mmrag.judges import measure_registry as measuring

    if model is not None:
        kept = cost_capped_model(store, model, max_cost)
        compared = set(measuring.BY_ENCODER).intersection(wanted)
        chosen = cached_encoder(encoder) if compared else None
        return measuring.model_measurers(
            kept, name=model_name(model), encoder=chosen, prompts=prompts
        )
    if judge == "labels":
        return measuring.label_measurers()
    return measuring.encoder_measurers(cached_encoder(encoder))


def _unusable(store: RunReader) -> tuple[str, ...]:
    turns = (
        turn
        for session_id, condition in store.session_keys()
        for turn in store.turns(session_id, condition)
    )
    return tuple(turn.error for turn in turns if turn.status == Status.DATA_ERROR and turn.error)


def _found(store: RunReader, rows: int) -> Measured:
    from simulator.reports.figures.measure_tables import measured
    from simulator.run.results.run_scoring import main_of

    main = main_of(store.conditions() or ["clean"])
    found = measured(store, main) or {}
    return Measured(
        folder=str(store.folder),
        rows=rows,
        cost=store.completion_cost(),
        condition=main,
        tables=tuple(found.get("tables", ())),
        slices=tuple(found.get("slices", ())),
    )
