"""A run in a local store of MLflow: parameters, metrics, pictures, a scored trace per turn.

Needs the package `mlflow`: its store is a database of its own schema. Several runs may be brought
into one store, so that MLflow can compare them.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import ConflictError
from mmrag.optional_packages import require_package
from mmrag.records import Outcome, outcome_word
from simulator.exchange.browser_pictures import SUFFIXES, picture_of
from simulator.exchange.run_facts import ExportedTalk, RunFacts, facts_of, talks
from simulator.exchange.trace_spans import TraceSpan, TurnSpans, spans_of
from simulator.store.run_reader import RunReader
from simulator.store.run_table import write_table

DATABASE = "mlflow.db"
_EXPERIMENT = "mmrag"
_KINDS = {
    "invoke_agent": "AGENT",
    "chat": "CHAT_MODEL",
    "retrieval": "RETRIEVER",
    "execute_tool": "TOOL",
    "": "TASK",
}
_LONGEST = 6000
"""Characters of a parameter that MLflow takes."""


def write_mlflow(run: RunReader, out: Path) -> int:
    """Add the run to the store in a folder; returns the number of turns. Where that fails, what was
    added of the run is removed again."""
    for package in ("mlflow", "sqlalchemy"):  # mlflow-skinny lacks the second
        require_package(package, "mlflow", "--to mlflow")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"  # a trace is there once it has ended
    mlflow: Any = importlib.import_module("mlflow")
    out = out.absolute()
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{out / DATABASE}")
    with _at(mlflow, client):
        facts = facts_of(run)
        experiment = _experiment(client, out)
        _refuse_twice(client, experiment, facts, out)
        made = client.create_run(
            experiment,
            start_time=round(facts.began * 1000),
            run_name=facts.name,
            tags={"mmrag.data": facts.data, "mmrag.agent": facts.agent, _MARK: _mark(facts)},
        )
        try:
            count = _fill(mlflow, client, run, facts, made.info.run_id, experiment)
        except BaseException:
            _forget(client, experiment, made.info.run_id)
            raise
    return count


_MARK = "mmrag.made_of"
"""The tag that tells whether a run is here already."""


def _mark(facts: RunFacts) -> str:
    return f"{facts.name} {facts.ended:.0f}"


def _refuse_twice(client: Any, experiment: str, facts: RunFacts, out: Path) -> None:
    found = client.search_runs([experiment], f"tags.`{_MARK}` = '{_mark(facts)}'", max_results=1)
    if found:
        raise ConflictError(f"{out} holds this run already; delete it there, or choose another.")


def _fill(
    mlflow: Any, client: Any, run: RunReader, facts: RunFacts, run_id: str, experiment: str
) -> int:
    kinds = mlflow.entities
    when = round(facts.ended * 1000)
    metrics = [kinds.Metric(_name(name), value, when, 0) for name, value in _figures(facts)]
    params = [kinds.Param(_name(k), str(v)[:_LONGEST]) for k, v in facts.settings.items()]
    params.append(kinds.Param("judged_by", facts.judge))
    for start in range(0, len(metrics), 500):
        client.log_batch(run_id, metrics=metrics[start : start + 500])
    client.log_batch(run_id, params=params)
    client.log_dict(run_id, facts.provenance, "provenance.json")
    count, kept = 0, set[str]()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "pictures").mkdir()
        for talk in talks(run, facts):
            seen = picture_of(talk.session)
            capture = talk.session.capture
            if seen is not None and capture is not None and capture.image.sha256 not in kept:
                kept.add(capture.image.sha256)
                name = f"{capture.image.sha256}{SUFFIXES[seen[1]]}"
                (folder / "pictures" / name).write_bytes(seen[0])
            picture = _thumbnail(talk)
            for turn in spans_of(talk, facts):
                _trace(mlflow, turn, talk, run_id, experiment, picture)
            count += len(talk.results)
        write_table(run, folder / "turns.parquet", "parquet")
        client.log_artifacts(run_id, str(folder))
    state = "FINISHED" if run.meta("finished") else "KILLED"
    client.set_terminated(run_id, state, end_time=when)
    return count


def _trace(
    mlflow: Any,
    turn: TurnSpans,
    talk: ExportedTalk,
    run_id: str,
    experiment: str,
    picture: str | None,
) -> None:
    kinds = mlflow.entities
    made: dict[str, Any] = {}
    for span in turn.spans:
        root = span is turn.spans[0]
        more: dict[str, Any] = {}
        if root:
            session = {"mlflow.trace.session": talk.id, "mlflow.sourceRun": run_id}
            tags = {
                "session": talk.session.id,
                "condition": talk.session.degradation,
                "outcome": outcome_word(turn.result),
            }
            more = {"experiment_id": experiment, "metadata": session, "tags": tags}
        made[span.id] = mlflow.start_span_no_context(
            name=span.name,
            span_type=_KINDS[span.operation],
            parent_span=made.get(span.parent),
            inputs=_asked(turn, picture) if root else None,
            attributes=span.attributes,
            start_time_ns=span.start,
            **more,
        )
    for span in reversed(turn.spans):
        status = "ERROR" if span.error else "OK"
        outputs = _answered(turn) if span is turn.spans[0] else _found(span)
        made[span.id].end(outputs=outputs, status=status, end_time_ns=span.end)
    trace_id = made[turn.spans[0].id].trace_id
    verdict = turn.result.verdict
    expected = kinds.AssessmentSource(source_type="HUMAN", source_id="data")
    mlflow.log_assessment(
        trace_id,
        kinds.Expectation(name="reference", value=turn.turn.reference.text, source=expected),
    )
    if verdict is not None and verdict.outcome is not Outcome.UNSCORED:
        judge = kinds.AssessmentSource(source_type="LLM_JUDGE", source_id=verdict.judge)
        feedback = kinds.Feedback(
            name="outcome", value=str(verdict.outcome), source=judge, rationale=verdict.reason
        )
        mlflow.log_assessment(trace_id, feedback)


def _asked(turn: TurnSpans, picture: str | None) -> dict[str, Any]:
    content: Any = turn.turn.query
    if picture is not None:
        image = {"type": "image_url", "image_url": {"url": picture}}
        content = [{"type": "text", "text": turn.turn.query}, image]
    return {"messages": [{"role": "user", "content": content}]}


def _answered(turn: TurnSpans) -> dict[str, Any] | None:
    reply = turn.result.reply
    if reply is None:
        return None
    message = {"role": "assistant", "content": reply.text}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def _found(span: TraceSpan) -> Any:
    """What a search found, in the shape that MLflow draws as documents."""
    found = span.attributes.get("gen_ai.retrieval.documents")
    if not isinstance(found, str):
        return span.attributes.get("gen_ai.tool.call.result")
    return [
        {
            "page_content": one["content"] or one["title"],
            "id": one["id"],
            "metadata": {"doc_uri": one["url"], "title": one["title"], "score": one["score"]},
        }
        for one in msgspec.json.decode(found)
    ]


def _thumbnail(talk: ExportedTalk) -> str | None:
    """Small: it stands in the trace of every turn."""
    from simulator.reports.figures.failures import thumbnail

    capture = talk.session.capture
    return None if capture is None else thumbnail(capture.image)


def _figures(facts: RunFacts) -> Iterator[tuple[str, float]]:
    yield from facts.figures.items()
    for condition, found in facts.conditions.items():
        for name, value in found.items():
            yield f"{condition}/{name}", value


def _name(text: str) -> str:
    """MLflow knows no `@` in the name of a metric."""
    return re.sub(r"[^\w\-./: ]", ":", text)


def _experiment(client: Any, out: Path) -> str:
    found = client.get_experiment_by_name(_EXPERIMENT)
    if found is not None:
        return found.experiment_id
    return client.create_experiment(_EXPERIMENT, artifact_location=(out / "artifacts").as_uri())


def _forget(client: Any, experiment: str, run_id: str) -> None:
    """Of what was not finished nothing may stay that looks like a result."""
    with contextlib.suppress(Exception):
        left = client.search_traces(locations=[experiment], run_id=run_id, max_results=500)
        while left:
            ids = [trace.info.trace_id for trace in left]
            client.delete_traces(experiment, trace_ids=ids)
            left = client.search_traces(locations=[experiment], run_id=run_id, max_results=500)
        client.delete_run(run_id)


@contextlib.contextmanager
def _at(mlflow: Any, client: Any) -> Generator[None]:
    """Traces are written where MLflow as a whole points; it points elsewhere again afterwards."""
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(client.tracking_uri)
    try:
        yield
    finally:
        mlflow.set_tracking_uri(before)
