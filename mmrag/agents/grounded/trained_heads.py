"""The trained parts: what a question comes to, which lines state what it asks, and what values are.

Small layers over the sentence encoder's vectors, in numpy. `scripts/train_reader.py` makes the
weights, `data/CARD.md` says of what.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mmrag.agents.grounded.contextual_vectors import LAYERS, WordVectorCache, by_word, spans_of
from mmrag.agents.grounded.values import Value
from mmrag.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mmrag.encoders.text import ContextualPieces

FILE = Path(__file__).parent / "data" / "reader.safetensors"
FORMAT = "mmrag reader 5"

BEFORE = 2
"""Questions before the one at hand that count."""

SLOTS, RELATION = 3, 2
"""Attributes of one program, and the number of the one that leads to the thing asked about."""

GRAMS = 2048
"""Buckets for a question's words and pairs of words."""

KINDS = ("text", "name", "list", "year", "date", "clock", "money", "share", "count")
UNITS = 23
"""Kinds of value, and buckets for the units of the rest."""

STRONG = 2.0
"""From which sum of its words' scores a run of words is a value beside another."""

AROUND = 2
"""Words on either side of a word by which it is told whether it is part of a value."""

PIECES = 24
"""Word pieces of a line that are set beside a question's: 98 in 100 of the voices' lines have no
more."""

MIDDLING = 0.5
"""Taken from the likeness of word pieces, so that a line that shares nothing in particular fits
worse than none: of a question and a line that have nothing to do with each other the likest are .4
alike."""


class Weights(NamedTuple):
    """Arrays by name, and the programs that questions come to, as JSON."""

    arrays: dict[str, NDArray[np.float32]]
    programs: tuple[str, ...]


class AskedAttribute(NamedTuple):
    """One attribute that a question asks for: what a line that states it is like."""

    whole: NDArray[np.float32]
    """Its product with a line's vector tells how well the two fit."""
    pieces: NDArray[np.float32]
    """The question's word pieces by `project_pieces`."""
    worth: NDArray[np.float32]
    """What each of them adds to the fit of a line that has it too."""


class QuestionAnalysis(NamedTuple):
    """What the heads make of a question."""

    programs: NDArray[np.float32]
    """How probable each program is."""
    slots: tuple[AskedAttribute, ...]
    """The attributes that a program may read."""


class EncodedLine(NamedTuple):
    """A line of a page as far as it is needed to tell what it states."""

    whole: NDArray[np.float32]
    pieces: NDArray[np.float16]
    """Its first `PIECES` word pieces by `project_pieces`, in half precision."""


@lru_cache(maxsize=2)
def read_weights(path: Path = FILE) -> Weights:
    """The weights, checked; `DataError` where the file is not one of ours."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), "np") as file:
            said = file.metadata() or {}
            arrays = {k: file.get_tensor(k).astype(np.float32) for k in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise DataError(
            f"{path.name}: the reader's weights cannot be read ({error}). Install mmrag again."
        ) from None
    if said.get("format") != FORMAT:
        raise DataError(
            f"{path.name}: not weights of this version ({said.get('format', 'none')!r}, expected "
            f"{FORMAT!r}). Make them again: scripts/train_reader.py."
        )
    return Weights(arrays, tuple(json.loads(said["programs"])))


def ngram_buckets(text: str) -> list[int]:
    """Buckets of a masked question's words, beginnings of words and pairs of words."""
    words = ["^", *(re.sub(r"\d+", "0", w) for w in re.findall(r"\w+|[^\w\s]", text.lower())), "$"]
    found = [*words, *(w[:4] + "-" for w in words if len(w) > 4)]
    found += [f"{a} {b}" for a, b in pairwise(words)]
    return sorted({zlib.crc32(gram.encode("utf-8", "replace")) % GRAMS for gram in found})


def analyse_question(
    states: WordVectorCache, text: str, before: Sequence[str], weights: Weights
) -> QuestionAnalysis:
    """A masked question after others, the last first → what it comes to."""
    w = weights.arrays
    asked, *earlier = states.of([text, *before[:BEFORE]], rows=1)
    seen = [asked.whole, *(one.whole for one in earlier)]
    seen += [np.zeros_like(seen[0])] * (1 + BEFORE - len(seen))
    bag = ngram_buckets(text)
    x = np.concatenate(seen)
    even = 1 / np.sqrt(len(bag))
    a, b = (
        np.maximum(x @ w[f"{t}.seen"] + w[f"{t}.grams"][bag].sum(0) * even + w[f"{t}.bias"], 0)
        for t in ("asks", "does")
    )
    logits = np.concatenate([b, a]) @ w["program.w"] + w["program.b"]
    slots = np.einsum("h,shd->sd", a, w["slot.w"]) + w["slot.b"]
    alike = np.outer(w["alike"], asked.whole)  # a line is also like the question as it stands
    wholes = np.concatenate([slots, alike], axis=1)
    worth = _shares(unit_rows(asked) @ w["word.asks"]) * w["word.worth"]
    pieces = project_pieces(asked, w["word.to"], most=len(asked.rows))
    return QuestionAnalysis(
        _shares(logits),
        tuple(AskedAttribute(z, pieces, c) for z, c in zip(wholes, worth.T, strict=True)),
    )


