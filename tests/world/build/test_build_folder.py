"""What stands in a folder: readable by others, provable, measurable, visible."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called_command import mmrag
from typer.testing import CliRunner

from mmrag.errors import DataError, SpecError
from mmrag.files.atomic import file_sha256
from simulator.cli import build as build_cli
from simulator.datasets.papers.crag_mm import CragMM
from simulator.world.build import table_parts
from simulator.world.build.world_manifest import fingerprint
from simulator.world.build.world_request import LIFE
from simulator.world.checks.verify import verify_world
from simulator.world.checks.world_stats import world_stats
from simulator.world.language.voices.voice_reader import OPEN
from simulator.world.sessions import World, read_world


def test_datasets_opens_it_typed(picture_world: Path, tmp_path: Path) -> None:
    import datasets

    datasets.disable_progress_bars()
    rows = datasets.load_dataset(
        str(picture_world), "multi-turn", split="validation", cache_dir=str(tmp_path)
    )
    assert len(rows) == 8
    assert rows.features["turns"]["domain"].feature.names == list(table_parts.DOMAINS)
    assert rows.features["turns"]["image_quality"].feature.names == list(table_parts.IMAGE_QUALITY)
    first = rows[0]
    assert set(first["turns"]) == {
        "interaction_id", "domain", "query_category", "dynamism", "query", "image_quality",
    }  # fmt: skip
    assert set(first["answers"]) == {"interaction_id", "ans_full"}
    assert first["image"].size in ((180, 240), (160, 160))
    plain = datasets.load_dataset(
        "parquet",
        data_files=str(picture_world / "kg.parquet"),
        split="train",
        cache_dir=str(tmp_path),
    )
    assert json.loads(plain[0]["entities"])[0]["entity_name"]


@pytest.mark.parametrize("split", table_parts.SPLITS)
def test_the_crag_mm_reader_reads_the_same(picture_world: Path, split: str) -> None:
    ours = list(read_world(picture_world, split))
    theirs = list(CragMM(str(picture_world), split=split))
    assert len(ours) == len(theirs) > 0
    for a, b in zip(ours, theirs, strict=True):
        assert (a.id, a.capture.quality, a.capture.is_ego) == (
            b.id, b.capture.quality, b.capture.is_ego,
        )  # fmt: skip
        assert a.capture.image.data == b.capture.image.data
        for x, y in zip(a.turns, b.turns, strict=True):
            assert (x.id, x.query, x.reference.text) == (y.id, y.query, y.reference.text)
            assert (x.domain, x.query_type, x.dynamism) == (y.domain, y.query_type, y.dynamism)


def test_sessions_carry_everything(picture_world: Path) -> None:
    sessions = [s for split in table_parts.SPLITS for s in read_world(picture_world, split)]
    assert len({s.id for s in sessions}) == 16
    for session in sessions:
        assert session.query_time is not None
        assert session.capture.polygon is not None
        assert session.extra["subject"] == session.extra["visible"][0]
        for turn in session.turns:
            assert turn.reference.text
            assert turn.extra["program"]
            assert turn.extra["needs"] or not turn.extra["external"]
            answering = {u for u, v in turn.reference.grounding.items() if v == "answers"}
            assert set(turn.reference.evidence) == answering


def test_captured_and_clean_are_a_pair(picture_world: Path) -> None:
    captured = {s.id: s for s in World(picture_world, split="single-turn")}
    clean = {s.id: s for s in World(picture_world, split="single-turn", pictures="clean")}
    assert captured.keys() == clean.keys()
    bad = [i for i, s in captured.items() if s.capture.quality != "normal"]
    assert bad, "the small world should hold a degraded picture"
    for i, s in captured.items():
        c = clean[i].capture
        assert (c.quality, c.degradation, c.degraded) == ("normal", "clean", None)
        assert (s.capture.image.data == c.image.data) is (i not in bad)
        assert c.image.sha256 == c.image.__class__.from_bytes(c.image.data).sha256
        if i in bad:
            assert s.capture.degraded is not None
            assert s.capture.degradation.startswith(s.capture.quality)
    one, two = World(picture_world), World(picture_world, pictures="clean")
    assert one.fingerprint != two.fingerprint


def test_pictures_are_read_when_looked_at(
    picture_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulator.world import sessions as reader

    taken: list[str] = []
    take = reader._Shelf.take

    def spy(self: object, row: int, column: str) -> bytes:
        taken.append(column)
        return take(self, row, column)  # type: ignore[arg-type]

    monkeypatch.setattr(reader._Shelf, "take", spy)
    sessions = list(World(picture_world))
    assert not taken
    assert sessions[0].capture.image.pil().width in (180, 160)
    assert taken == ["image"]


def test_polygons_lie_in_their_pictures(picture_world: Path) -> None:
    for session in World(picture_world, split="single-turn", pictures="clean"):
        width, height = session.capture.image.pil().size
        left, top, right, bottom = session.capture.focus or (0, 0, 0, 0)
        assert right - left > 4
        assert bottom - top > 4
        assert right > 0
        assert bottom > 0
        assert left < width
        assert top < height


def test_an_unknown_split(picture_world: Path) -> None:
    with pytest.raises(SpecError, match="multi-turn, single-turn, ambiguous"):
        World(picture_world, split="validation")


def test_a_damaged_table_is_named(picture_world: Path, tmp_path: Path) -> None:
    broken = tmp_path / "w"
    shutil.copytree(picture_world, broken)
    (broken / "multi-turn.parquet").write_bytes(b"PAR1 cut short")
    with pytest.raises(DataError, match=r"multi-turn\.parquet.*mmrag world verify"):
        next(iter(read_world(broken)))


# -- verify


def test_a_fresh_world_is_proven(picture_world: Path) -> None:
    report = verify_world(picture_world)
    assert report.problems == ()
    counts = json.loads((picture_world / "world.json").read_text())["counts"]
    assert report.answers == counts["turns"] + counts["single_turn_questions"] > 40
    assert report.statements > 1000
    assert report.groundings > 300


def test_damage_is_found(text_world: Path, tmp_path: Path) -> None:
    world = tmp_path / "w"
    shutil.copytree(text_world, world)
    with (world / "README.md").open("ab") as file:
        file.write(b" ")
    (world / "kg.parquet").unlink()
    problems = verify_world(world).problems
    assert "kg.parquet is missing" in problems
    assert any("README.md has" in p for p in problems)


def mutate(folder: Path, table: str, change) -> None:
    """Change a table and correct all hashes, as a forger would."""
    path = folder / f"{table}.parquet"
    schema = pq.read_schema(path)
    rows = pq.read_table(path).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    manifest = json.loads((folder / "world.json").read_text())
    manifest["files"][path.name] |= {"sha256": file_sha256(path), "bytes": path.stat().st_size}
    manifest["fingerprint"] = fingerprint(manifest)
    (folder / "world.json").write_text(json.dumps(manifest))


def test_a_mutated_fact_makes_it_fail(text_world: Path, tmp_path: Path) -> None:
    world = tmp_path / "w"
    shutil.copytree(text_world, world)
    turn = next(
        t
        for s in read_world(world, "single-turn")
        for t in s.turns
        if t.extra["answer_kind"] == "number" and len(t.extra["needs"]) == 1
    )
    need = turn.extra["needs"][0]

    def change(rows: list[dict[str, object]]) -> None:
        for row in rows:
            if (row["entity_id"], row["attribute"]) == (need["entity_id"], need["attribute"]):
                row["value"] = msgspec.json.encode(msgspec.json.decode(row["value"]) + 41).decode()

    mutate(world, "facts", change)
    problems = verify_world(world).problems
    assert any(p.startswith(f"{turn.id}: the facts say") for p in problems)
    assert any("that did not hold then" in p for p in problems), "pages told the old value"
    shown = CliRunner().invoke(build_cli(), ["world", "verify", str(world)])
    assert shown.exit_code == 1
    assert turn.id in shown.output


def test_a_flipped_label_makes_it_fail(text_world: Path, tmp_path: Path) -> None:
    world = tmp_path / "w"
    shutil.copytree(text_world, world)
    wrong = table_parts.GROUNDING_LABELS.index("outdated")

    def change(rows: list[dict[str, object]]) -> None:
        rows[0]["label"] = wrong

    mutate(world, "grounding", change)
    problems = verify_world(world).problems
    assert any("labelled outdated, but it is" in p for p in problems)


def test_a_query_picture_in_the_kg_makes_it_fail(picture_world: Path, tmp_path: Path) -> None:
    world = tmp_path / "w"
    shutil.copytree(picture_world, world)
    session = next(read_world(world))

    def change(rows: list[dict[str, object]]) -> None:
        rows[0]["image_sha256"] = session.capture.image.sha256

    mutate(world, "kg", change)
    assert any("stands in the KG" in p for p in verify_world(world).problems)


def test_words_of_a_voice_that_the_world_does_not_name_make_it_fail(
    text_world: Path, tmp_path: Path
) -> None:
    """What says that it is in held-out voices must hold no word of another."""
    world = tmp_path / "w"
    shutil.copytree(text_world, world)
    manifest = json.loads((world / "world.json").read_text())
    manifest["request"]["voices"] = ["rowan"]
    (world / "world.json").write_text(json.dumps(manifest))
    problems = verify_world(world).problems
    assert any("single-0" in p and "does not name" in p for p in problems)
    assert any(p.startswith("https://") and "does not name" in p for p in problems)


def test_a_world_says_whose_words_it_is_in(text_world: Path) -> None:
    said = "open voices alder, birch, cedar, dogwood and elm"
    assert json.loads((text_world / "world.json").read_text())["request"]["voices"] == [*OPEN]
    assert said in (text_world / "README.md").read_text()
    stats = world_stats(text_world)
    assert said in stats.as_text().splitlines()[0]
    assert said in stats.as_json()["language"]
    shares = {f.name: f.generated for f in stats.figures if f.group == "Voices"}
    assert shares.keys() == set(OPEN)
    sessions = list(read_world(text_world, "single-turn"))
    voices = {s.extra["voice"] for s in sessions}
    assert voices == set(OPEN)
    assert all(t.meta == {"voice": s.extra["voice"]} for s in sessions for t in s.turns)


# -- stats, look, the command line


def test_stats_compare_with_what_is_published(text_world: Path) -> None:
    stats = world_stats(text_world)
    figures = {(f.group, f.name): f for f in stats.figures}
    turns = figures["Conversations", "turns per conversation"]
    sessions = list(read_world(text_world))
    assert turns.generated == pytest.approx(sum(len(s.turns) for s in sessions) / len(sessions))
    assert turns.published == 4.9
    ratio = figures["Web pages", "irrelevant pages per relevant one"]
    assert ratio.is_met
    shares = [f.generated for f in stats.figures if f.group == "Dynamism"]
    assert sum(shares) == pytest.approx(100)
    (own,) = (f for f in stats.figures if f.name == "traits in which look-alikes differ")
    assert own.published == 100 * LIFE.own_traits
    assert own.generated == pytest.approx(own.published, abs=8)
    text = stats.as_text()
    assert "published" in text
    assert f"{len(stats.missed)} of them lie outside" in text


def test_a_text_world_is_refused_where_pictures_are_shown(text_world: Path, tmp_path: Path) -> None:
    """Each of its turns was a fault of the data."""
    told = mmrag("run", "--data", text_world, "--agent", "random", "--out", tmp_path / "r", code=2)
    assert f"`mmrag world ladder {text_world}`" in told.stderr
    assert not (tmp_path / "r").exists()
    mmrag("run", "--data", text_world, "--agent", "random", "--search", "none", "--limit", "2",
          "--task", "knowledge", "--out", tmp_path / "k")  # fmt: skip


def test_the_commands(tmp_path: Path) -> None:
    run, out = CliRunner(), tmp_path / "w"
    new = ["world", "new", "--seed", "4", "--sessions", "4", "--size", "mini", "--text-only"]
    made = run.invoke(build_cli(), [*new, "--out", str(out), "--json"])
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["counts"]["conversations"] == 4
    again = run.invoke(build_cli(), [*new, "--out", str(out)])
    assert again.exit_code != 0
    assert "already this very world" in str(again.exception)
    proof = run.invoke(build_cli(), ["world", "verify", str(out), "--json"])
    assert proof.exit_code == 0
    assert json.loads(proof.stdout)["problems"] == []
    stats = run.invoke(build_cli(), ["world", "stats", str(out), "--json"])
    assert json.loads(stats.stdout)["figures"][0]["generated"] == 4
