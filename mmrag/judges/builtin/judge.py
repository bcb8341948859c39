"""The built-in judge: offline, deterministic, about a millisecond per pair.

In this order: no reference → unscored; equal after normalisation → perfect; no answer → missing;
a rule of the guideline that is sure; a truth that is denied, taken back or one of several → wrong;
boosted trees. Parameters live in `mmrag/judges/data` beside a card that says
how they were made (scripts/train_judge.py).
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError
from mmrag.judges.builtin.claims import asks_judging, settled
from mmrag.judges.builtin.features import NAMES, Extractor
from mmrag.judges.builtin.parsed_text import Cue, Reading
from mmrag.judges.builtin.rules import rule
from mmrag.judges.builtin.trees import Forest, Trees
from mmrag.judges.builtin.vectors import Pieces, WordVectors
from mmrag.metrics.overlap import words_of
from mmrag.protocols import Judge, Model
from mmrag.records import JudgeItem, Outcome, Verdict
from mmrag.text.chinese import is_chinese, western
from mmrag.text.lexicon import phrases
from mmrag.text.normalise import normalise, plain, same_signs, words
from mmrag.text.refusals import ENGLISH, declines, missing_in

VERSION = 7
SURE = 0.9
"""Below this chance of either side the judge calls itself unsure."""
WARY = 1.0
"""How sure of a wrong reply, in log-odds, the wary trees must be to overrule the others."""
_BATCH = 128
MAX_REFERENCE_CHARS = 1_000
"""A longer reference is judged on its beginning."""


def builtin_judge(
    second: str = "",
    *,
    models: Callable[[str], Model] | None = None,
    agent_model: str | None = None,
) -> Judge:
    """Make `builtin`; `builtin:second=SPEC` passes what it is unsure of to another judge."""
    first = BuiltinJudge()
    if not second:
        return first
    from mmrag.judges import make_judge

    return Cascade(first, make_judge(second, models=models, agent_model=agent_model))


class Judged(NamedTuple):
    """A verdict, and whether it is sure."""

    verdict: Verdict
    sure: bool


_ALONE = threading.Lock()
"""All judges of a process learn new words into one table of vectors."""


class BuiltinJudge:
    """Decides without a network or a model server; the same item always gets the same verdict."""

    def __init__(self, data: Path | None = None) -> None:
        folder = Path(str(files("mmrag.judges") / "data")) if data is None else data
        parameters = _load(folder)
        self._extractor = Extractor(parameters.vectors)
        self._forest, self._wary = parameters.forest, parameters.wary
        self.id = f"builtin/{VERSION}+{parameters.digest}"
        self.made_from = parameters.made_from
        """SHA-256 of the file of human verdicts that it was made from."""

    async def judge(self, item: JudgeItem) -> Verdict:
        """One verdict; never raises on strange text."""
        return self.judge_many([item])[0]

    def judge_many(self, items: Sequence[JudgeItem]) -> list[Verdict]:
        """One verdict per item, in order. Faster per item than one by one."""
        return [judged.verdict for judged in self.weigh(items)]

    def weigh(self, items: Sequence[JudgeItem]) -> list[Judged]:
        """One verdict per item, in order, each with whether it is sure."""
        with _ALONE:
            batches = (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))
            return [judged for batch in batches for judged in self._weighed(batch)]

    def _weighed(self, items: Sequence[JudgeItem]) -> Iterator[Judged]:
        self._extractor.vectors.forget()
        decided = [self._before_trees(item) for item in map(in_western_notation, items)]
        waiting = [found for found in decided if not isinstance(found, Judged)]
        by_trees = iter(self._by_trees(waiting) if waiting else ())
        for found in decided:
            yield found if isinstance(found, Judged) else next(by_trees)

    def _before_trees(self, item: JudgeItem) -> Judged | tuple[JudgeItem, Reading]:
        found = before_trees(item, self._extractor)
        if isinstance(found, Reading):
            return item, found
        outcome, reason = found
        return Judged(self._verdict(outcome, reason, exact=reason == _EXACT), True)

    def _by_trees(self, waiting: Sequence[tuple[JudgeItem, Reading]]) -> Iterator[Judged]:
        objections, rows = self._extractor.rows(
            [(item.question, _bounded(item.references), said) for item, said in waiting]
        )
        odds = with_doubt(rows, self._forest, self._wary).tolist()
        for (item, _), objection, log_odds in zip(waiting, objections, odds, strict=True):
            if objection:
                yield Judged(self._verdict(Outcome.INCORRECT, f"rule: {objection}"), True)
                continue
            chance = _probability(log_odds)
            outcome = Outcome.PERFECT if chance >= 0.5 else _wrong(item)
            verdict = self._verdict(outcome, f"trees: p(correct) = {chance:.3f}")
            yield Judged(verdict, max(chance, 1 - chance) >= SURE)

    def _verdict(self, outcome: Outcome, reason: str, *, exact: bool = False) -> Verdict:
        return Verdict(
            outcome=outcome, judge=self.id, score=outcome.score, exact=exact, reason=reason
        )


class Cascade:
    """The built-in judge, and another for what it is unsure of, which then decides: what both said
    is in the reason, and no vote of the first is counted beside the second's."""

    def __init__(self, first: BuiltinJudge, second: Judge) -> None:
        self._first, self._second = first, second

    @property
    def id(self) -> str:
        """The ids of both judges."""
        return f"{self._first.id} then {getattr(self._second, 'id', type(self._second).__name__)}"

    async def judge(self, item: JudgeItem) -> Verdict:
        """The first judge's verdict where it is sure; else the second's, unless that has none."""
        own, sure = self._first.weigh([item])[0]
        if sure:
            return msgspec.structs.replace(own, judge=self.id)
        other = await self._second.judge(item)
        held = own if other.outcome is Outcome.UNSCORED else other
        who = "no second verdict" if held is own else f"{other.judge} decided: {other.reason}"
        return Verdict(
            outcome=held.outcome,
            judge=self.id,
            score=held.score,
            reason=f"unsure ({own.reason}); {who}",
            usage=other.usage,
        )


