"""The text of search results that the 2026 kit puts into `rag_context_list`, one for each query."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mmrag.errors import SpecError
from mmrag.search.serving.public_package import UnifiedSearchPipeline

if TYPE_CHECKING:
    from PIL.Image import Image

Context = Callable[[str, "Image"], str]
"""(question, picture) → text."""

_PICTURES, _LIKE, _PICTURE_ROOM = 30, 0.75, 8_000
_PAGES, _PAGE_ROOM = 50, 32_000
"""The kit's: results asked for, score above which a picture counts, characters."""


def context_builder(pipeline: UnifiedSearchPipeline) -> Context:
    """The kit's own builder, where its folder is on PYTHONPATH: the same to the character.

    Elsewhere a text of the same shape and limits in our words: the kit's may not be copied.
    """
    theirs = _theirs()
    if theirs is None:
        return lambda question, picture: _ours(question, picture, pipeline)
    return lambda question, picture: theirs(
        question,
        picture,
        pipeline,
        image_search=pipeline.image_search,
        web_search=pipeline.web_search,
        full_query="",
    )


def _theirs() -> Callable[..., str] | None:
    try:
        module = importlib.import_module("utils.retriever")
    except ModuleNotFoundError as error:
        if error.name in ("utils", "utils.retriever"):
            return None
        raise SpecError(
            f"rag_context=on: the kit's utils/retriever.py needs {error.name!r}, which is not "
            "installed here."
        ) from error
    except Exception as error:  # whatever somebody else's module does when it is imported
        raise SpecError(
            f"rag_context=on: importing the kit's utils/retriever.py failed with "
            f"{type(error).__name__}: {error}."
        ) from error
    return getattr(module, "get_rag_context", None)


def _ours(question: str, picture: Image, pipeline: UnifiedSearchPipeline) -> str:
    if not pipeline.image_search and not pipeline.web_search:
        return ""
    parts: list[str] = []
    if pipeline.image_search:
        hits = pipeline(picture, k=_PICTURES)
        parts += _about_pictures([hit for hit in hits if hit["score"] > _LIKE])
    if pipeline.web_search:
        parts += _about_pages(pipeline(question, k=_PAGES), question)
    return f"<search results>{''.join(parts)}</search results>"


def _about_pictures(hits: Sequence[Mapping[str, Any]]) -> list[str]:
    known: dict[str, Any] = {}
    for hit in hits:
        for entity in hit["entities"]:
            known.setdefault(entity["entity_name"], entity["entity_attributes"])
    if not known:
        return []
    parts = [f"Things that look like what the picture shows: {', '.join(known)}.\n\n"]
    number = 0
    for name, attributes in known.items():
        if not attributes:
            continue
        shown = json.dumps(attributes, indent=2, ensure_ascii=False, default=str)
        if sum(map(len, parts)) + len(shown) < _PICTURE_ROOM:
            number += 1
            parts.append(f"Entity {number}: {name}\nEntity attributes: {shown}\n\n")
    return [*parts, "Use these only if you are sure that one of them is in the picture.\n\n"]


def _about_pages(pages: Sequence[Mapping[str, Any]], question: str) -> list[str]:
    parts: list[str] = []
    for page in pages:
        if not page["page_snippet"]:
            continue
        if sum(map(len, parts)) + len(page["page_snippet"]) >= _PAGE_ROOM:
            break
        parts.append(
            f"<DOC>\nWebpage ID: [{len(parts) + 1}]\nTitle: {page['page_name']}\n"
            f"Web content snippet: {page['page_snippet']}\n</DOC>\n\n"
        )
    if not parts:
        return []
    return [
        f'What a search of the web found for "{question}":\n\n',
        *parts,
        "Use these only if you are sure that they answer the question.\n\n",
    ]
