"""From the names in a config to the parts themselves. The only module that knows them all."""

from __future__ import annotations

import difflib
import hashlib
import itertools
import os
import re
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.agents.readiness import READY_SECONDS, cores
from mmrag.errors import ConflictError, SpecError, StoreError, UsageError
from mmrag.protocols import Agent, Judge, Resources, WebSearch
from mmrag.records import Session
from mmrag.search.session_passages import KEPT
from simulator.evaluation import ending
from simulator.evaluation.own_agents import is_own
from simulator.run.config import RunConfig, changes

if TYPE_CHECKING:
    from mmrag.cache import Cache
    from mmrag.encoders.cache import EmbeddingCache
    from mmrag.search.web.cutting import Cut
    from simulator.evaluation.hosting import Hosting
    from simulator.run.runner import Plan, SessionSource
    from simulator.store.run_store import RunReader, RunStore


def check_agent(config: RunConfig) -> None:
    """Refuse an agent that nobody knows, that lacks an option or knows none of that name.

    That is before an index is built for it. What an option may be is the agent's own affair, and
    told when it is made.
    """
    import inspect

    from mmrag.agents import agents

    if is_own(config.agent):
        raise UsageError(
            f"this run's agent was an object of a Python program ({config.agent}); go on with it "
            "from there: evaluate(agent, …, out=FOLDER) with the same agent and settings."
        )
    spec = agents.parse(config.agent)
    parameters = inspect.signature(agents.factory(spec.name)).parameters.values()
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    options = [o for o in parameters if o.kind in named and o.name != "resources"]
    known = [option.name for option in options]
    unknown = sorted(set(spec.options) - set(known))
    if unknown and not any(o.kind is o.VAR_KEYWORD for o in parameters):
        near = difflib.get_close_matches(unknown[0], known, n=1)
        raise SpecError(
            f"agent {config.agent!r} has no option {unknown[0]!r}. "
            + (f"Did you mean {near[0]!r}? " if near else "")
            + f"Its options: {', '.join(known) or 'none'}."
        )
    lacking = [
        option.name
        for option in options
        if option.default is option.empty and option.name not in spec.options
    ]
    if lacking:
        raise SpecError(
            f"agent {config.agent!r} lacks the option {lacking[0]!r}: write "
            f"{spec.name}:{','.join(f'{name}=…' for name in lacking)} "
            f"(`mmrag agent describe {spec.name}` explains it)."
        )


def make_agent(config: RunConfig, resources: Resources, *, seconds: float = READY_SECONDS) -> Agent:
    """The agent that a config names; what it raises while it is made is its own fault."""
    from mmrag.agents import agents
    from mmrag.agents.threads import DaemonThreads
    from mmrag.errors import AgentError, MmragError, words

    def make() -> Agent:
        try:
            return agents.create(config.agent, resources=resources)
        except MmragError:
            raise
        except BaseException as error:  # it may be anybody's
            raise AgentError(f"agent {config.agent} cannot be made: {words(error)}") from error

    ending.agent_is_made()
    made = DaemonThreads().submit(make)
    try:
        return made.result(seconds or None)
    except TimeoutError as error:
        raise AgentError(
            f"agent {config.agent} was not made within {seconds:g} s; nothing was asked. "
            "Give it longer with --ready-seconds."
        ) from error


_OWN_PARTS = ("http", "command", "object")
"""Agents that bring their searches and models: a run's faults do not reach these."""


def check_faults(config: RunConfig, hosting: Hosting | None = None) -> None:
    """Refuse faults of parts that an agent does not have from the run: none would be felt."""
    from simulator.faults.spec import faults, kind_of_fault

    kinds = [str(kind_of_fault(fault)) for fault in faults(config.faults)]
    theirs = [kind for kind in kinds if kind.partition("-")[0] in ("web", "pictures", "model")]
    if not theirs:
        return
    name = config.agent.partition(":")[0]
    if name in _OWN_PARTS:
        raise UsageError(
            f"an agent of kind {name} brings its own search and model, which a run's faults do not "
            f"reach ({', '.join(theirs)}). Take faults of picture and network for it."
        )
    if hosting is not None and hosting.isolate:
        raise UsageError(
            "with --isolate an agent's search and model are in another process, which a run's "
            f"faults do not reach ({', '.join(theirs)}). Leave --isolate out."
        )


