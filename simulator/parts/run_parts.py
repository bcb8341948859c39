"""The parts of a run, made from its settings: the one place where a setting becomes a thing.

Whoever holds, estimates, proves or loads a run is handed these parts and asks them for what they
need. So a setting is read here and nowhere else on its way from the data to the report.
"""

from __future__ import annotations

import difflib
import itertools
import sys
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mmrag.agent_hooks import cores
from mmrag.cache import Cache, cache_resources
from mmrag.errors import DataError, SpecError, Unavailable, UsageError
from mmrag.records import Session
from mmrag.search.external import is_external_search
from mmrag.search.session_passages import KEPT
from simulator.message_text import counted
from simulator.parts.agent_resources import cache_folder, index_folder, make_resources, world_of
from simulator.parts.live_wearers import make_wearers
from simulator.parts.named_agents import check_agent, finds_handed_truth, make_agent, uses_searches
from simulator.parts.run_folder import bind_run_config
from simulator.run.time_limits import READY_SECONDS
from simulator.stages.single_tasks import as_tasks
from simulator.stages.truth_stage_names import NO_TASK, judge_of
from simulator.terminal import shutdown as ending

if TYPE_CHECKING:
    from mmrag.judges.fallback import FallbackJudge
    from mmrag.protocols import Agent, Resources
    from simulator.datasets.session_source import SessionSource
    from simulator.ears.speech_pipeline import SpeechPipeline
    from simulator.faults.wrong_inputs import OtherConversation
    from simulator.parts.isolation_options import IsolationOptions
    from simulator.run.capture_optics import CaptureOptics
    from simulator.run.live_conversation import Wearers
    from simulator.run.run_config import RunConfig
    from simulator.run.runner import Plan
    from simulator.stages.truth import TruthSource
    from simulator.store.run_store import RunStore

MAX_CHARACTERS = 200_000_000
"""Of passages that are kept as read; what is more is read again each time."""

_CUTS = 4
"""Ways of cutting whose pages stay indexed."""

_SESSIONS = 256
"""Sessions whose own passages stay indexed for each way of cutting, where many runs share them."""

_PAGE_SEARCHERS = ("rag", "task2", "task3", "grounded", "crag-task1", "crag-task2", "crag-task3")
"""Agents to which a run's web search is what they read."""

_LOOKED_AT = 20
"""Conversations in which passages are looked for before the run."""

_OWN_PARTS = ("http", "command", "object")
"""Agents that bring their searches and models: a run's faults do not reach these."""


