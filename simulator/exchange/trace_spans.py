"""A turn as a tree of spans, in the words of OpenTelemetry's conventions for generative AI.

A trace per turn; turns of one conversation share `gen_ai.conversation.id`. Nothing here knows how a
span is written: `otel` and `mlflow_store` do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import msgspec

from mmrag.records import Evidence, Outcome, Record, Status, Step, Turn, TurnResult, outcome_word
from simulator.exchange.run_facts import ExportedTalk, RunFacts

Value = str | bool | int | float | list[str]


class Event(Record, frozen=True, kw_only=True):
    """Something that happened at one moment of a span."""

    name: str
    at: int
    attributes: dict[str, Value]


class TraceSpan(Record, frozen=True, kw_only=True):
    """One piece of work. Times are nanoseconds since 1970."""

    trace: str
    """32 hexadecimal digits."""
    id: str
    """16 hexadecimal digits."""
    parent: str = ""
    name: str
    operation: str = ""
    """invoke_agent, chat, retrieval, execute_tool, or empty for a step of another kind."""
    start: int
    end: int
    attributes: dict[str, Value]
    events: tuple[Event, ...] = ()
    error: str = ""


class TurnSpans(Record, frozen=True, kw_only=True):
    """All spans of one turn; the first is the root."""

    turn: Turn
    result: TurnResult
    spans: tuple[TraceSpan, ...]


def spans_of(talk: ExportedTalk, facts: RunFacts) -> Iterator[TurnSpans]:
    """Every turn that was asked, with what was said before it as its input."""
    at, said = talk.began, list[dict[str, Any]]()
    asked = [(turn, result) for turn, result in zip(talk.session.turns, talk.results, strict=False)
             if result.status is not Status.SKIPPED_AFTER_STOP]  # fmt: skip
    missed = [_missed(turn) for turn in talk.session.turns[len(asked) : len(talk.results)]]
    for turn, result in asked:
        rest = missed if turn is asked[-1][0] else []
        yield _turn(talk, facts, turn, result, at, said, rest)
        at += result.seconds
        if result.reply is not None:
            said += [_part("user", turn.query), _part("assistant", result.reply.text)]


def _turn(
    talk: ExportedTalk,
    facts: RunFacts,
    turn: Turn,
    result: TurnResult,
    at: float,
    said: list[dict[str, Any]],
    missed: list[dict[str, Any]],
) -> TurnSpans:
    trace = _hex(32, facts.name, talk.id, str(turn.index))
    root = _hex(16, trace, "root")
    asked = _part("user", turn.query)
    if talk.session.capture is not None:
        picture = talk.session.capture.image.sha256
        asked["parts"].append({"type": "file", "modality": "image", "file_id": picture})
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "mmrag",
        "gen_ai.agent.name": facts.agent,
        "gen_ai.conversation.id": talk.id,
        "gen_ai.input.messages": _json([*said, asked]),
        "mmrag.run": facts.name,
        "mmrag.session": talk.session.id,
        "mmrag.condition": talk.session.degradation,
        "mmrag.turn": turn.index + 1,
        "mmrag.status": str(result.status),
        "mmrag.outcome": outcome_word(result),
        "mmrag.reference": turn.reference.text,
        "mmrag.domain": turn.domain,
        "mmrag.query_type": turn.query_type,
    }
    if len(turn.reference.all_texts) > 1:
        attributes["mmrag.accept"] = list(turn.reference.accept)
    if result.step:
        attributes["mmrag.step"] = True
    if missed:
        attributes["mmrag.not_asked"] = _json(missed)
    steps: tuple[Step, ...] = ()
    if result.reply is not None:
        reply, steps = result.reply, result.reply.trace
        answer = {**_part("assistant", reply.text), "finish_reason": "stop"}
        attributes |= {
            "gen_ai.output.messages": _json([answer]),
            "gen_ai.usage.input_tokens": reply.usage.input_tokens,
            "gen_ai.usage.output_tokens": reply.usage.output_tokens,
            "mmrag.cost": reply.usage.cost,
            "mmrag.citations": list(reply.citations),
        }
        if reply.confidence is not None:
            attributes["mmrag.confidence"] = reply.confidence
    whole = TraceSpan(
        trace=trace,
        id=root,
        name=f"invoke_agent {facts.agent}",
        operation="invoke_agent",
        start=_nanoseconds(at),
        end=_nanoseconds(at + result.seconds),
        attributes=attributes,
        events=tuple(_evaluation(result, at + result.seconds)),
        error=result.error or "",
    )
    inner = [s for n, step in enumerate(steps) for s in _step(step, at, trace, root, f"{n}")]
    return TurnSpans(turn=turn, result=result, spans=(whole, *inner))


def _missed(turn: Turn) -> dict[str, Any]:
    """A question that was never asked: it counts in the score."""
    return {"query": turn.query, "mmrag.reference": turn.reference.text,
            "mmrag.accept": turn.reference.accept, "mmrag.domain": turn.domain,
            "mmrag.query_type": turn.query_type}  # fmt: skip


def _evaluation(result: TurnResult, at: float) -> Iterator[Event]:
    verdict = result.verdict
    if verdict is None or verdict.outcome is Outcome.UNSCORED:
        return
    attributes: dict[str, Value] = {
        "gen_ai.evaluation.name": "mmrag.outcome",
        "gen_ai.evaluation.score.label": str(verdict.outcome),
        "gen_ai.evaluation.score.value": verdict.outcome.score or 0.0,
        "gen_ai.evaluation.explanation": verdict.reason,
        "mmrag.judge": verdict.judge,
        "mmrag.exact": verdict.exact,
    }
    yield Event(name="gen_ai.evaluation.result", at=_nanoseconds(at), attributes=attributes)


def _step(step: Step, began: float, trace: str, parent: str, place: str) -> Iterator[TraceSpan]:
    start = began + step.start
    span = TraceSpan(
        trace=trace,
        id=_hex(16, trace, place),
        parent=parent,
        start=_nanoseconds(start),
        end=_nanoseconds(start + step.seconds),
        **_kind(step),
    )
    yield span
    for number, inner in enumerate(step.steps):
        yield from _step(inner, began, trace, span.id, f"{place}.{number}")


def _kind(step: Step) -> dict[str, Any]:
    """Name, operation and attributes: a model's answer, a tool's, a search, or a plain step."""
    info = msgspec.to_builtins(step.info)
    tool = step.name.removeprefix("tool ")
    if tool != step.name:
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.arguments": str(info.pop("arguments", "")),
            "gen_ai.tool.call.result": str(info.pop("gave", "")),
        }
        name, operation = f"execute_tool {tool}", "execute_tool"
    elif step.name == "generate" and info.get("model"):
        model = str(info.pop("model"))
        finish = str(info.pop("finish", None) or "stop")
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "mmrag",
            "gen_ai.request.model": model,
            "gen_ai.response.model": model,
            "gen_ai.response.finish_reasons": [finish],
        }
        name, operation = f"chat {model}", "chat"
    elif step.evidence:
        source = step.evidence[0].source
        attributes = {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.data_source.id": source,
            "gen_ai.retrieval.documents": _json([_document(item) for item in step.evidence]),
        }
        if isinstance(info.get("query"), str):
            attributes["gen_ai.retrieval.query.text"] = info.pop("query")
        name, operation = f"retrieval {step.name}", "retrieval"
    else:
        attributes, name, operation = {}, step.name, ""
    attributes |= {f"mmrag.info.{key}": _flat(value) for key, value in info.items()}
    return {"name": name, "operation": operation, "attributes": attributes}


def _document(item: Evidence) -> dict[str, Any]:
    return {
        "id": item.id, "score": item.score, "title": item.title, "content": item.text,
        "url": item.url, "date": item.date,
    }  # fmt: skip


def _part(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _flat(value: Any) -> Value:
    return value if isinstance(value, str | bool | int | float) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e6) * 1000  # a float of today's seconds knows no more than that


def _hex(digits: int, *words: str) -> str:
    return hashlib.sha256("\x00".join(words).encode()).hexdigest()[:digits]
