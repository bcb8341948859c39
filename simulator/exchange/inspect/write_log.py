"""A run as a log of Inspect: a sample per conversation, a score per turn, the pictures inside.

Inspect itself is not needed: the file is the zip of JSON that it writes (log format 2), read by its
`inspect view` and `read_eval_log`. The same run gives the same bytes.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from mmrag.files.atomic import appearing
from mmrag.files.images import data_uri
from mmrag.records import Outcome, Status, Step, Turn, TurnResult, Usage, Verdict, outcome_of
from simulator.exchange.pictures import picture_of
from simulator.exchange.run_facts import ExportedTalk, RunFacts, facts_of, talks
from simulator.store.run_reader import RunReader

_VALUES = {
    Outcome.PERFECT: "C",
    Outcome.ACCEPTABLE: "P",
    Outcome.MISSING: "N",
    Outcome.INCORRECT: "I",
}
"""Inspect's letters: correct, partially correct, no answer, incorrect."""

_SCORER = "mmrag"


def write_inspect(run: RunReader, out: Path) -> int:
    """Write a `.eval` file; returns the number of turns."""
    facts, count, summaries = facts_of(run), 0, list[dict[str, Any]]()
    names: set[str] = set()
    with appearing(out) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as log:
        for talk in talks(run, facts):
            sample = _sample(talk, facts, _name(talk.id, names))
            _write(log, f"samples/{sample['id']}_epoch_1.json", sample)
            summaries.append(_summary(sample))
            count += len(talk.results)
        _write(log, "summaries.json", summaries)
        _write(log, "header.json", _header(run, facts, summaries))
    return count


def _write(log: zipfile.ZipFile, name: str, value: Any) -> None:
    entry = zipfile.ZipInfo(name)  # of 1980: the same run gives the same bytes
    entry.compress_type = zipfile.ZIP_DEFLATED
    log.writestr(entry, msgspec.json.encode(value))


def _name(wanted: str, taken: set[str]) -> str:
    """An id that may stand in the name of a file inside the log, and no other sample has."""
    plain = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in wanted)[:200]
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain} ({number})", number + 1
    taken.add(name)
    return name


def _sample(talk: ExportedTalk, facts: RunFacts, name: str) -> dict[str, Any]:
    session, results = talk.session, talk.results
    attachments: dict[str, str] = {}
    seen = picture_of(session)
    if seen is not None:
        uri = data_uri(*seen)
        attachments[hashlib.sha256(uri.encode()).hexdigest()[:32]] = uri
    said = _messages(talk, facts, next(iter(attachments), None))
    usage = sum((_usage(result) for result in results), Usage())
    seconds = sum(result.seconds for result in results)
    scores = {
        f"turn {turn.index + 1}": _score(result)
        for turn, result in zip(session.turns, results, strict=False)
        if outcome_of(result) in _VALUES
    }
    if talk.score is not None:
        last = next((r.reply.text for r in reversed(results) if r.reply is not None), None)
        whole = {"value": round(talk.score, 4), "answer": last, "history": []}
        scores = {"conversation": whole, **scores}
    replied = next((m for m in reversed(said) if m["role"] == "assistant"), None)
    choices = [{"message": replied, "stop_reason": "stop"}] if replied else []
    return {
        "id": name,
        "epoch": 1,
        "input": said[:1],
        "target": [turn.reference.text for turn in session.turns],
        "messages": said,
        "output": {
            "model": _model(facts),
            "choices": choices,
            "completion": replied["content"] if replied else "",
        },
        "scores": scores,
        "metadata": _about(talk),
        "store": {},
        "events": list(_events(talk, facts)),
        "model_usage": {_model(facts): _tokens(usage)} if usage.calls else {},
        "started_at": _clock(talk.began),
        "completed_at": _clock(talk.began + seconds),
        "total_time": seconds,
        "working_time": seconds,
        "uuid": _hash(facts.name, name),
        "attachments": attachments,
        "turn_count": sum(result.reply is not None for result in results),
    }