def unit_rows(seen: ContextualPieces) -> NDArray[np.float32]:
    """Word pieces, each layer's vector of length one."""
    layers = seen.rows.reshape(len(seen.rows), len(LAYERS), -1)
    lengths = np.linalg.norm(layers, axis=2, keepdims=True)
    return (layers / np.maximum(lengths, 1e-6)).reshape(len(seen.rows), -1)


def project_pieces(
    seen: ContextualPieces, to: NDArray[np.float32], most: int = PIECES
) -> NDArray[np.float32]:
    """Word pieces in few numbers, of length one: form and neighbours, which lower layers tell."""
    made = seen.rows[:most, : len(to)] @ to
    return made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-6)


def encode_line(seen: ContextualPieces, weights: Weights) -> EncodedLine:
    """What is needed of a line; copies, or all that came from the encoder with it would stay."""
    pieces = project_pieces(seen, weights.arrays["word.to"]).astype(np.float16)
    return EncodedLine(seen.whole.copy(), pieces)


def _shares(x: NDArray[np.float32]) -> NDArray[np.float32]:
    raised = np.exp(x - x.max(0))
    return raised / raised.sum(0)


def kind_of(value: Value) -> int:
    """What a value looks like, by its number in the weights."""
    if value.kind != "number":
        return KINDS.index(value.kind)
    if value.unit[:1] in "$€£%":
        return KINDS.index("count" if not value.unit else "share" if value.unit == "%" else "money")
    return len(KINDS) + zlib.crc32(value.unit.encode()) % UNITS


def score_lines(
    asked: AskedAttribute, lines: Sequence[EncodedLine], kinds: Sequence[int], weights: Weights
) -> list[float]:
    """How well lines with values of some kinds state what is asked; 0 is as good as nothing.

    A line fits by what it means as a whole, and by each word of the question that it has, or has
    one like: by the whole alone what it was not trained to tell apart is mixed up.
    """
    w = weights.arrays
    seen = np.stack([line.whole for line in lines])
    rows = np.concatenate([seen @ w["line.w"] + w["kind.w"][list(kinds)], seen], axis=1)
    pieces = np.concatenate([line.pieces for line in lines]).astype(np.float32)
    starts = np.cumsum([0, *(len(line.pieces) for line in lines[:-1])])
    likest = np.maximum.reduceat(pieces @ asked.pieces.T, starts, axis=0)
    fits = rows @ asked.whole + (likest - MIDDLING) @ asked.worth
    return [round(float(fit), 4) for fit in fits]  # lines of the same text fit the same


def find_values(text: str, seen: ContextualPieces, weights: Weights) -> list[tuple[int, int]]:
    """Where the values of a line most probably stand: one, or several that are all sure."""
    w = weights.arrays
    rows = by_word(seen)
    padded = np.pad(rows, ((AROUND, AROUND), (0, 0)))
    near = np.concatenate([padded[i : i + len(rows)] for i in range(2 * AROUND + 1)], axis=1)
    hidden = np.maximum(near @ w["value.w"] + w["value.b"], 0)
    scores = hidden @ w["value.o"] + w["value.c"]
    places = spans_of(text)[: len(rows)]
    each = [float(s) for s in scores[:, 0]]
    runs = _strong_runs(each)
    return [(places[a][0], places[b][1]) for a, b in (runs if len(runs) > 1 else [_best_run(each)])]


def _strong_runs(scores: Sequence[float]) -> list[tuple[int, int]]:
    """Runs of words that are all rather part of a value than not."""
    found: list[tuple[int, int]] = []
    for positive, run in groupby(range(len(scores)), key=lambda i: scores[i] > 0):
        places = list(run)
        if positive and sum(scores[i] for i in places) > STRONG:
            found.append((places[0], places[-1]))
    return found


def _best_run(scores: Sequence[float]) -> tuple[int, int]:
    """The run of neighbours whose sum is largest."""
    best, run, start, place = -np.inf, 0.0, 0, (0, 0)
    for i, score in enumerate(scores):
        if run <= 0:
            run, start = 0.0, i
        run += score
        if run > best:
            best, place = run, (start, i)
    return place
