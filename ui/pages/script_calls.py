"""What a page's script may ask of the server: one dictionary in, one dictionary out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mmrag.errors import MmragError

Call = Callable[[dict[str, str]], dict[str, Any]]

_LONGEST = 4000
"""Of a value that a page may send; a note is the longest."""


def calls(*methods: Call) -> list[Callable[[Any], dict[str, Any]]]:
    """These methods as Gradio takes functions that scripts call.

    Whatever a browser sends becomes a flat dictionary of bounded texts, and an error that a reader
    can do something about becomes `{"error": ...}` instead of a failed request.
    """
    return [_call(method) for method in methods]


def _call(method: Call) -> Callable[[Any], dict[str, Any]]:
    def call(asked: Any) -> dict[str, Any]:
        given = asked if isinstance(asked, dict) else {}
        texts = {str(k)[:50]: _text(v)[:_LONGEST] for k, v in list(given.items())[:40]}
        try:
            return method(texts)
        except (MmragError, OSError) as error:
            return {"error": str(error)}

    call.__name__ = method.__name__
    return call


def _text(value: Any) -> str:
    if value is None or value is False:
        return ""
    return str(value) if isinstance(value, str | int | float) else ""


def whole(text: str, otherwise: int = 0) -> int:
    """A number from a text that anybody may have written."""
    return int(text) if text.isdecimal() and len(text) < 8 else otherwise
