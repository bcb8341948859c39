"""Spans out of files, whoever wrote them: OTLP's JSON, and what Phoenix, Langfuse, MLflow export.

Each becomes a `Span` with flat attributes. A file of lines is read a line at a time, so a collector
may have written a gigabyte; one JSON document is read whole and therefore bounded.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import msgspec

from mmrag.errors import DataError

MOST_BYTES = 256 << 20
"""Of one line, and of a document that is not in lines."""

_ATTACHMENT = re.compile(rb'mlflow-attachment:(?:\\*/){2}([0-9a-f-]{36})\?[^\s"\\]*')
"""However often the JSON around it is written into JSON again."""

Attributes = dict[str, Any]


class Span(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of work, or what was logged of one: then it has a body and no times."""

    trace: str
    id: str
    parent: str = ""
    name: str = ""
    start: float = 0.0
    """Seconds since 1970, as its writer says."""
    end: float = 0.0
    attributes: Attributes = msgspec.field(default_factory=dict)
    events: list[tuple[str, Attributes]] = msgspec.field(default_factory=list)
    error: str | None = None


def read_spans(path: Path) -> Iterator[Span]:
    """Every span of a file, in its order."""
    try:
        with path.open("rb") as file:
            number, begun = 0, b""
            while line := file.readline(MOST_BYTES + 1):
                number += 1
                if len(line) > MOST_BYTES or len(begun) + len(line) > MOST_BYTES:
                    raise DataError(
                        f"{path}: line {number} is part of more than {MOST_BYTES >> 20} MiB in one "
                        "piece. Write JSON lines, as a collector's file exporter does."
                    )
                if begun or (line.strip() and not _is_whole(line)):
                    begun += line  # a document over several lines
                elif line.strip():
                    line = _with_attachments(line, path.parent)
                    yield from _spans(_parsed(line, f"{path}, line {number}"))
            if begun:
                yield from _spans(_parsed(_with_attachments(begun, path.parent), str(path)))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error


def _with_attachments(text: bytes, folder: Path) -> bytes:
    """With the pictures that MLflow keeps apart, where they lie in `attachments` beside a file."""
    room = MOST_BYTES

    def picture(named: re.Match[bytes]) -> bytes:
        nonlocal room
        file = folder / "attachments" / named[1].decode()
        if not file.is_file() or (room := room - 2 * file.stat().st_size) < 0:
            return named[0]
        return b"data:image/jpeg;base64," + base64.b64encode(file.read_bytes())

    return _ATTACHMENT.sub(picture, text)


def _is_whole(line: bytes) -> bool:
    return line.rstrip()[-1:] in b"}]" and line.rstrip() not in (b"{", b"[", b"}", b"]")


