"""The straightforward agents of the CRAG-MM paper (section 9), with a model or the built-in reader.

* `llm-only`: picture and question (and history).
* `task1`: the whole picture searched, 30 hits, similarity at least .75, 2,000 tokens of metadata.
* `task2`: besides, the query rewritten with what was found, 50 pages, 8,000 tokens of snippets.
* `task3`: besides, the whole history with the agent's own replies.

With `reader=builtin` the grounded agent's planner and reader stand in for the model:
they see exactly what the model would see, believe the best hit, and say whatever they find.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from mmrag.agent_hooks import built_in_capacity, warm
from mmrag.agents.ask_line import parse_ask_line
from mmrag.agents.grounded.contextual_vectors import BuiltinSentenceEncoder, ContextualEncoder
from mmrag.agents.grounded.entities_in_view import kg_entities
from mmrag.agents.grounded.passage_text import read_attributes
from mmrag.agents.grounded.planner import Planner
from mmrag.agents.grounded.program_runner import BuiltinReader
from mmrag.agents.grounded.scene_records import Candidate, Scene
from mmrag.agents.grounded.turn_evidence import TurnEvidence
from mmrag.agents.prompt_templates import ask_model, render_prompt
from mmrag.agents.reply_format import ABSTAIN, clean_text, make_reply, without_thoughts
from mmrag.agents.trace import Trace
from mmrag.errors import SpecError
from mmrag.protocols import GenerateOptions, Message, Model, Resources, WholeImageSearch
from mmrag.records import Evidence, Query, Reply, Usage
from mmrag.registry import parse_whole_number
from mmrag.text.token_limits import count_tokens, cut_text

HITS = 30
THRESHOLD = 0.75
KG_TOKENS = 2000
PAGES = 50
WEB_TOKENS = 8000
TOKENS = {"brief": 75, "full": 1280}
"""Of an answer: what a wearer listens to, and CRUD-RAG's limit."""


