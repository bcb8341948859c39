"""CRUD-RAG's news: files of articles, one a line, as they are published (`80000_docs`).

An article is known by what it says, so that the copy in a question's row and the one in a file have
the same name, whatever blanks are between their words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mmrag.search.index.page_text import Page

_MOST = 1 << 20
"""Bytes of a line that are read; the published articles have some thousand."""

_NAME = re.compile(r"documents_\w+(?:\.txt)?_part_\d+(?:_part_\d+)?")


def article_name(text: str) -> str:
    """The name of an article, by its content."""
    plain = "".join(text.split()).encode("utf-8", "surrogatepass")
    return f"article-{hashlib.sha256(plain).hexdigest()[:16]}"


def is_article_file(path: Path) -> bool:
    """Whether a file has the name of a published file of articles."""
    return _NAME.fullmatch(path.name) is not None


def holds_crud_articles(folder: Path) -> bool:
    """Whether files of articles lie in a folder."""
    return any(is_article_file(path) and path.is_file() for path in folder.rglob("documents_*"))


def count_articles(files: Sequence[Path]) -> int:
    """How many lines there are that are not blank."""
    return sum(1 for _ in _lines(files))


def article_pages(files: Sequence[Path], first: int = 0) -> Iterator[Page]:
    """The articles from one on. One that stood there before has no text, and is skipped."""
    seen: set[str] = set()
    for row, text in enumerate(_lines(files)):
        name = article_name(text)
        known = name in seen
        seen.add(name)
        if row >= first:
            yield Page(url=name, text="" if known else text, snippet=text[:200])


def _lines(files: Sequence[Path]) -> Iterator[str]:
    for path in files:
        with path.open("rb") as file:
            while line := file.readline(_MOST):
                if text := line.decode("utf-8", "replace").strip():
                    yield text
