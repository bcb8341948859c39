"""All evidence of one turn, searched when asked for, with what it states about whom."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmrag.agents.grounded.evidence_lines import EvidenceLine, lines_about
from mmrag.agents.grounded.passage_text import NAME, comparable_name, has_instructions
from mmrag.protocols import WebSearch
from mmrag.records import Evidence

MAX_SEARCHES = 12
"""Most web queries of one turn."""

_SET_SEARCHES, _SET_PAGES = 12, 60
"""More queries, and more pages for each, where a question is about all that share something."""


class TurnEvidence:
    """Evidence by entity. Without a search it reads what it was given and fetches nothing."""

    def __init__(
        self,
        evidence: Sequence[Evidence] = (),
        search: WebSearch | None = None,
        *,
        k: int = 20,
        trust_orders: bool = False,
        expand: bool = True,
        strict: bool = True,
    ) -> None:
        """`expand`: a query per entity and attribute, not only per entity. `strict`: pages that are
        not about an entity say nothing about it."""
        self.refused: list[str] = []
        """Pages that tried to instruct their reader."""
        self.queries: list[str] = []
        self.used: list[Evidence] = []
        self._search = search
        self._k = k
        self._trust = trust_orders
        self._expand = expand
        self._strict = strict
        self._known: dict[str, Evidence] = {}
        self._asked: set[str] = set()
        self._lines: dict[str, tuple[int, list[EvidenceLine]]] = {}
        self._most = MAX_SEARCHES
        self._brief = False
        self.add(evidence)

    def add(self, evidence: Sequence[Evidence]) -> None:
        """Add evidence; pages with orders to the assistant are set aside."""
        for item in evidence:
            key = f"{item.source}\0{item.id}\0{item.text[:60]}"
            if key in self._known:
                continue
            if not self._trust and item.source == "web" and has_instructions(item):
                self.refused.append(item.id)
                continue
            self._known[key] = item
            self.used.append(item)

    def lines(self, name: str, *hints: str) -> list[EvidenceLine]:
        """All lines about an entity, after pages about it were fetched once per hint."""
        if not name:
            return []
        self._fetch_about(name, hints)
        return self.known_lines(name)

    def known_lines(self, name: str) -> list[EvidenceLine]:
        """All lines about an entity of the evidence that is here, without fetching more."""
        count, found = self._lines.get(name, (-1, []))
        if count != len(self.used):
            found = lines_about(name, self.used, strict=self._strict)
            self._lines[name] = (len(self.used), found)
        return found

    def _fetch_about(self, name: str, hints: Sequence[str]) -> None:
        asked = [f"{name} {h}" for h in hints if h and self._expand]
        self._fetch(asked if asked and self._brief else [name, *asked])

    def also(self, searches: int) -> None:
        """Go on for a thing less probable: with so many searches more, and one per question."""
        self._most = len(self._asked) + searches
        self._brief = True

    def sharing(self, owner: str, hint: str) -> list[str]:
        """What pages are about that name the owner of something."""
        self._most += _SET_SEARCHES
        self._fetch([owner, f"{owner} {hint}"], k=_SET_PAGES)
        wanted = comparable_name(owner)
        found: dict[str, None] = {}
        for item in self.used:
            if wanted in comparable_name(item.text) or wanted in comparable_name(
                str(item.attributes)
            ):
                name = item.text if item.source == "image-kg" else title_name(item.title)
                if name and comparable_name(name) != wanted:
                    found[name] = None
        return list(found)

    def _fetch(self, queries: Sequence[str], *, k: int = 0) -> None:
        new = [q for q in dict.fromkeys(queries) if q not in self._asked]
        new = new[: max(0, self._most - len(self._asked))]
        if self._search is None or not new:
            return
        self._asked.update(new)
        self.queries += new
        for hits in self._search.search_text(new, k or self._k):
            self.add(hits)


def title_name(title: str) -> str:
    """The name that a page's title is about: its longest proper name."""
    return max((m.group() for m in NAME.finditer(re.sub(r"\|.*$", "", title))), key=len, default="")
