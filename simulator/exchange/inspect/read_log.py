"""Logs of Inspect as conversations: its `.eval` files (zips) and its `.json` ones, from anybody.

Every user message begins a turn; the last thing the assistant says before the next one is the
reply, and the tools it called are its trace. A log is input from outside: sizes are bounded, and
nothing in it is run.
"""

from __future__ import annotations

import base64
import binascii
import io
import itertools
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import DataError, MmragError, error_text
from mmrag.files.images import LazyImage
from mmrag.records import (
    Capture,
    Outcome,
    Reply,
    Session,
    Status,
    Step,
    Turn,
    TurnResult,
    Usage,
    Verdict,
)
from simulator.exchange.imported_conversation import (
    ImportedConversation,
    imported_turn,
    unasked_turn,
)

MAX_SAMPLE = 256 << 20
"""Bytes of one sample of a zip, unpacked, or of a log as one JSON file."""

MAX_VALUES = 4_000_000
"""Lists, objects and items of these in one sample: each takes many times its bytes in memory."""

_ZSTD = 93
_LOCAL_HEADER = 30
_OUTCOMES = {
    "C": Outcome.PERFECT,
    "P": Outcome.ACCEPTABLE,
    "N": Outcome.MISSING,
    "I": Outcome.INCORRECT,
}
_INLINE = "data:image/"


def is_inspect(path: Path) -> bool:
    """By the name: `.eval`, or `.json`, which nothing else that is brought in is called."""
    return path.suffix.lower() in (".eval", ".json")


def read_inspect(path: Path, *, pictures: bool = True) -> Iterator[ImportedConversation]:
    """Every sample of a log, in its order. A log or sample that cannot be read is an error. Without
    `pictures` those of the log are left where they are."""
    try:
        samples = _zipped(path) if zipfile.is_zipfile(path) else _plain(path)
        is_empty = True
        for where, sample in samples:
            is_empty = False
            yield _conversation(where, sample, pictures=pictures)
        if is_empty:
            raise DataError(f"{path}: a log without samples; nothing to bring in.")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error


def _plain(path: Path) -> Iterator[tuple[str, _Sample]]:
    with path.open("rb") as file:
        data = file.read(MAX_SAMPLE + 1)
    if len(data) > MAX_SAMPLE:
        raise DataError(f"{path}: larger than {MAX_SAMPLE >> 20} MiB; convert it to .eval first.")
    for number, sample in enumerate(_decoded(data, _Log, str(path)).samples, 1):
        yield f"{path}, sample {number}", sample


def _zipped(path: Path) -> Iterator[tuple[str, _Sample]]:
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as log:
            entries = [e for e in log.infolist() if e.filename.startswith("samples/")]
            for entry in sorted(entries, key=lambda e: e.header_offset):
                where = f"{path}, {entry.filename}"
                yield where, _decoded(_unpacked(file, log, entry, where), _Sample, where)
    except (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError) as error:
        raise DataError(f"{path}: no log of Inspect, or a damaged one ({error}).") from error


def _unpacked(file: Any, log: zipfile.ZipFile, entry: zipfile.ZipInfo, where: str) -> bytes:
    """An entry's bytes. Inspect packs by Zstandard, which Python's zipfile does not know."""
    if entry.compress_type != _ZSTD:
        with log.open(entry) as opened:
            data = opened.read(MAX_SAMPLE + 1)
    else:
        import pyarrow as pa

        file.seek(entry.header_offset)
        header = file.read(_LOCAL_HEADER)
        name, extra = struct.unpack("<HH", header[26:30])
        file.seek(name + extra, 1)
        packed = io.BytesIO(file.read(entry.compress_size))
        try:
            with pa.CompressedInputStream(packed, "zstd") as opened:
                data = opened.read(MAX_SAMPLE + 1)
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{where}: damaged ({error}); fetch the log again.") from error
    if len(data) > MAX_SAMPLE:
        raise DataError(f"{where}: larger than {MAX_SAMPLE >> 20} MiB unpacked.")
    return data


