"""CRAG-MM read as the public kits read it: `--as-kit`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from called_command import mmrag
from crag_mm_rows import v2_row, write
from PIL import Image

from mmrag.errors import SpecError
from simulator.datasets import open_data
from simulator.datasets.papers.crag_mm import CragMM
from simulator.datasets.papers.kit_conventions import LEFT_OUT, REPLACED, SIZE
from simulator.run.run_config import RunConfig, make_config
from simulator.store.run_reader import RunReader


def noise(mode: str = "RGB", size: tuple[int, int] = (60, 40)) -> bytes:
    drawn = np.random.default_rng(7).integers(0, 256, (*size[::-1], 3), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(drawn).convert(mode).save(buffer, "PNG")
    return buffer.getvalue()


def row(sid: str, *, url: str | None, data: bytes | None = None, turns: int = 2) -> dict[str, Any]:
    made = v2_row(sid, data=data) | {"image_url": url}
    for part in ("turns", "answers"):
        made[part] = {name: cells[:turns] for name, cells in made[part].items()}
    made["answers"]["interaction_id"] = made["turns"]["interaction_id"]
    return made


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (replaced,) = REPLACED
    skipped, skipped_too = sorted(LEFT_OUT)
    return write(
        [
            row("ego", url=None, data=noise()), row(skipped, url=None, data=noise()),
            row("empty", url="", data=noise()),
            row("web", url="https://example.org/a.jpg", data=noise()),
            row(skipped_too, url="https://example.org/b.jpg"),
            row(replaced, url="https://example.org/dead.jpg", turns=1)
        ],
        tmp_path / "set", "v2-parquet"
    )  # fmt: skip


def test_the_2026_kit_leaves_two_sessions_out(folder: str) -> None:
    plain, read = CragMM(folder), CragMM(folder, as_kit="crag-mm")
    assert (len(plain), len(list(plain))) == (6, 6)
    assert (len(read), [s.id for s in read]) == (4, ["ego", "empty", "web", *REPLACED])
    assert len(CragMM(folder, as_kit="kddcup25")) == 6


def test_the_2026_kit_resizes_egocentric_pictures_whatever_their_shape(folder: str) -> None:
    seen = {
        s.id: s.capture.image.pil()
        for s in CragMM(folder, as_kit="crag-mm")
        if s.id in ("ego", "empty", "web")
    }
    with Image.open(io.BytesIO(noise())) as original:
        theirs = original.resize(SIZE)
        for name in ("ego", "empty"):
            assert seen[name].size == (960, 1280)
            assert np.array_equal(np.asarray(seen[name]), np.asarray(theirs))
        assert seen["web"].size == original.size
    for other in ("none", "kddcup25"):
        assert next(iter(CragMM(folder, as_kit=other))).capture.image.pil().size == (60, 40)


@pytest.mark.parametrize(
    ("as_kit", "is_ego"), [("none", True), ("crag-mm", False), ("kddcup25", False)]
)
def test_an_empty_url_is_counted_as_the_kits_count_it(
    folder: str, as_kit: str, is_ego: bool
) -> None:
    found = {s.id: s.capture.is_ego for s in CragMM(folder, as_kit=as_kit)}
    assert (found["ego"], found["empty"], found["web"]) == (True, is_ego, False)


def test_one_dead_url_is_replaced_in_single_turn_data(folder: str, tmp_path: Path) -> None:
    (sid,) = REPLACED
    named = {s.id: s.capture.image.name for s in CragMM(folder, as_kit="crag-mm")}
    assert named[sid] == REPLACED[sid]
    assert named[sid].endswith("China_(82).jpg")
    for other in ("none", "kddcup25"):
        assert {s.id: s.capture.image.name for s in CragMM(folder, as_kit=other)}[sid].endswith(
            "dead.jpg"
        )
    several = write([row(sid, url="https://example.org/x.jpg")], tmp_path / "more", "v2-parquet")
    (session,) = CragMM(several, as_kit="crag-mm")
    assert session.capture.image.name == "https://example.org/x.jpg"


def test_it_is_a_setting_of_a_run(folder: str, tmp_path: Path) -> None:
    assert RunConfig().fingerprint == RunConfig(as_kit="none").fingerprint
    with pytest.raises(SpecError, match="crag-mm, kddcup25; not 'crag'"):
        make_config({"as_kit": "crag"})
    with pytest.raises(SpecError, match="--as-kit crag-mm is for crag-mm:"):
        open_data("mini", as_kit="crag-mm")
    told = mmrag("run", "--data", f"crag-mm:{folder}", "--agent", "llm-only", "--as-kit", "crag-mm",
          "--search", "none", "--limit", "3", "--out", str(tmp_path / "run"))  # fmt: skip
    assert "not finished" not in told.stderr
    assert '"as_kit": "crag-mm"' in mmrag("show", str(tmp_path / "run"), "--json").stdout


AGENT = """
class Tells:
    def batch_generate_response(self, queries, images, message_histories, domains):
        return list(domains)
"""


@pytest.mark.parametrize(
    ("kit", "told"),
    [
        ("crag-mm", ["animal", "general object recognition"]),
        ("kddcup25", ["other"] * 2),
        ("none", ["other"] * 2),
    ],
)
def test_the_2026_kit_alone_tells_agents_the_domain(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kit: str, told: list[str]
) -> None:
    (tmp_path / "telling_agents.py").write_text(AGENT)
    monkeypatch.syspath_prepend(tmp_path)
    mmrag("run", "--data", f"crag-mm:{folder}", "--agent", "kit:name=telling_agents/Tells",
          "--as-kit", kit, "--search", "none", "--judge", "exact", "--sample-id", "ego",
          "--out", str(tmp_path / "run"))  # fmt: skip
    with RunReader(tmp_path / "run") as run:
        assert [turn.reply.text for turn in run.turns("ego", "clean")] == told
