"""CRAG's straightforward agents: no pages, 5 pages, 5 pages and the KG, 50 pages and the KG.

The windows are the paper's (section 5.1): snippets in the order of the data until 4,000 tokens are
full, and what the KG gave until 2,000 are. `kg=extract` asks as the paper does: the model names
the entities of the question, and all functions that apply are called. `kg=tools` lets the model
call them itself; `kg=off` asks none, to see what the KG is worth. With `reader=builtin` no model is
asked: the names that the KG finds in the question are looked up, and the extractive reader reads
pages and KG.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmrag.agent_hooks import built_in_capacity, warm
from mmrag.agents.paper.crag_kg import KgLookup, extracted_names
from mmrag.agents.prompt_templates import ask_model, render_prompt
from mmrag.agents.reply_format import ABSTAIN, make_reply, without_thoughts
from mmrag.agents.tool_loop import Answer, answer_with_tools
from mmrag.agents.trace import Trace
from mmrag.errors import SpecError
from mmrag.protocols import GenerateOptions, Message, Model, Resources
from mmrag.records import Evidence, Passage, Query, Record, Reply, Usage
from mmrag.registry import parse_whole_number
from mmrag.search.session_passages import evidence_of
from mmrag.text.token_limits import count_tokens, cut_text

if TYPE_CHECKING:
    from mmrag.agents.grounded.contextual_vectors import ContextualEncoder


class TaskMaterial(Record, frozen=True, kw_only=True):
    """What a task gives to the agent."""

    pages: int
    kg: bool
    web_tokens: int
    kg_tokens: int


class CragAgent:
    """One agent for all tasks; they differ in their window."""

    def __init__(
        self,
        resources: Resources,
        window: TaskMaterial,
        *,
        model: Model | None,
        calls_itself: bool = False,
        meaning: ContextualEncoder | None = None,
    ) -> None:
        self._resources, self._window = resources, window
        self._model, self._calls_itself = model, calls_itself
        from mmrag.agents.grounded.contextual_vectors import BuiltinSentenceEncoder

        self._meaning = meaning or BuiltinSentenceEncoder()
        self.capacity = built_in_capacity(model=model is not None)

    async def warm(self) -> None:
        """Load the model, or the sentence encoder where there is none."""
        if self._model is not None:
            await warm(self._model)
        else:
            await asyncio.to_thread(self._meaning.encode, ["a"])

    async def answer(self, query: Query) -> Reply:
        """Fill the window, then answer from it."""
        trace = Trace()
        pages = await asyncio.to_thread(self._pages, query, trace)
        if self._model is None:
            return await asyncio.to_thread(self._read, query, pages, trace)
        found = await self._generate(self._model, query, pages, trace)
        return Reply(
            text=without_thoughts(found.text),
            citations=found.citations,
            trace=trace.steps,
            usage=found.usage,
        )

    def _pages(self, query: Query, trace: Trace) -> list[Evidence]:
        """The passages of as many pages as the task gives, in the order of the data."""
        if not self._window.pages:
            return []
        with trace.step("web") as step:
            if query.passages:
                found = [evidence_of(p) for p in _of_pages(query.passages, self._window.pages)]
            elif self._resources.web_search is not None:
                search = self._resources.web_search.search_text
                found = list(search([query.text], self._window.pages)[0])
            else:
                found = []
            step.info["pages"] = len({_page(item.id) for item in found})
            step.found(_shown(found)[: self._window.pages])
        return found

    async def _generate(
        self, model: Model, query: Query, pages: Sequence[Evidence], trace: Trace
    ) -> Answer:
        kg, usage = "", Usage()
        if self._window.kg and not self._calls_itself:
            kg, usage = await self._kg(model, query, trace)
        prompt = render_prompt(
            "crag_answer",
            query=query.text,
            query_time=pacific(query.query_time),
            references=self._window.pages > 0,
            web_results=_within(pages, self._window.web_tokens),
            kg=self._window.kg and not self._calls_itself,
            kg_response=kg,
        )
        tools = self._resources.tools if self._window.kg and self._calls_itself else ()
        found = await answer_with_tools(
            model,
            [Message(role="user", text=prompt)],
            tools,
            trace,
            at=query.query_time,
            options=GenerateOptions(max_tokens=300 if tools else 75),
        )
        return Answer(text=found.text, usage=usage + found.usage, citations=found.citations)

    async def _kg(self, model: Model, query: Query, trace: Trace) -> tuple[str, Usage]:
        """What the functions give that apply to the entities which the model names."""
        with trace.step("entities") as step:
            done = await ask_model(
                model, "crag_entities", GenerateOptions(max_tokens=200),
                query=query.text, query_time=pacific(query.query_time),
            )  # fmt: skip
            names = extracted_names(done.text)
            step.info |= {"said": done.text[:1000]}
        lookup = KgLookup(self._resources.tools, query.query_time, trace)
        found = await asyncio.to_thread(lookup.extracted, names)
        return cut_text("\n".join(found), self._window.kg_tokens), done.usage

    def _read(self, query: Query, pages: Sequence[Evidence], trace: Trace) -> Reply:
        from mmrag.agents.grounded.passage_text import NAME
        from mmrag.agents.grounded.planner import Planner
        from mmrag.agents.grounded.program_runner import BuiltinReader
        from mmrag.agents.grounded.scene_records import Scene
        from mmrag.agents.grounded.times_and_numbers import moment_in
        from mmrag.agents.grounded.turn_evidence import TurnEvidence

        named = list(dict.fromkeys(m.group() for m in NAME.finditer(query.text)))
        lookup = None
        if self._window.kg:
            with trace.step("kg") as step:
                lookup = KgLookup(self._resources.tools, query.query_time, trace)
                lookup.search_text([query.text])
                when = moment_in(query.text, query.query_time or "")
                for name in named if len(when) >= 10 else ():
                    lookup.games(name, when)
                step.found(lookup.found)
        with trace.step("reader") as step:
            plan = Planner(self._meaning).plan(query.text)
            evidence = TurnEvidence(list(pages), lookup, trust_orders=True, expand=False)
            evidence.add(lookup.found if lookup else ())
            finding = BuiltinReader(self._meaning).read(plan, Scene(), evidence, query.query_time)
            step.info |= {"operation": plan.operation, "answer": finding.text if finding else None}
        return make_reply(
            finding.text if finding else ABSTAIN,
            trace=trace.steps,
            citations=finding.citations if finding else (),
        )


def task1(
    *, resources: Resources, model: str = "", reader: str = "", web_tokens: str = "4000"
) -> CragAgent:
    """`crag-task1:model=SPEC` or `:reader=builtin`; `web_tokens=` changes the window."""
    return _make(resources, 5, model, reader, web_tokens=web_tokens)


def task2(
    *,
    resources: Resources,
    model: str = "",
    reader: str = "",
    kg: str = "extract",
    web_tokens: str = "4000",
    kg_tokens: str = "2000",
) -> CragAgent:
    """`crag-task2:model=SPEC,kg=extract|tools|off` or `:reader=builtin`, with `--tools crag-kg`."""
    return _make(resources, 5, model, reader, kg=kg, web_tokens=web_tokens, kg_tokens=kg_tokens)


def task3(
    *,
    resources: Resources,
    model: str = "",
    reader: str = "",
    kg: str = "extract",
    web_tokens: str = "4000",
    kg_tokens: str = "2000",
) -> CragAgent:
    """`crag-task3`: as task 2, with 50 pages."""
    return _make(resources, 50, model, reader, kg=kg, web_tokens=web_tokens, kg_tokens=kg_tokens)


def llm_only(*, resources: Resources, model: str) -> CragAgent:
    """`crag-llm-only:model=SPEC`: CRAG's prompt with nothing to read."""
    return _make(resources, 0, model, "")


