"""What a search offers beyond one way is declared, not guessed by name."""

from __future__ import annotations

import ast
from pathlib import Path

from mmrag.cache import Cache, CachedImageSearch, CachedWebSearch
from mmrag.protocols import (
    ImageSearch,
    NearestWebSearch,
    VectorImageSearch,
    WholeImageSearch,
)
from mmrag.records import Evidence
from mmrag.search.image.image_kg import ImageKG
from mmrag.search.memory import MemoryImageSearch, MemoryWebSearch
from mmrag.search.web.web_search import Web

WHOLE = Evidence(source="image-kg", id="w", score=1)
ROOT = Path(__file__).parents[1]


def test_each_search_says_which_ways_it_knows() -> None:
    for kind in (ImageKG, CachedImageSearch):
        assert issubclass(kind, WholeImageSearch)
        assert issubclass(kind, VectorImageSearch)
    assert not issubclass(MemoryImageSearch, VectorImageSearch)
    assert issubclass(Web, NearestWebSearch)
    assert not issubclass(MemoryWebSearch, NearestWebSearch)


def test_a_cache_searches_in_the_way_asked_where_there_is_one() -> None:
    class Ways(MemoryImageSearch):
        def search_whole(self, images, k=30):
            return [(WHOLE,) for _ in images]

    from PIL import Image

    from mmrag.files.images import LazyImage

    picture = LazyImage.from_pil(Image.new("RGB", (8, 8)))
    plain: ImageSearch = MemoryImageSearch({})
    for search, found in ((plain, [(), ()]), (Ways({}), [(), (WHOLE,)])):
        cached = CachedImageSearch(search, "ix", Cache())
        ways = (cached.search_images, cached.search_whole)
        assert [way([picture])[0] for way in ways] == found
    nearest = CachedWebSearch(MemoryWebSearch([]), "ix", Cache()).search_nearest(["kettle"])
    assert nearest == [()]


def test_no_way_of_searching_is_reached_by_its_name() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in ("mmrag", "simulator", "ui")
        for path in (ROOT / package).rglob("*.py")
        if "getattr" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and "search" in ast.unparse(node)
    ]
    assert not wrong, wrong