def _decoded(data: bytes, kind: Any, where: str) -> Any:
    if sum(map(data.count, (b"[", b"{", b","))) > MAX_VALUES:
        raise DataError(
            f"{where}: holds more than {MAX_VALUES:,} values; it is not a conversation."
        )
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(
            f"{where}: not what Inspect writes ({error}). Give a .eval or .json log of Inspect."
        ) from error


def _conversation(where: str, sample: _Sample, *, pictures: bool) -> ImportedConversation:
    about = sample.metadata
    name = str(about.get("session_id") or sample.id)
    if sample.epoch > 1:
        name = f"{name} epoch {sample.epoch}"
    condition = about.get("condition")
    condition = condition if isinstance(condition, str) and condition else "clean"
    exchanges = _exchanges(sample.messages)
    if not exchanges:
        raise DataError(f"{where}: nobody asks anything in it; it is not a conversation.")
    picture = _picture(where, exchanges[0][0], sample.attachments) if pictures else None
    known = about.get("turns")
    if not isinstance(known, list) or len(known) < len(exchanges):
        known = None
    elif not all(isinstance(turn, dict) for turn in known):
        raise DataError(f"{where}: its metadata's turns are not objects; leave them out.")
    asked = [_text(question.content) for question, _ in exchanges]
    targets = [sample.target] if isinstance(sample.target, str) else sample.target
    turns = [
        _turn(name, n, query, known[n] if known else None, targets if n == len(asked) - 1 else [])
        for n, query in enumerate(asked)
    ]
    if known:  # a conversation of ours that was cut: what was never asked belongs to it
        turns += [
            _turn(name, n, str(known[n].get("query", "")), known[n], [])
            for n in range(len(asked), len(known))
        ]
    capture = None
    if picture is not None:
        quality = str(about.get("quality") or "normal")
        capture = Capture(image=picture, degradation=condition, quality=quality)
    fault = "" if capture is not None or condition == "clean" else condition
    session = Session(id=name, capture=capture, turns=tuple(turns), fault=fault)
    results = [
        _result(session, n, said, sample, single=len(asked) == n + 1)
        for n, (_, said) in enumerate(exchanges)
    ]
    results += [unasked_turn(name, session.degradation, turn) for turn in turns[len(asked) :]]
    return ImportedConversation(session, tuple(results))


def _exchanges(messages: list[_Message]) -> list[tuple[_Message, list[_Message]]]:
    """Every user message with what was said until the next one."""
    found: list[tuple[_Message, list[_Message]]] = []
    for message in messages:
        if message.role == "user":
            found.append((message, []))
        elif found and message.role in ("assistant", "tool"):
            found[-1][1].append(message)
    return found


def _turn(name: str, index: int, query: str, known: Any, targets: list[str]) -> Turn:
    if isinstance(known, dict):
        meta = {k: v for k, v in known.items() if k not in _OURS and isinstance(v, str)}
        dynamism = str(known.get("dynamism") or "static")
        about = {**known, "accept": known.get("accepted")}
        return imported_turn(name, index, query, about, dynamism=dynamism, meta=meta)
    about = {"reference": targets[0] if targets else "", "accept": targets[1:]}
    return imported_turn(name, index, query, about)


_OURS = ("query", "reference", "accepted", "domain", "query_type", "dynamism")


def _result(
    session: Session, index: int, said: list[_Message], sample: _Sample, *, single: bool
) -> TurnResult:
    answers = [m for m in said if m.role == "assistant" and _text(m.content)]
    reply, verdict, error = None, _verdict(sample, index, last=single), None
    if answers:
        usage = Usage()
        if single and len(session.turns) == 1:
            usage = sum((_usage(u) for u in sample.model_usage.values()), Usage())
        reply = Reply(text=_text(answers[-1].content), trace=tuple(_trace(said)), usage=usage)
    else:
        verdict = None
        error = sample.error.message if sample.error else "the log holds no reply"
    status = Status.AGENT_ERROR if reply is None else Status.ANSWERED
    if verdict is not None and verdict.outcome is Outcome.MISSING:
        status = Status.ABSTAINED
    return TurnResult(
        session_id=session.id,
        turn_index=index,
        degradation=session.degradation,
        status=status,
        query=session.turns[index].query,
        reply=reply,
        verdict=verdict,
        error=error,
        seconds=sample.total_time or 0.0 if len(session.turns) == 1 else 0.0,
    )


