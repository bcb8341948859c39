"""What it means when an endpoint does not answer as asked, and what its caller can do about it."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from typing import Any, cast

LONGEST_WAIT = 60.0
"""Seconds between two attempts at most, whatever a server asks for."""

_MONEY = "insufficient_quota"
"""OpenAI's code for an empty account. It comes as a 429, which otherwise means: later."""

_UNSAID = re.compile(r"\s*(?:<think>(?:(?!</think>).)*)?", re.S)

_UNSAID_BECAUSE = {
    "length": "was cut (finish_reason length) before it said anything; give it room to think with "
    "max_tokens=2000 in its spec, or let it think less.",
    "content_filter": "said nothing that its filter let through (finish_reason content_filter); "
    "see to what it filters, or ask another model.",
}

_UNKNOWN = re.compile(
    r"support|unknown|unrecogni[sz]ed|unexpected|extra|not (?:permitted|allowed)|invalid"
    r"|forbidden",
    re.I,
)
"""How servers say that a field is not theirs; a context that is too long names fields as well."""

_LOOKED_AT = 4000
"""Bytes of a complaint that are looked at."""


def is_answer_cut(text: str | None, finish: str | None) -> bool:
    """Whether a completion was cut or withheld before its answer began: such a model did not
    abstain.

    >>> is_answer_cut(None, "length"), is_answer_cut("<think>Let me", "content_filter")
    (True, True)
    >>> is_answer_cut("", "stop"), is_answer_cut("Paris, the", "length")
    (False, False)
    """
    return finish in _UNSAID_BECAUSE and _UNSAID.fullmatch(text or "") is not None


def cut_answer_message(finish: str | None) -> str:
    """Why nothing was said, and the cure; goes after the name of the model."""
    return _UNSAID_BECAUSE.get(finish or "", "said nothing.")


def is_denial(code: int, data: bytes, *, let_in: bool) -> bool:
    """Whether a refusal is about who asks, so that every further request would be refused too.

    A 403 after answers (`let_in`) is about one request: gateways use it for pictures that their
    moderation refuses.
    """
    if code == 429:
        return _MONEY.encode() in data[:_LOOKED_AT]
    return code in (401, 402) or (code == 403 and not let_in)


def denial_message(code: int, key_env: str, *, has_key: bool) -> str:
    """What was refused, and the cure."""
    if code in (402, 429):
        return f"the account has no credit left ({code}); top it up, or set another {key_env}"
    if not has_key:
        return f"asks for a key ({code}); set {key_env} in the environment"
    return f"refused the key ({code}); set {key_env} in the environment to one that is let in"


def rejected_field_hint(data: bytes, body: Mapping[str, Any]) -> str:
    """Options of the spec that leave out or rename the fields of a body that a 400 speaks of.

    >>> rejected_field_hint(b"Unsupported value: 'temperature'", {"temperature": 0})
    " For an endpoint that refuses 'temperature', add to the model's spec: temperature=none."
    """
    complaint = data[:_LOOKED_AT].decode("utf-8", "replace")
    if not _UNKNOWN.search(complaint):
        return ""
    found = [field for field in body if re.search(rf"\b{re.escape(field)}\b", complaint)]
    cures = {field: _CURES.get(field, f"body=({field}=none)") for field in found}
    for taken in ("max_tokens", "max_completion_tokens"):
        if taken in cures:  # a complaint may name the one that it wants besides
            cures = {taken: cures[taken]}
            break
    return "".join(
        f" For an endpoint that refuses {field!r}, add to the model's spec: {cure}."
        for field, cure in cures.items()
        if field not in ("model", "messages")
    )


def excerpt(data: bytes, secret: str) -> str:
    """A server's complaint, short, printable, and never with the key that it may have echoed."""
    text = data[:_LOOKED_AT].decode("utf-8", "replace")
    if secret:
        text = text.replace(secret, "(key)")
    return "".join(c for c in text if c.isprintable())[:300]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to be left alone, within bounds; None if it does not say."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        when = cast("Any", email.utils.parsedate_to_datetime)
        try:
            seconds = when(text).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return min(max(seconds, 0.0), LONGEST_WAIT) if seconds == seconds else None


_CURES = {
    "max_tokens": "max_tokens_field=max_completion_tokens",
    "max_completion_tokens": "max_tokens_field=max_tokens",
    "temperature": "temperature=none",
}
