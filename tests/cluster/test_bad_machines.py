"""What can be wrong with machines is one line and the cure."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from called_command import mmrag

from mmrag.errors import ConflictError, MmragError, StoreError, UsageError
from simulator import evaluate
from simulator.cluster import ray_connection as connecting
from simulator.cluster.machines import Machines
from simulator.cluster.ray_connection import ProcessLost, await_call, join_cluster
from simulator.cluster.session_lookup import Sessions
from simulator.cluster.shard_keeper import LeasedConversation
from simulator.cluster.worker import Worker, WorkerSetup
from simulator.parts.isolation_options import IsolationOptions
from simulator.parts.run_parts import Parts
from simulator.run.run_config import RunConfig
from simulator.store.run_store import RunStore

QUICK = ("--data", "mini", "--agent", "random", "--search", "none", "--judge", "exact")
SETTINGS = RunConfig(agent="random", judge="exact", search="none", limit=2)
SEARCHES = "task1:reader=builtin"


def refused(*flags: str, code: int = 2) -> str:
    return " ".join(mmrag("run", *QUICK, *flags, code=code).stderr.split())


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--workers", "2"), "--workers is for runs on many machines: add --backend ray"),
        (("--address", "auto"), "--address is for runs on many machines"),
        (("--backend", "spark"), "--backend 'spark': there is local and ray"),
        (("--backend", "ray", "--address", "ray://head:10001"), "ray job submit"),
        (("--backend", "ray", "--worker-gpus", "99"), "--worker-gpus is a share"),
    ],
)
def test_flags_that_do_not_go_together(flags: tuple[str, ...], said: str) -> None:
    assert said in refused(*flags)


def test_without_ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    said = refused("--backend", "ray", "--out", str(tmp_path / "run"), code=1)
    assert "pip install 'mmrag[ray]'" in said
    assert not (tmp_path / "run").exists()


def test_an_object_cannot_be_sent() -> None:
    with pytest.raises(UsageError, match="an object lives in this process: name the agent by"):
        evaluate(lambda query: "no", backend="ray")


def test_two_drivers_on_one_run(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    with RunStore(tmp_path / "run"):
        said = refused("--backend", "ray", "--out", str(tmp_path / "run"))
    assert "is writing this run" in said


VERSIONS = """Version mismatch: The cluster was started with:
    Ray: 2.9.0
    Python: 3.11.4