def _verdict(sample: _Sample, index: int, *, last: bool) -> Verdict | None:
    """A score of this very turn, as we write them; else the sample's first, for its last turn."""
    own = f"turn {index + 1}"
    scores = sample.scores or {}
    if not last or any(name.startswith("turn ") for name in scores):
        chosen = {own: scores[own]} if own in scores else {}
    else:
        chosen = dict(itertools.islice(scores.items(), 1))
    for name, score in chosen.items():
        outcome = _outcome(score.value)
        told = score.metadata or {}
        if outcome is not None:
            if told.get("outcome") in list(Outcome):
                outcome = Outcome(told["outcome"])
            return Verdict(
                outcome=outcome,
                exact=told.get("exact") is True,
                judge=str(told.get("judge") or f"inspect/{name}"),
                reason=(score.explanation or "")[:2000].removeprefix(f"{outcome}: "),
            )
    return None


def _outcome(value: Any) -> Outcome | None:
    """Letters, yes and no, and shares of 1; other scales mean nothing here."""
    if isinstance(value, str):
        return _OUTCOMES.get(value)
    if isinstance(value, bool | int | float):
        if value >= 1:
            return Outcome.PERFECT
        return Outcome.ACCEPTABLE if value > 0 else Outcome.INCORRECT
    return None


def _trace(said: list[_Message]) -> Iterator[Step]:
    arguments = {call.id: call for message in said for call in message.tool_calls or ()}
    for message in said:
        if message.role == "tool":
            call = arguments.get(message.tool_call_id or "")
            name = message.function or (call.function if call else "tool")
            info: dict[str, Any] = {"gave": _text(message.content)[:4000]}
            if call is not None:
                info["arguments"] = msgspec.json.format(call.arguments, indent=-1).decode(
                    errors="replace"
                )[:4000]
            yield Step(name=f"tool {name}", info=info)


def _picture(where: str, question: _Message, attachments: dict[str, str]) -> LazyImage | None:
    """The first picture of the first question; what lies elsewhere than in the log is not got."""
    if isinstance(question.content, str):
        return None
    for part in question.content:
        if part.type == "image":
            uri = part.image
            if uri.startswith("attachment://"):
                uri = attachments.get(uri.removeprefix("attachment://"), "")
            if not uri.startswith(_INLINE):
                raise DataError(
                    f"{where}: its picture is not in the log ({uri[:80]!r}). Log it with "
                    "log_images, or join the data's pictures with --data."
                )
            try:
                image = LazyImage.from_bytes(
                    base64.b64decode(uri.partition(",")[2], validate=True), name=where
                )
                image.pil()
            except (binascii.Error, MmragError) as error:
                raise DataError(
                    f"{where}: its picture cannot be read ({error_text(error)})."
                ) from error
            return image
    return None


def _text(content: str | list[_Part]) -> str:
    if isinstance(content, str):
        return content.strip()
    return "\n".join(part.text for part in content if part.type == "text" and part.text).strip()


def _usage(usage: _ModelUsage) -> Usage:
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        calls=1,
        cost=usage.total_cost or 0.0,
    )


class _Part(msgspec.Struct):
    type: str
    text: str = ""
    image: str = ""


class _Call(msgspec.Struct):
    id: str = ""
    function: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"null")


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Part] = ""
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None
    function: str | None = None


class _Score(msgspec.Struct):
    value: Any = None
    explanation: str | None = None
    metadata: dict[str, Any] | None = None


class _ModelUsage(msgspec.Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    total_cost: float | None = None


class _Error(msgspec.Struct):
    message: str = ""


class _Sample(msgspec.Struct):
    id: str | int
    epoch: int = 1
    target: str | list[str] = ""
    messages: list[_Message] = []
    scores: dict[str, _Score] | None = None
    metadata: dict[str, Any] = {}
    attachments: dict[str, str] = {}
    model_usage: dict[str, _ModelUsage] = {}
    error: _Error | None = None
    total_time: float | None = None


class _Log(msgspec.Struct):
    eval: dict[str, Any]
    samples: list[_Sample] = []
