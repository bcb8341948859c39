"""A bundle as files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer
from called_command import mmrag
from msgspec.structs import replace
from typer.testing import CliRunner
from ui_parts import inside, write_run

import ui.bundle
from mmrag.errors import ConflictError, StoreError, UsageError
from mmrag.records import Status
from simulator.exchange.imports import import_file
from simulator.run.results.run_scoring import score_run
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from ui.bundle import write_bundle
from ui.command import bundle


def test_a_folder_holds_page_conversations_pictures_and_report(bundles: Path) -> None:
    folder = bundles / "first-bundle"
    assert {path.name for path in folder.iterdir()} == {
        "index.html", "talks", "pictures", "report",
    }  # fmt: skip
    board = json.loads(inside((folder / "index.html").read_text(), "board"))
    for row in board["rows"]:
        for held in row["held"]:
            script = (folder / "talks" / f"{held['block']}.js").read_text()
            quoted = re.fullmatch(r'mmragTalks\("\d{4}",(".*")\)\n', script, re.S)
            assert quoted is not None
            view = json.loads(json.loads(quoted[1]))[held["place"]]
            assert (view["session_id"], view["degradation"]) == (row["session"], held["condition"])
            for name in filter(None, (view["picture"], view["before"])):
                assert (folder / "pictures" / name).stat().st_size > 0


def test_one_file_needs_nothing_beside_it(bundles: Path) -> None:
    page = (bundles / "first.html").read_text()
    pictures = json.loads(inside(page, "pictures"))
    assert pictures
    assert all(uri.startswith("data:image/") for uri in pictures.values())
    assert not re.search(r'(src|href)="(?!data:|#)', page)


@pytest.mark.parametrize("name", ["evil.html", "evil-bundle/index.html"])
def test_nothing_of_the_data_is_markup(bundles: Path, name: str) -> None:
    page = (bundles / name).read_text()
    assert page.count("<script") == page.count("</script>") == (4 if name == "evil.html" else 2)
    assert "onerror=" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert "'unsafe" not in page


def test_the_same_run_gives_the_same_bytes(bundles: Path) -> None:
    write_bundle(bundles / "first", bundles / "again", report=False)
    for path in (bundles / "again").rglob("*"):
        there = bundles / "first-bundle" / path.relative_to(bundles / "again")
        if path.is_file() and path.name != "index.html":  # whose link to the report differs
            assert path.read_bytes() == there.read_bytes()


def test_nothing_is_written_over_or_by_half(
    bundles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(ConflictError, match="exists already"):
        write_bundle(bundles / "first", tmp_path / "there")
    (tmp_path / "file").write_text("x")
    for out in ("file/deep", "file/deep.html"):
        with pytest.raises(StoreError, match="cannot be written"):
            write_bundle(bundles / "first", tmp_path / out)
    monkeypatch.setattr(ui.bundle, "MAX_FILE", 1000)
    with pytest.raises(UsageError, match="too large for one file"):
        write_bundle(bundles / "first", tmp_path / "one.html")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ui.bundle, "_report", full)
    with pytest.raises(StoreError, match="No space left"):
        write_bundle(bundles / "first", tmp_path / "half")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "there"]


def test_the_command(bundles: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(bundle)
    done = CliRunner().invoke(app, [str(bundles / "first"), str(tmp_path / "b"), "--no-report"])
    assert done.exit_code == 0, done.output
    assert f"bundle: {tmp_path / 'b' / 'index.html'}" in done.output


@pytest.mark.parametrize("name", ["own.jsonl", "own.eval"])
def test_a_run_with_a_failure_goes_out_and_comes_in_with_the_same_score(
    tmp_path: Path, name: str
) -> None:
    write_run(tmp_path / "run", 4)
    with RunStore(tmp_path / "run") as store:
        about, degradation = store.session_keys()[0]
        asked = store.turns(about, degradation)
        failed = replace(
            asked[1], status=Status.AGENT_ERROR, reply=None, verdict=None, error="boom"
        )
        store.forget_turns(about, degradation, 1)
        store.commit(failed, *asked[2:]).result()
    mmrag("export", str(tmp_path / "run"), str(tmp_path / name))
    assert import_file(tmp_path / name, tmp_path / "back") == 32
    with RunReader(tmp_path / "run") as before, RunReader(tmp_path / "back") as after:
        assert before.failure_counts() == {"agent_error": 1}
        assert score_run(before) == score_run(after)
