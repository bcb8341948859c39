"""Logs of Inspect, out and in: by hand, and by Inspect's own package where it is installed."""

from __future__ import annotations

import base64
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from exchange_parts import PACKAGES, SCRIPT, write_run
from small_runs import picture

from mmrag.errors import DataError
from mmrag.records import Outcome, Status
from simulator.exchange.exports import export_run
from simulator.exchange.imports import import_file
from simulator.exchange.inspect import read_log
from simulator.run.results.run_scoring import score_run
from simulator.store.run_reader import RunReader


@pytest.fixture
def log(tmp_path: Path) -> Path:
    with RunReader(write_run(tmp_path / "run")) as run:
        export_run(run, tmp_path / "log.eval")
    return tmp_path / "log.eval"


def entry(log: Path, name: str) -> Any:
    with zipfile.ZipFile(log) as opened:
        return json.loads(opened.read(name))


def test_a_conversation_is_a_sample_with_its_picture_and_a_score_per_turn(log: Path) -> None:
    sample = entry(log, "samples/s000_epoch_1.json")
    said = sample["messages"]
    assert [m["role"] for m in said] == ["user", "assistant", "user", "assistant", "user"]
    (image,) = [part for part in said[0]["content"] if part["type"] == "image"]
    uri = sample["attachments"][image["image"].removeprefix("attachment://")]
    assert uri == f"data:image/jpeg;base64,{base64.b64encode(picture(0)).decode()}"
    assert {name: score["value"] for name, score in sample["scores"].items()} == {
        "conversation": 0.3333, "turn 1": "C", "turn 2": "N",
    }  # fmt: skip
    assert sample["scores"]["turn 1"]["explanation"] == "perfect: equal & <b>well</b>"
    (failed,) = [e for e in sample["events"] if e["event"] == "error"]
    assert failed["error"]["message"] == "boom <b>"
    begun = [e["id"] for e in sample["events"] if e["event"] == "span_begin"]
    ended = [e["id"] for e in sample["events"] if e["event"] == "span_end"]
    assert sorted(begun) == sorted(ended)
    assert len(set(begun)) == len(begun) == 3 + 4


def test_the_header_has_the_figures_of_mmrag_score(log: Path, tmp_path: Path) -> None:
    header = entry(log, "header.json")
    with RunReader(tmp_path / "run") as run:
        figures = score_run(run)["all"]
    overall, *conditions = header["results"]["scores"]
    assert overall["metrics"]["truthfulness"]["value"] == figures["truthfulness_score"]
    assert {score["name"] for score in conditions} == {"clean", "dark@3"}
    assert header["status"] == "success"
    assert header["eval"]["model"] == "mmrag/grounded:ocr=off"


def test_the_viewers_list_has_answers_and_names_the_ends_of_intervals(log: Path) -> None:
    (first, *_) = [s for s in entry(log, "summaries.json") if s["id"] == "s000"]
    assert first["scores"]["turn 1"]["answer"] == "answer 0-0"
    assert first["scores"]["conversation"]["answer"] == "I don't know"  # what was said last
    sample = entry(log, "samples/s000_epoch_1.json")
    assert sample["scores"]["conversation"]["answer"] == "I don't know"
    begun = [e for e in sample["events"] if e["event"] == "span_begin" and "parent_id" not in e]
    assert [(e["type"], e["name"]) for e in begun] == [
        (None, f"turn {n + 1}: question {n} of 0?") for n in range(3)
    ]
    names = set(entry(log, "header.json")["results"]["scores"][0]["metrics"])
    assert {"truthfulness", "truthfulness (95 % from)", "truthfulness (95 % to)"} <= names
    assert not [name for name in names if name.endswith((".low", ".high"))]


def test_no_name_leads_out_of_the_log(log: Path) -> None:
    with zipfile.ZipFile(log) as opened:
        names = opened.namelist()
    assert not [name for name in names if ".." in name.split("/") or name.startswith("/")]
    assert len([name for name in names if name.startswith("samples/")]) == 3


def test_what_went_out_comes_in_with_the_same_scores(log: Path, tmp_path: Path) -> None:
    assert import_file(log, tmp_path / "back") == 12
    with RunReader(tmp_path / "run") as before, RunReader(tmp_path / "back") as after:
        assert before.session_keys() == after.session_keys()
        for key in before.session_keys():
            one, other = before.session(*key), after.session(*key)
            assert [t.query for t in one.turns] == [t.query for t in other.turns]
            assert [t.reference for t in one.turns] == [t.reference for t in other.turns]
            if one.capture is not None:
                assert other.capture is not None
                assert one.capture.image.data == other.capture.image.data
            same = [(r.status, r.reply and r.reply.text) for r in before.turns(*key)]
            assert same == [(r.status, r.reply and r.reply.text) for r in after.turns(*key)]
        assert score_run(before)["all"] == score_run(after)["all"]


