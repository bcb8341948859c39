"""What agents of the public kits see of our searches: what the public package would show."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from small_index import COLOURS, ColourEncoder, WordEncoder, coloured, png

from mmrag.agents.own.kits import SearchPipeline
from mmrag.cache import Cache, share
from mmrag.encoders import image_encoders, text_encoders
from mmrag.errors import UsageError
from mmrag.protocols import Resources
from mmrag.search.image.image_kg import ImageKG
from mmrag.search.index.chroma import IMAGES, WEB, Batch, open_folder
from mmrag.search.index.open import Index, open_index
from mmrag.search.index.public_package_index import PUBLISHED, import_index, in_full_precision
from mmrag.search.serving.public_package import UnifiedSearchPipeline

PASSAGES = {
    "https://a.example/x_chunk_0": "kettle copper spout",
    "https://a.example/x_chunk_1": "kettle copper spout lid",
    "https://b.example/y_chunk_0": "kettle lamp",
    "https://c.example/z_chunk_7": "clock tower bell",
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A folder as the public package's builder writes it, imported."""
    place = tmp_path_factory.mktemp("published")
    with open_folder(place / "chroma", WEB, create=True) as database:
        about = [
            {"page_name": f"Page {i[8]}", "page_snippet": f"Snippet of {i[8]}.",
             "page_url": i.split("_chunk_")[0]} for i in PASSAGES
        ]  # fmt: skip
        database.add(
            Batch(list(PASSAGES), WordEncoder().encode(list(PASSAGES.values())), about, [None] * 4)
        )
    with open_folder(place / "chroma", IMAGES, create=True) as database:
        vectors = ColourEncoder().encode_crops([coloured(c) for c in COLOURS.values()])
        rows = [
            {
                "image_url": f"u{i}",
                "entities": json.dumps([name]),
                "info": json.dumps({name: {"n": i}}),
            }
            for i, name in enumerate(COLOURS)
        ]
        database.add(Batch([str(i) for i in range(len(rows))], vectors, rows, [None] * len(rows)))
    import_index(place / "chroma", place / "ix", image_encoder="test-colours",
                 text_encoder="test-words")  # fmt: skip
    return open_index(place / "ix")


@pytest.fixture(params=["index", "resources", "cached"])
def search(request: pytest.FixtureRequest, published: Index) -> UnifiedSearchPipeline:
    """The same call however it is come by."""
    if request.param == "index":
        return UnifiedSearchPipeline(published)
    resources = Resources(image_search=published.images, web_search=published.web)
    if request.param == "cached":
        resources = share(resources, Cache(), id="x")
    return SearchPipeline(resources)


def cosine(query: str, passage: str) -> float:
    one, other = WordEncoder().encode([query, passage])
    return float(one @ other)


def test_pages_come_by_cosine_with_the_ids_and_snippets_of_the_index(
    search: UnifiedSearchPipeline,
) -> None:
    found = search("kettle copper", k=4)
    wanted = ["https://a.example/x_chunk_0", "https://b.example/y_chunk_0",
              "https://c.example/z_chunk_7"]  # fmt: skip
    assert [page["index"] for page in found] == wanted
    for page in found:
        wanted_score = cosine("kettle copper", PASSAGES[page["index"]])
        assert page["score"] == pytest.approx(wanted_score, abs=1e-6)
    assert found[0]["score"] > 0.75
    assert found[0] | {"score": 0} == {
        "index": "https://a.example/x_chunk_0", "score": 0, "page_name": "Page a",
        "page_snippet": "Snippet of a.", "page_url": "https://a.example/x",
    }  # fmt: skip


def test_k_counts_passages_before_they_are_collapsed_to_pages(
    search: UnifiedSearchPipeline,
) -> None:
    assert len(search("kettle copper", k=2)) == 1  # both nearest passages are of one page


def test_five_results_unless_told(search: UnifiedSearchPipeline) -> None:
    assert len(search(coloured((200, 30, 30)))) == 5
    assert [page["page_url"][8] for page in search("kettle copper")] == ["a", "b", "c"]


def test_lists_and_embeddings(search: UnifiedSearchPipeline, tmp_path: Path) -> None:
    picture = coloured((30, 180, 40))
    vector = ColourEncoder().encode_crops([picture])
    by_picture = search(picture, k=2)
    assert set(by_picture[0]) == {"index", "score", "url", "entities"}
    (tmp_path / "x.png").write_bytes(png(picture))
    assert search(tmp_path / "x.png", k=2) == search(png(picture), k=2) == by_picture
    assert by_picture[0]["index"] == 1
    assert by_picture[0]["score"] == pytest.approx(1, abs=1e-5)
    assert search(vector[0] * 7, k=2) == search(vector, k=2) == by_picture
    assert search([picture, "kettle copper", vector], k=2) == [
        by_picture, search("kettle copper", k=2), by_picture,
    ]  # fmt: skip
    assert search([]) == []


def test_whether_the_web_can_be_searched(published: Index) -> None:
    both = Resources(image_search=published.images, web_search=published.web)
    assert SearchPipeline(both).web_search is True
    task1 = SearchPipeline(Resources(image_search=published.images))
    assert task1.web_search is False
    with pytest.raises(UsageError, match="web pages"):
        task1("kettle")
    assert len(task1(coloured((1, 2, 3)), k=3)) == 3
    with pytest.raises(UsageError, match="pictures"):
        SearchPipeline(Resources())(coloured((1, 2, 3)))


def test_a_whole_picture_is_encoded_as_it_is(published: Index) -> None:
    """The public package hands it to its encoder so; a smaller copy moves the cosine."""
    seen: list[tuple[int, int]] = []

    class Watched(ColourEncoder):
        def encode_crops(self, crops):
            seen.extend(crop.size for crop in crops)
            return super().encode_crops(crops)

    images = ImageKG(published.images.vectors, published.images.rows, Watched())
    pipeline = SearchPipeline(Resources(image_search=images))
    assert pipeline(Image.new("RGB", (960, 1280), (40, 60, 210)), k=1)[0]["url"] == "u2"
    assert seen == [(960, 1280)]


def test_the_default_encoders_of_imports_keep_32_bits() -> None:
    assert in_full_precision(image_encoders, PUBLISHED["images"]) == (
        "open-clip:model=ViT-L-14-336,precision=full,weights=openai"
    )
    assert in_full_precision(text_encoders, PUBLISHED["web"]) == (
        "transformers:model=BAAI/bge-large-en-v1.5,pooling=official,precision=full"
    )
    assert in_full_precision(text_encoders, "minilm:precision=auto") == "minilm:precision=auto"
    assert in_full_precision(text_encoders, "test-words") == "test-words"


def test_a_named_encoder_of_an_import_keeps_32_bits(tmp_path: Path) -> None:
    with open_folder(tmp_path / "chroma", WEB, create=True) as database:
        rows = np.eye(2, 384, dtype=np.float32)
        about = [{"page_name": "p", "page_snippet": "s", "page_url": f"u{i}"} for i in range(2)]
        database.add(Batch(["u0_chunk_0", "u1_chunk_0"], rows, about, [None, None]))
    made = import_index(tmp_path / "chroma", tmp_path / "ix", text_encoder="minilm")
    assert made[0].encoder_spec == "minilm:precision=full"
