"""Score random replies with a public kit's own code and with `mmrag score`; count differences.

    python scripts/bench/against_kits.py crag-mm FOLDER-OF-THE-2026-KIT
    python scripts/bench/against_kits.py kddcup25 FOLDER-OF-THE-2025-KIT

The kit's evaluator runs unchanged on made-up turns, once with exact match alone and once with a
made-up judge in the place of its model, and writes its files; `mmrag score` reads these. Packages
that the kit imports and that are not here are replaced by empty ones.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import random
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WORDS = ("Zürich", "答案", "The Eiffel Tower", "1,920", "İstanbul", "straße", "Unknown Pleasures",
         "“quoted”", "don’t", "I don't know", "I do not know", "", "  ", "a\nb")  # fmt: skip
IDK = ("I don't know", "I don’t know", "i do not know", "I dont know", "I don`t know",
       "İ don't know", "I don't  know", "I don't\u00a0know", "I do\nnot know", "taxi dont know",
       "I don't. know", "I-don't-know", "I d\u200bon't know", "No idea", "idontknow",
       "I don't \u212anow")  # fmt: skip


def main() -> None:
    """Compare, print how much was compared, and fail where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("protocol", choices=("crag-mm", "kddcup25"))
    parser.add_argument("kit", type=Path)
    parser.add_argument("--sets", type=int, default=20)
    given = parser.parse_args()
    evaluator = load(given.protocol, given.kit.resolve())
    turns = figures = differing = 0
    for seed in range(given.sets):
        rows = made_up(seed)
        for judged in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder)
                expected = run_kit(evaluator, rows, judged=judged, out=out)
                for file in files(out, rows, judged=judged):
                    for ours, theirs in pairs(scored(file, given.protocol), expected):
                        figures += 1
                        differing += abs(ours - theirs) > 1e-12
                    turns += len(rows)
    print(f"{given.protocol}: {turns:,} turns, {figures:,} figures, {differing} differ")
    sys.exit(differing > 0)


def made_up(seed: int) -> list[dict[str, Any]]:
    """Rows as the kits keep them before they judge."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for number in range(draw.randint(1, 60)):
        session, ego, many = f"s-{seed}-{number}", draw.random() < 0.6, draw.randint(1, 6)
        for index in range(many):
            truth = draw.choice(WORDS) + draw.choice(("", f" {draw.randint(0, 9)}"))
            rows.append(
                {
                    "session_id": session, "interaction_id": f"{session}#{index}",
                    "turn_idx": index, "is_ego": ego, "image_quality": None, "query_category": 1,
                    "domain": 1, "dynamism": 0, "query": f'q, "{index}"\n?', "ground_truth": truth,
                    "agent_response": reply(draw, truth), "total_turn_count": many,
                    "interaction_id_history": [],
                }
            )  # fmt: skip
    return rows


def reply(draw: random.Random, truth: str) -> str:
    """Right, nearly right, silent in many ways, or something else."""
    kind = draw.random()
    if kind < 0.25:
        return truth
    if kind < 0.35:
        return draw.choice((truth.upper(), truth.lower(), truth.title(), truth.swapcase()))
    if kind < 0.45:
        return draw.choice((" ", "\n", "\u00a0", "\u3000", "\u200b")) + truth + draw.choice(" \n.!")
    if kind < 0.75:
        before, after = draw.choice(("", "Well, ", "… ")), draw.choice(("", ".", f", but {truth}"))
        return before + draw.choice(IDK) + after
    return draw.choice((*WORDS, f"{truth}!", f"{truth} 🤔"))


def load(protocol: str, folder: Path) -> Any:
    """The kit's evaluator class, with empty packages for what it imports and does not need here."""
    absent = ["cragmm_search", "cragmm_search.search", "dotenv", "loguru", "openai"]
    if protocol == "kddcup25":
        absent += ["agents", "agents.base_agent", "agents.user_config", "utils"]
        absent += ["crag_batch_iterator"]
    for name in absent:
        sys.modules[name] = _Empty(name)
    sys.path.insert(0, str(folder))
    module = "evaluation.evaluator" if protocol == "crag-mm" else "local_evaluation"
    found = importlib.import_module(module)
    if protocol == "kddcup25":
        vars(found)["OpenAI"] = lambda: None
    return found.CRAGEvaluator


class _Empty(types.ModuleType):
    """Has whatever is imported from it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__new__": lambda cls, *_, **__: object.__new__(cls)})


def run_kit(evaluator: Any, rows: list[dict[str, Any]], *, judged: bool, out: Path) -> Any:
    """Evaluate rows with the kit's code, its model replaced by a rule, and keep what it writes."""
    kit = object.__new__(evaluator)  # its constructor would download a tokenizer
    kit.num_workers, kit.show_progress, kit.elasped_time = 2, False, None
    kit.eval_model_name, kit.llm_judge = ("rule" if judged else None), None
    if judged:
        kit.llm_judge = types.SimpleNamespace(evaluate=lambda *said: {"accuracy": _right(*said)})
        kit.attempt_api_call = lambda client, model, messages: _Verdict(messages[1]["content"])
    (out / "results").mkdir()
    with contextlib.redirect_stdout(io.StringIO()):
        results, scores = kit.evaluate_agent_responses(rows)
        kit.save_results(results, scores, str(out / "results"))
    return scores


class _Verdict:
    def __init__(self, asked: str) -> None:
        said, _, reply = asked[:-1].rpartition("\nPrediction: ")
        self.accuracy = _right("", said.rpartition("\nGround truth: ")[2], reply)

    def model_dump(self) -> dict[str, bool]:
        return {"accuracy": self.accuracy}


def _right(question: str, truth: str, said: str) -> bool:
    del question
    return (len(said) * 7 + len(truth)) % 3 == 0


def files(out: Path, rows: list[dict[str, Any]], *, judged: bool) -> Iterator[Path]:
    """The kit's CSV and, where nobody judged, the replies as the kit saves them."""
    yield next(out.rglob("turn_evaluation_results_all.csv"))
    if not judged:
        (file := out / "response.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
        yield file


def scored(file: Path, protocol: str) -> Any:
    """What `mmrag score` prints."""
    command = [sys.executable, "-m", "simulator.cli", "score", str(file), "--json"]
    done = subprocess.run([*command, "--protocol", protocol], capture_output=True, check=True)
    return json.loads(done.stdout)


def pairs(ours: Any, theirs: Any) -> Iterator[tuple[float, float]]:
    """Each figure of the kit beside ours; views without a turn, where the kit has NaN, left out."""
    for view, figures in theirs.items():
        if figures["total"]:
            yield from ((ours[view][name], value) for name, value in figures.items())


if __name__ == "__main__":
    main()
