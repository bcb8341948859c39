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

from mmrag.judges.builtin.objections import Signs, stance
from mmrag.judges.builtin.parsed_question import MAX_REFERENCES, Target, Word, Wording, date_depth
from mmrag.judges.builtin.parsed_text import Reading
from mmrag.judges.builtin.vectors import MEANINGS, Sense, WordVectors, meanings
from mmrag.text.lexicon import CONTRASTS, HEDGES, UNSURE
from mmrag.text.numbers import Date, is_number, same_date, same_quantity


class Extractor:
    """Computes rows. Holds the word vectors."""

    def __init__(self, vectors: WordVectors) -> None:
        self.vectors = vectors
        self._targets: dict[tuple[str, tuple[str, ...]], Target] = {}

    def rows(
        self, cases: Sequence[tuple[str, Sequence[str], Reading]]
    ) -> tuple[list[str], NDArray[np.float64]]:
        """For each question, references and reply: why the reply is wrong whatever the trees say
        (mostly nothing), and one row in the order of `NAMES`."""
        objections, rows = [""] * len(cases), np.zeros((len(cases), len(NAMES)))
        senses: list[Sense] = []
        places: list[int] = []
        for number, (question, references, said) in enumerate(cases):
            target = self.target(question, references)
            if not target.known or not said.words:
                continue
            found = self._row(target, said)
            if isinstance(found, str):
                objections[number] = found
                continue
            row, sense = found
            rows[number, : len(row)] = row
            senses.append(sense)
            places.append(number)
        if senses:
            rows[places, -len(MEANINGS) :] = meanings(self.vectors, senses)
        return objections, rows

    def _row(self, target: Target, said: Reading) -> tuple[list[float], Sense] | str:
        scores = [_overlap(*one, said) for one in zip(target.known, target.words, strict=True)]
        ranked = sorted(
            range(len(scores)), key=lambda i: (-scores[i], len(target.known[i].compact))
        )
        stood = stance(target, ranked, said)
        if stood.objection:
            return stood.objection
        best = ranked[0]
        vocabulary = target.asked.vocabulary
        fresh = [i for i in said.places if said.words[i] not in vocabulary]
        wording = target.known[best]
        weights = dict(
            zip(said.places, self.vectors.weights(said.words[i] for i in said.places), strict=True)
        )
        row = _best(wording, target.words[best], said, target, fresh, weights)
        row += _several([scores[i] for i in ranked], wording, said, target, fresh)
        row += _numbers(target, said)
        row += _shape(said, target, fresh)
        row += _agreed(target, said)
        row += _sentences(target, said, weights)
        row += stood.signs
        return row, self._sense(ranked, said, target, fresh)

    def target(self, question: str, references: Sequence[str]) -> Target:
        """A question with its references taken apart, remembered for other replies to it."""
        references = tuple(references[:MAX_REFERENCES])
        key = (question, references)
        target = self._targets.get(key)
        if target is None:
            if len(self._targets) > _MAX_TARGETS:
                self._targets.clear()
            target = self._targets[key] = Target(question, references, self.vectors)
        return target

    def _sense(self, ranked: list[int], said: Reading, target: Target, fresh: list[int]) -> Sense:
        told = [said.words[i] for i in fresh[:_MAX_TOLD]] or said.content[:_MAX_TOLD]
        # The first two sentences hold the answer; the rest is usually background.
        front = sum(said.sentence[i] <= 1 for i in fresh[:_MAX_TOLD]) or len(told)
        best, second = (target.known[i].content[:_MAX_TOLD] for i in (ranked[0], ranked[:2][-1]))
        asked = target.asked
        new = [word for word in best if word not in asked.vocabulary] or best
        words = (told, new, best, second, asked.content[:_MAX_TOLD] or ["?"])
        told_rows, *rows = map(self.vectors.numbers, words)
        return Sense(told_rows, front, *rows)


