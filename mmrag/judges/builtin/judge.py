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
from mmrag.judges.builtin.boosted_trees import Forest, StoredTrees
from mmrag.judges.builtin.claims import is_about_judging, without_retractions
from mmrag.judges.builtin.features import NAMES, Extractor
from mmrag.judges.builtin.parsed_text import Cue, Parsed, parse_short
from mmrag.judges.builtin.rules import first_ruling
from mmrag.judges.builtin.vectors import Pieces, WordVectors
from mmrag.metrics.word_overlap import words_of
from mmrag.protocols import Judge, Model
from mmrag.records import JudgeItem, Outcome, Verdict
from mmrag.text.chinese import CHINESE, has_chinese, westernise
from mmrag.text.lexicon import phrases
from mmrag.text.normalise import plain, same_signs, words
from mmrag.text.refusals import ENGLISH, declines, missing_in

VERSION = 10
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
        vectors, self._forest, self._wary, digest, source = _load(folder)
        self.made_from = source
        """SHA-256 of the file of human verdicts that it was made from."""
        self._extractor = Extractor(vectors)
        self.id = f"builtin/{VERSION}+{digest}"

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
        items = [*map(in_western_notation, items)]
        decided = [judge_by_rules(item, self._extractor) for item in items]
        objections, rows = self._extractor.rows([
            (item.question, _bounded(item.references), said)
            for item, said in zip(items, decided, strict=True)
            if isinstance(said, Parsed)
        ])  # fmt: skip
        odds = with_doubt(rows, self._forest, self._wary).tolist()
        by_trees = zip(objections, odds, strict=True)
        for said in decided:
            if not isinstance(said, Parsed):
                yield self._judged(*said)
                continue
            objection, log_odds = next(by_trees)
            if objection:
                yield self._judged(Outcome.INCORRECT, f"rule: {objection}")
                continue
            chance = 1 / (1 + math.exp(-min(max(log_odds, -30.0), 30.0)))
            outcome = Outcome.PERFECT
            if chance < 0.5:
                declined = declines(without_retractions(said.raw))
                outcome = Outcome.MISSING if declined else Outcome.INCORRECT
            sure = max(chance, 1 - chance) >= SURE
            yield self._judged(outcome, f"trees: p(correct) = {chance:.3f}", sure=sure)

    def _judged(self, outcome: Outcome, reason: str, *, sure: bool = True) -> Judged:
        exact, score = reason == _EXACT, outcome.score
        own = Verdict(outcome=outcome, judge=self.id, score=score, exact=exact, reason=reason)
        return Judged(own, sure)


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


def judge_by_rules(item: JudgeItem, extractor: Extractor) -> tuple[Outcome, str] | Parsed:
    """What needs no trees, and why; else the reply as the trees are to read it."""
    references = _bounded(item.references)
    if not references:
        return Outcome.UNSCORED, "there is no reference to judge against"
    text = plain(item.prediction)
    if _equal(text, references):
        return Outcome.PERFECT, _EXACT
    reading = Parsed(text, is_plain=True)
    claimed = text
    if reading.cues & (Cue.CORRECTION | Cue.ORDER) and not is_about_judging(item.question):
        claimed = without_retractions(text)
    missing = None
    if reading.cues & Cue.REFUSAL or not (reading.words and ENGLISH.search(text)):
        missing = missing_in(text) or (missing_in(claimed) if claimed != text else None)
    if (missing or _UNTOLD.match(text)) and _as_unknown(text, references):
        return Outcome.PERFECT, "rule: as the reference says, that is not told"
    if missing and not any(_stands(reference, text) for reference in references):
        return Outcome.MISSING, missing
    target = extractor.target(item.question, references)
    if not reading.words or not target.readings:
        return _as_signs(text, item.question, references)
    said = reading if claimed == text else Parsed(claimed, is_plain=True)
    if (ruling := first_ruling(target, said)) is not None:
        right = Outcome.PERFECT if ruling.exactly else Outcome.ACCEPTABLE
        wrong = Outcome.MISSING if ruling.declines else Outcome.INCORRECT
        return right if ruling.correct else wrong, f"rule: {ruling.reason}"
    return reading