def _parsed(data: bytes, where: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(
            f"{where}: no JSON ({error}). Give OTLP as JSON, or an export of Langfuse, Phoenix or "
            "MLflow."
        ) from error


def _spans(document: Any) -> Iterator[Span]:
    if isinstance(document, list):
        for one in document:
            yield from _spans(one)
        return
    if not isinstance(document, dict):
        return
    found = cast("Attributes", document)
    if "resourceSpans" in found or "resourceLogs" in found:
        yield from _otlp(found)
    elif "info" in found and isinstance(found.get("data"), dict):
        yield from _mlflow(found)
    elif isinstance(found.get("context"), dict):
        yield _phoenix(found)
    elif "context.trace_id" in found:  # a row of Phoenix's data frame
        about = {key.removeprefix("attributes."): found[key] for key in found}
        context = {key: found.get(f"context.{key}") for key in ("trace_id", "span_id")}
        yield _phoenix({**found, "context": context, "attributes": about})
    elif isinstance(found.get("trace"), str):  # one of MLflow's
        yield from _spans(_decoded(found["trace"]))
    elif isinstance(found.get("observations"), list):
        for one in _dicts(found["observations"]):
            about = {"sessionId": found.get("sessionId"), "traceId": found.get("id")}
            yield _langfuse({**about, **one})
    elif "type" in found and ("traceId" in found or "trace_id" in found):
        yield _langfuse(found)
    else:
        for name in ("data", "traces", "spans"):
            yield from _spans(found.get(name))


def _otlp(request: Attributes) -> Iterator[Span]:
    for resource in _dicts(request.get("resourceSpans")):
        for scope in _dicts(resource.get("scopeSpans")):
            for span in _dicts(scope.get("spans")):
                status = _dict(span.get("status"))
                yield Span(
                    trace=str(span.get("traceId") or ""),
                    id=str(span.get("spanId") or ""),
                    parent=str(span.get("parentSpanId") or ""),
                    name=str(span.get("name") or ""),
                    start=_nanoseconds(span.get("startTimeUnixNano")),
                    end=_nanoseconds(span.get("endTimeUnixNano")),
                    attributes=_pairs(span.get("attributes")),
                    events=[
                        (str(event.get("name") or ""), _pairs(event.get("attributes")))
                        for event in _dicts(span.get("events"))
                    ],
                    error=str(status.get("message") or "failed")
                    if status.get("code") in (2, "STATUS_CODE_ERROR")
                    else None,
                )
    for resource in _dicts(request.get("resourceLogs")):
        for scope in _dicts(resource.get("scopeLogs")):
            for log in _dicts(scope.get("logRecords")):
                about = _pairs(log.get("attributes"))
                name = str(log.get("eventName") or about.get("event.name") or "")
                if name.startswith("gen_ai.") and log.get("spanId"):
                    body = _value(log.get("body"))
                    said = {**about, "body": body}
                    yield Span(trace=str(log.get("traceId") or ""), id=str(log["spanId"]),
                               events=[(name, said)])  # fmt: skip


def _phoenix(span: Attributes) -> Span:
    context = _dict(span["context"])
    return Span(
        trace=str(context.get("trace_id") or ""),
        id=str(context.get("span_id") or ""),
        parent=str(span.get("parent_id") or ""),
        name=str(span.get("name") or ""),
        start=_iso(span.get("start_time")),
        end=_iso(span.get("end_time")),
        attributes={"openinference.span.kind": span.get("span_kind"),
                    **flat(_dict(span.get("attributes")))},
        error=str(span.get("status_message") or "failed")
        if span.get("status_code") == "ERROR" else None,
    )  # fmt: skip


def _langfuse(one: Attributes) -> Span:
    """Of its download or API, or, with names like `trace_id`, of its blob storage."""
    one = {re.sub("_([a-z])", lambda found: found[1].upper(), key): one[key] for key in one}
    usage = {**_dict(one.get("usage")), **_dict(one.get("usageDetails"))}
    kind = {"GENERATION": "LLM"}.get(str(one.get("type")), str(one.get("type")))
    return Span(
        trace=str(one.get("traceId") or ""),
        id=str(one.get("id") or ""),
        parent=str(one.get("parentObservationId") or ""),
        name=str(one.get("name") or ""),
        start=_iso(one.get("startTime")),
        end=_iso(one.get("endTime") or one.get("startTime")),
        attributes={
            "openinference.span.kind": kind,
            "session.id": one.get("sessionId"),
            "input.value": one.get("input"),
            "output.value": one.get("output"),
            "llm.model_name": one.get("model") or one.get("providedModelName"),
            "llm.token_count.prompt": usage.get("input"),
            "llm.token_count.completion": usage.get("output"),
        },
        error=str(one.get("statusMessage") or "failed") if one.get("level") == "ERROR" else None,
    )


def _mlflow(trace: Attributes) -> Iterator[Span]:
    info = _dict(trace["info"])
    name = str(info.get("trace_id") or info.get("request_id") or "")
    about = {**_dict(info.get("request_metadata")), **_dict(info.get("trace_metadata"))}
    expected = [
        _dict(one.get("expectation")).get("value")
        for one in _dicts(info.get("assessments"))
        if one.get("assessment_name") == "expected_response"
    ]
    for span in _dicts(_dict(trace["data"]).get("spans")):
        given = {key: _decoded(value) for key, value in _dict(span.get("attributes")).items()}
        usage, status = _dict(given.get("mlflow.chat.tokenUsage")), span.get("status")
        code = _dict(status).get("code") if isinstance(status, dict) else span.get("status_code")
        kind = {"CHAT_MODEL": "LLM"}.get(str(given.get("mlflow.spanType")))
        yield Span(
            trace=name,
            id=str(span.get("span_id") or _dict(span.get("context")).get("span_id") or ""),
            parent=str(span.get("parent_span_id") or span.get("parent_id") or ""),
            name=str(span.get("name") or ""),
            start=_nanoseconds(span.get("start_time_unix_nano") or span.get("start_time")),
            end=_nanoseconds(span.get("end_time_unix_nano") or span.get("end_time")),
            attributes={
                **{key: value for key, value in given.items() if not key.startswith("mlflow.")},
                "openinference.span.kind": kind or given.get("mlflow.spanType"),
                "session.id": about.get("mlflow.trace.session"),
                "input.value": given.get("mlflow.spanInputs"),
                "output.value": given.get("mlflow.spanOutputs"),
                "llm.model_name": given.get("mlflow.llm.model"),
                "llm.token_count.prompt": usage.get("input_tokens"),
                "llm.token_count.completion": usage.get("output_tokens"),
                **({"mmrag.reference": str(expected[0])} if expected else {}),
            },
            error="failed" if "ERROR" in str(code) else None,
        )


def flat(value: Any, prefix: str = "") -> Attributes:
    """Objects and lists inside each other as names with dots, as attributes are flat.

    >>> flat({"llm": {"input_messages": [{"message.role": "user"}]}})
    {'llm.input_messages.0.message.role': 'user'}
    """
    if isinstance(value, dict):
        inner = [(str(key), one) for key, one in cast("Attributes", value).items()]
    elif isinstance(value, list) and any(isinstance(one, dict) for one in cast("list[Any]", value)):
        inner = [(str(n), one) for n, one in enumerate(cast("list[Any]", value))]
    else:
        return {prefix: value}
    found: Attributes = {}
    for key, one in inner:
        found |= flat(one, f"{prefix}.{key}" if prefix else key)
    return found


def _pairs(attributes: Any) -> Attributes:
    return {str(one.get("key")): _value(one.get("value")) for one in _dicts(attributes)}


def _value(value: Any) -> Any:
    for kind, said in _dict(value).items():
        if kind == "arrayValue":
            return [_value(one) for one in _dict(said).get("values") or ()]
        if kind == "kvlistValue":
            return _pairs(_dict(said).get("values"))
        if kind == "intValue":
            return int(said) if str(said).lstrip("-").isdigit() else None
        return said
    return None


def _decoded(value: Any) -> Any:
    try:
        return msgspec.json.decode(value) if isinstance(value, str) else value
    except (msgspec.DecodeError, RecursionError):
        return value


def _dicts(value: Any) -> list[Attributes]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _dict(value: Any) -> Attributes:
    return cast("Attributes", value) if isinstance(value, dict) else {}


def _nanoseconds(value: Any) -> float:
    try:
        return int(value) / 1e9
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _iso(value: Any) -> float:
    if isinstance(value, int | float):
        return value / 1000  # as a data frame writes times
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
