"""Spans as conversations: which belong to one turn, which turns to one conversation.

A trace that names its conversation belongs to that. Of one that does not, the messages tell: a call
whose history is what was said before goes on with it, and calls with the same last question are one
turn (a model that asked for tools first). Many applications send a picture with the newest message
alone, so a history may lack pictures, but has none that were not shown. Spans wait in a temporary
file, so that no more than one conversation is in memory.
"""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import DataError
from mmrag.files.images import LazyImage, media_type
from mmrag.records import (
    Capture,
    Evidence,
    Outcome,
    Reply,
    Session,
    Status,
    Step,
    Turn,
    TurnResult,
    Usage,
    Verdict,
    reply_status,
)
from simulator.exchange.imported_conversation import (
    ImportedConversation,
    imported_turn,
    unasked_turn,
)
from simulator.exchange.traces.span_messages import (
    SpanMessage,
    messages_from,
    messages_to,
    without_secrets,
)
from simulator.exchange.traces.spans import Span, flat, read_spans

NO_QUESTION = "the trace holds no question: its writer was told to leave content out, or dropped it"

_CONVERSATION = (
    "gen_ai.conversation.id", "session.id", "langfuse.session.id",
    "traceloop.association.properties.session_id",
)  # fmt: skip

_LABELS = {
    **{str(outcome): outcome for outcome in Outcome},
    "correct": Outcome.PERFECT, "pass": Outcome.PERFECT, "fail": Outcome.INCORRECT,
}  # fmt: skip

_LONGEST = 100_000
"""Characters of a tool's arguments or result, and of a document, that are kept."""


Shown = frozenset[bytes]
"""Hashes of the pictures that were shown in a conversation so far."""

_MOST_ALIKE = 1000
"""Conversations with the same words among which one is looked for by a picture that it showed."""


class SpanTurn(msgspec.Struct):
    """One turn as its spans tell it."""

    key: str
    """The words up to the question: equal for the calls of one turn."""
    before: str
    """The same without the question."""
    seen: Shown
    """The pictures in that history."""
    query: str
    reply: str | None
    pictures: tuple[bytes, ...]
    spans: list[Span]


class TraceFile:
    """A file of traces, sorted into conversations."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = tempfile.TemporaryDirectory(prefix="mmrag-traces-")
        self._db = sqlite3.connect(Path(self._folder.name) / "spans.sqlite")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE TABLE spans (trace TEXT, start REAL, span BLOB)")
        self._db.execute("CREATE TABLE traces (trace TEXT, talk TEXT, place INTEGER)")
        try:
            self._fill()
        except BaseException:
            self.close()
            raise

    def _fill(self) -> None:
        for span in read_spans(self._path):
            row = (span.trace, span.start, msgspec.json.encode(_needed(span)))
            self._db.execute("INSERT INTO spans VALUES (?, ?, ?)", row)
        self._db.execute("CREATE INDEX by_trace ON spans (trace)")
        self._sort()
        self._db.execute("CREATE INDEX by_talk ON traces (talk)")

    def close(self) -> None:
        """Remove the temporary file."""
        self._db.close()
        self._folder.cleanup()

    def __enter__(self) -> TraceFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def conversations(self) -> Iterator[ImportedConversation]:
        """Every conversation, in the order in which they began."""
        talks = self._db.execute("SELECT talk FROM traces GROUP BY talk ORDER BY MIN(place)")
        names = [row[0] for row in talks]
        if not names:
            raise DataError(
                f"{self._path}: no span in it says what was asked of a model or an agent. Record "
                "with message content (docs/doors.md#traces)."
            )
        for number, name in enumerate(names):
            found: list[SpanTurn] = []
            rows = self._db.execute(
                "SELECT trace FROM traces WHERE talk = ? ORDER BY place", [name]
            )
            for (trace,) in rows.fetchall():
                for asked in _asked(self._spans(trace)):
                    _join(found, asked)
            yield _brought(name, number, found)

    def _spans(self, trace: str) -> list[Span]:
        rows = self._db.execute("SELECT span FROM spans WHERE trace = ? ORDER BY start", [trace])
        return _whole([msgspec.json.decode(row[0], type=Span) for row in rows])

    def _sort(self) -> None:
        after: dict[str, dict[Shown, list[str]]] = {}
        """The words up to a reply, or up to a question that has none yet → what was shown → the
        conversations of which this holds; each is continued once."""
        traces = self._db.execute(
            "SELECT trace FROM spans GROUP BY trace ORDER BY MIN(NULLIF(start, 0)), trace"
        ).fetchall()
        for place, (trace,) in enumerate(traces):
            spans = self._spans(trace)
            turns = _asked(spans)
            if not turns:
                continue
            named = (str(s.attributes[k]) for s in spans for k in _CONVERSATION
                     if s.attributes.get(k))  # fmt: skip
            name, last = next(named, ""), turns[-1]
            talk, shown = (name, Shown()) if name else _gone_on(after, turns[0]) or (trace, Shown())
            shown = shown.union(*(turn.seen | _hashes(turn.pictures) for turn in turns))
            until = last.key if last.reply is None else _digest(last.key, last.reply)
            after.setdefault(until, {}).setdefault(shown, []).append(talk)
            self._db.execute("INSERT INTO traces VALUES (?, ?, ?)", [trace, talk, place])


def _gone_on(after: dict[str, dict[Shown, list[str]]], asked: SpanTurn) -> tuple[str, Shown] | None:
    """The conversation that a turn goes on with, and what was shown in it: one that has shown the
    turn's picture, else one with the pictures that its history holds, else the first."""
    new = _hashes(asked.pictures)
    for words, seen in ((asked.key, asked.seen | new), (asked.before, asked.seen)):
        there = after.get(words, {})
        likely = (seen | new, seen, *itertools.islice(there, _MOST_ALIKE))
        if fitting := [shown for shown in likely if seen <= shown and shown in there]:
            shown = max(fitting, key=lambda shown: (len(new & shown), shown == seen))
            talk = there[shown].pop(0)
            if not there[shown]:
                del there[shown]
            return talk, shown
    return None


