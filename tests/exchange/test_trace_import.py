"""Traces as runs: what real instrumentations wrote, every export, holes, secrets, asking again.

`openai_v2*.jsonl` are what opentelemetry-instrumentation-openai-v2 2.4b0 wrote with both settings
of message content, `openllmetry.jsonl` opentelemetry-instrumentation-openai 0.62.4 and
`openinference.jsonl` openinference-instrumentation-openai 0.1.66, of the same six calls of a
server that answers `answer to: …`; only stack traces were taken out.

`phoenix.json` is `/v1/projects/NAME/spans` of arize-phoenix 20.26.1 and `phoenix_frame.jsonl` its
client's data frame (3.5.0, `to_json(orient="records", lines=True)`); `mlflow.jsonl` is
`trace.to_json()` of mlflow 3.17.2, by autolog for openai 3.57 and `mlflow.trace`. Both are of two
conversations of two turns with a picture and a tool, one with an agent and a named session, one of
bare calls; MLflow's third is a chain with an argument of its own name. Taken out: tools' schemas,
settings of models, tags, and what is written twice. Langfuse's are after its source of August 2026.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag
from exchange_parts import write_run
from small_runs import ByNumber, make_session, picture, run_all

from mmrag.errors import DataError
from mmrag.records import Outcome, Status
from simulator import evaluate, load_run
from simulator.exchange.exports import export_run
from simulator.exchange.imports import import_traces
from simulator.store.run_reader import RunReader

HERE = Path(__file__).parent / "traces"
REAL = ("openai_v2", "openai_v2_events", "openllmetry", "openinference")


def imported(source: Path, folder: Path) -> RunReader:
    import_traces(source, folder)
    return RunReader(folder)


def told(run: RunReader) -> list[list[tuple[str, str, str]]]:
    return [
        [
            (str(r.status), r.query, r.reply.text if r.reply else "")
            for r in run.turns(session.id, session.degradation)
        ]
        for session in run.sessions()
    ]


WHOLE = [
    [("answered", "Who makes this?", "answer to: Who makes this?"),
     ("answered", "How old is it?", "answer to: made in 1999")],
    [("answered", "Another talk?", "answer to: Another talk?")],
    [("agent_error", "Please fail", "")],
]  # fmt: skip


@pytest.mark.parametrize("name", ["openai_v2_events", "openinference"])
def test_what_instrumentations_write_becomes_conversations(name: str, tmp_path: Path) -> None:
    with imported(HERE / f"{name}.jsonl", tmp_path / "run") as run:
        assert told(run) == WHOLE
        first, *others = run.sessions()
        assert first.capture is not None
        assert first.capture.image.pil().size == (16, 16)
        assert all(session.capture is None for session in others)
        reply = run.turns(first.id)[1].reply
        assert reply is not None
        assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.calls) == (
            22, 14, 2,
        )  # fmt: skip
        assert [step.name for step in reply.trace] == ["generate", "tool look_up", "generate"]
        assert [step.info.get("model") for step in reply.trace] == ["m-1", None, "m-1"]
        assert reply.trace[1].info["gave"] == "made in 1999"


def test_questions_that_a_writer_dropped_are_holes(tmp_path: Path) -> None:
    with imported(HERE / "openai_v2.jsonl", tmp_path / "run") as run:
        assert told(run) == [[("data_error", "", ""), WHOLE[0][1]], *WHOLE[1:]]
        assert "no question" in (next(run.results()).error or "")
    with imported(HERE / "openllmetry.jsonl", tmp_path / "other") as run:
        assert told(run) == [*[[("data_error", "", "")]] * 3, *WHOLE[1:]]


@pytest.mark.parametrize("name", REAL)
def test_no_secret_is_kept(name: str, tmp_path: Path) -> None:
    source = (HERE / f"{name}.jsonl").read_bytes()
    assert b"sk-spansecret12345678" in source
    assert b"sk-errorsecret12345678" in source
    imported(HERE / f"{name}.jsonl", tmp_path / "run").close()
    for file in (tmp_path / "run").rglob("*"):
        if file.is_file():
            assert b"secret" not in file.read_bytes(), file


def test_export_and_import_give_the_same_score(tmp_path: Path) -> None:
    sessions = [make_session(i, turns=2 + i % 5) for i in range(12)]
    run_all(tmp_path / "run", sessions, ByNumber())
    load_run(tmp_path / "run").export(tmp_path / "spans.jsonl", to="otel")
    imported(tmp_path / "spans.jsonl", tmp_path / "back").close()
    before, after = (load_run(tmp_path / n).score(resamples=50)["all"] for n in ("run", "back"))
    assert before["total"] == after["total"] == sum(len(s.turns) for s in sessions)
    same = {k for k in before if isinstance(before[k], int | float)} - {"ego"}
    assert len(same) > 8
    assert {k: before[k] for k in same} == {k: after[k] for k in same}


def test_conditions_failures_and_markup_come_back(tmp_path: Path) -> None:
    with RunReader(write_run(tmp_path / "run")) as run:
        export_run(run, tmp_path / "spans.jsonl", "otel")
        before = [(r.status, r.degradation, r.query, r.reply and r.reply.text, r.verdict)
                  for r in run.results()]  # fmt: skip
    with imported(tmp_path / "spans.jsonl", tmp_path / "back") as back:
        after = [(r.status, r.degradation, r.query, r.reply and r.reply.text, r.verdict)
                 for r in back.results()]  # fmt: skip
        assert after == before
        assert next(back.results()).seconds == 2.0
        found = next(back.results()).reply
        assert found is not None
        assert [step.name for step in found.trace] == ["web search", "tool kg", "generate"]
        assert found.trace[0].evidence[0].text.startswith("page")


def lines(path: Path, *documents: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    return path


def chat(trace: str, start: int, asked: list[Any], answer: str, **more: Any) -> dict[str, Any]:
    about = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps([said("assistant", answer)]),
        **more,
    }
    span = {
        "traceId": trace, "spanId": f"{start:016x}", "name": "chat m",
        "startTimeUnixNano": str(start * 10**9), "endTimeUnixNano": str((start + 1) * 10**9),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in more.items()]
        + [{"key": k, "value": {"stringValue": v}} for k, v in about.items() if k not in more],
    }  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def test_two_wearers_with_the_same_words_are_two_conversations(tmp_path: Path) -> None:
    first, other = [said("user", "What is this?")], said("assistant", "A cup.")
    then = [*first, other, said("user", "How old?")]
    source = lines(
        tmp_path / "t.jsonl",
        chat("a", 1, first, "A cup."), chat("b", 2, first, "A cup."),
        chat("c", 3, then, "Old."), chat("d", 4, then, "New."),
    )  # fmt: skip
    with imported(source, tmp_path / "run") as run:
        assert [len(turns) for turns in told(run)] == [2, 2]


def seen(text: str, *numbers: int) -> dict[str, Any]:
    """A user's message with pictures, as the conventions write it."""
    blobs = [{"type": "blob", "modality": "image", "mime_type": "image/jpeg",
              "content": base64.b64encode(picture(n)).decode()} for n in numbers]  # fmt: skip
    return {"role": "user", "parts": [*blobs, {"type": "text", "content": text}]}


