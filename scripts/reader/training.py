"""The layers over the sentence encoder, trained: what a question is, what fits, what is a value."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import nn

from mmrag.agents.grounded.learned.heads import FORMAT, Weights
from mmrag.agents.grounded.learned.spans import KINDS
from mmrag.encoders.text import TextEncoder
from reader.data import kinds
from reader.features import Place, Question, Thing, askings, nouns
from simulator.world.language.voices.reading import Voice

LABELS = (
    "O",
    "ASK",
    "X",
    "REL",
    "OTHER",
    "WHEN",
    "BOUND",
    "UNIT",
    "HOUR",
    "AMOUNT",
    "COUNT",
    "CLAIM",
    "VAL",
    "SAME",
    "START",
    "END",
    "KIND",
    "PRED",
)
WIDTH, RANK = 96, 96
STRENGTH = 4.0


def planning(asked: Sequence[Question], seed: int) -> Weights:
    """The weights of the learned planner."""
    operations = tuple(sorted({q.asked.operation for q in asked}))
    torch.manual_seed(seed)
    return Weights(_heads(asked, operations, seed), operations, LABELS)


def reading(
    planner: Weights,
    seen: Sequence[Thing],
    voices: Sequence[Voice],
    encoder: TextEncoder,
    seed: int,
) -> Weights:
    """Those of the planner with those of the learned reader."""
    torch.manual_seed(seed)
    arrays = _values(seen) | _fit(seen, voices, encoder, seed)
    return Weights(dict(planner.arrays) | arrays, planner.operations, planner.labels)


def write(weights: Weights, path: Path) -> None:
    """Half precision: no decision hangs on the other half."""
    path.parent.mkdir(exist_ok=True)
    arrays = {k: np.ascontiguousarray(v.astype(np.float16)) for k, v in weights.arrays.items()}
    named = {"operations": " ".join(weights.operations), "labels": " ".join(weights.labels)}
    save_file(arrays, str(path), metadata={"format": FORMAT, **named})


class _Heads(nn.Module):
    def __init__(self, size: int, operations: int) -> None:
        super().__init__()
        self.inp = nn.Linear(size, WIDTH)
        self.near = nn.Conv1d(WIDTH, WIDTH, 5, padding=2)
        self.far = nn.Conv1d(WIDTH, WIDTH, 5, padding=2)
        self.label = nn.Linear(WIDTH, len(LABELS))
        self.operation = nn.Linear(2 * WIDTH, operations)
        self.larger = nn.Linear(2 * WIDTH, 1)
        self.drop = nn.Dropout(0.3)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
        there = mask.unsqueeze(-1)
        a = torch.relu(self.inp(self.drop(x))) * there
        b = torch.relu(self.near(self.drop(a).transpose(1, 2)).transpose(1, 2)) * there
        c = (torch.relu(self.far(self.drop(b).transpose(1, 2)).transpose(1, 2)) + a) * there
        pooled = self.drop(
            torch.cat([c.sum(1) / there.sum(1), (c + (there - 1) * 1e4).max(1).values], -1)
        )
        return self.label(self.drop(c)), self.operation(pooled), self.larger(pooled)[:, 0]


def _heads(
    asked: Sequence[Question], operations: tuple[str, ...], seed: int, epochs: int = 6
) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    net = _Heads(asked[0].rows.shape[1], len(operations))
    optimizer = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=0.02)
    steps = epochs * (len(asked) // 64 + 2) + 20
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    for _ in range(epochs):
        for batch in _batches(asked, rng):
            x, mask, tags = _padded(batch)
            labels, operation, larger = net(x, mask)
            wanted = torch.tensor([operations.index(q.asked.operation) for q in batch])
            sides = torch.tensor(
                [-1.0 if q.asked.larger is None else float(q.asked.larger) for q in batch]
            )
            loss = nn.functional.cross_entropy(labels.transpose(1, 2), tags, ignore_index=-100)
            loss = loss + nn.functional.cross_entropy(operation, wanted, label_smoothing=0.05)
            told = (sides >= 0).float()
            if told.sum() > 0:
                each = nn.functional.binary_cross_entropy_with_logits(
                    larger, sides.clamp(min=0), reduction="none"
                )
                loss = loss + (each * told).sum() / told.sum()
            _step(net, optimizer, loss)
            schedule.step()
    g = {k: v.detach().numpy() for k, v in net.state_dict().items()}
    return {
        "in.w": g["inp.weight"].T,
        "in.b": g["inp.bias"],
        "near.w": g["near.weight"].transpose(2, 1, 0),
        "near.b": g["near.bias"],
        "far.w": g["far.weight"].transpose(2, 1, 0),
        "far.b": g["far.bias"],
        "label.w": g["label.weight"].T,
        "label.b": g["label.bias"],
        "operation.w": g["operation.weight"].T,
        "operation.b": g["operation.bias"],
        "larger.w": g["larger.weight"].T,
        "larger.b": g["larger.bias"],
    }


def _batches(asked: Sequence[Question], rng: np.random.Generator) -> Iterator[list[Question]]:
    """Batches of questions of like length, in random order."""
    order = list(rng.permutation(len(asked)))
    shelves = [
        sorted(order[i : i + 1024], key=lambda i: len(asked[i].rows))
        for i in range(0, len(order), 1024)
    ]
    batches = [s[i : i + 64] for s in shelves for i in range(0, len(s), 64)]
    for i in rng.permutation(len(batches)):
        yield [asked[j] for j in batches[i]]


def _padded(batch: Sequence[Question]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    longest = max(len(q.rows) for q in batch)
    x = np.zeros((len(batch), longest, batch[0].rows.shape[1]), np.float32)
    mask = np.zeros((len(batch), longest), np.float32)
    tags = np.full((len(batch), longest), -100)
    for i, q in enumerate(batch):
        x[i, : len(q.rows)], mask[i, : len(q.rows)] = q.rows, 1
        tags[i, : len(q.rows)] = [LABELS.index(t) for t in q.asked.labels]
    return torch.tensor(x), torch.tensor(mask), torch.tensor(tags)


def _step(net: nn.Module, optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()


class _Fit(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        sides = ("line", "about", "inside")
        self.a = nn.ParameterDict({s: nn.Parameter(torch.randn(384, RANK) * 0.05) for s in sides})
        self.b = nn.ParameterDict({s: nn.Parameter(torch.randn(384, RANK) * 0.05) for s in sides})
        self.kind, self.nothing = nn.Linear(384, len(KINDS)), nn.Linear(384, 1)
        self.plain = nn.Parameter(torch.tensor(8.0))
        self.drop = nn.Dropout(0.15)

    def forward(
        self, q: torch.Tensor, rows: dict[str, torch.Tensor], kind: torch.Tensor
    ) -> torch.Tensor:
        dropped = self.drop(q)
        fits = self.plain * (q @ rows["line"].T)
        for side, row in rows.items():
            fits = fits + STRENGTH * (dropped @ self.a[side]) @ (self.drop(row) @ self.b[side]).T
        fits = fits + self.kind(STRENGTH * dropped)[:, kind]
        return torch.cat([fits, self.nothing(STRENGTH * dropped)], 1)

    def nouns(self, q: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return STRENGTH * (q @ self.a["line"]) @ (rows @ self.b["line"]).T + self.plain * (
            q @ rows.T
        )


def _fit(
    seen: Sequence[Thing], voices: Sequence[Voice], encoder: TextEncoder, seed: int, epochs: int = 4
) -> dict[str, Any]:
    r = random.Random(seed)
    said = {
        (v.name, kind, key): askings(v, kind, key)
        for v in voices
        for kind, _ in kinds()
        for key in nouns(kind)
    }
    texts = sorted(
        {t for of in said.values() for t in of} | {n for k, _ in kinds() for n in nouns(k).values()}
    )
    texts = sorted({*texts, *(t for x in seen for of in x.asked.values() for t in of)})
    vector = dict(zip(texts, torch.tensor(encoder.encode(texts)), strict=True))
    net = _Fit()
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 2e-3, total_steps=epochs * len(seen) + 5
    )
    order = list(seen)
    for _ in range(epochs):
        r.shuffle(order)
        for thing in order:
            chosen, kept = _chosen(thing, r)
            if not chosen:
                continue
            ways = [
                thing.asked.get(k) or said[r.choice(voices).name, thing.kind, k] for k in chosen
            ]
            q = torch.stack([vector[r.choice(way)] for way in ways])
            rows = {
                s: torch.tensor(np.stack([getattr(p, s) for p in kept]))
                for s in ("line", "about", "inside")
            }
            fits = net(q, rows, torch.tensor([p.kind for p in kept]))
            if thing.beside:
                beside = torch.tensor(np.stack([thing.beside[k] for k in chosen]))
                fits = fits + nn.functional.pad(beside, (0, 1))
            logs = torch.log_softmax(fits, 1)
            loss = torch.zeros(())
            for i, key in enumerate(chosen):
                true = [j for j, p in enumerate(kept) if p.key == key]
                loss = loss - (torch.logsumexp(logs[i, true], 0) if true else logs[i, -1])
            loss = loss / len(chosen)
            if thing.asked:
                _step(net, optimizer, loss)
                schedule.step()
                continue
            named = nouns(thing.kind)
            every = list(named)
            some = r.sample(every, min(6, len(every)))
            asked = torch.stack(
                [vector[r.choice(said[r.choice(voices).name, thing.kind, k])] for k in some]
            )
            fits = net.nouns(asked, torch.stack([vector[named[k]] for k in every]))
            wanted = torch.tensor([every.index(k) for k in some])
            _step(net, optimizer, loss + 0.5 * nn.functional.cross_entropy(fits, wanted))
            schedule.step()
    g = {k: v.detach().numpy() for k, v in net.state_dict().items()}
    sides = {f"{s}.{x}": g[f"{x}.{s}"] for s in ("line", "about", "inside") for x in "ab"}
    return sides | {
        "kind.w": g["kind.weight"].T,
        "kind.b": g["kind.bias"],
        "nothing.w": g["nothing.weight"].T,
        "nothing.b": g["nothing.bias"],
        "plain": g["plain"].reshape(1),
    }


def _chosen(thing: Thing, r: random.Random) -> tuple[list[str], list[Place]]:
    """Keys to ask for, and the places that are left: now and then a value is nowhere."""
    if thing.asked:
        return list(thing.asked), thing.places
    keys = list(dict.fromkeys(p.key for p in thing.places if p.key))
    gone = set(r.sample(keys, min(2, len(keys))))
    kept = [p for p in thing.places if p.key not in gone]
    return [*r.sample(keys, min(8, len(keys))), *gone], kept


def _values(seen: Sequence[Thing], epochs: int = 3) -> dict[str, Any]:
    """Which words of a line are a value, by the word and its neighbours."""
    rows, values = list[np.ndarray](), list[np.ndarray]()
    for words, truth in (w for t in seen for w in t.words):
        near = np.pad(words.astype(np.float32), ((1, 1), (0, 0)))
        rows.append(np.concatenate([near[:-2], near[1:-1], near[2:]], 1))
        values.append(truth[: len(words)])
    x, y = torch.tensor(np.concatenate(rows)), torch.tensor(np.concatenate(values))
    net = nn.Sequential(
        nn.Dropout(0.2), nn.Linear(x.shape[1], 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 1)
    )
    optimizer = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=0.02)
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for i in range(0, len(x), 256):
            some = order[i : i + 256]
            _step(
                net,
                optimizer,
                nn.functional.binary_cross_entropy_with_logits(net(x[some])[:, 0], y[some]),
            )
    g = {k: v.detach().numpy() for k, v in net.state_dict().items()}
    return {
        "value.in": g["1.weight"].T,
        "value.in.b": g["1.bias"],
        "value.out": g["4.weight"].T,
        "value.out.b": g["4.bias"],
    }
