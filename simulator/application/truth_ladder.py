"""A world's ladder: how often an agent is right when it is handed truth, one stage after another.

The stages are those of a run (`simulator.stages`), and before them the question alone. Every turn
is asked after the true answers of the turns before. Stages with a picture are refused where there
are none.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from mmrag.errors import UsageError
from mmrag.protocols import Agent, Judge, WebSearch
from mmrag.records import Exchange, Outcome, Passage, Query, Session, Turn, item_of
from mmrag.registry import unknown_name_message
from mmrag.search.session_passages import HandedSearch, SessionSearch
from simulator.run.engine import Rules, ask_turn, query_of, verdict_on
from simulator.stages import truth_stage_names
from simulator.stages.handed_truth import session_at_stage
from simulator.stages.truth import TruthSource
from simulator.world.build.world_manifest import Ladder, Rung, read_manifest
from simulator.world.sessions import read_world
from simulator.world.turn_truth import WorldTruth

NOTHING = "nothing"
RUNGS = {NOTHING: "the question alone", **truth_stage_names.STAGES}
"""What an agent is handed at each stage."""

RUNGS_WITHOUT_PICTURE = (NOTHING, *truth_stage_names.BLIND)
"""Those that need no picture of the world."""

_EMPTY = (Passage(id="nothing", text="-"),)
"""Searching these finds nothing: a session without passages would have the web searched."""


def measure_ladder(
    folder: Path,
    *,
    agent: str = "grounded",
    stages: Sequence[str] = RUNGS_WITHOUT_PICTURE,
    limit: int = 60,
) -> Ladder:
    """Ask the first conversations of a world at every stage. Without stages that show pictures the
    pages are searched by words, so that no index is built."""
    from mmrag.agents import agents
    from mmrag.judges import make_judge
    from simulator.parts.agent_resources import index_folder, make_resources
    from simulator.parts.named_agents import uses_searches

    if strange := next((stage for stage in stages if stage not in RUNGS), None):
        raise UsageError(unknown_name_message("stage", strange, RUNGS))
    if not stages:
        raise UsageError(f"name at least one stage. Known: {', '.join(RUNGS)}.")
    manifest = read_manifest(folder)
    sees = any(stage not in RUNGS_WITHOUT_PICTURE for stage in stages)
    if sees and not manifest["request"]["pictures"]:
        raise UsageError(f"{folder} has no pictures; leave out the stages whole and pointed.")
    data = f"world:{folder}"
    found, _ = make_resources(data, index_folder(data, "auto") if sees else None)
    web = found.web_search if sees else _by_words(folder)
    found.web_search = HandedSearch(SessionSearch(web))
    judge = make_judge("builtin")
    sessions = itertools.islice(read_world(folder, pictures="clean"), limit)
    asked = agents.create(agent, resources=found)
    rules = Rules(in_words=not uses_searches(agent))
    climbed = ask_ladder(
        sessions, asked, judge, WorldTruth(folder), list(dict.fromkeys(stages)), rules=rules
    )
    rungs = asyncio.run(climbed)
    conversations = min(limit, manifest["counts"]["conversations"])
    return Ladder(agent=agent, judge=judge.id, conversations=conversations, rungs=tuple(rungs))


def query_at(
    stage: str, session: Session, turn: Turn, truth: TruthSource, rules: Rules = Rules()
) -> Query:
    """What the agent gets at a stage, after the true answers of the turns before."""
    if stage not in (NOTHING, truth_stage_names.WHOLE):
        session = session_at_stage(session, stage, truth.of(session))
    history = tuple(
        Exchange(query=before.query, reply=before.reference.text)
        for before in session.turns[: turn.index]
    )
    query = query_of(session, session.turns[turn.index], history, rules)
    if stage == NOTHING:
        return msgspec.structs.replace(query, image=None, earlier=(), passages=_EMPTY)
    return query


async def ask_ladder(
    sessions: Iterable[Session],
    agent: Agent,
    judge: Judge,
    truth: TruthSource,
    stages: Sequence[str],
    *,
    rules: Rules = Rules(),
) -> list[Rung]:
    """Ask every turn at every stage, after the true answers of the turns before."""
    counts: dict[str, Counter[Outcome]] = {stage: Counter() for stage in stages}

    async def ask(stage: str, session: Session, turn: Turn) -> None:
        query = query_at(stage, session, turn, truth, rules)
        reply = (await ask_turn(agent, query, rules)).reply
        if reply is None:  # no fault of what it knows: the machinery failed
            outcome = Outcome.UNSCORED
        elif reply.abstained:
            outcome = Outcome.MISSING
        else:
            outcome = (await verdict_on(judge, item_of(session.id, turn, reply))).outcome
        counts[stage][outcome] += 1

    for session in sessions:
        for stage in stages:
            await asyncio.gather(*(ask(stage, session, turn) for turn in session.turns))
    return [
        Rung(
            stage=stage,
            handed=RUNGS[stage],
            right=sum(n for outcome, n in of.items() if outcome.is_correct),
            wrong=of[Outcome.INCORRECT],
            turns=of.total(),
            unscored=of[Outcome.UNSCORED],
        )
        for stage, of in counts.items()
    ]


def _by_words(folder: Path) -> WebSearch:
    from mmrag.passages import PassageOptions
    from mmrag.search.index.sources import open_source
    from mmrag.search.web.lexical_search import LexicalPageSearch

    return LexicalPageSearch(open_source(str(folder)).pages, PassageOptions().chunker)