def _messages(talk: ExportedTalk, facts: RunFacts, picture: str | None) -> list[dict[str, Any]]:
    """What was said, the picture with the first question. A turn that failed has no answer."""
    said: list[dict[str, Any]] = []
    for turn, result in zip(talk.session.turns, talk.results, strict=False):
        if result.status is Status.SKIPPED_AFTER_STOP:
            break
        content: Any = turn.query
        if picture is not None and not said:
            image = {"type": "image", "image": f"attachment://{picture}", "detail": "auto"}
            content = [{"type": "text", "text": turn.query}, image]
        said.append({"id": f"{talk.id}/{turn.index}/q", "role": "user", "content": content})
        if result.reply is not None:
            said.append(
                {
                    "id": f"{talk.id}/{turn.index}/a",
                    "role": "assistant",
                    "content": result.reply.text,
                    "source": "generate",
                    "model": _model(facts),
                }
            )
    return said or [{"role": "user", "content": "(no turn was asked)"}]


def _score(result: TurnResult) -> dict[str, Any]:
    verdict = result.verdict
    assert verdict is not None
    return {
        "value": _VALUES[verdict.outcome],
        "answer": result.reply.text if result.reply else None,
        "explanation": _why(verdict),
        "metadata": {
            "outcome": str(verdict.outcome),
            "judge": verdict.judge,
            "exact": verdict.exact,
            "votes": msgspec.to_builtins(verdict.votes),
        },
        "history": [],
    }


def _why(verdict: Verdict) -> str:
    return f"{verdict.outcome}: {verdict.reason}" if verdict.reason else str(verdict.outcome)


def _about(talk: ExportedTalk) -> dict[str, Any]:
    session = talk.session
    stopped = any(r.status is Status.SKIPPED_AFTER_STOP for r in talk.results)
    return {
        "session_id": session.id,
        "condition": session.degradation,
        "quality": session.quality,
        "stopped_early": stopped,
        "picture": "" if session.capture is None else session.capture.image.sha256,
        "turns": [
            {"query": turn.query, "reference": turn.reference.text,
             "accepted": list(turn.reference.accept), "domain": turn.domain,
             "query_type": turn.query_type, "dynamism": turn.dynamism, **dict(turn.meta)}
            for turn in session.turns
        ],
    }  # fmt: skip


def _events(talk: ExportedTalk, facts: RunFacts) -> Iterator[dict[str, Any]]:
    """The transcript: a span per turn, its steps, its answer and its score."""
    at = talk.began
    for turn, result in zip(talk.session.turns, talk.results, strict=False):
        if result.status is Status.SKIPPED_AFTER_STOP:
            break
        span = _hash(facts.name, talk.id, str(turn.index))
        yield {
            **_event(at, talk, span), "event": "span_begin", "id": span, "type": None,
            "name": f"turn {turn.index + 1}: {turn.query}"[:200],
        }  # fmt: skip
        if result.reply is not None:
            for step in result.reply.trace:
                yield from _step(step, at, talk, span)
            yield _answer(turn, result, at, talk, facts, span)
        if result.error:
            error = {"message": result.error, "traceback": "", "traceback_ansi": ""}
            yield {**_event(at + result.seconds, talk, span), "event": "error", "error": error}
        at += result.seconds
        if outcome_of(result) in _VALUES:
            yield {
                **_event(at, talk, span), "event": "score", "score": _score(result),
                "target": turn.reference.text, "intermediate": True, "scorer": _SCORER,
            }  # fmt: skip
        yield {**_event(at, talk, span), "event": "span_end", "id": span}


def _step(
    step: Step, turn_began: float, talk: ExportedTalk, parent: str
) -> Iterator[dict[str, Any]]:
    """A step with its evidence; the steps within it lie in its span."""
    at, span = turn_began + step.start, _hash(parent, step.name, repr(step.start))
    begin = {"event": "span_begin", "id": span, "parent_id": parent, "name": step.name}
    yield {**_event(at, talk, span), **begin, "type": "tool" if step.evidence else None}
    data = {**msgspec.to_builtins(step.info), "seconds": step.seconds}
    if step.evidence:
        data["evidence"] = msgspec.to_builtins(step.evidence)
    yield {**_event(at, talk, span), "event": "info", "source": step.name, "data": data}
    for inner in step.steps:
        yield from _step(inner, turn_began, talk, span)
    yield {**_event(at + step.seconds, talk, span), "event": "span_end", "id": span}


