"""Searches of what a team has already, where it lives: `--search chroma:collection=docs,host=db`.

Each is a factory of a spec's options that gives a `WebSearch` with a `fingerprint`. Other packages
add theirs by the entry-point group `mmrag.searches`. Passwords and tokens come from the
environment, so that no run keeps them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from mmrag.errors import SpecError
from mmrag.files.http_bodies import ASK_PLAIN
from mmrag.protocols import WebSearch
from mmrag.records import Evidence
from mmrag.registry import Registry, split_options

TOKEN = "MMRAG_SEARCH_TOKEN"  # noqa: S105 - the name of a variable


class ExternalSearch(WebSearch, Protocol):
    """A search of pages that others keep."""

    @property
    def fingerprint(self) -> str:
        """Of what is searched, as far as it can be told; compared when a run is resumed."""
        ...


searches: Registry[ExternalSearch] = Registry(
    "search",
    group="mmrag.searches",
    builtin={
        "chroma": "mmrag.search.external.chroma_collection:make",
        "http": "mmrag.search.external.http_search:make",
        "mcp": "mmrag.search.external.mcp_search:make",
        "pgvector": "mmrag.search.external.pgvector:make",
    },
)


def is_external_search(search: str) -> bool:
    """Whether what stands after `--search` is such a spec and no folder."""
    name, colon, _ = search.partition(":")
    return bool(colon) and not Path(search).exists() and name in searches.names()


def parse_where(where: str) -> dict[str, str]:
    """`where=(lang=en,kind=manual)` as what rows have to equal.

    >>> parse_where("lang=en,kind=manual")
    {'lang': 'en', 'kind': 'manual'}
    """
    found: dict[str, str] = {}
    for part in filter(None, split_options(where)):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise SpecError(f"where=({where}): write where=(column=value,column=value).")
        found[name.strip()] = value.strip()
    return found


def row_evidence(row_id: object, score: float, text: object, about: Mapping[str, Any]) -> Evidence:
    """A row as evidence; its page is known by the usual names of such fields."""

    def first(*names: str) -> str:
        return next((str(about[name]) for name in names if about.get(name)), "")

    return Evidence(
        source="web",
        id=str(row_id),
        score=round(float(score), 6),
        text=str(text or first("text", "content", "page_snippet")),
        title=first("title", "page_name", "name"),
        url=first("url", "page_url", "source"),
        date=first("date", "published") or None,
    )


def evidence(hit: Mapping[str, Any]) -> Evidence:
    """A passage as servers write them in JSON; without an id it is known by what it says."""
    ids = (hit.get("id"), hit.get("url"), fingerprint_of(*hit.values()))
    row_id = next(known for known in ids if known not in (None, ""))
    score = hit.get("score")
    number = score if isinstance(score, int | float) else 0.0
    return row_evidence(row_id, number, hit.get("text"), hit)


def headers() -> dict[str, str]:
    """Of a request for a search over HTTP: plain bytes, and the token that the environment has."""
    token = os.environ.get(TOKEN)
    return {**ASK_PLAIN, **({"authorization": f"Bearer {token}"} if token else {})}


def fingerprint_of(*words: object) -> str:
    """A short hash of what tells one collection from another."""
    return hashlib.sha256("\0".join(map(str, words)).encode()).hexdigest()[:16]
