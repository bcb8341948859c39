"""The trained parts: which operation a question is, what each of its words is for, which way round.

Small layers over the sentence encoder's word vectors, in numpy. `scripts/train_reader.py` makes the
weights, `data/CARD.md` says of what.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mmrag.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DATA = Path(__file__).parent / "data"
FILE = _DATA / "reader.safetensors"
FORMAT = "mmrag reader 1"


class Weights(NamedTuple):
    """Arrays by name, and the names of what they decide between."""

    arrays: dict[str, NDArray[np.float32]]
    operations: tuple[str, ...]
    labels: tuple[str, ...]


class Said(NamedTuple):
    """What the heads make of a question."""

    operation: str
    sure: float
    """Probability of the operation."""
    labels: tuple[str, ...]
    """What each word is for."""
    larger: bool


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
            f"{path.name}: the learned reader's weights cannot be read ({error}). "
            "Install mmrag again, "
            "or use grounded:planner=rules,reader=rules."
        ) from None
    if said.get("format") != FORMAT:
        raise DataError(
            f"{path.name}: not weights of this version ({said.get('format', 'none')!r}, expected "
            f"{FORMAT!r}). Make them again: scripts/train_reader.py."
        )
    return Weights(arrays, tuple(said["operations"].split(" ")), tuple(said["labels"].split(" ")))


def judge_question(rows: NDArray[np.float32], weights: Weights) -> Said:
    """A question's word vectors → what it asks."""
    w = weights.arrays
    a = np.maximum(rows @ w["in.w"] + w["in.b"], 0)
    b = np.maximum(_around(a, w["near.w"], w["near.b"]), 0)
    c = np.maximum(_around(b, w["far.w"], w["far.b"]), 0) + a
    pooled = np.concatenate([c.mean(0), c.max(0)])
    chances = _softmax(pooled @ w["operation.w"] + w["operation.b"])
    best = int(chances.argmax())
    tags = (c @ w["label.w"] + w["label.b"]).argmax(-1)
    return Said(
        operation=weights.operations[best],
        sure=float(chances[best]),
        labels=tuple(weights.labels[t] for t in tags),
        larger=float((pooled @ w["larger.w"] + w["larger.b"]).item()) > 0,
    )


def _around(
    rows: NDArray[np.float32], kernel: NDArray[np.float32], bias: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Each row with two on either side; `kernel` is (5, in, out)."""
    padded = np.pad(rows, ((2, 2), (0, 0)))
    return sum((padded[i : i + len(rows)] @ kernel[i] for i in range(5)), start=bias)


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    raised = np.exp(logits - logits.max())
    return raised / raised.sum()
