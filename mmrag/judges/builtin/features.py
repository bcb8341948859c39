"""What the calibrated judge looks at: one row of numbers per (question, references, prediction).

The row describes the best-matching reference in detail and the others in sums. `NAMES` gives the
columns; a parameter file made for other columns is refused.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mmrag.judges.builtin.objections import why_wrong
from mmrag.judges.builtin.parsed_question import Target, Word, Wording, date_depth, loose_matches
from mmrag.judges.builtin.parsed_text import Parsed
from mmrag.judges.builtin.vectors import MEANINGS, WordMatch, WordVectors, compare_meanings
from mmrag.text.numbers import is_number, same_date, same_quantity


class Extractor:
    """Computes rows. Holds the word vectors."""

    def __init__(self, vectors: WordVectors) -> None:
        self.vectors = vectors
        self._targets: dict[tuple[str, tuple[str, ...]], Target] = {}

    def rows(
        self, cases: Sequence[tuple[str, Sequence[str], Parsed]]
    ) -> tuple[list[str], NDArray[np.float64]]:
        """For each question, references and reply: why the reply is wrong whatever the trees say
        (mostly nothing), and one row in the order of `NAMES`."""
        objections, rows = [""] * len(cases), np.zeros((len(cases), len(NAMES)))
        senses: list[WordMatch] = []
        places: list[int] = []
        for number, (question, references, said) in enumerate(cases):
            target = self.target(question, references)
            found = self._row(target, said) if target.known and said.words else ""
            if isinstance(found, str):
                objections[number] = found
                continue
            rows[number, : len(found[0])] = found[0]
            senses.append(found[1])
            places.append(number)
        if senses:
            rows[places, -len(MEANINGS) :] = compare_meanings(self.vectors, senses)
        return objections, rows

    def _row(self, target: Target, said: Parsed) -> tuple[list[float], WordMatch] | str:
        known = target.known
        held = [said.holds(wording.compact) for wording in known]
        scores = [_overlap(words, said) + h for words, h in zip(target.words, held, strict=True)]
        ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], len(known[i].compact)))
        truth = [known[i] for i in ranked if held[i]][:6]
        truth = truth or loose_matches([known[i] for i in ranked], target.asked, said)
        if why := why_wrong(target, truth, said):
            return why
        best, vocabulary = ranked[0], target.asked.vocabulary
        fresh = [i for i in said.places if said.words[i] not in vocabulary]
        told = self.vectors.weights([said.words[i] for i in said.places])
        weights = dict(zip(said.places, told, strict=True))
        row = _best(best, said, target, fresh, weights)
        row += _several([scores[i] for i in ranked], known[best], said, target, fresh)
        row += _numbers(target, said)
        row += _sentences(target, said, fresh, weights)
        return row, self._match(ranked, said, target, fresh)

    def target(self, question: str, references: Sequence[str]) -> Target:
        """A question with its references taken apart, remembered for other replies to it."""
        references = tuple(references[:_MAX_REFERENCES])
        key = (question, references)
        if key not in self._targets:
            if len(self._targets) > _MAX_TARGETS:
                del self._targets[next(iter(self._targets))]  # the oldest
            self._targets[key] = Target(question, references, self.vectors)
        return self._targets[key]

    def _match(self, ranked: list[int], said: Parsed, of: Target, fresh: list[int]) -> WordMatch:
        told = [said.words[i] for i in fresh[:_MAX_TOLD]] or said.content[:_MAX_TOLD]
        # The first two sentences hold the answer; the rest is usually background.
        front = sum(said.sentence[i] <= 1 for i in fresh[:_MAX_TOLD]) or len(told)
        best, second = (of.known[i].content[:_MAX_TOLD] for i in (ranked[0], ranked[:2][-1]))
        asked = of.asked
        new = [word for word in best if word not in asked.vocabulary] or best
        words = (told, new, best, second, asked.content[:_MAX_TOLD] or ["?"])
        told_rows, *rows = map(self.vectors.numbers, words)
        return WordMatch(told_rows, front, *rows)


def _best(
    place: int, said: Parsed, target: Target, fresh: list[int], weights: dict[int, float]
) -> list[float]:
    best, words = target.known[place], target.words[place]
    n, stems = len(said.words), said.stems
    total = sum([word.weight for word in words])
    fresh_hit = fresh_total = sum([word.weight for word in words if word.fresh])
    heaviest, width = 0.0, max(1, len(best.words))
    if span := next(said.occurrences(best.compact), None):
        start, end = span
        tight = (end - start) / width
    else:
        matched: list[int] = []
        fresh_hit = 0.0
        for word in words:
            close = 1.0
            if word.root not in stems:
                close, where = closest(word.word, said)
            elif word.word in said.vocabulary:
                where = said.words.index(word.word)
            else:
                where = stems[word.root]
            if close:
                matched.append(where)
                fresh_hit += word.weight * close * word.fresh
            else:
                heaviest = max(heaviest, word.weight)
        start, end = (min(matched), max(matched) + 1) if matched else (n, n)
        tight = (end - start) / width if matched else 9.0
        if len(matched) > 1:
            start, tight = densest(matched, best, said)
    told = [i for i in fresh if said.roots[i] not in target.asked.stems]
    wanted, roots = set(best.content), set(best.stems)
    explained = sum([weights[i] for i in told if said.words[i] in wanted or said.roots[i] in roots])
    ahead = bisect_left(fresh, start)
    return [
        fresh_total / (total or 1.0), total, fresh_total - fresh_hit, fresh_hit, heaviest,
        start / n, float(min(start, 99)), tight,
        float(sum([said.capital[i] for i in fresh[:ahead]])), float(ahead),
        sum([weights[i] for i in told]) - explained, explained,
        1.0 if best.compact in said.compact else said.share_of(best.trigrams),
        float(len(best.compact)), float(any(best.reading.capital)),
    ]  # fmt: skip


def _sentences(
    target: Target, said: Parsed, fresh: list[int], weights: dict[int, float]
) -> list[float]:
    """The shape of a reply; how much of question and references each sentence says, what else."""
    content = target.asked.content
    count = said.sentence[-1] + 1
    asked: list[set[str]] = [set() for _ in range(count)]
    gain, spare = [0.0] * count, [0.0] * count
    core_hit = sum([value for root, value in target.core.items() if root in said.stems])
    for i, weight in weights.items():
        root, number = said.roots[i], said.sentence[i]
        if root in target.asked_roots:
            asked[number].add(root)
        elif root in target.core:
            gain[number] += weight
        else:
            spare[number] += weight
    best = max(range(count), key=lambda i: (len(asked[i]), -i))
    rich = max(range(count), key=lambda i: (gain[i], -i))
    total = len(target.asked_roots) or 1
    return [
        float(target.kind), float(len(said.words)), float(sum([said.capital[i] for i in fresh])),
        float(said.text[:1500].count(",")),
        sum([w in said.vocabulary for w in content]) / len(content or [1]),
        float(len(target.asked.words)),
        core_hit / target.core_total if target.core_total else -1.0,
        len(asked[0]) / total, len(asked[best]) / total,
        len(asked[rich]) / total if gain[rich] else -1.0,
        *(gain[i] / (gain[i] + spare[i]) if gain[i] + spare[i] else -1.0 for i in (0, best, rich)),
        gain[best], spare[rich],
    ]  # fmt: skip


def _overlap(words: list[Word], said: Parsed) -> float:
    """How well a wording is matched, for choosing the best."""
    total = hit = 0.0
    for word in words:
        total += word.value
        if word.word in said.vocabulary:
            hit += word.value
        elif word.root in said.stems:
            hit += 0.9 * word.value
    return hit / total if total else 0.0


def _several(
    scores: list[float], best: Wording, said: Parsed, target: Target, fresh: list[int]
) -> list[float]:
    """How the wordings do together; `scores` begins with the best."""
    span: list[int] = []
    for i in fresh:
        if said.capital[i]:
            if span and i != span[-1] + 1:
                break
            span.append(i)
    spelled = 1.0
    if best.compact not in said.compact:
        spelled = max([said.share_of(w.trigrams) for w in target.known[:16]])
    return [
        float(len(scores)), sum([min(score, 2.0) for score in scores]) / len(scores),
        min(scores[1], 2.0) if len(scores) > 1 else -1.0, float(len(span)), spelled,
    ]  # fmt: skip


def _numbers(target: Target, said: Parsed) -> list[float]:
    wanted, told = target.quantities, said.quantities
    fresh = [q for q in told if q.raw not in target.asked_values]
    where = gap = finest = opening = depth = -1.0
    conflicts = before = 0.0
    if wanted:
        good = [any(same_quantity(q, w) for w in wanted) for q in told]
        new = [q.raw not in target.asked_values for q in told]
        conflicts = float(sum([n and not ok for n, ok in zip(new, good, strict=True)]))
        first = good.index(True) if any(good) else len(told)
        before = float(sum(new[:first]))
        where = told[first].start / max(1, len(said.tokens)) if any(good) else 1.0
        gaps = [
            abs(q.raw - w.raw) / max(abs(q.raw), abs(w.raw), 1e-9) for q in fresh for w in wanted
        ]
        gap = min(gaps, default=-1.0)
    if target.dates:
        # 1 as exact as the references are, ½ right but coarser, 0 in conflict.
        pairs = [(d, [same_date(d, other) for other in target.dates]) for d in said.dates]
        exact = [
            (1.0 if date_depth(d) >= target.date_depth else 0.5) if True in verdicts else 0.0
            for d, verdicts in pairs
            if True in verdicts or False in verdicts
        ]
        finest, opening = max(exact, default=-0.5), exact[0] if exact else -0.5
        depth = float(target.date_depth)
    return [
        float(len(wanted)), conflicts, before, where, float(len(fresh)), gap, finest, opening, depth
    ]  # fmt: skip


@lru_cache(maxsize=500_000)
def _alike(first: str, second: str) -> float:
    """Similarity of two words by shared letter pairs and a common beginning; 0 below a bar."""
    if is_number(first) or is_number(second) or abs(len(first) - len(second)) > 4:
        return 0.0
    a = {first[i : i + 2] for i in range(len(first) - 1)}
    b = {second[i : i + 2] for i in range(len(second) - 1)}
    dice = 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0
    shared = 0
    for x, y in zip(first, second, strict=False):
        if x != y:
            break
        shared += 1
    start = shared / min(len(first), len(second))
    score = max(dice, 0.9 * start if shared >= 4 else 0.0)
    return score if score >= 0.6 else 0.0


def closest(word: str, said: Parsed) -> tuple[float, int]:
    """How nearly a word is spelled in a text, and where; 0 and -1 when nowhere near."""
    if len(word) < 4 or is_number(word):
        return 0.0, -1
    best, where = 0.0, -1
    head = word[0]
    for other, index in said.long_words.items():
        if other[0] == head or other[1] == word[1]:
            score = _alike(word, other)
            if score > best:
                best, where = score, index
    return best, where


def densest(matched: list[int], best: Wording, said: Parsed) -> tuple[int, float]:
    """Where the stretch of the prediction begins that holds most of the reference's words, and
    how loose it is."""
    wanted = {*best.content, *best.stems}
    near = enumerate(zip(said.words[:300], said.roots, strict=False))
    hits = [i for i, pair in near if not wanted.isdisjoint(pair)] or sorted(matched)
    width = 2 * len(best.words) + 3
    top, start, end = 0, hits[0], hits[0] + 1
    left = 0
    for right, place in enumerate(hits):
        while place - hits[left] > width:
            left += 1
        distinct = len({said.words[i] for i in hits[left : right + 1]})
        if distinct > top:
            top, start, end = distinct, hits[left], place + 1
    return start, (end - start) / max(1, len(best.words)) + (len(best.content) - top)


_COLUMNS = """
fresh_share weight fresh_missing fresh_found heaviest_missed start position tightness
capitals_before content_before unexplained explained_weight trigrams letters reference_capital
wordings mean_score second_score span spelled numbers number_conflicts numbers_before number_place
fresh_numbers number_gap finest_date opening_date date_depth question_type said_words
fresh_capitals commas question_overlap question_words core first_cover best_cover rich_cover
first_precision best_precision rich_precision best_gain rich_spare
"""
NAMES = (*_COLUMNS.split(), *MEANINGS)
"""The columns of a row, in order."""

_MAX_TARGETS = 128
_MAX_REFERENCES = 64
"""Distinct references that are looked at."""
_MAX_TOLD = 60
"""Words of a reply whose meaning is looked at."""
