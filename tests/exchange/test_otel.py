"""Spans, as the protocol's own package reads them, and as a collector gets them."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from exchange_parts import write_run

from mmrag.errors import Denied, ServiceError
from simulator.exchange.exports import export_run
from simulator.store.run_reader import RunReader


@pytest.fixture
def run(tmp_path: Path) -> RunReader:
    return RunReader(write_run(tmp_path / "run"))


def spans(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [s for r in lines for s in r["resourceSpans"][0]["scopeSpans"][0]["spans"]]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}


def test_the_protocols_own_package_reads_every_line(tmp_path: Path, run: RunReader) -> None:
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    assert export_run(run, tmp_path / "spans.jsonl", "otel") == 12
    read = 0
    for line in (tmp_path / "spans.jsonl").read_text().splitlines():
        request = json.loads(line)
        for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for name in ("traceId", "spanId", "parentSpanId"):  # hexadecimal in OTLP's JSON
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
        parsed = ParseDict(request, ExportTraceServiceRequest())
        for span in parsed.resource_spans[0].scope_spans[0].spans:
            read += 1
            assert (len(span.trace_id), len(span.span_id)) == (16, 8)
            assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
    assert read == len(spans(tmp_path / "spans.jsonl")) == 3 * (3 + 4)


def test_every_name_is_one_of_the_conventions(tmp_path: Path, run: RunReader) -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    known = {v for v in vars(gen_ai_attributes).values() if isinstance(v, str)}
    operations = {o.value for o in gen_ai_attributes.GenAiOperationNameValues}
    export_run(run, tmp_path / "spans.jsonl", "otel")
    for span in spans(tmp_path / "spans.jsonl"):
        found = attributes(span)
        events = [attributes(event) for event in span["events"]]
        used = {name for one in (found, *events) for name in one if name.startswith("gen_ai.")}
        assert used <= known, used - known
        assert found.get("gen_ai.operation.name", "chat") in operations


def test_a_turn_is_a_trace_and_its_steps_lie_in_it(tmp_path: Path, run: RunReader) -> None:
    export_run(run, tmp_path / "spans.jsonl", "otel")
    first, *steps = spans(tmp_path / "spans.jsonl")[:5]
    about = attributes(first)
    assert first["name"] == "invoke_agent grounded:ocr=off"
    assert about["gen_ai.conversation.id"] == "s000"
    asked = json.loads(about["gen_ai.input.messages"])
    assert [part["type"] for part in asked[-1]["parts"]] == ["text", "file"]
    assert about["gen_ai.usage.input_tokens"] == "10"
    assert [step["name"] for step in steps] == [
        "retrieval web search", "execute_tool kg", "plan", "chat m",
    ]  # fmt: skip
    assert {s["parentSpanId"] for s in steps[:3]} == {first["spanId"]}
    assert steps[3]["parentSpanId"] == steps[2]["spanId"]
    assert {s["traceId"] for s in steps} == {first["traceId"]}
    (judged,) = first["events"]
    assert judged["name"] == "gen_ai.evaluation.result"
    assert attributes(judged)["gen_ai.evaluation.score.label"] == "perfect"
    failed = spans(tmp_path / "spans.jsonl")[6]
    assert failed["status"] == {"code": 2, "message": "boom <b>"}


class Collector(BaseHTTPRequestHandler):
    got: list[tuple[str, bytes]]
    status = 200

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        type(self).got.append((self.path, body))
        self.send_response(type(self).status)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def collector() -> Iterator[tuple[str, type[Collector]]]:
    kind = type("Mine", (Collector,), {"got": []})
    with HTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", kind
        server.shutdown()
        thread.join()


def test_a_collector_gets_what_the_file_holds(
    tmp_path: Path, run: RunReader, collector: tuple[str, type[Collector]]
) -> None:
    address, kind = collector
    assert export_run(run, address, "otel") == 12
    export_run(run, tmp_path / "spans.jsonl", "otel")
    assert {path for path, _ in kind.got} == {"/v1/traces"}
    assert (
        b"\n".join(body for _, body in kind.got) + b"\n" == (tmp_path / "spans.jsonl").read_bytes()
    )


@pytest.mark.parametrize(("status", "error"), [(403, Denied), (500, ServiceError)])
def test_a_collector_that_refuses_is_one_line(
    status: int, error: type[Exception], run: RunReader, collector: tuple[str, type[Collector]]
) -> None:
    address, kind = collector
    kind.status = status
    with pytest.raises(error, match=str(status)):
        export_run(run, address, "otel")
    assert len(kind.got) == 1


def test_no_collector_is_one_line(run: RunReader) -> None:
    with pytest.raises(ServiceError, match="no collector answers"):
        export_run(run, "http://127.0.0.1:9", "otel")
