"""A wearer as an environment of Gymnasium: picture and words in, a reply out, the score as reward.

It is the engine of a run, stepped through from outside (`ConversationRunner`), so wearers, stop
rules, degradations, faults and judges are those of a run, and an episode's rewards add up to what
`mmrag score` counts for the conversation.
"""

from __future__ import annotations

import asyncio
import operator
import threading
import weakref
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from mmrag.errors import DataError, SpecError, Unavailable, UsageError
from mmrag.records import ASKS, Outcome, Query, Reply, Session, TurnResult, outcome_of
from simulator.glasses.waiting_agent import WaitingAgent
from simulator.run.agent_slots import AgentSlots
from simulator.run.runner import ConversationRunner, planned_conversations

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise Unavailable("WearerEnv needs gymnasium: pip install 'mmrag[gym]'.") from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

Observation = dict[str, Any]

LETTERS = "\n" + "".join(
    chr(code) for code in (*range(0x20, 0x250), *range(0x2010, 0x2214)) if chr(code).isprintable()
)
"""What words are made of, besides the letters of the data's own questions."""

MOST_WORDS = 4000
"""Characters of an utterance or a reply; a reply is cut to a run's `max_tokens` as ever."""


class WearerEnv(gymnasium.Env[Observation, dict[str, Any]]):
    """One conversation is an episode, one reply a step.

    The observation is what the wearer sees (`picture`, scaled to `size`) and says (`words`). The
    action is a `reply` and what it asks back (`ask`: 0 nothing, then 1 to 3 as `Reply.ask`). The
    reward is +1 for a right answer, −1 for a wrong one and 0 for silence, for a step on the way to
    an answer, and where no verdict could be had.
    """

    def __init__(
        self, data: str = "mini", *, size: tuple[int, int] = (240, 320), **settings: Any
    ) -> None:
        """`size` is height and width; `settings` are those of a run, as in `evaluate`."""
        from simulator.parts.run_parts import Parts
        from simulator.run.run_config import make_config

        given = {"seconds": 0.0, **settings, "data": data, "agent": "object:name=policy"}
        config = make_config({**given, "search": "none"})
        config.refuse_person()
        if config.spoken != "none":
            raise SpecError("spoken questions are a run's: leave out spoken.")
        self._loop = _Loop()
        self._agent = WaitingAgent()
        parts = Parts(config, agent=self._agent, progress=False)
        plan = parts.plan(1)
        self._work = list(planned_conversations(parts.sessions(), plan, parts.optics))
        if not self._work:
            raise DataError(f"{data}: there is no conversation in it to train on.")
        self._held = ConversationRunner(
            self._agent, parts.judge, plan, parts.optics, ThreadPoolExecutor(1),
            AgentSlots(self._agent).place, parts.wearers,
        )  # fmt: skip
        self._size = size
        self._task: asyncio.Task[Any] | None = None
        self._kept = _Kept()
        self._last = np.zeros((*size, 3), np.uint8)
        said = {c for _, session, _ in self._work for turn in session.turns for c in turn.query}
        letters = frozenset(LETTERS) | {letter for letter in said if letter.isprintable()}
        words = spaces.Text(MOST_WORDS, min_length=0, charset=letters)
        self._letters = letters
        self.observation_space = spaces.Dict(
            {"picture": spaces.Box(0, 255, (*size, 3), np.uint8), "words": words}
        )
        self.action_space = spaces.Dict({"reply": words, "ask": spaces.Discrete(len(ASKS) + 1)})

    @property
    def query(self) -> Query:
        """All that an agent is given for the turn at hand: the picture as taken, history, time."""
        if self._agent.asked is None:
            raise UsageError("nothing is being asked: the episode is over; call reset().")
        return self._agent.asked.query

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a conversation: one that is drawn, or `options={"session": id}`."""
        super().reset(seed=seed)
        if not isinstance(options, dict | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"options is {{'session': id}}, not {options!r:.80}.")
        wanted = (options or {}).get("session")
        work = [one for one in self._work if wanted in (None, one[1].id)]
        if not work:
            raise UsageError(f"there is no session {wanted!r} in this environment's data.")
        for place in self.np_random.permutation(len(work)):
            self._loop.run(self._begin(*work[place]))
            if self._agent.asked is not None:
                return self._observed()
        raise DataError(f"{self._kept.results[0].error}: no picture of this data can be had.")

    def step(self, action: dict[str, Any]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Reply to what was said; the conversation goes on until the wearer leaves."""
        query, before = self.query, len(self._kept.results)
        text, ask = _done(action)
        asks = (None, *ASKS)[ask] if query.may_ask else None
        self._loop.run(self._go_on(Reply(text=text, ask=asks)))
        result = self._kept.results[before]
        observation, info = self._observed()
        info |= {
            "status": str(result.status),
            "outcome": str(outcome_of(result)),
            "reference": self._kept.references[result.turn_index],
        }
        return observation, reward_of(result), self._agent.asked is None, False, info

    def close(self) -> None:
        """End the conversation at hand and its thread."""
        self._held.optics_threads.shutdown(wait=False)
        self._loop.close()

    async def _begin(self, position: int, session: Session, condition: str) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._kept = _Kept(session)
        work = self._held.hold(position, session, condition, self._kept)
        self._task = asyncio.create_task(work)
        await self._until_asked()

    async def _go_on(self, reply: Reply) -> None:
        assert self._agent.asked is not None
        self._agent.asked.reply.set_result(reply)
        await self._agent.changed.wait()
        await self._until_asked()

    async def _until_asked(self) -> None:
        assert self._task is not None
        while self._agent.asked is None and not self._task.done():
            changed = asyncio.create_task(self._agent.changed.wait())
            await asyncio.wait({changed, self._task}, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
        if self._task.done():
            self._task.result()

    def _observed(self) -> tuple[Observation, dict[str, Any]]:
        if self._agent.asked is None:
            return {"picture": self._last.copy(), "words": ""}, {}
        query = self._agent.asked.query
        self._last = self._pixels(query)
        words = "".join(c if c in self._letters else "?" for c in query.text)[:MOST_WORDS]
        info: dict[str, Any] = {
            "session": query.session_id,
            "turn": query.turn_index,
            "query_time": query.query_time,
            "may_ask": query.may_ask,
        }
        return {"picture": self._last.copy(), "words": words}, info

    def _pixels(self, query: Query) -> NDArray[np.uint8]:
        if query.image is None:
            return np.zeros((*self._size, 3), np.uint8)
        height, width = self._size
        return np.asarray(query.image.pil().resize((width, height)), np.uint8)


def _done(action: Any) -> tuple[str, int]:
    """What a policy does. It is somebody else's code: `None` would be heard as a reply, and −1
    count from the end."""
    try:
        text, ask = action["reply"], operator.index(action["ask"])
    except (TypeError, LookupError):
        text, ask = None, 0
    if not isinstance(text, str) or not 0 <= ask <= len(ASKS):
        raise UsageError(
            f"an action is {{'reply': text, 'ask': 0 to {len(ASKS)}}}, not {action!r:.80}."
        )
    return text, ask


def reward_of(result: TurnResult) -> float:
    """What a turn adds to the score: of a goal the last turn counts, what failed counts nothing."""
    outcome = outcome_of(result)
    if result.step or result.status.is_failure:
        return 0.0
    return 1.0 if outcome.is_correct else -1.0 if outcome is Outcome.INCORRECT else 0.0


class _Kept:
    """A conversation that nobody keeps: what came of its turns, for as long as it lasts."""

    def __init__(self, session: Session | None = None) -> None:
        self.done: list[TurnResult] = []
        self.results: list[TurnResult] = []
        self.references: dict[int, str] = {}
        self._note(session)

    def begun(self) -> Session | None:
        return None

    async def begin(self, position: int, session: Session) -> None:
        del position
        self._note(session)

    async def begin_broken(self, position: int, session: Session) -> None:
        del position, session

    async def commit(self, *results: TurnResult, session: Session | None = None) -> None:
        self._note(session)
        self.results += results

    def _note(self, session: Session | None) -> None:
        for turn in session.turns if session else ():
            self.references[turn.index] = turn.reference.text


class _Loop:
    """An event loop in a thread of its own: an environment may be used where one runs already."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_serve, args=(self._loop,), name="wearer", daemon=True)
        thread.start()
        self.close = weakref.finalize(self, _end, self._loop, thread)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for async work."""
        if not self.close.alive:
            work.close()
            raise UsageError("this environment is closed; make another one.")
        asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    for task in (left := asyncio.all_tasks(loop)):
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))
    loop.close()


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)
