"""An agent whose work can be watched."""

from __future__ import annotations

import asyncio
import threading

from ui_parts import EVIL

from mmrag.agents.trace import Trace
from mmrag.records import Query, Reply


class Watched:
    """Works in visible steps; repeats what was said before; hostile when asked to be."""

    go_on = threading.Event()
    """What it waits for when it is asked to: no clock says when somebody has looked."""

    async def answer(self, query: Query) -> Reply:
        trace = Trace()
        if "wait" in query.text:
            await asyncio.to_thread(self.go_on.wait, 40)
        with trace.step("planner", question=query.text):
            await asyncio.sleep(0.6)
        with trace.step("web"):
            await asyncio.sleep(0.6)
        text = EVIL if "evil" in query.text else f"reply {query.turn_index + 1}, after "
        text += ", ".join(exchange.query for exchange in query.history) or "nothing"
        if "fail" in query.text:
            raise OSError("the agent broke")
        return Reply(text=text, trace=trace.steps, confidence=0.5)


class Seeing:
    """Asks for a better look until it has one; then it is silent, slow, broken or hostile as it
    is told to be."""

    async def answer(self, query: Query) -> Reply:
        if "slow" in query.text:
            await asyncio.sleep(2)
        if "fail" in query.text:
            raise OSError("the agent broke")
        if "evil" in query.text:
            return Reply(text=EVIL)
        if not query.earlier:
            return Reply(text="Could you give me a better look at it?", ask="look")
        return Reply(text="I don't know")
