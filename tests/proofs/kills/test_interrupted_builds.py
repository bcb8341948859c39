"""`mmrag index build`, killed or interrupted, and the same command again: the same index.

The command runs in processes of its own. Those that are to die are forked from one that has
imported everything, so that a dozen of them take seconds.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import small_index
from small_index import ColourEncoder, build

from mmrag.errors import StoreError, Unavailable
from mmrag.search.index import build as building
from mmrag.search.index import chroma as databases
from mmrag.search.index.build import build_index
from mmrag.search.index.open import open_index, read_manifests, verify_index
from mmrag.search.index.sources import open_source

HELPERS = str(Path(small_index.__file__).parent)
COMMAND = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import small_index
from mmrag.search.index import build as building
from simulator import cli

building.PICTURES_PER_PART = building.PAGES_PER_PART = 2
"""

SLOW = """
import time

encode_crops = small_index.ColourEncoder.encode_crops
def slowly(self, crops):
    time.sleep(0.3)
    return encode_crops(self, crops)
small_index.ColourEncoder.encode_crops = slowly
cli.main()
"""

KILLED = """
import json, os, signal
import chromadb, bm25s, cv2, pyarrow.ipc, usearch.index
from pathlib import Path
from mmrag.passages import Chunker
from mmrag.search.index.chroma import IndexCollection
from mmrag.search.index.sources import open_source

for page in open_source(sys.argv[5]).pages(0):  # whatever is imported late is imported once
    Chunker().cut(page.text)
place, points = Path(sys.argv.pop(1)), int(sys.argv.pop(1))
TOUCHING = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}

def command(folder, dies_at=None):
    # in a child: build, and die at the nth touch of a file in the index, or after a write to Chroma
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    touches = 0
    def touch(event, arguments):
        nonlocal touches
        if event in TOUCHING and str(arguments[0]).startswith(str(folder)):
            touches += 1
            if touches == dies_at:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(touch)
    if dies_at == "database":
        add = IndexCollection.add
        def dies(self, batch):
            add(self, batch)
            os.kill(os.getpid(), signal.SIGKILL)
        IndexCollection.add = dies
    code = 0
    try:
        cli.build()([*sys.argv[1:], "--out", str(folder)])
    except SystemExit as ended:
        code = ended.code or 0
    (place / "touches").write_text(str(touches))
    sys.stdout.flush()
    os._exit(code)

said = [["whole", command(place / "whole"), 0]]
total = int((place / "touches").read_text())
for n in ["database", *range(1, total, max(1, total // points))]:
    died = command(place / f"at-{n}", n)
    said.append([f"at-{n}", died, command(place / f"at-{n}")])
(place / "said.json").write_text(json.dumps(said))
"""


def arguments(source: Path) -> list[str]:
    return [
        "index", "build", str(source), "--image-encoder", "test-colours", "--text-encoder",
        "test-words", "--chunk-tokens", "64", "--overlap", "8",
    ]  # fmt: skip


def test_killed_at_any_point_the_same_command_ends_in_the_same_index(
    source_folder: Path, tmp_path: Path
) -> None:
    subprocess.run(
        [sys.executable, "-c", COMMAND + KILLED, HELPERS, str(tmp_path), "4",
         *arguments(source_folder)],
        check=True, capture_output=True, timeout=120,
        env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
    )  # fmt: skip
    said = json.loads((tmp_path / "said.json").read_text())
    whole = open_index(tmp_path / "whole").fingerprint
    assert len(said) >= 6
    assert said[0] == ["whole", 0, 0]
    for name, died, again in said[1:]:
        assert (died, again) == (-signal.SIGKILL, 0), name
        assert open_index(tmp_path / name).fingerprint == whole, name
        assert verify_index(tmp_path / name) == [], name
        assert files(tmp_path / name) == files(tmp_path / "whole"), name


def files(folder: Path) -> list[str]:
    """All but Chroma's own, whose names are random."""
    found = (str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    return sorted(name for name in found if "/chroma/" not in name)


def test_ctrl_c_is_one_line_that_says_how_to_go_on(source_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "ix"
    given = [*arguments(source_folder), "--out", str(out)]
    # a test run in the background ignores Ctrl-C, and its children inherit that
    heeds = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    program = [sys.executable, "-c", heeds + COMMAND + SLOW, HELPERS, *given]  # fmt: skip
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not list(out.glob("images/parts/*.arrow")) and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == ""
    assert complaint.count("\n") == 1
    assert f"what was built in {out} is kept" in complaint
    assert f"Continue with: mmrag {' '.join(given)}" in complaint
    kept = {p: p.stat().st_mtime_ns for p in out.glob("images/parts/*.arrow")}
    assert kept
    subprocess.run(program, check=True, capture_output=True, timeout=60)
    assert verify_index(out) == []


def test_a_part_that_was_cut_short_is_made_again(
    source_folder: Path, index_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stops(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(building, "PICTURES_PER_PART", 2)
    with monkeypatch.context() as patch:
        patch.setattr(building._PartOfIndex, "_fill", stops)
        with pytest.raises(KeyboardInterrupt):
            build(source_folder, tmp_path / "ix")
    with pytest.raises(StoreError, match="not finished"):
        open_index(tmp_path / "ix")
    parts = sorted((tmp_path / "ix/images/parts").glob("*.arrow"))
    whole = parts[1].read_bytes()
    parts[1].write_bytes(whole[: len(whole) // 2])
    parts[2].write_bytes(b"")
    made: list[str] = []
    write = building.write_part
    monkeypatch.setattr(
        building, "write_part", lambda path, part, *a: (made.append(part), write(path, part, *a))
    )
    build(source_folder, tmp_path / "ix")
    assert made.count("images") == 2
    assert open_index(tmp_path / "ix").fingerprint == open_index(index_folder).fingerprint


def test_a_server_that_is_away_is_noticed_before_anything_is_encoded(
    source_folder: Path, index_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("encoded")

    monkeypatch.setattr(databases, "_PAUSE", 0.01)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        away = f"http://127.0.0.1:{taken.getsockname()[1]}"
    source = open_source(str(source_folder))._replace(page_count=0)
    with monkeypatch.context() as patch:
        patch.setattr(ColourEncoder, "encode_crops", never)
        with pytest.raises(Unavailable, match="cannot be reached"):
            build_index(source, tmp_path / "ix", image_encoder="test-colours", chroma_url=away)
    # and what is not finished may go to another database
    (made,) = build_index(source, tmp_path / "ix", image_encoder="test-colours")
    assert made.chroma_url is None
    assert made.fingerprint == read_manifests(index_folder)[0].fingerprint
