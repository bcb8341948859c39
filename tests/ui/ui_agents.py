"""An agent whose work can be watched."""

from __future__ import annotations

import asyncio

from ui_parts import EVIL

from mmrag.agents.tracing import Trace
from mmrag.records import Query, Reply


class Watched:
    """Works in visible steps; repeats what was said before; hostile when asked to be."""

    async def answer(self, query: Query) -> Reply:
        trace = Trace()
        with trace.step("planner", question=query.text):
            await asyncio.sleep(0.6)
        with trace.step("web"):
            await asyncio.sleep(0.6)
        text = EVIL if "evil" in query.text else f"reply {query.turn_index + 1}, after "
        text += ", ".join(exchange.query for exchange in query.history) or "nothing"
        if "fail" in query.text:
            raise OSError("the agent broke")
        return Reply(text=text, trace=trace.steps, confidence=0.5)
