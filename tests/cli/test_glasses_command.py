"""`mmrag glasses` refuses what it cannot be, before anybody waits."""

from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path

import httpx
from called_command import mmrag

from mmrag.local_server import listen
from simulator.run.run_config import GLASSES, RunConfig
from simulator.store.run_store import RunStore


def test_the_agent_is_the_app(tmp_path: Path) -> None:
    said = mmrag("glasses", "--agent", "random", "--out", str(tmp_path / "run"), code=2)
    assert "the app is the agent" in said.stderr


def test_other_machines_need_a_token(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    said = mmrag("glasses", "--host", "0.0.0.0", "--port", "0", "--out", out, code=2)
    assert "--token" in said.stderr


BEGUN = RunConfig(agent=GLASSES, search="none", limit=1, wearer="live")


def test_resume_names_the_way_on(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.set_meta("config", BEGUN)
    way = f"mmrag glasses --wearer live --limit 1 --out {tmp_path / 'run'}"
    for more in ((), ("--errors",)):
        said = mmrag("resume", tmp_path / "run", *more, code=2)
        assert plain(said.stderr).endswith(" ".join((way, *more)))


def test_what_is_refused_is_refused_before_anybody_is_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with RunStore(folder) as store:
        store.set_all_meta({"config": BEGUN, "judge": "builtin"})
        locked = mmrag("glasses", "--port", 0, "--out", folder, code=2).stderr
    other = mmrag("glasses", "--port", 0, "--out", folder, code=2).stderr
    assert "is writing this run" in plain(locked)
    assert f"continue with: mmrag glasses --wearer live --limit 1 --out {folder}" in plain(other)
    assert "waiting for an app" not in locked + other


def test_failed_turns_and_the_report_name_the_command(tmp_path: Path) -> None:
    folder, port, over = tmp_path / "run", free_port(), threading.Event()

    def listens() -> None:
        while not over.wait(0.02):
            with contextlib.suppress(httpx.HTTPError):
                httpx.get(f"http://127.0.0.1:{port}/words", params={"wait": 0})

    app = threading.Thread(target=listens)
    app.start()
    given = ("--limit", 1, "--seconds", 0.1, "--stop", "never")
    said = mmrag("glasses", *given, "--port", port, "--out", folder, code=1).stderr
    over.set()
    app.join()
    assert "waiting for an app" in said
    way = "mmrag glasses --stop never --seconds 0.1 --limit 1 --out"
    assert f"Ask them again with: {way} {folder} --errors" in plain(said)
    mmrag("report", folder, "--out", tmp_path / "report")
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert report["runs"][0]["about"]["command"] == f"{way} NEW"


def plain(said: str) -> str:
    """Without the line breaks of a narrow terminal."""
    return " ".join(said.split())


def test_a_port_that_is_none_is_refused(tmp_path: Path) -> None:
    said = mmrag("glasses", "--port", "99999", "--out", str(tmp_path / "run"), code=2)
    assert "65535" in said.stderr


def free_port() -> int:
    with listen("127.0.0.1", 0) as at:
        return at.getsockname()[1]
