"""Measures on published rows against the code of those who published them: docs/benchmarks/kits.md.

    git clone https://github.com/IAAR-Shanghai/CRUD_RAG crud
    git clone https://github.com/explodinggradients/ragas ragas
    git clone https://github.com/facebookresearch/CRAG crag
    pip install rouge-score==0.1.2
    python scripts/bench/published.py --crud crud --rows event_summary.json --ragas ragas \\
        --crag crag --wikieval WikiEval_samples_10.jsonl

`--rows` is CRUD-RAG's event_summary.json (`data/crud` of intellistream/CRUD_RAG has it); what of it
is whole is used, as that copy breaks off. `--wikieval` are ten of WikiEval's fifty rows, as
`test/data` of shijinpjlab/dataeval_dingo has them. Nothing is fetched.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import importlib.util
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from mmrag.agents import agents
from mmrag.judges.papers.crud import Overlap
from mmrag.metrics.cases import Case
from mmrag.metrics.grounding import answer_correctness, context_precision, noise_sensitivity
from mmrag.metrics.overlap import UNKNOWN, jieba_words, quest_scores
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Resources
from simulator.datasets import open_data
from simulator.datasets.papers.answered import Unusable
from simulator.datasets.papers.wikieval import read_wikieval
from simulator.run.engine import Rules, query_of

NEEDED = {"crud": "src/quest_eval", "rows": "", "ragas": "src/ragas/metrics",
          "crag": "example_data/dev_data.jsonl.bz2", "wikieval": ""}  # fmt: skip
"""Option → what of it is read, each looked for before the first figure is made."""

Figures = Iterator[tuple[float, float]]
"""Ours and theirs."""


def overlap(clone: Path, rows: list[dict[str, Any]]) -> Figures:
    """BLEU, its four orders, ROUGE-L and length of two texts a row against the summary."""
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-not-found]

    bleu = loaded(clone / "src/.cache/huggingface/bleu/nmt_bleu.py").compute_bleu
    rouge = RougeScorer(["rougeL"], tokenizer=SimpleNamespace(tokenize=jieba_words))
    names = ("bleu", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "length")
    for row in rows:
        for text in (row["event"], row["text"][:300]):
            case = Case(question="", answer=text, references=(row["summary"],))
            ours = asyncio.run(Overlap().measure(case, names))
            words = [jieba_words(row["summary"])], jieba_words(text)
            whole, orders, penalty, *_ = bleu([words[0]], [words[1]])
            longest = rouge.score(row["summary"], text)["rougeL"].fmeasure
            theirs = [whole / penalty if penalty else 0.0, *orders, longest, len(text)]
            yield from zip((float(one.value or 0) for one in ours), theirs, strict=True)


def quests(clone: Path) -> Figures:
    """RAGQuestEval of the published answers: against themselves, a neighbour's, and a mixture."""
    f1 = function(clone / "src/metric/quest_eval.py", "compute_f1", list=list, jieba=Jieba)
    for name in ("HalluModified", "QuestAnswer1Doc", "QuestAnswer2Docs", "QuestAnswer3Docs"):
        file = clone / f"src/quest_eval/{name}_quest_gt_save.json"
        rows = [
            r["answers"] for r in json.loads(file.read_text("utf-8")).values() if r.get("answers")
        ]
        rows = rows[:200]
        for truths, other in zip(rows, [*rows[1:], rows[0]], strict=True):
            others = (other * len(truths))[: len(truths)]
            mixed = [t if i % 2 else o for i, (t, o) in enumerate(zip(truths, others, strict=True))]
            for said in (truths, others, mixed):
                asked = [(t, s) for t, s in zip(truths, said, strict=True) if t != UNKNOWN]
                given = [f1(t, s) for t, s in asked if s != UNKNOWN]
                theirs = (float(np.mean(given)), len(given) / len(asked)) if given else (0.0, 0.0)
                yield from zip(quest_scores(truths, said), theirs, strict=True)