def unsearched_faults(config: RunConfig, index: str | None) -> list[str]:
    """Faults of searches that a run does not have, so that no agent can feel them."""
    from simulator.datasets import may_bring_passages
    from simulator.faults.spec import faults

    if index is not None:
        return []
    lacking = ("pictures",) if may_bring_passages(config.data) else ("web", "pictures")
    return [fault for fault in faults(config.faults) if fault.partition("-")[0] in lacking]


def host_agent(
    config: RunConfig, resources: Resources, hosting: Hosting, concurrency: int
) -> Agent:
    """The agent in this process, or in as many others as are asked for."""
    check_faults(config, hosting)
    if not hosting.isolate:
        return make_agent(config, resources, seconds=hosting.ready_seconds)
    import msgspec

    from mmrag.agents.isolated import IsolatedAgent

    ending.agent_is_made()
    return IsolatedAgent(
        [sys.executable, "-m", "simulator.evaluation.isolated"],
        {"config": msgspec.to_builtins(config), "memory": hosting.memory},
        processes=hosting.processes or min(concurrency, cores()),
        ready_seconds=hosting.ready_seconds,
    )


def shared(config: RunConfig, resources: Resources, cache: Cache, index: str | None) -> Resources:
    """What an agent is given: parts that share a cache, and can fail where the run has faults."""
    from mmrag.cache import share
    from simulator.faults.parts import with_faults

    parts = share(resources, cache, id=index or "")
    return parts if config.faults == "none" else with_faults(parts)


def make_judge(spec: str) -> Judge:
    """The judge that a spec names."""
    from mmrag.judges import make_judge as make
    from mmrag.models import models

    return make(spec, models=models.create)


def make_plan(config: RunConfig, concurrency: int, *, ready_seconds: float = READY_SECONDS) -> Plan:
    """The plan behind a config."""
    from simulator.faults.spec import faults
    from simulator.run.captures import degradations
    from simulator.run.runner import Plan
    from simulator.run.stopping import StopPolicy

    return Plan(
        degradations=degradations(config.degrade, config.severities),
        faults=faults(config.faults),
        stop=StopPolicy.parse(config.stop, seed=config.seed),
        rules=config.rules,
        concurrency=concurrency,
        seed=config.seed,
        ready_seconds=ready_seconds,
    )


def open_source(config: RunConfig) -> SessionSource:
    """The data set behind a config."""
    from simulator.datasets import open_data
    from simulator.datasets.album import Album

    source = open_data(
        config.data,
        split=config.split,
        as_captured=config.degrade == "mix",
        allow_private_urls=config.allow_private_urls,
        as_kit=config.as_kit,
        pictures=config.pictures,
    )
    if isinstance(source, Album):
        raise UsageError(
            f"{config.data} has pictures and no questions. `mmrag data start {config.data}` writes "
            "a table of them to fill in; `mmrag ask` asks about pictures without one."
        )
    return source


def without_pictures(source: SessionSource, config: RunConfig) -> int:
    """How many sessions are text alone: no degradation concerns them, they are held once."""
    from simulator.datasets.crag import CragQuestions
    from simulator.datasets.own_data import OwnData

    if isinstance(source, CragQuestions):
        return count_sessions(source, config)
    if not isinstance(source, OwnData):  # all others bring a picture with every session
        return 0
    return sum(session.capture is None for _, session in chosen_sessions(source, config))


def chosen_sessions(source: SessionSource, config: RunConfig) -> Iterator[tuple[int, Session]]:
    """The sessions that --limit and --sample-id leave, each with its place in the data set."""
    numbered = enumerate(source)
    if not config.sample_ids:
        return itertools.islice(numbered, config.limit)
    wanted, seen, found = set(config.sample_ids), list[str](), list[tuple[int, Session]]()
    for place, session in numbered:
        seen.append(session.id)
        if session.id in wanted:
            found.append((place, session))
            if len(found) == len(wanted):
                return iter(found)
    lacking = sorted(wanted - set(seen))[0]
    like = difflib.get_close_matches(lacking, seen, n=3, cutoff=0.5) or seen[:3]
    raise SpecError(
        f"--sample-id {lacking}: {config.data} has no such session among its {len(seen):,}; "
        f"there is {', '.join(like)}, ..."
    )


def count_sessions(source: SessionSource, config: RunConfig) -> int:
    """How many sessions that will be, if those asked for by name are all there."""
    from simulator.datasets.crag import CragQuestions

    if config.sample_ids:
        return len(set(config.sample_ids))
    if isinstance(source, CragQuestions):  # gigabytes, packed: no more is read than has to be
        return source.count(config.limit)
    return min(len(source), config.limit or len(source))


