"""The layers and how they are fitted: torch on the CPU, one seed, the same weights each time."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as f

from mmrag.agents.grounded.attribute_finder import read_stated_value
from mmrag.agents.grounded.contextual_vectors import (
    WordVectorCache,
    by_word,
    spans_of,
)
from mmrag.agents.grounded.trained_heads import (
    AROUND,
    BEFORE,
    FORMAT,
    GRAMS,
    KINDS,
    SLOTS,
    UNITS,
    Weights,
    find_values,
    kind_of,
    ngram_buckets,
)
from reader.needs import Asked
from reader.pages import Bank, Stated

HIDDEN, SHARED, VALUE = 384, 256, 48
PASSES, BATCH, RATE = 14, 128, 3e-3
VALUE_PASSES = 6
DROPPED = 0.3
UNSTATED = 0.15
"""How often a page says nothing of what is asked."""
ALIKE = 4.0
"""What the likeness of a question and a line counts at first."""
IDLE = 24
"""Lines that state nothing beside those that do."""


class Material(NamedTuple):
    """What is trained on."""

    asked: Sequence[Asked]
    banks: Sequence[Bank]
    idle: Sequence[Stated]
    """Lines that state nothing."""


class Heads(nn.Module):
    """As `mmrag.agents.grounded.trained_heads` runs them."""

    def __init__(self, programs: int, size: int) -> None:
        super().__init__()
        self.seen = nn.ModuleList(nn.Linear(size * (1 + BEFORE), HIDDEN) for _ in range(2))
        self.grams = nn.ModuleList(nn.EmbeddingBag(GRAMS, HIDDEN, mode="sum") for _ in range(2))
        for bag in self.grams:
            nn.init.normal_(bag.weight, std=0.02)
        self.program = nn.Linear(2 * HIDDEN, programs)
        self.slots = nn.ModuleList(nn.Linear(HIDDEN, SHARED) for _ in range(SLOTS))
        self.line = nn.Linear(size, SHARED, bias=False)
        self.kind = nn.Embedding(len(KINDS) + UNITS, SHARED)
        self.alike = nn.Parameter(torch.full((SLOTS,), ALIKE))
        self.drop = nn.Dropout(DROPPED)

    def forward(self, seen: Tensor, bags: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        flat = torch.cat(list(bags))
        starts = torch.tensor([0, *np.cumsum([len(b) for b in bags])[:-1]])
        even = torch.cat([torch.full((len(b),), len(b) ** -0.5) for b in bags])
        even = even * (torch.rand(len(even)) > DROPPED) / (1 - DROPPED) if self.training else even
        asks, does = (
            self.drop(
                torch.relu(layer(self.drop(seen)) + bag(flat, starts, per_sample_weights=even))
            )
            for layer, bag in zip(self.seen, self.grams, strict=True)
        )
        slots = torch.stack([slot(asks) for slot in self.slots], 1)
        return self.program(torch.cat([does, asks], 1)), slots


SCALE = 4.0
"""What unit vectors are multiplied by, so that the layers start with inputs of a fair size."""


def questions(
    material: Material, states: WordVectorCache, seed: int, valued: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Fit what a question comes to and which lines state what it asks; `valued` finds values."""
    torch.manual_seed(seed)
    r = random.Random(seed)
    lines = _Lines(material, states, Weights(valued, ()))
    programs = sorted({q.program for q in material.asked})
    number = {program: i for i, program in enumerate(programs)}
    texts = {t for q in material.asked for t in (q.text, *q.before)}
    whole = {t: s.whole for t, s in zip(sorted(texts), states.of(sorted(texts), 32), strict=True)}
    size = len(lines.rows[0])
    nothing = np.zeros(size, np.float32)
    seen = torch.tensor(
        np.stack(
            [
                np.concatenate(
                    [whole[t] for t in (q.text, *q.before[:BEFORE])]
                    + [nothing] * (BEFORE - len(q.before[:BEFORE]))
                )
                for q in material.asked
            ]
        )
    )
    bags = [torch.tensor(ngram_buckets(q.text)) for q in material.asked]
    heads = Heads(len(programs), size)
    optimiser = torch.optim.AdamW(heads.parameters(), lr=RATE, weight_decay=0.02)
    order = list(range(len(material.asked)))
    for turn in range(PASSES):
        r.shuffle(order)
        for group in optimiser.param_groups:
            group["lr"] = RATE * (1 - turn / PASSES)
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            asked = [material.asked[i] for i in some]
            logits, slots = heads(SCALE * seen[some], [bags[i] for i in some])
            target = torch.tensor([number[q.program] for q in asked])
            loss = f.cross_entropy(logits, target, label_smoothing=0.05)
            for k, share in enumerate((1.0, 0.5, 1.0)):
                rows = [i for i, q in enumerate(asked) if q.keys[k][0]]
                if rows:
                    page = lines.draw([asked[i].keys[k] for i in rows], r)
                    says = heads.line(SCALE * heads.drop(page.rows)) + heads.kind(page.kinds)
                    alike = page.rows @ seen[some][rows, :size, None]
                    fits = (says * slots[rows, k, None]).sum(-1) + page.mask
                    fits = fits + heads.alike[k] * alike[..., 0]
                    none = torch.zeros(len(rows), 1)
                    loss = loss + share * f.cross_entropy(torch.cat([none, fits], 1), page.right)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return _arrays(heads) | {"programs": np.array(programs)}


