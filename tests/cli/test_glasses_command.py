"""`mmrag glasses` refuses what it cannot be, before anybody waits."""

from __future__ import annotations

from pathlib import Path

from called_command import mmrag

from simulator.parts.own_agents import GLASSES
from simulator.run.config import RunConfig
from simulator.store.run_store import RunStore


def test_the_agent_is_the_app(tmp_path: Path) -> None:
    said = mmrag("glasses", "--agent", "random", "--out", str(tmp_path / "run"), code=2)
    assert "the app is the agent" in said.stderr


def test_other_machines_need_a_token(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    said = mmrag("glasses", "--host", "0.0.0.0", "--port", "0", "--out", out, code=2)
    assert "--token" in said.stderr


def test_resume_names_the_way_on(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.set_meta("config", RunConfig(agent=GLASSES, search="none"))
    said = mmrag("resume", str(tmp_path / "run"), code=2)
    assert "mmrag glasses --out" in said.stderr


def test_a_port_that_is_none_is_refused(tmp_path: Path) -> None:
    said = mmrag("glasses", "--port", "99999", "--out", str(tmp_path / "run"), code=2)
    assert "65535" in said.stderr
