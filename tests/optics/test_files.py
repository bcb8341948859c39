"""`mmrag lab degrade`: formats, records, resuming, several processes, broken input."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simulator.optics import degrade
from simulator.optics.files.samples import sample

SPEC = "low-light@2+occluded:finger@2+rotated@1"


PROGRAM = "import sys; from simulator.cli import main; sys.argv[0] = 'mmrag'; main()"


def mmrag(*args: object) -> subprocess.CompletedProcess[str]:
    """The command in this process: starting another costs more than what most tests do."""
    from simulator.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["mmrag", *map(str, args)])
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return subprocess.CompletedProcess(args, code, out.getvalue(), err.getvalue())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "sub").mkdir(parents=True)
    for i, name in enumerate(("a.png", "b.jpg", "sub/c.png", "sub/d.webp")):
        Image.fromarray(sample(i, (96, 72))[0]).save(folder / name)
    (folder / "notes.txt").write_text("no picture")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def lines(folder: Path) -> list[dict]:
    text = (folder / "degradations.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_folder_keeps_names_formats_and_records(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    done = mmrag(
        "lab", "degrade", source, target, "--spec", SPEC, "--seed", 5, "--control", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["done"] == 4
    names = ["a.png", "b.jpg", "sub/c.png", "sub/d.webp"]
    assert [line["file"] for line in lines(target)] == names
    # A process of its own comes to the same.
    again = tmp_path / "again"
    command = [sys.executable, "-c", PROGRAM, "lab", "degrade", source, again, "--spec", SPEC,
               "--seed", "5", "--control"]  # fmt: skip
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    assert tree(again) == tree(target)
    for name in names:
        with Image.open(target / name) as image, Image.open(source / name) as before:
            assert image.format == before.format
            assert image.size == before.size
        stem, dot, suffix = name.rpartition(".")
        assert (target / f"{stem}.control{dot}{suffix}").is_file()
    record = lines(target)[0]["record"]
    alone = degrade(np.asarray(Image.open(source / "a.png")), SPEC, key="5/a.png")
    assert record["output_sha256"] == alone.record.output_sha256
    with Image.open(target / "a.png") as written:
        assert (np.asarray(written) == alone.image).all()


def test_bytes_do_not_depend_on_workers_or_order(source: Path, tmp_path: Path) -> None:
    trees = []
    for workers in (1, 3):
        target = tmp_path / f"out{workers}"
        done = mmrag("lab", "degrade", source, target, "--spec", SPEC, "--workers", workers)
        assert done.returncode == 0, done.stderr
        trees.append(tree(target))
    assert trees[0] == trees[1]
    one = tmp_path / "one"
    mmrag("lab", "degrade", source / "a.png", one, "--spec", SPEC)
    assert (one / "a.png").read_bytes() == trees[0]["a.png"]


def test_resume_skips_by_hash_and_nothing_is_overwritten(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    command = ("lab", "degrade", source, target, "--spec", SPEC)
    assert mmrag(*command).returncode == 0
    first, stamp = tree(target), (target / "a.png").stat().st_mtime_ns
    again = mmrag(*command, "--json")
    assert json.loads(again.stdout)["skipped"] == 4
    assert tree(target) == first
    assert (target / "a.png").stat().st_mtime_ns == stamp
    # Another picture in the same place is done again only when asked.
    Image.fromarray(sample(9, (96, 72))[0]).save(source / "a.png")
    refused = mmrag(*command)
    assert refused.returncode == 2
    assert "a.png exists already" in refused.stderr
    assert tree(target) == first
    other = mmrag("lab", "degrade", source, target, "--spec", "rotated@1")
    assert other.returncode == 2
    asked = mmrag(*command, "--overwrite", "--json")
    assert json.loads(asked.stdout) | {"records": ""} == {
        "done": 1, "skipped": 3, "rejected": 0, "failed": [], "records": "", "sheet": None,
    }  # fmt: skip
    # A result that somebody edited is not silently replaced either.
    (target / "b.jpg").write_bytes(b"edited")
    assert mmrag(*command).returncode == 2
    assert (target / "b.jpg").read_bytes() == b"edited"


@pytest.mark.proof("kills")
def test_a_killed_run_is_resumed_to_the_same_bytes(tmp_path: Path) -> None:
    source, target, whole = (tmp_path / n for n in ("source", "out", "whole"))
    source.mkdir()
    for i in range(12):
        Image.fromarray(sample(i, (320, 240))[0]).save(source / f"{i:02}.png")
    run = [sys.executable, "-c", PROGRAM, "lab", "degrade", source, target, "--spec", SPEC]
    with subprocess.Popen(list(map(str, run)), stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(list(target.glob("*.png"))) < 3:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    assert len(list(target.glob("*.png"))) > 0
    # The worst moment: a picture was written and its line was not, or only half of it.
    log = target / "degradations.jsonl"
    log.write_text("\n".join(log.read_text().splitlines()[:-1]) + '\n{"file": "0')
    resumed = mmrag("lab", "degrade", source, target, "--spec", SPEC)
    assert resumed.returncode == 0, resumed.stderr
    assert mmrag("lab", "degrade", source, whole, "--spec", SPEC).returncode == 0
    assert tree(target) == tree(whole)


def png_bomb() -> bytes:
    """A small file that claims 60,000 × 60,000 pixels."""
    import struct
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def test_broken_input_is_named_and_the_others_go_on(source: Path, tmp_path: Path) -> None:
    whole = io.BytesIO()
    Image.fromarray(sample(1, (96, 72))[0]).save(whole, "JPEG")
    broken = {
        "cut.jpg": whole.getvalue()[:900],
        "empty.png": b"",
        "text.jpg": b"this is no picture",
        "bomb.png": png_bomb(),
    }
    for name, data in broken.items():
        (source / name).write_bytes(data)
    target = tmp_path / "out"
    done = mmrag("lab", "degrade", source, target, "--spec", "low-light@1", "--workers", 2)
    assert done.returncode == 1
    assert "4 could not be degraded, the others are done" in done.stderr
    assert "Traceback" not in done.stderr
    bad = {x["file"]: x for x in lines(target) if x.get("status") == "data_error"}
    assert sorted(bad) == sorted(broken)
    for name, line in bad.items():
        assert name in line["error"]
        assert not (target / name).exists()
    assert (target / "a.png").is_file()
    # Mended, the same command does what is missing.
    for name in broken:
        Image.fromarray(sample(2, (96, 72))[0]).save(source / name)
    again = mmrag("lab", "degrade", source, target, "--spec", "low-light@1", "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout)["done"] == 4


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv"])
def test_boxes_from_a_file_and_an_inverted_one(source: Path, tmp_path: Path, suffix: str) -> None:
    good, bad = [10.0, 12.0, 60.0, 50.0], [60.0, 12.0, 10.0, 50.0]
    path = tmp_path / f"boxes.{suffix}"
    if suffix == "json":
        path.write_text(json.dumps({"a.png": good, "b.jpg": bad}))
    elif suffix == "jsonl":
        rows = [{"file": "a.png", "box": good}, {"file": "b.jpg", "box": bad}]
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        path.write_text("file,x0,y0,x1,y1\na.png,10,12,60,50\nb.jpg,60,12,10,50\n")
    target = tmp_path / "out"
    done = mmrag("lab", "degrade", source, target, "--spec", "truncated@3", "--boxes", path)
    assert done.returncode == 1
    found = {line["file"]: line for line in lines(target)}
    assert "inverted" in found["b.jpg"]["error"]
    assert found["a.png"]["record"]["visible"] == pytest.approx(0.55, abs=0.02)
    alone = degrade(np.asarray(Image.open(source / "a.png")), "truncated@3", tuple(good),
                    key="0/a.png")  # fmt: skip
    assert found["a.png"]["record"]["output_sha256"] == alone.record.output_sha256


def test_what_cannot_be_meant_is_refused(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "broken.jsonl").write_text('{"file": "a.png", "box": [1,2,3,4]}\n{"file"')
    for args, code, words in (
        ((source, source / "x", "--spec", "rotated@1"), 2, "inside"),
        ((source, source, "--spec", "rotated@1"), 2, "inside"),
        ((source / "a.png", source, "--spec", "rotated@1"), 2, "source itself"),
        ((source / "a.png", out / "a.jpg", "--spec", "rotated@1"), 2, "formats are kept"),
        ((source, out, "--spec", "foggy@1"), 2, "foggy"),
        ((source, out), 2, "--spec"),
        ((tmp_path / "nowhere", out, "--spec", "rotated@1"), 2, "no pictures"),
        ((source, out, "--spec", "rotated@1", "--focus", "5,5,1,9"), 2, "inverted"),
        ((source, out, "--spec", "rotated@1", "--focus", "5,5"), 2, "left,top"),
        ((source, out, "--spec", "rotated@1", "--out-of-reach", "x"), 2, "clamp or reject"),
        ((source, out, "--spec", "rotated@1", "--boxes", tmp_path / "broken.jsonl"), 1, "line 2"),
        ((source, out, "--spec", "rotated@1", "--boxes", tmp_path / "no.csv"), 1, "no.csv"),
    ):
        done = mmrag("lab", "degrade", *args)
        assert done.returncode == code, (args, done.stderr)
        assert words in done.stderr, (args, done.stderr)
        assert not out.exists()


def test_identity_is_the_file_itself_a_glob_finds_and_mix_mixes(
    source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    assert mmrag("lab", "degrade", f"{source}/*.jpg", target, "--spec", "clean").returncode == 0
    assert [line["file"] for line in lines(target)] == ["b.jpg"]
    assert (target / "b.jpg").read_bytes() == (source / "b.jpg").read_bytes()
    mixed = tmp_path / "mixed"
    assert mmrag("lab", "degrade", f"{source}/**/*.png", mixed, "--spec", "mix").returncode == 0
    assert [line["file"] for line in lines(mixed)] == ["a.png", "sub/c.png"]


def test_rejected_samples_are_recorded_and_not_written(tmp_path: Path) -> None:
    flat = tmp_path / "flat.png"
    Image.new("RGB", (64, 48), (90, 90, 90)).save(flat)
    target = tmp_path / "out"
    args = (
        "lab",
        "degrade",
        flat,
        target,
        "--spec",
        "blurred:defocus@4",
        "--out-of-reach",
        "reject",
    )
    done = mmrag(*args, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["rejected"] == 1
    line = lines(target)[0]
    assert line["status"] == "rejected"
    assert line["record"]["rejected"]
    assert not (target / "flat.png").exists()
    assert json.loads(mmrag(*args, "--json").stdout)["skipped"] == 1


def test_sheet_shows_every_kind(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    done = mmrag("lab", "degrade", source / "a.png", target, "--sheet", "--focus", "20,10,70,60")
    assert done.returncode == 0, done.stderr
    with Image.open(target / "sheet.png") as sheet:
        assert sheet.format == "PNG"
        assert sheet.width > 6 * 200
        assert sheet.height > 10 * 150
    assert not (target / "a.png").exists()


def test_the_sessions_of_a_data_set() -> None:
    from mmrag.files.images import LazyImage
    from mmrag.records import Capture, Reference, Session, Turn
    from simulator.optics.files.picture_sources import items_from_sessions

    buffer = io.BytesIO()
    Image.fromarray(sample(1, (64, 48))[0]).save(buffer, "PNG")
    turn = Turn(index=0, id="t", query="?", reference=Reference(text="!"))
    image = LazyImage.from_bytes(buffer.getvalue())
    missing = LazyImage.from_path("nowhere.jpg")
    sessions = [
        Session(id="../x/1", capture=Capture(image=image, focus=(1, 2, 30, 40)), turns=(turn,)),
        Session(id="s2", capture=Capture(image=missing), turns=(turn,)),
    ]
    items, sidecar = items_from_sessions(sessions, Path("out"), lambda _: lambda _: "rotated@1")
    assert sidecar == Path("out/degradations.jsonl")
    assert items[0].target.parent == Path("out")  # an id never leaves the folder
    assert items[0].target.suffix == ".png"
    assert items[0].focus == (1, 2, 30, 40)
    assert "nowhere.jpg" in items[1].problem