def _best(
    best: Wording,
    words: list[Word],
    said: Reading,
    target: Target,
    fresh: list[int],
    weights: dict[int, float],
) -> list[float]:
    n, asked = len(said.words), target.asked
    loose = best.compact in said.compact
    spans = list(said.occurrences(best.compact)) if loose else []
    total = fresh_total = hit = fresh_hit = stem_hit = fuzzy_hit = heaviest = 0.0
    matched: list[int] = []
    missed = 0
    for word in words:
        value, root = word.weight, word.root
        total += value
        fresh_total += value * word.fresh
        if root in said.stems:
            close = 1.0
            stem_hit += value
            if word.word in said.vocabulary:
                hit += value
                matched.append(said.words.index(word.word))
            else:
                matched.append(said.stems[root])
        else:
            close, where = closest(word.word, said)
            if close:
                matched.append(where)
            else:
                missed += 1
                heaviest = max(heaviest, value)
        fuzzy_hit += value * close
        fresh_hit += value * close * word.fresh
    if spans:  # however it is spaced: "Robert Browning" is all of "RobertBrowning"
        hit = stem_hit = fuzzy_hit = total
        fresh_hit, missed, heaviest = fresh_total, 0, 0.0
    start, end = spans[0] if spans else (min(matched), max(matched) + 1) if matched else (n, n)
    tight = (end - start) / max(1, len(best.words)) if matched or spans else 9.0
    if not spans and len(matched) > 1:
        start, end, tight = densest(matched, best, said)
    sentence = said.sentence[start] if start < n else -1
    told = [i for i in fresh if said.roots[i] not in asked.stems]
    told_weights = [weights[i] for i in told]
    wanted, stems = set(best.content), set(best.stems)
    explained = sum(
        weight
        for i, weight in zip(told, told_weights, strict=True)
        if said.words[i] in wanted or said.roots[i] in stems
    )
    unexplained = sum(told_weights) - explained
    ahead = bisect_left(fresh, start)
    capitals = sum(said.capital[i] for i in fresh[:ahead])
    covered = 1.0 if loose else said.share_of(best.trigrams)
    return [
        float(bool(spans)), float(loose), float(best.compact == said.compact), len(spans),
        hit / (total or 1.0), stem_hit / (total or 1.0), fuzzy_hit / (total or 1.0),
        fresh_hit / fresh_total if fresh_total else -1.0, fresh_total / (total or 1.0), total,
        fresh_total - fresh_hit, fresh_hit, heaviest, float(missed),
        start / max(1, n), float(min(start, 99)), float(sentence), tight,
        float(capitals), float(ahead),
        float(any(start - 6 <= i < start for i in said.denials)),
        float(any(said.sentence[i] == sentence for i in said.denials)),
        float(any(word in CONTRASTS for word in said.words[:start])),
        float(best.content[-1] in said.vocabulary), float(best.content[0] in said.vocabulary),
        float(best.content[-1] in asked.vocabulary),
        explained / (explained + unexplained) if told else 0.0, unexplained, explained,
        covered, float(acronym(best, said)), float(said.compact in best.compact),
        float(len(best.words)), float(len(best.compact)),
        float(any(best.reading.capital)), float(all(map(is_number, best.words))),
        order(best, said),
    ]  # fmt: skip


def _sentences(target: Target, said: Reading, weights: dict[int, float]) -> list[float]:
    """How much of the question and of the references each sentence says, and what else."""
    count = said.sentence[-1] + 1
    asked: list[set[str]] = [set() for _ in range(count)]
    gain, spare = [0.0] * count, [0.0] * count
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

    def precision(i: int) -> float:
        return gain[i] / (gain[i] + spare[i]) if gain[i] + spare[i] else -1.0

    return [
        len(asked[0]) / total, len(asked[best]) / total,
        len(asked[rich]) / total if gain[rich] else -1.0,
        precision(0), precision(best), precision(rich), gain[0], gain[best], spare[rich],
    ]  # fmt: skip


def _overlap(wording: Wording, words: list[Word], said: Reading) -> float:
    """How well a wording is matched, for choosing the best."""
    total = hit = 0.0
    for word in words:
        total += word.value
        if word.word in said.vocabulary:
            hit += word.value
        elif word.root in said.stems:
            hit += 0.9 * word.value
    return (hit / total if total else 0.0) + said.holds(wording.compact)