def ragas(clone: Path) -> Figures:
    """The arithmetic of ragas' measures against a reference, over random verdicts."""
    place = clone / "src/ragas/metrics/collections"
    precision = function(place / "context_precision/metric.py", "_calculate_average_precision")
    f1 = function(place / "answer_correctness/metric.py", "_compute_f1_score")
    noise = function(place / "noise_sensitivity/metric.py", "_compute_score")
    draw = random.Random(0)

    def some(most: int, share: float = 0.5, least: int = 1) -> list[bool]:
        return [draw.random() < share for _ in range(draw.randint(least, most))]

    for _ in range(3000):
        useful = some(8)
        yield context_precision(useful), precision(None, [int(one) for one in useful])
        said, wanted, alike = some(6), some(6), draw.random()
        counts = SimpleNamespace(TP=[0] * sum(said), FP=[0] * (len(said) - sum(said)),
                                 FN=[0] * (len(wanted) - sum(wanted)))  # fmt: skip
        theirs = np.average([f1(SimpleNamespace(beta=1.0), counts), alike], weights=[0.75, 0.25])
        yield answer_correctness(said, wanted, alike), float(theirs)
        right, many = some(6), draw.randint(1, 5)
        holds = np.array([some(many, 0.4, many) for _ in right])
        held = np.array([some(many, 0.4, many) for _ in range(draw.randint(1, 4))])
        verdicts = {"retrieved2ground_truth": held, "retrieved2answer": holds,
                    "ground_truth2answer": np.array([right])}  # fmt: skip
        for mode in ("relevant", "irrelevant"):
            ours = noise_sensitivity(
                list(held.max(axis=0)), [list(row) for row in holds], right,
                irrelevant=mode == "irrelevant",
            )  # fmt: skip
            yield float(ours or 0), noise(SimpleNamespace(mode=mode), dict(verdicts))


def crag(clone: Path) -> Figures:
    """Messages of each request of CRAG's agents on its example rows: the prompt alone."""
    specs = ("crag-llm-only:model=m", "crag-task1:model=m", "crag-task2:model=m,kg=off",
             "crag-task3:model=m,kg=off")  # fmt: skip
    for spec in specs:
        model = ScriptedModel("x")
        agent = agents.create(spec, resources=Resources(model=lambda _, model=model: model))
        for session in open_data(f"crag:{clone / 'example_data/dev_data.jsonl.bz2'}"):
            asyncio.run(agent.answer(query_of(session, session.turns[0], (), Rules())))
        yield from ((len(call), 1) for call in model.calls)


def wikieval(path: Path) -> Figures:
    """Whether each pair has its row's texts, the answers without the head that tells the better."""
    pairs = iter(read_wikieval(str(path)))
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        heads = {k: v.removeprefix("Answer:").strip() for k, v in row.items() if isinstance(v, str)}
        for other, place in (("ungrounded_answer", "v1"), ("poor_answer", "v1"), ("answer", "v2")):
            pair = next(pairs)
            if isinstance(pair, Unusable):
                raise SystemExit(pair.problem)
            yield float(pair.preferred.answer == heads["answer"]), 1
            yield float(pair.other.answer == heads[other]), 1
            texts = [passage.text for passage in pair.other.passages]
            yield float(texts == row[f"context_{place}"]), 1


class Jieba:
    """What their code calls, with the words that are cut here."""

    cut = staticmethod(jieba_words)


def loaded(path: Path) -> Any:
    """A module by its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def function(path: Path, name: str, **known: Any) -> Callable[..., Any]:
    """One function or method of a file that needs more than is installed."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            node.returns = None
            for argument in node.args.args:
                argument.annotation = None
            scope: dict[str, Any] = {"np": np, "Counter": Counter, **known}
            exec(ast.unparse(node), scope)  # a file that the caller has cloned
            return scope[name]
    raise SystemExit(f"{path}: there is no function {name}.")


def whole_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSON list up to where it breaks off, if it does."""
    text, blank = path.read_text("utf-8", errors="ignore"), re.compile(r"[\s,\[]*")
    rows: list[dict[str, Any]] = []
    place = 0
    while True:
        start = blank.match(text, place)
        try:
            row, place = json.JSONDecoder().raw_decode(text, start.end() if start else place)
        except ValueError:
            return rows
        rows.append(row)


def main() -> None:
    """Print a line of the table for each comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in NEEDED:
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    for where, what in NEEDED.items():
        place = getattr(given, where) / what if what else getattr(given, where)
        if not place.exists():
            parser.exit(
                2, f"--{where} {place}: not there; the first lines of this file say what.\n"
            )
    if importlib.util.find_spec("rouge_score") is None:
        parser.exit(2, "rouge_score is not installed: pip install rouge-score==0.1.2\n")
    for title, figures in (
        ("CRAG, messages", crag(given.crag)),
        ("CRUD-RAG, words", overlap(given.crud, whole_rows(given.rows))),
        ("CRUD-RAG, RAGQuestEval", quests(given.crud)),
        ("ragas, arithmetic", ragas(given.ragas)),
        ("WikiEval, texts of pairs", wikieval(given.wikieval)),
    ):
        gaps = [abs(ours - theirs) for ours, theirs in figures]
        print(
            f"| {title} | {len(gaps):,} | {sum(g > 1e-9 for g in gaps)} | {max(gaps):.1e} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