def foreign(path: Path, **more: Any) -> Path:
    """A log as another evaluation leaves it: a tool, a target of two, no word of ours."""
    sample = {
        "id": 7, "epoch": 1, "input": "What is it?", "target": ["a kettle", "kettle"],
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "What is it?"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "c1", "function": "look", "arguments": {"at": 1}, "type": "function"}]},
            {"role": "tool", "content": "a photo", "tool_call_id": "c1", "function": "look"},
            {"role": "assistant", "content": [{"type": "text", "text": "A kettle"}]},
        ],
        "scores": {"match": {"value": 1.0, "explanation": "same"}}, "metadata": {},
        "model_usage": {"m": {"input_tokens": 5, "output_tokens": 2}}, "total_time": 1.5, **more,
    }  # fmt: skip
    path.write_text(json.dumps({"version": 2, "eval": {"task": "t"}, "samples": [sample]}))
    return path


def test_a_log_of_somebody_elses_evaluation(tmp_path: Path) -> None:
    assert import_file(foreign(tmp_path / "log.json"), tmp_path / "run") == 1
    with RunReader(tmp_path / "run") as run:
        (result,) = run.turns("7")
        (turn,) = run.session("7").turns
    assert turn.reference.all_texts == ("a kettle", "kettle")
    assert result.reply is not None
    assert result.reply.text == "A kettle"
    assert result.reply.trace[0].info == {"gave": "a photo", "arguments": '{"at":1}'}
    assert (result.seconds, result.reply.usage.input_tokens) == (1.5, 5)
    assert result.verdict is not None
    assert (result.verdict.outcome, result.verdict.judge) == (Outcome.PERFECT, "inspect/match")


