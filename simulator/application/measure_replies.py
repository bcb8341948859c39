"""Measure the replies of a run: one row per turn, judge and measure, beside the verdicts.

No agent is asked anything. Interrupted and called again it goes on with what is left, and no model
is asked twice: what it said is kept in the run, by what it was asked.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import cast

import msgspec

from mmrag.cache import Cache, CachedModel
from mmrag.judges.measure_registry import Measurer
from mmrag.metrics.measure_records import Annotations, Case, Measurement
from mmrag.metrics.retrieval import evidence
from mmrag.protocols import Completion, GenerateOptions, Message, Model
from mmrag.records import Evidence, Label, Passage, Reply, Session, TurnResult, encode
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore


async def measure_run(
    store: RunStore,
    measurers: Sequence[Measurer],
    measures: Sequence[str],
    concurrency: int = 16,
    *,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Take measures of every reply; returns how many rows were written. A row that is there already
    is left as it is, unless its judge failed. A turn counts as done when its rows are on disk."""
    work, total, done = _replies(store), store.reply_count(to_judge=False), 0
    takers = [(taker, [m for m in measures if m in taker.measures]) for taker in measurers]

    async def worker() -> int:
        nonlocal done
        count = 0
        for session, result, there in work:  # one iterator shared by all workers
            known = {(m.measure, m.judge) for m in there if not m.failed}
            rows: list[Measurement] = []
            for taker, names in takers:
                wanted = [name for name in names if (name, taker.id(name)) not in known]
                if wanted:
                    case = case_of(session, result)
                    rows += await taker.measure(case, wanted)
            if rows:
                await asyncio.wrap_future(store.add_measurements(result, rows))
            count += len(rows)
            done += 1
            on_progress(done, total)
        return count

    return sum(await asyncio.gather(*(worker() for _ in range(max(1, concurrency)))))


def model_paid_once(
    model: Model,
    name: str,
    store: RunStore,
    *,
    on_cost: Callable[[float], None] = lambda _cost: None,
) -> Model:
    """A model that is asked nothing twice: not by this process, not by those before it."""
    return CachedModel(StoredCompletionModel(model, name, store, on_cost=on_cost), name, Cache())


class StoredCompletionModel:
    """A model whose completions are kept in the run and never paid for again.

    `cost` is what the models of measures have cost in this run, earlier calls included;
    `on_cost` is told before every call, so that it may raise when enough was spent.
    """

    def __init__(
        self,
        model: Model,
        name: str,
        store: RunStore,
        *,
        on_cost: Callable[[float], None] = lambda _cost: None,
    ) -> None:
        self._model = model
        self._name = name
        self._store = store
        self._on_cost = on_cost
        self._known = store.completion_keys()
        self.cost = store.completion_cost()
        self.calls = 0
        """Requests that the model really had to answer."""

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """What the model said to this very request before, or says now.

        Writing is not waited for: a process that is killed loses the writer's last moments, whether
        somebody waits or not.
        """
        asked = encode([self._name, list(messages), options])
        key = hashlib.sha256(asked).hexdigest()
        if key in self._known:
            return self._store.completion(key)
        self._on_cost(self.cost)
        self.calls += 1
        done = await self._model.generate(messages, options)
        self.cost += done.usage.cost
        if done.text.strip():  # an empty answer may be a hiccup
            written = self._store.keep_completion(key, done)
            written.add_done_callback(lambda future: self._written(key, future))
        return done

    def _written(self, key: str, future: Future[None]) -> None:
        if future.exception() is None:
            self._known.add(key)


def case_of(session: Session, result: TurnResult) -> Case:
    """A turn as measures see it: its passages are the evidence that stands in the reply's trace.

    Where nothing stands there they are those that the session brought. Labels and annotated
    citations are the reference's, by evidence id or by URL. Facts of the image KG are passages
    too; citing them is not counted, because nobody annotates them.
    """
    turn, reply = session.turns[result.turn_index], result.reply
    assert reply is not None
    labels, providers = turn.reference.grounding, {p.id: p.provider for p in session.passages}
    names = labels.keys() | set(turn.reference.evidence)
    given = _given(reply)
    keys = {item.id: _key(item, names) for item in given}
    unlabelled = {item.id for item in given if item.source == "image-kg"} - names
    passages = tuple(
        Passage(
            id=keys[item.id],
            text=_text(item),
            title=item.title,
            url=item.url,
            date=item.date,
            provider=providers.get(item.id) or _PROVIDERS.get(item.source, ""),
            label=cast("Label", labels.get(keys[item.id], "unknown")),
        )
        for item in given
    )
    answering = [name for name, label in labels.items() if label == "answers"]
    return Case(
        question=turn.query,
        answer=reply.text,
        passages=passages or session.passages,
        references=turn.reference.all_texts,
        citations=tuple(keys.get(c, c) for c in reply.citations if c not in unlabelled),
        expected=turn.reference.evidence or tuple(answering),
        found=tuple(dict.fromkeys(keys[i.id] for i in given if i.id not in unlabelled))
        if reply.trace
        else None,
        annotations=msgspec.convert(turn.extra.get("annotations", {}), Annotations),
    )


def _replies(store: RunReader) -> Iterator[tuple[Session, TurnResult, list[Measurement]]]:
    for session in store.sessions():
        condition = session.degradation
        there = store.measurements(session.id, condition)
        for result in store.turns(session.id, condition):
            if (
                result.reply is not None and not result.step
            ):  # without a reference too: not every measure needs one
                yield session, result, there.get(result.turn_index, [])


def _given(reply: Reply) -> list[Evidence]:
    """The evidence of a trace, each passage once."""
    found = (item for step in reply.trace for item in evidence(step))
    return list({(item.id, item.text): item for item in found}.values())


def _key(item: Evidence, names: set[str]) -> str:
    """By which name the data set knows an item: its URL where it does not know the id."""
    return item.url if item.id not in names and item.url in names else item.id


def _text(item: Evidence) -> str:
    if item.source != "image-kg":
        return item.text
    facts = [f"The {key.replace('_', ' ')} is {told}." for key, told in item.attributes.items()]
    return " ".join([f"{item.text}.", *facts])


_PROVIDERS = {"web": "web", "image-kg": "image-kg", "ocr": "ocr"}