def wearer(name: str, start: int, *pictures: tuple[int, ...]) -> list[dict[str, Any]]:
    """Three traces of a conversation, each with all that was said; `pictures` of the first, the
    second and the third question, as they are in the newest message alone."""
    asked = ["What is this?", "How old?", "And where?"]
    told: list[Any] = []
    found: list[dict[str, Any]] = []
    for n, (text, numbers) in enumerate(zip(asked, pictures, strict=True)):
        found.append(
            chat(f"{name}{n}", start + 10 * n, [*told, seen(text, *numbers)], f"It is {n}.")
        )
        told += [said("user", text), said("assistant", f"It is {n}.")]
    return found


@pytest.mark.parametrize(
    ("pictures", "captures"),
    [
        ([(1,), (1,), (1,)], [None, None]),  # sent again with every question
        ([(1,), (), ()], [None, None]),  # with the first alone
        ([(1,), (), (2,)], [None, 2]),
        ([(1,), (2,), (2,)], [2, None]),
        ([(), (1,), ()], [1, None]),
    ],
)
def test_a_picture_in_the_newest_message_alone_splits_no_conversation(
    pictures: list[tuple[int, ...]], captures: list[int | None], tmp_path: Path
) -> None:
    source = lines(tmp_path / "t.jsonl", *wearer("a", 1, *pictures))
    with imported(source, tmp_path / "run") as run:
        assert [len(turns) for turns in told(run)] == [3]
        (session,) = run.sessions()
        kept = [turn.capture and turn.capture.image.data for turn in session.turns[1:]]
        assert kept == [None if n is None else picture(n) for n in captures]


def test_pictures_tell_wearers_with_the_same_words_apart(tmp_path: Path) -> None:
    one, two = wearer("a", 1, (1,), (1,), (1,)), wearer("b", 2, (2,), (2,), (2,))
    two[1]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["startTimeUnixNano"] = str(5 * 10**9)
    with imported(lines(tmp_path / "t.jsonl", *one, *two), tmp_path / "run") as run:
        assert [len(turns) for turns in told(run)] == [3, 3]
        assert all(turn.capture is None for s in run.sessions() for turn in s.turns)


