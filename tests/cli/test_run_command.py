"""The life of a run through the command line: run, resume, score, show, rejudge, export."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from called_command import mmrag
from crag_mm_rows import v1_row, write
from small_runs import picture

from mmrag.cache import CacheStats
from mmrag.errors import ConflictError, UsageError
from mmrag.records import Usage
from simulator.application.execution import drop_failed_turns
from simulator.parts.run_folder import bind_run_config
from simulator.run.capture_optics import parse_degrade
from simulator.run.run_config import RunConfig, load_config
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore


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


AGENT = """
import json, pathlib, sys, time
here = pathlib.Path(__file__).parent
for line in sys.stdin:
    turn = json.loads(line)
    name = f"{turn['session_id']}/{turn['turn_index']}"
    with (here / "asked").open("a") as file:
        file.write(name + "\\n")
    if name in (here / "broken").read_text().split():
        print("no JSON", flush=True)
        continue
    time.sleep(float((here / "wait").read_text()))
    print(json.dumps({"text": ["first", "second"][turn["turn_index"]]}), flush=True)
"""


class Talkative:
    """A program as agent that writes down what it is asked, and fails where it is told to."""

    def __init__(self, folder: Path, data: Path) -> None:
        self._folder, self._data = folder, data
        (folder / "agent.py").write_text(AGENT)
        self.fails_at()
        self.takes(0)

    def fails_at(self, *turns: str) -> None:
        (self._folder / "broken").write_text(" ".join(turns))

    def takes(self, seconds: float) -> None:
        (self._folder / "wait").write_text(str(seconds))

    def asked(self) -> list[str]:
        file = self._folder / "asked"
        return file.read_text().split() if file.exists() else []

    def arguments(self, out: Path) -> list[str]:
        given = arguments(self._data, out)
        program = f"{sys.executable} {self._folder / 'agent.py'}"
        given[given.index("--agent") + 1] = f"command:run={program}"
        return [*given, "--concurrency", "2"]


@pytest.fixture
def talkative(data: Path, tmp_path: Path) -> Talkative:
    (tmp_path / "agent").mkdir()
    return Talkative(tmp_path / "agent", data)


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    shown = mmrag("run", *arguments(data, out), "--json")
    figures = json.loads(shown.stdout)
    assert figures["all"]["correct"] == 8
    assert figures["all"]["miss"] == 4
    assert figures["run"] == str(out)
    return out


def test_a_second_call_goes_on_and_asks_nothing(talkative: Talkative, tmp_path: Path) -> None:
    given = talkative.arguments(tmp_path / "run")
    first = json.loads(mmrag("run", *given, "--json").stdout)
    asked = talkative.asked()
    assert len(asked) == len(set(asked)) == 12
    assert json.loads(mmrag("run", *given, "--json").stdout) == first
    assert json.loads(mmrag("resume", str(tmp_path / "run"), "--json").stdout) == first
    assert talkative.asked() == asked


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
    [picture] = [line for line in talk.splitlines() if line.startswith("picture: ")]
    assert Path(picture.removeprefix("picture: ")).is_file()  # whole, however long it is
    assert "no session 'nobody'" in mmrag("show", str(run), "nobody", code=1).stderr


def test_show_says_what_the_cache_saved(run: Path, tmp_path: Path) -> None:
    with RunReader(run) as there:
        assert there.meta("cache") is None  # the scripted agent searches nothing
    assert "cache" not in mmrag("show", str(run)).stdout
    saved = Usage(input_tokens=1200, output_tokens=30, calls=3, cost=0.5)
    with RunStore(tmp_path / "saving") as store:
        store.set_meta("cache", CacheStats(hits=3, misses=1, saved=saved))
    shown = " ".join(mmrag("show", str(tmp_path / "saving")).stdout.split())
    assert "cache: 3 of 4 model calls and searches answered from it" in shown
    assert "saved 1,200 input and 30 output tokens, $0.5000." in shown
    told = json.loads(mmrag("show", str(tmp_path / "saving"), "--json").stdout)["cache"]
    assert told["hits"] == 3


def test_each_condition_of_a_run_has_a_line(data: Path, tmp_path: Path) -> None:
    several = ["--degrade", "clean,rotated@3", "--limit", "2"]
    shown = mmrag("run", *arguments(data, tmp_path / "run"), *several).stdout
    assert "strict, two failures in a row end a conversation, clean" in shown
    lines = shown.partition("by condition")[2].splitlines()
    told = [line.split() for line in lines if line.startswith(("clean", "rotated@3"))]
    assert [words[:2] for words in told] == [["clean", "4"], ["rotated@3", "4"]]
    assert told[0][2:] == told[1][2:]
    again = mmrag("score", str(tmp_path / "run"), "--condition", "clean").stdout
    assert "by condition" not in again


@pytest.mark.parametrize(
    ("ego", "tables"), [((True, True), 1), ((True, False), 2), ((False, False), 1)]
)
def test_what_is_all_egocentric_is_told_once(
    tmp_path: Path, ego: tuple[bool, bool], tables: int
) -> None:
    lines = [
        {"session_id": f"s{n}", "turn_index": 0, "outcome": "correct", "is_ego": one}
        for n, one in enumerate(ego)
    ]
    (tmp_path / "o.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = mmrag("score", str(tmp_path / "o.jsonl")).stdout
    assert shown.count("truthfulness") == tables


def test_one_of_a_thing_is_told_as_one(data: Path, tmp_path: Path) -> None:
    done = mmrag("run", *arguments(data, tmp_path / "run"), "--limit", "1")
    assert "1 conversation, 2 turns asked" in " ".join(done.stdout.split())


def test_the_note_of_failures_has_one_full_stop(talkative: Talkative, tmp_path: Path) -> None:
    talkative.fails_at("s0/0")
    done = mmrag("run", *talkative.arguments(tmp_path / "run"), "--limit", "1")
    assert ". Ask them again with" in done.stderr
    assert ".. Ask them" not in done.stderr
    given = [*talkative.arguments(tmp_path / "nobody"), "--limit", "1"]
    given[given.index("--agent") + 1] = "http:url=http://localhost:9"
    done = mmrag("run", *given, code=1)
    assert "cannot reach http://localhost:9 (" in done.stderr
    assert "); is the agent running? Ask them" in done.stderr


def test_judging_again_makes_no_run_of_a_typing_error(run: Path, tmp_path: Path) -> None:
    typo = tmp_path / "rnu"
    assert "is not a run" in mmrag("judge", "run", str(typo), "--judge", "exact", code=1).stderr
    assert not typo.exists()


def test_a_run_is_not_gone_on_with_under_another_judge(
    talkative: Talkative, tmp_path: Path
) -> None:
    out = str(tmp_path / "run")
    talkative.fails_at("s1/0")
    mmrag("run", *talkative.arguments(tmp_path / "run"))
    mmrag("judge", "run", out, "--judge", "fixed:outcome=incorrect")
    done = mmrag("resume", out, "--errors", code=2)
    assert "shows the verdicts of fixed" in done.stderr
    cure = done.stderr.strip().rpartition(": mmrag ")[2]
    mmrag(*shlex.split(cure))
    talkative.fails_at()
    assert json.loads(mmrag("resume", out, "--errors", "--json").stdout)["all"]["correct"] == 12


def test_a_run_is_scored_under_its_own_rule_unless_told_otherwise(
    data: Path, tmp_path: Path
) -> None:
    given = [*arguments(data, tmp_path / "run"), "--stop", "strikes(1)", "--seed", "5"]
    given[given.index("--agent") + 1] = "faulty:agent=random,errors=0.5"
    made = json.loads(mmrag("run", *given, "--agent-errors", "incorrect", "--json").stdout)
    assert made["options"]["agent_errors"] == "incorrect"
    out = str(tmp_path / "run")
    scored = json.loads(mmrag("score", out, "--json").stdout)
    judged = json.loads(mmrag("judge", "run", out, "--judge", "exact", "--json").stdout)
    assert scored["options"] == judged["options"] == made["options"]
    assert scored["all"] == judged["all"] == made["all"]
    told = mmrag("score", out, "--stop", "never", "--agent-errors", "missing", "--json")
    assert json.loads(told.stdout)["options"] == {
        **made["options"], "stop": "never", "agent_errors": "missing",
    }  # fmt: skip
    assert "agent errors count as incorrect" in mmrag("score", out).stdout


def test_export(run: Path, tmp_path: Path) -> None:
    mmrag("export", str(run), str(tmp_path / "turns.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "turns.jsonl").read_text().splitlines()]
    assert len(lines) == 12
    assert lines[1]["outcome"] == "perfect"
    mmrag("export", str(run), str(tmp_path / "turns.parquet"))
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "turns.parquet").to_pylist()
    assert [row["reply"] for row in table] == [line["reply"] for line in lines]


def test_errors_are_asked_again(talkative: Talkative, tmp_path: Path) -> None:
    """The failed turn and those after it, whose history lacked it; no other."""
    out = tmp_path / "run"
    talkative.fails_at("s1/0", "s4/1")
    given = talkative.arguments(out)
    first = json.loads(mmrag("run", *given, "--json").stdout)
    assert first["statuses"]["agent_error"] == 2
    assert first["all"]["coverage"] < 1
    before = talkative.asked()
    still = json.loads(mmrag("resume", str(out), "--errors", "--json").stdout)
    assert still["statuses"] == first["statuses"]
    assert sorted(talkative.asked()[len(before) :]) == ["s1/0", "s1/1", "s4/1"]
    talkative.fails_at()
    again = json.loads(mmrag("run", *given, "--rerun", "errors", "--json").stdout)
    assert again["statuses"] == {"answered": 12}
    assert again["all"]["correct"] == 12
    assert sorted(talkative.asked()[len(before) + 3 :]) == ["s1/0", "s1/1", "s4/1"]


def test_nothing_is_dropped_where_other_settings_are_refused(
    talkative: Talkative, tmp_path: Path
) -> None:
    talkative.fails_at("s1/0")
    given = talkative.arguments(tmp_path / "run")
    first = json.loads(mmrag("run", *given, "--json").stdout)["statuses"]
    said = mmrag("run", *given, "--seed", "9", "--rerun", "errors", code=2)
    assert "other settings" in said.stderr
    with RunReader(tmp_path / "run") as run:
        assert run.turn_counts() == first


def test_a_run_with_forgotten_turns_is_not_finished(talkative: Talkative, tmp_path: Path) -> None:
    talkative.fails_at("s1/0")
    mmrag("run", *talkative.arguments(tmp_path / "run"))
    with RunStore(tmp_path / "run") as store:
        assert drop_failed_turns(store) == 1
    assert not json.loads(mmrag("show", str(tmp_path / "run"), "--json").stdout)["finished"]


def test_ctrl_c_is_one_line_and_loses_nothing(talkative: Talkative, tmp_path: Path) -> None:
    out = tmp_path / "run"
    talkative.takes(0.15)
    # a test run in the background ignores Ctrl-C, and its children inherit that
    heeds = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    code = heeds + "from simulator.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "run", *talkative.arguments(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        while len(talkative.asked()) < 4 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == ""
    assert complaint.count("\n") == 1
    assert f"Continue with: mmrag resume {out}" in complaint
    interrupted = talkative.asked()
    with RunReader(out) as run:
        kept = sum(run.turn_counts().values())
    assert 12 > len(interrupted) >= kept >= len(interrupted) - 1 >= 3
    talkative.takes(0)
    assert json.loads(mmrag("resume", str(out), "--json").stdout)["all"]["correct"] == 12
    assert len(talkative.asked()) - len(interrupted) == 12 - kept


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--agent-errors", "wrong"], "unscored, missing, incorrect; not 'wrong'"),
        (["--condition", "blured@3"], "nothing was run under 'blured@3'; there is clean"),
        (["--stop", "often"], "not a stop policy"),
    ],
)
def test_what_cannot_be_scored_is_refused(run: Path, flags: list[str], words: str) -> None:
    done = mmrag("score", str(run), *flags, code=2)
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_run_in_which_all_failed_says_why(talkative: Talkative, tmp_path: Path) -> None:
    given = [*talkative.arguments(tmp_path / "run"), "--limit", "1"]
    given[given.index("--agent") + 1] = "command:run=/no/such/program"
    done = mmrag("run", *given, code=1)
    last = (
        f"Most turns failed (2 of 2); mmrag show {tmp_path / 'run'} SESSION gives each one's error."
    )
    assert done.stderr.splitlines()[-1] == last
    assert "2 agent_error; the first, turn 1 of s0: the program '/no/such/program'" in done.stderr
    assert f"mmrag resume {tmp_path / 'run'} --errors" in done.stderr
    assert "%" not in done.stdout.split("coverage")[0]  # nothing was scored: no rate is shown
    assert "–" in done.stdout


def test_a_session_is_shown_under_the_condition_it_has(data: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    mmrag("run", *arguments(data, tmp_path / "run"), "--degrade", "rotated@3", "--limit", "1")
    assert "rotated@3" in mmrag("show", out, "s0").stdout
    done = mmrag("show", out, "s0", "--condition", "clean", code=1)
    assert "it was run under rotated@3" in done.stderr


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
    for text, words, code in (
        ("limit: 0\n", "bad.yaml: limit is the number of sessions", 2),
        ("a: b: c\n", "bad.yaml: not YAML", 1),
        ("severities: [1]\n", "bad.yaml: severities (--severities) are for --degrade sweep", 2),
    ):
        (tmp_path / "bad.yaml").write_text(text)
        complaint = mmrag("run", "--config", str(tmp_path / "bad.yaml"), code=code).stderr
        assert words in complaint
        assert complaint.count("\n") == 1


def test_a_flag_takes_the_place_of_a_files_sweep_with_its_severities(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("degrade: sweep\nseverities: [1, 3]\n")
    usual = RunConfig().severities
    assert load_config(tmp_path / "run.yaml").severities == (1, 3)
    assert load_config(tmp_path / "run.yaml", degrade="none").severities == usual
    (tmp_path / "run.yaml").write_text("severities: [1, 3]\n")
    assert load_config(tmp_path / "run.yaml", degrade="sweep").severities == (1, 3)
    every = load_config(tmp_path / "run.yaml", degrade="all")
    conditions = parse_degrade(every.degrade, every.severities)
    assert len(conditions) == 1 + 10 * 2
    assert {"flare@1", "wb@3", "rotated@3", "clean"} <= set(conditions)
    assert len(parse_degrade("sweep", (1, 3))) == 1 + 5 * 2
    with pytest.raises(UsageError, match="sweep stands alone"):
        parse_degrade("clean,sweep")


@pytest.mark.parametrize(
    ("flags", "words", "code"),
    [
        (["--agent", "nobody"], "no agent is called 'nobody'", 2),
        (["--agent", "my_agent.py"], r"python:name=my_agent/MyAgent,", 2),
        (["--agent", "./my_agent.py"], "is not a spec.*python:name=my_agent/MyAgent", 2),
        (["--judge", "nobody"], "no judge is called 'nobody'", 2),
        (["--stop", "strikes"], "whole number|strikes", 2),
        (["--data", "/nowhere"], "is not a data set", 2),
        (["--data", "crag-mm:/nowhere"], "no such file", 2),
        (["--data", "crag-mm:"], "needs a folder", 2),
        (["--out", "/proc/run"], "cannot be written", 1),
        (["--severities", "1,x"], "whole numbers", 2),
        (["--severities", "1"], "for --degrade sweep", 2),
        (["--degrade", "clean,low-light@3", "--severities", "1"], "for --degrade sweep", 2),
        (["--agent", "command"], "agent 'command' lacks the option 'run'", 2),
        (["--seconds", "inf"], "seconds is a number", 2),
        (["--seconds", "nan"], "seconds is a number", 2),
        (["--sample-id", "s12"], "no such session among its 6; there is s2, s1", 2),
        (["--split", "validation"], "no split 'validation' in it; there is train", 2),
    ],
)
def test_what_cannot_be_run_is_refused(
    data: Path, tmp_path: Path, flags: list[str], words: str, code: int
) -> None:
    given = dict(zip(*[iter(arguments(data, tmp_path / "run"))] * 2, strict=True))
    given.update(dict(zip(*[iter(flags)] * 2, strict=True)))
    done = mmrag("run", *[word for pair in given.items() for word in pair], code=code)
    assert re.search(words, done.stderr)
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_only_some_sessions(data: Path, tmp_path: Path) -> None:
    shown = mmrag("run", *arguments(data, tmp_path / "run"), "--sample-id", "s4", "--json")
    assert json.loads(shown.stdout)["all"]["sessions"] == 1


def test_doctor() -> None:
    found = json.loads(mmrag("doctor", "--json").stdout)
    assert found["ok"]
    assert found["device"]
    assert re.search(r"Mitsuba \d.*LLVM", found["renderer"])


def test_the_doctor_says_why_pictures_are_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    from simulator.cli.doctor_checks import examine

    monkeypatch.setattr("simulator.studio.tracing.mitsuba_variant.find_llvm", lambda: None)
    found = examine()
    assert "slow" in found["renderer"]
    assert any("karellen-llvm-core" in hint for hint in found["hints"])
    monkeypatch.undo()
    monkeypatch.setenv("DRJIT_LIBLLVM_PATH", "/nowhere/libLLVM.so")
    assert any("/nowhere/libLLVM.so" in hint for hint in examine()["hints"])


def test_a_run_is_not_gone_on_with_on_another_index(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        bind_run_config(store, RunConfig(), data="d", index="first", judge="j")
        bind_run_config(store, RunConfig(), data="d", index="first", judge="j")
        with pytest.raises(ConflictError, match=r"another search index.*first, now second"):
            bind_run_config(store, RunConfig(), data="d", index="second", judge="j")
        with pytest.raises(ConflictError, match="other data"):
            bind_run_config(store, RunConfig(), data="e", index="first", judge="j")