def test_a_sample_that_failed_is_a_failure_of_the_agent(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "What is it?"}]
    path = foreign(tmp_path / "log.json", messages=messages, scores=None, error={"message": "down"})
    import_file(path, tmp_path / "run")
    with RunReader(tmp_path / "run") as run:
        (result,) = run.turns("7")
    assert (result.status, result.error) == (Status.AGENT_ERROR, "down")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"no json at all", "not what Inspect writes"),
        (b'{"version": 2}', "not what Inspect writes"),
        (b'{"eval": {}, "samples": []}', "without samples"),
        (b'{"eval": {}, "samples": [{"id": 1, "messages": 3}]}', "not what Inspect writes"),
        (b'{"eval": {}, "samples": [{"id": 1}]}', "nobody asks anything"),
        (b"[" * 100_000, "not what Inspect writes"),
        (b"\xff\xfe\x00", "not what Inspect writes"),
        (b"PK\x03\x04 cut", "not what Inspect writes"),
    ],
)
def test_what_is_no_log_is_one_line(data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.eval").write_bytes(data)
    with pytest.raises(DataError, match=words):
        import_file(tmp_path / "x.eval", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_damaged_log_brings_nothing_in(log: Path, tmp_path: Path) -> None:
    whole = log.read_bytes()
    place = whole.index(b"samples/s000 dark@3") + 60  # in the packed bytes of the second sample
    log.write_bytes(whole[:place] + b"\x00\xff" * 8 + whole[place + 16 :])
    with pytest.raises(DataError):
        import_file(log, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_sample_larger_than_the_limit_is_not_unpacked(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_log, "MAX_SAMPLE", 1000)
    with pytest.raises(DataError, match="unpacked"):
        import_file(log, tmp_path / "back")


@pytest.mark.parametrize(
    "more",
    [
        {"total_time": "nan"},
        {"total_time": -1.0},
        {"total_time": 1e300},
        {"model_usage": {"m": {"total_cost": "inf"}}},
        {"model_usage": {"m": {"input_tokens": 2**63}}},
        {"model_usage": {"m": {"output_tokens": -1}}},
        {"model_usage": {f"m{n}": {"input_tokens": 2**31 - 1} for n in range(2)}},
        {"scores": {"match": {"value": 1.0, "metadata": [3]}}},
        {"metadata": {"turns": [3]}},
        {"metadata": {"session_id": "x" * 2000}},
    ],
)
def test_what_no_run_could_count_is_one_line(more: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(DataError):
        import_file(foreign(tmp_path / "log.json", **more), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "more",
    [
        {"scores": {"match": {"value": 1.0, "metadata": {"outcome": ["perfect"]}}}},
        {"scores": {"match": {"value": {"a": 1}}}},
        {"metadata": {"turns": [{"query": 3, "domain": [], "accepted": [None]}]}},
    ],
)
def test_odd_words_about_a_sample_leave_it_a_turn(more: dict[str, Any], tmp_path: Path) -> None:
    import_file(foreign(tmp_path / "log.json", **more), tmp_path / "run")
    with RunReader(tmp_path / "run") as run:
        assert score_run(run)["all"]["asked"] == 1


def test_turns_that_are_no_objects_are_refused(tmp_path: Path) -> None:
    odd = foreign(tmp_path / "log.json", metadata={"turns": [{}, "x"]})
    with pytest.raises(DataError, match="turns are not objects; leave them out"):
        import_file(odd, tmp_path / "run")


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
@pytest.mark.parametrize("place", ["arguments", "metadata", "messages"])
def test_a_small_log_that_unpacks_to_millions_of_values_is_refused(
    name: str, place: str, tmp_path: Path
) -> None:
    """Twenty million empty lists take 58 KB packed, and 1.5 GB as lists."""
    many = b"[" + b"[]," * 20_000_000 + b"[]]"
    said = {
        "arguments": b'"messages":[{"role":"assistant","tool_calls":[{"arguments":%b}]}]' % many,
        "metadata": b'"metadata":{"a":%b}' % many,
        "messages": b'"messages":%b' % many,
    }[place]
    sample = b'{"id":1,' + said + b"}"
    if name == "log.json":
        (tmp_path / name).write_bytes(b'{"eval":{},"samples":[' + sample + b"]}")
    else:
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as log:
            log.writestr("samples/1_epoch_1.json", sample)
        assert (tmp_path / name).stat().st_size < 200_000
    with pytest.raises(DataError, match="values"):
        import_file(tmp_path / name, tmp_path / "run")


@pytest.mark.parametrize(
    ("image", "words"),
    [
        ("file:///etc/passwd", "not in the log"),
        ("https://a.example/x.jpg", "not in the log"),
        ("attachment://gone", "not in the log"),
        ("data:image/png;base64,AAAA", "cannot be read"),
    ],
)
def test_no_picture_is_got_from_outside_the_log(image: str, words: str, tmp_path: Path) -> None:
    content = [{"type": "text", "text": "What?"}, {"type": "image", "image": image}]
    messages = [{"role": "user", "content": content}, {"role": "assistant", "content": "It."}]
    path = foreign(tmp_path / "log.json", messages=messages)
    with pytest.raises(DataError, match=words):
        import_file(path, tmp_path / "run")


@pytest.mark.filterwarnings("ignore")
def test_read_logs_what_we_write(log: Path) -> None:
    pytest.importorskip("inspect_ai", reason=PACKAGES.format("inspect-ai"))
    from inspect_ai.log import (
        read_eval_log,
        read_eval_log_sample_summaries,
        resolve_sample_attachments,
    )

    found = read_eval_log(str(log))
    assert found.status == "success"
    assert found.samples is not None
    assert len(found.samples) == 3
    by_name = {str(sample.id): sample for sample in found.samples}
    sample = resolve_sample_attachments(by_name["s000"])
    assert sample.scores is not None
    assert {n: s.value for n, s in sample.scores.items()}["turn 1"] == "C"
    assert sample.messages[0].content[1].image.startswith("data:image/jpeg")
    (attack,) = set(by_name) - {"s000", "s000 dark@3"}
    assert by_name[attack].messages[0].text.startswith(SCRIPT)
    assert [s.message_count for s in read_eval_log_sample_summaries(str(log))] == [5, 5, 5]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["theirs.eval", "theirs.json"])
def test_we_read_what_inspect_writes(name: str, log: Path, tmp_path: Path) -> None:
    """Their `.eval` is packed by Zstandard."""
    pytest.importorskip("inspect_ai", reason=PACKAGES.format("inspect-ai"))
    from inspect_ai.log import read_eval_log, write_eval_log

    write_eval_log(read_eval_log(str(log)), str(tmp_path / name))
    assert import_file(tmp_path / name, tmp_path / "back") == 12
    with RunReader(tmp_path / "run") as before, RunReader(tmp_path / "back") as after:
        assert score_run(before)["all"] == score_run(after)["all"]