def claim(store: RunStore, config: RunConfig, *, data: str, index: str | None, judge: str) -> None:
    """Make a run this config's own, or check that it already is.

    `data` and `index` are fingerprints, `judge` is a judge's id. What a run is gone on with must
    be what it was begun with, or its records would not belong together.
    """
    from simulator.store.provenance import provenance

    if store.meta("config") is None or store.meta("judge") is None:  # in one commit, once in three
        made_of = provenance(data=data, index=index)
        store.set_all_meta({"config": config, "provenance": made_of, "judge": judge})
        return
    differing = changes(read_config(store), config)
    if differing:
        words = "; ".join(
            f"{k}: {old!r} before, {new!r} now" for k, (old, new) in differing.items()
        )
        cure = "Choose another --out, or go on with `mmrag resume`."
        if is_own(config.agent):
            cure = "Give another out=, or the agent and the settings that it was begun with."
        raise ConflictError(f"{store.folder} holds a run with other settings ({words}). {cure}")
    known = store.meta("provenance") or {}
    for what, before, now in (
        ("from other data", known.get("data"), data),
        ("with another search index", known.get("index"), index),
    ):
        if before != now:
            raise ConflictError(
                f"{store.folder} was made {what} (fingerprint {before}, now {now}). "
                "Restore it, or start a new run."
            )
    judged_by = store.meta("judge")
    if judged_by != judge:
        raise ConflictError(
            f"{store.folder} shows the verdicts of {judged_by}, and its turns are judged by "
            f"{judge} as they are asked. Bring them together first: "
            f"mmrag rejudge {shlex.quote(str(store.folder))} --judge {shlex.quote(config.judge)}"
        )


def read_config(run: RunReader) -> RunConfig:
    """The config that a run was made with."""
    import msgspec

    found = run.meta("config")
    if found is None:
        raise StoreError(
            f"{run.folder}: the run has no config; it was never started. Run it again."
        )
    return msgspec.convert(found, RunConfig)


def default_out(config: RunConfig) -> Path:
    """Where a run goes when no --out is given: a name that its settings decide."""
    agent = config.agent.partition(":")[0].replace("/", "_")
    return Path("runs") / f"{_data_name(config)}-{agent}-{config.fingerprint}"


def fresh_out(config: RunConfig, name: str) -> Path:
    """A new folder for a run of an agent whose settings do not tell what it does."""
    for number in itertools.count(1):
        folder = Path("runs") / f"{_data_name(config)}-{name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise StoreError(
                f"{folder}: cannot be made ({error.strerror}). Give a folder with out=."
            ) from error
        return folder
    raise AssertionError("there is always another number")


def _data_name(config: RunConfig) -> str:
    return re.sub(r"\.(jsonl|ndjson|csv|tsv|parquet)$", "", Path(config.data).name.split(":")[-1])


def make_resources(
    config: RunConfig, *, progress: bool = True, kept: int = KEPT
) -> tuple[Resources, str | None]:
    """The searches, models and tools that agents may use, and the fingerprint of both sources.

    `kept` sessions stay indexed where sessions bring their passages and an agent cuts them anew.
    """
    from simulator.evaluation.toolboxes import NO_TOOLS, toolboxes

    resources, index = _searches(config, progress=progress, kept=kept)
    if config.tools == NO_TOOLS:
        return resources, index
    box = toolboxes.create(config.tools)
    resources.tools = box.tools
    return resources, f"{index} {box.fingerprint}" if index else box.fingerprint


def _searches(config: RunConfig, *, progress: bool, kept: int) -> tuple[Resources, str | None]:
    from mmrag.models import models
    from mmrag.search.session_passages import SessionSearch
    from simulator.datasets import may_bring_passages

    brings = may_bring_passages(config.data)
    folder = index_folder(config, progress=progress)
    pages = partial(cut_pages, _world_of(config), brings=brings, progress=progress, kept=kept)
    if folder is None:
        own = SessionSearch(None) if brings else None
        cut = pages if brings else None
        return Resources(web_search=own, model=models.create, pages=cut, seed=config.seed), None
    from mmrag.search.index.opening import open_index

    index = open_index(folder.absolute())  # an agent may change the working directory
    resources = Resources(
        image_search=index.images,
        web_search=SessionSearch(index.web) if brings else index.web,
        model=models.create,
        pages=pages,
        seed=config.seed,
    )
    return resources, index.fingerprint