class BaselineAgent:
    """One agent for all four: which searches it uses and whether it sees the history."""

    def __init__(
        self,
        resources: Resources,
        *,
        model: Model | None,
        images: bool,
        web: bool,
        history: bool,
        web_tokens: int = WEB_TOKENS,
        meaning: ContextualEncoder | None = None,
        pages: int = PAGES,
        rewrites: bool = True,
        answer: str = "brief",
    ) -> None:
        self._pages, self._rewrites, self._answer = pages, rewrites, answer
        self._resources, self._model, self._meaning = resources, model, meaning
        self._images, self._web, self._history = images, web, history
        self._web_tokens = web_tokens
        self._planner = Planner(meaning or BuiltinSentenceEncoder())
        self._reader = BuiltinReader(meaning or BuiltinSentenceEncoder())
        self.capacity = built_in_capacity(model=model is not None)
        """Searching and reading are work for a core."""

    async def warm(self) -> None:
        """Load the model, or the sentence encoder where there is none."""
        if self._model is not None:
            await warm(self._model)
        if self._meaning is not None:
            await asyncio.to_thread(self._meaning.encode, ["a"])

    async def answer(self, query: Query) -> Reply:
        """Search, then read; no second thoughts."""
        trace = Trace()
        history = query.history if self._history else ()
        found = await asyncio.to_thread(self._look, query, trace) if self._images else []
        entities = list(dict.fromkeys(e.text for e in found if e.text))
        attributes = _within([(e.text, e) for e in found], KG_TOKENS)
        usage = Usage()
        rewritten, pages = "", list[Evidence]()
        if self._web:
            with trace.step("rewrite") as step:
                if self._rewrites:
                    rewritten, usage = await self._rewrite(query, entities)
                else:
                    rewritten = " ".join((*entities[:1], query.text))
                step.info["query"] = rewritten
            pages = await asyncio.to_thread(self._search, rewritten, trace)
        if self._model is None:
            return await asyncio.to_thread(self._extract, query, found, pages, trace)
        prompt = render_prompt(
            "baseline_user",
            entities=entities,
            attributes=attributes,
            pages=pages,
            rewritten=rewritten,
            history=history,
            query=query.text,
        )
        system = render_prompt(
            "baseline_system",
            multi_turn=bool(history),
            searches=self._images or self._web,
            picture=query.image is not None,
            gaze=query.gaze,
            may_ask=query.may_ask,
            brief=self._answer == "brief",
        )
        with trace.step("generate") as step:
            done = await self._model.generate(
                [
                    Message(role="system", text=system),
                    Message(role="user", text=prompt, images=query.images),
                ],
                GenerateOptions(max_tokens=TOKENS[self._answer]),
            )
            step.info |= {"model": done.model, "finish": done.finish}
        text = without_thoughts(done.text)  # else as said: what it is worth is the judge's word
        return parse_ask_line(Reply(text=text, trace=trace.steps, usage=usage + done.usage), query)

    def _look(self, query: Query, trace: Trace) -> list[Evidence]:
        with trace.step("image search") as step:
            search = self._resources.image_search
            if search is None or query.image is None:
                return []
            is_whole = isinstance(search, WholeImageSearch)
            ask = search.search_whole if is_whole else search.search_images
            hits = [h for h in ask([query.image], HITS)[0] if h.score >= THRESHOLD]
            step.found(hits)
            return kg_entities(hits)

    def _search(self, rewritten: str, trace: Trace) -> list[Evidence]:
        with trace.step("web search") as step:
            search = self._resources.web_search
            if search is None or not rewritten:
                return []
            hits = search.search_text([rewritten], self._pages)[0]
            step.found(hits[:10])
            kept: list[Evidence] = []
            room = self._web_tokens
            for hit in hits:
                room -= count_tokens(hit.text) + count_tokens(hit.title)
                if room < 0:
                    break
                kept.append(hit)
            step.info |= {"pages": len(hits), f"within {self._web_tokens:,} tokens": len(kept)}
            return kept

    async def _rewrite(self, query: Query, entities: list[str]) -> tuple[str, Usage]:
        if self._model is None:
            plan = self._planner.plan(query.text, query.history if self._history else ())
            things = plan.things
            name = plan.answer if "answer" in things else "".join(plan.names[:1])
            name = name or (entities[0] if entities else "")
            return f"{name} {plan.question}".strip(), Usage()
        history = query.history if self._history else ()
        done = await ask_model(
            self._model, "rewrite", GenerateOptions(max_tokens=60), query.images,
            entities=entities[:10], history=history, query=query.text,
        )  # fmt: skip
        return clean_text(done.text)[:400] or query.text, done.usage

    def _extract(
        self, query: Query, found: list[Evidence], pages: Sequence[Evidence], trace: Trace
    ) -> Reply:
        with trace.step("reader") as step:
            plan = self._planner.plan(query.text, query.history if self._history else ())
            names = list(dict.fromkeys(e.text for e in found if e.text))
            people = [Candidate(name=n, confidence=1.0, source="image-kg") for n in names[:4]]
            scene = Scene(
                main=people[0] if people else None, beside=tuple(people[1:]), evidence=tuple(found)
            )
            evidence = TurnEvidence([*found, *pages], trust_orders=True)
            finding = self._reader.read(plan, scene, evidence, query.query_time)
            step.info["answer"] = finding.text if finding else None
        return make_reply(
            finding.text if finding else ABSTAIN,
            trace=trace.steps,
            citations=finding.citations if finding else (),
        )


def llm_only(*, resources: Resources, model: str = "", reader: str = "") -> BaselineAgent:
    """`llm-only:model=SPEC`. Without a model it has nothing to read and always abstains."""
    return _make(resources, model, reader, images=False, web=False, history=True)


def task1(*, resources: Resources, model: str = "", reader: str = "") -> BaselineAgent:
    """`task1:model=SPEC` or `task1:reader=builtin`."""
    return _make(resources, model, reader, images=True, web=False, history=False)


def task2(
    *, resources: Resources, model: str = "", reader: str = "", web_tokens: str = str(WEB_TOKENS)
) -> BaselineAgent:
    """`task2:model=SPEC` or `task2:reader=builtin`; `web_tokens=1500` for a small model."""
    tokens = parse_whole_number("task2", "web_tokens", web_tokens)
    return _make(resources, model, reader, images=True, web=True, history=False, web_tokens=tokens)


