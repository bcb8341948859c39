"""Grounding labels: what a passage is worth to a question (GaRAGe's four classes).

`answers`: it states a fact that the question needs, with the value that holds when it is asked.
`outdated`: it states such a fact with a value that held earlier. `related`: it is about an entity
of the question, but states no needed fact (or states one wrongly: a planted contradiction).
`irrelevant`: everything else. A question that needs two facts has passages that answer a part of
it; `supports` says which.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence

from mmrag.records import Record
from simulator.world.build.randomness import Draw
from simulator.world.facts.factbase import FactBase
from simulator.world.language.questions.question_records import NeededFact
from simulator.world.pages.page_document import Document, Statement
from simulator.world.pages.page_orders import IRRELEVANT_PER_RELEVANT, PagePlan
from simulator.world.pages.page_writer import PageOrder, compose

MOST_PAGES = 50
"""Pages per question."""


class Grounding(Record, frozen=True, kw_only=True):
    """One page, as seen from one question."""

    page_url: str
    label: str
    passage: str
    supports: tuple[str, ...]
    """The needed facts that the passage states, as `entity_id#attribute`."""
    page_label: str
    age_days: int


class Grounder:
    """Labels pages for questions. Composed pages are kept, because turns share their pages."""

    def __init__(self, facts: FactBase, plan: PagePlan) -> None:
        self._facts, self._plan = facts, plan
        self._documents: dict[str, Document] = {}

    def of_turn(self, turn_id: str, needs: Sequence[NeededFact], at: str) -> list[Grounding]:
        """Up to fifty labelled pages for a question: one relevant to two irrelevant."""
        entities = tuple(dict.fromkeys(d.entity_id for d in needs))
        seen = self._labelled([o for e in entities for o in self._plan.relevant_to(e)], needs, at)
        order = {"answers": 0, "outdated": 1, "related": 2, "irrelevant": 3}
        seen.sort(key=lambda g: (order[g.label], g.page_url))
        relevant = [g for g in seen if g.label != "irrelevant"]
        relevant = relevant[: MOST_PAGES // (1 + IRRELEVANT_PER_RELEVANT)]
        wanted = IRRELEVANT_PER_RELEVANT * len(relevant)
        beside = self._labelled(self._beside(turn_id, entities, wanted), needs, at)
        irrelevant = [g for g in beside if g.label == "irrelevant"][:wanted]
        return sorted(relevant + irrelevant, key=lambda g: g.page_url)

    def _beside(self, turn_id: str, entities: tuple[str, ...], wanted: int) -> list[PageOrder]:
        """Candidates for irrelevance: what stands beside the entities, then any other page."""
        draw = Draw(self._facts.seed, "grounding", turn_id)
        near = draw.shuffled([o for e in entities for o in self._plan.irrelevant_to(e)])
        far = [draw.pick(self._plan.orders) for _ in range(2 * wanted)] if self._plan.orders else []
        return list({o.id: o for o in [*near, *far]}.values())[: 3 * wanted]

    def _labelled(
        self, orders: list[PageOrder], needs: Sequence[NeededFact], at: str
    ) -> list[Grounding]:
        """Pages that were written before the question was asked, each with its label."""
        return [label(self._document(o), needs, at, self._facts) for o in orders if o.as_of <= at]

    def _document(self, order: PageOrder) -> Document:
        document = self._documents.get(order.id)
        if document is None:
            if len(self._documents) >= 2000:
                self._documents.clear()
            document = self._documents[order.id] = compose(order, self._facts)
        return document


def label(document: Document, needs: Sequence[NeededFact], at: str, facts: FactBase) -> Grounding:
    """Label one page for one question."""
    best, passage, supports = "irrelevant", document.blocks[0], list[str]()
    for statement, block in document.statements:
        found = label_for([statement], needs, facts)
        if found == "answers":
            supports.append(f"{statement.entity_id}#{statement.attribute}")
        if _RANK[found] > _RANK[best]:
            best, passage = found, block
    return Grounding(
        page_url=document.url,
        label=best,
        passage=f"{document.title}: {passage.passage}",
        supports=tuple(sorted(set(supports))),
        page_label=document.label,
        age_days=(_day(at) - _day(document.date)).days,
    )


def label_for(states: Iterable[Statement], needs: Sequence[NeededFact], facts: FactBase) -> str:
    """The label that statements earn: that of the best of them."""
    best = "irrelevant"
    for statement in states:
        for need in needs:
            found = _worth(statement, need, facts)
            if _RANK[found] > _RANK[best]:
                best = found
    return best


def _worth(statement: Statement, need: NeededFact, facts: FactBase) -> str:
    if statement.entity_id != need.entity_id:
        return "irrelevant"
    if statement.attribute != need.attribute or not statement.is_true:
        return "related"
    now = facts.value(need.entity_id, need.attribute, need.at)
    return "answers" if statement.value == now else "outdated"


def _day(iso: str) -> dt.date:
    return dt.date.fromisoformat(iso[:10])


_RANK = {"irrelevant": 0, "related": 1, "outdated": 2, "answers": 3}
