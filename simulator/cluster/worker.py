"""The process that holds conversations: the same agent, judge and engine as in one process."""

from __future__ import annotations

import asyncio
import os
import platform
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from mmrag.agent_hooks import capacity, cores
from mmrag.agents.external.daemon_threads import DaemonThreads
from mmrag.cache import Cache, CacheStats
from mmrag.errors import ConflictError, MmragError, UsageError
from mmrag.protocols import Agent
from mmrag.records import Reply, TurnResult, Verdict, decode_as, encode
from simulator.cluster.session_lookup import Sessions
from simulator.cluster.shard_keeper import LeasedConversation, LeaseLost
from simulator.parts.isolation_options import IsolationOptions
from simulator.parts.run_parts import Parts
from simulator.run.agent_slots import AgentSlots
from simulator.run.run_config import RunConfig
from simulator.run.runner import ConversationRunner, Progress
from simulator.store.provenance import revision
from simulator.store.shard_files import shard_of


def _commit() -> str | None:
    """The code's commit; that somebody edits a file meanwhile ends no run."""
    found = revision()
    return None if found is None else found.partition("+")[0]


class WorkerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What every worker makes for itself, and must find to be what the driver found."""

    config: RunConfig
    folder: str
    """Where the command was called: what its settings name lies from here."""
    hosting: IsolationOptions
    concurrency: int
    """Conversations at once in one worker."""
    data: str
    index: str | None
    judge: str
    revision: str | None = msgspec.field(default_factory=_commit)


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker says when it can begin."""

    machine: str
    capacity: int | None


class Worker:
    """An actor: one agent, and as many conversations at once as it is given."""

    def __init__(self, job: bytes, keepers: list[Any]) -> None:
        self._job = msgspec.json.decode(job, type=WorkerSetup)
        self._keepers = keepers
        self._cache = Cache()

    async def ready(self) -> bytes:
        """Make the agent and all it needs; raise with the machine's name where that fails."""
        asyncio.get_running_loop().set_default_executor(DaemonThreads())
        try:
            with ThreadPoolExecutor(1) as thread:
                agent = await asyncio.get_running_loop().run_in_executor(thread, self._make)
        except MmragError as error:
            raise type(error)(f"worker on {platform.node()}: {error}") from error
        except OSError as error:
            raise UsageError(f"worker on {platform.node()}: cannot begin ({error}).") from error
        return msgspec.json.encode(Ready(machine=platform.node(), capacity=capacity(agent)))

    async def alive(self) -> None:
        """Return at once."""

    async def hold(self, position: int, session_id: str, degradation: str) -> bytes | None:
        """Hold one conversation; what came of it but its words. None: somebody else has it."""
        session = await self._sessions.get(position, session_id)
        keeper = self._keepers[shard_of(session_id, degradation, len(self._keepers))]
        kept = await LeasedConversation.take(keeper, position, session_id, degradation)
        try:
            progress = await self._conversations.hold(position, session, degradation, kept)
        except LeaseLost:
            return None
        return encode_progress(progress)

    async def stats(self) -> bytes:
        """How often the cache helped."""
        return msgspec.json.encode(self._cache.stats)

    def _make(self) -> Agent:
        job = self._job
        try:
            os.chdir(job.folder)
        except OSError as error:
            raise UsageError(
                f"there is no folder {job.folder}. What a run's settings name must lie at the same "
                "place on every machine: put it on a disk that all of them see."
            ) from error
        parts = Parts(job.config, progress=False)
        same = "Install the same mmrag and models on all machines."
        for what, here, there, cure in (
            ("data", parts.source.fingerprint, job.data, "Copy the driver's data there."),
            ("search index", parts.index, job.index, "Copy the driver's index there."),
            ("judge", parts.judge.id, job.judge, same),
            ("code", _commit(), job.revision, "Install the same mmrag on all machines."),
        ):
            if here != there:
                raise ConflictError(f"another {what} than the driver's ({here}, {there}). {cure}")
        agent = parts.host_agent(job.hosting, job.concurrency)
        plan = parts.plan(job.concurrency, ready_seconds=job.hosting.ready_seconds)
        self._cache = parts.cache
        self._sessions = Sessions(parts.sessions, keep=4 * job.concurrency)
        self._conversations = ConversationRunner(
            agent, parts.judge, plan, parts.optics, ThreadPoolExecutor(cores()),
            AgentSlots(agent, seconds=plan.ready_seconds).place,
            parts.wearers,
        )  # fmt: skip
        return agent


def encode_progress(progress: Progress) -> bytes:
    """What the driver counts of a conversation: outcomes, times and costs, and no texts."""
    return encode(msgspec.structs.replace(progress, results=tuple(map(_slim, progress.results))))


def decode_progress(data: bytes) -> Progress:
    """The same at the other end."""
    return decode_as(Progress, data)


def total_cache_stats(stats: list[bytes]) -> CacheStats:
    """What several workers' caches saved together."""
    total = CacheStats()
    for data in stats:
        one = msgspec.json.decode(data, type=CacheStats)
        total = CacheStats(
            hits=total.hits + one.hits,
            misses=total.misses + one.misses,
            saved=total.saved + one.saved,
        )
    return total


def _slim(result: TurnResult) -> TurnResult:
    reply, verdict = result.reply, result.verdict
    return msgspec.structs.replace(
        result,
        query="",
        error=None,
        reply=None if reply is None else Reply(text="", usage=reply.usage),
        verdict=None
        if verdict is None
        else Verdict(outcome=verdict.outcome, judge=verdict.judge, usage=verdict.usage),
    )