class _Lines:
    """Lines by what they state, as vectors, to be drawn from."""

    def __init__(self, material: Material, states: WordVectorCache, valued: Weights) -> None:
        texts = sorted(
            {s.text for bank in material.banks for of in bank.values() for s in of}
            | {s.text for s in material.idle}
        )
        at = {text: i for i, text in enumerate(texts)}
        self.rows = [s.whole for s in states.of(texts, 32)]
        self._rows = torch.tensor(np.stack(self.rows))
        stating = [s for bank in material.banks for of in bank.values() for s in of]
        values = {s.text: read_stated_value(s.text[s.start : s.end]) for s in stating}
        for s in material.idle:  # as the reader sees it, who looks for a value in every line
            start, end = find_values(s.text, states.of([s.text])[0], valued)[0]
            values[s.text] = read_stated_value(s.text[start:end])
        self._kinds = torch.tensor([kind_of(values[text]) for text in texts])
        self._of: dict[str, dict[str, list[int]]] = {}
        for bank in material.banks:
            for (kind, key), of in bank.items():
                self._of.setdefault(kind, {}).setdefault(key, []).extend(at[s.text] for s in of)
        self._idle = [at[s.text] for s in material.idle]

    def draw(self, keys: Sequence[tuple[str, str]], r: random.Random) -> _Page:
        """A page for each attribute."""
        pages: list[list[int]] = []
        right: list[int] = []
        for kind, key in keys:
            said = self._of[kind]
            page = [r.choice(said[other]) for other in said]
            place = list(said).index(key)
            if r.random() < UNSTATED:
                del page[place]
                place = -1
            pages.append([*page, *r.choices(self._idle, k=IDLE)])
            right.append(place + 1)
        longest = max(map(len, pages))
        mask = torch.tensor([[0.0] * len(p) + [-1e9] * (longest - len(p)) for p in pages])
        filled = torch.tensor([p + [p[0]] * (longest - len(p)) for p in pages])
        return _Page(self._rows[filled], self._kinds[filled], mask, torch.tensor(right))


class _Page(NamedTuple):
    """Pages to choose a line from: what there is, what to add to fits, and where the right line
    is; 0 is nowhere."""

    rows: Tensor
    kinds: Tensor
    mask: Tensor
    right: Tensor


def _arrays(heads: Heads) -> dict[str, np.ndarray]:
    """The layers as they are run, on unit vectors."""
    found: dict[str, Tensor] = {
        "program.w": heads.program.weight.T,
        "program.b": heads.program.bias,
        "slot.w": torch.stack([slot.weight.T for slot in heads.slots]),
        "slot.b": torch.stack([slot.bias for slot in heads.slots]),
        "line.w": SCALE * heads.line.weight.T,
        "kind.w": heads.kind.weight,
        "alike": heads.alike,
    }
    for name, layer, bag in zip(("asks", "does"), heads.seen, heads.grams, strict=True):
        found[f"{name}.seen"] = SCALE * layer.weight.T
        found[f"{name}.bias"] = layer.bias
        found[f"{name}.grams"] = bag.weight
    return {name: tensor.detach().numpy() for name, tensor in found.items()}


def values(material: Material, states: WordVectorCache, seed: int) -> dict[str, np.ndarray]:
    """Fit which words of a line are its value."""
    torch.manual_seed(seed)
    r = random.Random(seed)
    stated = sorted({s for bank in material.banks for of in bank.values() for s in of})
    rows: list[Tensor] = []
    right: list[Tensor] = []
    for s in stated:
        seen = by_word(states.of([s.text], 1)[0]).astype(np.float32)
        places = spans_of(s.text)[: len(seen)]
        padded = np.pad(seen, ((AROUND, AROUND), (0, 0))).astype(np.float16)
        rows.append(torch.tensor(padded))
        right.append(torch.tensor([float(s.start <= a and b <= s.end) for a, b in places]))
    size = rows[0].shape[1] * (2 * AROUND + 1)
    hidden, out = nn.Linear(size, VALUE), nn.Linear(VALUE, 1)
    drop = nn.Dropout(DROPPED)
    optimiser = torch.optim.AdamW([*hidden.parameters(), *out.parameters()], lr=1e-3)
    order = list(range(len(stated)))
    for turn in range(VALUE_PASSES):
        r.shuffle(order)
        for group in optimiser.param_groups:
            group["lr"] = 1e-3 * (1 - turn / VALUE_PASSES)
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            near = torch.cat([_near(rows[i].float()) for i in some])
            logits = out(drop(torch.relu(hidden(drop(near)))))[:, 0]
            loss = f.binary_cross_entropy_with_logits(logits, torch.cat([right[i] for i in some]))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    layers = {
        "value.w": hidden.weight.T, "value.b": hidden.bias,
        "value.o": out.weight.T, "value.c": out.bias,
    }  # fmt: skip
    return {name: tensor.detach().numpy() for name, tensor in layers.items()}


def _near(padded: Tensor) -> Tensor:
    long = len(padded) - 2 * AROUND
    return torch.cat([padded[i : i + long] for i in range(2 * AROUND + 1)], 1)


def weights(material: Material, states: WordVectorCache, seed: int) -> Weights:
    """All that is trained."""
    valued = values(material, states, seed)
    fitted = valued | questions(material, states, seed, valued)
    programs = tuple(map(str, fitted.pop("programs")))
    rounded = {k: v.astype(np.float16).astype(np.float32) for k, v in fitted.items()}
    return Weights(rounded, programs)


def write(made: Weights, path: Path) -> None:
    """Half precision, and what programs there are."""
    from safetensors.numpy import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    halves = {k: np.ascontiguousarray(v.astype(np.float16)) for k, v in sorted(made.arrays.items())}
    save_file(halves, str(path), {"format": FORMAT, "programs": json.dumps(made.programs)})
