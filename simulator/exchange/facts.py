"""What every other tool is told of a run: its settings, its figures and when it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from mmrag.metrics.protocols import score, sessions_of
from mmrag.records import Record, Session, TurnResult
from simulator.run.config import RunConfig
from simulator.run.results import options_for, scores_by_condition, turns_of
from simulator.run.stopping import StopPolicy
from simulator.store.run_store import RunReader

RATES = {
    "truthfulness_score": "truthfulness",
    "accuracy": "accuracy",
    "missing": "missing",
    "hallucination_rate": "hallucination",
}
"""Figure of `mmrag score`, as experienced → what other tools call it."""


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
    began: float
    """Seconds since 1970. A run keeps no clock times: it is taken to have ended when it was last
    written, and its conversations to have followed one another."""
    ended: float


class Talk(NamedTuple):
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
        figures=_flat(figures),
        conditions={name: _flat(found) for name, found in conditions.items()},
        began=ended - sum(_seconds(run)),
        ended=ended,
    )


def talks(run: RunReader, facts: RunFacts) -> Iterator[Talk]:
    """Every conversation, streamed in the data set's order."""
    options = options_for(run)
    stop = StopPolicy.parse(options.stop, seed=options.seed).rule
    scores: dict[str, float | None] = {}
    for rows in sessions_of(turns_of(run, options)):
        found = score(rows, stop=stop, resamples=0)["all"]
        scored = found["as_experienced"]["total"]
        scores[rows[0].session_id] = found["mean_multi_turn_conversation_score"] if scored else None
    at = facts.began
    for session in run.sessions():
        results = run.turns(session.id, session.degradation)
        yield Talk(session, results, scores.get(f"{session.degradation}\x00{session.id}"), at)
        at += sum(result.seconds for result in results)


def _flat(found: dict[str, Any]) -> dict[str, float]:
    rates = found.get("as_experienced", found)
    spans = found.get("intervals", {})
    flat: dict[str, float] = {}
    if rates["total"]:
        for key, name in RATES.items():
            flat[name] = rates[key]
        for key, name in RATES.items():
            flat |= _ends(name, spans.get("as_experienced", {}).get(key))
        score = "mean_multi_turn_conversation_score"
        flat["multi_turn_score"] = found[score]
        flat |= _ends("multi_turn_score", spans.get(score))
    counts = {"sessions": "conversations", "total": "turns", "coverage": "coverage"}
    flat |= {name: found[key] for key, name in counts.items() if found.get(key) is not None}
    return {name: float(value) for name, value in flat.items()}


def _ends(name: str, span: list[float | None] | None) -> dict[str, float]:
    if not span or span[0] is None or span[1] is None:
        return {}
    return {f"{name}.low": span[0], f"{name}.high": span[1]}


class _Timed(msgspec.Struct):
    seconds: float = 0.0


def _seconds(run: RunReader) -> Iterator[float]:
    decoder = msgspec.json.Decoder(_Timed)
    for _, turns in run.raw():
        for result, _, _ in turns:
            yield decoder.decode(result).seconds
