"""Ask a sample of a run's turns again, in other company, and see which outcomes flip."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from mmrag.errors import DataError
from mmrag.metrics import chance
from mmrag.records import JudgeItem, Session, TurnResult
from simulator.run.engine import Rules, ask_again, judge_reply
from simulator.run.slots import Places

if TYPE_CHECKING:
    from mmrag.protocols import Agent, Judge
    from simulator.store.run_store import RunReader

_WORTH = {"perfect": 1.0, "acceptable": 1.0, "missing": 0.0, "incorrect": -1.0}


class Held(NamedTuple):
    """A turn that was held, and the conversation that it stands in."""

    session: Session
    results: list[TurnResult]
    place: int
    """Of the turn in the conversation."""


class Way(NamedTuple):
    """How turns are asked again."""

    cause: str
    at_once: int
    in_batches: bool = False
    """The next ones are asked when all of a batch are done, else when one is."""
    in_order: bool = False
    """Of the run; else in an order that each repeat draws anew."""


def audit(
    folder: Path,
    *,
    concurrency: Sequence[int] = (1, 16),
    batch: Sequence[int] = (1, 8),
    repeats: int = 3,
    turns: int = 100,
    seed: int = 0,
    progress: bool = True,
) -> dict[str, Any]:
    """Flip rates by cause, kept with the run. Each turn is asked with the history that it had.

    Nothing is cached, so that the assistant is really asked. The run's own turns stay as they are.
    """
    from simulator.parts.run_parts import Parts
    from simulator.run.config import read_config
    from simulator.store.run_store import RunReader, RunStore
    from simulator.terminal.event_loops import run_to_end
    from simulator.terminal.progress import stage_bars

    with RunReader(folder) as run:
        parts = Parts(read_config(run), progress=progress)
        sample = _sample(run, turns, seed)
    parts.check_agent()
    judge, agent = parts.judge, parts.make_agent()
    ways = [
        Way("asked again", min(concurrency), in_order=True),
        Way("another order", min(concurrency)),
        *(Way(f"{n} at once", n, in_order=True) for n in concurrency if n > min(concurrency)),
        *(Way(f"batches of {n}", n, in_batches=True) for n in batch if n > 1),
    ]
    with stage_bars(shown=progress) as advance:
        asking = _Asking(sample, agent, judge, parts.plan(1).rules, seed, advance)
        asked, judged = run_to_end(asking.all(ways, repeats))
    found = _findings(sample, asked, judged, repeats=repeats, seed=seed)
    with RunStore(folder) as store:
        store.set_meta("audit", found)
    return found


def _sample(run: RunReader, turns: int, seed: int) -> list[Held]:
    """Turns that were answered and judged, drawn by their names, in the run's order."""
    there = [
        (session.id, session.degradation, result.turn_index)
        for session in run.sessions()
        for result in run.turns(session.id, session.degradation)
        if result.reply is not None and result.verdict is not None and not result.unheard
    ]
    if not there:
        raise DataError(f"{run.folder}: no turn was answered and judged, so none can be audited.")
    drawn = set(sorted(there, key=lambda key: _number(seed, *key))[:turns])
    return [
        Held(run.session(session_id, degradation), run.turns(session_id, degradation), index)
        for session_id, degradation, index in there
        if (session_id, degradation, index) in drawn
    ]


def _number(*parts: object) -> int:
    text = "\x00".join(map(str, ("audit", *parts)))
    return int(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16], 16)


Outcomes = list[list[TurnResult]]
"""A row per turn of the sample, a column per repeat."""