def task3(
    *, resources: Resources, model: str = "", reader: str = "", web_tokens: str = str(WEB_TOKENS)
) -> BaselineAgent:
    """`task3:model=SPEC` or `task3:reader=builtin`; `web_tokens=1500` for a small model."""
    tokens = parse_whole_number("task3", "web_tokens", web_tokens)
    return _make(resources, model, reader, images=True, web=True, history=True, web_tokens=tokens)


def rag(
    *,
    resources: Resources,
    model: str = "",
    reader: str = "",
    chunk: str = "",
    overlap: str = "",
    embedder: str = "",
    retriever: str = "",
    top_k: str = "8",
    rewrite: str = "off",
    answer: str = "brief",
) -> BaselineAgent:
    """`rag:model=SPEC,chunk=128,overlap=0,embedder=minilm,retriever=bm25,top_k=8,answer=full`.

    CRUD-RAG's system: the question as it is (`rewrite=on`: as the model writes it) finds `top_k`
    passages, and a model answers from them, or `reader=builtin`. `retriever` is bm25, dense,
    dense+rerank, hybrid or hybrid+rerank, `overlap` tokens or a share (`30%`). Where nothing is
    said of passages, the run's own search is asked; else the others are 512, 0, minilm and
    hybrid+rerank. `answer=full` asks a model for whole paragraphs, else for a sentence.
    """
    given = {"chunk": chunk, "overlap": overlap, "embedder": embedder, "retriever": retriever}
    cut = {name: value for name, value in given.items() if value}
    check_rag(model=model, reader=reader, top_k=top_k, rewrite=rewrite, answer=answer, **cut)
    if cut:
        resources = _cut(resources, cut)
    return _make(
        resources, model, reader, images=True, web=True, history=True,
        pages=int(top_k), rewrites=rewrite == "on", answer=answer,
    )  # fmt: skip


def check_rag(
    *,
    model: str = "",
    reader: str = "",
    top_k: str = "8",
    rewrite: str = "off",
    answer: str = "brief",
    **cut: str,
) -> None:
    """Refuse options of `rag` that cannot be, without making it: a sweep asks for all first."""
    from mmrag.passages import PassageOptions

    _check_reader(model, reader)
    if not (len(top_k) <= 4 and top_k.isdecimal() and 1 <= int(top_k) <= PAGES):
        raise SpecError(f"rag: top_k={top_k[:20]}: choose 1 to {PAGES}.")
    if rewrite not in ("on", "off"):
        raise SpecError(f"rag: rewrite={rewrite}: choose on or off.")
    if answer not in TOKENS:
        raise SpecError(f"rag: answer={answer}: choose {' or '.join(TOKENS)}.")
    if rewrite == "on" and not model:
        raise SpecError("rag: rewrite=on lets a model write the query: add model=SPEC.")
    PassageOptions.of(**cut)


def _cut(resources: Resources, options: dict[str, str]) -> Resources:
    from mmrag.passages import PassageOptions

    if resources.pages is None:
        raise SpecError(
            "rag: no pages here can be cut another way; leave chunk, overlap, embedder and "
            "retriever out, or give data with pages."
        )
    return msgspec.structs.replace(
        resources, web_search=resources.pages(PassageOptions.of(**options))
    )


def _check_reader(model: str, reader: str) -> None:
    if reader not in ("", "builtin", "model"):
        raise SpecError(f"reader={reader}: choose builtin or model.")
    if reader == "builtin" and model:
        raise SpecError("give model= or reader=builtin, not both.")
    if reader == "model" and not model:
        raise SpecError("reader=model needs model=SPEC.")


def _make(resources: Resources, model: str, reader: str, **how: Any) -> BaselineAgent:
    _check_reader(model, reader)
    client = resources.client(model) if model else None
    meaning = None if client else BuiltinSentenceEncoder()
    return BaselineAgent(resources, model=client, meaning=meaning, **how)


def _within(items: Sequence[tuple[str, Evidence]], tokens: int) -> list[dict[str, str]]:
    """Names with their metadata until the token budget is used up."""
    shown: list[dict[str, str]] = []
    seen: set[str] = set()
    for name, item in items:
        text = "\n".join(f"{k}: {v}" for k, v in read_attributes(item.attributes))
        if not text or name in seen:
            continue
        seen.add(name)
        used = count_tokens(text)
        shown.append({"name": name, "text": cut_text(text, tokens)})
        tokens -= used
        if tokens <= 0:
            break
    return shown