def test_a_history_with_another_picture_is_another_conversation(tmp_path: Path) -> None:
    asked = [seen("What is this?", 2), said("assistant", "It is 0."), said("user", "How old?")]
    source = lines(tmp_path / "t.jsonl", wearer("a", 1, (1,), (), ())[0], chat("b", 9, asked, "1"))
    with imported(source, tmp_path / "run") as run:
        assert [len(turns) for turns in told(run)] == [1, 1]


def test_a_conversation_goes_on_after_a_tool(tmp_path: Path) -> None:
    call = {"type": "tool_call", "id": "c", "name": "price", "arguments": {"name": "cup"}}
    gave = {"type": "tool_call_response", "id": "c", "response": "9 euros"}
    first = [said("user", "What does it cost?")]
    asks = {"role": "assistant", "parts": [{"type": "text", "content": "Let me see."}, call]}
    then = [*first, asks, {"role": "tool", "parts": [gave]}]
    last = [*then, said("assistant", "Nine."), said("user", "And two?")]
    asking = chat("a", 1, first, "", **{"gen_ai.output.messages": json.dumps([asks])})
    source = lines(
        tmp_path / "t.jsonl", chat("b", 2, then, "Nine."), chat("c", 3, last, "18."), asking
    )
    with imported(source, tmp_path / "run") as run:
        assert told(run) == [
            [("answered", "What does it cost?", "Nine."), ("answered", "And two?", "18.")]
        ]
        reply = next(run.results()).reply
        assert reply is not None
        assert reply.trace[1].info == {"arguments": '{"name":"cup"}', "gave": "9 euros"}


def test_a_conversation_that_is_named_needs_no_history(tmp_path: Path) -> None:
    name = {"gen_ai.conversation.id": "talk 7"}
    source = lines(
        tmp_path / "t.jsonl",
        *(chat(f"t{n}", n, [said("user", "Again?")], f"{n}", **name) for n in (2, 3)),
    )
    with imported(source, tmp_path / "run") as run:
        assert told(run) == [[("answered", "Again?", "2"), ("answered", "Again?", "3")]]
        assert next(run.sessions()).id == "talk 7"


PICTURE = "data:image/jpeg;base64," + base64.b64encode(picture(3)).decode()
ASKED = [
    {"role": "user", "content": [{"type": "text", "text": "Who makes this?"},
                                 {"type": "image_url", "image_url": {"url": PICTURE}}]},
]  # fmt: skip
SEEN = {
    "id": "o1", "type": "GENERATION", "name": "llm", "startTime": "2026-11-01T10:00:00.000Z",
    "endTime": "2026-11-01T10:00:02.000Z", "traceId": "t1", "sessionId": "s1", "input": ASKED,
    "output": {"role": "assistant", "content": "Veldt."},
    "usageDetails": {"input": 11, "output": 7},
}  # fmt: skip
LANGFUSE = {
    "download": {"observations": [{**SEEN, "model": "m"}], "scores": []},
    "api": {"data": [{**SEEN, "providedModelName": "m", "input": json.dumps({"messages": ASKED}),
                      "output": json.dumps(SEEN["output"])}], "meta": {"cursor": None}},
    "bucket": {
        "id": "o1", "type": "GENERATION", "name": "llm", "start_time": "2026-11-01 10:00:00.000000",
        "end_time": "2026-11-01 10:00:02.000000", "trace_id": "t1", "session_id": "s1",
        "parent_observation_id": "", "provided_model_name": "m", "input": json.dumps(ASKED),
        "output": "Veldt.", "usage_details": {"input": 11, "output": 7},
    },
}  # fmt: skip


@pytest.mark.parametrize("document", LANGFUSE.values(), ids=LANGFUSE)
@pytest.mark.parametrize("indent", [None, 2])
def test_exports_of_langfuse(document: Any, indent: int | None, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(document, indent=indent))
    with imported(tmp_path / "t.json", tmp_path / "run") as run:
        assert told(run) == [[("answered", "Who makes this?", "Veldt.")]]
        (session,) = run.sessions()
        assert session.id == "s1"
        assert session.capture is not None
        (result,) = run.results()
        assert result.reply is not None
        assert result.reply.usage.input_tokens == 11
        assert result.seconds == 2.0
        assert result.reply.trace[0].info["model"] == "m"


KETTLE = [("answered", "Who makes this?", "answer to: Who makes this?"),
          ("answered", "What does it cost?", "answer to: 30 euros")]  # fmt: skip
CUP = [("answered", "What is this cup made of?", "answer to: What is this cup made of?"),
       ("answered", "What does a new one cost?", "answer to: 30 euros")]  # fmt: skip