class Parts:
    """Everything that a run is held with, each made when it is first asked for, and once.

    Reading the data, opening its index, cutting and encoding its pages take longer than many an
    agent's own work: runs that differ in their agent alone share them (`with_agent`).
    """

    def __init__(
        self,
        settings: RunConfig,
        *,
        agent: Agent | None = None,
        source: SessionSource | None = None,
        progress: bool = True,
    ) -> None:
        """`agent` is one that the settings only label, `source` data that is open already;
        `progress` shows what takes long to make."""
        self.settings = settings
        self.progress = progress
        self.cache = Cache()
        self._own, self._source = agent, source
        self._base: Parts | None = None
        self._is_shared = False
        self._sessions: list[tuple[int, Session]] | None = None

    def with_agent(self, spec: str) -> Parts:
        """The parts of the same run with another agent: nothing else is made or asked twice."""
        self._is_shared = True
        settings = msgspec.structs.replace(self.settings, agent=spec)
        other = Parts(settings, progress=self.progress)
        other._base, other.cache = self, self.cache
        return other

    # -- the data

    @cached_property
    def source(self) -> SessionSource:
        """The data set."""
        if self._base:
            return self._base.source
        return _open_source(self.settings) if self._source is None else self._source

    def sessions(self) -> Iterator[tuple[int, Session]]:
        """The sessions that --limit and --sample-id leave, each with its place in the data set.

        What runs share is read once; pictures stay where they are, as they are large.
        """
        if self._base:
            return self._base.sessions()
        if self._sessions is not None:
            return iter(self._sessions)
        chosen = self._chosen()
        if self.settings.task != NO_TASK:
            chosen = as_tasks(chosen, self.settings.task, self.truth)
        return self._keeping(chosen) if self._is_shared else chosen

    def count(self) -> int:
        """How many sessions that will be, if those asked for by name are all there."""
        from simulator.datasets.papers.crag import CragQuestions
        from simulator.world.sessions import World

        source, limit, data = self.source, self.settings.limit, self.settings.data
        blind = isinstance(source, World) and not source.manifest["request"].get("pictures", True)
        if blind and self.settings.task != "knowledge":
            raise UsageError(
                f"{data} was written with --text-only: without pictures it is asked by --task "
                f"knowledge, or stage by stage by `mmrag world ladder {data}`."
            )
        if self.settings.task != NO_TASK:
            many = sum(1 for _ in self.sessions())
            if not many:
                raise UsageError(
                    f"{self.settings.data} has no truth for --task {self.settings.task}: it takes "
                    "a box or a name (docs/runs.md)."
                )
            return many
        if self.settings.sample_ids:
            return len(set(self.settings.sample_ids))
        if isinstance(source, CragQuestions):  # gigabytes, packed: no more is read than has to be
            return source.count(limit)
        if not len(source):
            raise DataError(f"{data} holds no conversation: write one, as docs/data.md shows.")
        return min(len(source), limit or len(source))

    def count_without_picture(self) -> int:
        """How many sessions are text alone: no degradation concerns them, they are held once."""
        from simulator.datasets.own.own_data import OwnData
        from simulator.datasets.papers.crag import CragQuestions

        if isinstance(self.source, CragQuestions):
            return self.count()
        if self.settings.task != NO_TASK:
            return self.count() if self.settings.task == "knowledge" else 0
        if not isinstance(self.source, OwnData):  # all others bring a picture with every session
            return 0
        return sum(session.capture is None for _, session in self._chosen())

    @cached_property
    def wearers(self) -> Wearers | None:
        """Who answers back, where somebody does."""
        settings = self.settings
        return make_wearers(self.source, settings.patience) if settings.answers_back else None

    @cached_property
    def hearing(self) -> SpeechPipeline | None:
        """Who says the questions and who hears them, where they are spoken."""
        from simulator.datasets.own.own_data import OwnData

        if self.settings.spoken == "none":
            return None
        if self._base:
            return self._base.hearing
        from simulator.ears.speech_pipeline import SpeechPipeline
        from simulator.ears.voice_and_ear import ears, voices

        return SpeechPipeline(
            voices.create(self.settings.voice),
            ears.create(self.settings.ear),
            seed=self.settings.seed,
            cache=cache_folder() / "ears",
            recordings=self.source.pictures if isinstance(self.source, OwnData) else None,
        )

    def _chosen(self) -> Iterator[tuple[int, Session]]:
        numbered = enumerate(self.source)
        wanted = set(self.settings.sample_ids)
        if not wanted:
            return itertools.islice(numbered, self.settings.limit)
        seen, found = list[str](), list[tuple[int, Session]]()
        for place, session in numbered:
            seen.append(session.id)
            if session.id in wanted:
                found.append((place, session))
                if len(found) == len(wanted):
                    return iter(found)
        lacking = sorted(wanted - set(seen))[0]
        like = difflib.get_close_matches(lacking, seen, n=3, cutoff=0.5) or seen[:3]
        raise SpecError(
            f"--sample-id {lacking}: {self.settings.data} has no such session among its "
            f"{len(seen):,}; there is {', '.join(like)}, ..."
        )

    def _keeping(self, chosen: Iterator[tuple[int, Session]]) -> Iterator[tuple[int, Session]]:
        held: list[tuple[int, Session]] = []
        room = MAX_CHARACTERS
        for place, session in chosen:
            room -= sum(len(passage.text) for passage in session.passages)
            room = -1 if session.capture is not None else room
            if room < 0:
                held.clear()
            else:
                held.append((place, session))
            yield place, session
        if room >= 0:
            self._sessions = held

    # -- the judge and the plan

    @cached_property
    def judge(self) -> FallbackJudge:
        """The judge."""
        from mmrag.judges import make_judge
        from mmrag.judges.fallback import FallbackJudge

        if self._base:
            return self._base.judge
        return FallbackJudge(make_judge(judge_of(self.settings.task, self.settings.judge)))

    def plan(self, concurrency: int, *, ready_seconds: float = READY_SECONDS) -> Plan:
        """What is done with every session."""
        from simulator.ears.spoken_conditions import parse_spoken
        from simulator.link.device_profiles import over_links, read_links
        from simulator.run.capture_optics import parse_degrade
        from simulator.run.runner import Plan
        from simulator.run.stop_policies import StopPolicy

        settings = self.settings
        links = read_links(settings.link)
        return Plan(
            degradations=over_links(parse_degrade(settings.degrade, settings.severities), links),
            links=links,
            faults=self._faults,
            stages=self._stages,
            spoken=parse_spoken(settings.spoken),
            crossed=settings.crossed,
            stop=StopPolicy.parse(settings.stop, seed=settings.seed),
            rules=msgspec.structs.replace(
                settings.rules, in_words=self._hands_in_words, strangers=self._strangers
            ),
            concurrency=concurrency,
            seed=settings.seed,
            ready_seconds=ready_seconds,
        )

    # -- what is searched

    @cached_property
    def search_folder(self) -> Path | None:
        """The index that is searched; a world's own is built when it is first needed."""
        settings = self.settings
        return index_folder(settings.data, settings.search, progress=self.progress)

    @property
    def elsewhere(self) -> str:
        """The spec of a search that others keep, where that is what is searched."""
        return self.settings.search if is_external_search(self.settings.search) else ""

    @property
    def resources(self) -> Resources:
        """The searches, models and tools that agents may use."""
        return self._found[0]

    @property
    def index(self) -> str | None:
        """The fingerprint of what is searched; an agent of one's own searches nothing here."""
        return None if self.has_own_agent else self._found[1]

    @cached_property
    def searches(self) -> bool:
        """Whether the agent may search: else no index is built or opened for it."""
        return not self.has_own_agent and uses_searches(self.settings.agent)

    @cached_property
    def _found(self) -> tuple[Resources, str | None]:
        if self._base and self._base.searches >= self.searches:
            return self._base._found
        made, index = make_resources(
            self.settings.data,
            self.search_folder if self.searches else None,
            elsewhere=self.elsewhere if self.searches else "",
            tools=self.settings.tools,
            seed=self.settings.seed,
            progress=self.progress,
            kept=_SESSIONS if self._is_shared else KEPT,
        )
        if made.pages is not None:
            made.pages = lru_cache(maxsize=_CUTS)(made.pages)
        return made, index

    # -- the agent

    @property
    def has_own_agent(self) -> bool:
        """Whether the settings only label the agent."""
        return self._own is not None

    def check_agent(self) -> None:
        """Refuse an agent that cannot be made, before anything is built for it."""
        if not self.has_own_agent:
            check_agent(self.settings.agent)

    async def probe_models(self) -> None:
        """Ask the endpoints of agent and judge once, before all turns would fail at them."""
        from simulator.parts.preflight import probe_models

        def pictures() -> bool:
            first = next((session for _, session in self.sessions()), None)
            return first is not None and first.capture is not None

        if not self.has_own_agent:
            await probe_models(self.settings.agent, self.settings.judge, pictures=pictures)

    def make_agent(self, *, cached: bool = False, seconds: float = READY_SECONDS) -> Agent:
        """The agent in this process; `cached` asks its searches and models nothing twice."""
        from simulator.faults.failing_parts import with_faults

        parts = self.resources
        if cached:
            parts = cache_resources(parts, self.cache, id=self.index or "")
        if self._stages:
            parts = _finding_handed(parts)
        if self.settings.faults != "none":
            parts = with_faults(parts)
        return make_agent(self.settings.agent, parts, seconds=seconds)

    def host_agent(self, hosting: IsolationOptions, concurrency: int) -> Agent:
        """The agent that a run asks: here, or in as many processes as are wanted."""
        if self._own is not None:
            return self._own
        _ = self.index  # what is searched is built before many processes would build it
        self.check_faults(isolated=hosting.isolate)
        if not hosting.isolate:
            return self.make_agent(cached=True, seconds=hosting.ready_seconds)
        from mmrag.agents.external.isolated_agent import IsolatedAgent

        ending.note_agent_made()
        return IsolatedAgent(
            [sys.executable, "-m", "simulator.parts.agent_process"],
            {"config": msgspec.to_builtins(self.settings), "memory": hosting.memory},
            processes=hosting.processes or min(concurrency, cores()),
            ready_seconds=hosting.ready_seconds,
        )

    # -- faults

    def check_faults(self, *, isolated: bool = False) -> None:
        """Refuse faults of parts that an agent does not have from the run: none would be felt."""
        kinds = [fault.partition("@")[0] for fault in self._faults]
        theirs = [kind for kind in kinds if kind.partition("-")[0] in ("web", "pictures", "model")]
        if not theirs:
            return
        name = self.settings.agent.partition(":")[0]
        if name in _OWN_PARTS:
            raise UsageError(
                f"an agent of kind {name} brings its own search and model, which a run's faults do "
                f"not reach ({', '.join(theirs)}). Take faults of picture and network for it."
            )
        if isolated:
            raise UsageError(
                "with --isolate an agent's search and model are in another process, which a run's "
                f"faults do not reach ({', '.join(theirs)}). Leave --isolate out."
            )

    def unsearched_faults(self) -> list[str]:
        """Faults of searches that the run does not have, so that no agent can feel them."""
        from simulator.datasets import may_bring_passages

        if self.index is not None:
            return []
        brings = may_bring_passages(self.settings.data)
        lacking = ("pictures",) if brings else ("web", "pictures")
        return [fault for fault in self._faults if fault.partition("-")[0] in lacking]

    def unsearched_pages(self) -> str:
        """Why an agent that searches pages will find none, where its settings are the reason."""
        from simulator.datasets import may_bring_passages

        settings, name = self.settings, self.settings.agent.partition(":")[0]
        if self.index is not None or settings.search == "none" or name not in _PAGE_SEARCHERS:
            return ""
        where = "in this run"
        if may_bring_passages(settings.data):
            if self._is_shared or self._base is not None:
                return ""  # a sweep reads its data once
            first = [s for _, s in itertools.islice(self._chosen(), _LOOKED_AT) if s.turns[0].query]
            without = sum(not session.passages for session in first)
            if not without:
                return ""
            where = (
                f"in {without} of the first {counted(len(first), 'conversation')}, which bring none"
            )
        cure = "" if "model=" in settings.agent else ", or take an agent with a model"
        return (
            f"{name} finds no pages {where}: no index is searched. Give --search its folder{cure}."
        )

    # -- stages

    @cached_property
    def optics(self) -> CaptureOptics:
        """What degrades pictures, sends them and hands truth over."""
        from simulator.link.device_profiles import read_links
        from simulator.run.capture_optics import CaptureOptics

        links = read_links(self.settings.link)
        return CaptureOptics(self.truth if self._stages else None, links)

    @cached_property
    def truth(self) -> TruthSource:
        """What the data knows of its turns."""
        from simulator.stages.truth import OwnTruth
        from simulator.world.turn_truth import WorldTruth

        if self._base:
            return self._base.truth
        folder = world_of(self.settings.data)
        return OwnTruth() if folder is None else WorldTruth(folder)

    def left_out(self) -> dict[str, tuple[str, int]]:
        """Stages that some sessions' data cannot give: why the first cannot, and how many."""
        found: dict[str, tuple[str, int]] = {}
        for _, session in self.sessions() if self._stages else ():
            for stage, why in self.optics.lacking(session, self._stages).items():
                first, many = found.get(stage, (why, 0))
                found[stage] = (first, many + 1)
        return found

    @cached_property
    def _stages(self) -> tuple[str, ...]:
        from simulator.stages.truth_stage_names import parse_stages

        return parse_stages(self.settings.stages)[1:]

    @cached_property
    def _hands_in_words(self) -> bool:
        if not self._stages:
            return False
        return self.has_own_agent or not finds_handed_truth(self.settings.agent)

    @cached_property
    def _strangers(self) -> tuple[OtherConversation, ...]:
        from simulator.faults.fault_kinds import WRONG_INPUT, kind_of_fault
        from simulator.faults.wrong_inputs import other_conversations

        wrong = any(kind_of_fault(fault) in WRONG_INPUT for fault in self._faults)
        return other_conversations(self.source) if wrong else ()

    @cached_property
    def _faults(self) -> tuple[str, ...]:
        from simulator.faults.fault_kinds import parse_faults

        return parse_faults(self.settings.faults)

    # -- the run's folder

    def claim(self, store: RunStore) -> None:
        """Make a run these settings' own, or check that it already is."""
        bind_run_config(
            store, self.settings, data=self.source.fingerprint, index=self.index,
            judge=self.judge.id,
        )  # fmt: skip