def cut_pages(
    folder: Path | None, how: Cut, *, brings: bool = False, progress: bool = True, kept: int = KEPT
) -> WebSearch:
    """The pages of a world, and those that sessions bring, cut and ranked as `how` says.

    Each way of cutting is indexed once, in the cache folder; no text is encoded twice.
    """
    from mmrag.encoders import text_encoders
    from mmrag.encoders.cache import CachedTexts
    from mmrag.search.session_passages import SessionSearch

    web = None if folder is None else _cut_index(folder, how, progress=progress)
    if not brings:
        if web is None:
            raise UsageError(
                "there are no pages here to be cut another way: chunk, overlap, embedder and "
                "retriever are for worlds and for data that brings passages."
            )
        return web
    dense = how.mode != "bm25"
    encoder = CachedTexts(text_encoders.create(how.embedder), shipped_vectors()) if dense else None
    return SessionSearch(web, how, encoder, kept=kept)


def _world_of(config: RunConfig) -> Path | None:
    """The folder of the world that the data is, if it is one."""
    from simulator.datasets import reader_of
    from simulator.datasets.world import mini_folder

    reader, data = reader_of(config.data)
    if reader != "world":
        return None
    return mini_folder() if data == "mini" else Path(data)


def _cut_index(folder: Path, how: Cut, *, progress: bool) -> WebSearch | None:
    from mmrag.encoders import text_encoders
    from mmrag.search.index.building import build_index
    from mmrag.search.index.opening import open_index
    from mmrag.search.index.sources import open_source
    from mmrag.search.web.by_words import PagesByWords
    from simulator.evaluation.interrupting import interruptible
    from simulator.evaluation.progress import stage_bars

    source = open_source(str(folder))._replace(picture_count=0)
    if how.retriever == "bm25":
        return PagesByWords(source.pages(), how.chunker)
    parts = (
        source.fingerprint,
        text_encoders.create(how.embedder).id,
        f"{how.chunk}/{how.overlap}",
    )
    key = hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:24]
    place = cache_folder() / "indexes" / f"cut-{key}"
    with interruptible("what was built of the search index"), stage_bars(shown=progress) as advance:
        build_index(
            source, place, text_encoder=how.embedder, chunker=how.chunker,
            cache=shipped_vectors(), on_progress=advance,
        )  # fmt: skip
    reranker = "builtin" if how.reranks else "off"
    return open_index(place.absolute(), mode=how.mode, reranker=reranker).web


def index_fingerprint(folder: Path | None) -> str | None:
    """What an index is known by; a folder that is none is refused."""
    if folder is None:
        return None
    from mmrag.search.index.opening import open_index

    return open_index(folder.absolute()).fingerprint


def index_folder(config: RunConfig, *, progress: bool = True) -> Path | None:
    """The index that a config means; `auto` builds a world's own index when it is first needed."""
    if config.search == "none":
        return None
    if config.search != "auto":
        return Path(config.search)
    folder = _world_of(config)
    if folder is None:  # others bring no pages to search
        return None
    own = folder / "index"
    if own.is_dir():
        return own
    from mmrag.encoders import image_encoders, text_encoders
    from mmrag.search.image.corners import KIND
    from mmrag.search.image.views import KIND as VIEWS
    from mmrag.search.index.building import build_index
    from mmrag.search.index.sources import open_source
    from simulator.evaluation.interrupting import interruptible
    from simulator.evaluation.progress import stage_bars

    source = open_source(str(folder))
    made_of = (
        source.fingerprint,
        image_encoders.create("builtin").id,
        text_encoders.create("minilm").id,
        KIND,
        VIEWS,
    )
    key = hashlib.sha256("\x00".join(made_of).encode()).hexdigest()[:24]
    place = cache_folder() / "indexes" / key
    with interruptible("what was built of the search index"), stage_bars(shown=progress) as advance:
        build_index(source, place, cache=shipped_vectors(), on_progress=advance)
    return place


def shipped_vectors() -> EmbeddingCache:
    """Vectors made before, those of the mini world among them: encoding its pages takes minutes."""
    from mmrag.encoders.cache import EmbeddingCache

    cache = EmbeddingCache(cache_folder() / "vectors.sqlite")
    shipped = Path(__file__).parents[2] / "assets" / "mini-vectors.sqlite"
    if shipped.is_file():  # newer than the cache, perhaps
        cache.take_over(shipped)
    return cache


def cache_folder() -> Path:
    """Where what can be made again is kept: `$XDG_CACHE_HOME/mmrag`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mmrag"
