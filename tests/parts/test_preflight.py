"""What would fail at every turn is one line before the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag
from models.conftest import FaultyServer
from typer.testing import CliRunner

from mmrag.errors import SpecError
from mmrag.models import models
from simulator.cli import build
from simulator.store.run_store import RunReader
from ui.replay.viewmodel import conversation


@pytest.fixture
def server() -> Any:
    made = FaultyServer()
    made.greets = False
    yield made
    made.close()


def run(server: Any, out: Path, model: str = "", judge: str = "exact") -> str:
    model = model or f"openai:name=m,base_url={server.url}"
    result = CliRunner().invoke(
        build(),
        ["run", "--data", "mini", "--search", "none", "--limit", "1", "--out", str(out),
         "--agent", f"llm-only:model=({model})", "--judge", judge],
    )  # fmt: skip
    assert result.exit_code == 1, result.output
    assert not (out / "run.sqlite").exists()
    return str(result.exception)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("401", "OPENAI_API_KEY"), ("404", "HTTP 404"), ("400", "HTTP 400"),
        ("malformed", "no chat completion")
    ]
)  # fmt: skip
def test_a_refusal_ends_it_before_the_first_turn(
    server: Any, tmp_path: Path, fault: str, says: str
) -> None:
    server.script = [fault]
    assert says in run(server, tmp_path / "run")
    assert len(server.bodies) == 1


def test_without_a_key_the_message_says_so_before_anybody_is_asked(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    hosted = run(server, tmp_path / "hosted", "openai:name=gpt-4o")
    assert "asks for a key; set OPENAI_API_KEY in the environment" in hosted
    assert "base_url=http://localhost:8000/v1" in hosted
    assert not server.bodies
    server.script = ["401"]
    assert "asks for a key (401)" in run(server, tmp_path / "own")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    server.script = ["401"]
    assert "refused the key (401)" in run(server, tmp_path / "refused")


def test_a_parameter_that_is_refused_is_named_with_its_option(server: Any, tmp_path: Path) -> None:
    server.script = ["400"]
    server.complaint = "Unsupported parameter: 'max_tokens'"
    assert "max_tokens_field=max_completion_tokens" in run(server, tmp_path / "run")


def test_a_model_that_thinks_too_long_is_told_apart(server: Any, tmp_path: Path) -> None:
    server.reply = {"choices": [{"message": {"content": None}, "finish_reason": "length"}]}
    assert "before it said anything" in run(server, tmp_path / "run")


def test_nobody_there(server: Any, tmp_path: Path) -> None:
    nobody = "openai:name=m,base_url=http://127.0.0.1:9/v1"
    assert "is the server running" in run(server, tmp_path / "run", nobody)


def test_a_judges_model_is_asked_too(server: Any, tmp_path: Path) -> None:
    judge = f"model:model=(openai:name=j,base_url={server.url})"
    server.script = ["", "404"]
    assert "HTTP 404" in run(server, tmp_path / "run", judge=judge)


def test_a_busy_server_is_no_refusal(server: Any, tmp_path: Path) -> None:
    server.script = ["503"]
    result = CliRunner().invoke(
        build(),
        ["run", "--data", "mini", "--search", "none", "--limit", "1", "--out", str(tmp_path / "r"),
         "--agent", f"llm-only:model=(openai:name=m,base_url={server.url})", "--judge", "exact"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", ["gpt-4o", "Qwen/Qwen2-VL-2B"])
def test_a_bare_models_name_is_told_how_it_is_written(name: str) -> None:
    with pytest.raises(SpecError, match=rf"\(openai:name={name}\)"):
        models.create(name)


# -- tools of a run


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("crag") / "q.jsonl.gz"
    mmrag("world", "crag", "mini", "--out", str(out), "--questions", "6")
    return out


def test_a_run_with_tools_keeps_and_replays_every_call(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    settings = ["run", "--data", f"crag:{questions}", "--agent", "crag-task2:reader=builtin",
                "--seconds", "60", "--out", str(out)]  # fmt: skip
    mmrag(*settings, "--tools", "crag-kg:world=mini")
    with RunReader(out) as run:
        assert run.meta("provenance")["index"].startswith("crag-kg-")
        session = next(iter(run.sessions()))
        [result] = run.turns(session.id, session.degradation)
        assert result.reply is not None
        kg = next(step for step in result.reply.trace if step.name == "kg")
        assert kg.steps
        assert all(step.name.startswith("tool ") for step in kg.steps)
        view = conversation(run, "run", session.id, session.degradation)
        names = {bar.name for bar in view.turns[0].bars}
        assert {step.name for step in kg.steps} <= names
    refused = mmrag(*settings, "--tools", "crag-kg:world=mini,seconds=3", code=2).stderr
    assert "tools" in refused, "other tools make another run"


def test_a_kg_server_that_is_not_there_ends_the_run_before_its_first_turn(
    questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = mmrag("run", "--data", f"crag:{questions}", "--agent", "crag-task2:reader=builtin",
                 "--tools", "crag-kg:url=http://127.0.0.1:9", "--out", str(out),
                 code=1)  # fmt: skip
    assert "is it running?" in done.stderr
    assert not out.exists()
