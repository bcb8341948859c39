"""The searches, models and tools that a run's agent may use, and the index behind them."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import UsageError
from mmrag.protocols import Resources, WebSearch
from mmrag.search.external import is_external_search
from mmrag.search.session_passages import KEPT

if TYPE_CHECKING:
    from mmrag.encoders.vector_cache import EmbeddingCache
    from mmrag.passages import PassageOptions


def make_resources(
    data: str,
    folder: Path | None,
    *,
    elsewhere: str = "",
    tools: str = "none",
    seed: int = 0,
    progress: bool = True,
    kept: int = KEPT,
) -> tuple[Resources, str | None]:
    """What agents may use: a search of the index in `folder`, models, tools; its fingerprint too.

    A folder of news articles is searched by words, without an index on the disk; `elsewhere` is
    the spec of a search that others keep.

    `kept` sessions stay indexed where sessions bring their passages and an agent cuts them anew.
    """
    from mmrag.models import models
    from mmrag.passages import PassageOptions
    from mmrag.search.index.articles import holds_crud_articles
    from mmrag.search.index.sources import open_source
    from mmrag.search.session_passages import SessionSearch
    from mmrag.search.web.lexical_search import LexicalPageSearch
    from simulator.datasets import may_bring_passages, reads_an_index_alone
    from simulator.parts.toolboxes import NO_TOOLS, toolboxes

    brings = may_bring_passages(data) and not (folder and reads_an_index_alone(data))
    articles = folder is not None and holds_crud_articles(folder)
    source = folder if articles else world_of(data)
    pages = partial(search_cut_pages, source, brings=brings, progress=progress, kept=kept)
    made = Resources(model=models.create, seed=seed)
    index = web = None
    if folder is not None and articles:
        news = open_source(str(folder.absolute()))
        web, index = LexicalPageSearch(news.pages, PassageOptions().chunker), news.fingerprint
    elif folder is not None:
        from mmrag.search.index.open import open_index

        found = open_index(folder.absolute())  # an agent may change the working directory
        made.image_search, web, index = found.images, found.web, found.fingerprint
    elif elsewhere:
        from mmrag.search.external import searches

        web = searches.create(elsewhere)
        index = web.fingerprint
    made.web_search = SessionSearch(web) if brings else web
    made.pages = pages if brings or folder is not None else None
    if tools != NO_TOOLS:
        box = toolboxes.create(tools)
        made.tools = box.tools
        index = f"{index} {box.fingerprint}" if index else box.fingerprint
    return made, index


def search_cut_pages(
    folder: Path | None,
    how: PassageOptions,
    *,
    brings: bool = False,
    progress: bool = True,
    kept: int = KEPT,
) -> WebSearch:
    """Pages of a world or of news, and those that sessions bring, cut and ranked as `how` says.
    Each way of cutting is indexed once, in the cache folder; no text is encoded twice."""
    from mmrag.encoders import text_encoders
    from mmrag.encoders.vector_cache import CachedTextEncoder
    from mmrag.search.session_passages import SessionSearch

    web = None if folder is None else _cut_index(folder, how, progress=progress)
    if not brings:
        if web is None:
            raise UsageError(
                "there are no pages here to be cut another way: chunk, overlap, embedder and "
                "retriever are for worlds, for data that brings passages, and for --search FOLDER "
                "of news articles (an index is cut already)."
            )
        return web
    dense = how.mode != "bm25"
    encoder = (
        CachedTextEncoder(text_encoders.create(how.embedder), shipped_vectors()) if dense else None
    )
    return SessionSearch(web, how, encoder, kept=kept)


def world_of(data: str) -> Path | None:
    """The folder of the world that the data is, if it is one."""
    from simulator.datasets import reader_of
    from simulator.world.sessions import mini_folder

    reader, place = reader_of(data)
    if reader != "world":
        return None
    return mini_folder() if place == "mini" else Path(place)


def _cut_index(folder: Path, how: PassageOptions, *, progress: bool) -> WebSearch | None:
    from mmrag.encoders import text_encoders
    from mmrag.search.index.build import build_index
    from mmrag.search.index.open import open_index
    from mmrag.search.index.sources import open_source
    from mmrag.search.web.lexical_search import LexicalPageSearch
    from simulator.terminal.interruption import interruptible
    from simulator.terminal.progress import progress_bars

    source = open_source(str(folder))._replace(picture_count=0)
    if how.retriever == "bm25":
        return LexicalPageSearch(source.pages, how.chunker)
    parts = (
        source.fingerprint,
        text_encoders.create(how.embedder).id,
        f"{how.chunk}/{how.overlap}",
    )
    key = hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:24]
    place = cache_folder() / "indexes" / f"cut-{key}"
    with (
        interruptible("what was built of the search index"),
        progress_bars(shown=progress) as advance,
    ):
        build_index(
            source, place, text_encoder=how.embedder, chunker=how.chunker,
            cache=shipped_vectors(), on_progress=advance,
        )  # fmt: skip
    reranker = "builtin" if how.reranks else "off"
    return open_index(place.absolute(), mode=how.mode, reranker=reranker).web


def index_folder(data: str, search: str, *, progress: bool = True) -> Path | None:
    """The index that `search` means; `auto` builds a world's own index when it is first needed."""
    if search == "none" or is_external_search(search):
        return None
    if search != "auto":
        return Path(search)
    folder = world_of(data)
    if folder is None:  # others bring no pages to search
        return None
    own = folder / "index"
    if own.is_dir():
        return own
    from mmrag.encoders import image_encoders, text_encoders
    from mmrag.search.image.views import KIND as VIEWS
    from mmrag.search.index.build import build_index
    from mmrag.search.index.sources import open_source
    from simulator.parts import shipped_index
    from simulator.terminal.interruption import interruptible
    from simulator.terminal.progress import progress_bars

    if shipped_index.is_index_of(folder):
        return shipped_index.FOLDER
    source = open_source(str(folder))
    made_of = (
        source.fingerprint,
        image_encoders.create("builtin").id,
        text_encoders.create("minilm").id,
        VIEWS,
    )
    key = hashlib.sha256("\x00".join(made_of).encode()).hexdigest()[:24]
    place = cache_folder() / "indexes" / key
    with (
        interruptible("what was built of the search index"),
        progress_bars(shown=progress) as advance,
    ):
        build_index(source, place, cache=shipped_vectors(), on_progress=advance)
    return place


def shipped_vectors() -> EmbeddingCache:
    """Vectors made before, those of the mini world among them: encoding its pages takes minutes."""
    from mmrag.encoders.vector_cache import EmbeddingCache
    from simulator.parts.shipped_index import vectors

    return EmbeddingCache(cache_folder() / "vectors.sqlite", vectors())


def cache_folder() -> Path:
    """Where what can be made again is kept: `$XDG_CACHE_HOME/mmrag`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mmrag"
