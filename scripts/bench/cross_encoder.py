"""Would a cross-encoder make the built-in judge better? Figures: docs/benchmarks/judges.md.

MiniLM's six layers read question, references and reply as one text. Folds are those of
scripts/train_judge.py: what judges a question has never seen it. The judge's trees and the
cross-encoder are then weighed by a logistic regression, fitted on the other folds. Opt-in: about
an hour and a half of a core. Each fold is kept in FOLDER, so that it can be gone on with.

    python scripts/bench/cross_encoder.py human_verdicts.jsonl FOLDER
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from train_judge import (
    FOLDS,
    Cases,
    Extractor,
    Vectors,
    cross_validated,
    human_cases,
    interval,
    stored_vectors,
    stress_cases,
    text_encoder,
)

EPOCHS, BATCH, RATE = 3, 32, 1e-4
LONGEST = 112
"""Word pieces of a pair; longer replies are cut at their end (one in twenty)."""
FROZEN = 2
"""Lower layers, and the words, are left as they are: faster, and no worse where it was tried."""
STRESS_TIMES = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    extractor = Extractor(Vectors(*stored_vectors()))
    human, stress = human_cases(chosen.file, extractor), stress_cases(extractor)
    in_folds(human, stress, chosen.folder)


def in_folds(human: Cases, stress: Cases, folder: Path) -> None:
    trees = cross_validated(human, stress)
    read = tuple(np.zeros(len(cases.truth)) for cases in (human, stress))
    for number in range(FOLDS):
        kept = folder / f"fold-{number}.npz"
        tested = [cases.fold == number for cases in (human, stress)]
        if not kept.exists():
            found = fine_tuned(human, stress, *(~inside for inside in tested), tested, number)
            np.savez(kept, human=found[0], stress=found[1])
        for odds, inside, name in zip(read, tested, ("human", "stress"), strict=True):
            odds[inside] = np.load(kept)[name]
        print(f"fold {number} is there", flush=True)
    both = [np.zeros(len(cases.truth)) for cases in (human, stress)]
    for number in range(FOLDS):
        seen = human.fold != number
        for odds, own, other, cases in zip(both, trees, read, (human, stress), strict=True):
            inside = cases.fold == number
            odds[inside] = weighed(trees[0][seen], read[0][seen], human.truth[seen])(
                own[inside], other[inside]
            )
    for name, odds in (("trees", trees), ("cross-encoder", read), ("both", both)):
        print(json.dumps({"by": name} | said(human, stress, odds, trees[0])))


def said(human: Cases, stress: Cases, odds: Any, trees: np.ndarray) -> dict[str, Any]:
    right = human.said(odds[0]) == human.truth
    unsure = (np.abs(trees) < 2.2) & (human.ruled < 0)
    source = np.array([item.id.split("-")[0] for item in human.items])
    told = stress.said(odds[1])
    return {
        "people": round(float(right.mean()), 5),
        "interval": interval(right, [item.question for item in human.items]),
        "by fold": [round(float(right[human.fold == n].mean()), 4) for n in range(FOLDS)],
        "by source": {s: round(float(right[source == s].mean()), 4) for s in np.unique(source)},
        "where the trees are unsure": [int(unsure.sum()), round(float(right[unsure].mean()), 4)],
        "open pairs": round(float((told == stress.truth).mean()), 4),
        "open, wrong accepted": int(((told == 1) & (stress.truth == 0)).sum()),
    }


def weighed(trees: np.ndarray, read: np.ndarray, truth: np.ndarray) -> Any:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(np.stack([trees, read], 1), truth)
    return lambda own, other: model.decision_function(np.stack([own, other], 1))


def fine_tuned(
    human: Cases, stress: Cases, of_human: Any, of_stress: Any, tested: list[Any], seed: int
) -> list[np.ndarray]:
    """Log-odds of the tested pairs by a cross-encoder that learnt from the others."""
    tokenizer, encoder = text_encoder()
    import torch

    torch.manual_seed(seed)
    sets = {
        "human": pieces(tokenizer, human), "stress": pieces(tokenizer, stress),
    }  # fmt: skip
    own = [(p, t) for p, t, f in zip(sets["human"], human.truth, of_human, strict=True) if f]
    more = [(p, t) for p, t, f in zip(sets["stress"], stress.truth, of_stress, strict=True) if f]
    pairs = own + more * STRESS_TIMES
    head = torch.nn.Linear(encoder.config.hidden_size, 1)
    encoder.embeddings.requires_grad_(False)
    encoder.encoder.layer[:FROZEN].requires_grad_(False)
    encoder.train()
    learnt = [p for p in encoder.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW([*learnt, *head.parameters()], RATE, weight_decay=0.01)
    rng = np.random.default_rng(seed)
    steps = EPOCHS * (len(pairs) // BATCH)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda n: min(n / (0.06 * steps), (steps - n) / (0.94 * steps))
    )
    began = time.process_time()
    for epoch in range(EPOCHS):
        lost = []
        for batch in shuffled(pairs, rng):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                spoken(encoder, head, [p for p, _ in batch]),
                torch.tensor([float(t) for _, t in batch]),
            )
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learnt, 1.0)
            optimiser.step()
            rate.step()
            optimiser.zero_grad()
            lost.append(float(loss.detach()))
        print(
            f"  epoch {epoch}: {np.mean(lost):.3f} {time.process_time() - began:.0f} s", flush=True
        )
    encoder.eval()
    found = []
    with torch.no_grad():
        for name, inside in zip(sets, tested, strict=True):
            own = [p for p, f in zip(sets[name], inside, strict=True) if f]
            order = sorted(range(len(own)), key=lambda i: len(own[i][0]))
            odds = np.zeros(len(own))
            for start in range(0, len(order), 64):
                part = order[start : start + 64]
                odds[part] = spoken(encoder, head, [own[i] for i in part]).numpy()
            found.append(odds)
    return found


def shuffled(pairs: list[Any], rng: np.random.Generator) -> list[list[Any]]:
    """Batches of like length, in an order of chance; what is left over is dropped."""
    order = rng.permutation(len(pairs))
    batches = []
    for start in range(0, len(order), BATCH * 50):
        part = sorted(order[start : start + BATCH * 50], key=lambda i: len(pairs[i][0][0]))
        cuts = range(0, len(part) - BATCH + 1, BATCH)
        batches += [[pairs[i] for i in part[cut : cut + BATCH]] for cut in cuts]
    return [batches[i] for i in rng.permutation(len(batches))]


def pieces(tokenizer: Any, cases: Cases) -> list[tuple[list[int], list[int]]]:
    """Ids and segments: the question with its references, then the reply."""
    firsts = [f"{i.question} [SEP] {' | '.join(i.references[:4])[:160]}" for i in cases.items]
    replies = [i.prediction[:1_000] for i in cases.items]
    found = tokenizer(firsts, replies, truncation="longest_first", max_length=LONGEST)
    return list(zip(found["input_ids"], found["token_type_ids"], strict=True))


def spoken(encoder: Any, head: Any, part: list[Any]) -> Any:
    import torch

    width = max(len(ids) for ids, _ in part)
    ids = torch.tensor([i + [0] * (width - len(i)) for i, _ in part])
    kinds = torch.tensor([k + [0] * (width - len(k)) for _, k in part])
    with torch.autocast("cpu", torch.bfloat16):
        states = encoder(
            input_ids=ids, token_type_ids=kinds, attention_mask=(ids != 0).long()
        ).last_hidden_state
    shown = (ids != 0).unsqueeze(-1)
    return head((states.float() * shown).sum(1) / shown.sum(1)).squeeze(-1)


if __name__ == "__main__":
    main()
