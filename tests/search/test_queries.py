"""What is asked for: texts and pictures of all sorts, and the public package's call."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from small_index import COLOURS, ColourEncoder, build, coloured

from mmrag.errors import DataError, ImageError, UsageError
from mmrag.files.images import LazyImage
from mmrag.search.image.image_kg import ImageKG
from mmrag.search.image.regions import regions_of
from mmrag.search.index.open import Index, open_index
from mmrag.search.serving.public_package import UnifiedSearchPipeline, fetch
from mmrag.search.web.web_search import HybridWebSearch


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> HybridWebSearch:
    """Six short pages, and a long one that says the same in hundreds of passages."""
    source = tmp_path_factory.mktemp("crowded")
    for i in range(6):
        (source / f"small{i}.txt").write_text(f"A zebra lives at farm {i}.")
    (source / "big.txt").write_text(" ".join(f"zebra quokka item {i}." for i in range(9000)))
    return open_index(build(source, source / "ix")).web


@pytest.mark.parametrize("mode", ["dense", "bm25", "hybrid"])
def test_a_long_page_does_not_crowd_out_the_others(crowded: HybridWebSearch, mode: Any) -> None:
    web = HybridWebSearch(
        crowded.vectors, crowded.rows, crowded.lexical, crowded.encoder, mode=mode
    )
    first, second, nothing = web.search_text(["zebra quokka", "zebra", "unheard"], 5)
    assert len({hit.url for hit in first}) == len({hit.url for hit in second}) == 5
    assert nothing == () or mode != "bm25"
    assert len(web.search_text(["zebra quokka"], 50)[0]) == 7
    if mode == "bm25":
        assert web.search_text(["quokka"], 5)[0][0].url.endswith("big.txt")


def test_room_before_a_query_and_broken_signs_do_not_hide_it(index: Index) -> None:
    plain, roomy, broken = index.web.search_text(
        ["Elm Speaker", " " * 5000 + "Elm Speaker", "Elm Speaker \udce9"], 3
    )
    assert (plain, broken[0].title) == (roomy, "Elm Speaker")


@pytest.mark.parametrize("k", ["5", 2.5, None])
def test_k_is_a_whole_number(index: Index, k: Any) -> None:
    with pytest.raises(UsageError, match="k="):
        index.web.search_text(["kettle"], k)


def test_a_strip_is_not_cut_into_thousands() -> None:
    assert [region.kind for region in regions_of(Image.new("RGB", (32, 100_000)))] == ["whole"]
    assert len(regions_of(Image.new("RGB", (640, 480)))) == 64


def turned(picture: Image.Image) -> bytes:
    """A JPEG that is upright only by what it says of itself."""
    buffer, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6
    picture.rotate(90, expand=True).save(buffer, "JPEG", quality=95, exif=exif)
    return buffer.getvalue()


def test_an_opened_picture_is_seen_like_its_file(index: Index, tmp_path: Path) -> None:
    half = coloured(COLOURS["Alder Kettle"], (96, 192))
    half.paste(COLOURS["Cedar Clock"], (0, 96, 96, 192))
    deep = Image.fromarray(np.linspace(0, 60_000, 96 * 96).reshape(96, 96).astype(np.uint16))
    glass = Image.new("RGBA", (96, 96), (*COLOURS["Fir Flag"], 60))
    search = UnifiedSearchPipeline(index, regions=True)
    (tmp_path / "turned.jpg").write_bytes(turned(half))
    deep.save(tmp_path / "deep.png")
    glass.save(tmp_path / "glass.png")
    for path in sorted(tmp_path.iterdir()):
        assert search(Image.open(path), k=3) == search(path, k=3), path.name


def test_what_is_no_picture_and_no_vector_is_refused(index: Index) -> None:
    search = UnifiedSearchPipeline(index)
    for query in (Image.new("RGB", (0, 0)), Path("a\0b")):
        with pytest.raises(ImageError):
            search(query)
    for vectors in ([np.ones(4), np.ones(3)], [np.array(["a"])], [np.ones(3)]):
        with pytest.raises(DataError):
            search(vectors)


@pytest.fixture
def dripping() -> Iterator[str]:
    """A server that sends the head of an answer letter by letter, without end."""
    listening = socket.create_server(("127.0.0.1", 0))
    gone = threading.Event()

    def serve() -> None:
        client, _ = listening.accept()
        with client:
            client.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not gone.wait(0.02):
                try:
                    client.sendall(b"a")
                except OSError:
                    return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/a.jpg"
    gone.set()
    thread.join(10)
    listening.close()


def test_a_server_that_drips_its_head_is_given_up(dripping: str) -> None:
    with pytest.raises(ImageError, match=r"not there after 0\.3 s"):
        fetch(dripping, seconds=0.3)  # or never: it drips until the test ends


def test_a_picture_of_the_kind_is_still_found(index: Index) -> None:
    red = LazyImage.from_pil(coloured(COLOURS["Alder Kettle"]))
    assert UnifiedSearchPipeline(index)(red, k=1)[0]["entities"][0]["entity_name"] == "Alder Kettle"


def test_scores_begin_at_the_encoders_floor_and_keep_their_order(index: Index) -> None:
    picture = LazyImage.from_pil(Image.new("RGB", (64, 64), (200, 60, 50)))
    kg = index.images
    [plain] = kg.search_images([picture], 3)
    encoder = ColourEncoder()
    encoder.floor = 0.375
    [raised] = ImageKG(kg.vectors, kg.rows, encoder).search_images([picture], 3)
    assert [hit.id for hit in raised] == [hit.id for hit in plain]
    assert [hit.score for hit in raised] == pytest.approx(
        [0.375 + 0.625 * hit.score for hit in plain], abs=1e-5
    )
