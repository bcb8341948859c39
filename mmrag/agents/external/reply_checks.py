"""What an agent returned, as a reply that can be kept: whole, bounded, and nobody's any more."""

from __future__ import annotations

from typing import Any

import msgspec

from mmrag.errors import AgentError, error_text
from mmrag.records import ASKS, Reply, Step, decode_as, encode

HUGE_REPLY = 1_000_000
"""Characters; a longer reply is no reply but an `agent_error`."""

MAX_BYTES = 4_000_000
"""Of a reply as JSON. A trace that takes more is dropped; the answer counts all the same."""

MAX_DEPTH = 64
"""Of lists and objects inside each other, in a trace; a deeper one is dropped too."""


def says_nothing(text: str) -> bool:
    """Whether there is nothing in a text that can be read: space, and signs without width.

    >>> says_nothing(" \\u200b"), says_nothing("?")
    (True, False)
    """
    return not any(sign.isprintable() and not sign.isspace() for sign in text)


def checked(said: object) -> Reply:
    """The reply as it is going to be kept; `AgentError` says why it cannot be.

    It is a copy: what an agent goes on to do with its own trace no longer matters.
    """
    if not isinstance(said, Reply):
        raise AgentError(f"the agent returned a {type(said).__name__}, not a Reply")
    if said.ask not in (None, *ASKS):
        raise AgentError(
            f"the reply asks {str(said.ask)[:40]!r}, which no wearer hears: ask is "
            f"{', '.join(ASKS)}, or None"
        )
    try:  # what cannot be kept and read again must not reach the store
        data = encode(said)
        dropped = _excess(said, data)
        if dropped:
            step = Step(name="trace dropped", info={"why": dropped})
            data = encode(msgspec.structs.replace(said, trace=(step,)))
        reply = decode_as(Reply, data)
    except Exception as error:  # fields may hold anything
        why = (
            str(error) if isinstance(error, msgspec.MsgspecError | TypeError) else error_text(error)
        )
        raise AgentError(f"the reply cannot be kept: {why}") from error
    if len(reply.text) > HUGE_REPLY:
        raise AgentError(
            f"the reply has {len(reply.text):,} characters; the limit is {HUGE_REPLY:,}"
        )
    if len(data) > MAX_BYTES:
        raise AgentError(
            f"the reply is larger than {MAX_BYTES // 1_000_000} MB even without its trace"
        )
    if not reply.usage.is_possible:
        raise AgentError("the reply cannot be kept: its usage is not a count of tokens, calls or $")
    return reply


def _excess(reply: Reply, data: bytes) -> str | None:
    """Why a trace is too much to keep."""
    if not reply.trace:
        return None
    if len(data) > MAX_BYTES:
        return f"the reply with its trace has {len(data):,} bytes; the limit is {MAX_BYTES:,}"
    if _depth(msgspec.json.decode(data)) > MAX_DEPTH:
        return f"lists and objects inside each other go deeper than {MAX_DEPTH}"
    return None


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level := [v for v in level if isinstance(v, dict | list)]:
        depth += 1
        level = [inner for v in level for inner in (v.values() if isinstance(v, dict) else v)]
    return depth
