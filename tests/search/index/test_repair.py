"""Indexes that were damaged, taken over or written out: faults are found, named and mended."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest
from small_index import COLOURS, ColourEncoder, WordEncoder, build, coloured

from mmrag.encoders import text_encoders
from mmrag.errors import ConflictError, DataError, StoreError, UsageError
from mmrag.files.atomic import file_sha256, lock_folder
from mmrag.files.images import LazyImage
from mmrag.search.index import public_package_index
from mmrag.search.index.chroma import IMAGES, WEB, Batch, open_folder
from mmrag.search.index.index_manifest import write_manifest
from mmrag.search.index.open import (
    open_index,
    read_manifests,
    rebuild_derived,
    verify_index,
)
from mmrag.search.index.public_package_index import export_index, import_index
from mmrag.search.index.row_table import RowTable, write_rows


def damaged(index_folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(index_folder, tmp_path / "damaged")


def published(folder: Path, lengths: float = 7.0) -> Path:
    """Pictures whose vectors are not of length 1: Chroma does not mind, and finds by angle."""
    vectors = ColourEncoder().encode_crops([coloured(c) for c in COLOURS.values()])
    about = [{"image_url": name, "entities": json.dumps([name])} for name in COLOURS]
    with open_folder(folder, IMAGES, create=True) as database:
        scale = np.linspace(1, lengths, len(vectors), dtype=np.float32)[:, None]
        names = [str(i) for i in range(len(vectors))]
        database.add(Batch(names, vectors * scale, about, [None] * len(vectors)))
    return folder


def pages(folder: Path, **about: object) -> Path:
    data = {"page_url": "u", "page_name": "Alder Kettle", "page_snippet": "s", **about}
    with open_folder(folder, WEB, create=True) as database:
        vectors = WordEncoder().encode(["It boils."])
        database.add(Batch(["u_chunk_0"], vectors, [data], ["It boils."]))
    return folder


def test_a_repaired_import_scores_by_cosine(tmp_path: Path) -> None:
    import_index(published(tmp_path / "chroma"), tmp_path / "ix", image_encoder="test-colours")
    asked = [LazyImage.from_pil(coloured(c)) for c in COLOURS.values()]
    before = open_index(tmp_path / "ix").images.search_whole(asked, 6)
    mark = read_manifests(tmp_path / "ix")[0].fingerprint
    (tmp_path / "ix/images/vectors.npy").unlink()
    assert rebuild_derived(tmp_path / "ix") == ["images"]
    assert open_index(tmp_path / "ix").images.search_whole(asked, 6) == before
    assert read_manifests(tmp_path / "ix")[0].fingerprint == mark


def test_rows_that_are_not_of_length_one_are_found_and_mended(
    index_folder: Path, tmp_path: Path
) -> None:
    folder = damaged(index_folder, tmp_path)
    (manifest,) = [m for m in read_manifests(folder) if m.part == "images"]
    place = folder / "images"
    np.save(place / "vectors.npy", np.load(place / "vectors.npy") * np.float32(3))
    files = {**manifest.files, "vectors.npy": file_sha256(place / "vectors.npy")}
    write_manifest(place, msgspec.structs.replace(manifest, files=files))
    (said,) = verify_index(folder)
    assert "not of length 1" in said
    assert rebuild_derived(folder) == ["images"]
    assert verify_index(folder) == []


def test_a_text_that_differs_from_chroma_is_found(index_folder: Path, tmp_path: Path) -> None:
    folder = damaged(index_folder, tmp_path)
    with open_folder(folder / "web/chroma", WEB) as database:
        batch = next(iter(database.read()))
        texts = ["another text", *batch.documents[1:]]
        database.add(Batch(batch.ids, batch.vectors, batch.metadatas, texts))
    (said,) = verify_index(folder)
    assert "differ from those in Chroma" in said


def test_a_repair_beside_a_builder_is_refused(index_folder: Path, tmp_path: Path) -> None:
    folder = damaged(index_folder, tmp_path)
    (folder / "images/vectors.npy").unlink()
    with lock_folder(folder), pytest.raises(ConflictError, match="another process"):
        rebuild_derived(folder)
    with pytest.raises(StoreError, match="no index here"):
        rebuild_derived(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_words_of_another_index_are_refused(index_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/a.txt").write_text("The Alder Kettle boils.")
    folder = damaged(index_folder, tmp_path)
    other = build(tmp_path / "source", tmp_path / "other")
    shutil.rmtree(folder / "web/words")
    shutil.copytree(other / "web/words", folder / "web/words")
    with pytest.raises(StoreError, match="verify --repair"):
        open_index(folder)
    assert rebuild_derived(folder) == ["web"]
    assert open_index(folder).web.search_text(["Elm Speaker"], 1)[0][0].title == "Elm Speaker"


def test_a_row_that_is_no_text_any_more_is_named(tmp_path: Path) -> None:
    row = {"id": "1", "image_url": "u" * 1000, "entities": "[]", "info": "{}"}
    write_rows(tmp_path / "rows.arrow", "images", [row])
    data = (tmp_path / "rows.arrow").read_bytes()
    (tmp_path / "rows.arrow").write_bytes(data.replace(b"u" * 1000, b"u" * 500 + b"\xff" * 500))
    rows = RowTable.open(tmp_path / "rows.arrow")
    for read in (lambda: rows.get([0]), lambda: rows.values("image_url", [0])):
        with pytest.raises(StoreError, match=r"rows.arrow: .*verify --repair"):
            read()


def test_vectors_of_another_length_are_not_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public_package_index, "image_encoders", text_encoders)
    source = published(tmp_path / "chroma")
    with pytest.raises(UsageError, match=r"have 4 numbers, those of 'test-words'.*--image-encoder"):
        import_index(source, tmp_path / "ix", image_encoder="test-words")
    monkeypatch.undo()
    import_index(source, tmp_path / "ix", image_encoder="test-colours")


@pytest.mark.parametrize("start", ["abc", float("inf"), True, ""])
def test_an_odd_place_of_a_passage_costs_only_itself(tmp_path: Path, start: object) -> None:
    source = pages(tmp_path / "chroma", start=start, end="x")
    import_index(source, tmp_path / "ix", text_encoder="test-words")
    row = open_index(tmp_path / "ix").web.rows.get([0])[0]
    assert (row["start"], row["end"], row["text"]) == (start is True, 9, "It boils.")
    assert verify_index(tmp_path / "ix") == []


def test_an_import_that_broke_off_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise StoreError("disk full")

    source = pages(tmp_path / "chroma")
    monkeypatch.setattr(public_package_index, "make_manifest", full)
    with pytest.raises(StoreError, match="disk full"):
        import_index(source, tmp_path / "ix", text_encoder="test-words")
    monkeypatch.undo()
    assert [p.name for p in (tmp_path / "ix").iterdir()] == [".lock"]
    import_index(source, tmp_path / "ix", text_encoder="test-words")
    with pytest.raises(ConflictError, match="is there already"):
        import_index(source, tmp_path / "ix", text_encoder="test-words")


def test_an_import_into_its_own_source_is_refused(tmp_path: Path) -> None:
    source = pages(tmp_path / "chroma")
    for out in (source, source / "ix", source / "new" / ".." / "ix"):
        with pytest.raises(UsageError, match="only read"):
            import_index(source, out, text_encoder="test-words")


def test_a_source_that_cannot_be_copied_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(source: Path, copy: Path) -> None:
        copy.mkdir()
        raise shutil.Error([(str(source / "x"), str(copy / "x"), "Permission denied")])

    source = pages(tmp_path / "chroma")
    monkeypatch.setattr(shutil, "copytree", refuses)
    with pytest.raises(DataError, match="cannot be copied"):
        import_index(source, tmp_path / "ix", text_encoder="test-words")
    assert [p.name for p in (tmp_path / "ix").iterdir()] == [".lock"]


@pytest.mark.parametrize("place", ["file", "file/below", "locked"])
def test_a_folder_that_cannot_be_written_is_named(
    index_folder: Path, tmp_path: Path, place: str
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "locked/.lock").mkdir(parents=True)  # as if it were not writable
    with pytest.raises(UsageError, match="choose another"), lock_folder(tmp_path / place):
        pass
    if place != "locked":
        with pytest.raises(UsageError, match="choose another"):
            export_index(index_folder, tmp_path / place)
    else:
        with pytest.raises(ConflictError, match="not empty"):
            export_index(index_folder, tmp_path / place)


@pytest.mark.parametrize(
    "name", ["images/manifest.json", "images/vectors.npy", "web/rows.arrow", "web/words/rarity.npy"]
)
def test_building_again_mends_what_is_broken(
    source_folder: Path, index_folder: Path, tmp_path: Path, name: str
) -> None:
    folder = damaged(index_folder, tmp_path)
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2])
    other = "web" if name.startswith("images") else "images"
    kept = (folder / other / "manifest.json").stat().st_mtime_ns
    build(source_folder, folder)
    assert (folder / other / "manifest.json").stat().st_mtime_ns == kept
    assert verify_index(folder) == []
    assert [m.fingerprint for m in read_manifests(folder)] == [
        m.fingerprint for m in read_manifests(index_folder)
    ]


def test_a_broken_manifest_names_the_command_that_mends_it(
    index_folder: Path, tmp_path: Path
) -> None:
    folder = damaged(index_folder, tmp_path)
    (folder / "images/manifest.json").write_text("{")
    with pytest.raises(StoreError, match="run the same `mmrag index build` again"):
        rebuild_derived(folder)
    (folder / "images/build.json").unlink()
    with pytest.raises(StoreError, match=r"delete .*images and run the same `mmrag index import`"):
        rebuild_derived(folder)


def test_a_build_does_not_take_an_imported_index_for_its_own(
    source_folder: Path, tmp_path: Path
) -> None:
    import_index(published(tmp_path / "chroma"), tmp_path / "ix", image_encoder="test-colours")
    with pytest.raises(ConflictError, match="not built here"):
        build(source_folder, tmp_path / "ix")
    assert verify_index(tmp_path / "ix") == []


def test_a_plan_that_cannot_be_read_is_named(
    source_folder: Path, index_folder: Path, tmp_path: Path
) -> None:
    folder = damaged(index_folder, tmp_path)
    for text in ("", '{"source": ', "5"):
        (folder / "images/build.json").write_text(text)
        with pytest.raises(StoreError, match=r"build.json: cannot be read .*Delete .*images and"):
            build(source_folder, folder)
    shutil.rmtree(folder / "images")
    (folder / "images").write_text("a file")
    with pytest.raises(UsageError, match="choose another"):
        build(source_folder, folder)


def test_an_index_without_words_can_be_opened(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/a.txt").write_text("?!")
    index = open_index(build(tmp_path / "source", tmp_path / "ix"))
    assert index.web.rows.get([0])[0]["text"] == "?!"