class _Asking:
    """Asks the sample in every way."""

    def __init__(
        self,
        sample: list[Held],
        agent: Agent,
        judge: Judge,
        rules: Rules,
        seed: int,
        advance: Callable[[str, int, int], None],
    ) -> None:
        self._sample, self._agent, self._judge = sample, agent, judge
        self._rules, self._seed, self._advance = rules, seed, advance

    async def all(self, ways: list[Way], repeats: int) -> tuple[dict[Way, Outcomes], Outcomes]:
        """(results of each way, the run's own replies judged again)."""
        place = Places(self._agent).place
        asked: dict[Way, Outcomes] = {}
        for way in ways:
            columns = [await self._once(way, number, place) for number in range(repeats)]
            asked[way] = [list(row) for row in zip(*columns, strict=True)]
        return asked, [await self._judged(held, repeats) for held in self._sample]

    async def _once(self, way: Way, number: int, place: Any) -> list[TurnResult]:
        order = list(range(len(self._sample)))
        if not way.in_order:
            order.sort(key=lambda turn: _number(self._seed, way.cause, number, turn))
        found: dict[int, TurnResult] = {}

        async def ask(turn: int) -> None:
            held = self._sample[turn]
            found[turn] = await ask_again(
                held.session, held.place, held.results, self._agent, self._judge,
                rules=self._rules, place=place,
            )  # fmt: skip
            self._advance(way.cause, len(found), len(order))

        if way.in_batches:
            for start in range(0, len(order), way.at_once):
                await asyncio.gather(*map(ask, order[start : start + way.at_once]))
        else:
            await asyncio.gather(*(_one_after_the_other(ask, iter(order), way.at_once)))
        return [found[turn] for turn in range(len(order))]

    async def _judged(self, held: Held, repeats: int) -> list[TurnResult]:
        result, turn = held.results[held.place], held.session.turns[held.place]
        assert result.reply is not None  # none else is drawn
        item = JudgeItem(
            question=turn.query, references=turn.reference.all_texts, prediction=result.reply.text,
            id=f"{held.session.id}/{turn.index}",
        )  # fmt: skip
        again: list[TurnResult] = []
        for _ in range(repeats):
            verdict, _ = await judge_reply(self._judge, item)
            again.append(msgspec.structs.replace(result, verdict=verdict))
        return again


def _one_after_the_other(
    ask: Callable[[int], Any], turns: Iterator[int], at_once: int
) -> Iterator[Any]:
    async def hand() -> None:
        for turn in turns:  # one iterator shared by all
            await ask(turn)

    return (hand() for _ in range(at_once))


def _findings(
    sample: list[Held], asked: dict[Way, Outcomes], judged: Outcomes, *, repeats: int, seed: int
) -> dict[str, Any]:
    sessions = [held.session.id for held in sample]
    ways = list(asked)
    outcomes = {way: _each(asked[way], _outcome) for way in ways}
    words = {way: _each(asked[way], _words) for way in ways}
    base = ways[0]
    causes: list[dict[str, Any]] = []
    for way in ways:
        again = way is base
        other = None if again else outcomes[way]
        found = {
            "cause": way.cause,
            "flips": chance.flips(outcomes[base], other, sessions, seed=seed),
            "beyond": None
            if again
            else chance.beyond(outcomes[base], outcomes[way], sessions, seed=seed),
            "words": chance.flips(words[base], None if again else words[way], sessions, seed=seed),
        }
        causes.append(msgspec.to_builtins(found))
    again = chance.flips(_each(judged, _outcome), None, sessions, seed=seed)
    causes.append(
        msgspec.to_builtins(
            {"cause": "judged again", "flips": again, "beyond": None, "words": None}
        )
    )
    return {
        "turns": len(sample),
        "sessions": len(set(sessions)),
        "repeats": repeats,
        "seed": seed,
        "causes": causes,
        "judge_variance": chance.mean_variance(
            [[_WORTH.get(word) for word in row] for row in _each(judged, _outcome)]
        ),
    }


def _each(table: Outcomes, what: Callable[[TurnResult], str]) -> list[list[str]]:
    return [[what(result) for result in row] for row in table]


def _outcome(result: TurnResult) -> str:
    return str(result.status if result.verdict is None else result.verdict.outcome)


def _words(result: TurnResult) -> str:
    return str(result.status) if result.reply is None else result.reply.text