def _hashes(pictures: tuple[bytes, ...]) -> Shown:
    return Shown(hashlib.sha256(picture).digest() for picture in pictures)


def _needed(span: Span) -> Span:
    """Without what is never looked at, headers and keys among it, so that it is kept nowhere."""
    kept = {
        key: value
        for key, value in span.attributes.items()
        if key.startswith(("gen_ai.", "llm.", "mmrag.", "openinference.", "retrieval.", "tool.",
                           "input.value", "output.value", "session.id", "langfuse.session.id",
                           "traceloop.association.properties.session_id"))
    }  # fmt: skip
    error = None if span.error is None else str(without_secrets(span.error))[:2000]
    return msgspec.structs.replace(span, attributes=kept, error=error)


def _whole(spans: list[Span]) -> list[Span]:
    """Spans with what was logged of them."""
    logged: dict[str, list[Any]] = {}
    for span in spans:
        if not (span.name or span.start):
            logged.setdefault(span.id, []).extend(span.events)
    return [
        msgspec.structs.replace(span, events=[*span.events, *logged.get(span.id, ())])
        for span in spans
        if span.name or span.start
    ]


def _asked(spans: list[Span]) -> list[SpanTurn]:
    """The turns of one trace: its agent's, where there is one, else those of its models."""
    agents = [span for span in spans if _kind(span) in ("agent", "chain") and messages_to(span)]
    found: list[SpanTurn] = []
    for span in spans:
        if _kind(span) == "llm":
            _join(found, _turn(span))
    # a function that is traced has arguments of any name: then its models know the question
    if agents := [one for one in agents if _turn(one).query or not found]:
        whole = [agents[0], *(span for span in spans if span is not agents[0])]
        turn = _turn(agents[0])
        pictures = turn.pictures or (found[0].pictures if found else ())
        return [msgspec.structs.replace(turn, spans=whole, pictures=pictures)]
    if found:
        found[-1].spans += [span for span in spans if _kind(span) in ("tool", "retriever")]
    return found


def _kind(span: Span) -> str:
    """agent, chain, llm, tool, retriever or nothing of these."""
    said = str(span.attributes.get("openinference.span.kind") or "").lower()
    operation = str(span.attributes.get("gen_ai.operation.name") or "")
    names = {
        "invoke_agent": "agent", "chat": "llm", "text_completion": "llm", "generate_content": "llm",
        "execute_tool": "tool", "retrieval": "retriever",
    }  # fmt: skip
    return names.get(operation) or said or ("llm" if "llm.request.type" in span.attributes else "")


