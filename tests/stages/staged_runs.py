"""Sessions whose truth is known at every stage, oracles for them, and runs at all stages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
from small_runs import Equality, make_session

from mmrag.agents.fakes import OracleTruth
from mmrag.protocols import Agent
from mmrag.records import Passage, Session
from simulator.reports.figures.report import ReportOptions, load_report_runs
from simulator.run.capture_optics import CaptureOptics
from simulator.run.runner import Plan, run_sessions
from simulator.run.stop_policies import StopPolicy
from simulator.stages.truth import KnownTruth, with_name
from simulator.stages.truth_stage_names import parse_stages
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

BOX = (2.0, 4.0, 12.0, 14.0)


class AllTruth:
    """Everything is known of everything."""

    def of(self, session: Session) -> Sequence[KnownTruth]:
        return [known_of(session, turn.index) for turn in session.turns]


def known_of(session: Session, turn: int) -> KnownTruth:
    name = f"Thing {session.id}"
    return KnownTruth(
        box=BOX, names=(name,), named=with_name(session.turns[turn].query, [name]),
        passages=(Passage(id=f"page-{turn}", text=f"A page about {name}, turn {turn}."),),
        facts=(Passage(id=f"fact-{turn}", text=f"The {turn} of {name} is so."),)
    )  # fmt: skip


def dues_of(sessions: Sequence[Session]) -> dict[tuple[str, int], OracleTruth]:
    found: dict[tuple[str, int], OracleTruth] = {}
    for session in sessions:
        for turn in session.turns:
            known = known_of(session, turn.index)
            found[session.id, turn.index] = OracleTruth(
                answer=turn.reference.text,
                name=known.names[0],
                passages=tuple(p.text for p in known.passages or ()),
                facts=tuple(p.text for p in known.facts or ()),
            )
    return found


def some(count: int, turns: int = 3) -> list[Session]:
    return [make_session(number, turns) for number in range(count)]


def hold_staged(
    folder: Path,
    sessions: Sequence[Session],
    agent: Agent,
    *,
    text: str = "all",
    degradations: tuple[str, ...] = ("clean",),
    truth: object = None,
    stop: str = "never",
    concurrency: int = 1,
) -> None:
    plan = Plan(
        degradations=degradations, stages=parse_stages(text)[1:], stop=StopPolicy.parse(stop),
        concurrency=concurrency
    )  # fmt: skip
    optics = CaptureOptics(truth or AllTruth())  # type: ignore[arg-type]
    with RunStore(folder) as store:
        store.set_meta("judge", Equality.id)
        work = iter(list(enumerate(sessions)))
        asyncio.run(run_sessions(work, agent, Equality(), store, plan, optics=optics))


def diagnosed(folder: Path, resamples: int = 200) -> dict[str, object]:
    from simulator.reports.figures.diagnosis import diagnosis

    options = ReportOptions(resamples=resamples, stop="never")
    with RunReader(folder) as reader:
        (loaded,), _, _ = load_report_runs([reader], options)
        assert loaded.staged is not None
        return diagnosis(loaded.staged, reader, options.uncertainty)


def without(session: Session, **fields: object) -> Session:
    return msgspec.structs.replace(session, **fields)
