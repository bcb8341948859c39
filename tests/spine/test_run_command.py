"""The life of a run through the command line: run, resume, score, show, rejudge, export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from spine_parts import picture
from test_crag_mm import v1_row, write
from test_score_command import mmrag


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write([v1_row(f"s{i}", data=picture(i)) for i in range(6)], folder / "set", "v1-parquet")
    lines = [
        {"session_id": f"s{i}", "turn_index": t, "reply": ["first", "second"][t]}
        for i in range(6)
        for t in range(2)
        if (i + t) % 3
    ]
    (folder / "script.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def arguments(data: Path, out: Path) -> list[str]:
    return [
        "--data", f"crag-mm:{data / 'set'}", "--split", "train", "--judge", "exact",
        "--agent", f"scripted:file={data / 'script.jsonl'}", "--out", str(out),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    shown = mmrag("run", *arguments(data, out), "--json")
    figures = json.loads(shown.stdout)
    assert figures["all"]["correct"] == 8
    assert figures["all"]["miss"] == 4
    assert figures["run"] == str(out)
    return out


def test_a_second_call_goes_on_and_asks_nothing(run: Path, data: Path) -> None:
    before = (run / "run.sqlite").stat().st_size
    again = json.loads(mmrag("run", *arguments(data, run), "--json").stdout)
    assert again["all"]["correct"] == 8
    assert (run / "run.sqlite").stat().st_size == before


def test_other_settings_on_the_same_folder_are_refused(run: Path, data: Path) -> None:
    done = mmrag("run", *arguments(data, run), "--stop", "never", code=2)
    assert "stop: 'strikes(2)' before, 'never' now" in done.stderr


def test_resume_and_score(run: Path) -> None:
    assert json.loads(mmrag("resume", str(run), "--json").stdout)["all"]["total"] == 12
    for protocol in ("strict", "crag-mm", "kddcup25"):
        shown = json.loads(mmrag("score", str(run), "--protocol", protocol, "--json").stdout)
        assert shown["all"]["total"] == 12
        assert shown["options"]["protocol"] == protocol


def test_show(run: Path) -> None:
    summary = json.loads(mmrag("show", str(run), "--json").stdout)
    assert summary["sessions"] == 6
    assert summary["finished"] is True
    assert summary["config"]["judge"] == "exact"
    assert summary["provenance"]["libraries"]["numpy"]
    assert "s3" in mmrag("show", str(run)).stdout
    talk = mmrag("show", str(run), "s1").stdout
    assert "what is it?" in talk
    assert "reference: first" in talk
    assert "no session 'nobody'" in mmrag("show", str(run), "nobody", code=1).stderr


def test_rejudge(run: Path) -> None:
    shown = mmrag("rejudge", str(run), "--judge", "fixed:outcome=incorrect", "--json")
    assert json.loads(shown.stdout)["all"]["hallucination"] == 12
    back = mmrag("rejudge", str(run), "--judge", "exact", "--json")
    assert json.loads(back.stdout)["all"]["correct"] == 8


def test_export(run: Path, tmp_path: Path) -> None:
    mmrag("export", str(run), str(tmp_path / "turns.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "turns.jsonl").read_text().splitlines()]
    assert len(lines) == 12
    assert lines[1]["outcome"] == "perfect"
    mmrag("export", str(run), str(tmp_path / "turns.parquet"))
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "turns.parquet").to_pylist()
    assert [row["reply"] for row in table] == [line["reply"] for line in lines]
    mmrag("export", str(run), str(tmp_path / "set"))
    import datasets

    loaded = datasets.load_from_disk(str(tmp_path / "set"))
    assert len(loaded) == 6
    assert loaded[0]["image"].size == (16, 16)
    assert [turn["reply"] for turn in loaded[1]["turns"]] == ["first", "second"]
    assert "exists already" in mmrag("export", str(run), str(tmp_path / "set"), code=2).stderr
    assert "parquet" in mmrag("export", str(run), str(tmp_path / "x.csv"), code=2).stderr


def test_errors_are_asked_again(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    given = [*arguments(data, out), "--concurrency", "1"]
    given[given.index("--agent") + 1] = "faulty:agent=random,errors=0.5"
    first = json.loads(mmrag("run", *given, "--json").stdout)
    assert first["statuses"]["agent_error"] > 0
    assert first["all"]["coverage"] < 1
    again = json.loads(mmrag("resume", str(out), "--errors", "--json").stdout)
    assert again["statuses"] == first["statuses"]  # the faults are seeded: they come again


def test_a_yaml_file_and_flags_over_it(data: Path, tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(
        f"data: crag-mm:{data / 'set'}\nsplit: train\njudge: exact\n"
        f"agent: random\nlimit: 2\nstop: never\n"
    )
    shown = mmrag("run", "--config", str(tmp_path / "run.yaml"), "--limit", "3",
                  "--out", str(tmp_path / "run"), "--json")  # fmt: skip
    assert json.loads(shown.stdout)["all"]["sessions"] == 3
    (tmp_path / "bad.yaml").write_text("agnet: random\n")
    assert "agnet" in mmrag("run", "--config", str(tmp_path / "bad.yaml"), code=2).stderr
    (tmp_path / "bad.yaml").write_text("limit: 0\n")
    assert "at least 1" in mmrag("run", "--config", str(tmp_path / "bad.yaml"), code=2).stderr


@pytest.mark.parametrize(
    ("flags", "words", "code"),
    [
        (["--agent", "nobody"], "no agent is called 'nobody'", 2),
        (["--judge", "nobody"], "no judge is called 'nobody'", 2),
        (["--stop", "strikes"], "whole number|strikes", 2),
        (["--data", "/nowhere"], "is no data set", 2),
        (["--data", "crag-mm:/nowhere"], "no such file", 2),
        (["--out", "/proc/run"], "cannot be written", 1),
        (["--severities", "1,x"], "whole numbers", 2),
    ],
)
def test_what_cannot_be_run_is_refused(
    data: Path, tmp_path: Path, flags: list[str], words: str, code: int
) -> None:
    given = dict(zip(*[iter(arguments(data, tmp_path / "run"))] * 2, strict=True))
    given.update(dict(zip(*[iter(flags)] * 2, strict=True)))
    done = mmrag("run", *[word for pair in given.items() for word in pair], code=code)
    import re

    assert re.search(words, done.stderr)
    assert done.stderr.count("\n") == 1


def test_only_some_sessions(data: Path, tmp_path: Path) -> None:
    shown = mmrag("run", *arguments(data, tmp_path / "run"), "--sample-id", "s4", "--json")
    assert json.loads(shown.stdout)["all"]["sessions"] == 1


def test_doctor() -> None:
    found = json.loads(mmrag("doctor", "--json").stdout)
    assert found["ok"]
    assert found["device"]