WISH = [("answered", "What is it?", "answer to: What is it?"), KETTLE[1]]


def exported(name: str, folder: Path) -> Path:
    """An export as its tool leaves it, with what MLflow keeps apart."""
    if name == "mlflow_frame.jsonl":  # a row of `search_traces` holds a trace as text
        rows = (HERE / "mlflow.jsonl").read_text().splitlines()
        text = "".join(json.dumps({"trace": one, "state": "OK"}) + "\n" for one in rows)
        text = text.replace("/", r"\/")  # as pandas writes it
    else:
        text = (HERE / name).read_text()
    (folder / "attachments").mkdir()
    for one in re.findall(r"mlflow-attachment:[\\/]+([0-9a-f-]+)", text):
        (folder / "attachments" / one).write_bytes(picture(3))
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    "name", ["phoenix.json", "phoenix_frame.jsonl", "mlflow.jsonl", "mlflow_frame.jsonl"]
)
def test_exports_of_phoenix_and_mlflow_come_through_whole(name: str, tmp_path: Path) -> None:
    with imported(exported(name, tmp_path), tmp_path / "run") as run:
        assert told(run) == [KETTLE, CUP, *([WISH] if "mlflow" in name else [])]
        sessions = list(run.sessions())
        assert [s.id for s in sessions[::2]] == ["kettle", "text"][: len(sessions[::2])]
        assert [s.capture is not None for s in sessions] == [True, True, False][: len(sessions)]
        assert [s.turns[1].capture for s in sessions] == [None] * len(sessions)
        for session in sessions:
            first, then = (one.reply for one in run.turns(session.id))
            assert first is not None
            assert then is not None
            used = [(u.input_tokens, u.output_tokens, u.calls) for u in (first.usage, then.usage)]
            assert used == [(12, 7, 1), (30, 14, 2)]
            assert {step.info["model"] for step in then.trace if "model" in step.info} == {"m-1"}
            begun = [step.start for step in then.trace]
            assert begun == sorted(begun)
            assert all(0 < one.seconds < 9 for one in run.turns(session.id))
            (call,) = (step for step in then.trace if step.name == "tool price")
            assert call.info == {"arguments": '{"name":"Veldt kettle"}', "gave": "30 euros"}


def test_pictures_that_lie_elsewhere_are_left_out(tmp_path: Path) -> None:
    with imported(HERE / "mlflow.jsonl", tmp_path / "run") as run:
        assert told(run) == [KETTLE, CUP, WISH]
        assert [session.capture for session in run.sessions()] == [None] * 3


def test_traces_are_judged_and_asked_again_and_paired(tmp_path: Path) -> None:
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    imported(exported("mlflow.jsonl", tmp_path), theirs).close()
    load_run(theirs).rejudge(progress=False)
    assert load_run(theirs).score(resamples=0)["all"]["truthfulness_score"] == 1.0
    run = evaluate(lambda query: "Quill.", str(theirs), out=mine, progress=False,
                   degrade="low-light@3")  # fmt: skip
    with RunReader(mine) as reader:
        conditions = [session.degradation for session in reader.sessions()]
        assert conditions == ["low-light@3", "low-light@3", "clean"]  # which has no picture
        assert next(reader.results()).verdict.outcome is Outcome.INCORRECT  # type: ignore[union-attr]
    (one,) = load_run(theirs).compare(run)["comparisons"]
    assert one["sessions"] == 3
    assert one["flips"]["lost"] == 6


def test_the_command_line(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    done = mmrag("import", str(HERE / "openinference.jsonl"), "--from", "otel", "--out", out)
    assert "4 turns brought in" in done.stderr
    assert "Nobody has judged them" in done.stderr
    wrong = mmrag("import", str(HERE / "openinference.jsonl"), "--from", "zipkin", code=2)
    assert "--from otel" in wrong.stderr


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("not json\n", "no JSON"), ("{}\n", "no span in it"), ('{"resourceSpans": 7}\n', "no span"),
        ("", "no span"), ('{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}\n', "no span"),
        ("[" * 100_000, "no JSON"),
    ],
)  # fmt: skip
def test_what_is_no_trace_is_one_line(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(DataError, match=why):
        import_traces(tmp_path / "t.jsonl", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_times_that_lie_give_no_negative_seconds(tmp_path: Path) -> None:
    document = chat("a", 5, [said("user", "q?")], "a")
    span = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    span["endTimeUnixNano"] = "1"
    with imported(lines(tmp_path / "t.jsonl", document), tmp_path / "run") as run:
        assert next(run.results()).seconds == 0.0
        assert next(run.results()).status is Status.ANSWERED
