"""The text clue: what is meant to be read can be read by an OCR engine, the rest cannot."""

from __future__ import annotations

import warnings
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from simulator.studio.camera.scene_to_picture import compose
from simulator.world.facts.look import KINDS, Look
from simulator.world.pictures.scene import Scene

DOMAIN = {kind: domain for domain, kinds in KINDS.items() for kind in kinds}


@lru_cache(maxsize=1)
def engine() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from rapidocr_onnxruntime import RapidOCR

        return RapidOCR(intra_op_num_threads=1, inter_op_num_threads=1)


def words_read(kind: str, name: str, *, legible: bool, key: str) -> float:
    """Share of the name's words that the engine finds in the picture."""
    entity = Look(domain=DOMAIN[kind], kind=kind, family=11, variant=3, label=name)
    image = compose(Scene(main=entity, legible=legible, key=key)).image
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, _ = engine()(np.ascontiguousarray(image[..., ::-1]))
    text = "".join(line[1] for line in found or []).lower().replace(" ", "")
    words = name.lower().split()
    near = [
        any(
            SequenceMatcher(None, word, text[i : i + len(word)]).ratio() >= 0.8
            for i in range(max(len(text) - len(word) + 1, 1))
        )
        for word in words
    ]
    return sum(near) / len(words)


@pytest.mark.proof("render")
def test_legible_labels_are_read() -> None:
    kinds = (
        "bottle", "book", "poster", "shopfront", "van", "sign", "board_game", "carton", "jar",
        "packet", "ticket", "coin",
    )  # fmt: skip
    shares = [words_read(k, "Bellwick Quellmoor", legible=True, key="t") for k in kinds]
    assert np.mean(shares) >= 0.9, dict(zip(kinds, shares, strict=True))


@pytest.mark.proof("render")
def test_other_labels_are_not_read() -> None:
    kinds = ("bottle", "book", "poster", "shopfront", "van", "sign", "board_game")
    shares = [words_read(k, "Bellwick Quellmoor", legible=False, key="t") for k in kinds]
    assert max(shares) == 0, dict(zip(kinds, shares, strict=True))
