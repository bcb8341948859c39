from __future__ import annotations

import json
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from small_index import COLOURS, ColourEncoder, build, coloured, png, scene

from mmrag.errors import ConflictError, DataError, ImageError, StoreError, UsageError
from mmrag.files.atomic import owning
from mmrag.files.images import LazyImage
from mmrag.passages import Chunker
from mmrag.search.image.regions import SMALL
from mmrag.search.index.build import build_index
from mmrag.search.index.chroma import IMAGES, WEB, open_folder
from mmrag.search.index.open import Index, open_index, read_manifests, rebuild_derived, verify_index
from mmrag.search.index.public_package_index import export_index, import_index
from mmrag.search.index.row_table import RowTable, write_rows
from mmrag.search.index.sources import open_source
from mmrag.search.serving.public_package import ImageUrl, UnifiedSearchPipeline
from mmrag.search.web.web_search import Web


def test_every_colour_finds_its_entity(index: Index) -> None:
    pictures = [LazyImage.from_pil(coloured(c)) for c in COLOURS.values()]
    found = index.images.search_images(pictures, 3)
    assert [hits[0].text for hits in found] == list(COLOURS)


def test_regions_find_what_the_whole_picture_hides(index: Index) -> None:
    pictures = [LazyImage.from_pil(scene(c)) for c in COLOURS.values()]
    regions = index.images.search_images(pictures, 3)
    whole = index.images.search_whole(pictures, 3)
    assert [hits[0].text for hits in regions] == list(COLOURS)
    assert [hits[0].text for hits in whole] != list(COLOURS)
    x0, y0, x1, y1 = regions[0][0].attributes["box"]
    assert x0 < 250 < x1
    assert y0 < 310 < y1


def test_a_small_thing_is_looked_at_closer(index: Index) -> None:
    """No square of the first look fits it; the middle of one does."""
    picture = Image.new("RGB", (960, 1280), (128, 128, 128))
    picture.paste(COLOURS["Elm Speaker"], (420, 527, 540, 647))
    hit = index.images.hits([LazyImage.from_pil(picture)], 3)[0][0]
    x0, y0, x1, y1 = hit.region.box
    assert x1 - x0 < SMALL * 960 - 1
    assert x0 < 480 < x1
    assert y0 < 587 < y1


def test_pages_are_found_once_with_their_passage(index: Index, source_folder: Path) -> None:
    hits = index.web.search_text(["how long does the warranty of the Elm Speaker last"], 5)[0]
    assert hits[0].title == "Elm Speaker"
    assert "warranty lasts 11 years" in hits[0].text
    assert len({hit.url for hit in hits}) == len(hits) == 5
    assert hits[0].attributes["end"] - hits[0].attributes["start"] == len(hits[0].text)


@pytest.mark.parametrize("mode", ["dense", "bm25", "hybrid"])
def test_pages_collapse_before_the_cut(index: Index, mode: str) -> None:
    web = Web(index.web.vectors, index.web.rows, index.web.lexical, index.web.encoder, mode=mode)
    assert len(web.search_text(["sentence number says warranty Tessaly Bridge"], 6)[0]) == 6


@pytest.mark.parametrize("text", ["", "   ", "x" * 100_000, "kettle " * 20_000, "\0", "?!", "日本"])
def test_odd_queries_are_answered(index: Index, text: str) -> None:
    hits = index.web.search_text([text], 5)[0]
    assert hits == () if not text.strip() else len(hits) <= 5
    assert all(np.isfinite(hit.score) for hit in hits)


@pytest.mark.parametrize("k", [0, -1, 1001])
def test_impossible_k_is_refused(index: Index, k: int) -> None:
    with pytest.raises(UsageError):
        index.web.search_text(["kettle"], k)
    with pytest.raises(UsageError):
        index.images.search_images([LazyImage.from_pil(coloured((1, 2, 3)))], k)


def test_one_pixel_is_searched_and_nonsense_refused(index: Index) -> None:
    assert index.images.search_images([LazyImage.from_pil(coloured((200, 30, 30), (1, 1)))], 2)[0]
    with pytest.raises(ImageError):
        index.images.search_images([LazyImage.from_bytes(b"no picture")], 2)


def test_eight_callers_get_what_one_gets(index: Index) -> None:
    texts = [f"{name} warranty {i}" for i in range(6) for name in COLOURS]
    pictures = [LazyImage.from_pil(scene(c)) for c in COLOURS.values()] * 4
    alone = [index.web.search_text([t], 5)[0] for t in texts]
    seen = [index.images.search_images([p], 5)[0] for p in pictures]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda t: index.web.search_text([t], 5)[0], texts)) == alone
        assert list(pool.map(lambda p: index.images.search_images([p], 5)[0], pictures)) == seen
    assert index.web.search_text(texts, 5) == alone
    assert index.images.search_images(pictures, 5) == seen