def _several(
    scores: list[float], best: Wording, said: Reading, target: Target, fresh: list[int]
) -> list[float]:
    """How the wordings do together; `scores` begins with the best."""
    whole = sum(score > 1.99 for score in scores)
    found, best_list, members = 0.0, -1.0, 0
    if target.lists:
        shares = [[said.holds(m.compact) for m in one] for one in target.lists]
        members = sum(map(len, shares))
        found = sum(map(sum, shares)) / members
        best_list = max(sum(one) / len(one) for one in shares)
    union, roots, n = target.roots, said.roots, len(said.words)
    places = said.places or range(n)
    known = sum(roots[i] in union for i in places) / len(places)
    named = [i for i in fresh if said.capital[i]]
    span: list[int] = []
    for i in named:
        if span and i != span[-1] + 1:
            break
        span.append(i)
    wanted = set(best.stems)
    per_sentence = [0.0] * (said.sentence[-1] + 1)
    for _, number in {(r, s) for r, s in zip(roots, said.sentence, strict=True) if r in wanted}:
        per_sentence[number] += 1.0 / len(wanted)
    spelled = 1.0
    if best.compact not in said.compact:
        spelled = max(said.share_of(w.trigrams) for w in target.known[:16])
    inside = n <= 8 and any(said.compact in w.compact for w in target.known)
    return [
        float(len(scores)), float(whole), whole / len(scores),
        sum(min(score, 2.0) for score in scores) / len(scores),
        min(scores[1], 2.0) if len(scores) > 1 else -1.0, found, best_list, float(members), known,
        sum(roots[i] in union for i in fresh) / len(fresh) if fresh else -1.0,
        sum(roots[i] in union for i in named[:8]) / len(named[:8]) if named else -1.0,
        sum(roots[i] in union for i in span) / len(span) if span else -1.0,
        float(len(span)), per_sentence[0], max(per_sentence),
        float(per_sentence.index(max(per_sentence))), spelled, float(inside),
        float(roots[-1] in union), float(roots[0] in union),
    ]  # fmt: skip


def _numbers(target: Target, said: Reading) -> list[float]:
    wanted, times, told = target.quantities, target.dates, said.quantities
    fresh = [q for q in told if q.raw not in target.asked_values]
    match = where = gap = -1.0
    conflicts = before = 0.0
    if wanted:
        good = [any(same_quantity(q, w) for w in wanted) for q in told]
        match = float(any(good))
        position = good.index(True) if match else len(told)
        new = [q.raw not in target.asked_values for q in told]
        conflicts = float(sum(n and not ok for n, ok in zip(new, good, strict=True)))
        before = float(sum(new[:position]))
        where = told[position].start / max(1, len(said.tokens)) if match else 1.0
        if fresh:
            gap = min(
                abs(q.raw - w.raw) / max(abs(q.raw), abs(w.raw), 1e-9)
                for q in fresh
                for w in wanted
            )
    date_match = year = month = day = date_before = first_date = finest = opening = -1.0
    if times:
        verdicts = [_best_date(d, times) for d in said.dates]
        date_match = max(verdicts, default=-1.0)
        year = _agree([d.year for d in times], [d.year for d in said.dates])
        month = _agree([d.month for d in times], [d.month for d in said.dates])
        day = _agree([d.day for d in times], [d.day for d in said.dates])
        date_before = float(verdicts.index(date_match)) if verdicts else -1.0
        first_date = verdicts[0] if verdicts else -1.0
        exact = [_exact_date(d, target.finest) for d in said.dates]
        exact = [verdict for verdict in exact if verdict >= 0]
        finest, opening = max(exact, default=-0.5), exact[0] if exact else -0.5
    return [
        float(len(wanted)), match, conflicts, before, where, float(len(fresh)), gap,
        float(len(times)), date_match, year, month, day, date_before, first_date,
        float(len(said.dates)), finest, opening,
        float(date_depth(target.finest[0])) if times else -1.0,
    ]  # fmt: skip


def _shape(said: Reading, target: Target, fresh: list[int]) -> list[float]:
    asked = target.asked
    lowered = said.text[:1500].lower()
    overlap = sum(w in said.vocabulary for w in asked.content) / len(asked.content or [1])
    first = said.words[0]
    return [
        float(target.kind), float(len(said.words)), float(said.sentence[-1] + 1),
        float(sum(said.capital[i] for i in fresh)),
        float(lowered.count(",")), float(lowered.count("\n")),
        float(sum(cue in lowered for cue in HEDGES)), float("however" in lowered),
        float("ai language" in lowered), overlap, float(len(asked.words)),
        float(bool(said.denials)),
        float(first == "yes") - float(first == "no"),
        float(":" in said.text[:80]), float(said.words.count("or")),
        target.asked_count, target.asked_plural,
        float(bool(said.denials) and said.sentence[said.denials[0]] == 0),
        float(sum(cue in lowered for cue in UNSURE)),
    ]  # fmt: skip