def before_trees(item: JudgeItem, extractor: Extractor) -> tuple[Outcome, str] | Reading:
    """What needs no trees, and why; else the reply as the trees are to read it."""
    references = _bounded(item.references)
    if not references:
        return Outcome.UNSCORED, "there is no reference to judge against"
    text = plain(item.prediction)
    if _equal(text, references):
        return Outcome.PERFECT, _EXACT
    reading = Reading(text, is_plain=True)
    claimed = text
    if reading.cues & (Cue.CORRECTION | Cue.ORDER) and not asks_judging(item.question):
        claimed = settled(text)
    missing = None
    if reading.cues & Cue.REFUSAL or not (reading.words and ENGLISH.search(text)):
        missing = missing_in(text) or (missing_in(claimed) if claimed != text else None)
    if missing is not None:
        if _as_unknown(text, references):
            return Outcome.PERFECT, "rule: as the reference says, that is not told"
        if not any(_stands(reference, text) for reference in references):
            return Outcome.MISSING, missing
    target = extractor.target(item.question, references)
    if not reading.words or not target.readings:
        return _as_signs(text, item.question, references)
    said = reading if claimed == text else Reading(claimed, is_plain=True)
    if (ruling := rule(target, said)) is not None:
        right = Outcome.PERFECT if ruling.exactly else Outcome.ACCEPTABLE
        return right if ruling.correct else Outcome.INCORRECT, f"rule: {ruling.reason}"
    return reading


def _as_signs(text: str, question: str, references: tuple[str, ...]) -> tuple[Outcome, str]:
    """Symbols ("+", "🍐") and the names "a" and "an": only the characters can be compared."""
    own = text.strip(" .!?").lower()
    same = any(
        own == reference.strip(" .!?").lower()
        or (
            own
            and reference.lower().startswith(own + " ")
            and f" {own} " in f" {question.lower()} "
        )
        for reference in references
    )
    return (Outcome.PERFECT if same else Outcome.INCORRECT), "symbols only"