def test_a_broken_picture_is_skipped_and_counted(index_folder: Path) -> None:
    manifest = read_manifests(index_folder)[0]
    assert manifest.rows == len(COLOURS)
    assert "1 skipped" in manifest.source


def test_verify_and_repair(index_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(index_folder, tmp_path / "ix")
    assert verify_index(folder) == []
    data = bytearray((folder / "images/vectors.npy").read_bytes())
    data[-3] ^= 0x55
    (folder / "images/vectors.npy").write_bytes(bytes(data))
    (folder / "web/rows.arrow").unlink()
    assert len(verify_index(folder)) == 2
    assert rebuild_derived(folder) == ["images", "web"]
    assert verify_index(folder) == []
    found = open_index(folder).web.search_text(["Elm Speaker warranty"], 1)[0]
    assert found[0].title == "Elm Speaker"


def test_another_encoder_is_refused_by_name(index_folder: Path) -> None:
    class Other(ColourEncoder):
        id = "other@2"

    with pytest.raises(ConflictError, match=r"colours@1.*other@2"):
        open_index(index_folder, image_encoder=Other())
    with pytest.raises(ConflictError, match=r"web.*words@1.*other@2"):
        open_index(index_folder, text_encoder=Other())


def test_another_build_in_the_same_place_is_refused(
    source_folder: Path, index_folder: Path
) -> None:
    with pytest.raises(ConflictError, match="another build"):
        build_index(open_source(str(source_folder)), index_folder, image_encoder="test-colours",
                    text_encoder="test-words", chunker=Chunker(tokens=32, overlap=8))  # fmt: skip


def test_a_locked_index_is_refused(source_folder: Path, tmp_path: Path) -> None:
    with owning(tmp_path / "ix"), pytest.raises(ConflictError, match="another process"):
        build(source_folder, tmp_path / "ix")


@pytest.mark.parametrize("part", ["images", "web"])
@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_half_written_files_are_refused(
    index_folder: Path, tmp_path: Path, part: str, kept: float
) -> None:
    folder = shutil.copytree(index_folder, tmp_path / "ix")
    names = ["manifest.json", *read_manifests(folder)[part == "web"].files]
    assert len(names) >= 3
    for name in names:
        if name == "words/vocab.index.json":  # bm25s writes it, nobody reads it
            continue
        path = folder / part / name
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * kept)])
        with pytest.raises(StoreError):
            open_index(folder)
        path.write_bytes(whole)
    assert open_index(folder).web.search_text(["kettle"], 1)[0]


def test_a_page_of_fifty_megabytes_is_indexed_by_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    page = "<title>Long</title><p>The Alder Kettle is first.</p><script>" + "x = 1; " * 7_500_000
    (tmp_path / "source/long.html").write_text(page)
    assert (tmp_path / "source/long.html").stat().st_size > 50_000_000
    (tmp_path / "source/short.html").write_text("<p>The Birch Lamp is second.</p>")
    found = open_index(build(tmp_path / "source", tmp_path / "ix")).web
    assert found.search_text(["Alder Kettle"], 1)[0][0].title == "Long"
    assert found.search_text(["Birch Lamp"], 1)[0][0].url == "short.html"