def _agreed(target: Target, said: Reading) -> list[float]:
    """Whether the reply has what the wordings share, and how much of any has it that is new."""
    total = hit = top = 0.0
    top_hit = -1.0
    for root, value in target.core.items():
        total += value
        hit += value * (root in said.stems)
        if value > top:
            top, top_hit = value, float(root in said.stems)
    most, full = -1.0, 0
    for wording, words in zip(target.known, target.words, strict=True):
        fresh = sum(word.weight for word in words if word.fresh)
        if fresh:
            found = fresh
            if not said.holds(wording.compact):
                found = sum(w.weight for w in words if w.fresh and w.root in said.stems)
            most = max(most, found / fresh)
            full += found > 0.99 * fresh
    return [hit / total if total else -1.0, top_hit, most, full / len(target.known)]


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


def closest(word: str, said: Reading) -> tuple[float, int]:
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


def densest(matched: list[int], best: Wording, said: Reading) -> tuple[int, int, float]:
    """The stretch of the prediction that holds most of the reference's words."""
    wanted = set(best.content) | set(best.stems)
    hits = [
        i
        for i, (word, root) in enumerate(zip(said.words[:300], said.roots, strict=False))
        if word in wanted or root in wanted
    ] or sorted(matched)
    width = 2 * len(best.words) + 3
    top, start, end = 0, hits[0], hits[0] + 1
    left = 0
    for right, place in enumerate(hits):
        while place - hits[left] > width:
            left += 1
        distinct = len({said.words[i] for i in hits[left : right + 1]})
        if distinct > top:
            top, start, end = distinct, hits[left], place + 1
    return start, end, (end - start) / max(1, len(best.words)) + (len(best.content) - top)


def order(best: Wording, said: Reading) -> float:
    """Share of neighbouring word pairs of the reference that also stand in order in the text."""
    pairs = list(zip(best.words, best.words[1:], strict=False))
    if not pairs:
        return -1.0
    if sum(word in said.vocabulary for word in best.words) < 2:
        return 0.0
    told = set(zip(said.words, said.words[1:], strict=False))
    return sum(pair in told for pair in pairs) / len(pairs)


def acronym(best: Wording, said: Reading) -> bool:
    """Whether one side is the initials of the other."""
    if len(best.initials) > 1 and best.initials in said.vocabulary:
        return True
    if len(best.words) == 1 and 2 <= len(best.compact) <= 6 and best.reading.capital[0]:
        return best.compact in "".join(said.words[i][0] for i in said.places)
    return False


_COLUMNS = """
contained loose exact occurrences recall stem_recall fuzzy_recall fresh_recall fresh_share
weight fresh_missing fresh_found heaviest_missed missed start position sentence tightness
capitals_before content_before negated_near negated_sentence contrast last_word first_word
last_asked explained unexplained explained_weight trigrams acronym inside_reference words
letters reference_capital reference_number order wordings whole whole_share mean_score
second_score parts_found best_list parts known_share fresh_known named_known span_known span
first_sentence_recall sentence_recall which_sentence spelled inside last_known first_known
numbers number_match number_conflicts numbers_before number_place fresh_numbers number_gap dates
date_match year month day dates_before first_date said_dates finest_date opening_date date_depth
question_type said_words said_sentences fresh_capitals commas lines hedges however ai_preamble
question_overlap question_words negation yes_no heading ors asked_count asked_plural
first_negated unsure
core core_top most_fresh fresh_full first_cover best_cover rich_cover first_precision
best_precision rich_precision first_gain best_gain rich_spare
"""
NAMES = (*_COLUMNS.split(), *Signs._fields, *MEANINGS)
"""The columns of a row, in order."""

_MAX_TARGETS = 250
_MAX_TOLD = 60
"""Words of a reply whose meaning is looked at."""


def _best_date(date: Date, wanted: list[Date]) -> float:
    verdicts = [same_date(date, other) for other in wanted]
    if True in verdicts:
        return 1.0
    return 0.0 if False in verdicts else -0.5


def _exact_date(date: Date, finest: list[Date]) -> float:
    """1 as exact as the references are, ½ right but coarser, 0 in conflict, −1 unrelated."""
    verdicts = [same_date(date, other) for other in finest]
    if True in verdicts:
        return 1.0 if date_depth(date) >= date_depth(finest[0]) else 0.5
    return 0.0 if False in verdicts else -1.0


def _agree(wanted: list[int | None], told: list[int | None]) -> float:
    """1 when a part of the date agrees, 0 when only others are told, −1 when nothing is."""
    a, b = {x for x in wanted if x is not None}, {x for x in told if x is not None}
    if not a or not b:
        return -1.0
    return float(bool(a & b))
