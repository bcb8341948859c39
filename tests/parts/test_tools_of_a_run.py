"""`--tools` of a run: given to the agent, kept with its records, shown in the replay."""

from __future__ import annotations

from pathlib import Path

import pytest
from called_command import mmrag

from simulator.store.run_reader import RunReader
from ui.replay.conversation_view import conversation


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
