"""A store of MLflow, asked by MLflow itself; skipped where the package is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from exchange_parts import PACKAGES, write_run

from mmrag.errors import ConflictError, Unavailable
from simulator.exchange import mlflow_store
from simulator.exchange.exports import export_run
from simulator.store.run_reader import RunReader

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.proof("time")]


def test_without_the_package_the_cure_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with (
        RunReader(write_run(tmp_path / "run")) as run,
        pytest.raises(Unavailable, match=r"pip install 'mmrag\[mlflow\]'"),
    ):
        export_run(run, tmp_path / "store", "mlflow")
    assert not (tmp_path / "store").exists()


def test_the_exporter_needs_next_to_nothing(tmp_path: Path) -> None:
    """In an environment with MLflow and msgspec, and of ours nothing but the code."""
    code = (
        "import sys, runpy\n"
        "HAS = {'msgspec', 'numpy', 'PIL', 'pyarrow', 'scipy', 'jinja2', 'markupsafe', 'yaml',\n"
        "    '_yaml', 'mmrag', 'simulator'}\n"
        "class Bare:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        first = name.split('.')[0]\n"
        "        if first not in HAS | sys.stdlib_module_names and '_sysconfig' not in first:\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Bare())\n"
        "from simulator.exchange import mlflow_store as m\n"
        "from simulator.store.run_reader import RunReader\n"
        "with RunReader(sys.argv[1]) as run:\n"
        "    facts = m.facts_of(run)\n"
        "    for talk in m.talks(run, facts):\n"
        "        m._thumbnail(talk), list(m.spans_of(talk, facts))\n"
        "runpy.run_module('simulator.exchange', run_name='__main__')\n"
    )
    run, table = write_run(tmp_path / "run"), tmp_path / "turns.parquet"
    done = subprocess.run(
        [sys.executable, "-c", code, str(run), str(table)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert table.exists()
    again = subprocess.run(
        [sys.executable, "-m", "simulator.exchange", str(run), str(table)],
        capture_output=True,
        text=True,
    )
    assert again.returncode == 1
    assert again.stderr.startswith("error: ")


@pytest.mark.timeout(900)
def test_parameters_metrics_traces_and_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow", reason=PACKAGES.format("mlflow"))
    pytest.importorskip("sqlalchemy", reason=PACKAGES.format("mlflow"))
    store = tmp_path / "store"
    with RunReader(write_run(tmp_path / "run")) as run:
        assert export_run(run, store, "mlflow") == 12
        client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{store / 'mlflow.db'}")
        (experiment,) = client.search_experiments(filter_string="name = 'mmrag'")
        (made,) = client.search_runs([experiment.experiment_id])
        assert made.data.params["agent"] == "grounded:ocr=off"
        assert made.data.metrics["conversations"] == 3
        assert "dark:3/truthfulness" in made.data.metrics
        names = [file.path for file in client.list_artifacts(made.info.run_id, "pictures")]
        assert len(names) == 2
        traces = client.search_traces(locations=[experiment.experiment_id], max_results=50)
        assert len(traces) == 9  # what was never asked has none
        by_name = {t.info.trace_metadata["mlflow.trace.session"] for t in traces}
        assert "s000 dark@3" in by_name
        judged = [a for t in traces for a in t.info.assessments if a.name == "outcome"]
        assert sorted(a.value for a in judged) == ["missing"] * 3 + ["perfect"] * 3
        with pytest.raises(ConflictError, match="holds this run already"):
            export_run(run, store, "mlflow")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with RunReader(write_run(tmp_path / "other")) as other:
        monkeypatch.setattr(mlflow_store, "write_table", fails)
        with pytest.raises(Exception, match="No space"):
            export_run(other, store, "mlflow")
        assert len(client.search_runs([experiment.experiment_id])) == 1
        left = client.search_traces(locations=[experiment.experiment_id], max_results=50)
        assert len(left) == 9
        monkeypatch.undo()
        assert export_run(other, store, "mlflow") == 12  # a second run beside the first
    assert len(client.search_runs([experiment.experiment_id])) == 2
