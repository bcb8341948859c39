"""`mmrag index eval`: what it measures of pictures, against ranks counted here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_index import ColourEncoder, mini_part, run_eval

from mmrag.errors import UsageError
from mmrag.search.index.build import build_index
from mmrag.search.index.sources import open_source
from simulator.experiments.search_eval import SearchCase, summarise
from simulator.run.capture_optics import CaptureOptics, parse_degrade
from simulator.world.sessions import mini_folder, read_world

ENCODER = ColourEncoder()
ASKED = 6


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mini world with a third of its pictures and without pages."""
    kg = pq.read_table(mini_folder() / "kg.parquet")
    pages = pq.read_table(mini_folder() / "pages.parquet").slice(0, 3)
    third = kg.take(pa.array(range(0, len(kg), 3)))
    return mini_part(tmp_path_factory.mktemp("world"), kg=third, pages=pages)


@pytest.fixture(scope="module")
def built(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "ix"
    build_index(open_source(str(world)), out, image_encoder="test-colours",
                text_encoder="test-words", views=False)  # fmt: skip
    return out


def attributes(row: dict[str, str]) -> dict[str, str]:
    """What a picture's first thing is known to be; some infoboxes are text."""
    found = json.loads(row["entities"])[0]["entity_attributes"]
    return found if isinstance(found, dict) else {}


def counted(world: Path, condition: str) -> list[tuple[list[int], int, list[int]]]:
    """For each session the ranks of its thing among all pictures and among those of its kind."""
    from mmrag.files.images import LazyImage

    kg = pq.read_table(world / "kg.parquet").to_pylist()
    ids = [row["entity_id"] for row in kg]
    kinds = [attributes(row).get("type", "") for row in kg]
    known = ENCODER.encode([LazyImage.from_bytes(row["image"]["bytes"]) for row in kg])
    sessions = [s for s, _ in zip(read_world(world, "single-turn", pictures="clean"),
                                  range(ASKED), strict=False)]  # fmt: skip
    found: list[tuple[list[int], int, list[int]]] = []
    for session in sessions:
        seen = CaptureOptics().apply(session, condition, 0).capture.image
        order = np.argsort(-(known @ ENCODER.encode([seen])[0]), kind="stable")[:100]
        wanted = session.turns[0].extra["entity_id"]
        kind = kinds[ids.index(wanted)] if wanted in ids else ""
        alike = [row for row in order if kinds[row] == kind]
        found.append((
            [rank for rank, row in enumerate(order[:50], 1) if ids[row] == wanted],
            ids.count(wanted),
            [rank for rank, row in enumerate(alike, 1) if ids[row] == wanted],
        ))  # fmt: skip
    return found


@pytest.mark.parametrize(
    "conditions", [pytest.param("clean,blurred@5", marks=pytest.mark.proof("time")), "none"]
)
def test_pictures_are_ranked_under_each_condition(
    world: Path, built: Path, conditions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_eval(str(world), "--index", str(built), "--what", "images", "--limit", str(ASKED),
               "--degrade", conditions, "--json") == 0  # fmt: skip
    figures = json.loads(capsys.readouterr().out)["images"]
    assert list(figures) == list(parse_degrade(conditions))
    for condition, ways in figures.items():
        ranks = counted(world, condition)
        for way, held in (("whole", [r for r, _, _ in ranks]),
                          ("whole, of the kind", [r for _, _, r in ranks])):  # fmt: skip
            for k in (1, 5, 30, 50):
                hits = sum(bool(r) and r[0] <= k for r in held) / ASKED
                assert ways[way][f"hit@{k}"] == pytest.approx(hits, abs=1e-4), (way, k)
            best = sum(1 / r[0] if r else 0 for r in held) / ASKED
            assert ways[way]["MRR"] == pytest.approx(best, abs=1e-4)
        assert ways["regions"]["queries"] == ASKED


def test_a_mix_is_drawn_as_in_runs(
    world: Path, built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_eval(str(world), "--index", str(built), "--what", "images", "--limit", "2",
               "--degrade", "mix", "--json") == 0  # fmt: skip
    assert list(json.loads(capsys.readouterr().out)["images"]) == ["mix"]


@pytest.mark.parametrize(
    ("conditions", "said"), [("foggy@2", "foggy"), (",", "no condition"), ("", "no condition")]
)
def test_no_condition_and_unknown_ones_are_refused(
    world: Path, built: Path, conditions: str, said: str
) -> None:
    given = [str(world), "--index", str(built), "--what", "images", "--limit", "2"]
    with pytest.raises(UsageError, match=said):
        run_eval(*given, "--degrade", conditions)


def test_figures_counted_by_hand() -> None:
    """Ranks 1 and 3 of 3 relevant, rank 7 of 1, and nothing found."""
    cases = [SearchCase("a", (1, 3), 3, {"view": "ego"}), SearchCase("b", (7,), 1, {"view": "ego"}),
             SearchCase("c", (), 2, {"view": "other"})]  # fmt: skip
    figures = summarise(cases)
    assert [figures[f"hit@{k}"] for k in (1, 5, 30)] == [0.3333, 0.3333, 0.6667]
    # found over relevant: 1/3, 0, 0; then 2/3, 0, 0; then 2/3, 1, 0
    assert [figures[f"recall@{k}"] for k in (1, 5, 30)] == [0.1111, 0.2222, 0.5556]
    assert figures["MRR"] == round((1 + 1 / 7) / 3, 4)
    # gained over best: (1 + 1/log2(4)) / (1 + 1/log2(3) + 1/log2(4)), then 1/log2(8)
    assert figures["nDCG@10"] == round((1.5 / 2.130930 + 1 / 3) / 3, 4)
