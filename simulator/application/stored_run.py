"""A run as Python sees it: a folder, and what can be asked of it."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import MmragError
from mmrag.optional_packages import require_package
from simulator.application.scores import Comparison, Scores, scores_of
from simulator.store.run_reader import RunReader

if TYPE_CHECKING:
    import pandas as pd

    from mmrag.protocols import Model
    from simulator.application.measure_run_or_file import Measured
    from simulator.application.run_human_verdicts import RunHumanVerdicts
    from simulator.run.run_config import RunConfig


def load_run(folder: str | Path) -> Run:
    """Open a run that `evaluate` or `mmrag run` wrote, finished or not.

    ::

        run = load_run("runs/mini-grounded-1f2e3d")
        run.score()
    """
    RunReader(folder).close()
    return Run(Path(folder))


class Run:
    """What happened in a run, and what it comes to. Nothing is kept in memory: each method reads
    the folder as it is then, so a run that still goes on can be looked at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """Where it lies."""

    @property
    def settings(self) -> RunConfig:
        """What it was made with."""
        from simulator.run.run_config import read_config

        with RunReader(self.folder) as reader:
            return read_config(reader)

    def score(
        self,
        protocol: str = "strict",
        degradation: str | None = None,
        *,
        stop: str | None = None,
        agent_errors: str | None = None,
        resamples: int = 1000,
        seed: int | None = None,
    ) -> Scores:
        """The figures of a protocol (strict, crag-mm, kddcup25 or crag), with 95 % intervals.

        `degradation` takes one condition alone; `stop`, `agent_errors` and `seed` are the run's
        own where they are left out.
        """
        from simulator.run.results.run_scoring import options_for

        with RunReader(self.folder) as reader:
            options = options_for(
                reader, protocol=protocol, degradation=degradation, stop=stop,
                agent_errors=agent_errors, resamples=resamples, seed=seed,
            )  # fmt: skip
            return scores_of(reader, options)

    def turns(self) -> pd.DataFrame:
        """Every turn as a row: query, reply, reference, outcome, what it cost, and its slices.

        What the data brings in `meta` stands in columns `meta.KEY`.
        """
        require_package("pandas", "tables", "a run as a data frame")
        import pandas as pd

        from simulator.store.run_table import columns_of, turn_rows

        with RunReader(self.folder) as reader:
            columns = columns_of(reader)
            return pd.DataFrame(list(turn_rows(reader, columns)), columns=list(columns))

    def report(self, path: str | Path | None = None, *, title: str | None = None) -> Path:
        """Write the report into a folder (the run's own `report`); returns its page."""
        from simulator.reports.draw.write import make_report
        from simulator.reports.figures.report import ReportOptions

        folder = self.folder / "report" if path is None else Path(path)
        make_report([self.folder], folder, ReportOptions(title=title))
        return folder / "report.html"

    def compare(self, *others: Run) -> Comparison:
        """Paired differences of others to this run, turn by turn of the same sessions."""
        from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs

        return Comparison(
            compare_runs([ComparedRun(folder=str(r.folder)) for r in (self, *others)])
        )

    def rejudge(
        self, judge: str = "builtin", *, concurrency: int = 16, progress: bool = True
    ) -> Run:
        """Judge the replies again without asking the agent; earlier verdicts are kept."""
        from simulator.application.execution import rejudge

        rejudge(self.folder, judge, concurrency=concurrency, progress=progress)
        return self

    def measure(
        self,
        measures: str = "ragas,garage",
        *,
        model: str | Model | None = None,
        judge: str = "encoder",
        prompts: str = "keyed",
        encoder: str = "minilm",
        concurrency: int = 16,
        max_cost: float | None = None,
        progress: bool = True,
    ) -> Measured:
        """Take Ragas' and GaRAGe's measures of every reply, and keep them beside the verdicts.

        A `model` judges (a spec, or anything with `generate`); without one the encoder stands in,
        approximately, or annotations decide (`judge="labels"`). Nothing is asked twice.
        """
        from simulator.application.measure_run_or_file import measure
        from simulator.terminal.progress import progress_bars

        with progress_bars(shown=progress) as advance:
            return measure(
                self.folder, measures, model=model, judge=judge, prompts=prompts, encoder=encoder,
                concurrency=concurrency, max_cost=max_cost, on_progress=advance,
            )  # fmt: skip

    @property
    def verdicts(self) -> RunHumanVerdicts:
        """What people say of its replies: give a verdict, a queue to read, agreement, export."""
        from simulator.application.run_human_verdicts import RunHumanVerdicts

        return RunHumanVerdicts(self.folder)

    def export(self, path: str | Path, to: str | None = None) -> int:
        """Write all turns for another tool: `parquet`, `jsonl`, `inspect`, `mlflow` or
        `otel` (by the name, where it is left out; docs/doors.md).

        Returns the number of turns.
        """
        from simulator.exchange.exports import export_run

        with RunReader(self.folder) as reader:
            return export_run(reader, path, to)

    def __repr__(self) -> str:
        return "\n".join(f"{name:<12} {said}" for name, said in self._summary())

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th style="text-align:left">{escape(name)}</th>'
            f'<td style="text-align:left">{escape(said)}</td></tr>'
            for name, said in self._summary()
        )
        return f"<table>{rows}</table>"

    def _summary(self) -> list[tuple[str, str]]:
        """The headline, on how much it rests, and where the run lies. It never raises."""
        from simulator.run.results.run_scoring import failure_note

        lies = [("run", str(self.folder))]
        try:
            settings, scores = self.settings, self.score()
            with RunReader(self.folder) as reader:
                failed = failure_note(reader)
        except MmragError as error:
            return [*lies, ("unreadable", str(error))]
        rows = [("agent", settings.agent), ("data", f"{settings.data}, {settings.degrade}")]
        rows += [("truthfulness", scores.headline), ("rests on", scores.basis), *lies]
        if failed:
            rows.append(("failed", failed))
        return rows + [("note", warning) for warning in scores["warnings"]]
