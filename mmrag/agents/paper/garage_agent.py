"""`garage:model=SPEC`: answers as GaRAGe asks: from all passages, in full, with citations.

Nothing is searched. The passages that a question brings are shown whole, in their order, each with
its marker, source and date, so that which of them to rest on is the model's decision alone.
"""

from __future__ import annotations

from mmrag.agents.prompt_templates import ask_model
from mmrag.agents.reply_format import without_thoughts
from mmrag.agents.trace import Trace
from mmrag.metrics.cases import cited_in
from mmrag.protocols import GenerateOptions, Model, Resources
from mmrag.readiness import warm
from mmrag.records import Query, Reply
from mmrag.search.session_passages import evidence_of

MAX_TOKENS = 1024
"""People's answers have 192 words on average."""


class GarageAgent:
    """Shows a model every passage of the question."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def warm(self) -> None:
        """Load the model, where it is one of this process."""
        await warm(self._model)

    async def answer(self, query: Query) -> Reply:
        """One request; citations are read from the answer."""
        trace = Trace()
        with trace.step("passages") as step:
            step.found([evidence_of(passage) for passage in query.passages])
        with trace.step("generate") as step:
            done = await ask_model(
                self._model, "garage_answer", GenerateOptions(max_tokens=MAX_TOKENS), query.images,
                query=query.text, asked=query.query_time or "unknown", passages=query.passages,
            )  # fmt: skip
            step.info |= {"model": done.model, "finish": done.finish}
        text = without_thoughts(done.text)
        return Reply(
            text=text, citations=cited_in(text, query.passages), trace=trace.steps, usage=done.usage
        )


def make(*, resources: Resources, model: str) -> GarageAgent:
    """`garage:model=SPEC`: all passages with their dates; a full answer with citations."""
    return GarageAgent(resources.client(model))
