"""How well the grounded agent plans people's questions and reads encyclopaedic pages.

    python scripts/bench/people.py FOLDER --reader learned

FOLDER holds `questions.jsonl` (question, operation, attribute, hops), and `pages.jsonl` and
`page-questions.jsonl` (page, question, answer, also). Only totals are printed without `--show`,
so a half that nobody may look at can be scored.

A question counts as planned when its operation is the one meant, it goes through another thing
where it should, and, of fifteen nouns of which one is meant, the plan's words fit that one best.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mmrag.agents.grounded.extractive import ExtractiveReader
from mmrag.agents.grounded.forms import plan_question
from mmrag.agents.grounded.grammar import Talk
from mmrag.agents.grounded.learned.fitting import Fitting
from mmrag.agents.grounded.learned.planner import LearnedPlanner
from mmrag.agents.grounded.learned.reading import LearnedReader
from mmrag.agents.grounded.matching import Matcher

from mmrag.agents.grounded.desk import Desk
from mmrag.agents.grounded.plan import QuestionPlan
from mmrag.agents.grounded.scene import Candidate, Scene
from mmrag.agents.grounded.values import Value
from mmrag.encoders import text_encoders
from mmrag.records import Evidence
from mmrag.text.number_words import NUMBER_WORDS

NOUNS = 15
SEED = 7
SURE = 0.2
"""Margin of an answer that is counted as sure; chosen on the half that may be read."""
_TOLD = ("right", "wrong", "don't know", "sure and right", "sure and wrong")
NOW = "2026-06-15T12:00"
_MEANT = {
    "print": "name",
    "small-print": "name",
    "choose-name": "name",
    "is-name": "name",
    "choose": "compare",
    "filter": "count",
    "list-sharing": "list",
    "percent": "change",
    "against-past": "change",
    "fits": "budget",
    "years-between": "years",
    "in-time": "hours",
    "minutes-left": "hours",
}
_LEFT_OUT = {
    "the", "a", "an", "about", "in", "of", "at", "around", "some", "by", "from", "on", "until",
    "only",
}  # fmt: skip


class Way(NamedTuple):
    """One way to plan and read."""

    plan: Callable[[str, Talk, str | None], QuestionPlan]
    reader: ExtractiveReader
    best_noun: Callable[[str, Sequence[str]], str]


def way_of(name: str) -> Way:
    """The grounded agent's planner and reader of a name, as it makes them."""
    encoder = text_encoders.create("minilm")
    if name == "learned":
        return Way(LearnedPlanner(encoder).plan, LearnedReader(encoder), Fitting(encoder).best_noun)
    matcher = Matcher(encoder)

    def best_noun(asked: str, nouns: Sequence[str]) -> str:
        ranked = matcher.rank(asked, {n: Value(kind="text", text=n) for n in nouns}, is_noun=False)
        return ranked[0].noun if ranked else ""

    return Way(plan_question, ExtractiveReader(matcher), best_noun)


def operation_of(plan: QuestionPlan) -> str:
    """A plan's operation as the questions' authors call it."""
    if plan.operation == "lookup":
        return "past" if plan.when else "lookup"
    return _MEANT.get(plan.operation, plan.operation)


def asked_of(plan: QuestionPlan) -> tuple[str, bool]:
    """The words for the attribute, and whether another thing is gone through."""
    inner = plan.inner if plan.operation in ("premise", "years-between") and plan.inner else plan
    words = plan.relation or inner.subject.tail or inner.ask
    return words, bool(inner.subject.path or plan.subject.path)


def is_planned(plan: QuestionPlan, row: dict[str, Any], way: Way, nouns: Sequence[str]) -> str:
    """Empty where the plan is right, else what is wrong with it."""
    if operation_of(plan) != row["operation"]:
        return f"operation {operation_of(plan)}"
    if not row["attribute"]:
        return ""
    words, hops = asked_of(plan)
    if hops != bool(row["hops"]):
        return f"hops: {words!r}, {plan.subject.path}"
    best = way.best_noun(words, [row["attribute"], *nouns])
    return "" if best == row["attribute"] else f"attribute {words!r} → {best}"


