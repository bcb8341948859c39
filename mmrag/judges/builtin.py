"""The built-in judge: offline, deterministic, a fraction of a millisecond per pair.

In this order: no reference → unscored; equal after normalisation → perfect; no answer → missing;
a rule of the guideline that is sure; boosted trees over a hundred features. Parameters live in
`mmrag/judges/data` beside a card that says how they were made (scripts/train_judge.py).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import msgspec
import numpy as np

from mmrag.errors import DataError
from mmrag.judges.features import NAMES, Extractor
from mmrag.judges.normalise import missing_in, normalise, plain, same_signs, words
from mmrag.judges.reading import Reading, read_short
from mmrag.judges.rules import rule
from mmrag.judges.target import MAX_REFERENCES
from mmrag.judges.trees import Forest, Trees
from mmrag.judges.vectors import Pieces, Vectors
from mmrag.records import JudgeItem, Outcome, Verdict

VERSION = 2
MAX_REFERENCE_CHARS = 1_000
"""A longer reference is judged on its beginning."""


class BuiltinJudge:
    """Decides without a network or a model server; the same item always gets the same verdict."""

    def __init__(self, data: Path | None = None) -> None:
        folder = Path(str(files("mmrag.judges") / "data")) if data is None else data
        parameters = _load(folder)
        self._extractor = Extractor(parameters.vectors)
        self._forest = parameters.forest
        self.id = f"builtin/{VERSION}+{parameters.digest}"
        self.made_from = parameters.made_from
        """SHA-256 of the file of human verdicts that it was made from."""

    async def judge(self, item: JudgeItem) -> Verdict:
        """One verdict; never raises on strange text."""
        return self.judge_many([item])[0]

    def judge_many(self, items: Sequence[JudgeItem]) -> list[Verdict]:
        """One verdict per item, in order. Faster per item than one by one."""
        self._extractor.vectors.forget()
        verdicts: list[Verdict | None] = []
        waiting: list[int] = []
        rows: list[list[float]] = []
        for number, item in enumerate(items):
            found = self._decide(item)
            if isinstance(found, Verdict):
                verdicts.append(found)
                continue
            verdicts.append(None)
            waiting.append(number)
            rows.append(self._extractor.row(item.question, _bounded(item.references), found))
        if rows:
            for number, odds in zip(waiting, self._forest.log_odds(np.array(rows)), strict=True):
                chance = _probability(odds)
                outcome = Outcome.PERFECT if chance >= 0.5 else Outcome.INCORRECT
                verdicts[number] = self._verdict(outcome, f"model: p(correct) = {chance:.3f}")
        return [verdict for verdict in verdicts if verdict is not None]

    def _decide(self, item: JudgeItem) -> Verdict | Reading:
        references = _bounded(item.references)
        if not references:
            return self._verdict(Outcome.UNSCORED, "there is no reference to judge against")
        text = plain(item.prediction)
        if _equal(text, references):
            return self._verdict(Outcome.PERFECT, "equal to a reference", exact=True)
        if (missing := missing_in(text)) is not None:
            return self._verdict(Outcome.MISSING, missing)
        reading, references = Reading(text, is_plain=True), references[:MAX_REFERENCES]
        if not reading.words or not any(read_short(reference).words for reference in references):
            # Symbols alone ("+", "🍐"): nothing can be compared but the characters themselves.
            same = text.strip() in {reference.strip() for reference in references}
            return self._verdict(Outcome.PERFECT if same else Outcome.INCORRECT, "symbols only")
        if (ruling := rule(item.question, references, reading)) is not None:
            outcome = Outcome.PERFECT if ruling.correct else Outcome.INCORRECT
            return self._verdict(outcome, f"rule: {ruling.reason}")
        return reading

    def _verdict(self, outcome: Outcome, reason: str, *, exact: bool = False) -> Verdict:
        return Verdict(
            outcome=outcome, judge=self.id, score=outcome.score, exact=exact, reason=reason
        )


class _Parameters(msgspec.Struct):
    vectors: Vectors
    forest: Forest
    digest: str
    made_from: str


@lru_cache(maxsize=4)
def _load(folder: Path) -> _Parameters:
    """Read the parameter files once per process."""
    from safetensors.numpy import load

    digest = hashlib.sha256()
    raw: dict[str, bytes] = {}
    for name in ("pieces.txt", "words.safetensors", "trees.json", "figures.json"):
        try:
            raw[name] = (folder / name).read_bytes()
        except OSError as error:
            raise DataError(
                f"the built-in judge misses {name} in {folder}; install the package again, or make "
                "the file with scripts/train_judge.py."
            ) from error
        if name != "figures.json":  # figures describe the judge, they do not steer it
            digest.update(raw[name])
    pieces = Pieces(raw["pieces.txt"].decode().split("\n"))
    table = load(raw["words.safetensors"])["words"]
    trees = msgspec.json.decode(raw["trees.json"], type=Trees)
    return _Parameters(
        vectors=Vectors(pieces, table),
        forest=Forest(trees, NAMES),
        digest=digest.hexdigest()[:8],
        made_from=msgspec.json.decode(raw["figures.json"])["source_sha256"],
    )


def _equal(text: str, references: tuple[str, ...]) -> bool:
    forms = _normal_forms(references)
    # The normal form is rarely shorter than half the text: most replies need no second look.
    if not forms or len(text) > 2 * max(map(len, forms)) + 20:
        return False
    said = " ".join(words(text, is_plain=True))
    return said in forms and any(same_signs(text, r) for r in references if normalise(r) == said)


@lru_cache(maxsize=5_000)
def _normal_forms(references: tuple[str, ...]) -> frozenset[str]:
    return frozenset(filter(None, map(normalise, references)))


def _bounded(references: tuple[str, ...]) -> tuple[str, ...]:
    if all(0 < len(r) <= MAX_REFERENCE_CHARS and not r.isspace() for r in references):
        return references
    return tuple(r[:MAX_REFERENCE_CHARS] for r in references if r.strip())


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(log_odds, -30.0), 30.0)))