This process on node 10.0.0.3 was started with:
    Ray: 2.60.0
    Python: 3.11.4"""  # as Ray 2.60 says it


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError(VERSIONS), "runs another Ray or Python than this process"),
        (ConnectionError("Failed to connect"), "no Ray cluster answers at 127.0.0.1:"),
    ],
)
def test_a_cluster_that_cannot_be_joined(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**_: object) -> None:
        raise error

    fake = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setattr(connecting, "load_ray", lambda: fake)
    with socket.create_server(("127.0.0.1", 0)) as head:
        machines = Machines.read("ray", f"127.0.0.1:{head.getsockname()[1]}")
        with pytest.raises(UsageError, match=said), join_cluster(machines, workers=1):
            pass


def test_a_cluster_that_is_not_there_is_said_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**_: object) -> None:
        raise AssertionError("Ray would try for minutes")

    fake = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setattr(connecting, "load_ray", lambda: fake)
    for address in ("127.0.0.1:1", "nobody.invalid:6379"):
        with (
            pytest.raises(UsageError, match=f"no Ray cluster answers at {address}"),
            join_cluster(Machines.read("ray", address), workers=1),
        ):
            pass


async def _raise(error: Exception) -> Any:
    raise error


def test_a_machine_without_the_package() -> None:
    errors = pytest.importorskip("ray.exceptions")
    died = errors.RayActorError(
        error_msg="it died\nModuleNotFoundError: No module named 'simulator'\n"
    )
    with pytest.raises(UsageError, match="install the same mmrag"):
        asyncio.run(await_call(_raise(died)))


def test_a_full_disk_of_another_machine_is_told_as_it_was_there() -> None:
    errors = pytest.importorskip("ray.exceptions")
    full = StoreError("/runs/big/shards/0: writing failed (No space left on device).")
    there = errors.RayTaskError("Keeper.commit", "Traceback (most recent call last)", full)
    with pytest.raises(StoreError, match=r"^/runs/big/shards/0: writing failed") as found:
        asyncio.run(await_call(_raise(there.as_instanceof_cause())))
    assert type(found.value) is StoreError


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "The actor died.\n\tpid: 7\nWorker exit detail: killed by 9. Some common causes are: x",
            "^killed by 9.$",
        ),
        (
            "The actor died in its creation task\n  File x\nmmrag.errors.StoreError: a full disk",
            "a full disk",
        ),
        ("The actor died.\n\tpid: 7\nThe actor died because its node has died.", "its node has"),
        ("Nobody knows.", "Nobody knows."),
    ],
)
def test_why_a_process_ended(said: str, reason: str) -> None:
    errors = pytest.importorskip("ray.exceptions")
    with pytest.raises(ProcessLost, match=f"{reason}"):
        asyncio.run(await_call(_raise(errors.RayActorError(error_msg=said))))


def test_a_keeper_that_cannot_start_again_ends_the_run() -> None:
    errors = pytest.importorskip("ray.exceptions")
    keeper = SimpleNamespace(
        lease=SimpleNamespace(remote=lambda *_: _raise(errors.RayActorError(error_msg="no room")))
    )
    with pytest.raises(StoreError, match=r"cannot start again.*mmrag resume"):
        asyncio.run(LeasedConversation.take(keeper, 0, "s000", "clean"))


def ready(**other: object) -> None:
    """A worker as Ray would make it, on this machine."""
    source = Parts(SETTINGS).source
    job = WorkerSetup(
        config=SETTINGS, folder=str(Path.cwd()), hosting=IsolationOptions(), concurrency=1,
        data=source.fingerprint, index=None, judge="exact/1",
    )  # fmt: skip
    asyncio.run(Worker(msgspec.json.encode(msgspec.structs.replace(job, **other)), []).ready())


@pytest.mark.parametrize(
    ("other", "kind", "said"),
    [
        ({"folder": "/nowhere"}, UsageError, "no folder /nowhere.*a disk that all of them see"),
        ({"data": "0" * 12}, ConflictError, "another data than the driver's.*Copy the driver's"),
        ({"judge": "exact/0"}, ConflictError, "another judge than the driver's"),
        ({"revision": "abc"}, ConflictError, "another code.*Install the same mmrag"),
        (
            {"config": msgspec.structs.replace(SETTINGS, agent=SEARCHES, search="/no/index")},
            MmragError,
            "/no/index",
        ),
    ],
)
def test_a_worker_that_finds_something_else_says_which_machine_it_is_on(
    other: dict[str, object], kind: type[Exception], said: str
) -> None:
    ready()
    with pytest.raises(kind, match=f"worker on .*{said}"):
        ready(**other)


def test_tools_are_found_by_a_worker_as_by_the_driver() -> None:
    with_tools = msgspec.structs.replace(SETTINGS, tools="world")
    index = Parts(with_tools).index
    assert index is not None
    ready(config=with_tools, index=index)
    with pytest.raises(ConflictError, match="another search index"):
        ready(config=with_tools, index=None)


def test_a_full_disk_where_a_worker_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("simulator.parts.run_parts.make_resources", full)
    with pytest.raises(UsageError, match=r"worker on .*No space left"):
        ready()


def test_data_that_changed_under_a_worker() -> None:
    parts = Parts(SETTINGS)
    sessions = Sessions(parts.sessions, keep=1)
    first, second = list(parts.sessions())

    async def play() -> None:
        for place, session in (second, first, first, second):
            assert (await sessions.get(place, session.id)).id == session.id
        with pytest.raises(ConflictError, match="the data have changed"):
            await sessions.get(second[0], first[1].id)
        with pytest.raises(ConflictError, match="the data have changed"):
            await sessions.get(99, "none")

    asyncio.run(play())
