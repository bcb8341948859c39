"""What a run becomes in MLflow, by a stand-in for the package, which is seldom installed."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from exchange_parts import write_run

from simulator.exchange.exports import export_run
from simulator.store.run_reader import RunReader


class FakeMlflow(ModuleType):
    """Keeps what it is given; as much of MLflow as an export uses."""

    def __init__(self) -> None:
        super().__init__("mlflow")
        self.__spec__ = ModuleSpec("mlflow", None)
        self.uri, self.spans, self.ended, self.assessed = "file:///elsewhere", [], [], []
        self.artifacts: list[str] = []
        self.facts: dict[str, Any] = {}
        self.figures: dict[str, float] = {}
        self.tracking_uri = self.state = ""
        names = ("Metric", "Param", "AssessmentSource", "Expectation", "Feedback")
        self.entities = SimpleNamespace(**dict.fromkeys(names, self._made))
        self.MlflowClient = self._client

    @staticmethod
    def _made(*given: Any, **named: Any) -> Any:
        return SimpleNamespace(given=given, **named)

    def _client(self, tracking_uri: str) -> FakeMlflow:
        self.tracking_uri = tracking_uri
        return self

    def get_tracking_uri(self) -> str:
        return self.uri

    def set_tracking_uri(self, uri: str) -> None:
        self.uri = uri

    def get_experiment_by_name(self, _name: str) -> None:
        return None

    def create_experiment(self, _name: str, *, artifact_location: str) -> str:
        return artifact_location

    def search_runs(self, *_asked: Any, **_named: Any) -> list[Any]:
        return []

    def create_run(self, _experiment: str, **_named: Any) -> Any:
        return SimpleNamespace(info=SimpleNamespace(run_id="r1"))

    def log_batch(self, _run: str, *, metrics: Any = (), params: Any = ()) -> None:
        self.figures |= {one.given[0]: one.given[1] for one in (*metrics, *params)}

    def log_dict(self, _run: str, facts: Any, name: str) -> None:
        self.facts[name] = facts

    def log_artifacts(self, _run: str, folder: str) -> None:
        self.artifacts = sorted(p.suffix for p in Path(folder).rglob("*") if p.is_file())

    def set_terminated(self, _run: str, state: str, **_named: Any) -> None:
        self.state = state

    def start_span_no_context(self, **named: Any) -> Any:
        span = SimpleNamespace(trace_id=f"t{len(self.spans)}", **named)
        if span.parent_span is not None:
            span.trace_id = span.parent_span.trace_id
        span.end = lambda **how: self.ended.append((span, how))
        self.spans.append(span)
        return span

    def log_assessment(self, trace: str, said: Any) -> None:
        self.assessed.append((trace, said.name, said.value))


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> FakeMlflow:
    fake, sqlalchemy = FakeMlflow(), ModuleType("sqlalchemy")
    sqlalchemy.__spec__ = ModuleSpec("sqlalchemy", None)
    for name in ("MLFLOW_DISABLE_TELEMETRY", "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"):
        monkeypatch.setenv(name, "true")  # an export sets them; they go again with this
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    monkeypatch.setitem(sys.modules, "sqlalchemy", sqlalchemy)
    return fake


def test_each_turn_that_was_asked_is_a_trace_of_its_own(tmp_path: Path, mlflow: FakeMlflow) -> None:
    with RunReader(write_run(tmp_path / "run")) as run:
        assert export_run(run, tmp_path / "store", "mlflow") == 12
    roots = [span for span in mlflow.spans if span.parent_span is None]
    assert len(roots) == 9  # what was never asked has none
    assert {r.metadata["mlflow.trace.session"] for r in roots} >= {"s000", "s000 dark@3"}
    assert [r.tags["outcome"] for r in roots[:3]] == ["perfect", "missing", "unscored"]
    assert all(r.experiment_id.endswith("/artifacts") and r.inputs["messages"] for r in roots)
    below = [span for span in mlflow.spans if span.parent_span is not None]
    assert {span.span_type for span in below} > {"RETRIEVER", "TOOL", "CHAT_MODEL"}
    assert all(span.inputs is None and not hasattr(span, "tags") for span in below)
    assert len(mlflow.ended) == len(mlflow.spans)
    for span, how in mlflow.ended:  # a root ends last and says what was answered
        answered = isinstance(how["outputs"], dict) and "choices" in how["outputs"]
        silent = span.parent_span is None and how["status"] == "ERROR"
        assert answered == (span.parent_span is None and not silent), span.name
    last = {span.trace_id: span for span, _ in mlflow.ended}
    assert list(map(id, last.values())) == list(map(id, roots))
    outcomes = [value for _, name, value in mlflow.assessed if name == "outcome"]
    assert sorted(outcomes) == ["missing"] * 3 + ["perfect"] * 3
    assert [trace for trace, name, _ in mlflow.assessed if name == "reference"] == [
        root.trace_id for root in roots
    ]
    assert mlflow.figures["agent"] == "grounded:ocr=off"
    assert "dark:3/truthfulness" in mlflow.figures
    assert mlflow.facts["provenance.json"]["revision"] == "abc"
    assert mlflow.artifacts == [".jpg", ".jpg", ".parquet"]
    assert (mlflow.state, mlflow.uri) == ("FINISHED", "file:///elsewhere")
    assert mlflow.tracking_uri == f"sqlite:///{tmp_path / 'store' / 'mlflow.db'}"
