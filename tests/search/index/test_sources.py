"""Folders of files as strangers leave them: what cannot be read costs itself and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_index import build, coloured

from mmrag.errors import ConflictError, DataError
from mmrag.search.index.open import open_index, read_manifests
from mmrag.search.index.sources import Source, open_source

RED = (200, 30, 30)


def folder_of(place: Path, **files: str) -> Path:
    """`a_json="{}"` is a file a.json."""
    place.mkdir(exist_ok=True)
    for name, text in files.items():
        (place / name.replace("_", ".")).write_text(text)
    return place


def source_of(place: Path, **files: str) -> Source:
    return open_source(str(folder_of(place, **files)))


def test_plain_text_is_left_as_it_is(tmp_path: Path) -> None:
    text = "if a < b &lt; c: <b>see</b> <title>x</title>"
    for page in source_of(tmp_path, a_txt=text + "  \n\n", b_md=text).pages():
        assert page.text == text
        assert page.title in ("a", "b")


def test_the_title_is_read_in_the_encoding_of_the_page(tmp_path: Path) -> None:
    html = "<meta charset=iso-8859-1><title>Caf\xe9 &amp; more</title><p>text"
    (tmp_path / "a.html").write_bytes(html.encode("latin-1"))
    assert [page.title for page in source_of(tmp_path).pages()] == ["Café & more"]


def test_what_lies_beside_a_picture_and_in_which_folder_is_part_of_the_source(
    tmp_path: Path,
) -> None:
    coloured(RED).save(folder_of(tmp_path / "red") / "a.png")
    marks = [open_source(str(tmp_path)).fingerprint]
    for text in ('{"entity_name": "Alder Kettle"}', '{"entity_name": "Birch Lamp"}  '):
        folder_of(tmp_path / "red", a_json=text)
        marks.append(open_source(str(tmp_path)).fingerprint)
    (tmp_path / "red").rename(tmp_path / "green")
    marks.append(open_source(str(tmp_path)).fingerprint)
    assert len(set(marks)) == 4


def test_another_text_beside_a_picture_is_another_build(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "source", a_json='{"entity_name": "Alder Kettle"}')
    coloured(RED).save(source / "a.png")
    build(source, tmp_path / "ix")
    folder_of(source, a_json='{"entity_name": "Birch"}')
    with pytest.raises(ConflictError, match=r"another build \(source"):
        build(source, tmp_path / "ix")


@pytest.mark.parametrize("mini", ["assets/mini"])
def test_tables_are_marked_by_their_names_sizes_and_times(mini: str) -> None:
    import hashlib

    place = Path(__file__).parents[3] / mini
    digest = hashlib.sha256()
    for name in ("kg.parquet", "pages.parquet"):
        about = (place / name).stat()
        digest.update(f"{name}\0{about.st_size}\0{about.st_mtime_ns}\n".encode())
    assert open_source(str(place)).fingerprint == digest.hexdigest()[:16]


@pytest.mark.parametrize(
    "text", ["5", '["a"]', "null", "{bad", "", "[" * 100_000, "\udcff", '[5, {"entity_name": "b"}]']
)
def test_what_is_no_entity_beside_a_picture_is_ignored(tmp_path: Path, text: str) -> None:
    coloured(RED).save(tmp_path / "a.png")
    (tmp_path / "a.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    found = [p.entities for p in source_of(tmp_path).pictures()]
    assert [[e["entity_name"] for e in entities] for entities in found] == [
        ["b"] if "b" in text and "bad" not in text else ["a"]
    ]


def test_names_that_are_no_utf_8_are_written_out(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "source")
    coloured(RED).save(source / "picture.png")
    try:
        (source / "picture.png").rename(source / os.fsdecode(b"caf\xe9.png"))
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    (source / os.fsdecode(b"th\xe9.txt")).write_text("Tea is made with water.")
    index = open_index(build(source, tmp_path / "ix"))
    assert index.images.rows.get([0])[0]["image_url"] == "caf\\xe9.png"
    assert index.web.search_text(["tea water"], 1)[0][0].url == "th\\xe9.txt"


def test_pages_that_cannot_be_read_or_say_nothing_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = folder_of(tmp_path / "source", a_txt="The Alder Kettle.", b_txt="no", c_txt="  ")
    opened = Path.open

    def refuses(path: Path, *arguments: object, **named: object) -> object:
        if path.name == "b.txt":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "open", refuses)
    build(source, tmp_path / "ix")
    (manifest,) = read_manifests(tmp_path / "ix")
    assert (manifest.rows, manifest.pages) == (1, 1)
    assert "2 skipped" in manifest.source


def test_a_folder_that_cannot_be_listed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", refuses)
    with pytest.raises(DataError, match=r"pages: cannot be read \(Permission denied\)"):
        open_source(str(tmp_path / "pages"))


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    """What an index holds can be asked for by whoever searches it."""
    secret = folder_of(tmp_path / "home", key_txt="my password", about_json='{"entity_name": "x"}')
    coloured(RED).save(secret / "photo.png")
    given = folder_of(tmp_path / "given", own_txt="a text")
    coloured(RED).save(given / "own.png")
    (given / "key.txt").symlink_to(secret / "key.txt")
    (given / "photo.png").symlink_to(secret / "photo.png")
    (given / "own.json").symlink_to(secret / "about.json")
    (given / "more").symlink_to(secret)
    (given / "again.txt").symlink_to(given / "own.txt")  # within the folder it may lead
    source = open_source(str(given))
    assert [page.url for page in source.pages()] == ["again.txt", "own.txt"]
    assert [p.url for p in source.pictures()] == ["own.png"]
    assert [p.entities[0]["entity_name"] for p in source.pictures()] == ["own"]
    assert (source.picture_count, source.page_count) == (1, 2)


def test_tables_behind_links_out_of_the_folder_are_not_there(tmp_path: Path) -> None:
    kept, given = folder_of(tmp_path / "home"), folder_of(tmp_path / "given")
    pq.write_table(pa.table({"html": ["<p>a secret</p>"]}), kept / "pages.parquet")
    assert open_source(str(kept)).page_count == 1
    (given / "pages.parquet").symlink_to(kept / "pages.parquet")
    with pytest.raises(DataError, match="nothing to index"):
        open_source(str(given))


def test_a_snapshot_of_the_hub_is_links_to_its_own_files(tmp_path: Path) -> None:
    snapshot = tmp_path / "datasets--a--b" / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    blobs = folder_of(tmp_path / "datasets--a--b" / "blobs", one_txt="a text")
    (snapshot / "page.txt").symlink_to(blobs / "one.txt")
    assert [page.url for page in open_source(str(snapshot)).pages()] == ["page.txt"]
