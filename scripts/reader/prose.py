"""Questions about encyclopaedic pages, by authors who knew nothing of the reader: training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mmrag.agents.grounded.grammar import Talk
from mmrag.agents.grounded.learned.cues import answering, nearness
from mmrag.agents.grounded.learned.fitting import _WHOLE as WHOLE
from mmrag.agents.grounded.learned.fitting import Fitting, _by_word
from mmrag.agents.grounded.learned.lines import Line, lines_about
from mmrag.agents.grounded.learned.planner import LearnedPlanner
from mmrag.agents.grounded.learned.spans import Span, joined
from mmrag.agents.grounded.learned.states import States
from mmrag.records import Evidence
from reader.features import Place, Thing, place

PAGES = Path(__file__).with_name("prose.jsonl")
NOW = "2026-06-15T12:00"


def prose(fitting: Fitting, states: States, planner: LearnedPlanner, path: Path) -> list[Thing]:
    """A thing a page: each question is an attribute of its own, asked in its own words."""
    found: list[Thing] = []
    for row in path.read_text(encoding="utf-8").splitlines():
        page = json.loads(row)
        item = Evidence(id="p", source="web", text=page["text"], title=page["title"], score=1.0)
        lines = lines_about(page["title"], [item])
        found.append(_thing(fitting, states, planner, lines, page["questions"]))
    return found


def _thing(
    fitting: Fitting, states: States, planner: LearnedPlanner, lines: Sequence[Line],
    questions: Sequence[dict[str, str]],
) -> Thing:  # fmt: skip
    answers = [one["answer"] for one in questions]
    places: list[Place] = []
    spans: list[tuple[Line, Span]] = []
    words: list[tuple[np.ndarray, np.ndarray]] = []
    for line, state in zip(lines, states.of([x.text for x in lines], (6,), rows=16), strict=True):
        rows, at = _by_word(state, line.text)
        here = {i: line.text.find(a) for i, a in enumerate(answers) if a and a in line.text}
        values = np.array(
            [any(s <= x < s + len(answers[i]) for i, s in here.items()) for x, _ in at], np.float32
        )
        if here:
            words.append((rows.astype(np.float16), values))
        for span in (*line.spans, *joined(line.spans, line.text)):
            keys = [
                str(i) for i, s in here.items() if _same(span.text, answers[i]) and span.end > s
            ]
            made = place(rows, at, state.whole, span.start, span.end, span.kind, keys[:1])
            if made:
                places.append(made)
                spans.append((line, span))
    said = {p.key for p in places}
    asked: dict[str, list[str]] = {}
    beside: dict[str, np.ndarray] = {}
    for number, one in enumerate(questions):
        key, question = str(number), one["question"]
        plan = planner.plan(question, Talk(), NOW)
        if (one["answer"] and key not in said) or plan.operation != "lookup" or plan.subject.path:
            continue  # what is no span or is asked otherwise cannot be learned here
        asked[key] = [plan.ask or question]
        beside[key] = _beside(fitting, question, places, spans)
    return Thing("", "", places, words, asked, beside)


def _beside(
    fitting: Fitting, question: str, places: Sequence[Place], spans: Sequence[tuple[Line, Span]]
) -> np.ndarray:
    """What the reader adds to a trained fit, and that it takes no other kind of value."""
    kinds = answering(question)
    near = np.array([float(p.line @ fitting.vector(question)) for p in places])
    own = np.array([nearness(question, line.text, [span])[0] for line, span in spans])
    out = np.array([bool(kinds) and span.kind not in kinds for _, span in spans])
    return (WHOLE * (near - near.mean()) + own - 1e4 * out).astype(np.float32)


def _same(said: str, answer: str) -> bool:
    """Whether a span says an answer, give or take an article or a word about it."""
    a, b = ([w.strip(".,;") for w in t.casefold().split()] for t in (said, answer))
    return bool(a) and (a == b or (set(a) <= set(b) and len(b) <= len(a) + 1 + (len(a) > 2)))
