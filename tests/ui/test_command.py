"""What `mmrag ui` refuses before it says that it can be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from mmrag.errors import ConflictError, SpecError, StoreError, UsageError
from mmrag.local_server import listen
from ui.command import ui


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ports it would have been served at."""
    found: list[int] = []
    monkeypatch.setattr(
        "mmrag.local_server.serve", lambda app, at: found.append(at.getsockname()[1])
    )
    monkeypatch.setattr("ui.server.make_server", lambda runs, live, hosts: object())
    return found


def start(*options: str) -> Any:
    app = typer.Typer()
    app.command()(ui)
    return CliRunner().invoke(app, options)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (("--agent", "foo"), SpecError, "no agent is called 'foo'"),
        (("--agent", "no spec"), SpecError, "is not a spec"),
        (("--data", "nope"), SpecError, "is not a data set"),
        (("--search", "nope"), StoreError, "no index here"),
        (("--host", "300.1.1.1"), UsageError, "--host"),
    ],
)
def test_it_refuses_at_the_start(
    options: tuple[str, ...],
    error: type[Exception],
    words: str,
    served: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = start("--port", "0", *options)
    assert isinstance(result.exception, error)
    assert words in str(result.exception)
    assert "open" not in result.stderr
    assert served == []


def test_a_port_that_is_none_or_is_taken(
    served: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert start("--port", "99999").exit_code == 2
    with listen("127.0.0.1", 0) as taken:
        result = start("--port", str(taken.getsockname()[1]))
    assert isinstance(result.exception, ConflictError)
    assert "--port" in str(result.exception)
    assert "open" not in result.stderr
    assert served == []


def test_it_says_the_port_that_it_has(
    served: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = start("--port", "0", "--search", "none", "--agent", "random")
    assert result.exit_code == 0, result.output
    assert f"0 runs; open http://127.0.0.1:{served[0]}" in result.stderr