def pacific(iso: str | None) -> str:
    """A time as CRAG's prompts give it.

    >>> pacific("2024-02-28T10:04:54")
    '02/28/2024, 10:04:54 PT'
    """
    try:
        return f"{dt.datetime.fromisoformat(iso or ''):%m/%d/%Y, %H:%M:%S} PT"
    except ValueError:
        return iso or "unknown"


def _make(
    resources: Resources,
    pages: int,
    model: str,
    reader: str,
    *,
    kg: str = "",
    web_tokens: str = "0",
    kg_tokens: str = "0",
) -> CragAgent:
    if bool(model) == (reader == "builtin") or reader not in ("", "builtin"):
        raise SpecError("CRAG's agents need either model=SPEC or reader=builtin.")
    if kg not in ("", "extract", "tools", "off"):
        raise SpecError(f"kg={kg}: choose extract, tools or off.")
    asks_kg = kg in ("extract", "tools")
    if asks_kg and not resources.tools:
        raise SpecError(
            "CRAG's tasks 2 and 3 ask a knowledge graph, and there is none here: add "
            "--tools crag-kg:world=mini (or crag-kg:url=http://… of your own server), "
            "or say kg=off to go without."
        )
    window = TaskMaterial(
        pages=pages,
        kg=asks_kg,
        web_tokens=parse_whole_number("crag", "web_tokens", web_tokens, least=0),
        kg_tokens=parse_whole_number("crag", "kg_tokens", kg_tokens, least=0),
    )
    client = resources.client(model) if model else None
    return CragAgent(resources, window, model=client, calls_itself=kg == "tools")


def _of_pages(passages: Sequence[Passage], most: int) -> list[Passage]:
    """The passages of the first pages: "3", "3.1" and "3.2" are of one page."""
    pages = list(dict.fromkeys(_page(p.id) for p in passages))[:most]
    return [p for p in passages if _page(p.id) in pages]


def _page(passage_id: str) -> str:
    return passage_id.partition(".")[0]


def _shown(found: Sequence[Evidence]) -> list[Evidence]:
    """The first passage of each page: its snippet, or where there is none its beginning."""
    first: dict[str, Evidence] = {}
    for item in found:
        first.setdefault(_page(item.id), item)
    return list(first.values())


def _within(found: Sequence[Evidence], tokens: int) -> str:
    """Snippets in their order until the window is full; the last one is cut."""
    kept: list[str] = []
    for item in _shown(found):
        if tokens <= 0:
            break
        kept.append(cut_text(item.text, tokens))
        tokens -= count_tokens(kept[-1])
    return "\n".join(kept)