def _turn(main: Span) -> SpanTurn:
    given = messages_to(main)
    asks = [n for n, said in enumerate(given) if said.role in ("user", "human")]
    last = asks[-1] if asks else -1
    asked = given[last] if asks else SpanMessage("user", "")
    before, seen = "", Shown()
    for said in given[: max(last, 0)]:
        passing = said.role in ("system", "tool") or said.calls or not said.text
        if said.role in ("user", "human") or not passing:
            before, seen = _digest(before, said.text), seen | _hashes(said.pictures)
    key = _digest(before, asked.text) if asks else _digest(main.trace, main.id)
    answers = [said.text for said in messages_from(main) if said.text and not said.calls]
    reply = answers[-1] if answers else None
    return SpanTurn(key, before, seen, asked.text, reply, asked.pictures, [main])


def _join(found: list[SpanTurn], asked: SpanTurn) -> None:
    """One more call of a turn that has no reply yet, or the next turn."""
    known = found[-1] if found else None
    if (
        known is None
        or known.key != asked.key
        or known.reply is not None
        or not set(asked.pictures) <= set(known.pictures)
    ):
        found.append(asked)
        return
    known.spans += asked.spans
    known.reply = asked.reply


def _brought(name: str, number: int, turns: list[SpanTurn]) -> ImportedConversation:
    about = turns[0].spans[0].attributes
    condition = str(about.get("mmrag.condition") or "clean")
    session_id = str(about.get("mmrag.session") or name)[:200].strip() or f"conversation {number}"
    seen: set[bytes] = set()
    asked: list[Turn] = []
    results: list[TurnResult] = []
    first: Capture | None = None
    for index, one in enumerate(turns):
        new = [p for p in one.pictures if p not in seen and media_type(p)]
        seen.update(new)
        capture = Capture(image=LazyImage.from_bytes(new[-1])) if new else None
        if capture is not None and first is None and index == 0:
            first, capture = capture, None
        main = one.spans[0].attributes
        asked.append(imported_turn(session_id, index, one.query, _ours(main), capture=capture))
        results.append(_result(session_id, condition, index, one))
    for missed in _listed(turns[-1].spans[0].attributes.get("mmrag.not_asked")):
        known = _ours(flat(missed))
        asked.append(imported_turn(session_id, len(asked), str(missed.get("query")), known))
        results.append(unasked_turn(session_id, condition, asked[-1]))
    fault = "" if condition == "clean" else condition  # of a picture that is not here
    capture = None if fault else first
    return ImportedConversation(
        Session(id=session_id, turns=tuple(asked), capture=capture, fault=fault), tuple(results)
    )


def _ours(attributes: dict[str, Any]) -> dict[str, Any]:
    return {key.removeprefix("mmrag."): value for key, value in attributes.items()}


def _result(session: str, condition: str, index: int, one: SpanTurn) -> TurnResult:
    main = one.spans[0]
    started = min(span.start for span in one.spans)
    seconds = max(0.0, max(span.end for span in one.spans) - started)
    failed = next((span.error for span in one.spans[::-1] if span.error), None)
    reply, verdict, error = None, None, failed
    status = _said_status(main) or (Status.AGENT_ERROR if failed else Status.ANSWERED)
    if not one.query:
        status, error = Status.DATA_ERROR, NO_QUESTION
    elif one.reply is None and status in (Status.ANSWERED, Status.ABSTAINED):
        status, error = Status.AGENT_ERROR, failed or "the trace holds no reply"
    elif one.reply is not None and status is not Status.TIMEOUT:
        reply = Reply(text=one.reply, usage=_usage(one.spans), trace=_steps(one.spans, started))
        error = None if status is not Status.DATA_ERROR else failed
        verdict = _verdict(main)
        if status is not Status.DATA_ERROR:
            status = reply_status(reply, verdict) if verdict else Status.ANSWERED
    return TurnResult(
        session_id=session, turn_index=index, degradation=condition, status=status,
        query=one.query, reply=reply, verdict=verdict, error=error, seconds=round(seconds, 6),
        step=main.attributes.get("mmrag.step") is True,
    )  # fmt: skip


def _said_status(span: Span) -> Status | None:
    said = str(span.attributes.get("mmrag.status") or "")
    return Status(said) if said in list(Status) else None