def ear_for_apps(settings: RunConfig) -> SpeechPipeline | Unavailable:
    """Who writes down what an app says aloud, or why nobody does here: one that writes needs no
    ear."""
    from simulator.ears.speech_pipeline import SpeechPipeline
    from simulator.ears.voice_and_ear import ears

    try:
        return SpeechPipeline(None, ears.create(settings.ear), cache=cache_folder() / "ears")
    except Unavailable as error:
        return error


def _finding_handed(parts: Resources) -> Resources:
    """The same searches, which find first what a stage hands over; one that finds nothing else
    where there are none."""
    from mmrag.search.session_passages import HandedSearch, SessionSearch

    web, cut = parts.web_search or SessionSearch(None), parts.pages
    return msgspec.structs.replace(
        parts,
        web_search=HandedSearch(web),
        pages=None if cut is None else lambda how: HandedSearch(cut(how)),
    )


def _open_source(settings: RunConfig) -> SessionSource:
    from simulator.datasets import open_data
    from simulator.datasets.own.album import Album

    source = open_data(
        settings.data,
        split=settings.split,
        as_captured=settings.degrade == "mix",
        without=settings.not_given,
        allow_private_urls=settings.allow_private_urls,
        as_kit=settings.as_kit,
        pictures=settings.pictures,
    )
    if isinstance(source, Album):
        raise UsageError(
            f"{settings.data} has pictures and no questions. `mmrag data start {settings.data}` "
            "writes a table of them to fill in; `mmrag ask` asks about pictures without one."
        )
    return source