def plain(text: str) -> list[str]:
    """Words that count, numbers in figures."""
    words = re.findall(r"[^\W_]+(?:[.,]\d+)*", text.casefold())
    return [str(NUMBER_WORDS.get(w, w.replace(",", ""))) for w in words if w not in _LEFT_OUT]


def is_right(said: str, row: dict[str, Any]) -> bool:
    """Whether an answer is one of those that are right, give or take two words."""
    got = plain(said)
    for answer in (row["answer"], *row["also"]):
        wanted = plain(answer)
        if wanted == got:
            return True
        if wanted and len(got) <= len(wanted) + 2 and set(wanted) <= set(got):
            return True
    return False


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def score_plans(folder: Path, way: Way, show: bool) -> dict[str, float]:
    rows = read_lines(folder / "questions.jsonl")
    pool = sorted({r["attribute"] for r in rows if r["attribute"]})
    faults: Counter[str] = Counter()
    seconds = 0.0
    for row in rows:
        others = [n for n in pool if n != row["attribute"]]
        nouns = random.Random(f"{SEED} {row['question']}").sample(
            others, min(NOUNS - 1, len(others))
        )
        start = time.process_time()
        plan = way.plan(row["question"], Talk(), NOW)
        seconds += time.process_time() - start
        wrong = is_planned(plan, row, way, nouns)
        faults[wrong.split(":")[0].split(" ")[0]] += 1
        if wrong and show:
            sys.stdout.write(f"  {row['operation']:10} {row['question']} | {wrong}\n")
    return {
        "questions": len(rows),
        "planned": faults[""] / len(rows),
        "of operation": 1 - faults["operation"] / len(rows),
        "ms": 1000 * seconds / len(rows),
    }


def score_pages(folder: Path, way: Way, show: bool) -> dict[str, float]:
    pages = {p["id"]: p for p in read_lines(folder / "pages.jsonl")}
    rows = read_lines(folder / "page-questions.jsonl")
    counts: Counter[str] = Counter()
    seconds = 0.0
    for row in rows:
        page = pages[row["page"]]
        item = Evidence(
            id=page["id"], source="web", text=page["text"], title=page["title"], score=1.0
        )
        scene = Scene(main=Candidate(name=page["title"], confidence=1.0, source="question"))
        start = time.process_time()
        plan = way.plan(row["question"], Talk(), NOW)
        found = way.reader.read(plan, scene, Desk([item]), NOW)
        seconds += time.process_time() - start
        what = "don't know"
        if found is not None:
            what = "right" if is_right(found.text, row) else "wrong"
            counts[f"sure and {what}"] += found.margin >= SURE
        counts[what] += 1
        if show:
            said = f"{found.text} ({found.match:.2f}, {found.margin:.2f})" if found else ""
            sys.stdout.write(f"  {what:10} {row['question']} | {said} | {row['answer']}\n")
    shares = {k: counts[k] / len(rows) for k in _TOLD}
    return {"questions": len(rows), **shares, "ms": 1000 * seconds / len(rows)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", default="learned", choices=("learned", "rules"))
    parser.add_argument(
        "--show", action="store_true", help="each question: only where it may be read"
    )
    args = parser.parse_args()
    way = way_of(args.reader)
    way.plan("What is this?", Talk(), NOW)
    for name, score in (("plans", score_plans), ("pages", score_pages)):
        found = score(args.folder, way, args.show)
        said = ", ".join(
            f"{k} {v:.1%}" if isinstance(v, float) and k != "ms" else f"{k} {v:.4g}"
            for k, v in found.items()
        )
        sys.stdout.write(f"{args.folder.name} {args.reader} {name}: {said}\n")


if __name__ == "__main__":
    main()
