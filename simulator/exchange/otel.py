"""A run as OpenTelemetry spans: a file of OTLP JSON lines, or straight to a collector.

The file is what a collector's `file` exporter writes and its `otlpjsonfile` receiver reads: one
export request per line, a line per conversation. No package of OpenTelemetry is needed for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import Denied, ServiceError
from mmrag.files.atomic import atomic_path
from simulator.exchange.run_facts import RunFacts, facts_of, talks
from simulator.exchange.trace_spans import Event, TraceSpan, Value, spans_of
from simulator.store.run_reader import RunReader

_CLIENT = 3
_INTERNAL = 1
_ERROR = 2
"""Numbers of the protocol: a span's kinds and its status."""


def write_spans(run: RunReader, out: Path) -> int:
    """Write a file; returns the number of turns."""
    turns = 0
    with atomic_path(out) as temporary, temporary.open("wb") as file:
        for request, count in _requests(run):
            file.write(msgspec.json.encode(request) + b"\n")
            turns += count
    return turns


def send_spans(run: RunReader, address: str) -> int:
    """Send all to a collector by OTLP over HTTP with JSON; returns the number of turns. Sending
    again does no harm: the same run has the same ids of traces and spans."""
    import httpx

    url = address.rstrip("/")
    url = url if url.endswith("/v1/traces") else f"{url}/v1/traces"
    turns = 0
    with httpx.Client(timeout=30) as client:
        for request, count in _requests(run):
            content = msgspec.json.encode(request)
            try:
                answer = client.post(
                    url, content=content, headers={"content-type": "application/json"}
                )
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise ServiceError(
                    f"{url}: no collector answers ({error}) after {turns} turns. Start one with an "
                    "OTLP receiver over HTTP, usually at port 4318, and export again."
                ) from error
            if answer.status_code in (401, 403):
                raise Denied(f"{url}: the collector refuses ({answer.status_code}).")
            if not answer.is_success:
                raise ServiceError(
                    f"{url}: the collector answered {answer.status_code} after {turns} turns "
                    f"({answer.text[:200]!r}). It must take OTLP over HTTP as JSON."
                )
            turns += count
    return turns


def _requests(run: RunReader) -> Iterator[tuple[dict[str, Any], int]]:
    """An export request per conversation, with the number of its turns."""
    facts = facts_of(run, resamples=0)
    for talk in talks(run, facts):
        spans = [_span(span) for turn in spans_of(talk, facts) for span in turn.spans]
        scope = {"scope": {"name": "mmrag"}, "spans": spans}
        yield (
            {"resourceSpans": [{"resource": _resource(facts), "scopeSpans": [scope]}]},
            len(talk.results),
        )


def _resource(facts: RunFacts) -> dict[str, Any]:
    about: dict[str, Value] = {
        "service.name": "mmrag",
        "mmrag.run": facts.name,
        "mmrag.data": facts.data,
        "mmrag.agent": facts.agent,
        "mmrag.judge": facts.judge,
    }
    return {"attributes": _attributes(about)}


def _span(span: TraceSpan) -> dict[str, Any]:
    status = {"code": _ERROR, "message": span.error} if span.error else {}
    return {
        "traceId": span.trace,
        "spanId": span.id,
        "parentSpanId": span.parent,
        "name": span.name,
        "kind": _CLIENT if span.operation == "chat" else _INTERNAL,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
        "events": [_event(event) for event in span.events],
        "status": status,
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "timeUnixNano": str(event.at),
        "name": event.name,
        "attributes": _attributes(event.attributes),
    }


def _attributes(values: dict[str, Value]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int) and abs(value) < 1 << 63:
        return {"intValue": str(value)}
    if isinstance(value, float) and math.isfinite(value):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(one) for one in value]}}
    return {"stringValue": str(value)}
