"""What would fail at every turn is one line before the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from models.conftest import FaultyServer
from typer.testing import CliRunner

from mmrag.errors import SpecError
from mmrag.models import models
from simulator.cli import build


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
        ("401", "OPENAI_API_KEY"),
        ("404", "HTTP 404"),
        ("400", "HTTP 400"),
        ("malformed", "not a chat completion"),
    ],
)
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
