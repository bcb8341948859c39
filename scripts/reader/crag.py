"""CRAG's questions about a world, with the KG's answers in sentences as the lines to read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from mmrag.agents.grounded.contextual_vectors import NAME_WORD
from mmrag.agents.grounded.evidence_lines import lines_about
from mmrag.agents.grounded.values import read_value
from mmrag.agents.paper.crag_kg import KgLookup
from mmrag.agents.trace import Trace
from mmrag.tools import Tool
from reader.needs import Asked, plain
from reader.pages import Bank, Stated
from simulator.world.crag.crag_world import CragWorld
from simulator.world.crag.kg.endpoints import crag_tools
from simulator.world.crag.questions.kg_proof import INVALID
from simulator.world.crag.questions.question_set import CragQuestion, ask_questions
from simulator.world.facts.generate import generate_facts

SEED, THINGS = 500_200, 200
_SAYS = re.compile(r"\b[Tt]he (?P<noun>.+?) of It (?:is|was) (?P<value>.+?)\.$")
_MOST = 2
"""Lines of one kind and noun that are kept."""

_CHAINED = ("value", "count")
_PROGRAMS = {
    "larger": ["most", "both", 0],
    "fits": ["fits", ["number"], ["get", "it", 0]],
    "times": ["times", ["get", "it", 0], ["number"]],
    "days": ["minus", ["get", "it", 0], ["get", "other", 0]],
    "difference": ["minus", ["get", "it", 0], ["get", "other", 0]],
}
"""What a proof's operation comes to in the reader's; names and counts stand in the KG as such."""


def crag(count: int) -> tuple[list[Asked], Bank]:
    """Questions whose answer the KG's sentences give, and these sentences."""
    stage = CragWorld(generate_facts(SEED, THINGS))
    tools = crag_tools(stage)
    bank: Bank = {}
    asked: list[Asked] = []
    for question in ask_questions(stage, count, SEED):
        if question.answer != INVALID:
            known = [_Known(n, question.at, tools, bank) for n in _names(question)[:2]]
            asked += _asked(question, known)
    return asked, bank


def _names(q: CragQuestion) -> list[str]:
    """Those that the question says first, then those that it leads to."""
    told = [given for _, arguments, _ in q.proof.calls for given in arguments.values()]
    names = [*(n for n in told if isinstance(n, str)), *(need.name for need in q.needs)]
    said = [n for n in names if n in q.query]
    is_chain = len(q.needs) == 2 and q.needs[1].name not in q.query
    return list(dict.fromkeys([*said, *([q.needs[1].name] if is_chain else [])]))


class _Known:
    """What the KG says of a name, as lines by their noun; the lines are added to a bank."""

    def __init__(self, name: str, at: str, tools: Sequence[Tool], bank: Bank) -> None:
        lookup = KgLookup(tools, at, Trace())
        lookup.search_text([name])
        found = [item for item in lookup.found if item.title == name]
        said = [m for line in lines_about(name, found) if (m := _SAYS.search(line.text))]
        self.kind = "kg " + " ".join(sorted({m["noun"] for m in said}))
        self.values: dict[str, list[str]] = {}
        for m in said:
            self.values.setdefault(m["noun"], []).append(m["value"])
            lines = bank.setdefault((self.kind, m["noun"]), [])
            stated = Stated(m.string, m.start("value"), m.end("value"))
            if len(lines) < _MOST and stated not in lines:
                lines.append(stated)

    def noun(self, value: str, like: str = "") -> str:
        """The noun that has a value, or that is called so, that in force now first."""
        nouns = [n for n, of in self.values.items() if value and _key(value) in map(_key, of)]
        nouns = nouns or [n for n in self.values if like and n.endswith(like)]
        return min(nouns, key=lambda n: (n != like, not n.startswith("current"), n), default="")


def _asked(q: CragQuestion, known: Sequence[_Known]) -> Iterator[Asked]:
    if not known or plain(q.query).count(NAME_WORD) < (len(known) if q.proof.names else 1):
        return  # two names that are read as one
    operation, first, last = q.proof.operation, known[0], known[-1]
    keys = [("", "")] * 3
    if operation in _PROGRAMS:
        program, like = _PROGRAMS[operation], q.needs[0].noun
        keys[0] = (first.kind, first.noun("", like))
    elif operation in ("value", "names", "count") and len(known) == 1:
        value = next((v for v in (q.answer, *q.others) if first.noun(v)), "")
        program, keys[0] = ["get", "it", 0], (first.kind, first.noun(value, q.needs[0].noun))
    elif operation in _CHAINED:
        program = ["get", ["get", "it", 2], 0]
        value = next((v for v in (q.answer, *q.others) if last.noun(v)), "")
        keys[2] = (first.kind, first.noun(q.needs[1].name))
        keys[0] = (last.kind, last.noun(value))
        if not keys[2][1]:
            return
    else:
        return
    if keys[0][1]:
        text = json.dumps(program, separators=(",", ":"))
        yield Asked(plain(q.query), (), text, tuple(keys), "crag")


def _key(text: str) -> str:
    value = read_value(text)
    return f"{value.number:g}" if value.number is not None else value.key
