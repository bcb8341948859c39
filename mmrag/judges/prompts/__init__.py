"""Prompt templates as files. An undefined variable is an error, never an empty string."""

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any

import jinja2

_MAX_OBJECTS = 100


def render(name: str, **values: Any) -> str:
    """A template filled in."""
    return _template(name).render(**values)


def fingerprint(*names: str) -> str:
    """Short hash of prompt files, for the id of whatever they steer."""
    digest = hashlib.sha256()
    for name in names:
        digest.update((files("mmrag.judges.prompts") / name).read_bytes())
    return digest.hexdigest()[:8]


def case_key(*texts: str) -> str:
    """A key that only this case has. It depends on the untrusted text, so that cannot hold it."""
    joined = "\x1f".join(texts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def last_object(text: str, key: str) -> dict[str, Any] | None:
    """The last JSON object in a model's answer that carries the key."""
    starts = [match.start() for match in re.finditer(r"\{", text)]
    for start in reversed(starts[-_MAX_OBJECTS:]):
        try:
            found: Any = json.JSONDecoder().raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and found.get("key") == key:
            return found
    return None


@lru_cache(maxsize=16)
def _template(name: str) -> jinja2.Template:
    text = (files("mmrag.judges.prompts") / name).read_text(encoding="utf-8")
    # Plain text for a model, not HTML: there is nothing to escape.
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701
        keep_trailing_newline=True,
    )
    return environment.from_string(text)