def _usage(spans: list[Span]) -> Usage:
    """Of the agent where it says so, else of its models together."""
    total = Usage()
    for number, span in enumerate(spans):
        if number == 1 and (total.input_tokens or total.output_tokens) and _kind(spans[0]) != "llm":
            break
        found = span.attributes
        count = [
            found.get(new) or found.get(old) or found.get(other) or 0
            for new, old, other in (
                ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens",
                 "llm.token_count.prompt"),
                ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens",
                 "llm.token_count.completion"),
            )
        ]  # fmt: skip
        numbers = [int(n) if isinstance(n, int | float) and 0 <= n < 1e12 else 0 for n in count]
        total += Usage(input_tokens=numbers[0], output_tokens=numbers[1],
                       calls=int(_kind(span) == "llm"))  # fmt: skip
    return total


def _steps(spans: list[Span], started: float) -> tuple[Step, ...]:
    """Tools, searches and models, in the order in which they were begun."""
    found: list[Step] = []
    for span in sorted(spans, key=lambda one: one.start):
        kind, about, info = _kind(span), span.attributes, dict[str, Any]()
        evidence: tuple[Evidence, ...] = ()
        if kind == "tool":
            name = f"tool {about.get('gen_ai.tool.name') or about.get('tool.name') or span.name}"
            parts = (("arguments", "gen_ai.tool.call.arguments", "input.value"),
                     ("gave", "gen_ai.tool.call.result", "output.value"))  # fmt: skip
            for key, new, other in parts:
                if (value := about.get(new, about.get(other))) is not None:
                    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
                    info[key] = str(without_secrets(text))[:_LONGEST]
        elif kind == "retriever":
            name, evidence = span.name.removeprefix("retrieval ") or "search", _documents(about)
            if query := about.get("gen_ai.retrieval.query.text"):
                info["query"] = str(query)[:_LONGEST]
        elif kind == "llm":
            model = about.get("gen_ai.response.model") or about.get("gen_ai.request.model")
            name, info = "generate", {"model": str(model or about.get("llm.model_name") or "?")}
        else:
            continue
        found.append(Step(name=name, start=round(max(0.0, span.start - started), 6),
                          seconds=round(max(0.0, span.end - span.start), 6), info=info,
                          evidence=evidence))  # fmt: skip
        if kind == "llm" and not any(_kind(one) == "tool" for one in spans):
            found += _called(span, spans, started)
    return tuple(found)


def _called(model: Span, spans: list[Span], started: float) -> list[Step]:
    """Tools that no span tells of, by what was said of them to and by models."""
    gave = {said.gives: said.text for one in spans for said in messages_to(one) if said.gives}
    found: list[Step] = []
    for call in (call for said in messages_from(model) for call in said.calls):
        about = {"arguments": call.arguments, "gave": gave.get(call.id)}
        info = {k: str(without_secrets(v))[:_LONGEST] for k, v in about.items() if v is not None}
        start = round(max(0.0, model.end - started), 6)
        found.append(Step(name=f"tool {call.name}", start=start, info=info))
    return found


def _documents(about: dict[str, Any]) -> tuple[Evidence, ...]:
    listed = _listed(about.get("gen_ai.retrieval.documents"))
    if not listed:
        numbered: dict[str, dict[str, Any]] = {}
        for key, value in about.items():
            parts = key.removeprefix("retrieval.documents.").split(".document.")
            if len(parts) == 2 and parts[0].isdigit():
                numbered.setdefault(parts[0], {})[parts[1]] = value
        listed = [numbered[number] for number in sorted(numbered, key=int)]
    source = str(about.get("gen_ai.data_source.id") or "search")
    return tuple(
        Evidence(
            source=source,
            id=str(one.get("id") or number),
            score=score if isinstance(score := one.get("score"), float) else 0.0,
            text=str(one.get("content") or "")[:_LONGEST],
            title=str(one.get("title") or ""),
            url=str(one.get("url") or ""),
        )
        for number, one in enumerate(listed)
    )


def _verdict(span: Span) -> Verdict | None:
    for name, about in span.events:
        label = str(about.get("gen_ai.evaluation.score.label") or "")
        if name == "gen_ai.evaluation.result" and label in _LABELS:
            return Verdict(
                outcome=_LABELS[label],
                judge=str(about.get("mmrag.judge") or about.get("gen_ai.evaluation.name")),
                exact=about.get("mmrag.exact") is True,
                reason=str(about.get("gen_ai.evaluation.explanation") or "")[:2000],
            )
    return None


def _listed(value: Any) -> list[dict[str, Any]]:
    try:
        found: Any = msgspec.json.decode(value) if isinstance(value, str) else value
    except (msgspec.DecodeError, RecursionError):
        return []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:24]