def in_western_notation(item: JudgeItem) -> JudgeItem:
    """An item that the rules for other languages can read; the same where nothing is Chinese."""
    if not is_chinese(" ".join((item.prediction, *item.references))):
        return item
    # Cutting into words needs a dictionary: of no use where the reply has no Chinese word.
    cut = words_of if is_chinese(item.prediction) else list
    prediction, *references = (
        western(text, cut) if is_chinese(text) else text
        for text in (item.prediction, *item.references)
    )
    return msgspec.structs.replace(item, references=tuple(references), prediction=prediction)


def with_doubt(rows: NDArray[np.float64], trees: Forest, wary: Forest) -> NDArray[np.float64]:
    """Log-odds of the trees that learnt from people, unless the wary ones speak up against a reply.

    The wary trees learnt from the open half of the stress suite too. People's verdicts hold
    hardly a reply that was written to mislead, so trees that saw no others believe too much.
    """
    odds = trees.log_odds(rows)
    believed = np.flatnonzero(odds >= 0)
    doubts = wary.log_odds(rows[believed])
    odds[believed] = np.where(doubts < -WARY, doubts, odds[believed])
    return odds


def _wrong(item: JudgeItem) -> Outcome:
    said = settled(plain(item.prediction))
    return Outcome.MISSING if declines(said) else Outcome.INCORRECT


_ABOUT_ONESELF = re.compile(r"(?i)\b(?:i|me|my|we|idk|dunno|sorry)\b|\byou\b")
_UNTOLD = phrases(
    r"\W*(?:(?:it|the \w+) (?:does\s*n[o']t|says nothing)\b|(?:it is )?not (?:stated|told|given"
    r"|mentioned|specified)\b)"
)
_EXACT = "equal to a reference"


class _Parameters(msgspec.Struct):
    vectors: WordVectors
    forest: Forest
    wary: Forest
    digest: str
    made_from: str


@lru_cache(maxsize=4)
def _load(folder: Path) -> _Parameters:
    """Read the parameter files once per process."""
    from safetensors.numpy import load

    digest = hashlib.sha256()
    raw: dict[str, bytes] = {}
    for name in ("pieces.txt", "words.safetensors", "trees.json", "wary.json", "figures.json"):
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
    trees, wary = (
        Forest(msgspec.json.decode(raw[name], type=Trees), NAMES)
        for name in ("trees.json", "wary.json")
    )
    return _Parameters(
        vectors=WordVectors(pieces, table),
        forest=trees,
        wary=wary,
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


def _as_unknown(text: str, references: tuple[str, ...]) -> bool:
    """Whether references say that nobody can tell, and a reply says so without a word of itself."""
    says_so = bool(references) and all(missing_in(plain(r)) or _UNTOLD.match(r) for r in references)
    return says_so and bool(text.strip()) and not _ABOUT_ONESELF.search(text)


def _stands(reference: str, text: str) -> bool:
    """Whether a refusal goes on to guess a reference ("I'm not sure, Sony?"), in any language."""
    one, other = reference.lower(), text.lower()
    guessed = other.rstrip(" .?!").endswith(", " + one)
    return guessed or (len(one) > 3 and one in other and not ENGLISH.search(text))


@lru_cache(maxsize=2_000)
def _normal_forms(references: tuple[str, ...]) -> frozenset[str]:
    return frozenset(filter(None, map(normalise, references)))


@lru_cache(maxsize=2_000)
def _bounded(references: tuple[str, ...]) -> tuple[str, ...]:
    if all(0 < len(r) <= MAX_REFERENCE_CHARS and not _nothing(r) for r in references):
        return references
    return tuple(r[:MAX_REFERENCE_CHARS] for r in references if not _nothing(r))


def _nothing(reference: str) -> bool:
    """Blank, or what a table's empty cell turns into when it is read as a number."""
    return reference in ("nan", "NaN") or not reference or reference.isspace()


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(log_odds, -30.0), 30.0)))