def _as_signs(text: str, question: str, references: tuple[str, ...]) -> tuple[Outcome, str]:
    """Symbols ("+", "🍐") and the names "a" and "an": only the characters can be compared."""
    own = text.strip(" .!?").lower()
    asked = own and f" {own} " in f" {question.lower()} "
    known = [reference.lower() for reference in references]
    same = any(own == r.strip(" .!?") or (asked and r.startswith(own + " ")) for r in known)
    return (Outcome.PERFECT if same else Outcome.INCORRECT), "symbols only"


def in_western_notation(item: JudgeItem) -> JudgeItem:
    """An item that the rules for other languages can read; the same where nothing is Chinese."""
    if not has_chinese(" ".join((item.prediction, *item.references))):
        return item
    # Cutting into words needs a dictionary: of use where a Chinese reply meets such a reference.
    written = 3 * len(CHINESE.findall(item.prediction)) > len(item.prediction)
    both = written and any(map(has_chinese, item.references))
    cut: Callable[[str], list[str]] = words_of if both else lambda piece: [piece]
    prediction, *references = (
        westernise(text, cut) if has_chinese(text) else text
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


_ABOUT_ONESELF = re.compile(r"(?i)\b(?:i|me|my|we|idk|dunno|sorry)\b|\byou\b")
_UNTOLD = phrases(
    r"\W*(?:(?:it|the \w+) (?:does\s*n[o']t|says nothing)\b|(?:it is )?not (?:stated|told|given"
    r"|mentioned|specified)\b|(?:nobody|no one) knows\b)"
)
_EXACT = "equal to a reference"


@lru_cache(maxsize=4)
def _load(folder: Path) -> tuple[WordVectors, Forest, Forest, str, str]:
    """Read the parameter files once per process; the last two are their digest and their source."""
    from safetensors.numpy import load

    raw: list[bytes] = []
    for name in ("pieces.txt", "words.safetensors", "trees.json", "wary.json", "figures.json"):
        try:
            raw.append((folder / name).read_bytes())
        except OSError as error:
            raise DataError(
                f"the built-in judge misses {name} in {folder}; install the package again, or make "
                "the file with scripts/train_judge.py."
            ) from error
    pieces, table, *forests, figures = raw
    people, wary = (Forest(msgspec.json.decode(text, type=StoredTrees), NAMES) for text in forests)
    vectors = WordVectors(Pieces(pieces.decode().split("\n")), load(table)["words"])
    # Figures describe the judge, they do not steer it.
    digest = hashlib.sha256(b"".join(raw[:-1])).hexdigest()[:8]
    return vectors, people, wary, digest, msgspec.json.decode(figures)["source_sha256"]


def _equal(text: str, references: tuple[str, ...]) -> bool:
    forms = _normal_forms(references)
    # The normal form is rarely shorter than half the text: most replies need no second look.
    if not forms or len(text) > 2 * max(map(len, forms)) + 20:
        return False
    said = " ".join(words(text, is_plain=True))
    return any(same_signs(text, reference) for reference in forms.get(said, ()))


def _as_unknown(text: str, references: tuple[str, ...]) -> bool:
    """Whether references say that nobody can tell, and a reply says so without a word of itself."""
    says_so = all(missing_in(parse_short(r).raw) or _UNTOLD.match(r) for r in references)
    return says_so and bool(text.strip()) and not _ABOUT_ONESELF.search(text)


def _stands(reference: str, text: str) -> bool:
    """Whether a refusal goes on to guess a reference ("I'm not sure, Sony?"), in any language."""
    one, other = reference.lower(), text.lower()
    guessed = other.rstrip(" .?!").endswith(", " + one)
    return guessed or (len(one) > 3 and one in other and not ENGLISH.search(text))


@lru_cache(maxsize=500)
def _normal_forms(references: tuple[str, ...]) -> dict[str, list[str]]:
    forms: dict[str, list[str]] = {}
    for reference in references:
        if form := " ".join(words(parse_short(reference).raw, is_plain=True)):
            forms.setdefault(form, []).append(reference)
    return forms


@lru_cache(maxsize=500)
def _bounded(references: tuple[str, ...]) -> tuple[str, ...]:
    """Without blanks, and what a table's empty cell turns into when it is read as a number."""
    kept = (r for r in references if r not in ("nan", "NaN") and r and not r.isspace())
    return tuple(r[:MAX_REFERENCE_CHARS] for r in kept)