def test_no_index_and_no_source(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no index"):
        open_index(tmp_path)
    with pytest.raises(DataError, match="nothing to index"):
        open_source(str(tmp_path))
    with pytest.raises(DataError, match="no such folder"):
        open_source("./nowhere")


def test_export_and_import_keep_every_answer(
    index: Index, index_folder: Path, tmp_path: Path
) -> None:
    assert export_index(index_folder, tmp_path / "public") == [IMAGES, WEB]
    with open_folder(tmp_path / "public/images", IMAGES) as database:
        row = next(iter(database.read()))
        assert json.loads(row.metadatas[0]["entities"]) == ["Alder Kettle"]
    before = {p: p.read_bytes() for p in (tmp_path / "public").rglob("*") if p.is_file()}
    for part in ("images", "web"):
        import_index(tmp_path / "public" / part, tmp_path / "back", image_encoder="test-colours",
                     text_encoder="test-words")  # fmt: skip
    assert {p: p.read_bytes() for p in (tmp_path / "public").rglob("*") if p.is_file()} == before
    back = open_index(tmp_path / "back")
    text = ["Fir Flag warranty"]
    assert [h.id for h in back.web.search_text(text, 5)[0]] == [
        h.id for h in index.web.search_text(text, 5)[0]
    ]


def test_ids_out_of_order_keep_their_entities(tmp_path: Path) -> None:
    from mmrag.search.index.chroma import Batch

    encoder = ColourEncoder()
    names = list(COLOURS)
    with open_folder(tmp_path / "chroma", IMAGES, create=True) as database:
        for i in (5, 0, 3, 1, 4, 2):
            vectors = encoder.encode_crops([coloured(COLOURS[names[i]])])
            about = {"image_url": f"u{i}", "entities": json.dumps([names[i]]),
                     "info": json.dumps({names[i]: {"n": i}})}  # fmt: skip
            database.add(Batch([str(i)], vectors, [about], [None]))
    import_index(tmp_path / "chroma", tmp_path / "ix", image_encoder="test-colours")
    search = UnifiedSearchPipeline(tmp_path / "ix")
    for i, name in enumerate(names):
        top = search(coloured(COLOURS[name]), k=1)[0]
        assert (top["index"], top["url"]) == (i, f"u{i}")
        assert top["entities"] == [{"entity_name": name, "entity_attributes": {"n": i}}]


def test_text_is_never_fetched_or_opened(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Elm Speaker").write_bytes(png(coloured((200, 30, 30))))

    def no_network(*_: object, **__: object) -> None:
        raise AssertionError("a text was fetched")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    search = UnifiedSearchPipeline(index)
    assert "page_url" in search("Elm Speaker", k=1)[0]
    assert isinstance(search("http://127.0.0.1:9/Elm Speaker.png", k=1), list)
    with pytest.raises(DataError):
        search(ImageUrl("file:///etc/hostname"))
    with pytest.raises(UsageError):
        search(3.5)


def test_what_is_in_the_middle_of_one_ranking_reaches_the_reranker() -> None:
    """Two rankings with nothing in common: the page that one of them has at 36 is the best."""

    class Rows:
        def values(self, _name, rows):
            return [f"https://{row}.example" for row in rows]

        def get(self, rows):
            shared = {"start": 0, "end": 1, "date": ""}
            return [
                {
                    "id": f"{r}",
                    "page_url": f"https://{r}.example",
                    "page_name": f"{r}",
                    "text": f"{r}",
                    **shared,
                }
                for r in rows
            ]

    class Ranking:
        def __init__(self, first):
            self.rows = np.arange(first, first + 300)

        def search(self, query, k):
            scores = np.linspace(1, 0.1, k, dtype=np.float32)
            both = self.rows[:k], scores
            return both if isinstance(query, str) else (both[0][None], both[1][None])

    class Encoder:
        def encode_queries(self, texts):
            return np.ones((len(texts), 2), np.float32)

    class Best:
        def rerank(self, _query, passages):
            return [float("35" in passage.split()) for passage in passages]

    web = Web(Ranking(1000), Rows(), Ranking(0), Encoder(), reranker=Best())
    assert "35" in [hit.id for hit in web.search_text(["anything"], 50)[0]][:10]


# -- rows

COUNT = 20_000


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> RowTable:
    path = tmp_path_factory.mktemp("rows") / "rows.arrow"
    write_rows(
        path, "web",
        ({"id": f"p{i}", "page_url": f"u{i // 3}", "page_name": "", "page_snippet": "", "date": "",
          "start": i, "end": i + 1, "text": f"{i} " * 200} for i in range(COUNT)),
    )  # fmt: skip
    return RowTable.open(path)


@pytest.mark.parametrize("numbers", [[], [0], [COUNT - 1, 0, 4096, 4095, 4095, 12_000]])
def test_rows_come_in_the_order_asked_for(rows: RowTable, numbers: list[int]) -> None:
    found = rows.get(numbers)
    assert [row["id"] for row in found] == [f"p{n}" for n in numbers]
    assert [row["start"] for row in found] == numbers
    assert rows.values("page_url", numbers) == [f"u{n // 3}" for n in numbers]


def test_a_lookup_takes_no_memory_for_the_rows_that_it_does_not_return(rows: RowTable) -> None:
    pool = pa.default_memory_pool()
    before = pool.max_memory()
    rows.get([1, 5000, 9000, 15_000])  # 20 MB of texts lie between them
    rows.values("page_url", range(0, COUNT, 100))
    assert pool.max_memory() - before < 1 << 20


def test_a_row_that_is_not_there_is_an_error(rows: RowTable) -> None:
    with pytest.raises(IndexError):
        rows.get([COUNT])
