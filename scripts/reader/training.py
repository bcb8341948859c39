"""The layers and how they are fitted: torch on the CPU, one seed, the same weights each time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
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
    MIDDLING,
    PIECES,
    SLOTS,
    UNITS,
    Weights,
    find_values,
    kind_of,
    ngram_buckets,
    project_pieces,
    unit_rows,
)
from mmrag.encoders.text import ContextualPieces
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
PIECE, WORTH, SHARP = 96, 12.0, 6.0
"""Numbers kept of a word piece (with all 384 birch was read no better), what the likeness of all
of a question's is worth at first, and how fast their shares come to differ."""
PROJECTED = 40_000
"""Word pieces by which it is chosen what is kept of them."""
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
        self.shares = nn.Linear(2 * size, SLOTS, bias=False)
        nn.init.zeros_(self.shares.weight)
        self.worth = nn.Parameter(torch.full((SLOTS,), 1.0))
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

    def fits(self, k: int, asked: AskedBatch, slots: Tensor, page: Page) -> Tensor:
        """How well each line of a page states attribute `k` of each question; first: none does."""
        says = self.line(SCALE * self.drop(page.rows)) + self.kind(page.kinds)
        fits = slots @ says.T + self.alike[k] * (asked.whole @ page.rows.T)
        likest = torch.einsum("qwd,npd->qwnp", asked.words, page.words).amax(3)
        shares = torch.softmax(SHARP * self.shares(asked.pieces)[..., k] + asked.mask, 1)
        fits = fits + WORTH * self.worth[k] * (shares[:, None] @ (likest - MIDDLING))[:, 0]
        return torch.cat([torch.zeros(len(fits), 1), fits + page.mask], 1)


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
    texts = sorted({t for q in material.asked for t in (q.text, *q.before)})
    seen = Questions(dict(zip(texts, states.of(texts, 32), strict=True)), lines.to)
    heads = Heads(len(programs), len(lines.to))
    optimiser = torch.optim.AdamW(heads.parameters(), lr=RATE, weight_decay=0.02)
    order = list(material.asked)
    for turn in range(PASSES):
        r.shuffle(order)
        for group in optimiser.param_groups:
            group["lr"] = RATE * (1 - turn / PASSES)
        for start in range(0, len(order), BATCH):
            asked = order[start : start + BATCH]
            said = seen.of(asked)
            logits, slots = heads(SCALE * said.context, said.bags)
            target = torch.tensor([number[q.program] for q in asked])
            loss = f.cross_entropy(logits, target, label_smoothing=0.05)
            for k, share in enumerate((1.0, 0.5, 1.0)):
                rows = [i for i, q in enumerate(asked) if q.keys[k][0]]
                for page in lines.draw([asked[i].keys[k] for i in rows], r):
                    some = [rows[i] for i in page.asked]
                    fits = heads.fits(k, said.some(some), slots[some, k], page)
                    lost = f.cross_entropy(fits, page.right, reduction="sum")
                    loss = loss + share * lost / len(rows)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return arrays(heads) | {"programs": np.array(programs), "word.to": lines.to}


class AskedBatch(NamedTuple):
    """Questions of one batch."""

    context: Tensor
    """The vector of each and of those before it."""
    bags: Sequence[Tensor]
    whole: Tensor
    pieces: Tensor
    """Their word pieces in full."""
    words: Tensor
    """The same in few numbers."""
    mask: Tensor
    """What to add where there is no piece."""

    def some(self, rows: list[int]) -> AskedBatch:
        long = int((self.mask[rows] == 0).sum(1).max())
        return AskedBatch(
            self.context[rows], [self.bags[i] for i in rows], self.whole[rows],
            self.pieces[rows, :long], self.words[rows, :long], self.mask[rows, :long],
        )  # fmt: skip


