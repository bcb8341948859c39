"""What every other tool is told of a run: its settings, its figures and when it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from mmrag.metrics.scoring_protocols import score, stream_sessions
from mmrag.records import Record, Session, TurnResult
from simulator.run.results.run_scoring import options_for, scores_by_condition, turns_of
from simulator.run.run_config import RunConfig
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_reader import RunReader

RATES = {
    "truthfulness_score": "truthfulness",
    "accuracy": "accuracy",
    "missing": "missing",
    "hallucination_rate": "hallucination",
    "mean_multi_turn_conversation_score": "multi_turn_score",
}
"""Figure of `mmrag score` → what other tools call it."""


class RunFacts(Record, frozen=True, kw_only=True):
    """A run in a few words and figures."""

    name: str
    agent: str
    data: str
    judge: str
    settings: dict[str, Any]
    provenance: dict[str, Any]
    figures: dict[str, float]
    """Name → value; `NAME.low` and `NAME.high` are the ends of a 95 % interval."""
    conditions: dict[str, dict[str, float]]
    """The same of each condition, without intervals; empty where there is only one."""
    condition: str | None
    """Under which one the figures are, where there are several."""
    began: float
    """Seconds since 1970. A run keeps no clock times: it is taken to have ended when it was last
    written, and its conversations to have followed one another."""
    ended: float


class ExportedTalk(NamedTuple):
    """One conversation as it happened."""

    session: Session
    results: list[TurnResult]
    score: float | None
    """The multi-turn score of `mmrag score`; None where no turn was scored."""
    began: float
    """Seconds since 1970, as `RunFacts.began` has them."""

    @property
    def id(self) -> str:
        """The session's, with its condition where that is not the clean picture."""
        session = self.session
        return (
            session.id if session.degradation == "clean" else f"{session.id} {session.degradation}"
        )


def facts_of(run: RunReader, *, resamples: int = 1000) -> RunFacts:
    """Everything about a run but its conversations."""
    if run.meta("config") is None:  # answers that were brought in: no agent of ours gave them
        imported = str(run.meta("imported") or "answers")
        settings: dict[str, Any] = {"agent": imported, "data": imported}
    else:
        settings = {**msgspec.structs.asdict(RunConfig()), **run.meta("config")}
    options = options_for(run, resamples=resamples)
    scored, conditions = scores_by_condition(run, options)
    figures = scored["all"]
    ended = float(int((run.folder / "run.sqlite").stat().st_mtime))
    return RunFacts(
        name=run.folder.name,
        agent=settings["agent"],
        data=settings["data"],
        judge=str(run.meta("judge") or "none"),
        settings=settings,
        provenance=run.meta("provenance") or {},
        figures=named_figures(figures),
        condition=scored["options"]["degradation"],
        conditions={name: named_figures(found) for name, found in conditions.items()},
        began=ended - sum(_seconds(run)),
        ended=ended,
    )


def talks(run: RunReader, facts: RunFacts) -> Iterator[ExportedTalk]:
    """Every conversation, streamed in the data set's order."""
    options = options_for(run)
    stop = StopPolicy.parse(options.stop, seed=options.seed).rule
    scores: dict[str, float | None] = {}
    for rows in stream_sessions(turns_of(run, options)):
        found = score(rows, stop=stop, resamples=0)["all"]
        scored = found["total"]
        scores[rows[0].session_id] = found["mean_multi_turn_conversation_score"] if scored else None
    at = facts.began
    for session in run.sessions():
        results = run.turns(session.id, session.degradation)
        yield ExportedTalk(
            session, results, scores.get(f"{session.degradation}\x00{session.id}"), at
        )
        at += sum(result.seconds for result in results)


def named_figures(found: Mapping[str, Any]) -> dict[str, float]:
    """Figures of a score by the names that other tools know: flat, and none that is unknown. Where
    verdicts are missing a rate has no value, and its bounds are `NAME.low` and `NAME.high`."""
    known = found.get("bounds") or found.get("intervals", {})
    flat: dict[str, float] = {}
    for key, name in RATES.items():
        if found["total"] or key in found.get("bounds", {}):
            ends = known.get(key) or (None, None)
            cells = {name: found[key], f"{name}.low": ends[0], f"{name}.high": ends[1]}
            flat |= {cell: value for cell, value in cells.items() if value is not None}
    counts = {"sessions": "conversations", "total": "turns", "coverage": "coverage"}
    flat |= {name: found[key] for key, name in counts.items() if found.get(key) is not None}
    return {name: float(value) for name, value in flat.items()}


class _Timed(msgspec.Struct):
    seconds: float = 0.0


def _seconds(run: RunReader) -> Iterator[float]:
    decoder = msgspec.json.Decoder(_Timed)
    for _, turns in run.raw():
        for result, _, _ in turns:
            yield decoder.decode(result).seconds
