"""Fakes as product: agents whose behaviour is known, for tests, dry runs and demonstrations."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from mmrag.agent_hooks import capacity, warm
from mmrag.errors import DataError, SpecError
from mmrag.protocols import Agent, Resources
from mmrag.records import Query, Reply, Step

ABSTAIN = "I don't know"

_MAX_SCRIPT = 256 * 1024 * 1024

Key = tuple[str, int]


class ScriptedAgent:
    """Says what a script tells it to: by (session id, turn index), else by the query's text."""

    def __init__(self, script: Mapping[Key | str, str], *, seconds: float = 0.0) -> None:
        self._script = script
        self._seconds = seconds

    async def answer(self, query: Query) -> Reply:
        """The scripted reply; an abstention where the script has none."""
        if self._seconds:
            await asyncio.sleep(self._seconds)
        key = (query.session_id, query.turn_index)
        text = self._script.get(key, self._script.get(query.text, ABSTAIN))
        step = Step(
            name="script", info={"found": key in self._script or query.text in self._script}
        )
        return Reply(text=text, abstained=text == ABSTAIN, trace=(step,))


class RandomAgent:
    """Abstains or says words drawn from its seed, the session and the turn: a lower bound."""

    def __init__(
        self, *, resources: Resources | None = None, seed: str = "0", abstain: str = "0.5"
    ) -> None:
        del resources
        self._seed = seed
        self._abstain = _share(abstain, "abstain")

    async def answer(self, query: Query) -> Reply:
        """The same query in the same place of the same session gets the same reply."""
        draw = _draws("random", self._seed, query.session_id, str(query.turn_index), query.text)
        if draw(0) < self._abstain:
            return Reply(text=ABSTAIN, abstained=True, confidence=0.0)
        words = [_WORDS[int(draw(i) * len(_WORDS))] for i in range(1, 4)]
        return Reply(text=" ".join(words), confidence=draw(9))


class OracleTruth(NamedTuple):
    """The truth of one turn, by which an oracle knows what it was handed."""

    answer: str
    name: str
    passages: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


class Oracle:
    """Perfect from one stage of truth on (docs/runs.md), and silent before it.

    So one that needs `named` is an agent that recognises nothing. With a `share` it fails before
    its stage in so many turns alone; `noise` is the share of other answers that are wrong.
    """

    def __init__(
        self,
        dues: Mapping[Key, OracleTruth],
        needs: str,
        *,
        share: float = 1.0,
        noise: float = 0.0,
        seed: str = "0",
    ) -> None:
        self._dues, self._needs = dues, ORACLES.index(needs)
        self._share, self._noise, self._seed = share, noise, seed

    async def answer(self, query: Query) -> Reply:
        """The truth, where enough of it was handed over."""
        due = self._dues[query.session_id, query.turn_index]
        place = (self._seed, query.session_id, str(query.turn_index))
        handed = _handed(query, due)
        if handed < self._needs and _draws("oracle", *place)(0) < self._share:
            return Reply(text=ABSTAIN, abstained=True)
        if _draws("noise", *place, str(handed))(0) < self._noise:
            return Reply(text="Nobody would say that.")
        return Reply(text=due.answer)


ORACLES = ("nothing", "whole", "pointed", "named", "paged", "told")
"""What oracles may need, the least first."""


def _handed(query: Query, due: OracleTruth) -> int:
    """How far down `ORACLES` a query goes; of passages and facts every one has to be there."""
    if query.image is not None:
        return ORACLES.index("whole" if query.gaze is None else "pointed")
    if due.name not in query.text:
        return ORACLES.index("nothing")
    told = "\n".join((query.text, *(p.text for p in query.passages[: query.handed])))
    if not all(text in told for text in due.passages):
        return ORACLES.index("named")
    return ORACLES.index("told" if all(text in told for text in due.facts) else "paged")


class FaultyAgent:
    """Another agent with seeded failures: exceptions, silence beyond any limit, empty replies."""

    def __init__(
        self,
        inner: Agent,
        *,
        errors: float = 0.1,
        timeouts: float = 0.0,
        empty: float = 0.0,
        seed: str = "0",
    ) -> None:
        if errors + timeouts + empty > 1:
            raise SpecError("faulty: the shares of errors, timeouts and empty replies exceed 1.")
        self._inner = inner
        self._limits = (errors, errors + timeouts, errors + timeouts + empty)
        self._seed = seed
        self.capacity = capacity(inner)

    async def warm(self) -> None:
        """Make the inner agent ready."""
        await warm(self._inner)

    async def answer(self, query: Query) -> Reply:
        """Fails where the seed says so; the inner agent's reply otherwise."""
        draw = _draws("faulty", self._seed, query.session_id, str(query.turn_index))(0)
        if draw < self._limits[0]:
            raise RuntimeError("injected failure")
        if draw < self._limits[1]:
            await asyncio.sleep(3600)
        if draw < self._limits[2]:
            return Reply(text="")
        return await self._inner.answer(query)


def scripted(
    *, resources: Resources | None = None, file: str = "", seconds: str = "0"
) -> ScriptedAgent:
    """`scripted:file=replies.jsonl`: lines of {session_id, turn_index, reply} or {query, reply}."""
    del resources
    if not file:
        raise SpecError("scripted needs a script: scripted:file=replies.jsonl.")
    return ScriptedAgent(_read_script(Path(file)), seconds=float(seconds))


def faulty(
    *,
    resources: Resources,
    agent: str = "random",
    errors: str = "0.1",
    timeouts: str = "0",
    empty: str = "0",
    seed: str = "0",
) -> FaultyAgent:
    """`faulty:agent=random,errors=0.2,timeouts=0.1,empty=0.1,seed=3`; the agent without options."""
    from mmrag.agents import agents

    return FaultyAgent(
        agents.create(agent, resources=resources),
        errors=_share(errors, "errors"),
        timeouts=_share(timeouts, "timeouts"),
        empty=_share(empty, "empty"),
        seed=seed,
    )


class _Line(msgspec.Struct):
    reply: str
    session_id: str | None = None
    turn_index: int | None = None
    query: str | None = None


def _read_script(path: Path) -> dict[Key | str, str]:
    script: dict[Key | str, str] = {}
    try:
        if path.stat().st_size > _MAX_SCRIPT:
            raise DataError(f"{path}: larger than {_MAX_SCRIPT >> 20} MiB; split the script.")
        with path.open("rb") as file:
            for number, text in enumerate(file, 1):
                if text.strip():
                    key, reply = _entry(text, f"{path}, line {number}")
                    script[key] = reply
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    return script


def _entry(text: bytes, where: str) -> tuple[Key | str, str]:
    try:
        line = msgspec.json.decode(text, type=_Line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(
            f"{where}: {error}; a line is {{session_id, turn_index, reply}}."
        ) from error
    if line.session_id is not None and line.turn_index is not None:
        return (line.session_id, line.turn_index), line.reply
    if line.query is not None:
        return line.query, line.reply
    raise DataError(f"{where}: give session_id and turn_index, or query, with the reply.")


def _draws(*key: str) -> Callable[[int], float]:
    """Numbers in [0, 1) that depend on the key alone."""

    def draw(number: int) -> float:
        digest = hashlib.sha256("\x00".join((*key, str(number))).encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64

    return draw


def _share(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise SpecError(f"{name}={text}: give a share between 0 and 1.")
    return value


_WORDS = (
    "blue", "harbour", "seven", "oak", "the", "a", "1984", "copper", "north", "Lisbon", "maybe",
    "twelve", "river", "old", "yes", "no", "glass", "Monday", "4.5", "kilometres",
)  # fmt: skip