class Questions:
    """Questions as the encoder sees them."""

    def __init__(self, seen: dict[str, ContextualPieces], to: np.ndarray) -> None:
        self._whole = {text: torch.tensor(one.whole) for text, one in seen.items()}
        self._bags = {text: torch.tensor(ngram_buckets(text)) for text in seen}
        self._pieces = {t: unit_rows(one).astype(np.float16) for t, one in seen.items()}
        self._words = {t: project_pieces(one, to, len(one.rows)) for t, one in seen.items()}
        self._whole[""] = torch.zeros(len(to))

    def of(self, asked: Sequence[Asked]) -> AskedBatch:
        texts = [q.text for q in asked]
        before = [[*q.before[:BEFORE], *[""] * BEFORE][:BEFORE] for q in asked]
        whole = torch.stack([self._whole[t] for t in texts])
        earlier = [torch.cat([self._whole[t] for t in of]) for of in before]
        mask = _padded([np.zeros((len(self._pieces[t]), 1), np.float32) for t in texts], -1e9)
        return AskedBatch(
            torch.cat([whole, torch.stack(earlier)], 1),
            [self._bags[t] for t in texts],
            whole,
            _padded([self._pieces[t] for t in texts]),
            _padded([self._words[t] for t in texts]),
            mask[..., 0],
        )


def _padded(rows: Sequence[np.ndarray], by: float = 0.0) -> Tensor:
    filled = np.full((len(rows), max(map(len, rows)), rows[0].shape[1]), by, np.float32)
    for i, one in enumerate(rows):
        filled[i, : len(one)] = one
    return torch.tensor(filled)


class _Lines:
    """Lines by what they state, as vectors, to be drawn from."""

    def __init__(self, material: Material, states: WordVectorCache, valued: Weights) -> None:
        texts = sorted(
            {s.text for bank in material.banks for of in bank.values() for s in of}
            | {s.text for s in material.idle}
        )
        at = {text: i for i, text in enumerate(texts)}
        seen = states.of(texts, 32)
        self._rows = torch.tensor(np.stack([one.whole for one in seen]))
        self.to = _directions(seen)
        self._words = line_pieces(seen, self.to)
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

    def draw(self, keys: Sequence[tuple[str, str]], r: random.Random) -> Iterator[Page]:
        """A page for each kind of thing, and where on it each attribute is stated."""
        idle = r.choices(self._idle, k=IDLE)
        asked: dict[str, list[int]] = {}
        for i, (kind, _) in enumerate(keys):
            asked.setdefault(kind, []).append(i)
        for kind, of in asked.items():
            said = self._of[kind]
            page = torch.tensor([*(r.choice(lines) for lines in said.values()), *idle])
            places = {key: place for place, key in enumerate(said)}
            right = torch.tensor([places[keys[i][1]] for i in of])
            is_stated = torch.tensor([r.random() >= UNSTATED for _ in of])
            mask = torch.zeros(len(of), len(page))
            mask[~is_stated, right[~is_stated]] = -1e9
            yield Page(
                of, self._rows[page], self._kinds[page], self._words[page], mask,
                torch.where(is_stated, right + 1, 0),
            )  # fmt: skip


def line_pieces(seen: Sequence[ContextualPieces], to: np.ndarray) -> Tensor:
    """Word pieces of lines as they are run; shorter lines end in nothing."""
    found = torch.zeros(len(seen), PIECES, PIECE)
    for i, one in enumerate(seen):
        made = project_pieces(one, to)
        found[i, : len(made)] = torch.tensor(made)
    return found


class Page(NamedTuple):
    """A page to choose lines from."""

    asked: list[int]
    """Which questions are asked of it."""
    rows: Tensor
    kinds: Tensor
    words: Tensor
    mask: Tensor
    """What to add to fits: some questions are to find nothing."""
    right: Tensor
    """Where the right line is for each; 0 is nowhere."""


def _directions(seen: Sequence[ContextualPieces]) -> np.ndarray:
    """The directions in which words differ most, in half precision, as they are run."""
    rows = np.concatenate([unit_rows(one)[:, : len(one.whole)] for one in seen])
    some = rows[:: max(1, len(rows) // PROJECTED)]
    _, turned = np.linalg.eigh(some.T @ some)
    return turned[:, : -PIECE - 1 : -1].astype(np.float16).astype(np.float32)


def arrays(heads: Heads) -> dict[str, np.ndarray]:
    """The layers as they are run, on unit vectors."""
    found: dict[str, Tensor] = {
        "program.w": heads.program.weight.T,
        "program.b": heads.program.bias,
        "slot.w": torch.stack([slot.weight.T for slot in heads.slots]),
        "slot.b": torch.stack([slot.bias for slot in heads.slots]),
        "line.w": SCALE * heads.line.weight.T,
        "kind.w": heads.kind.weight,
        "alike": heads.alike,
        "word.asks": SHARP * heads.shares.weight.T,
        "word.worth": WORTH * heads.worth,
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
