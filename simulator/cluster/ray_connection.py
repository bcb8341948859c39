"""Ray: joined and left, called, and what goes wrong with it in one line."""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Generator
from typing import Any

from mmrag.agent_hooks import cores
from mmrag.errors import MmragError, Unavailable, UsageError, error_text
from simulator.cluster.machines import Machines

_OBJECTS = 256 << 20
"""Bytes of a local cluster's object store: turns are small, and pictures pass one at a time."""

_KNOCKING = 20.0
"""Seconds that the head of a cluster has to take a connection."""


class ProcessLost(Exception):
    """A process of the cluster is gone, and what it was doing with it."""


@contextlib.contextmanager
def join_cluster(machines: Machines, *, workers: int) -> Generator[None]:
    """Join a cluster, or make one of this machine; leave it as it was found."""
    ray = load_ray()
    if ray.is_initialized():  # a notebook's own
        yield
        return
    address = machines.address or os.environ.get("RAY_ADDRESS") or "local"
    local: dict[str, Any] = {
        "num_cpus": max(workers, cores()),
        "object_store_memory": _OBJECTS,
        "include_dashboard": False,
    }
    try:
        _knock(address)
        ray.init(
            address=address, log_to_driver=False, logging_level="ERROR",
            **(local if address == "local" else {}),
        )  # fmt: skip
    except Exception as error:
        raise _refused(address, error) from error
    try:
        with _silent(ray):
            yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Find out at once where nobody listens: Ray tries such a place for minutes."""
    place = re.fullmatch(r"\[?([^/\]]+?)\]?:(\d{1,5})", address)
    if place is not None:
        socket.create_connection((place[1], int(place[2])), timeout=_KNOCKING).close()


@contextlib.contextmanager
def _silent(ray: Any) -> Generator[None]:
    """Keep what machines say of dead workers off the screen: the run tells of them itself.
    `log_to_driver` spares nobody these lines, and there is no other switch."""
    printing: Any = getattr(getattr(ray, "_private", None), "worker", None)
    before = getattr(printing, "_worker_logs_enabled", None)
    if before is None:  # another version of Ray
        yield
        return
    printing._worker_logs_enabled = False
    try:
        yield
    finally:
        printing._worker_logs_enabled = before


def load_ray() -> Any:
    """The library, or a word on how to get it."""
    # both are read when the library is loaded
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise Unavailable(
            "--backend ray needs Ray, which is not installed: pip install 'mmrag[ray]'."
        ) from error
    return ray


async def await_call(reference: Any) -> Any:
    """What a call of an actor returns. Its own error is raised as it was, or `ProcessLost`."""
    with translate_ray_errors():
        return await reference


@contextlib.contextmanager
def translate_ray_errors() -> Generator[None]:
    """Raise what code on another machine raised as it was, and `ProcessLost` where that is gone."""
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        cause: Any = getattr(error, "cause", error)
        if isinstance(cause, MmragError):
            raise cause from None
        raise
    except RayError as error:
        if "ModuleNotFoundError" in str(error):
            raise UsageError(
                "a machine of the cluster cannot import mmrag: install the same mmrag, with "
                f"'mmrag[ray]', for the Python of every machine ({_last_line(error)})."
            ) from error
        raise ProcessLost(_reason(error)) from error


_TELLING = (r"mmrag\.errors\.\w+: (.+)", r"exit detail: (.+)", r"(.*\bnode\b.*)", r"(.+)")
"""What says in a long message why a process ended; the first that is there."""


def _reason(error: Exception) -> str:
    found = next(filter(None, (re.findall(pattern, str(error)) for pattern in _TELLING)), [""])
    return str(found[-1]).partition(" Some common causes")[0][:500]


def _refused(address: str, error: Exception) -> MmragError:
    said = " ".join(error_text(error).split())
    if "ersion mismatch" in said:
        return UsageError(
            f"the cluster at {address} runs another Ray or Python than this process "
            f"({said[:300]}). Install the cluster's versions here, or restart it with these."
        )
    if address == "local":
        return Unavailable(f"Ray does not start on this machine: {said[:300]}.")
    return UsageError(
        f"no Ray cluster answers at {address} ({said[:200]}). Start one there with "
        "`ray start --head`, give another --address, or leave it out for this machine alone. "
        "Where a cluster asks for a token, set RAY_AUTH_MODE=token."
    )


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if "ModuleNotFoundError" in line]
    return lines[-1][:200]