def _answer(
    turn: Turn, result: TurnResult, at: float, talk: ExportedTalk, facts: RunFacts, span: str
) -> dict[str, Any]:
    """The answer as the output of a model, which is how the viewer shows question and answer."""
    assert result.reply is not None
    message = {"role": "assistant", "content": result.reply.text, "source": "generate"}
    return {
        **_event(at, talk, span),
        "event": "model",
        "model": _model(facts),
        "input": [{"role": "user", "content": turn.query}],
        "tools": [],
        "tool_choice": "none",
        "config": {},
        "output": {
            "model": _model(facts),
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": result.reply.text,
            "usage": _tokens(result.reply.usage),
            "time": result.seconds,
        },
        "completed": _clock(at + result.seconds),
        "working_time": result.seconds,
    }


def _event(at: float, talk: ExportedTalk, span: str) -> dict[str, Any]:
    return {"span_id": span, "timestamp": _clock(at), "working_start": at - talk.began}


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    """What the viewer's list shows of a sample: no picture, no transcript."""
    kept = (
        "id", "epoch", "target", "model_usage", "started_at", "completed_at", "total_time",
        "working_time", "uuid", "turn_count",
    )  # fmt: skip
    content = sample["input"][0]["content"]
    return {
        **{name: sample[name] for name in kept},
        "input": content if isinstance(content, str) else content[0]["text"],
        "metadata": {k: v for k, v in sample["metadata"].items() if k != "turns"},
        "scores": {
            name: {"value": score["value"], "answer": score["answer"], "history": []}
            for name, score in sample["scores"].items()
        },
        "completed": True,
        "message_count": len(sample["messages"]),
    }


def _header(run: RunReader, facts: RunFacts, samples: list[dict[str, Any]]) -> dict[str, Any]:
    ids = [sample["id"] for sample in samples]
    scores = [
        {"name": name, "scorer": _SCORER, "params": {}, "metrics": _metrics(found)}
        for name, found in {"run": facts.figures, **facts.conditions}.items()
    ]
    made = {k: v for k, v in facts.provenance.items() if k != "libraries"}
    return {
        "version": 2,
        "status": "success" if run.meta("finished") else "cancelled",
        "eval": {
            "eval_id": _hash(facts.name, "eval"),
            "run_id": _hash(facts.name, "run"),
            "created": _clock(facts.began),
            "task": facts.name,
            "task_id": _hash(facts.name, "task"),
            "task_version": 0,
            "task_args": {},
            "dataset": {
                "name": facts.data, "samples": len(ids), "sample_ids": ids, "shuffled": False,
            },
            "model": _model(facts),
            "model_args": {},
            "config": {},
            "packages": facts.provenance.get("libraries") or {},
            "metadata": {"settings": facts.settings, "judge": facts.judge, "provenance": made},
            "scorers": [{"name": _SCORER, "options": {}, "metrics": [], "metadata": {}}],
        },
        "plan": {"name": "plan", "steps": [{"solver": facts.agent, "params": {}}], "config": {}},
        "results": {
            "total_samples": len(ids), "completed_samples": len(ids), "scores": scores,
        },
        "stats": {
            "started_at": _clock(facts.began), "completed_at": _clock(facts.ended),
            "model_usage": {},
        },
    }  # fmt: skip


def _metrics(figures: dict[str, float]) -> dict[str, Any]:
    """Figures as the viewer shows them, which knows no interval: its ends are figures by name."""
    ends = {".low": " (95 % from)", ".high": " (95 % to)"}
    metrics: dict[str, Any] = {}
    for key, value in figures.items():
        end = next((end for end in ends if key.endswith(end)), "")
        name = key.removesuffix(end) + ends.get(end, "")
        metrics[name] = {"name": name, "value": value}
    return metrics


def _model(facts: RunFacts) -> str:
    return f"{_SCORER}/{facts.agent}"


def _usage(result: TurnResult) -> Usage:
    return result.reply.usage if result.reply else Usage()


def _tokens(usage: Usage) -> dict[str, Any]:
    total = usage.input_tokens + usage.output_tokens
    return {
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
        "total_tokens": total, "total_cost": usage.cost,
    }  # fmt: skip


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _hash(*words: str) -> str:
    return hashlib.sha256("\x00".join(words).encode()).hexdigest()[:22]
